"""Damaged text files: darkfiber-lids-table makes a table of them or says why not (exit code 3), and never ends otherwise.

texts.py PROGRAM SCRATCH ROUNDS SEED; PROGRAM is built with sanitizers."""
import collections
import os
import random
import shutil
import subprocess
import sys

program, scratch, rounds, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
random.seed(seed)
shutil.copytree(os.path.join(os.path.dirname(__file__), "parx"), scratch)
ports = [f"0x00002000000000{i}1" for i in range(1, 9)]
extra = {
    "bits": "".join(f"{guid} {i % 4}\n" for i, guid in enumerate(ports)),
    "host": "hosts\n" + "".join(f"{guid} {i % 4} cn\n" for i, guid in enumerate(ports)),
    "rows": "lids 4-11 1000-1007 2000-2007 3000-3007\n"
    + "".join(f"0x000050000010000{i} {'01230123' * 4}\n" for i in range(1, 5)) + f"4 {'0' * 32}\n",
}
for name, text in extra.items():
    with open(os.path.join(scratch, name), "w") as file:
        file.write(text)
option = {"bits": "--path-bits", "host": "--sl", "rows": "--sl"}
pieces = [b"0x", b"->", b"-", b"|", b"\n", b" ", b"99999999999999999999", b"lids ", b"node ", b"hosts\n", b"small", b"#", b'"H-', b"[1](", b")",
          b"\0", b"65535", b"-1", b"0x0", b"Ca\t1 ", b"Switch "]
counted = collections.Counter()
for _ in range(rounds):
    name = random.choice(["fabric.topo", "guid2lid", "lid-choice", "path-sl", *extra])
    path = os.path.join(scratch, name)
    with open(path, "rb") as file:
        whole = file.read()
    text = bytearray(whole)
    for _ in range(random.choice([1, 1, 2, 5, 20])):
        how, at = random.random(), random.randrange(len(text) + 1)
        if how < 0.3 and text:
            text[at % len(text)] = random.randrange(256)
        elif how < 0.6:
            text[at:at] = random.choice(pieces)
        elif how < 0.8:
            del text[at:at + random.randrange(1, 40)]
        elif how < 0.9:
            del text[at:]
        else:
            text[at:at] = text[at:at + random.randrange(200)]
    with open(path, "wb") as file:
        file.write(text)
    command = [program, "-o", os.path.join(scratch, "table"), scratch]
    command += [option[name], path] if name in option else []
    command += ["--planes", "2"] if random.random() < 0.3 else []
    done = subprocess.run(command, capture_output=True)
    counted[done.returncode] += 1
    if done.returncode not in (0, 3):
        sys.exit(f"seed {seed}, {name}: exit code {done.returncode}\n{done.stderr[:800].decode(errors='replace')}")
    with open(path, "wb") as file:
        file.write(whole)
print(f"{counted[3]} refused, {counted[0]} taken")
