#!/usr/bin/env python3
"""Bytes on the wire of one step, as the manifest plans them and as the transport counts them.

    traffic.py --bin build/bin --config C "--mesh dp=4 --zero 2 --micro-batches 2 | all_gather:dp=1 reduce_scatter:dp=2"

Behind the bar, per kind and axes: how often the whole parameters (n-1)/n go over the wire; all_reduce counts two
for one. What is not named may send scalars only. The numbers must be exact, so sizes must divide.
"""
import argparse
import json
import os
import re
import shlex
import sys
import tempfile

from running import run

SCALARS = 64  # loss and norm


def measure(args, flags, folder):
    """(manifest, bytes by kind and axes that rank 0 sent in step 2)"""
    package, metrics = os.path.join(folder, "m.par"), os.path.join(folder, "m.jsonl")
    run(os.path.join(args.bin, "par-compile"), args.config, "-o", package, "--seq", "16", "--batch", "8",
        *shlex.split(args.compile_flags), *shlex.split(flags))
    run(os.path.join(args.bin, "par-run"), package, "--steps", "2", "--metrics", metrics)
    with open(os.path.join(package, "manifest.json")) as file:
        manifest = json.load(file)
    with open(metrics) as file:
        return manifest, [json.loads(line) for line in file][1]["sent_bytes"]


def check(args, case):
    flags, expected = case.split("|")
    with tempfile.TemporaryDirectory() as folder:
        manifest, sent = measure(args, flags, folder)
    planned = {}
    for entry in manifest["collectives"]:
        key = entry["kind"] + ":" + "+".join(entry["axes"])
        planned[key] = planned.get(key, 0) + entry["bytes"]
    problems = []
    if {key: value for key, value in planned.items() if value} != sent:
        problems.append(f"planned {planned}")
    times = dict(re.findall(r"(\S+)=(\S+)", expected))
    sizes = dict(manifest["mesh"])
    for key in sorted(set(times) | set(sent)):
        members = 1
        for axis in key.split(":")[1].split("+"):
            members *= sizes[axis]
        factor = 2 if key.startswith("all_reduce") else 1
        whole = 4 * manifest["model"]["parameters"]
        want = float(times.get(key, 0)) * factor * whole * (members - 1) / members
        have = sent.get(key, 0)
        slack = SCALARS if key.startswith("all_reduce") else 0
        if not want <= have <= want + slack:
            problems.append(f"{key}: {have} bytes, expected {want}")
    print("ok  " if not problems else "FAIL", flags.strip(), "; ".join(problems))
    return not problems


def main(description, check):
    """Runs `check(args, case)` on every case of the command line; 1 if one is off."""
    parser = argparse.ArgumentParser(description=description.split("\n")[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--config", required=True)
    parser.add_argument("--compile-flags", default="")
    parser.add_argument("cases", nargs="+")
    args = parser.parse_args()
    return 0 if all([check(args, case) for case in args.cases]) else 1


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
