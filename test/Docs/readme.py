#!/usr/bin/env python3
"""The command of README.md for GPUs finds a plan: readme.py README.md MODEL FLAGS..."""
import re
import shlex
import subprocess
import sys


def main():
    page, model, *flags = sys.argv[1:]
    with open(page, encoding="utf-8") as file:
        text = file.read()
    first = text.split("## What next")[0]
    commands = re.findall(r"^build/bin/(par-compile .* --target cuda .*)$", first, re.M)
    ranks = re.findall(r"^mpirun -np (\d+) build/bin/par-run (\S+) ", first, re.M)
    assert len(commands) == len(ranks) == 1, (commands, ranks)
    words = [model if word == "MODEL" else word for word in shlex.split(commands[0])]
    assert ranks[0] == (words[words.index("--ranks") + 1], words[words.index("-o") + 1]), ranks
    summary = subprocess.run([*words, "--dry-run", *flags], check=True, capture_output=True, text=True).stdout
    print("\n".join(summary.splitlines()[:3]))


main()
