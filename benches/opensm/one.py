#!/usr/bin/env python3
"""One engine on one fabric, by darkfiber or by OpenSM on ibsim; prints CPU seconds and peak memory as JSON.

    benches/opensm/one.py darkfiber|opensm DARKFIBER WORK SPEC ENGINE [OPTION ...]

Both sides read the same ibnetdiscover file, which darkfiber writes to WORK with OPTIONs (`--fail-links 10`), and get the same roots
and up to 8 lanes. `cpu`: for OpenSM the clock of the thread that routes, from "building routing with" to "tables configured"; for
darkfiber the lesser of the wall time of the engine on one thread and the CPU time of the process, as neither can be less than the
engine's CPU time. bench.py measures the quality of the tables as well.
"""

import json
import resource
import subprocess
import sys
from pathlib import Path

import simulator

OPENSM_OPTIONS = {"updn": ["-a"], "ftree": ["-a"], "dfsssp": ["-Q"], "nue": ["-Q", "--nue_max_num_vls", "8"]}
TAKES_ROOTS = ("updn", "ftree")


def fabric(darkfiber, work, spec, options):
    """The fabric as a file, and its roots as another."""
    name = "".join(c if c.isalnum() else "-" for c in " ".join([spec, *options]))
    net, roots = (work / f"{name}.{end}" for end in ("net", "roots"))
    if not roots.exists():
        command = [darkfiber, "fabric", spec, *options, "--to", "ibnetdiscover", "-o", net, "-q"]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
        roots.write_text("\n".join(simulator.Net.read(net).roots()) + "\n")
    return net, roots


def ours(darkfiber, net, roots, engine):
    command = [darkfiber, "route", net, "-e", engine, "--threads", "1", "--format", "json", "-q"]
    command += ["--roots", roots] if engine in TAKES_ROOTS else []
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    process = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return {"cpu": min(json.loads(done.stdout)["seconds"], process)}


def theirs(work, net, roots, engine):
    clock = simulator.build_clock(work)
    options = OPENSM_OPTIONS.get(engine, [])
    options = [*options, str(roots)] if engine in TAKES_ROOTS else options
    result = simulator.sweep(simulator.Net.read(net), engine, options, work / "run", clock, 800, tables=False)
    if "cpu" not in result:
        raise SystemExit(result.get("problem", f"exit code {result.get('exit')}"))
    return result


def main():
    if len(sys.argv) < 6 or sys.argv[1] not in ("darkfiber", "opensm"):
        raise SystemExit(__doc__)
    side, darkfiber, work, spec, engine, *options = sys.argv[1:]
    work = Path(work).resolve()
    work.mkdir(parents=True, exist_ok=True)
    net, roots = fabric(darkfiber, work, spec, options)
    found = ours(darkfiber, net, roots, engine) if side == "darkfiber" else theirs(work, net, roots, engine)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
