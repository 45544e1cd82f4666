#!/usr/bin/env python3
"""Injected faults on a simulated fabric with OpenSM, its plugin and `darkfiber operate`: what is lost, unproved or silent.

    make -C plugin && cargo build
    cargo run -p xtask -- lab soak --seed 1 --faults 50

Faults are drawn by seed in the proportions of CLASSES. Each is made, all settles, the tables are read back from the switches and
checked by `darkfiber check` on the fabric as ibnetdiscover then sees it; it is undone, and the same is done again. A line is
appended to docs/soak.csv at the end of a part, whatever came of it. `--each` makes one fault of each class instead.

The jobs are those of a real SLURM, with a slurmd for each simulated host, on loopback only. A full disk needs root, to mount a small
one, and so does SLURM; what cannot be injected is left out, and said. Debian packages: opensm ibsim-utils libumad2sim0
infiniband-diags libopensm-dev libibumad-dev gcc make faketime slurm-wlm munge.
"""

import argparse
import collections
import datetime
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import fault
import simulator
import slurm

REPO = Path(__file__).resolve().parents[2]
# How often of 1,000.
CLASSES = {
    "cable": 300,
    "flapping": 30,
    "switch": 60,
    "host": 60,
    "partition": 20,
    "daemon-kill": 150,
    "daemon-stop": 40,
    "sighup-burst": 60,
    "sm-restart": 60,
    "jobs-garbage": 60,
    "corrupt-file": 50,
    "socket-junk": 20,
    "disk-full": 20,
    "clock-step": 10,
    "handover": 40,
    "slurmctld": 30,
}
# Kinds behind which the jobs must be known again. As long as their list is garbage, those known before stay.
JOBS_UNKNOWN = ("jobs-garbage", "slurmctld")
FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
COLUMNS = "date,commit,seed,faults,classes,pairs_lost,cycles,unread,unproved,wrong_rollbacks,frozen,longest_silence_s,longest_settling_s,replay"
SETTLE = 25.0
# What the daemon asks for jobs: garbage or nothing where these are injected. Its clock may be set, those of SLURM are not.
ASK = """unset LD_PRELOAD
[ -e silent ] && exec sleep 60
[ -e garbage ] && exec cat garbage
"""


