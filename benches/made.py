"""The comment behind `<!-- generated: ... -->` in docs: when a part was made, and by which commit."""

import datetime
import subprocess
from pathlib import Path


def made():
    command = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, cwd=Path(__file__).parent, check=True, capture_output=True, text=True)
    return f"<!-- made {datetime.date.today()}, {commit.stdout.strip()} -->"
