#!/usr/bin/env python3
"""A cable dies: seconds until repaired tables are read back, where OpenSM sweeps for each stage, and where darkfiber writes them.

    make -C plugin/blocks && cargo build --release
    benches/opensm/stages.py WORK [--fabric fattree2:n=12,m=6,r=18] [--engine updn] [--faults 10] [--seed 1]

Two fabrics are simulated by two ibsims, each with an OpenSM with the engine `file` and `darkfiber operate`; one of these has
[switches] write. For each cable, drawn at random, the one fabric loses it, is repaired, and then the other; then the cable is back.
Times are from the word to the simulator to the line "plan N is in place". WORK is a folder outside of the repository, and holds all
that was said.

Debian packages: opensm ibsim-utils libumad2sim0 infiniband-diags libibumad-dev gcc make.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import time
from pathlib import Path

import fault
import simulator

REPO = Path(__file__).resolve().parents[2]


class Lab(fault.Lab):
    """A simulated fabric, OpenSM with the engine `file`, and a daemon, which writes into switches or not."""

    def __init__(self, args, name, writes):
        self.writes = writes
        self.lfts = args.work / f"{name}.lfts"
        shutil.copy(args.work / "routes/lfts.dump", self.lfts)
        args.stock, args.plugin = "file", REPO / "plugin/libdfosm.so"
        self.settings = (f"lfts_file {self.lfts}",)
        super().__init__(args, name, False)
        (self.folder / "state").mkdir()
        self.daemon = self.operate()

    def operate(self):
        words = ["env", f"IBSIM_SOCKNAME={self.socket}", f"LD_PRELOAD={simulator.library()}"]
        list_of = lambda program: json.dumps([*words, program])
        (self.folder / "operate.toml").write_text(
            f'mode = "{self.mode}"\nstate = "state"\n[fabric]\ncommand = {list_of("ibnetdiscover")}\nevery_s = 600\n'
            f'[tables]\ncommand = {list_of("dump_fts")}\nevery_s = 600\nlfts_file = "{self.lfts}"\n[jobs]\n{self.jobs()}'
            f'[opensm]\nengines = "file,no_fallback"\nsweep = ["sh", "-c", "kill -HUP $(cat manager.pid)"]\nlog = "opensm.log"\n'
            f"[policy]\naudit_s = 100000\n{self.policy}{self.more()}"
            + (f"[switches]\nwrite = {list_of(str(self.args.blocks.resolve()))}\n" if self.writes else "")
        )
        out, err = open(self.folder / "told", "wb"), open(self.folder / "notes", "wb")
        command = [str(self.args.darkfiber.resolve()), "operate", "--config", "operate.toml"]
        daemon = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=self.folder)
        self.wait(lambda: "watching" in self.ask("status"), "the daemon")
        return daemon

    def more(self):
        """More sections of the daemon's configuration."""
        return ""

    def last(self):
        """The number of the last decision."""
        found = re.findall(r"^decision +(\d+) (?!open)", self.ask("status"), re.M)
        return max(map(int, found), default=0)

    def ask(self, *words):
        command = [str(self.args.darkfiber.resolve()), "operate", *words, "--config", "operate.toml"]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False).stdout

    def plans(self):
        return re.findall(r"plan (\d+) is in place", (self.folder / "told").read_text())

    def repair(self, cable):
        """Seconds until the repair is in place, and its stages; ends if there is none within a minute."""
        known, begin = len(self.plans()), time.monotonic()
        self.sim.stdin.write(f'Unlink "{cable[0]}"[{cable[1]}]\n'.encode())
        self.sim.stdin.flush()
        while len(self.plans()) == known:
            if time.monotonic() - begin > 60:
                raise SystemExit(f"no repair of {cable}: see {self.folder}")
            time.sleep(0.005)
        took = time.monotonic() - begin
        stages = re.search(r"in (\d+) stages", self.ask("explain", self.plans()[-1]))
        self.change(f'ReLink "{cable[0]}"[{cable[1]}]')
        return took, int(stages[1]) if stages else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--fabric", default="fattree2:n=12,m=6,r=18")
    parser.add_argument("--engine", default="updn", help="engine of darkfiber whose tables are in place")
    parser.add_argument("--faults", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--settle", type=float, default=1.5, help="seconds of silence after which all is settled")
    parser.add_argument("--darkfiber", type=Path, default=REPO / "target/release/darkfiber")
    parser.add_argument("--blocks", type=Path, default=REPO / "plugin/blocks/darkfiber-blocks")
    args = parser.parse_args()
    args.work = args.work.resolve()
    cables = fault.prepare(args)
    labs = [Lab(args, "sweeps", False), Lab(args, "writes", True)]
    rows = []
    try:
        for cable in cables[: args.faults]:
            (sweeps, stages), (writes, also) = (lab.repair(cable) for lab in labs)
            rows.append((sweeps, writes, stages))
            print(f"{cable[0]}[{cable[1]}] {stages} and {also} stages: by sweeps {sweeps:.2f} s, written {writes:.2f} s", flush=True)
    finally:
        for lab in labs:
            lab.stop()
    for stages in sorted({r[2] for r in rows}):
        of = [r for r in rows if r[2] == stages]
        print(f"| {args.fabric} | {stages} | {len(of)} | {statistics.median(r[0] for r in of):.2f} | {statistics.median(r[1] for r in of):.2f} |")


if __name__ == "__main__":
    main()
