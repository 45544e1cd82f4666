#!/usr/bin/env python3
"""Packets times switches that they cross in a second of a processor, by darkfiber or by BookSim2, for one case of ../truth/booksim.py.

    benches/packet/booksim.py darkfiber|booksim PROGRAM WORK CASE LOAD FLITS

CASE is a part of the name of a case, `dragonfly of 1,056`. Both simulate as many cycles: six samples of BookSim2, of which the first
three warm up. Prints JSON: hops_per_s, cpu, mean latency, accepted load.
"""

import json
import resource
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "truth"))

from booksim import CASES, ROUTER, number  # noqa: E402

SAMPLES = 6


def timed(command, codes):
    """Output and CPU seconds of a command."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode not in codes:
        raise SystemExit(done.stderr or done.stdout[-500:])
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, used.ru_utime + used.ru_stime


def ours(darkfiber, case, load, flits):
    half = f"{SAMPLES // 2 * case.period}ns"
    command = [darkfiber, "-q", "--threads", "1", "--format", "json", "saturate", *case.options.split(), "--switches", "booksim-iq"]
    command += ["--vcs", case.ours_lanes, "--buffer", f"{case.buffer}B", "--packet", flits, "--loads", load, "--warmup", half]
    text, cpu = timed([*command, "--measure", half], (0, 1))
    point = json.loads(text)["curves"][0]["points"][0]
    return {"hops_per_s": point["crossed"] / cpu, "cpu": cpu, "mean": point["mean"], "accepted": point["accepted"]}


def theirs(booksim, work, case, load, flits):
    config = work / "booksim.cfg"
    config.write_text(f"{case.network}\n{ROUTER}num_vcs = {case.lanes}; vc_buf_size = {case.buffer}; packet_size = {flits};\n"
                      f"injection_rate = {load}; sample_period = {case.period};\n")
    # It ends with -1 when all went well.
    text, cpu = timed([booksim, config], (0, 255))
    hosts = int("".join(c for c in case.name.split(" of ")[-1].split(" hosts")[0] if c.isdigit())) if " of " in case.name else 900
    cycles = number("Time taken is", text.replace("Time taken is ", "Time taken is = ")) or SAMPLES * case.period
    accepted = number("Accepted flit rate average", text)
    hops = cycles * hosts * accepted / flits * number("Hops average", text)
    return {"hops_per_s": hops / cpu, "cpu": cpu, "mean": number("Packet latency average", text), "accepted": accepted}


def main():
    if len(sys.argv) != 7 or sys.argv[1] not in ("darkfiber", "booksim"):
        raise SystemExit(__doc__)
    side, program, work, part, load, flits = sys.argv[1:]
    case = next((c for c in CASES if part in c.name), None)
    if case is None:
        raise SystemExit(f"no case has {part}: {', '.join(c.name for c in CASES)}")
    work = Path(work)
    work.mkdir(parents=True, exist_ok=True)
    flits = int(flits)
    print(json.dumps(ours(program, case, load, flits) if side == "darkfiber" else theirs(program, work, case, load, flits)))


if __name__ == "__main__":
    main()
