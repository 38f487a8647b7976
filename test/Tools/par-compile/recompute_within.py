#!/usr/bin/env python3
"""par-compile --recompute auto under limits of memory: recompute_within.py MODEL"""
import subprocess
import sys

sys.path.append(sys.path[0] + "/../../Run/Helpers")
from summary import read_memory


def plan(*flags):
    """(peak, bytes of activations), or the error"""
    done = subprocess.run(["par-compile", sys.argv[1], "--batch", "2", "--seq", "64", "--dry-run", "--explain", *flags], capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.splitlines()[0]
    held = read_memory(done.stdout)[0]
    return held["peak"], held["activations"]


def within(limit):
    found = plan("--recompute", "auto", "--memory-limit", str(limit))
    if isinstance(found, str) or found[0] > limit:
        sys.exit(f"under {limit}: {found}")
    return found[1]


none, full = plan(), plan("--recompute", "full")
print("fits at the peak of none:", "saves the same" if within(none[0]) == none[1] else within(none[0]))
print("fits one byte below:", "saves less" if full[1] < within(none[0] - 1) < none[1] else within(none[0] - 1))
print("fits at the peak of full:", "saves less" if within(full[0]) < none[1] else within(full[0]))
error = plan("--recompute", "auto", "--memory-limit", str(full[0] // 2))
print("refused below" if isinstance(error, str) and "a rank needs" in error else error)
