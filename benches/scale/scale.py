#!/usr/bin/env python3
"""Time and memory of routing against the size of the fabric, darkfiber compared with OpenSM.

    cargo build --release
    benches/scale/scale.py run   WORK [--side S] [--engines E ...] [--budget S]
    benches/scale/scale.py plot  WORK docs/scale.svg
    benches/scale/scale.py table WORK docs/benchmarks/growth.md

`run` measures what is missing (sizes.py), small fabrics first, one run at a time, and adds a JSON line
for each to WORK/runs.jsonl; it can be stopped at any moment and resumes there. OpenSM is measured once,
darkfiber again when its binary has changed. Both read the same ibnetdiscover file and get the same roots.

cpu   OpenSM: CPU clock of the routing thread between "building routing with" and "tables configured".
      darkfiber: the lesser of `seconds` of `route --threads 1` (wall time of the engine alone) and the CPU
      time of the whole process (which also reads, checks and measures). Each is at least the engine's own
      CPU time, so the lesser is an upper bound. Minimum of three runs where a run is short.
rss   Peak of resident memory. OpenSM: up to the end of routing, without ibsim. darkfiber: the whole
      process with reading, checker and channel loads.

A run over its limit is kept as such, and that engine is not tried on larger fabrics of the fit. Nor is
OpenSM where its last two sizes, extrapolated as a power law, predict that it exceeds the limit.

Debian packages: opensm ibsim-utils libumad2sim0 gcc time.
"""

import argparse
import hashlib
import json
import math
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "benches/opensm"))

import chart  # noqa: E402
import simulator  # noqa: E402
import sizes  # noqa: E402
import tables  # noqa: E402

LIMIT = 400.0  # seconds of wall time, for either side
MEMORY = 16 << 30
QUICK = 2.0
REPEATS = 3


class Store:
    """Results as lines of JSON; the last line of a kind counts."""

    def __init__(self, work):
        self.path = work / "runs.jsonl"
        self.found = {}
        for line in self.path.read_text().splitlines() if self.path.exists() else []:
            self.keep(json.loads(line))

    def keep(self, result):
        self.found[result["side"], result["spec"], result["engine"]] = result

    def get(self, side, spec, engine):
        return self.found.get((side, spec, engine))

    def add(self, result):
        with self.path.open("a") as out:
            out.write(json.dumps(result) + "\n")
        self.keep(result)


def limited(command, limit, notes):
    """Runs a command within `limit` seconds and MEMORY bytes: exit code (None if it was late), output,
    errors, its CPU seconds and its peak of resident memory in KiB.

    GNU time runs in between: the peak of a process that Python forks itself would start at that of
    Python."""

    def bound():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(
        ["/usr/bin/time", "-q", "-o", notes, "-f", "%M", *command],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=bound,
        start_new_session=True,
    )  # fmt: skip
    try:
        text, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, "", "", 0.0, 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return process.returncode, text, errors, cpu, int(notes.read_text())


