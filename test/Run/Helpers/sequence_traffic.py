#!/usr/bin/env python3
"""Sequence parallelism sends what tensor parallelism does, the gradients of norm weights, and what it gathers again.

    sequence_traffic.py --bin build/bin --config C tp=2 tp=4

Bytes over tp of a step with and without --sequence-parallel; the difference is one all-reduce of all parameters of one dimension (norms, and biases that
are added after the sum), and, where gathered values are not held for the backward pass, two gathers per layer. No all-reduce is as large as an activation.
"""
import re
import sys
import tempfile

from traffic import main, measure


def over_tp(args, flags):
    with tempfile.TemporaryDirectory() as folder:
        manifest, sent = measure(args, flags, folder)
    return manifest, sum(value for key, value in sent.items() if key.endswith(":tp"))


HOLD = "--recompute auto --recompute-limit 1000000000"


def check(args, case):
    """`case`: a mesh, and behind a bar how many gathers per layer are run again."""
    mesh, _, again = case.partition("|")
    again = int(again or 0)
    members = int(mesh.split("=")[1])
    _, without = over_tp(args, f"--mesh {mesh}")
    manifest, total = over_tp(args, f"--mesh {mesh} --sequence-parallel {'' if again else HOLD}")
    norms = sum(4 * entry["shape"][0] for entry in manifest["parameters"] if len(entry["shape"]) == 1)
    activation = 4 * manifest["batch"] * manifest["seq"] * 64
    layers = len({re.search(r"layers\.(\d+)", entry["name"]).group(1) for entry in manifest["parameters"] if "layers." in entry["name"]})
    expected = without + (2 * norms + again * layers * activation) * (members - 1) // members
    largest = max(entry["bytes"] // entry["count"] for entry in manifest["collectives"] if entry["kind"] == "all_reduce")
    good = total == expected and largest < 2 * activation * (members - 1) // members
    print("ok  " if good else "FAIL", case, f"{total} bytes, expected {expected}; largest all-reduce {largest}")
    return good


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
