#!/usr/bin/env python3
"""Trains a graph of several losses under plans, interpreted and natively, and compares with one rank.

    losses.py GRAPH.mlir WORK_DIR PLAN [PLAN ...]      losses.py two-losses.mlir /tmp/work "--mesh dp=2" "--mesh pp=2 --schedule zb-h1"

Three steps of SGD, so that a wrong gradient is a wrong loss in the next step. Of every plan the losses and the norm of the rank program, interpreted in f64, equal
those of the graph on one rank to 1e-12, and natively to f32's rounding; a plan for CUDA runs on the stand-in in the folder PAR_STANDIN. Last, the gradient of weight 0.3 is that of 0 and 0.3 times the difference to that of 1, by
one package.
"""
import json
import os
import sys

from compare_plans import read_safetensors
from running import lines, run

MICRO_BATCHES = ["--micro-batches", "2"]
OPTIMIZER = ["--optimizer", "sgd"]
STEPS = ["--seed", "3", "--steps", "3", "--lr", "0.1", "--clip-grad-norm", "0"]


def values(line):
    return {"loss": line["loss"], "grad_norm": line["grad_norm"], **line["losses"]}


def compare(title, expected, actual, tolerance):
    if len(expected) != 3 or len(actual) != 3:
        sys.exit(f"{title}: {len(actual)} steps, expected {len(expected)}")
    for number, (one, other) in enumerate(zip(map(values, expected), map(values, actual)), 1):
        for name, value in one.items():
            if not abs(other.get(name, float("nan")) - value) <= tolerance * abs(value):
                sys.exit(f"{title}: step {number}: {name} is {other.get(name)}, expected {value}")


def interpret(module, *flags):
    return [json.loads(line) for line in run("par-interpret", module, *MICRO_BATCHES, *STEPS, *flags).splitlines()]


def gradient(package, weight, work):
    output = os.path.join(work, f"grads-{weight}")
    run("par-run", package, "--seed", "3", "--steps", "1", "--loss-weight", f"balance={weight}", "--save-grads", output)
    return read_safetensors(output)


def check_weights(package, work):
    none, some, all_ = (gradient(package, weight, work) for weight in ("0", "0.3", "1"))
    moved = 0
    for name, (_, expected) in some.items():
        scale = max(map(abs, expected))
        for value, low, high in zip(expected, none[name][1], all_[name][1]):
            moved = max(moved, abs(high - low) / scale)
            if not abs(low + 0.3 * (high - low) - value) <= 3e-6 * scale:
                sys.exit(f"weights: {name}: {value}, expected {low + 0.3 * (high - low)}")
    if moved < 0.1:
        sys.exit("weights: the loss has no gradient")


def check_sum(graph, step):
    """A step of two micro-batches has the mean losses of two steps that change nothing."""
    halves = [json.loads(line) for line in run("par-interpret", graph, "--seed", "3", "--steps", "2", "--lr", "0", *OPTIMIZER).splitlines()]
    for name, value in values(step).items():
        mean = sum(values(half)[name] for half in halves) / 2
        if name != "grad_norm" and not abs(value - mean) <= 1e-12 * abs(mean):
            sys.exit(f"two micro-batches: {name} is {value}, expected {mean}")


def main():
    graph, work, *plans = sys.argv[1:]
    expected = interpret(graph, *OPTIMIZER)
    check_sum(graph, expected[0])
    package, metrics = os.path.join(work, "native.par"), os.path.join(work, "metrics.jsonl")
    for plan in ["", *plans]:
        flags = [*MICRO_BATCHES, *OPTIMIZER, *plan.split()]
        module = os.path.join(work, "lowered.mlir")
        with open(module, "w", encoding="utf-8") as file:
            file.write(run("par-compile", graph, *flags, "--to", "lower"))
        compare(f"{plan} interpreted", expected, interpret(module), 1e-12)
        run("par-compile", graph, *flags, "-o", package)
        environment = None
        if "cuda" in plan:
            run("par-emulate", package)
            environment = {"LD_LIBRARY_PATH": os.environ["PAR_STANDIN"]}
        run("par-run", package, *STEPS, "--metrics", metrics, environment=environment)
        compare(f"{plan} natively", expected, lines(metrics), 3e-5)
        print(f"{plan or 'one rank'} agrees")
    check_weights(package, work)
    print("weights agree")


if __name__ == "__main__":
    main()
