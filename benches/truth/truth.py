#!/usr/bin/env python3
"""darkfiber compared with other simulators: results of both for the same cases, as docs/validation.md.

    benches/truth/truth.py WORK [--darkfiber PATH] [--booksim PATH] [--caminos PATH] [--simgrid PATH] [--loggopsim DIR] [--astrasim DIR]
        [--examples DIR] [--write]

WORK is any folder outside of the repository; results are kept there and no case is run twice. --simgrid is benches/flow/simgrid.cpp,
compiled; --loggopsim the folder with LogGOPSim and txt2bin; --astrasim one that has ASTRA-sim's examples and both of its analytical
programs somewhere in it; --examples the folder with `flow_problem` and `play`, our examples.
Peers that are not given are reported as missing in place of their rows. --write puts the tables into docs/validation.md.
"""

import argparse
import os
import re
import shutil
import sys
from pathlib import Path

import page
from runs import Runs

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from made import made

HERE = os.path.dirname(os.path.abspath(__file__))
DOCUMENT = os.path.join(HERE, "..", "..", "docs", "validation.md")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("work")
    for name in ("darkfiber", "booksim", "caminos", "simgrid", "loggopsim", "astrasim", "examples"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    darkfiber = args.darkfiber or shutil.which("darkfiber")
    if not darkfiber:
        raise SystemExit("no darkfiber: give --darkfiber PATH, or put it on the PATH")
    for name in ("booksim", "caminos", "simgrid", "loggopsim", "astrasim", "examples"):
        path = getattr(args, name)
        if path and not os.path.exists(path):
            raise SystemExit(f"--{name}: there is no {path}")
        if not path:
            print(f"missing: --{name} PATH; its rows are left out, and the page says so", file=sys.stderr)
    runs = Runs(args.work, os.path.abspath(darkfiber))
    for title, lines in page.sections(runs, args):
        text = "\n".join(lines)
        print(text)
        if args.write:
            put(title, text)


def put(title, text):
    """Writes what is between the marks of a section."""
    begin, end = f"<!-- generated: benches/truth/truth.py {title} -->", f"<!-- end of benches/truth/truth.py {title} -->"
    with open(DOCUMENT) as file:
        document = file.read()
    if begin not in document or end not in document:
        raise SystemExit(f"docs/validation.md has no {begin}")
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    document = pattern.sub(lambda _: f"{begin}\n\n{made()}\n{text}\n\n{end}", document)
    with open(DOCUMENT, "w") as file:
        file.write(document)


if __name__ == "__main__":
    main()
