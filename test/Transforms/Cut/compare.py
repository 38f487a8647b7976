#!/usr/bin/env python3
"""Compares the steps of two runs: loss and norm to 1e-12.

    compare.py one.jsonl other.jsonl
"""
import json
import sys

runs = [[json.loads(line) for line in open(path, encoding="utf-8")] for path in sys.argv[1:]]
assert len(runs[0]) == len(runs[1]) == 3, [len(run) for run in runs]
for one, other in zip(*runs):
    for key in ("loss", "grad_norm"):
        difference = abs(one[key] - other[key]) / abs(one[key])
        if not difference < 1e-12:
            sys.exit(f"step {one['step']}: {key} is {other[key]}, expected {one[key]}")
