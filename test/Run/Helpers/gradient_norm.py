#!/usr/bin/env python3
"""A step's reported gradient norm against that of the gradients it saves, summed up here in f64: gradient_norm.py CONFIG WORK_DIR FLAGS..."""
import math
import sys

from compare_plans import read_safetensors
from running import lines, run

TOLERANCE = 1e-6  # relative; a chain of f32 additions over an embedding's elements is wrong by 1e-5 and more


def main():
    config, work, *flags = sys.argv[1:]
    run("par-compile", config, "-o", f"{work}/m.par", *flags)
    run("par-run", f"{work}/m.par", "--steps", "1", "--seed", "1", "--data", "random", "--metrics", f"{work}/m.jsonl", "--save-grads", f"{work}/m.grads")
    reported = lines(f"{work}/m.jsonl")[0]["grad_norm"]
    expected = math.sqrt(math.fsum(value * value for _, values in read_safetensors(f"{work}/m.grads").values() for value in values))
    good = abs(reported - expected) <= TOLERANCE * expected
    print(f"norm of {expected:.7f} {'agrees' if good else f'reported as {reported:.7f}'}")
    sys.exit(0 if good else 1)


main()
