"""Collectives of Chakra traces compared with ASTRA-sim's analytical networks: the same files, algorithm, cable bandwidth and latency."""

import json
import os
import re
import subprocess
from pathlib import Path

from runs import output

SIZES = (4, 8, 16)
# A GB of ASTRA-sim is 2^30 bytes.
RATE = 50 * 2**30
LATENCY = 500
# A collective of ASTRA-sim's microbenchmarks of 1 MB, its algorithm there, and the library with the same algorithm here.
COLLECTIVES = [
    ("all_reduce", "ring", "openmpi"),
    ("all_gather", "ring", "nccl"),
    ("reduce_scatter", "ring", "nccl"),
    ("all_to_all", "direct", "nccl"),
]
# ASTRA-sim's network, and the same one here: where there are other cables, host cables have 16 times their rate and no latency.
GBPS = RATE * 8 / 1e9
NETWORKS = [
    ("Ring", lambda n: f"torus:dims={n},t=1,gbps={GBPS!r},host_gbps={16 * GBPS!r}"),
    ("FullyConnected", lambda n: f"fullmesh:n={n},t=1,gbps={GBPS!r},host_gbps={16 * GBPS!r}"),
    ("Switch", lambda n: f"fullmesh:n=1,t={n},gbps={GBPS!r}"),
]


def rows(runs, folder):
    """Rows of network, collective, algorithm, NPUs, and nanoseconds of ASTRA-sim with and without congestion and of darkfiber."""
    folder = Path(folder).resolve()
    traces = next(folder.glob("**/examples/workload/microbenchmarks"))
    programs = [next(p for p in folder.glob(f"**/AstraSim_Analytical_Congestion_{kind}") if p.is_file()) for kind in ("Aware", "Unaware")]
    for network, family in NETWORKS:
        for collective, algorithm, library in COLLECTIVES:
            for n in SIZES:
                files = traces / collective / f"{n}npus_1MB"
                case = (network, collective, algorithm, n)

                def theirs(program):
                    return lambda: astra(runs, program, files / collective, traces.parent.parent, network, algorithm, n)

                found = [runs.once(f"{program.name} {case}", "1", theirs(program)) for program in programs]

                def ours():
                    return darkfiber(runs, family(n), files, library)

                found.append(runs.once(f"darkfiber {case}", runs.version(), ours))
                yield (*case, *found)


def astra(runs, program, workload, examples, network, algorithm, n):
    """Completion time of the last NPU, in ASTRA-sim's cycles, which are nanoseconds: one chunk, free reductions, the smallest
    endpoint overhead with which it runs."""
    one = [algorithm]
    system = runs.file("system.json", json.dumps({
        "scheduling-policy": "LIFO", "endpoint-delay": 1, "active-chunks-per-dimension": 1, "preferred-dataset-splits": 1,
        "all-reduce-implementation": one, "all-gather-implementation": one, "reduce-scatter-implementation": one,
        "all-to-all-implementation": one, "collective-optimization": "localBWAware", "local-mem-bw": 10**9, "boost-mode": 0,
        "roofline-enabled": 0, "peak-perf": 900}))
    wires = runs.file("network.yml", f"topology: [ {network} ]\nnpus_count: [ {n} ]\nbandwidth: [ {RATE >> 30}.0 ]\n"
                                     f"latency: [ {LATENCY}.0 ]\n")
    memory = examples / "remote_memory" / "analytical" / "no_memory_expansion.json"
    said = output([str(program), f"--workload-configuration={workload}", f"--system-configuration={os.path.abspath(system)}",
                   f"--network-configuration={os.path.abspath(wires)}", f"--remote-memory-configuration={memory}"], cwd=runs.work)
    ends = [int(cycles) for cycles in re.findall(r"finished, (\d+) cycles", said)]
    if len(ends) != n:
        raise SystemExit(f"{program}: {len(ends)} of {n} NPUs came to an end\n{said[-500:]}")
    return max(ends)


def darkfiber(runs, family, files, library):
    """Completion time of the same case as a scenario at depth flow, in nanoseconds."""
    latencies = f'cable = "{LATENCY}ns"\nhost-cable = "{LATENCY if "n=1" in family else 0}ns"'
    scenario = runs.file("scenario.toml", f'fabric = "{family}"\nhosts = "ideal"\n[routes]\nengine = "minhop"\n[cost]\n{latencies}\n[[job]]\n'
                                          f'files = "{files}/*.et"\nlibrary = "{library}"\n')
    done = subprocess.run([runs.darkfiber, "--format", "json", "-q", "simulate", scenario], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return 1e9 * json.loads(done.stdout)["seconds"]
