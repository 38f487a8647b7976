#!/usr/bin/env python3
"""Random graphs as native programs: random_graphs.py WORK_DIR FIRST COUNT [large] [bf16] [cuda=STANDIN]

Writes graph after graph (par-random-graph SEED), compiles it for the mesh that its shardings are on, with ZeRO stage SEED mod 4,
sequence parallelism for seeds divisible by 3, overlap for odd seeds and another policy of recomputing for every other graph, trains two steps on all ranks and compares loss, gradient norm and every parameter with one interpreted rank. With cuda= the ranks share a GPU, which is a stand-in.
"""
import json
import re
import sys

from compare_plans import read_safetensors
from running import run

POLICIES = (["--recompute", "none"], ["--recompute", "selective"], ["--recompute", "full"],
            ["--recompute", "auto", "--recompute-limit", "1000000000"])
STEPS = ["--steps", "2", "--lr", "0.01", "--seed", "5"]
TOLERANCE = 2e-4  # f32 against f64, relative to the largest element
# Ranks sum up in another order, so now and then a sum falls on the other side of a boundary between bf16 numbers; what
# follows magnifies that.
TOLERANCE_BF16 = 5e-3


def compare(what, expected, actual, tolerance):
    scale = max([1.0] + [abs(value) for value in expected])
    for number, (a, b) in enumerate(zip(expected, actual)):
        if not abs(a - b) <= tolerance * scale:
            sys.exit(f"{what}[{number}]: {b} on all ranks, {a} interpreted")
    if len(expected) != len(actual):
        sys.exit(f"{what}: {len(actual)} elements, expected {len(expected)}")


def emulate(work, package, seed, standin):
    """Kernels for the stand-in, and where it is."""
    run("par-emulate", package)
    return {"LD_LIBRARY_PATH": standin, "PAR_STANDIN_SEED": str(seed), "XDG_CACHE_HOME": f"{work}/cache"}


def check(work, seed, standin, *kind):
    graph, package = f"{work}/{seed}.mlir", f"{work}/{seed}.par"
    tolerance = TOLERANCE_BF16 if "bf16" in kind else TOLERANCE
    text = run("par-random-graph", str(seed), *kind)
    axes = re.search(r"par.mesh @mesh <\[(.*)\]>", text).group(1)
    plan = f"mesh = [{axes}], zero = {seed % 4}" + (", sequence_parallel = true" if seed % 3 == 0 else "")
    with open(graph, "w") as file:
        file.write(text.replace("par.model = ", f"par.plan = #par.plan<{plan}>, par.model = ", 1))
    mesh = re.sub(r'["\s]', "", axes)
    stored = f"{work}/{seed}.stored.mlir"
    sequence = ["-par-shard-sequence"] if seed % 3 == 0 else []
    run("par-opt", graph, *sequence, f"-par-shard-zero=stage={seed % 4}", "-o", stored)
    policy = POLICIES[seed // 2 % len(POLICIES)]
    # bf16 parameters have masters, which may be on the host.
    where = "device-update" if standin or seed // 2 % 2 == 0 else "host-update"
    offload = ["--offload", f"optimizer:{where}"] if "bf16" in kind and seed % 2 else []
    run("par-compile", stored, "--from", "propagate", "--mesh", mesh, "--optimizer", "sgd", "-o", package,
        "--overlap", "on" if seed % 2 else "off", *policy, *offload, *(["--target", "cuda"] if standin else []))
    environment = emulate(work, package, seed, standin) if standin else None
    run("par-run", package, *STEPS, "--metrics", f"{work}/{seed}.jsonl", "--save-params", f"{work}/{seed}.run", environment=environment)
    interpreted = run("par-interpret", graph, "--optimizer", "sgd", *STEPS, "-o", f"{work}/{seed}.ref")
    with open(f"{work}/{seed}.jsonl") as file:
        for line, reference in zip(file, interpreted.splitlines()):
            actual, expected = json.loads(line), json.loads(reference)
            for key in ("loss", "grad_norm"):
                compare(f"seed {seed}: {key}", [expected[key]], [actual[key]], tolerance)
    expected, actual = read_safetensors(f"{work}/{seed}.ref"), read_safetensors(f"{work}/{seed}.run")
    if set(expected) != set(actual):
        sys.exit(f"seed {seed}: saved {sorted(actual)}, expected {sorted(expected)}")
    for name in expected:
        compare(f"seed {seed}: {name}", expected[name][1], actual[name][1], tolerance)


if __name__ == "__main__":
    work, first, count, *kind = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:]
    standin = next((word.removeprefix("cuda=") for word in kind if word.startswith("cuda=")), "")
    kind = [word for word in kind if not word.startswith("cuda=")]
    for seed in range(first, first + count):
        check(work, seed, standin, *kind)
    print(f"{count} graphs agree")
