"""Allocations per training step: count_allocations.py LIBRARY.so PACKAGE.par... A run of more steps makes no more of them."""
import os
import re
import subprocess
import sys

SHORT, LONG = 2, 7


def count(library, package, steps):
    result = subprocess.run(["par-run", package, "--steps", str(steps), "--seed", "1", "--data", "random"], check=True, text=True,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=dict(os.environ, LD_PRELOAD=library))
    return int(re.search(r"allocations (\d+)", result.stderr)[1])


def main():
    library, *packages = sys.argv[1:]
    for package in packages:
        short, long = count(library, package, SHORT), count(library, package, LONG)
        # The count itself is seen to work: the start of a program allocates.
        print(f"{os.path.basename(package)}: {long - short} allocations in {LONG - SHORT} steps, {'some' if short else 'none'} before")


main()
