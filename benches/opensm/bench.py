#!/usr/bin/env python3
"""darkfiber beside OpenSM on the same fabrics: speed and quality, engine by engine.

    cargo build --release
    benches/opensm/bench.py run   WORK [--reference DIR] [--only NAME ...] [--timeout S]
    benches/opensm/bench.py table WORK docs/benchmarks/opensm.md

`run` takes one fabric after the other (cases.py): darkfiber writes it as an ibnetdiscover file, OpenSM
routes that file on ibsim, once per engine (three times if it is quick; the least CPU time counts), and
darkfiber routes the same file with the same roots. Both sets of tables are traced by `darkfiber check`'s
checker. Every case leaves a JSON file in WORK and is not run again while that is there; darkfiber's own
cases are run again when the binary has changed. WORK is a folder outside of the repository.

What is timed: for OpenSM the CPU clock of the thread that routes, from "building routing with" to
"tables configured" (clock.c); for darkfiber `seconds` of `route --threads 1`, least of nine: wall time on
one thread, so never less than the CPU time. Nothing else is in either: no sweep, no reading, no checking.

Debian packages: opensm ibsim-utils libumad2sim0 gcc.
"""

import argparse
import gzip
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import cases
import markdown
import simulator

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from made import made

REPO = Path(__file__).resolve().parents[2]
# OpenSM runs again while a sweep takes at most this many seconds, darkfiber while routing does.
QUICK = {"opensm": 6.0, "darkfiber": 1.0}
REPEATS = {"opensm": 3, "darkfiber": 9}


def saved(path):
    return json.loads(path.read_text()) if path.exists() else None


def save(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(value, indent=1) + "\n")
    partial.rename(path)
    return value


