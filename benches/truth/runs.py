"""Runs programs and keeps their results, so that no case is run twice."""

import hashlib
import json
import os
import subprocess
import sys


class Runs:
    """Results by case and input, in a file of the working folder."""

    def __init__(self, work, darkfiber):
        self.work, self.darkfiber = work, darkfiber
        os.makedirs(work, exist_ok=True)
        self.path = os.path.join(work, "results.json")
        self.kept = json.load(open(self.path)) if os.path.exists(self.path) else {}

    def once(self, what, input_, run):
        """The result of `run` for an input, or the kept one if it has been run with that input before."""
        key = what + " " + hashlib.sha256(input_.encode()).hexdigest()[:16]
        if key not in self.kept:
            print(what, file=sys.stderr, flush=True)
            self.kept[key] = run()
            with open(self.path + ".new", "w") as out:
                json.dump(self.kept, out, indent=1, sort_keys=True)
            os.replace(self.path + ".new", self.path)
        return self.kept[key]

    def file(self, name, text):
        """Writes a file in the working folder."""
        path = os.path.join(self.work, name)
        with open(path, "w") as out:
            out.write(text)
        return path

    def saturate(self, options):
        """One load of `darkfiber saturate`, with the fields of its JSON."""
        line = [self.darkfiber, "--format", "json", "-q", "saturate", *options.split()]

        def run():
            done = subprocess.run(line, capture_output=True, text=True)
            if done.returncode not in (0, 1):
                raise SystemExit(f"{' '.join(line)}\n{done.stderr}")
            point = json.loads(done.stdout)["curves"][0]["points"][0]
            return {k: point[k] for k in ("mean", "error", "hops", "accepted", "saturated", "round", "packets")}

        return self.once("darkfiber " + " ".join(line[4:]), self.version(), run)

    def version(self):
        """The hash of the darkfiber binary."""
        if not hasattr(self, "digest"):
            with open(self.darkfiber, "rb") as program:
                self.digest = hashlib.sha256(program.read()).hexdigest()
        return self.digest


def output(line, **more):
    """The output of a program, whatever its exit status: that of BookSim2 is meaningless."""
    done = subprocess.run(line, capture_output=True, text=True, **more)
    return done.stdout + done.stderr