class Soak(fault.Lab):
    # ibsim takes ten clients at once: a read-back that finds none free is made again soon.
    confirm, audit = 3, 30
    # OpenSM's default. It ignores traps of a switch that has just sent ten, and finds by itself what it has missed by that.
    sweep = 10
    # A standby that takes over within seconds.
    settings = ("sminfo_polling_timeout 500", "polling_retry_number 2")

    def reader(self, words, program):
        # A client that is killed keeps its place with ibsim for ever; one that writes into a file does not die with its reader.
        script = f"out=$(mktemp -p .); {' '.join(words)} {program} > $out; code=$?; cat $out; rm $out; exit $code"
        return ["sh", "-c", script]

    def make_state(self, state):
        """A file system of its own, which can be full."""
        super().make_state(state)
        if "disk-full" in CLASSES:
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", state], check=True)

    def environment(self):
        # The clock of the day can be set; the one that only goes on cannot, as with a real step.
        if "clock-step" not in CLASSES:
            return None
        clock = self.folder / "clock"
        if not clock.exists():
            clock.write_text("+0\n")
        env = {"LD_PRELOAD": str(FAKETIME), "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1"}
        return os.environ | env | {"FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}

    def jobs(self):
        """From SLURM, or from a file where there is none."""
        if self.slurm:
            ask = f"SLURM_CONF={self.slurm.conf} exec squeue -a -r -t R,CF -o '%i %T %N'\n"
        else:
            (self.folder / "jobs").write_text("JOBID ST NODELIST\n1 R cn[0001-0004]\n")
            ask = "exec cat jobs\n"
        (self.folder / "jobs.sh").write_text(ASK + ask)
        return 'command = ["sh", "jobs.sh"]\nevery_s = 1\ntimeout_s = 3\n'

    def running(self):
        """How many jobs run."""
        return len(self.slurm.running()) if self.slurm else 1

    def stop(self):
        # A client that finds no simulator waits for one for ever.
        self.asking = False
        if self.asker:
            self.asker.join(10)
        try:
            super().stop()
        finally:
            # A standby that an interruption kept from the place.
            for manager in self.managers:
                simulator.stop(manager)
            if self.slurm:
                self.slurm.stop()
            # What was decided outlives the file system that it was on.
            for journal in (self.folder / "state").glob("journal*"):
                shutil.copy(journal, self.folder)
            subprocess.run(["umount", "-l", self.folder / "state"], capture_output=True)

    def __init__(self, args):
        subprocess.run(["umount", "-l", args.work / "plugin" / "state"], capture_output=True)
        self.folder = args.work / "plugin"
        self.sim = self.manager = self.daemon = self.slurm = None
        self.managers, self.asker = [], None
        try:
            if "slurmctld" in CLASSES:
                topology = (args.work / "routes/fabric.topo").read_text()
                names = sorted(set(re.findall(r'^Ca\s.*# "(cn\d+)', topology, re.M)))
                self.slurm = slurm.Slurm(args.work / "slurm", names)
                self.lasting = [self.slurm.submit(4) for _ in range(3)]
            super().__init__(args, "plugin", True)
        except BaseException:
            self.stop()
            raise
        self.draw = random.Random(args.seed)
        self.topology = (self.routes / "fabric.topo").read_text()
        nodes = re.findall(r'^(Switch|Ca)\s+(\d+)\s+"([^"]+)"', self.topology, re.M)
        self.switches = [name for kind, _, name in nodes if kind == "Switch"]
        self.hosts = [name for kind, _, name in nodes if kind == "Ca"]
        self.cables, self.leaf_of, node = [], {}, None
        for line in self.topology.splitlines():
            if head := re.match(r'(Switch|Ca)\s+\d+\s+"([^"]+)"', line):
                node = head[2] if head[1] == "Switch" else None
            elif node and (link := re.match(r'\[(\d+)\][^"]*"([SH]-[^"]+)"', line)):
                if link[2].startswith("H-"):
                    self.leaf_of[link[2]] = node
                else:
                    self.cables.append((node, int(link[1]), link[2]))
        guids = dict(re.findall(r"^0x([0-9a-f]{16}) 0x([0-9a-f]+) ", (self.routes / "guid2lid").read_text(), re.M))
        port = re.search(re.escape(self.hosts[0]) + r'".*?\n\[\d+\]\(([0-9a-f]+)\)', self.topology, re.S)[1]
        self.lid = int(guids[port.zfill(16)], 16)
        # OpenSM sits on the first host: what it hangs on stays.
        self.own = self.leaf_of[self.hosts[0]]
        self.counts = collections.Counter()
        self.settling, self.silence, self.excused, self.excuses = 0.0, 0.0, 0, 0
        # Since when what is said of the jobs holds, for the kinds that keep them from being known.
        self.told_jobs, self.longest_unknown = None, 0.0
        self.asking, self.what = True, "the beginning"
        self.asker = threading.Thread(target=self.ask, daemon=True)
        self.asker.start()

    def client(self):
        """The environment of a client of the simulator."""
        return {**os.environ, "IBSIM_SOCKNAME": self.socket, "LD_PRELOAD": simulator.library()}

    def run(self, *words, timeout=30):
        return subprocess.run(words, env=self.client(), capture_output=True, text=True, timeout=timeout, cwd=self.folder)

    def ask(self):
        """Asks the subnet administrator for a path all the time; the longest time between two answers while an OpenSM ran."""
        last, questions = time.monotonic(), []
        command = ("saquery", "--src-to-dst", f"{self.lid}:{self.lid}")
        while self.asking:
            now = time.monotonic()
            for question in questions[:]:
                process, asked, _ = question
                is_over = process.poll() is not None
                if is_over and "sl" in process.stdout.read():
                    if now - last > 3:
                        print(f"    no answer for {now - last:.1f} s, in {self.what}", flush=True)
                    self.silence, last = max(self.silence, now - last), now
                elif not is_over and now - asked > 10:
                    print(f"    a question hangs, in {self.what}: its threads are in system calls {waits(process.pid)}", flush=True)
                    process.kill()
                if is_over or now - asked > 10:
                    process.wait()
                    process.stdout.close()
                    questions.remove(question)
            # saquery gives up after a second, but hangs for ever if an answer comes while it ends: its library (ibsim 0.10) then joins a
            # thread that waits for a lock that it holds. That is no silence of OpenSM, so another question is asked beside it. What
            # was asked before a time without OpenSM counts for nothing, either.
            if self.excused:
                last = now
            elif not any(now - asked < 1.5 and excuses == self.excuses for _, asked, excuses in questions):
                process = subprocess.Popen(
                    command, env=self.client(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=self.folder
                )
                questions.append((process, now, self.excuses))
            time.sleep(0.1)
        for process, _, _ in questions:
            simulator.stop(process)

    def console(self, line):
        self.sim.stdin.write(line.encode() + b"\n")
        self.sim.stdin.flush()

    def darkfiber(self, *words):
        command = [str(self.args.darkfiber.resolve()), *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=self.folder)

    def settle(self):
        """Waits until nobody says anything any more and the daemon watches."""
        began, quiet, length = time.monotonic(), time.monotonic(), -1
        while time.monotonic() - began < SETTLE:
            now = len(self.log()) + len(self.notes()) + self.told()
            if now != length:
                quiet, length = time.monotonic(), now
            elif time.monotonic() - quiet > 1.0:
                said = self.darkfiber("operate", "status", "--config", "operate.toml").stdout
                if "frozen" in said:
                    self.counts["frozen"] += 1
                    print("    frozen, and resumed", flush=True)
                    self.darkfiber("operate", "resume", "--config", "operate.toml")
                elif "phase      watching" in said:
                    break
                quiet = time.monotonic()
            time.sleep(0.1)
        self.settling = max(self.settling, time.monotonic() - began - 1.0)

    def judge(self, what):
        """Reads the tables back from the switches, and checks them on the fabric as it is now. What is lost may be found again
        until SETTLE seconds have gone by since the fault was made."""
        while True:
            found = self.read_back(what)
            if found is None:
                return
            lost, is_free = found["unreachable"] + found["loops"], found["deadlock_free"]
            since = time.monotonic() - self.made
            if not lost or not is_free or since > SETTLE:
                break
            print(f"    {what}: {lost} pairs lost {since:.1f} s after it was made", flush=True)
            self.settling = max(self.settling, since)
            time.sleep(1)
        self.counts["lost"] += lost
        self.counts["cycles"] += not is_free
        if lost or not is_free:
            print(f"    {what}: {lost} pairs lost, deadlock_free {is_free}", flush=True)

    def judge_jobs(self, what, is_readable):
        """Whether the daemon knows as many jobs as run, within SETTLE seconds, and whether it says if they cannot be read."""
        while True:
            said = self.darkfiber("operate", "status", "--config", "operate.toml", "--format", "json").stdout
            since, runs = time.monotonic() - self.told_jobs, self.running()
            state = json.loads(said)["state"] if said.startswith("{") else {"running": None}
            unread = state.get("bad", {}).get("jobs", {}).get("in_a_row", 0)
            if state["running"] == runs and is_readable == (unread == 0):
                if is_readable:
                    self.longest_unknown = max(self.longest_unknown, since)
                return
            if since > SETTLE:
                break
            time.sleep(0.2)
        self.counts["jobs lost"] += 1
        print(f"    {what}: jobs lost: {state['running']} known, {runs} run, {unread} times not read", flush=True)

    def read_back(self, what):
        """What `darkfiber check` finds; None if nothing could be read."""
        for _ in range(3):
            fabric, tables = self.run("ibnetdiscover"), self.run("dump_fts")
            if fabric.returncode == 0 and tables.returncode == 0:
                break
            time.sleep(1)
        (self.folder / "now.topo").write_text(fabric.stdout)
        (self.folder / "now.lfts").write_text(tables.stdout)
        said = self.darkfiber("check", "now.topo", "--routes", "now.lfts", "--format", "json")
        try:
            return json.loads(said.stdout)
        except ValueError:
            self.counts["unread"] += 1
            print(f"    {what}: could not be judged: {said.stderr.strip()[:200]}", flush=True)
            return None

    def start_daemon(self):
        told, notes = open(self.folder / "told", "ab"), open(self.folder / "notes", "ab")
        command = [str(self.args.darkfiber.resolve()), "operate", "--config", "operate.toml"]
        self.daemon = subprocess.Popen(
            command, env=self.environment(), stdin=subprocess.DEVNULL, stdout=told, stderr=notes, cwd=self.folder
        )

    def kill_daemon(self):
        self.daemon.kill()
        self.daemon.wait()

    def opensm(self, host=None):
        """An OpenSM, on the first host or on another one, which waits while there is a master."""
        command = ["opensm", "-x", "-F", str(self.folder / "opensm.conf"), "-f", str(self.folder / "opensm.log")]
        out = open(self.folder / "opensm.out", "ab")
        command += ["--dump_files_dir", str(self.folder)]
        env = {**self.env, "SIM_HOST": host} if host else self.env
        self.managers.append(subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=self.folder))
        return self.managers[-1]

    def start_manager(self):
        log = self.log()
        self.manager_is(self.opensm())
        self.wait(lambda: "SUBNET UP" in self.log()[len(log):], "OpenSM")

    def hand_over(self, host):
        """A standby starts on that host, the master dies, and the standby is in its place. Of two with the same priority the one with the
        lower GUID takes the place by itself, before the other dies."""
        begin = len(self.log())
        standby = self.opensm(host)
        # It may take the place at once if the master does not answer in time.
        end = time.monotonic() + 20
        while not re.search("Entering (STANDBY|MASTER) state", self.log()[begin:]) and time.monotonic() < end:
            time.sleep(0.1)
        time.sleep(1)
        self.excused += 1
        self.excuses += 1
        self.manager.kill()
        self.manager.wait()
        self.manager_is(standby)

        def is_master():
            said = self.log()[begin:].rsplit("Entering MASTER state", 1)
            return len(said) > 1 and "SUBNET UP" in said[1]

        # OpenSM 3.3.23 may wait for ever for an answer that was lost when the place changed hands.
        end = time.monotonic() + 15
        while not is_master() and time.monotonic() < end:
            time.sleep(0.1)
        if not is_master():
            print("    the new master hangs, and is started anew", flush=True)
            standby.kill()
            standby.wait()
            begin = len(self.log())
            self.manager_is(self.opensm(host))
            self.wait(is_master, "the handover")
        time.sleep(2)
        self.excused -= 1

    def switch(self):
        return self.draw.choice([s for s in self.switches if s != self.own])

    def make(self, kind):
        """Makes a fault; what undoes it, or None."""
        if kind == "cable":
            a, port, _ = self.draw.choice(self.cables)
            self.console(f'Unlink "{a}"[{port}]')
            return lambda: self.console(f'ReLink "{a}"[{port}]')
        if kind == "flapping":
            a, port, _ = self.draw.choice(self.cables)
            for _ in range(10):
                self.console(f'Unlink "{a}"[{port}]')
                time.sleep(0.05)
                self.console(f'ReLink "{a}"[{port}]')
                time.sleep(0.05)
            return None
        if kind == "switch":
            s = self.switch()
            self.console(f'Unlink "{s}"')
            return lambda: self.console(f'ReLink "{s}"')
        if kind == "host":
            host = self.draw.choice(self.hosts[1:])
            self.console(f'Unlink "{host}"')
            return lambda: self.console(f'ReLink "{host}"')
        if kind == "partition":
            leaf = self.draw.choice([s for s in sorted(set(self.leaf_of.values())) if s != self.own])
            ports = [port for a, port, _ in self.cables if a == leaf]
            for port in ports:
                self.console(f'Unlink "{leaf}"[{port}]')
            return lambda: [self.console(f'ReLink "{leaf}"[{port}]') for port in ports]
        if kind == "daemon-kill":
            # In the middle of something: a cable has just died.
            a, port, _ = self.draw.choice(self.cables)
            self.console(f'Unlink "{a}"[{port}]')
            time.sleep(self.draw.random())
            self.kill_daemon()
            time.sleep(self.draw.random())
            self.start_daemon()
            return lambda: self.console(f'ReLink "{a}"[{port}]')
        if kind == "daemon-stop":
            a, port, _ = self.draw.choice(self.cables)
            self.daemon.send_signal(signal.SIGSTOP)
            self.console(f'Unlink "{a}"[{port}]')
            time.sleep(5 + 3 * self.draw.random())
            self.daemon.send_signal(signal.SIGCONT)
            return lambda: self.console(f'ReLink "{a}"[{port}]')
        if kind == "sighup-burst":
            for _ in range(10):
                self.manager.send_signal(signal.SIGHUP)
                time.sleep(0.05)
            return None
        if kind == "sm-restart":
            self.excused += 1
            self.excuses += 1
            self.manager.terminate() if self.draw.random() < 0.5 else self.manager.kill()
            self.manager.wait()
            self.start_manager()
            time.sleep(2)
            self.excused -= 1
            return None
        if kind == "jobs-garbage":
            junk = [b"", b"\xff\xfe\x00", b"JOBID ST NODELIST\n7 R cn[", os.urandom(2000)]
            name, content = self.draw.choice([("silent", b""), *(("garbage", j) for j in junk)])
            (self.folder / name).write_bytes(content)
            self.told_jobs = time.monotonic()

            def undo():
                (self.folder / name).unlink()
                self.told_jobs = time.monotonic()

            return undo
        if kind == "slurmctld":
            a, port, _ = self.draw.choice(self.cables)
            how = self.draw.choice([signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP])
            self.slurm.controller.send_signal(how)
            time.sleep(self.draw.random())
            self.console(f'Unlink "{a}"[{port}]')
            # It may be back before the list of jobs is asked for, or long after the time for an answer is over.
            time.sleep(8 * self.draw.random())
            self.slurm.come_back(how)
            # Another job is news, which what was known before cannot stand for.
            self.slurm.submit(4)
            self.told_jobs = time.monotonic()

            def undo():
                self.console(f'ReLink "{a}"[{port}]')
                self.slurm.cancel_but(self.lasting)
                self.told_jobs = time.monotonic()

            return undo
        if kind == "corrupt-file":
            self.kill_daemon()
            state = self.folder / "state"
            if self.draw.random() < 0.5:
                (state / "plan").write_bytes(os.urandom(500))
            else:
                with open(state / "journal", "ab") as journal:
                    journal.write(b'{"step":7,"torn')
            self.manager.send_signal(signal.SIGHUP)
            time.sleep(1)
            self.start_daemon()
            return None
        if kind == "disk-full":
            # No room for the journal and for plans while a cable dies.
            a, port, _ = self.draw.choice(self.cables)
            junk = self.folder / "state/junk"
            try:
                with open(junk, "wb", buffering=0) as full:
                    while True:
                        full.write(b"x" * 65536)
            except OSError:
                pass
            self.console(f'Unlink "{a}"[{port}]')
            time.sleep(3 + 3 * self.draw.random())
            junk.unlink()
            if self.daemon.poll() is not None:
                # systemd would start it again.
                self.start_daemon()
            return lambda: self.console(f'ReLink "{a}"[{port}]')
        if kind == "clock-step":
            a, port, _ = self.draw.choice(self.cables)
            step = self.draw.choice([-7200, -3600, -60, 60, 3600, 7200])
            (self.folder / "clock").write_text(f"{step:+d}\n")
            self.console(f'Unlink "{a}"[{port}]')
            return lambda: self.console(f'ReLink "{a}"[{port}]')
        if kind == "handover":
            self.hand_over(self.hosts[1])
            return lambda: self.hand_over(self.hosts[0])
        if kind == "socket-junk":
            for name in ("ctl.sock", "plugin.sock"):
                for junk in (b"\x00\xff\n", b"DFOSM 1\n0x1 2\n\n", b"x" * 100000, b"DFOSM 1\n\n"):
                    with socket.socket(socket.AF_UNIX) as s:
                        s.settimeout(2)
                        try:
                            s.connect(str(self.folder / "state" / name))
                            s.sendall(junk)
                            s.shutdown(socket.SHUT_WR)
                            s.recv(1000)
                        except OSError:
                            pass
            return None
        raise SystemExit(kind)

    def journal(self):
        """Plans that were given to OpenSM and of which the journal has no proof before; whether it can be replayed."""
        proved, tasks, unproved = set(), {}, 0
        for path in (self.folder / "state/journal.1", self.folder / "state/journal"):
            for line in path.read_text().splitlines() if path.exists() else []:
                record = json.loads(line.rsplit(" ", 1)[0])
                if "state" in record:
                    proved |= {d["id"] for d in record["state"]["decisions"] if d["verdict"]}
                    continue
                if record["input"] == "done" and record["result"]["result"] == "proved" and tasks.get(record["work"]):
                    proved.add(tasks[record["work"]])
                ready = record["input"] == "asked" and record.get("ready")
                for action in record["actions"]:
                    if action["action"] == "work" and action["task"]["task"] == "prove":
                        tasks[action["work"]] = action["task"]["plan"]
                    if action["action"] in ("answer", "commit") and action["plan"] is not None:
                        if ready and action["plan"] not in proved:
                            proved.add(action["plan"])
                        unproved += action["plan"] not in proved
        again = self.darkfiber("operate", "--replay", "state/journal")
        return unproved, again.returncode


def waits(process):
    """The numbers of the system calls that the threads of a process are in; two of futex (202) are that deadlock."""
    try:
        return " ".join(sorted((task / "syscall").read_text().split()[0] for task in Path(f"/proc/{process}/task").iterdir()))
    except OSError:
        return "no process"


def can_mount():
    with tempfile.TemporaryDirectory() as folder:
        if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], capture_output=True).returncode:
            return False
        subprocess.run(["umount", folder], check=True)
        return True


