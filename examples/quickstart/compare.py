#!/usr/bin/env python3
"""Prints the losses of one rank and of many side by side; exits 1 if they or gradient norms differ, or losses
do not fall.

    compare.py FOLDER MODEL...      reads FOLDER/MODEL-one.jsonl and FOLDER/MODEL-many.jsonl
"""
import json
import os
import sys

# Largest relative difference of a loss, and a tenth of that of a gradient norm. Many ranks add f32 sums in another
# order, and training amplifies such rounding: AdamW most where gradients are zero but for rounding (GPT-2's key
# biases). test/Run compares single steps to 1e-5 and less.
TOLERANCE = 1e-4
ROWS = 6


def read_metrics(folder, model, ranks, key):
    with open(os.path.join(folder, f"{model}-{ranks}.jsonl")) as file:
        return {line["step"]: float(line[key]) for line in map(json.loads, file)}


def worst_difference(one, many):
    return max(abs(one[step] - many[step]) / one[step] for step in one)


def compare(folder, model):
    one, many = (read_metrics(folder, model, ranks, "loss") for ranks in ("one", "many"))
    if set(one) != set(many) or not one:
        print(f"error: {model}: the runs do not have the same steps")
        return False
    steps = sorted(one)
    shown = sorted({steps[round(i * (len(steps) - 1) / (ROWS - 1))] for i in range(ROWS)})
    print(f"\n{model:>8}   one rank   many ranks   difference")
    for step in shown:
        print(f"step {step:>3}   {one[step]:8.4f}   {many[step]:10.4f}   {abs(one[step] - many[step]):10.1e}")
    worst = worst_difference(one, many)
    norms = worst_difference(*(read_metrics(folder, model, ranks, "grad_norm") for ranks in ("one", "many")))
    equal, falls = max(worst, norms / 10) <= TOLERANCE, len(steps) == 1 or many[steps[-1]] < many[steps[0]]
    print(f"largest relative difference over {len(steps)} steps {worst:.1e}, of gradient norms {norms:.1e}"
          + ("" if equal else f": above {TOLERANCE:g} and {10 * TOLERANCE:g}"))
    if not falls:
        print(f"error: {model}: the loss does not fall")
    return equal and falls


def main():
    good = [compare(sys.argv[1], model) for model in sys.argv[2:]]
    return 0 if good and all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
