"""SLURM on simulated hosts: munged, slurmctld and one slurmd a host, all on loopback, with a key, ports and folders of their own.

Needs root, for slurmd starts jobs, and the Debian packages slurm-wlm and munge.
"""

import os
import random
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scancel", "sinfo", "squeue")
START_SECONDS = 180


def missing():
    """Why SLURM cannot be started here; None if it can."""
    absent = [p for p in PROGRAMS if not shutil.which(p)]
    if absent:
        return f"{', '.join(absent)} not found (Debian: slurm-wlm munge)"
    return "it needs root" if os.geteuid() else None


def free_ports(count):
    """The first of so many free ports in a row, below those that the kernel gives to clients."""
    for _ in range(100):
        first = random.randrange(20000, 30000 - count)
        held = []
        try:
            for port in range(first, first + count):
                held.append(socket.socket())
                held[-1].bind(("127.0.0.1", port))
            return first
        except OSError:
            pass
        finally:
            for s in held:
                s.close()
    raise SystemExit(f"no {count} free ports in a row")


class Slurm:
    """The servers, as children of this process: whatever the files say that they write, these are the ones that are stopped."""

    def __init__(self, folder, hosts, hook=None, port=None):
        self.folder, self.children = folder, []
        shutil.rmtree(folder, ignore_errors=True)
        for part in ("etc", "state", "spool", "log", "munge"):
            (folder / part).mkdir(parents=True)
        self.conf = folder / "etc/slurm.conf"
        self.env = {**os.environ, "SLURM_CONF": str(self.conf)}
        port = port or free_ports(1 + len(hosts))
        self.conf.write_text(configuration(folder, hosts, hook, port))
        try:
            self.start(hosts)
        except BaseException:
            self.stop()
            raise

    def start(self, hosts):
        of = self.folder / "munge"
        (of / "key").touch(0o600)
        (of / "key").write_bytes(os.urandom(128))
        # Forced: the folder of a test is one that others cannot enter.
        command = ["munged", "--foreground", "--force", f"--key-file={of}/key", f"--socket={of}/sock"]
        self.child([*command, f"--pid-file={of}/pid", f"--log-file={of}/log", f"--seed-file={of}/seed"])
        self.wait((of / "sock").exists, "munged", of / "log")
        self.start_controller("-c")
        for host in hosts:
            (self.folder / "spool" / host).mkdir()
            self.child(["slurmd", "-D", "-N", host])
        all_idle = lambda: self.ask("sinfo", "-h", "-N", "-o", "%t").split().count("idle") == len(hosts)
        self.wait(all_idle, "slurmd: not all idle", self.folder / "log")

    def child(self, command):
        with open(self.folder / "log/out", "ab") as out:
            self.children.append(subprocess.Popen(command, env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=out))
        return self.children[-1]

    def start_controller(self, *options):
        """slurmctld, which goes on with the jobs that it has saved unless the options say otherwise."""
        self.controller = self.child(["slurmctld", "-D", *options])

    def wait(self, done, what, where):
        end = time.monotonic() + START_SECONDS
        while not done():
            if time.monotonic() > end:
                raise SystemExit(f"{what}: not within {START_SECONDS} s, see {where}")
            time.sleep(0.1)

    def run(self, *words):
        return subprocess.run(words, env=self.env, check=True, capture_output=True, text=True).stdout

    def ask(self, *words):
        """What a command says; nothing if slurmctld does not answer."""
        return subprocess.run(words, env=self.env, capture_output=True, text=True).stdout

    def running(self):
        """Numbers of the jobs that run."""
        return self.ask("squeue", "-h", "-t", "R", "-o", "%i").split()

    def submit(self, nodes):
        """A job on so many nodes, which lasts; its number, once it runs."""
        number = self.run("sbatch", "--parsable", "-o", "/dev/null", "-N", str(nodes), "--wrap", "sleep 1d").strip()
        self.wait(lambda: number in self.running(), f"job {number}", self.folder / "log")
        return number

    def cancel_but(self, kept):
        """Ends all other jobs: a slurmctld that was killed may have brought back some that had ended, for it saves them late."""
        others = [n for n in self.ask("squeue", "-h", "-o", "%i").split() if n not in kept]
        if others:
            self.run("scancel", *others)

    def come_back(self, how):
        """Undoes a signal after which slurmctld did not answer, and waits until it does."""
        if how == signal.SIGSTOP:
            self.controller.send_signal(signal.SIGCONT)
        else:
            self.controller.wait(60)
            self.start_controller()
        self.wait(lambda: "JOBID" in self.ask("squeue", "-o", "%i"), "slurmctld", self.folder / "log")

    def of_this(self):
        """Processes that run with this configuration: the servers, and what slurmd has started, which outlives it."""
        mark, found = f"SLURM_CONF={self.conf}".encode(), []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (process / "environ").read_bytes().split(b"\0"):
                    found.append(int(process.name))
            except OSError:
                pass
        return found

    def stop(self):
        alive = [c for c in self.children if c.poll() is None]
        for child in alive:
            child.send_signal(signal.SIGCONT)
        if alive:
            try:
                subprocess.run(["scancel", "-u", "root"], env=self.env, capture_output=True, timeout=10)
            except subprocess.TimeoutExpired:
                pass
        for _ in range(100):
            if len(self.of_this()) <= len(alive):
                break
            time.sleep(0.1)
        for child in alive:
            child.terminate()
        for child in alive:
            try:
                child.wait(5)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        for left in self.of_this():
            try:
                os.kill(left, signal.SIGKILL)
            except ProcessLookupError:
                pass


def configuration(folder, hosts, hook, port):
    """slurm.conf: exclusive nodes with four CPUs each, of which nothing is true but that slurmd runs."""
    first, last = hosts[0][2:], hosts[-1][2:]
    return f"""ClusterName=lab
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/sock
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
{f"PrologSlurmctld={hook}" if hook else ""}
NodeName=cn[{first}-{last}] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[{port + 1}-{port + len(hosts)}] CPUs=4 RealMemory=1000
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE
"""
