#!/usr/bin/env python3
"""Sequence parallelism sends what tensor parallelism does, plus the gradients of norm weights.

    sequence_traffic.py --bin build/bin --config C tp=2 tp=4

Bytes over tp of a step with and without --sequence-parallel; the difference is one all-reduce of all parameters of one dimension (norms, and biases that
are added after the sum). No all-reduce is as large as an activation.
"""
import argparse
import sys
import tempfile

from traffic import measure


def over_tp(args, flags):
    with tempfile.TemporaryDirectory() as folder:
        manifest, sent = measure(args, flags, folder)
    return manifest, sum(value for key, value in sent.items() if key.endswith(":tp"))


def check(args, mesh):
    members = int(mesh.split("=")[1])
    _, without = over_tp(args, f"--mesh {mesh}")
    manifest, total = over_tp(args, f"--mesh {mesh} --sequence-parallel")
    norms = sum(4 * entry["shape"][0] for entry in manifest["parameters"] if len(entry["shape"]) == 1)
    expected = without + 2 * norms * (members - 1) // members
    activation = 4 * manifest["batch"] * manifest["seq"] * 64
    largest = max(entry["bytes"] // entry["count"] for entry in manifest["collectives"] if entry["kind"] == "all_reduce")
    good = total == expected and largest < 2 * activation * (members - 1) // members
    print("ok  " if good else "FAIL", mesh, f"{total} bytes, expected {expected}; largest all-reduce {largest}")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--config", required=True)
    parser.add_argument("--compile-flags", default="")
    parser.add_argument("meshes", nargs="+")
    args = parser.parse_args()
    return 0 if all([check(args, mesh) for mesh in args.meshes]) else 1


if __name__ == "__main__":
    sys.exit(main())
