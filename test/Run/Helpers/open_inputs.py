#!/usr/bin/env python3
"""Graphs with inputs of their own: native runs against values computed here, the interpreter and one rank.

    open_inputs.py WORK_DIR REGRESSION.mlir PLAN [PLAN ...]        a plan is flags of par-compile, "--mesh dp=2 --micro-batches 2"

The data are rows of six types, two values of the step, and fewer rows than three steps read. Gradients after one step and parameters after three AdamW steps are
within 1e-5 of one native rank, that is within 1e-4 of the interpreter, and its first loss within 1e-5 of the value computed here. "cuda" before a plan runs a
package of --target cuda on the stand-in that LD_LIBRARY_PATH names; "split" has what is in a row of x and fine, and shift, split over tp by hand.
"""
import json
import math
import os
import random
import re
import shlex
import sys

from compare_graph import compare
from compare_plans import read_safetensors
from running import lines, run
from safetensors_rows import write_tensors

RUNS = {"grads": ["--steps", "1"], "params": ["--steps", "3"]}
FLAGS = ["--seed", "3", "--lr", "0.01", "--clip-grad-norm", "0.5"]
SCALE = 0.25


def make_data(path, rows, seed=1):
    numbers = random.Random(seed)
    data = {
        "x": ("F32", [rows, 8], [numbers.randrange(-64, 64) / 64 for _ in range(rows * 8)]),
        "fine": ("BF16", [rows, 8], [numbers.randrange(-64, 64) / 64 for _ in range(rows * 8)]),
        "keep": ("BOOL", [rows], [number % 3 != 1 for number in range(rows)]),
        "y": ("F32", [rows], [numbers.uniform(-2, 2) for _ in range(rows)]),
        "group": ("I32", [rows], [numbers.randrange(5) for _ in range(rows)]),
        "item": ("I64", [rows], [numbers.choice([0, 3, 6, 9, 1 << 40, -1]) for _ in range(rows)]),  # three are no row of the table
    }
    write_tensors(path, data)
    return {name: values for name, (_, _, values) in data.items()}


def loss_of(data, shift, parameters, rows):
    """The mean over some rows, as the graph says it."""
    tensors = {name: values for name, (_, values) in parameters.items()}
    total = 0.0
    for row in rows:
        h = [data["x"][row * 8 + e] + data["fine"][row * 8 + e] + shift[e] for e in range(8)]
        for layer in range(3):
            up, down = tensors[f"{layer}.up"], tensors[f"{layer}.down"]
            a = [math.tanh(sum(h[e] * up[m * 8 + e] for e in range(8))) for m in range(16)]
            h = [h[e] + sum(a[m] * down[e * 16 + m] for m in range(16)) for e in range(8)]
        item = data["item"][row]
        prediction = sum(h[e] * tensors["head"][e] for e in range(8)) + tensors["groups"][data["group"][row]] + (tensors["items"][item] if 0 <= item < 7 else 0)
        total += (prediction - data["y"][row])**2 * data["keep"][row] + SCALE * prediction**2
    return total / len(rows)


def flags_of_data(work):
    return ["--data", f"{work}/rows.safetensors", "--input", f"scale={SCALE}", "--input", f"shift={work}/shift.safetensors"]


def split_inputs(graph, words, path):
    """The annotated graph with inputs split over tp, too."""
    text, count = re.subn(r'(<input "(?:x|fine|shift)", \w+>, par.sharding = #par.sharding<@mesh, \[(?:\{"dp"\}, )?\{)\}', r'\1"tp"}', run(
        "par-compile", graph, *words, "--to", "annotate"))
    if count != 3:
        sys.exit(f"{count} inputs are split over tp, expected 3")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def train(graph, plan, work, number, data):
    package, metrics = f"{work}/{number}.par", f"{work}/{number}.jsonl"
    words = shlex.split(plan)
    is_cuda = words[:1] == ["cuda"]
    words = words[1:] + ["--target", "cuda", "--chip", "sm_90"] if is_cuda else words
    if words[:1] == ["split"]:
        graph, words = split_inputs(graph, words[1:], f"{work}/{number}.mlir"), ["--from", "propagate"]
    run("par-compile", graph, *words, "-o", package)
    if is_cuda:
        run("par-emulate", package)
    with open(f"{package}/manifest.json", encoding="utf-8") as file:
        environment = {"PAR_STANDIN_DEVICES": str(json.load(file)["world_size"]), "PAR_STANDIN_CHIP": "90"} if is_cuda else {}
    saved = {}
    for what, steps in RUNS.items():
        run("par-run", package, *steps, *FLAGS, *data, "--metrics", metrics, f"--save-{what}", f"{work}/{number}.{what}", environment=environment)
        saved[what] = read_safetensors(f"{work}/{number}.{what}")
    return saved, [line["loss"] for line in lines(metrics)]


def interpret(graph, flags, work, data):
    saved = {}
    for what, steps in RUNS.items():
        run("par-interpret", graph, *flags, *steps, *FLAGS, *data, "--save", what, "-o", f"{work}/interpreted.{what}")
        saved[what] = read_safetensors(f"{work}/interpreted.{what}")
    return saved


def micro_batches(plan):
    words = shlex.split(plan)
    return int(words[words.index("--micro-batches") + 1]) if "--micro-batches" in words else 1


def compare_with_one(graph, work, plans, data):
    """Each plan against one rank with as many micro-batches; by their number, the losses of that rank."""
    ones = {}
    for number, plan in enumerate(plans):
        count = micro_batches(plan)
        flags = ["--micro-batches", str(count)]
        if count not in ones:
            ones[count] = train(graph, shlex.join(flags), work, f"one-{count}", data)
            compare(f"one native rank, {count} micro-batches, against the interpreter", interpret(graph, flags, work, data), ones[count][0], 1e-4)
        compare(f"{plan} against one rank", ones[count][0], train(graph, plan, work, number, data)[0], 1e-5)
        print(f"{plan}: agrees")
    return {count: losses for count, (_, losses) in ones.items()}


def main():
    work, graph, *plans = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    rows = 14
    data = make_data(f"{work}/rows.safetensors", rows)
    shift = [e / 16 for e in range(8)]
    write_tensors(f"{work}/shift.safetensors", {"shift": ("F32", [8], shift)})
    losses = compare_with_one(graph, work, plans, flags_of_data(work))
    for count, all_losses in losses.items():
        run("par-run", f"{work}/one-{count}.par", "--steps", "0", "--seed", "3", "--save-params", f"{work}/initial")
        expected = loss_of(data, shift, read_safetensors(f"{work}/initial"), [row % rows for row in range(4 * count)])
        if not abs(all_losses[0] - expected) <= 1e-5 * abs(expected):
            sys.exit(f"{count} micro-batches: the first loss is {all_losses[0]}, expected {expected}")
        print(f"{count} micro-batches: the loss is the one computed here")


if __name__ == "__main__":
    main()
