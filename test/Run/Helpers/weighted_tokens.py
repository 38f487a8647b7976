#!/usr/bin/env python3
"""Tokens beside rows: weighted_tokens.py WORK_DIR WEIGHTED.mlir PLAN [PLAN ...], with tokens of a file and a weight and a position for each of them.

Compared as open_inputs.py does it. Half of the weights give half of the loss.
"""
import os
import random
import sys
from array import array

from open_inputs import compare_with_one
from running import lines, run
from safetensors_rows import write_tensors

WINDOWS = 12


def main():
    work, graph, *plans = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    numbers = random.Random(1)
    with open(f"{work}/tokens.bin", "wb") as file:
        array("H", [numbers.randrange(13) for _ in range(6 * WINDOWS)]).tofile(file)
    weights = [numbers.randrange(5) / 4 for _ in range(5 * WINDOWS)]
    positions = [position % 5 for position in range(5 * WINDOWS)]
    for name, factor in ("rows", 1), ("half", 0.5):
        write_tensors(f"{work}/{name}.safetensors", {
            "weights": ("F32", [WINDOWS, 5], [factor * weight for weight in weights]),
            "positions": ("I32", [WINDOWS, 5], positions)
        })
    data = ["--data", f"{work}/tokens.bin", "--data", f"{work}/rows.safetensors"]
    losses = compare_with_one(graph, work, plans, data)
    for count, all_losses in losses.items():
        run("par-run", f"{work}/one-{count}.par", "--steps", "1", "--seed", "3", "--data", f"{work}/tokens.bin,{work}/half.safetensors", "--metrics", f"{work}/half.jsonl")
        half = lines(f"{work}/half.jsonl")[0]["loss"]
        if not abs(2 * half - all_losses[0]) <= 1e-6 * all_losses[0]:
            sys.exit(f"half of the weights give the loss {half}, all of them {all_losses[0]}")
        print(f"{count} micro-batches: half of the weights give half of the loss")


main()
