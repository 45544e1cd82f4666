#!/usr/bin/env python3
"""Writes what two rows of ../bench.toml read.

    benches/jobs/inputs.py filter FOLDER     topology.conf of 10,000 nodes, 18 a switch; `now`, 2,000 jobs of five nodes side by side
    benches/jobs/inputs.py giga LOG FILE     a log of the parallel workloads archive, again and again up to 1 GB, one after the other
"""

import gzip
import sys
from pathlib import Path

NODES, A_SWITCH, A_JOB = 10_000, 18, 5
BYTES = 1_000_000_000


def filtered(folder):
    folder.mkdir(parents=True, exist_ok=True)
    name = "n{:05}".format
    starts = range(0, NODES, A_SWITCH)
    leaves = [f"SwitchName=l{i} Nodes=" + ",".join(map(name, range(at, min(at + A_SWITCH, NODES)))) for i, at in enumerate(starts)]
    top = "SwitchName=top Switches=" + ",".join(f"l{i}" for i in range(len(starts)))
    (folder / "topology.conf").write_text("\n".join([*leaves, top]) + "\n")
    jobs = (" ".join([str(at // A_JOB), "RUNNING", ",".join(map(name, range(at, at + A_JOB)))]) for at in range(0, NODES, A_JOB))
    (folder / "now").write_text("\n".join(jobs) + "\n")


def giga(log, file):
    text = gzip.open(log, "rt", encoding="latin-1").read().splitlines()
    jobs = [line.split() for line in text if line.strip() and not line.startswith(";")]
    span = max(int(job[1]) for job in jobs) + 1
    with open(file, "w") as out:
        out.writelines(line + "\n" for line in text if line.startswith(";"))
        turn = 0
        while out.tell() < BYTES:
            for job in jobs:
                number, submitted = int(job[0]) + turn * len(jobs), int(job[1]) + turn * span
                out.write(" ".join([str(number), str(submitted), *job[2:]]) + "\n")
            turn += 1


def main():
    match sys.argv[1:]:
        case ["filter", folder]:
            filtered(Path(folder))
        case ["giga", log, file]:
            giga(log, file)
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
