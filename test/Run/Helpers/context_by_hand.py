#!/usr/bin/env python3
"""Sequences split over cp by hand, behind annotate, which no flag does yet: equal to one rank.

    context_by_hand.py MODEL WORK_DIR "MESH [FLAGS]" ["MESH [FLAGS]" ...]      context_by_hand.py gpt2.json /tmp/work "cp=2,tp=2 --zero 3"

The model is annotated as MESH and FLAGS (of par-compile) say, the dimension "seq" of its inputs is split over cp, and par-compile goes on from there.
f64 on all ranks agrees to 1e-11 over three steps, also as a rank program; gradients after one native step to 1e-5 of their largest element.
With --target cuda, the package's kernels run on the CPU.
"""
import json
import os
import re
import shlex
import shutil
import sys

from compare_plans import read_safetensors
from running import run

SIZES = ["--seq", "16", "--batch", "4"]
#: flags that the annotate phase reads, as options of its pipeline
ANNOTATED = {"--zero": "zero", "--sequence-parallel": "sequence-parallel"}


def annotate(model, mesh, words, path):
    """The graph on the mesh, with sequences over cp, and what par-compile is still to be told."""
    options, fields, rest = [f"mesh={mesh}"], [], []
    while words:
        word = words.pop(0)
        if word not in ANNOTATED:
            rest.append(word)
            continue
        value = words.pop(0) if word == "--zero" else "true"
        options.append(f"{ANNOTATED[word]}={value}")
        fields.append(f"{ANNOTATED[word].replace('-', '_')} = {value}")
    axes = ", ".join(f'"{name}" = {size}' for name, size in (entry.split("=") for entry in mesh.split(",")))
    run("par-import", model, *SIZES, "-o", path + ".import.mlir")
    run("par-opt", path + ".import.mlir", f"--par-annotate-pipeline={' '.join(options)}", "-o", path + ".annotate.mlir")
    with open(path + ".annotate.mlir", encoding="utf-8") as file:
        text = file.read()
    text, count = re.subn(r'(par\.dims = \["batch", "seq"\], par\.place = #par\.place<input \w+>, par\.sharding = #par\.sharding<@mesh, \[\{[^}]*\}, )\{\}', r'\1{"cp"}', text)
    assert count, "no input has a sequence"
    plan = ", ".join(['after = "annotate"', "seq = 16, batch = 4", *fields, f"mesh = [{axes}]"])
    text = re.sub(r"^module attributes {", f"module attributes {{par.plan = #par.plan<{plan}>, ", text, flags=re.M)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return rest


def interpret(graph, *flags):
    return [json.loads(line) for line in run("par-interpret", graph, *flags, "--steps", "3").splitlines()]


def check_lines(title, lines, expected):
    worst = max(abs(a[key] / b[key] - 1) for a, b in zip(lines, expected) for key in ("loss", "grad_norm"))
    if len(lines) != len(expected) or worst > 1e-11:
        sys.exit(f"{title}: {worst:.3g} from one rank")


def gradients(package, path, environment=None):
    run("par-run", package, "--steps", "1", "--data", "random", "--seed", "3", "--save-grads", path, environment=environment)
    return read_safetensors(path)


def check_gradients(title, actual, expected):
    for name, (_, values) in expected.items():
        scale = max(max(map(abs, values)), 1e-4)
        worst = max(abs(a - b) if a == a else float("inf") for a, b in zip(actual[name][1], values)) / scale
        if worst > 1e-5:
            sys.exit(f"{title}: the gradient of {name} differs by {worst:.3g} of its largest element")


def main():
    model, work, *plans = sys.argv[1:]
    expected = interpret(model, *SIZES)
    run("par-compile", model, *SIZES, "-o", f"{work}/one.par")
    whole = gradients(f"{work}/one.par", f"{work}/one.safetensors")
    for plan in plans:
        mesh, *words = shlex.split(plan)
        graph, package = f"{work}/graph.mlir", f"{work}/plan.par"
        shutil.rmtree(package, ignore_errors=True)
        rest = annotate(model, mesh, words, graph)
        if "cuda" not in rest:
            for phase in ("partition", "lower"):
                with open(f"{work}/{phase}.mlir", "w", encoding="utf-8") as file:
                    file.write(run("par-compile", graph, "--from", "propagate", "--to", phase, *rest))
                check_lines(f"{plan}, {phase}", interpret(f"{work}/{phase}.mlir"), expected)
        run("par-compile", graph, "--from", "propagate", "-o", package, *rest)
        environment = None
        if "cuda" in rest:
            run("par-emulate", package)
            environment = {"LD_LIBRARY_PATH": os.environ["PAR_STANDIN"]}
        check_gradients(plan, gradients(package, f"{work}/plan.safetensors", environment), whole)
        print(f"{plan} agrees")


if __name__ == "__main__":
    main()
