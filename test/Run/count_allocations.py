"""Allocations per training step: count_allocations.py LIBRARY.so PACKAGE.par... A run of more steps makes no more of them, but those that oneDNN makes within products."""
import os
import re
import subprocess
import sys

SHORT, LONG = 2, 7


def count(library, package, steps):
    result = subprocess.run(["par-run", package, "--steps", str(steps), "--seed", "1", "--data", "random"], check=True, text=True,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=dict(os.environ, LD_PRELOAD=library))
    return [int(number) for number in re.search(r"allocations (\d+) in oneDNN (\d+)", result.stderr).groups()]


def main():
    library, *packages = sys.argv[1:]
    for package in packages:
        short, long = count(library, package, SHORT), count(library, package, LONG)
        # The count itself is seen to work: the start of a program allocates.
        print(f"{os.path.basename(package)}: {long[0] - short[0]} allocations in {LONG - SHORT} steps, {'some' if short[0] else 'none'} before")


main()
