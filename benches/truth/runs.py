"""Programs that are run, and what they said, kept: what was run is not run again."""

import hashlib
import json
import os
import subprocess
import sys


class Runs:
    """Results by what gave them, in a file of the folder to work in."""

    def __init__(self, work, darkfiber):
        self.work, self.darkfiber = work, darkfiber
        os.makedirs(work, exist_ok=True)
        self.path = os.path.join(work, "results.json")
        self.kept = json.load(open(self.path)) if os.path.exists(self.path) else {}

    def once(self, what, input_, run):
        """What `run` gives for an input, from the last time if it has been run with it."""
        key = what + " " + hashlib.sha256(input_.encode()).hexdigest()[:16]
        if key not in self.kept:
            print(what, file=sys.stderr, flush=True)
            self.kept[key] = run()
            with open(self.path + ".new", "w") as out:
                json.dump(self.kept, out, indent=1, sort_keys=True)
            os.replace(self.path + ".new", self.path)
        return self.kept[key]

    def file(self, name, text):
        """Writes a file in the folder to work in."""
        path = os.path.join(self.work, name)
        with open(path, "w") as out:
            out.write(text)
        return path

    def saturate(self, options):
        """A load of `darkfiber saturate`, as its JSON has it."""
        line = [self.darkfiber, "--format", "json", "-q", "saturate", *options.split()]

        def run():
            done = subprocess.run(line, capture_output=True, text=True)
            if done.returncode not in (0, 1):
                raise SystemExit(f"{' '.join(line)}\n{done.stderr}")
            point = json.loads(done.stdout)["curves"][0]["points"][0]
            return {k: point[k] for k in ("mean", "error", "hops", "accepted", "saturated", "round", "packets")}

        return self.once("darkfiber " + " ".join(line[4:]), self.version(), run)

    def version(self):
        """Which darkfiber it is, by its content."""
        if not hasattr(self, "digest"):
            with open(self.darkfiber, "rb") as program:
                self.digest = hashlib.sha256(program.read()).hexdigest()
        return self.digest


def output(line, **more):
    """What a program prints, whatever its status: that of BookSim2 is no verdict."""
    done = subprocess.run(line, capture_output=True, text=True, **more)
    return done.stdout + done.stderr
