"""Packets compared with BookSim2: the same network, routing, lanes, buffers, loads and packet lengths.

The router of BookSim2 in all cases is input-queued, with separable allocators of one iteration and a crossbar speedup of 2, as
`booksim-iq`.
"""

import re
from dataclasses import dataclass

from runs import output

ROUTER = """
wait_for_tail_credit = 0; vc_allocator = separable_input_first; sw_allocator = separable_input_first; alloc_iters = 1;
credit_delay = 2; routing_delay = 0; vc_alloc_delay = 1; sw_alloc_delay = 1; st_final_delay = 1;
input_speedup = 1; output_speedup = 1; internal_speedup = 2.0; priority = none; use_noc_latency = 0;
traffic = uniform; injection_rate_uses_flits = 1; warmup_periods = 3; max_samples = 10; sim_count = 1; sim_type = latency;
latency_thres = 100000.0; deadlock_warn_timeout = 100000; seed = 1;
"""


@dataclass
class Case:
    name: str
    # Configuration of BookSim2.
    network: str
    # Options of darkfiber: fabric, routing, cables.
    options: str
    lanes: int
    ours_lanes: int
    buffer: int
    # Offered loads, for packets of one flit and of sixteen.
    loads: tuple
    # Cycles of a sample. BookSim2 runs six samples at least, the first three of which warm up.
    period: int


MESH = "topology = mesh; k = 8; n = 2; routing_function = dor;"
TORUS = "topology = torus; k = 8; n = 2; routing_function = dim_order;"
LONG = "--cable 10ns --global-cable 100ns"


def flatfly(k, hosts, routing):
    root = int(hosts**0.5)
    return f"topology = flatfly; k = {k}; n = 2; c = {hosts}; x = {k}; y = {k}; xr = {root}; yr = {root}; routing_function = {routing};"


def dragonfly(p, routing):
    return f"topology = dragonflynew; k = {p}; n = 1; routing_function = {routing};"


def tree(k):
    return f"topology = fattree; k = {k}; n = 3; routing_function = nca;"


CASES = [
    Case("mesh 8x8, `dor`", MESH, "mesh:dims=8x8,t=1 -r dor --cable 1ns", 4, 4, 64, (0.2, 0.38), 2000),
    Case("torus 8x8, `dor`", TORUS, "torus:dims=8x8,t=1 -r dor --cable 1ns", 4, 4, 64, (0.2, 0.6), 2000),
    Case("HyperX 4x4, 4 hosts, `dor`", flatfly(4, 4, "ran_min"), "hyperx:dims=4x4,t=4 -r dor --cable 1ns", 8, 8, 64,
         (0.2, 0.5, 0.7), 2000),
    Case("HyperX 4x4, 4 hosts, `booksim-hyperx`", flatfly(4, 4, "ugal"), "hyperx:dims=4x4,t=4 -r booksim-hyperx --cable 1ns", 8, 8, 32,
         (0.2, 0.5, 0.7), 2000),
    Case("dragonfly of 72 hosts, `minimal`", dragonfly(2, "min"), f"dragonfly:p=2,a=4,h=2 -r minimal {LONG}", 2, 3, 256,
         (0.2, 0.5, 0.7), 2000),
    Case("dragonfly of 72 hosts, `booksim-ugal`", dragonfly(2, "ugal"), f"dragonfly:p=2,a=4,h=2 -r booksim-ugal {LONG}", 3, 6, 256,
         (0.2, 0.5, 0.7), 2000),
    Case("tree of 64 hosts, `minimal`", tree(4), "kary:k=4,n=3 -r minimal --cable 1ns", 4, 4, 16, (0.2, 0.5, 0.8), 2000),
    Case("HyperX 10x10, 9 hosts, `booksim-hyperx`", flatfly(10, 9, "ugal"), "hyperx:dims=10x10,t=9 -r booksim-hyperx --cable 1ns",
         8, 8, 32, (0.5,), 250),
    Case("dragonfly of 1,056 hosts, `booksim-ugal`", dragonfly(4, "ugal"), f"dragonfly:p=4,a=8,h=4 -r booksim-ugal {LONG}", 3, 6, 256,
         (0.5,), 250),
    Case("tree of 1,000 hosts, `minimal`", tree(10), "kary:k=10,n=3 -r minimal --cable 1ns", 4, 4, 16, (0.5,), 250),
]


def number(name, text):
    """The last number of that name, which is the one over all samples."""
    found = re.findall(rf"{name} *= *([0-9.e+-]+)", text)
    return float(found[-1]) if found else None


def theirs(runs, booksim, case, load, flits):
    config = (f"{case.network}\n{ROUTER}num_vcs = {case.lanes}; vc_buf_size = {case.buffer}; packet_size = {flits};\n"
              f"injection_rate = {load}; sample_period = {case.period * (1 if flits == 1 or case.period < 1000 else 2)};\n")

    def run():
        text = output([booksim, runs.file("booksim.cfg", config)])
        # Only the output after the last sample counts: it covers all measured packets.
        text = text[text.rfind("Overall Traffic Statistics"):] if "Overall Traffic Statistics" in text else ""
        return {"mean": number("Packet latency average", text), "hops": number("Hops average", text),
                "accepted": number("Accepted flit rate average", text)}

    return runs.once(f"BookSim2 {case.name} {load} {flits}", config, run)


def ours(runs, case, load, flits, more=""):
    # At least as long as in BookSim2; on small networks long enough that the drawn load is within 1 % of the requested one.
    cycles = 20_000 if case.period >= 1000 else 2000
    return runs.saturate(f"{case.options} --switches booksim-iq --vcs {case.ours_lanes} --buffer {case.buffer}B --packet {flits} "
                         f"--loads {load} --warmup {cycles}ns --measure {cycles}ns{more}")


def rows(runs, booksim, modes):
    """A row for each case, load and length: results of BookSim2, and of darkfiber by mode."""
    for case in CASES:
        for flits in (1, 16):
            for load in case.loads:
                them = theirs(runs, booksim, case, load, flits)
                us = [ours(runs, case, load, flits, more if flits > 1 else "") for more in modes]
                yield case, load, flits, them, us
