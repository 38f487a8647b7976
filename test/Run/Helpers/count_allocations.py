"""What ranks take from the heap or map within steps, the first included: count_allocations.py LIBRARY.so PACKAGE.par...
The library (Inputs/count_allocations.c) counts between marks: what par-run takes before the first step and after the last is no matter."""
import json
import os
import re
import subprocess
import sys

STEPS = 4


def count(library, package):
    result = subprocess.run(["par-run", package, "--steps", str(STEPS), "--seed", "1", "--data", "random"], check=True, text=True,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=dict(os.environ, LD_PRELOAD=library))
    counted = re.search(r"^allocations: (\d+) before, (\d+) in (\d+) steps$", result.stderr, re.M)
    if not counted:
        sys.exit(f"{package}: nothing was counted: {result.stderr}")
    return map(int, counted.groups())


def main():
    library, *packages = sys.argv[1:]
    for package in packages:
        before, within, steps = count(library, package)
        with open(os.path.join(package, "manifest.json"), encoding="utf-8") as file:
            ranks = json.load(file)["world_size"]
        # The count itself is seen to work: the start of a program allocates, and every rank's steps pass the marks.
        if steps != ranks * STEPS:
            sys.exit(f"{package}: {steps} steps of {ranks} ranks were seen, expected {STEPS} of each")
        print(f"{os.path.basename(package)}: {within} allocations in {STEPS} steps of {ranks}, {'some' if before else 'none'} before")


main()
