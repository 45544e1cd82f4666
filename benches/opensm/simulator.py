"""OpenSM on a simulated fabric: one fresh ibsim and one sweep of OpenSM, everything in one folder.

Needs the Debian packages opensm, ibsim-utils and libumad2sim0; no privileges, no hardware, no network
(ibsim talks through abstract sockets whose name is unique to the run).
"""

import glob
import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
START_SECONDS = 120


@dataclass
class Net:
    """What has to be known of an ibnetdiscover file to simulate it."""

    path: Path
    nodes: int = 0
    switches: int = 0
    ports: int = 0
    switch_links: dict = field(default_factory=dict)
    with_hosts: set = field(default_factory=set)

    @classmethod
    def read(cls, path):
        net = cls(path)
        node = None
        for line in path.read_text().splitlines():
            if head := re.match(r'(Switch|Ca|Hca)\s+(\d+)\s+"([^"]+)"', line):
                kind, ports, node = head[1], int(head[2]), head[3]
                net.nodes += 1
                net.ports += ports + (kind == "Switch")
                if kind == "Switch":
                    net.switches += 1
                    net.switch_links[node] = set()
                else:
                    node = None
            elif node and (link := re.match(r'\[\d+\][^"]*"([^"]+)"', line)):
                if link[1].startswith("S-"):
                    net.switch_links[node].add(link[1])
                else:
                    net.with_hosts.add(node)
        return net

    def roots(self):
        """GUIDs of the switches farthest from any host: the top of a tree. Where every switch has
        hosts there is no top, and the first switch stands in for it."""
        level = dict.fromkeys(self.with_hosts, 0)
        front = list(level)
        while front:
            following = []
            for near in front:
                for far in self.switch_links[near]:
                    if far not in level:
                        level[far] = level[near] + 1
                        following.append(far)
            front = following
        top = max(level.values())
        chosen = [s for s in self.switch_links if level.get(s) == top]
        if top == 0:
            chosen = chosen[:1]
        return ["0x" + s.split("-")[1] for s in chosen]


def library():
    found = glob.glob("/usr/lib*/umad2sim/libumad2sim.so")
    found += glob.glob("/usr/lib*/*/umad2sim/libumad2sim.so")
    if not found:
        raise SystemExit("libumad2sim.so is missing: apt-get install libumad2sim0 ibsim-utils opensm")
    return found[0]


def build_clock(work):
    """Compiles clock.c once per work folder."""
    target = work / "clock.so"
    source = HERE / "clock.c"
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(
            ["cc", "-O2", "-shared", "-fPIC", "-o", str(target), str(source), "-ldl"], check=True
        )
    return target


def stop(process):
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()


def start_simulator(net, folder, name):
    """ibsim with room for the fabric; its console is a pipe that is kept open."""
    command = ["ibsim", "-s", "-N", str(net.nodes + 16), "-S", str(net.switches + 16)]
    command += ["-P", str(net.ports + 64), "-L", "49151", str(net.path)]
    out = open(folder / "ibsim.out", "wb")
    simulator = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=out, stderr=out, env={**os.environ, "IBSIM_SOCKNAME": name}
    )
    deadline = time.monotonic() + START_SECONDS
    while b"simulator ready" not in (folder / "ibsim.out").read_bytes():
        if simulator.poll() is not None or time.monotonic() > deadline:
            stop(simulator)
            raise RuntimeError(f"ibsim did not start, see {folder}/ibsim.out")
        time.sleep(0.05)
    return simulator


def sweep(net, engine, options, folder, clock, timeout, tables=True):
    """One sweep of OpenSM with one engine. Returns the clock's notes; `dump` is there if it routed.
    Without `tables` it ends as soon as routes are computed and writes none."""
    folder.mkdir(parents=True, exist_ok=True)
    for stale in ("clock.txt", "opensm-lfts.dump", "guid2lid", "opensm.log"):
        (folder / stale).unlink(missing_ok=True)
    name = f"bench{os.getpid()}"
    simulator = start_simulator(net, folder, name)
    env = {
        **os.environ,
        "IBSIM_SOCKNAME": name,
        "OSM_TMP_DIR": str(folder),
        "OSM_CACHE_DIR": str(folder),
        "ROUTING_CLOCK": str(folder / "clock.txt"),
        "LD_PRELOAD": f"{library()} {clock}",
        **({} if tables else {"ROUTING_CLOCK_ONLY": "1"}),
    }
    command = ["opensm", "-e", "-o", "-n", "16", "-s", "2", "-D", "0x47" if tables else "0x07"]
    command += ["-f", str(folder / "opensm.log"), "--dump_files_dir", str(folder)]
    command += ["-R", f"{engine},no_fallback", *options]
    result = {"engine": engine, "options": [o for o in options if not o.startswith("/")]}
    began = time.monotonic()
    manager = None
    try:
        with open(folder / "stdout", "wb") as out:
            manager = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=env, cwd=folder
            )
            result["exit"] = manager.wait(timeout)
    except subprocess.TimeoutExpired:
        result["problem"] = f"not finished in {timeout} s"
    finally:
        if manager:
            stop(manager)
        stop(simulator)
    result["sweep_wall"] = round(time.monotonic() - began, 3)
    notes = folder / "clock.txt"
    for line in notes.read_text().splitlines() if notes.exists() else []:
        key, value = line.split(" ", 1)
        if key in ("cpu", "wall"):
            result[key] = float(value)
        elif key == "rss":
            result["rss"] = int(value)
        elif key == "lanes":
            result["lanes"] = int(value.rsplit(":", 1)[1])
        else:
            result.setdefault("problem", value)
    dump = folder / "opensm-lfts.dump"
    if "cpu" in result and dump.exists():
        result.pop("problem", None)
        result["dump"] = str(dump)
    return result
