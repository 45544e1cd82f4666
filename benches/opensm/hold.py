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
import os
import random
import re
import shutil
import statistics
import subprocess
import time
from pathlib import Path

import fault
import simulator

REPO = Path(__file__).resolve().parents[2]


class Slurm:
    """slurmctld and one slurmd a host, with a munge key of their own."""

    def __init__(self, folder, hosts, hook, port):
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        for part in ("etc", "state", "spool", "log", "munge"):
            (folder / part).mkdir(parents=True)
        for path in (folder, *folder.parents):
            if path != Path("/") and path != Path("/tmp"):
                path.chmod(0o755)
        key = folder / "munge/key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        of = folder / "munge"
        subprocess.run(
            ["munged", "--force", f"--key-file={key}", f"--socket={of}/sock", f"--pid-file={of}/pid", f"--log-file={of}/log", f"--seed-file={of}/seed"],
            check=True,
        )
        first, last = hosts[0][2:], hosts[-1][2:]
        ports = f"{port + 1}-{port + len(hosts)}"
        (folder / "etc/slurm.conf").write_text(
            f"""ClusterName=lab
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={of}/sock
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/spool/%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SchedulerParameters=sched_interval=2,bf_interval=3
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
MaxNodeCount={len(hosts) + 16}
PlugStackConfig=/dev/null
PrologSlurmctld={hook}
NodeName=cn[{first}-{last}] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[{ports}] CPUs=4 RealMemory=1000
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE
"""
        )
        self.env = {**os.environ, "SLURM_CONF": str(folder / "etc/slurm.conf")}
        self.run("slurmctld", "-c")
        for host in hosts:
            (folder / "spool" / host).mkdir()
            self.run("slurmd", "-N", host)
        end = time.monotonic() + 180
        while self.run("sinfo", "-h", "-N", "-o", "%t").split().count("idle") < len(hosts):
            if time.monotonic() > end:
                raise SystemExit(f"slurmd: not all idle, see {folder}/log")
            time.sleep(0.5)

    def run(self, *words):
        return subprocess.run(words, env=self.env, check=True, capture_output=True, text=True).stdout

    def stop(self):
        pids = [*(self.folder / "spool").glob("*.pid"), self.folder / "slurmctld.pid", self.folder / "munge/pid"]
        for path in pids:
            if path.exists():
                subprocess.run(["kill", path.read_text().strip()], check=False)


class Lab(fault.Lab):
    """The fabric, OpenSM and the daemon, which follows SLURM's jobs."""

    def __init__(self, args, squeue):
        self.squeue = squeue
        super().__init__(args, "plugin", True)

    def operate(self):
        path = self.folder / "operate.toml"
        run = subprocess.Popen
        try:
            # The configuration of fault.py, in another mode and with SLURM's jobs.
            subprocess.Popen = lambda *a, **k: self.rewritten(path) or run(*a, **k)
            return super().operate()
        finally:
            subprocess.Popen = run

    def rewritten(self, path):
        text = path.read_text().replace('"apply-faults"', '"apply"')
        text = text.replace('file = "jobs"\nempty_is_idle = true', f"command = {self.squeue}\nevery_s = 1")
        path.write_text(text.replace("[policy]", "[policy]\ncooldown_s = 0\nmax_per_hour = 1000"))


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
