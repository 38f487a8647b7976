"""Running the tools, for the comparisons of this folder."""
import json
import shlex
import subprocess
import sys


def run(*command):
    """What the command (words, or one string) prints; ends the comparison with its errors if it fails."""
    words = shlex.split(command[0]) if len(command) == 1 else command
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{shlex.join(words)}: exit {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    return done.stdout


def lines(path):
    """The objects of a file of JSON lines."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]
