#!/usr/bin/env python3
"""Draws the results of benches/flow/scaling.sh: cost by number of flows, and by size of the fabric.

benches/flow/scaling.sh > scaling.csv
benches/flow/plot.py scaling.csv docs/flow-cost.svg
"""

import csv
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scale"))

from chart import FAINT, INK, Axis, label, line, number  # noqa: E402

COLOURS = {
    "all pairs at once, two-level trees of 16 to 576 hosts": "#d1495b",
    "permutations one after the other, two-level tree of 1,024 hosts": "#0072b2",
    "two-level tree": "#0072b2",
    "three-level tree": "#009e73",
    "dragonfly, balanced": "#b07d00",
    "dragonfly, one cable between two groups": "#7b4fa3",
}
LEFT, TOP, WIDE, HIGH, GAP = 66, 76, 400, 300, 84


def name(row):
    """The line that a row belongs to: its panel and its name."""
    fabric = row["fabric"]
    if row["by"] == "flows":
        return 0, "permutations one after the other, two-level tree of 1,024 hosts"
    if row["by"] == "pairs":
        return 0, "all pairs at once, two-level trees of 16 to 576 hosts"
    if fabric.startswith("fattree2"):
        return 1, "two-level tree"
    if fabric.startswith("kary"):
        return 1, "three-level tree"
    return 1, "dragonfly, one cable between two groups" if "per_pair" in fabric else "dragonfly, balanced"


def panel(left, title, below, lines):
    x, y = Axis(10, 1e6, left, left + WIDE), Axis(1e-5, 1, TOP + HIGH, TOP)
    bottom, right = TOP + HIGH, left + WIDE
    out = label(left, TOP - 12, title, size=13, fill=INK)
    for value in x.decades():
        out += line(x.place(value), TOP, x.place(value), bottom, "#cbd2d9")
        out += label(x.place(value), bottom + 15, number(value), "middle")
    for value in y.decades():
        out += line(left, y.place(value), right, y.place(value), "#cbd2d9")
        out += label(left - 6, y.place(value) + 3.5, number(value), "end")
    # Reference line of one microsecond per flow.
    out += line(x.place(10), y.place(1e-5), x.place(1e6), y.place(1), FAINT, ' stroke-dasharray="2 4"')
    out += label(x.place(1.3e5), y.place(0.21), "1 us a flow", "end", 10)
    out += label((left + right) / 2, bottom + 34, below, "middle", 12, INK)
    for row, (text, points) in enumerate(lines.items()):
        colour = COLOURS[text]
        spots = [(x.place(flows), y.place(seconds)) for flows, seconds in sorted(points)]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in spots)
        out += f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.8"/>\n'
        out += "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3.2" fill="{colour}"/>\n' for a, b in spots)
        down = bottom - 10 - 15 * (len(lines) - 1 - row)
        out += label(right - 8, down, text, "end", 11, colour)
    return out


def main():
    source, target = map(Path, sys.argv[1:3])
    panels = ({}, {})
    for row in csv.DictReader(source.open()):
        at, text = name(row)
        panels[at].setdefault(text, []).append((int(row["flows"]), float(row["seconds"])))
    wide, high = LEFT + 2 * WIDE + GAP + 46, TOP + HIGH + 52
    out = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" '
        'font-family="system-ui, sans-serif">\n'
        f'<rect width="{wide}" height="{high}" fill="#ffffff"/>\n'
    )
    out += label(LEFT, 30, "Simulating flows: seconds of one processor", size=16, fill=INK)
    out += panel(LEFT, "By number of flows", "flows", panels[0])
    out += panel(LEFT + WIDE + GAP, "By size of the fabric: one random permutation", "flows, one from each host", panels[1])
    target.write_text(out + "</svg>\n")


if __name__ == "__main__":
    main()
