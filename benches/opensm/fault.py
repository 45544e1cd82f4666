#!/usr/bin/env python3
"""A cable or switch dies: from the trap to SUBNET UP, with the plugin and with an engine of OpenSM's own, for the same cables in turn.

    make -C plugin && cargo build --release
    benches/opensm/fault.py WORK --fabric fattree2:n=12,m=6,r=18 [--stock updn] [--faults 20] [--seed 1]

Two fabrics are simulated by two ibsims, each with an OpenSM of its own: one with the plugin and `darkfiber operate`, one with the
engine --stock. For each, drawn at random, the one fabric loses it, is whole again, and then the other. Times are those of
OpenSM's log: from the first trap of it (128) to the first SUBNET UP behind it. Between faults everything settles: with the
plugin until the daemon has its fault book for the tables then in place. WORK is a folder outside of the repository, and holds all
that was said.

Debian packages: opensm ibsim-utils libumad2sim0 infiniband-diags libopensm-dev libibumad-dev gcc make.
"""

import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import time
from pathlib import Path

import simulator

REPO = Path(__file__).resolve().parents[2]
SETTLE_SECONDS = 600


class Lab:
    """A simulated fabric and an OpenSM on it; with the plugin a daemon, too."""

    # Nothing but the fault is to happen while it is timed.
    confirm, audit = 60, 100_000
    # Seconds between OpenSM's own looks at the fabric; without any it sweeps upon traps only.
    sweep = 0
    # More lines of opensm.conf.
    settings = ()
    # What the daemon may do, and more of its [policy].
    mode, policy = "apply-faults", ""

    def __init__(self, args, name, plugin):
        self.folder = args.work / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.plugin, self.args = plugin, args
        self.routes = args.work / "routes"
        net = simulator.Net.read(self.routes / "fabric.topo")
        self.socket = f"fault{os.getpid()}{name}"
        self.sim = simulator.start_simulator(net, self.folder, self.socket)
        self.env = {
            **os.environ,
            "IBSIM_SOCKNAME": self.socket,
            "LD_PRELOAD": simulator.library(),
            "OSM_TMP_DIR": str(self.folder),
            "OSM_CACHE_DIR": str(self.folder),
            "LD_LIBRARY_PATH": str(args.plugin.resolve().parent),
        }
        shutil.copy(self.routes / "guid2lid", self.folder / "guid2lid")
        # Behind the plugin are the tables that darkfiber made: the first ones, until the daemon answers.
        engines = "dfosm,file,no_fallback" if plugin else f"{args.stock},no_fallback"
        lines = [f"routing_engine {engines}", "force_log_flush TRUE", f"sweep_interval {self.sweep}", "max_wire_smps 16", *self.settings]
        if plugin:
            state = self.folder / "state"
            self.make_state(state)
            lines += [f"lfts_file {self.routes}/lfts.dump", "event_plugin_name dfosm", f"event_plugin_options socket={state}/plugin.sock,plan={state}/plan,wait_ms={args.wait}"]
        (self.folder / "opensm.conf").write_text("\n".join(lines) + "\n")
        command = ["opensm", "-e", "-x", "-F", str(self.folder / "opensm.conf")]
        command += ["-f", str(self.folder / "opensm.log"), "--dump_files_dir", str(self.folder)]
        out = open(self.folder / "opensm.out", "wb")
        self.manager_is(subprocess.Popen(command, env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=self.folder))
        self.wait(lambda: "SUBNET UP" in self.log(), "OpenSM")
        self.daemon = self.operate() if plugin else None

    def make_state(self, state):
        """The folder of the daemon's state."""
        state.mkdir()

    def environment(self):
        """The environment of the daemon; None for this one's."""
        return None

    def jobs(self):
        """The section [jobs]: of none, as a file says."""
        (self.folder / "jobs").write_text("")
        return 'file = "jobs"\nempty_is_idle = true\n'

    def manager_is(self, manager):
        """Which OpenSM is to sweep: the daemon's command reads its number from a file."""
        self.manager = manager
        (self.folder / "manager.pid").write_text(f"{manager.pid}\n")

    def operate(self):
        words = ["env", f"IBSIM_SOCKNAME={self.socket}", f"LD_PRELOAD={simulator.library()}"]
        list_of = lambda program: json.dumps(self.reader(words, program))
        (self.folder / "operate.toml").write_text(
            f'mode = "{self.mode}"\nstate = "state"\n'
            f'[fabric]\ncommand = {list_of("ibnetdiscover")}\nevery_s = 600\n'
            f'[tables]\ncommand = {list_of("dump_fts")}\nevery_s = 600\n'
            f"[jobs]\n{self.jobs()}"
            f'[opensm]\nengines = "dfosm,file,no_fallback"\nsweep = ["sh", "-c", "kill -HUP $(cat manager.pid)"]\n'
            f'log = "opensm.log"\n[policy]\nconfirm_s = {self.confirm}\naudit_s = {self.audit}\n{self.policy}'
            f"[plugin]\nbudget_ms = {self.args.wait * 8 // 10}\nbook_s = {self.args.book}\n"
        )
        told = open(self.folder / "told", "wb")
        notes = open(self.folder / "notes", "wb")
        command = [str(self.args.darkfiber.resolve()), "operate", "--config", "operate.toml"]
        daemon = subprocess.Popen(
            command, env=self.environment(), stdin=subprocess.DEVNULL, stdout=told, stderr=notes, cwd=self.folder
        )
        self.wait(lambda: "fault book: " in self.notes(), "the fault book")
        return daemon

    def reader(self, words, program):
        """The words of a command that reads the simulated fabric."""
        return [*words, program]

    def log(self):
        path = self.folder / "opensm.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def notes(self):
        return (self.folder / "notes").read_text(errors="replace")

    def wait(self, done, what):
        end = time.monotonic() + SETTLE_SECONDS
        while not done():
            if time.monotonic() > end:
                raise SystemExit(f"{what}: not within {SETTLE_SECONDS} s, see {self.folder}")
            time.sleep(0.05)

    def change(self, line):
        """Says a line to the simulator, and waits until OpenSM and the daemon have settled; what the log says since."""
        before, books = len(self.log()), self.notes().count("fault book: ") if self.plugin else 0
        placed = self.told() if self.plugin else 0
        self.sim.stdin.write(line.encode() + b"\n")
        self.sim.stdin.flush()
        self.wait(lambda: "SUBNET UP" in self.log()[before:], "SUBNET UP")
        quiet, length = time.monotonic(), 0
        while time.monotonic() - quiet < self.args.settle:
            now = len(self.log()) + (len(self.notes()) + self.told() if self.plugin else 0)
            if now != length:
                quiet, length = time.monotonic(), now
            time.sleep(0.05)
        if self.plugin and (self.told() != placed):
            self.wait(lambda: self.notes().count("fault book: ") > books, "the fault book")
        return self.log()[before:]

    def told(self):
        return len((self.folder / "told").read_bytes())

    def fault(self, part):
        """Milliseconds from the trap to SUBNET UP; and what the daemon said about the question."""
        at = len(self.notes()) if self.plugin else 0
        log = self.change(f"Unlink {named(part)}")
        traps = [i for i, l in enumerate(log.splitlines()) if "num:128" in l]
        lines = log.splitlines()[traps[0]:]
        up = next(l for l in lines if "SUBNET UP" in l)
        milliseconds = (stamp(up) - stamp(lines[0])) * 1e3
        took = re.findall(r"OpenSM took plan \d+, ([\d.]+) ms after it asked(, from the fault book)?", self.notes()[at:]) if self.plugin else []
        own = [l for l in lines if "next engine routes" in l]
        self.change(f"ReLink {named(part)}")
        return milliseconds, took[:1], len(own)

    def stop(self):
        for process in (self.daemon, self.manager, self.sim):
            if process:
                simulator.stop(process)


