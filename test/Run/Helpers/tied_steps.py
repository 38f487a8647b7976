#!/usr/bin/env python3
"""A tied table on several stages, over 100 steps: copies stay equal to the bit, and the run is one rank's.

    tied_steps.py --bin build/bin --config C [--full] [--steps N]

Every checkpoint compares the copies on all ranks and ends a run in which they differ; there are four. Losses of all steps, and parameters behind the last
one, agree with one rank's. Without --full a few meshes and stages of ZeRO; with it pp = 2, 3 and 4 with ZeRO 0 to 3.
"""
import argparse
import os
import shlex
import sys
import tempfile

from compare_plans import read_safetensors, worst_tensor
from running import lines, run

FEW = ["--mesh pp=2 --micro-batches 4", "--mesh pp=3,dp=2 --zero 3 --micro-batches 2", "--mesh pp=4,dp=2 --zero 1 --micro-batches 2 --schedule zb-h1"]
FLAGS = ["--data", "/usr/share/common-licenses/GPL-3", "--data-dtype", "uint8", "--seed", "1", "--lr", "0.05"]


def require(good, text):
    if not good:
        sys.exit(text)


def list_all():
    plans = [f"--mesh pp={stages} --micro-batches 4" for stages in (2, 3, 4)]
    return plans + [f"--mesh pp={stages},dp=2 --zero {zero} --micro-batches 2" for stages in (2, 3, 4) for zero in range(4)]


def train(args, folder, number, plan):
    path = lambda name: os.path.join(folder, f"{number}.{name}")
    run(os.path.join(args.bin, "par-compile"), args.config, "-o", path("par"), "--seq", "16", "--batch", "8", "--set", "n_layer=4", "--optimizer", "sgd",
        *shlex.split(plan))
    run(os.path.join(args.bin, "par-run"), path("par"), "--steps", str(args.steps), *FLAGS, "--checkpoint", path("checkpoints"), "--checkpoint-every",
        str(args.steps // 4), "--metrics", path("jsonl"), "--save-params", path("parameters"))
    saved = [name for name in os.listdir(path("checkpoints")) if name.startswith("step-")]
    require(saved, f"{plan}: no checkpoint was saved")
    return [float(line["loss"]) for line in lines(path("jsonl")) if "loss" in line], read_safetensors(path("parameters"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--config", required=True)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--steps", type=int, default=100)
    args = parser.parse_args()
    plans = list_all() if args.full else FEW
    with tempfile.TemporaryDirectory() as folder:
        losses, parameters = train(args, folder, "one", "--micro-batches 2")
        require(len(losses) == args.steps and losses[-1] < losses[0], f"one rank: losses {losses[:2]} … {losses[-2:]}")
        for number, plan in enumerate(plans):
            own, tensors = train(args, folder, number, plan)
            require(len(own) == len(losses), f"{plan}: {len(own)} losses, expected {len(losses)}")
            step = max(range(len(losses)), key=lambda i: abs(own[i] - losses[i]) / losses[i])
            require(abs(own[step] - losses[step]) / losses[step] < 1e-4, f"{plan}: step {step + 1} has loss {own[step]}, expected {losses[step]}")
            worst, name = worst_tensor(tensors, parameters, floor=0.0, loose=50.0)
            require(worst < 1e-3, f"{plan}: {name} differs by {worst}")
    print(f"{len(plans)} plans train a tied table as one rank does")


main()
