"""Reads the text files of `darkfiber route -o` on its own and compares them with every answer of a table (tests/answers.c).

oracle.py DIRECTORY [plane planes] < answers: prints how many answers were compared; exit code 1 at the first that differs. With planes,
the directory is that of the plane, and its files speak of offsets within the plane."""
import os
import re
import sys

folder = sys.argv[1]
plane, planes = (int(sys.argv[2]), int(sys.argv[3])) if len(sys.argv) > 2 else (0, 1)


def lines(name):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return
    with open(path) as file:
        for line in file:
            line = line.split("#")[0].strip()
            if line:
                yield line


# Ports: GUID, node, name.
node_of, name_of, node = {}, {}, None
with open(os.path.join(folder, "fabric.topo")) as file:
    for line in file:
        if head := re.match(r'Ca\s+\d+\s+"H-([0-9a-f]{16})"\s+# "(.*)"', line):
            node, name = int(head[1], 16), head[2]
        elif line.startswith("Switch"):
            node = None
        elif (port := re.match(r"\[\d+\]\(([0-9a-f]+)\)", line)) and node is not None:
            node_of[int(port[1], 16)], name_of[int(port[1], 16)] = node, name.split()[0]
lids = {}
for line in lines("guid2lid"):
    guid, first, last = (int(word, 16) for word in line.split())
    if guid in node_of:
        lids[guid] = (first, last - first + 1)

# lid-choice: offsets by quadrants and size, quadrant by port; or path-bits.
choice, threshold, quadrant, by_range, bits = {}, 512, {}, [], {}
for line in lines("lid-choice"):
    if found := re.fullmatch(r"threshold (\d+)", line):
        threshold = int(found[1])
    elif found := re.fullmatch(r"(\d+) (\d+) small (\S+) large (\S+)", line):
        choice[int(found[1]), int(found[2])] = [[int(n) for n in found[i].split("|")] for i in (3, 4)]
    elif found := re.fullmatch(r"lids (\d+)-(\d+) -> (\d+)", line):
        by_range.append(tuple(int(n) for n in found.groups()))
    elif found := re.fullmatch(r"node (.*) -> (\d+)", line):
        for guid in lids:
            if found[1] == name_of[guid] or found[1] == f"0x{guid:016x}":
                quadrant[guid] = int(found[2])
for guid, (first, count) in lids.items():
    for low, high, where in by_range:
        if guid not in quadrant and any(low <= lid <= high for lid in range(first, first + count)):
            quadrant[guid] = where
for line in lines("path-bits"):
    guid, number = line.split()
    bits[int(guid, 16)] = int(number)

# Service levels.
level, is_host = {}, {}
if os.path.exists(os.path.join(folder, "path-sl.rows")):
    switch_of, names, switch = {}, {}, None
    with open(os.path.join(folder, "fabric.topo")) as file:
        for line in file:
            if port := re.match(r'\[\d+\]\(([0-9a-f]+)\)\s+"S-([0-9a-f]{16})"', line):
                switch_of[int(port[1], 16)] = int(port[2], 16)
    columns = []
    for line in lines("path-sl.rows"):
        if line.startswith("lids "):
            for part in line.split()[1:]:
                ends = [int(n) for n in part.split("-")]
                columns += range(ends[0], ends[-1] + 1)
            continue
        source, digits = line.split()
        assert len(digits) == len(columns)
        for guid, switch in switch_of.items():
            if switch == int(source, 16):
                names.setdefault(switch, dict(zip(columns, (int(d, 16) for d in digits))))
    levels_of = {guid: names.get(switch, {}) for guid, switch in switch_of.items()}
else:
    by_node = {}
    for line in lines("path-sl"):
        source, lid, sl = line.split()
        by_node.setdefault(source, {})[int(lid)] = int(sl)
    by_node = {int(source, 16): row for source, row in by_node.items()}
    levels_of = {guid: by_node.get(node_of[guid], {}) for guid in lids}
if not any(levels_of.values()):
    for line in lines("host-sl"):
        if line != "hosts":
            guid, sl = line.split()[:2]
            is_host[int(guid, 16)] = int(sl)

compared = 0
for source in sorted(lids):
    row = levels_of[source]
    for to in sorted(lids):
        if source == to:
            continue
        first, count = lids[to]
        block = first + plane * (count // planes)
        expected = bytearray()
        for size in (0, threshold, threshold + 1, 2**64 - 1):
            lists = choice.get((quadrant.get(source), quadrant.get(to)))
            offsets = lists[size > threshold] if lists else [bits.get(source, 0)]
            for draw in range(6):
                lid = block + offsets[draw % len(offsets)]
                sl = is_host.get(source) if is_host else row.get(lid)
                expected += bytes((lid & 255, lid >> 8, sl or 0, sl is not None))
        answer = sys.stdin.buffer.read(len(expected))
        if answer != bytes(expected):
            sys.exit(f"0x{source:016x} to 0x{to:016x}: answered {answer.hex(' ', 4)}, expected {expected.hex(' ', 4)}")
        compared += 24
if sys.stdin.buffer.read(1):
    sys.exit("more answers than there are pairs")
print(compared)
