#!/usr/bin/env python3
"""Time and memory of darkfiber for GPU fabrics by size, as a table of docs/benchmarks/simulation.md.

    benches/ai/large.py WORK [--darkfiber PATH] [--packets] [--write]

Every case runs on one thread except the packet simulation, which takes minutes and runs only with --packets. Results are kept in
WORK; the same binary does not run a case twice.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "truth"))
from made import made
from runs import Runs

DOCUMENT = Path(__file__).resolve().parent.parent.parent / "docs" / "benchmarks" / "simulation.md"
ALLREDUCE = ('traffic = "nccl:op=allreduce,bytes=1GiB"', "one Allreduce of 1 GiB, 8 rails")
STEP = ('traffic = "train:model=llama3-8b,tp=8,batches=1"', "a step of Llama 3 8B, batches=1")
# GPUs, fabric, routes, depth, job, options.
CASES = [
    (1_024, "rails:hosts_per_unit=32,units=4,nics=8,spines=16,gbps=400", 'engine = "rails"', "flow", ALLREDUCE),
    (8_192, "rails:hosts_per_unit=64,units=16,nics=8,spines=64,gbps=400", 'engine = "updn"', "flow", ALLREDUCE),
    (32_736, "rails:hosts_per_unit=132,units=31,nics=8,spines=120,gbps=400", 'engine = "updn"', "flow", ALLREDUCE),
    (32_736, "rails:hosts_per_unit=132,units=31,nics=8,spines=120,gbps=400", 'engine = "rails"', "flow", ALLREDUCE),
    (131_072, "rails:hosts_per_unit=64,units=16,pods=16,nics=8,spines=64,cores=64,gbps=400", 'ecmp = "random"', "flow", ALLREDUCE),
    (131_072, "rails:hosts_per_unit=64,units=16,pods=16,nics=8,spines=64,cores=64,gbps=400", 'ecmp = "random"', "count", ALLREDUCE),
    (1_024, "rails:hosts_per_unit=32,units=4,nics=8,spines=16,gbps=400", 'engine = "rails"', "packet", STEP),
]


def measured(runs, gpus, fabric, routes, depth, job):
    """Seconds of the simulation and of the process, peak memory in KiB, and the amount simulated in units of the depth."""
    scenario = runs.file("large.toml", f'fabric = "{fabric}"\ndepth = "{depth}"\n[routes]\n{routes}\n[packets]\nsize = "4KiB"\n[[job]]\n'
                                       f'{job}\nnodes = {gpus // 8}\nper-node = 8\n')
    threads = [] if depth == "packet" else ["--threads", "1"]
    line = ["/usr/bin/time", "-f", "%e %M", runs.darkfiber, "--format", "json", "-q", *threads, "simulate", scenario]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    result = json.loads(done.stdout)
    seconds, kib = done.stderr.split()[-2:]
    return {"wall": result["wall_seconds"], "all": float(seconds), "kib": int(kib), "effort": result["effort"], "seconds": result["seconds"]}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("work")
    parser.add_argument("--darkfiber")
    parser.add_argument("--packets", action="store_true")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    darkfiber = args.darkfiber or shutil.which("darkfiber")
    if not darkfiber:
        raise SystemExit("no darkfiber: give --darkfiber PATH, or put it on the PATH")
    runs = Runs(args.work, os.path.abspath(darkfiber))
    lines = ["| GPUs | what | depth | routes | simulation, s | with fabric and routes, s | MiB | simulated |",
             "|--:|---|---|---|--:|--:|--:|---|"]
    for gpus, fabric, routes, depth, (job, what) in CASES:
        if depth == "packet" and not args.packets:
            continue
        case = (gpus, fabric, routes, depth, job)
        found = runs.once(f"{case}", runs.version(), lambda: measured(runs, *case))
        effort = {"count": "paths", "flow": "flows", "packet": "packets"}[depth]
        name = routes.replace(' = "', " ").strip('"')
        lines.append(f"| {gpus:,} | {what} | {depth} | {name} | {found['wall']:.2f} | {found['all']:.1f} | {found['kib'] / 1024:,.0f} | "
                     f"{found['effort'][effort]:,} {effort}, {1000 * found['seconds']:.1f} ms |")
    text = "\n".join(lines)
    print(text)
    if args.write:
        begin, end = "<!-- generated: benches/ai/large.py -->", "<!-- end of benches/ai/large.py -->"
        document = DOCUMENT.read_text()
        if begin not in document:
            raise SystemExit(f"docs/benchmarks/simulation.md has no {begin}")
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        DOCUMENT.write_text(pattern.sub(lambda _: f"{begin}\n\n{made()}\n{text}\n\n{end}", document))


if __name__ == "__main__":
    main()
