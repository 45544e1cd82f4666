"""Draws nanoseconds per hop by number of hosts: size.py CSV SVG."""

import csv
import math
import sys

LEFT, TOP, WIDE, HIGH = 66, 96, 620, 320
HOSTS, MOST = (50, 100_000), 1000
COLOURS = {"1": "#0072b2", "16": "#d1495b"}
INK, FAINT, GRID = "#1f2933", "#616e7c", "#e4e7eb"


def x(hosts):
    low, high = map(math.log10, HOSTS)
    return LEFT + WIDE * (math.log10(hosts) - low) / (high - low)


def y(ns):
    return TOP + HIGH * (1 - math.log10(ns / 10) / math.log10(MOST / 10))


def text(at, words, anchor="start", size=11, fill=FAINT, more=""):
    place = f'x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="{anchor}"'
    return f'<text {place} font-size="{size}" fill="{fill}"{more}>{words}</text>\n'


def main(source, target):
    rows = list(csv.DictReader(open(source, encoding="utf-8")))
    out = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDE + 40} {TOP + HIGH + 60}" font-family="sans-serif">\n'
    out += '<rect width="100%" height="100%" fill="#ffffff"/>\n'
    out += text((LEFT, 28), "What a hop costs, by size", size=17, fill=INK, more=' font-weight="600"')
    out += text((LEFT, 48), "dragonflies, uniform traffic at 0.3, UGAL, one thread; shaded: 35 to 50 ns, the floor of memory")
    out += f'<rect x="{LEFT}" y="{y(50):.1f}" width="{WIDE}" height="{y(35) - y(50):.1f}" fill="#eef2f6"/>\n'
    for ns in (10, 20, 50, 100, 200, 500, 1000):
        out += f'<line x1="{LEFT}" x2="{LEFT + WIDE}" y1="{y(ns):.1f}" y2="{y(ns):.1f}" stroke="{GRID}"/>\n'
        out += text((LEFT - 7, y(ns) + 4), ns, "end", 10.5)
    for hosts in (100, 1000, 10_000, 100_000):
        out += text((x(hosts), TOP + HIGH + 16), f"{hosts:,}", "middle", 10.5)
    out += text((LEFT, TOP - 10), "ns of a processor a hop", size=10.5)
    out += text((LEFT + WIDE / 2, TOP + HIGH + 38), "hosts", "middle")
    for i, (flits, colour) in enumerate(COLOURS.items()):
        points = [(x(int(r["hosts"])), y(float(r["ns_a_hop"]))) for r in rows if r["flits"] == flits]
        line = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        out += f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>\n'
        out += "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>\n' for a, b in points)
        at = (LEFT + 24 + 150 * i, 68)
        out += f'<line x1="{at[0] - 24}" x2="{at[0] - 4}" y1="{at[1] - 4}" y2="{at[1] - 4}" stroke="{colour}" stroke-width="2"/>\n'
        out += text(at, f"packets of {flits} flit{'s' if flits != '1' else ''}", fill=INK)
    with open(target, "w", encoding="utf-8") as file:
        file.write(out + "</svg>\n")


main(*sys.argv[1:])
