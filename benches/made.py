"""The comment behind `<!-- generated: ... -->` in docs: the date and the commit that a generated part was made at."""

import datetime
import subprocess
from pathlib import Path


def made():
    command = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, cwd=Path(__file__).parent, check=True, capture_output=True, text=True)
    return f"<!-- made {datetime.date.today()}, {commit.stdout.strip()} -->"