class Bench:
    def __init__(self, args):
        self.work = args.work.resolve()
        self.work.mkdir(parents=True, exist_ok=True)
        self.timeout = args.timeout
        self.reference = args.reference
        self.binary = args.darkfiber.resolve()
        self.version = hashlib.sha256(self.binary.read_bytes()).hexdigest()[:16]
        self.clock = simulator.build_clock(self.work)

    def darkfiber(self, *args, timeout=900):
        """Runs darkfiber; its JSON, or None if there is none. Findings (exit code 1) are results."""
        command = [str(self.binary), *map(str, args), "--format", "json", "-q"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            return {"refused": f"not finished in {timeout} s"}
        if done.returncode in (0, 1, 4) and done.stdout.startswith("{"):
            return json.loads(done.stdout)
        return {"refused": f"exit code {done.returncode}: {done.stderr.strip()[-300:]}"}

    def net(self, fabric):
        """The fabric as a file, the same for both sides."""
        path = self.work / "nets" / f"{fabric.name}.net"
        path.parent.mkdir(exist_ok=True)
        if path.exists():
            return path
        if fabric.reference:
            source = self.reference / fabric.reference / "topology.net.gz"
            path.write_bytes(gzip.decompress(source.read_bytes()))
        else:
            self.darkfiber("fabric", fabric.spec, *fabric.options, "--to", "ibnetdiscover", "-o", path)
        return path

    def roots(self, fabric, net):
        if fabric.reference:
            return self.reference / fabric.reference / "roots.guids"
        path = self.work / "nets" / f"{fabric.name}.roots"
        if not path.exists():
            path.write_text("\n".join(net.roots()) + "\n")
        return path

    def opensm(self, fabric, engine, net, roots):
        """OpenSM's CPU seconds and the quality of its tables."""
        path = self.work / "opensm" / f"{fabric.name}.{engine}.json"
        result = saved(path)
        if result is None:
            options = [o.format(roots=roots) for o in cases.OPENSM_OPTIONS.get(engine, [])]
            folder = self.work / "runs" / f"{fabric.name}.{engine}"
            seconds = []
            for _ in range(REPEATS["opensm"]):
                result = simulator.sweep(net, engine, options, folder, self.clock, self.timeout)
                if "cpu" in result:
                    seconds.append(result["cpu"])
                if "cpu" not in result or result["sweep_wall"] > QUICK["opensm"]:
                    break
            if seconds:
                result.update(cpu=min(seconds), runs=len(seconds))
            save(path, result)
        if "dump" in result and "quality" not in result:
            result["quality"] = self.check_opensm(fabric, engine, net, result)
            save(path, result)
            Path(result["dump"]).unlink()
        return result

    def check_opensm(self, fabric, engine, net, result):
        """Traces OpenSM's tables; for reference fabrics the saved ones, which have service levels."""
        args = ["--routes", result["dump"]]
        if fabric.reference:
            folder = self.reference / fabric.reference
            found = [folder / f"lfts.{engine}{end}.dump.gz" for end in ("", "-roots")]
            tables = next((f for f in found if f.exists()), None)
            if tables:
                args = ["--routes", tables, "--guid2lid", folder / "guid2lid.gz"]
                levels = folder / f"sl.{engine}.txt.gz"
                args += ["--sl", levels] if levels.exists() else []
        return brief(self.darkfiber("check", net.path, *args))

    def ours(self, fabric, engine, net, roots):
        path = self.work / "darkfiber" / f"{fabric.name}.{engine}.json"
        result = saved(path)
        if result and result["binary"] == self.version:
            return result
        args = ["route", net.path, "-e", engine]
        args += ["--roots", roots] if engine in cases.TAKES_ROOTS else []
        result = {"binary": self.version, "command": " ".join(map(str, args))}
        for key, threads in (("cpu", 1), ("wall2", 2)):
            rounds = []
            for _ in range(REPEATS["darkfiber"]):
                rounds.append(self.darkfiber(*args, "--threads", threads))
                if "refused" in rounds[-1] or rounds[-1]["seconds"] > QUICK["darkfiber"]:
                    break
            result["quality"] = brief(rounds[-1])
            if "refused" not in rounds[-1]:
                result[key] = min(r["seconds"] for r in rounds)
        return save(path, result)

    def run(self, fabric):
        net = simulator.Net.read(self.net(fabric))
        roots = self.roots(fabric, net)
        for engine in fabric.engines:
            print(f"{fabric.name} {engine}", end=" ", flush=True)
            theirs = self.opensm(fabric, engine, net, roots)
            ours = self.ours(fabric, engine, net, roots)
            print(markdown.verdict(theirs, ours).plain(), flush=True)
        size = {"terminals": net.nodes - net.switches, "switches": net.switches}
        save(self.work / "fabrics" / f"{fabric.name}.json", size)


def brief(result):
    """What is kept of a result."""
    keys = ("pairs", "unreachable", "loops", "hops", "layers", "deadlock_free", "efi", "refused")
    return {key: result[key] for key in keys if key in result}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("work", type=Path)
    parser.add_argument("document", type=Path, nargs="?", help="its generated part is renewed")
    parser.add_argument("--darkfiber", type=Path, default=REPO / "target/release/darkfiber")
    parser.add_argument("--reference", type=Path, help="folder of the saved OpenSM reference tables")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--timeout", type=float, default=400, help="seconds for a run of OpenSM")
    args = parser.parse_args()
    fabrics = [f for f in cases.FABRICS if not args.only or f.name in args.only]
    if args.what == "table":
        text = markdown.report(args.work, fabrics)
        if not args.document:
            sys.stdout.write(text)
            return
        head, mark, _ = args.document.read_text().partition(markdown.MARK)
        if not mark:
            raise SystemExit(f"{args.document} has no line {markdown.MARK}")
        args.document.write_text(f"{head}{mark}\n\n{made()}\n{text}\n{markdown.END}\n")
        return
    bench = Bench(args)
    for fabric in fabrics:
        if fabric.reference and not args.reference:
            print(f"{fabric.name}: left out, needs --reference", flush=True)
            continue
        bench.run(fabric)


if __name__ == "__main__":
    main()