def interrupted(*_):
    raise SystemExit(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--fabric", default="fattree2:n=6,m=3,r=4")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", type=int, default=50)
    parser.add_argument("--each", action="store_true", help="one fault of each class instead")
    parser.add_argument("--darkfiber", type=Path, default=REPO / "target/debug/darkfiber")
    parser.add_argument("--plugin", type=Path, default=REPO / "plugin/libdfosm.so")
    parser.add_argument("--log", type=Path, default=REPO / "docs/soak.csv")
    args = parser.parse_args()
    # What this machine cannot inject is left out, and said.
    if not FAKETIME.exists():
        print(f"no clock-step: {FAKETIME} is missing (Debian: faketime)")
        del CLASSES["clock-step"]
    if not can_mount():
        print("no disk-full: file systems cannot be mounted here")
        del CLASSES["disk-full"]
    args.work = args.work.resolve()
    args.work.mkdir(parents=True, exist_ok=True)
    if why := slurm.missing():
        print(f"no slurmctld: {why}")
        del CLASSES["slurmctld"]
    args.stock, args.engine, args.book, args.settle, args.wait = "updn", "updn", 60.0, 1.0, 2000
    shutil.rmtree(args.work / "routes", ignore_errors=True)
    command = [str(args.darkfiber), "route", args.fabric, "-e", args.engine, "-o", str(args.work / "routes"), "-q"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    # A part that is interrupted counts as far as it came.
    signal.signal(signal.SIGTERM, interrupted)
    soak = Soak(args)
    classes = list(CLASSES)
    drawn = soak.draw.choices(classes, list(CLASSES.values()), k=args.faults)
    if args.each:
        drawn = classes
        soak.draw.shuffle(drawn)
    done = collections.Counter()
    try:
        for number, kind in enumerate(drawn, 1):
            began = time.monotonic()
            soak.what = f"{number} {kind}"
            undo = soak.make(kind)
            soak.made = time.monotonic()
            soak.settle()
            soak.judge(f"{number} {kind}")
            if kind in JOBS_UNKNOWN:
                soak.judge_jobs(f"{number} {kind}", kind == "slurmctld")
            if undo:
                undo()
                soak.made = time.monotonic()
                soak.settle()
                soak.judge(f"{number} {kind}, undone")
                if kind in JOBS_UNKNOWN:
                    soak.judge_jobs(f"{number} {kind}, undone", True)
            done[kind] += 1
            print(f"{number} {kind}: {time.monotonic() - began:.1f} s", flush=True)
    finally:
        # What was started is stopped, however often it is said that this is to end.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        soak.asking = False
        try:
            unproved, replay = soak.journal()
        finally:
            soak.stop()
        rollbacks = (soak.folder / "told").read_text().count("twice not found")
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=REPO, capture_output=True, text=True).stdout.strip()
        counted = " ".join(f"{k}:{n}" for k, n in sorted(done.items()))
        row = [datetime.date.today(), commit, args.seed, sum(done.values()), counted]
        row += [soak.counts[k] for k in ("lost", "cycles", "unread")] + [unproved, rollbacks, soak.counts["frozen"]]
        row += [f"{soak.silence:.1f}", f"{soak.settling:.1f}", "same" if replay == 0 else "differs"]
        line = ",".join(map(str, row))
        print(f"jobs lost: {soak.counts['jobs lost']} times, known again after {soak.longest_unknown:.1f} s at most")
        print(COLUMNS + "\n" + line)
        if not args.each:
            is_new = not args.log.exists()
            with open(args.log, "a") as log:
                log.write((COLUMNS + "\n" if is_new else "") + line + "\n")
    bad = soak.counts["lost"] + soak.counts["jobs lost"] + soak.counts["cycles"] + unproved + rollbacks + (replay != 0)
    raise SystemExit(1 if bad or sum(done.values()) < len(drawn) else 0)


if __name__ == "__main__":
    main()
