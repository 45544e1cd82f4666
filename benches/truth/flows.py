"""Flows compared with SimGrid: channels, paths and flows are the same, so that only the sharing of channels differs.

SimGrid's factors for TCP are set to ideal (`network/model:CM02`, `network/crosstraffic:0`, `network/TCP-gamma:0` in
benches/flow/simgrid.cpp): with its defaults a flow gets at most 97 % of a channel, and reverse traffic counts.
"""

import os
import subprocess

from runs import output

# Fabric, engine, traffic (see crates/flowsim/examples/flow_problem.rs).
CASES = [
    ("fattree2:n=16,m=16,r=16", "dmodk", "permutation:4"),
    ("kary:k=8,n=3", "ftree", "permutation:4"),
    ("fattree2:n=12,m=6,r=12", "dmodk", "all-pairs"),
    ("hyperx:dims=6x6,t=4", "dfsssp", "permutation:4"),
    ("torus:dims=4x4x4,t=2", "dfsssp", "permutation:4"),
    ("dragonfly:p=3,a=6,h=3", "minhop", "permutation:4"),
    ("jellyfish:n=60,d=6,p=4", "minhop", "permutation:4"),
]


def rows(runs, problem, simgrid):
    """A row for each case: flows, the last completion by both, and the largest difference of completions relative to the later one."""
    for fabric, engine, traffic in CASES:
        files = [os.path.join(runs.work, name) for name in ("flows.txt", "flows.ours", "flows.theirs")]

        def run():
            done = subprocess.run([problem, fabric, engine, traffic, "1000000000", files[0], files[1]], capture_output=True,
                                  text=True)
            if done.returncode:
                raise SystemExit(f"{fabric}: {done.stderr}")
            output([simgrid, files[0], files[2]])
            us, them = ([float(x) for x in open(f).read().split()] for f in files[1:])
            if len(us) != len(them):
                raise SystemExit(f"{fabric}: {len(us)} flows here, {len(them)} ended there")
            most = max(abs(a - b) / max(a, b) for a, b in zip(us, them))
            return {"flows": len(us), "ours": max(us), "theirs": max(them), "most": most,
                    "mean": [sum(us) / len(us), sum(them) / len(them)]}

        yield fabric, engine, traffic, runs.once(f"SimGrid {fabric} {engine} {traffic}", "1", run)
