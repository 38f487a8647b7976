"""What ranks take from the heap or map within steps, the first included: count_allocations.py LIBRARY.so PACKAGE.par...
The library (Inputs/count_allocations.c) counts between marks: what par-run takes before the first step and after the last is no matter."""
import json
import os
import re
import subprocess
import sys

STEPS = 4


#: Of bf16 numbers; a processor has all of them, or some.
UNITS = ["none", "dot", "tiles"]


def count(library, package, flags):
    """None: this processor does not have what the flags ask for."""
    result = subprocess.run(["par-run", package, "--steps", str(STEPS), "--seed", "1", "--data", "random", *flags], check=False, text=True,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=dict(os.environ, LD_PRELOAD=library))
    if flags and re.search("^error: --bf16-units [a-z]+: this processor", result.stderr, re.M):
        return None
    if result.returncode:
        sys.exit(f"{package}: exit {result.returncode}: {result.stderr}")
    counted = re.search(r"^allocations: (\d+) before, (\d+) in (\d+) steps$", result.stderr, re.M)
    if not counted:
        sys.exit(f"{package}: nothing was counted: {result.stderr}")
    return list(map(int, counted.groups()))


def describe(library, package, ranks, flags):
    counted = count(library, package, flags)
    if not counted:
        return "not on this processor"
    before, within, steps = counted
    # The count itself is seen to work: the start of a program allocates, and every rank's steps pass the marks.
    if steps != ranks * STEPS:
        sys.exit(f"{package}: {steps} steps of {ranks} ranks were seen, expected {STEPS} of each")
    return f"{within} allocations in {STEPS} steps of {ranks}, {'some' if before else 'none'} before"


def main():
    library, *packages = sys.argv[1:]
    for package in packages:
        with open(os.path.join(package, "manifest.json"), encoding="utf-8") as file:
            manifest = json.load(file)
        for flags in [["--bf16-units", units] for units in UNITS] if manifest["dtype"] == "bf16" else [[]]:
            print(" ".join([os.path.basename(package), *flags]) + ": " + describe(library, package, manifest["world_size"], flags))


main()
