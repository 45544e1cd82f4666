#!/usr/bin/env python3
"""A job starts: how long PrologSlurmctld holds it, and whether its tables are in place before its first line.

    make -C plugin && cargo build --release
    benches/opensm/hold.py WORK [--fabric fattree2:n=12,m=6,r=18] [--jobs 20] [--nodes 12] [--seed 1]

A simulated fabric (ibsim), OpenSM with the plugin, `darkfiber operate` in mode apply, and real slurmctld with one slurmd for each
host, all on this machine and on loopback only. Jobs on hosts drawn at random start one after the other beside two that run
already; each writes the time as its first line. The hook is packaging/prolog-slurmctld. For each job: how long it was held,
whether a plan was put in place for it, and the time from "in place, as read back" to its first line. As many jobs start without
the hook's program (`true` in its place), and the time from sbatch to the first line is told for both.

Debian packages: opensm ibsim-utils libumad2sim0 infiniband-diags libopensm-dev libibumad-dev gcc make slurm-wlm munge.
"""

import argparse
import random
import re
import shutil
import statistics
import subprocess
import time
from pathlib import Path

import fault
from slurm import Slurm

REPO = Path(__file__).resolve().parents[2]


class Lab(fault.Lab):
    """The fabric, OpenSM and the daemon, which follows SLURM's jobs."""

    mode, policy = "apply", "cooldown_s = 0\nmax_per_hour = 1000\n"

    def __init__(self, args, squeue):
        self.squeue = squeue
        super().__init__(args, "plugin", True)

    def jobs(self):
        return f"command = {self.squeue}\nevery_s = 1\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--fabric", default="fattree2:n=12,m=6,r=18")
    parser.add_argument("--jobs", type=int, default=20)
    parser.add_argument("--nodes", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--port", type=int, default=17100)
    parser.add_argument("--darkfiber", type=Path, default=REPO / "target/release/darkfiber")
    parser.add_argument("--plugin", type=Path, default=REPO / "plugin/libdfosm.so")
    args = parser.parse_args()
    args.work = args.work.resolve()
    args.work.mkdir(parents=True, exist_ok=True)
    args.engine, args.stock, args.book, args.settle, args.wait = "ftree", "updn", 600.0, 1.0, 2000
    shutil.rmtree(args.work / "routes", ignore_errors=True)
    command = [str(args.darkfiber), "route", args.fabric, "-e", args.engine, "-o", str(args.work / "routes"), "-q"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    topology = (args.work / "routes/fabric.topo").read_text()
    hosts = sorted(set(re.findall(r'^Ca\s.*# "(cn\d+)', topology, re.M)))
    slurm_folder = args.work / "slurm"
    hook = args.work / "hook"
    hook.write_text("#!/bin/sh\nexit 0\n")
    hook.chmod(0o755)
    slurm = Slurm(slurm_folder, hosts, hook, args.port)
    words = ["env", f"SLURM_CONF={slurm.env['SLURM_CONF']}", "squeue", "-a", "-r", "-t", "R,CF", "-o", "%i %T %N"]
    lab = None
    try:
        lab = Lab(args, "[" + ", ".join(f'"{w}"' for w in words) + "]")
        held = args.work / "held"
        held.write_text("")
        program = (REPO / "packaging/prolog-slurmctld").read_text().replace("/usr/bin/darkfiber", str(args.darkfiber.resolve()))
        program = program.replace("/etc/darkfiber/operate.toml", str(lab.folder / "operate.toml"))
        real = program.replace("2>/dev/null", f"2>>{held}")
        draw = random.Random(args.seed)
        running = draw.sample(hosts, 2 * args.nodes)
        for chosen in (running[: args.nodes], running[args.nodes :]):
            submit(slurm, args, chosen, 3600)
        starts = {}
        for what, text in (("with", real), ("without", "#!/bin/sh\nexit 0\n")):
            hook.write_text(text)
            starts[what] = []
            for _ in range(args.jobs):
                chosen = draw.sample([h for h in hosts if h not in running], args.nodes)
                began = time.time()
                starts[what].append(submit(slurm, args, chosen, 0) - began)
                time.sleep(1.0)
    finally:
        if lab:
            lab.stop()
        slurm.stop()
    seconds = [float(s) for s in re.findall(r"released after ([\d.]+) s", held.read_text())]
    outcomes = re.findall(r"decision \d+ (\w+)", held.read_text())
    late = outcomes.count("deploying") + outcomes.count("open")
    middle = lambda values: statistics.median(values) if values else float("nan")
    plain = middle(starts["without"])
    with_hook = middle(starts["with"])
    print("hosts jobs held_median_s held_max_s plans released_before_in_place start_with_s start_without_s")
    print(f"{len(hosts)} {args.jobs} {middle(seconds):.3f} {max(seconds, default=float('nan')):.3f} {outcomes.count('confirmed')} {late} {with_hook:.2f} {plain:.2f}")


def submit(slurm, args, chosen, seconds):
    """Starts a job on these hosts; the time that its first line says."""
    out = args.work / f"first-{time.time():.6f}"
    script = args.work / "job.sh"
    script.write_text(f"#!/bin/sh\ndate +%s.%N > {out}.part && mv {out}.part {out}\nsleep {seconds}\n")
    names = ",".join(chosen)
    slurm.run("sbatch", "-o", "/dev/null", "-N", str(len(chosen)), "-w", names, str(script))
    end = time.monotonic() + 60
    while not out.exists():
        if time.monotonic() > end:
            raise SystemExit(f"the job on {names} does not start, see {slurm.folder}/log")
        time.sleep(0.02)
    return float(out.read_text())


if __name__ == "__main__":
    main()