class Bench:
    def __init__(self, args):
        self.work = args.work.resolve()
        (self.work / "nets").mkdir(parents=True, exist_ok=True)
        self.store = Store(self.work)
        self.binary = args.darkfiber.resolve()
        self.version = hashlib.sha256(self.binary.read_bytes()).hexdigest()[:16]
        self.sides = [args.side] if args.side else ["darkfiber", "opensm"]
        self.clock = simulator.build_clock(self.work) if "opensm" in self.sides else None
        self.engines = args.engines
        self.end = time.monotonic() + args.budget

    def net(self, spec):
        """The fabric as a file and its roots as another, the same for both sides."""
        name = "".join(c if c.isalnum() else "-" for c in spec)
        net, roots = (self.work / "nets" / f"{name}.{end}" for end in ("net", "roots"))
        if not roots.exists():
            command = [self.binary, "fabric", spec, "--to", "ibnetdiscover", "-o", net, "-q"]
            subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
            roots.write_text("\n".join(simulator.Net.read(net).roots()) + "\n")
        return net, roots

    def ours(self, fabric, engine, options=()):
        """darkfiber's routing of a file or a spec."""
        command = [self.binary, "route", fabric, "-e", engine, *options, "--threads", "1"]
        command = [*map(str, command), "--format", "json", "-q"]
        best = None
        for _ in range(REPEATS):
            began = time.monotonic()
            code, text, errors, process, peak = limited(command, LIMIT, self.work / "time.txt")
            wall = time.monotonic() - began
            if code is None:
                return {"problem": f"not finished in {LIMIT:.0f} s"}
            if code not in (0, 1):
                return {"problem": f"exit code {code}: {errors.strip()[-200:]}"}
            routed = json.loads(text)
            result = {
                "cpu": min(routed["seconds"], process),
                "seconds": routed["seconds"],
                "process_cpu": process,
                "process_wall": wall,
                "rss": peak,
                **{k: routed[k] for k in ("layers", "deadlock_free", "unreachable", "loops")},
            }
            if best is None or result["cpu"] < best["cpu"]:
                best = result
            if wall > QUICK:
                break
        return best

    def theirs(self, spec, engine):
        """OpenSM's routing of the file on ibsim."""
        path, roots = self.net(spec)
        options = [o.format(roots=roots) for o in sizes.OPENSM_OPTIONS.get(engine, [])]
        net = simulator.Net.read(path)
        folder = self.work / "sweep"
        best = None
        for _ in range(REPEATS):
            try:
                result = simulator.sweep(
                    net, engine, options, folder, self.clock, LIMIT, tables=False
                )
            except RuntimeError:
                return {"problem": f"ibsim did not start in {simulator.START_SECONDS} s"}
            if "cpu" not in result:
                return {"problem": result.get("problem", f"exit code {result.get('exit')}")}
            result.pop("problem", None)
            if best is None or result["cpu"] < best["cpu"]:
                best = result
            if result["sweep_wall"] > QUICK:
                break
        return best

    def hopeless(self, side, family, place, engine):
        """The reason to skip a run: too slow on a smaller fabric, or by its growth. A fabric outside of
        the fit is not a larger one of the same construction, so it is always tried."""
        if not family.sizes[place].fitted:
            return None
        past = [self.store.get(side, s.spec, engine) for s in family.sizes[:place]]
        past = [(s.hosts, p) for s, p in zip(family.sizes, past) if p]
        if any("not finished" in p.get("problem", "") for _, p in past):
            return {"problem": "not tried: too slow on a smaller one", "expected": None}
        if any("expected" in p for _, p in past):
            return {"problem": "not tried: nor was a smaller one", "expected": None}
        past = [(hosts, p["cpu"]) for hosts, p in past if "cpu" in p]
        if side == "darkfiber" or len(past) < 2:
            return None
        (small, quick), (large, slow) = past[-2:]
        growth = math.log(slow / quick) / math.log(large / small)
        expected = slow * (family.sizes[place].hosts / large) ** growth
        if expected < LIMIT:
            return None
        return {"problem": f"not tried: about {expected:,.0f} s by its growth", "expected": expected}

    def measure(self, side, family, place, engine):
        spec = family.sizes[place].spec
        old = self.store.get(side, spec, engine)
        if old and (side == "opensm" or old["binary"] == self.version):
            return
        if time.monotonic() > self.end:
            raise SystemExit("the budget of time is used up; run again to go on")
        result = self.hopeless(side, family, place, engine)
        if result is None and side == "opensm":
            result = self.theirs(spec, engine)
        elif result is None:
            net, roots = self.net(spec)
            options = ["--roots", roots] if engine in sizes.TAKES_ROOTS else []
            result = self.ours(net, engine, options)
        self.add(side, family.name, spec, engine, result)

    def add(self, side, family, spec, engine, result):
        stamp = {"binary": self.version} if side == "darkfiber" else {}
        head = {"side": side, "family": family, "spec": spec, "engine": engine}
        self.store.add({**head, **stamp, **result})
        shown = result.get("problem") or f"{result['cpu']:.4g} s, {result['rss'] / 1024:.0f} MiB"
        print(f"{spec} {engine} {side}: {shown}", flush=True)

    def run(self):
        for side in self.sides:
            for place in range(max(len(f.sizes) for f in sizes.FAMILIES)):
                for family in sizes.FAMILIES:
                    for engine in family.engines if place < len(family.sizes) else []:
                        if engine in self.engines:
                            self.measure(side, family, place, engine)
            if side == "darkfiber":
                self.machines()

    def machines(self):
        for spec, engine, _ in sizes.MACHINES:
            old = self.store.get("darkfiber", spec, engine)
            if not old or old["binary"] != self.version:
                self.add("darkfiber", "machine", spec, engine, self.ours(spec, engine))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["run", "plot", "table"])
    parser.add_argument("work", type=Path)
    parser.add_argument("target", type=Path, nargs="?", help="SVG to write, or document to renew in part")
    parser.add_argument("--darkfiber", type=Path, default=REPO / "target/release/darkfiber")
    parser.add_argument("--side", choices=["darkfiber", "opensm"], help="measure this one only")
    parser.add_argument("--engines", nargs="+", choices=sizes.ENGINES, default=sizes.ENGINES)
    parser.add_argument("--budget", type=float, default=math.inf, help="seconds; no run begins after that")
    args = parser.parse_args()
    if args.what == "run":
        Bench(args).run()
        return
    store = Store(args.work)
    if args.what == "plot":
        text = chart.svg(store)
    else:
        text = tables.renewed(args.target.read_text() if args.target else None, store)
    if args.target:
        args.target.write_text(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
