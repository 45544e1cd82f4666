#!/usr/bin/env python3
"""Jobs start: how long routing for them, proving it, handing it to OpenSM, programming and reading back take.

    cargo build --release
    benches/opensm/overheads.py WORK [--fabric fattree2:n=12,m=6,r=18] [--route sar] [--changes 20] [--seed 1]

These are the overheads of Domke and Hoefler, "Scheduling-Aware Routing for Supercomputers", SC'16, section 4.3 (filter, routing,
configuration), in a run: a simulated fabric, an OpenSM with the engine `file`, and `darkfiber operate` in mode `apply`, which makes
tables anew whenever they leave less load than few entries. Five jobs in random pieces run; one of them ends and another one starts, again
and again. Times are those of the daemon's journal. WORK is a folder outside of the repository, and holds all that was said.

Debian packages: opensm ibsim-utils libumad2sim0 infiniband-diags.
"""

import argparse
import json
import random
import subprocess
import time
from pathlib import Path

import fault
import stages

REPO = Path(__file__).resolve().parents[2]


class Lab(stages.Lab):
    """As there, but tables follow jobs."""

    mode, policy = "apply", "cooldown_s = 0\nmax_per_hour = 1000\n"

    def __init__(self, args, name):
        self.random = random.Random(args.seed)
        super().__init__(args, name, False)

    def jobs(self):
        self.hosts = [f"cn{i:04}" for i in range(1, self.args.hosts + 1)]
        self.random.shuffle(self.hosts)
        self.places = [self.hosts[k::5] for k in range(5)]
        self.next = 1
        self.write()
        return 'file = "jobs"\nevery_s = 0.1\n'

    def write(self):
        """Writes the list of jobs, each place a job of its own number, and replaces the file as a whole."""
        lines = [f"{self.next + k} R {','.join(sorted(place))}" for k, place in enumerate(self.places)]
        (self.folder / "new").write_text("JOBID ST NODELIST\n" + "\n".join(lines) + "\n")
        (self.folder / "new").rename(self.folder / "jobs")

    def starts(self):
        """Two jobs end, and two others start on their hosts, dealt out anew."""
        a, b = self.random.sample(range(5), 2)
        both = self.places[a] + self.places[b]
        self.random.shuffle(both)
        self.places[a], self.places[b] = both[: len(both) // 3], both[len(both) // 3 :]
        self.next += 5
        self.write()

    def more(self):
        return f'[policy.route]\nengine = "{self.args.route}"\nbeyond = 0.0\n'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--fabric", default="fattree2:n=12,m=6,r=18")
    parser.add_argument("--hosts", type=int, default=216)
    parser.add_argument("--engine", default="ftree", help="engine of darkfiber whose tables are in place first")
    parser.add_argument("--route", default="sar", help="engine that makes tables for jobs")
    parser.add_argument("--changes", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--darkfiber", type=Path, default=REPO / "target/release/darkfiber")
    args = parser.parse_args()
    args.work = args.work.resolve()
    args.blocks = REPO / "plugin/blocks/darkfiber-blocks"
    args.settle = 1.5
    fault.prepare(args)
    lab = Lab(args, "jobs")
    try:
        for _ in range(args.changes):
            before = lab.last()
            lab.starts()
            end = time.monotonic() + 60
            while time.monotonic() < end and not (lab.last() > before and "watching" in lab.ask("status")):
                time.sleep(0.1)
        command = [str(args.darkfiber.resolve()), "operate", "review", "--config", "operate.toml"]
        print(subprocess.run(command, cwd=lab.folder, capture_output=True, text=True, check=True).stdout)
        said = subprocess.run([*command, "--format", "json"], cwd=lab.folder, capture_output=True, text=True, check=True)
        (lab.folder / "review.json").write_text(said.stdout)
        for part in json.loads(said.stdout)["parts"]:
            print(f"| {part['part']} | {part['decisions']} | {part['median']:.3f} | {part['longest']:.3f} |")
    finally:
        lab.stop()


if __name__ == "__main__":
    main()
