#!/usr/bin/env python3
"""Train a hand-written graph natively on several meshes and compare with one rank and with the interpreter.

    compare_graph.py GRAPH.mlir WORK_DIR MESH [MESH ...] [-PASS ...] [--FLAG ...]      compare_graph.py pair.mlir /tmp/work tp=2 dp=2,tp=2

Passes, with one dash, are of par-opt, for a graph with shardings of its own; flags, with two, are of par-compile; both for all meshes.

Gradients after one step and parameters after three AdamW steps, on random tokens: every element within 1e-5 of one native rank, within 1e-4
of one interpreted rank in f64 (in parts of the tensor's largest element). A graph with shardings of its own (`par.mesh`, and `par.plan`, which says so) is compiled from
them, with the sizes of MESH; another one gets data and tensor parallelism from the names of its dimensions.
"""
import json
import os
import re
import sys

from compare_plans import read_safetensors
from running import run

RUNS = {"grads": ["--steps", "1"], "params": ["--steps", "3"]}
FLAGS = ["--seed", "3", "--lr", "0.01", "--clip-grad-norm", "0.5"]


def place(graph, mesh, work, annotate):
    """The graph on a mesh and the flags that compile it."""
    with open(graph, encoding="utf-8") as file:
        text = file.read()
    sizes = dict(entry.split("=") for entry in mesh.split(","))
    if "par.mesh" not in text:
        return graph, ["--mesh", mesh]
    path, axes = os.path.join(work, mesh.replace(",", "-") + ".mlir"), {}
    names = re.findall(r'"([^"]+)"', re.search(r"par\.mesh @mesh <\[(.*?)\]", text)[1])
    for name in names:  # dp.0 and dp.1 are parts of the user's dp
        axes[name.split(".")[0]] = axes.get(name.split(".")[0], 1) * int(sizes.get(name, 1))
    text = re.sub(r"par\.mesh @mesh <\[.*?\]", "par.mesh @mesh <[" + ", ".join(f'"{name}" = {sizes.get(name, 1)}' for name in names) + "]", text)
    text = re.sub(r"mesh = \[.*?\]", "mesh = [" + ", ".join(f'"{axis}" = {size}' for axis, size in axes.items()) + "]", text)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    if annotate:
        run("par-opt", path, *annotate, "-o", path + ".annotated.mlir")
        path += ".annotated.mlir"
    return path, ["--from", "propagate"]


def train(graph, mesh, work, more=(), annotate=()):
    """What all ranks of a mesh save, and the metrics of the first step."""
    path, flags = place(graph, mesh, work, annotate)
    package, metrics = os.path.join(work, mesh.replace(",", "-") + ".par"), os.path.join(work, "metrics.jsonl")
    run("par-compile", path, *flags, *more, "-o", package)
    saved = {}
    for what, steps in RUNS.items():
        output = os.path.join(work, f"{mesh.replace(',', '-')}.{what}")
        run("par-run", package, *steps, *FLAGS, "--metrics", metrics, f"--save-{what}", output)
        saved[what] = read_safetensors(output)
    with open(metrics) as file:
        return saved, json.loads(file.readline())


def interpret(graph, work):
    saved = {}
    for what, steps in RUNS.items():
        output = os.path.join(work, f"interpreted.{what}")
        run("par-interpret", graph, *steps, *FLAGS, "--save", what, "-o", output)
        saved[what] = read_safetensors(output)
    return saved


def compare(title, expected, actual, tolerance):
    for what in RUNS:
        if set(expected[what]) != set(actual[what]):
            sys.exit(f"{title}: {what} of {sorted(actual[what])}, expected {sorted(expected[what])}")
        for name, (shape, values) in expected[what].items():
            scale = max(max(map(abs, values)), 1e-3)
            worst = max(abs(a - b) if a == a else float("inf") for a, b in zip(actual[what][name][1], values)) / scale
            if actual[what][name][0] != shape or worst > tolerance:
                sys.exit(f"{title}: {what}: {name} differs by {worst:.2g} of its largest element, expected at most {tolerance:g}")


def main():
    graph, work, *meshes = sys.argv[1:]
    first = next((at for at, word in enumerate(meshes) if word.startswith("-")), len(meshes))
    meshes, more = meshes[:first], meshes[first:]
    begin = next((at for at, word in enumerate(more) if word.startswith("--")), len(more))
    annotate, flags = more[:begin], more[begin:]
    one, _ = train(graph, "dp=1", work)
    compare("one native rank against the interpreter", interpret(graph, work), one, 1e-4)
    for mesh in meshes:
        saved, line = train(graph, mesh, work, flags, annotate)
        compare(f"{mesh} against one rank", one, saved, 1e-5)
        sent = {axis for key in line["sent_bytes"] for axis in key.split(":")[1].split("+")}
        wanted = {entry.split("=")[0].split(".")[0] for entry in mesh.split(",") if not entry.endswith("=1")}
        if not wanted <= sent:
            sys.exit(f"{mesh}: traffic over {sorted(sent)}, expected over {sorted(wanted)}")
        print(f"{mesh} agrees")


if __name__ == "__main__":
    main()
