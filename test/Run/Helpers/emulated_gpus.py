#!/usr/bin/env python3
"""Packages of --target cuda on the stand-in of NVIDIA's libraries compute what the CPU's packages of the same plan do.

    emulated_gpus.py --bin DIR --standin DIR --config FILE [--dtype bf16] [--seq N] [--batch N] [--tolerance T] --plan "FLAGS" [--plan ..] [--seed N ..] [--transport mpi|tcp] [--attention cudnn|generated]

With --transport each rank is a process with a GPU of its own, and NCCL is between them. Of every plan three AdamW steps: losses and gradient norms, the gradients of the last step, and the parameters. A finding of the stand-in fails it. Prints a
line for each plan.
"""
import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import compare_plans  # pylint: disable=wrong-import-position
import running  # pylint: disable=wrong-import-position

STEPS = "--steps 3 --data random --seed 3 --lr 1e-3"


def call(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{shlex.join(command)}: exit {done.returncode}: {done.stderr.strip()[-600:]}")


def build(args, folder, plan, flags):
    """A package, whose kernels are emulated if it is for GPUs."""
    package = os.path.join(folder, "package.par")
    size = ["--seq", args.seq, "--batch", args.batch, "--dtype", args.dtype]
    call([f"{args.bin}/par-compile", args.config, "-o", package, *size, *shlex.split(plan), *flags])
    if flags:
        call([f"{args.bin}/par-emulate", package])
    return package


def train(args, package, transport="local", attention=None, **variables):
    """Losses, norms, gradients and parameters."""
    with tempfile.TemporaryDirectory() as folder:
        files = {name: os.path.join(folder, f"{name}.safetensors") for name in ("params", "grads")}
        metrics = os.path.join(folder, "metrics.jsonl")
        with open(os.path.join(package, "manifest.json"), encoding="utf-8") as file:
            ranks = json.load(file)["world_size"]
        words = [f"{args.bin}/par-run", package, *STEPS.split(), "--metrics", metrics, "--save-params", files["params"], "--save-grads", files["grads"]]
        if attention:
            words += ["--attention", attention]
        running.run_ranks(words, ranks, transport, {**variables, "PAR_STANDIN_DEVICES": str(ranks)}, args.timeout)
        with open(metrics, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        tensors = {name: compare_plans.read_safetensors(path) for name, path in files.items()}
    return [line["loss"] for line in lines], [line["grad_norm"] for line in lines], tensors


def distance(one, other):
    """Largest difference, relative to the largest element of all tensors."""
    most = max(abs(value) for _, values in one.values() for value in values)
    return max(abs(a - b) for name in one for a, b in zip(one[name][1], other[name][1])) / most


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    for name in ("bin", "standin", "config"):
        parser.add_argument(f"--{name}", required=True)
    for name, default in ("dtype", "f32"), ("seq", "16"), ("batch", "4"):
        parser.add_argument(f"--{name}", default=default)
    parser.add_argument("--tolerance", type=float, default=2e-5)
    parser.add_argument("--plan", action="append", required=True)
    parser.add_argument("--seed", action="append", default=[])
    parser.add_argument("--transport", default="local")
    parser.add_argument("--attention")
    parser.add_argument("--chip", default="sm_90")
    parser.add_argument("--timeout", type=int, default=120, help="seconds of a run")
    args = parser.parse_args()
    for plan in args.plan:
        with tempfile.TemporaryDirectory() as folder:
            losses, norms, tensors = train(args, build(args, folder, plan, []))
        with tempfile.TemporaryDirectory() as folder:
            package = build(args, folder, plan, ["--target", "cuda", "--chip", args.chip])
            for seed in args.seed or ["1"]:
                found = train(args, package, args.transport, args.attention, LD_LIBRARY_PATH=args.standin, PAR_STANDIN_SEED=seed,
                              PAR_STANDIN_CHIP=args.chip.removeprefix("sm_"))
                pairs = [*zip(losses, found[0]), *zip(norms, found[1])]
                # Adam divides by what gradients were, so that tensors differ by more than losses.
                tensors_off = max(distance(tensors[name], found[2][name]) for name in tensors)
                worst = max([abs(a - b) / abs(a) for a, b in pairs] + [tensors_off / 10])
                if not worst <= args.tolerance:
                    raise SystemExit(f"{plan}, seed {seed}: off by {worst:.2e}, more than {args.tolerance:.0e}")
        print(f"{plan or 'one rank'}: as on the CPU")


main()
