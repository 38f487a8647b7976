#!/usr/bin/env python3
"""A run that is interrupted and goes on under other plans is the run that was not interrupted.

    compare_checkpoints.py --bin build/bin --config C --plan A --plan B ...

Plan A trains STEPS steps in one go. Then every plan in turn trains PART of them and saves a checkpoint, which the next one resumes. Losses
and parameters agree; what par-export makes of the last checkpoint, loaded by `--weights`, is what the last run saved; and the last plan, interrupted
and resumed by itself, ends with the same bytes as when it runs through.
"""
import argparse
import os
import shlex
import sys
import tempfile

from compare_plans import read_safetensors, worst_tensor
from running import lines, run

PART = 2
FLAGS = ["--data", "/usr/share/common-licenses/GPL-3", "--data-dtype", "uint8", "--seed", "1", "--lr", "1e-3"]


def content(path):
    with open(path, "rb") as file:
        return file.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--config", required=True)
    parser.add_argument("--plan", action="append", required=True)
    args = parser.parse_args()

    def tool(name, *rest):
        run(os.path.join(args.bin, name), *rest)

    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        packages = []
        for number, plan in enumerate(args.plan):
            packages.append(path(f"{number}.par"))
            tool("par-compile", args.config, "-o", packages[-1], "--seq", "32", "--batch", "8", *shlex.split(plan))
        steps = PART * len(packages)
        tool("par-run", packages[0], "--steps", str(steps), *FLAGS, "--metrics", path("whole.jsonl"), "--save-params", path("whole"))
        resume = []
        for number, package in enumerate(packages):
            tool("par-run", package, "--steps", str(PART * (number + 1)), *FLAGS, *resume, "--checkpoint", path("checkpoints"), "--metrics",
                 path("part.jsonl"), "--save-params", path("part"))
            resume = ["--resume", "latest"]
        losses = [float(line["loss"]) for line in lines(path("part.jsonl"))]  # kept up to the step that is resumed
        expected = [float(line["loss"]) for line in lines(path("whole.jsonl"))]
        if len(losses) != len(expected) or max(abs(a - b) / b for a, b in zip(losses, expected)) > 1e-5:
            sys.exit(f"losses {losses}, expected {expected}")
        worst, name = worst_tensor(read_safetensors(path("part")), read_safetensors(path("whole")), floor=0.0, loose=50.0)
        if worst > 1e-4:
            sys.exit(f"{name} differs by {worst}")
        print("ok   resumed by every plan")

        last = packages[-1]
        tool("par-export", last, "--checkpoint", path("checkpoints"), "-o", path("exported"))
        tool("par-run", last, "--steps", "1", *FLAGS[:6], "--lr", "0", "--weights", path("exported"), "--save-params", path("loaded"))
        if read_safetensors(path("loaded")) != read_safetensors(path("part")):
            sys.exit("exported weights are not those of the checkpoint")
        print("ok   exported and loaded")

        tool("par-run", last, "--steps", "4", *FLAGS, "--save-params", path("through"))
        for stop in ("2", "4"):
            tool("par-run", last, "--steps", stop, *FLAGS, "--checkpoint", path("own"), "--resume", "latest", "--save-params", path("resumed"))
        if content(path("through")) != content(path("resumed")):
            sys.exit("the last plan, interrupted, is not the same to the byte")
        print("ok   the same bytes under one plan")
    return 0


if __name__ == "__main__":
    sys.exit(main())
