#!/usr/bin/env python3
"""Prints the losses of one rank and of four side by side; exits 1 if they differ or do not fall.

    compare.py FOLDER MODEL...      reads FOLDER/MODEL-one.jsonl and FOLDER/MODEL-four.jsonl
"""
import json
import os
import sys

# Largest relative difference of a loss. Four ranks add f32 sums in another order, and training amplifies such rounding: AdamW
# most where gradients are zero but for rounding (GPT-2's key biases). test/Run compares single steps to 1e-5 and less.
TOLERANCE = 1e-4
ROWS = 6


def read_losses(folder, model, ranks):
    with open(os.path.join(folder, f"{model}-{ranks}.jsonl")) as file:
        return {line["step"]: float(line["loss"]) for line in map(json.loads, file)}


def compare(folder, model):
    one, four = (read_losses(folder, model, ranks) for ranks in ("one", "four"))
    if set(one) != set(four) or not one:
        print(f"error: {model}: the runs do not have the same steps")
        return False
    steps = sorted(one)
    shown = sorted({steps[round(i * (len(steps) - 1) / (ROWS - 1))] for i in range(ROWS)})
    print(f"\n{model:>8}   one rank   dp=2,tp=2   difference")
    for step in shown:
        print(f"step {step:>3}   {one[step]:8.4f}   {four[step]:9.4f}   {abs(one[step] - four[step]):10.1e}")
    worst = max(abs(one[step] - four[step]) / one[step] for step in steps)
    equal, falls = worst <= TOLERANCE, len(steps) == 1 or four[steps[-1]] < four[steps[0]]
    print(f"largest relative difference over {len(steps)} steps {worst:.1e}" + ("" if equal else f", above {TOLERANCE:g}"))
    if not falls:
        print(f"error: {model}: the loss does not fall")
    return equal and falls


def main():
    good = [compare(sys.argv[1], model) for model in sys.argv[2:]]
    return 0 if good and all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
