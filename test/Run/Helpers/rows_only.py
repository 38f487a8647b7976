#!/usr/bin/env python3
"""Trains a graph whose loss is a mean over what data has as targets, natively and interpreted, on data that are no words, and compares with the sums of Python.

    rows_only.py rows-only.mlir WORK_DIR [--mesh dp=2 …]
"""
import json
import os
import random
import struct
import sys

from compare_plans import read_safetensors
from running import lines, run

ROWS, WIDTH = 8, 6


def main():
    graph, work, *flags = sys.argv[1:]
    draw = random.Random(7)
    numbers = [draw.randrange(4) for _ in range(ROWS * (WIDTH + 1))]
    data, package, metrics, saved = (os.path.join(work, name) for name in ("data.bin", "rows.par", "metrics.jsonl", "w"))
    with open(data, "wb") as file:
        file.write(struct.pack(f"<{len(numbers)}I", *numbers))
    run("par-compile", graph, "--micro-batches", "2", *flags, "-o", package)
    step = ["--steps", "1", "--data", data, "--seed", "3"]
    run("par-run", package, *step, "--metrics", metrics)
    run("par-run", package, "--steps", "0", "--seed", "3", "--save-params", saved)
    weights = read_safetensors(saved)["w"][1]
    rows = [numbers[row * (WIDTH + 1) :][:WIDTH] for row in range(ROWS)]
    expected = sum(sum(a * b for a, b in zip(row, weights[m : m + WIDTH])) ** 2 for row in rows for m in range(0, len(weights), WIDTH)) / (ROWS * WIDTH)
    native = lines(metrics)[0]
    interpreted = json.loads(run("par-interpret", graph, "--micro-batches", "2", *step))
    for title, line in ("natively", native), ("interpreted", interpreted):
        if not abs(line["loss"] - expected) <= 1e-6 * expected:
            sys.exit(f"{title}: loss {line['loss']}, expected {expected}")
    if not abs(native["grad_norm"] - interpreted["grad_norm"]) <= 1e-5 * interpreted["grad_norm"]:
        sys.exit(f"norm {native['grad_norm']}, expected {interpreted['grad_norm']}")
    print("agrees")


if __name__ == "__main__":
    main()