def named(part):
    """A cable by its end, or a switch, as the simulator names them."""
    node, port = part
    return f'"{node}"' + (f"[{port}]" if port is not None else "")


def stamp(line):
    """Seconds within the day of a line of OpenSM's log: `Nov 25 01:55:12 123456 [7F] ...`."""
    h, m, s, micro = re.search(r"(\d\d):(\d\d):(\d\d) (\d{6})", line).groups()
    return int(h) * 3600 + int(m) * 60 + int(s) + int(micro) / 1e6


def prepare(args):
    """Writes the tables that are in place first; what may fail, in random order: cables between switches, or switches without hosts."""
    args.work.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(args.work / "routes", ignore_errors=True)
    command = [str(args.darkfiber), "route", args.fabric, "-e", args.engine, "-o", str(args.work / "routes"), "-q"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    parts = parts_of((args.work / "routes/fabric.topo").read_text(), getattr(args, "switches", False))
    random.Random(args.seed).shuffle(parts)
    return parts


def parts_of(topology, of_switches):
    """The cables between switches of a topology, or the switches, in its order: those without hosts, if there are any."""
    node, cables, switches, edges = None, [], [], set()
    for line in topology.splitlines():
        if head := re.match(r'(Switch|Ca)\s+\d+\s+"([^"]+)"', line):
            node = head[2] if head[1] == "Switch" else None
            switches += [node] if node else []
        elif node and (link := re.match(r'\[(\d+)\][^"]*"(S-[^"]+)"', line)) and link[2] not in switches[:-1]:
            cables.append((node, int(link[1])))
        elif node and re.match(r'\[\d+\][^"]*"H-', line):
            edges.add(node)
    # Where all switches have hosts, these die with them.
    inner = [s for s in switches if s not in edges] or switches
    return [(s, None) for s in inner] if of_switches else cables


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--fabric", default="fattree2:n=12,m=6,r=18")
    parser.add_argument("--stock", default="updn", help="engine of OpenSM that it is compared with")
    parser.add_argument("--engine", default="updn", help="engine of darkfiber whose tables are in place")
    parser.add_argument("--faults", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--book", type=float, default=600.0, help="seconds that the fault book may take")
    parser.add_argument("--switches", action="store_true", help="switches die instead of cables: those without hosts, if there are any")
    parser.add_argument("--first", type=int, help="draw among so many that the fault book comes to first [default: all]")
    parser.add_argument("--wait", type=int, default=5000, help="milliseconds that the plugin waits")
    parser.add_argument("--settle", type=float, default=1.5, help="seconds of silence after which all is settled")
    parser.add_argument("--darkfiber", type=Path, default=REPO / "target/release/darkfiber")
    parser.add_argument("--plugin", type=Path, default=REPO / "plugin/libdfosm.so")
    args = parser.parse_args()
    args.work = args.work.resolve()
    parts = prepare(args)
    with_plugin, stock = Lab(args, "plugin", True), Lab(args, "stock", False)
    if args.first:
        # The book comes to switches, and then to cables, in the order of the dump that the daemon reads.
        program = with_plugin.reader(["env", f"IBSIM_SOCKNAME={with_plugin.socket}", f"LD_PRELOAD={simulator.library()}"], "ibnetdiscover")
        dump = subprocess.run(program, check=True, capture_output=True, text=True).stdout
        parts = parts_of(dump, args.switches)[: args.first]
        random.Random(args.seed).shuffle(parts)
    rows = []
    try:
        for part in parts[: args.faults]:
            ours, took, own = with_plugin.fault(part)
            theirs, _, _ = stock.fault(part)
            answer, book = (float(took[0][0]), bool(took[0][1])) if took else (None, False)
            rows.append({"part": part, "plugin_ms": ours, "stock_ms": theirs, "answer_ms": answer, "book": book, "fell_back": own})
            print(f"{named(part)} plugin {ours:.1f} ms, stock {theirs:.1f} ms, answered in {answer} ms, book {book}, fell back {own}", flush=True)
    finally:
        with_plugin.stop()
        stock.stop()
        (args.work / "fault.json").write_text(json.dumps(rows, indent=1) + "\n")
    median = lambda key: statistics.median(r[key] for r in rows if r[key] is not None)
    print(f"| {args.fabric} | {args.stock} | {len(rows)} | {median('plugin_ms'):.0f} | {median('stock_ms'):.0f} | {median('answer_ms'):.1f} | {sum(r['book'] for r in rows)} | {sum(r['fell_back'] > 0 for r in rows)} |")
    print(with_plugin.notes().split("fault book: ")[1].splitlines()[0])


if __name__ == "__main__":
    main()
