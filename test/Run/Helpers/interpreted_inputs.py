#!/usr/bin/env python3
"""Interpreted ranks against one: interpreted_inputs.py WORK_DIR WEIGHTED.mlir FOLDER, behind weighted_tokens.py; FOLDER is what --save-ir wrote for dp=2, tp=2."""
import glob
import sys

from compare_graph import FLAGS, compare
from compare_plans import read_safetensors
from running import run


def interpret(work, name, *words):
    saved = {}
    for what, steps in ("grads", 1), ("params", 2):
        output = f"{work}/{name}.{what}"
        run("par-interpret", *words, "--steps", str(steps), *FLAGS, "--data", f"{work}/tokens.bin", "--data", f"{work}/rows.safetensors", "--save", what, "-o", output)
        saved[what] = read_safetensors(output)
    return saved


def main():
    work, graph, folder = sys.argv[1:]
    one = interpret(work, "one", graph)
    lowered = sorted(glob.glob(f"{folder}/*lower*"))[-1]
    for name, words in ("partitioned", [graph, "--mesh", "dp=2,tp=2"]), ("rank program", [lowered]):
        compare(name, one, interpret(work, name.replace(" ", "-"), *words), 1e-6)  # files are f32
        print(f"{name}: agrees")


main()
