"""Schedules compared with LogGOPSim: the same operations, dependencies, and L, o, g, G."""

import os
import re
import subprocess

from runs import output

# Kind (see crates/workload/examples/play.rs), ranks, rounds.
CASES = [
    ("dissemination", 1000, 1),
    ("ring", 100, 20),
    ("alltoall", 128, 1),
    ("imb:op=bcast,algorithm=binomial,bytes=1000", 100, 1),
    ("imb:op=allreduce,algorithm=recursive-doubling,bytes=1000", 128, 1),
    ("imb:op=allreduce,algorithm=ring,bytes=100000", 32, 1),
    ("imb:op=allgather,algorithm=bruck,bytes=100", 100, 1),
    ("imb:op=alltoall,algorithm=pairwise,bytes=1000", 64, 1),
    ("imb:op=gather,algorithm=linear,bytes=1000", 64, 1),
    ("imb:op=reduce,algorithm=binomial,bytes=1000", 100, 1),
]


def rows(runs, play, tools):
    """A row for each case: completion time of the last rank in nanoseconds, by both, with G of 6 ns and of 0."""
    for kind, ranks, rounds in CASES:
        found = []
        for per_byte in (6, 0):

            def run():
                goal, binary = (os.path.join(runs.work, name) for name in ("schedule.goal", "schedule.bin"))
                done = subprocess.run([play, kind, str(ranks), str(rounds), goal, str(per_byte)], capture_output=True, text=True)
                if done.returncode:
                    raise SystemExit(f"{kind}: {done.stderr}")
                output([os.path.join(tools, "txt2bin"), "-i", goal, "-o", binary])
                said = output([os.path.join(tools, "LogGOPSim"), "-G", str(per_byte), "-f", binary])
                ends = [int(n) for n in re.findall(r"Host \d+: (\d+)", said)]
                most = re.search(r"Maximum finishing time at host \d+: (\d+)", said)
                if not ends and not most:
                    raise SystemExit(f"{kind}: LogGOPSim says no end\n{said[-500:]}")
                return {"ours": int(re.search(r"end (\d+) ns", done.stdout)[1]), "theirs": int(most[1]) if most else max(ends)}

            found.append(runs.once(f"LogGOPSim {kind} {ranks} {rounds} G={per_byte}", "1", run))
        yield kind, ranks, rounds, found
