"""The generated part of docs/benchmarks/growth.md: exponents, every measurement, the machine without LIDs."""

import sys
from pathlib import Path

import growth
import sizes

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from made import made

BEGIN = "<!-- generated: benches/scale/scale.py table -->"
END = "<!-- end of benches/scale/scale.py table -->"


def seconds(value):
    return f"{value:.4f}" if value < 0.1 else f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def mebibytes(result):
    return f"{result['rss'] / 1024:,.0f}" if result and result.get("rss") else "–"


def time(result):
    """CPU seconds, or the reason why there are none."""
    if result is None:
        return "–"
    if "cpu" in result:
        return seconds(result["cpu"])
    problem = result["problem"]
    if "VLs" in problem:
        return "gives up: more than 8 lanes needed"
    return problem.replace("not finished in", "over")


def exponents(store):
    out = "| family | engine | time: darkfiber | time: OpenSM | memory: darkfiber | memory: OpenSM |\n"
    out += "|---|---|--:|--:|--:|--:|\n"
    for family in sizes.FAMILIES:
        for engine in family.engines:
            cells = [family.name, engine]
            for key in ("cpu", "rss"):
                cells += map(growth.text, growth.exponents(store, family, engine, key))
            out += "| " + " | ".join(cells) + " |\n"
    return out


def measurements(store, family):
    out = f"### {family.title}\n\n"
    out += "| fabric | hosts | engine | OpenSM CPU s | darkfiber CPU s | ratio "
    out += "| OpenSM MiB | darkfiber MiB | lanes |\n"
    out += "|---|--:|---|--:|--:|--:|--:|--:|--:|\n"
    for size in family.sizes:
        for engine in family.engines:
            theirs, ours = (store.get(side, size.spec, engine) for side in ("opensm", "darkfiber"))
            if not ours:
                continue
            both = theirs and "cpu" in theirs and "cpu" in ours
            factor = theirs["cpu"] / ours["cpu"] if both else None
            cells = [
                f"`{size.spec}`",
                f"{size.hosts:,}",
                engine,
                time(theirs),
                time(ours),
                "–" if factor is None else f"{factor:.0f}" if factor >= 9.95 else f"{factor:.1f}",
                mebibytes(theirs),
                mebibytes(ours),
                str(ours.get("layers", "–")),
            ]
            out += "| " + " | ".join(cells) + " |\n"
    return out


def machines(store):
    out = "### More terminals than LIDs\n\n"
    out += "| fabric | terminals | engine | CPU s | whole process, wall s | MiB | lanes |\n"
    out += "|---|--:|---|--:|--:|--:|--:|\n"
    for spec, engine, terminals in sizes.MACHINES:
        result = store.get("darkfiber", spec, engine)
        if not result:
            continue
        wall = seconds(result["process_wall"]) if "process_wall" in result else "–"
        cells = [f"`{spec}`", f"{terminals:,}", engine, time(result), wall, mebibytes(result)]
        out += "| " + " | ".join([*cells, str(result.get("layers", "–"))]) + " |\n"
    return out


def text(store):
    parts = ["### Growth exponents\n\n" + exponents(store)]
    parts += [measurements(store, family) for family in sizes.FAMILIES]
    return "\n".join([*parts, machines(store)])


def renewed(document, store):
    """The document with its generated part regenerated, or that part alone."""
    if document is None:
        return text(store)
    head, begin, rest = document.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"the document needs the lines {BEGIN} and {END}")
    return f"{head}{begin}\n\n{made()}\n{text(store)}\n{end}{tail}"
