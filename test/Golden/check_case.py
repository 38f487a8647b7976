#!/usr/bin/env python3
"""Compares par-interpret with a golden case, on one rank and on the ranks of plans; standard library only.

check_case.py CASE [--plan "--mesh tp=2 --micro-batches 2"]...

On one rank: the logits and every gradient of the first step, and losses, gradient norms and every parameter after three steps of SGD
and of AdamW, against what PyTorch and Transformers computed. On the ranks of each plan: losses, norms and parameters after three steps
of AdamW against those of one rank, to 1e-10. Cases whose documents are apart are evaluated so.
"""
import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


class Case:
    def __init__(self, folder, work):
        self.folder, self.work = folder, work
        with open(os.path.join(folder, "golden.json")) as file:
            self.golden = json.load(file)
        self.flags = ["--weights", folder, "--data", os.path.join(folder, "tokens.bin"), "--seq", str(self.golden["seq"]),
                      "--batch", str(self.golden["batch"])]
        if "document_end" in self.golden:
            self.flags += ["--documents", "isolate", "--document-end", str(self.golden["document_end"])]

    def path(self, name):
        return os.path.join(self.work, name)

    def interpret(self, name, *flags):
        """Writes NAME.safetensors and NAME.jsonl."""
        with open(self.path(name + ".jsonl"), "w") as out:
            subprocess.run(["par-interpret", self.folder, *self.flags, *flags, "-o", self.path(name + ".safetensors")], check=True, stdout=out)

    def settings(self, kind):
        pairs = self.golden[kind]["settings"].items()
        flags = [text for key, value in pairs for text in (f"--{key.replace('_', '-')}", str(value))]
        return ["--optimizer", kind, *flags]


def compare(kind, ours, expected, *more):
    subprocess.run([sys.executable, os.path.join(HERE, "compare.py"), kind, ours, expected, *map(str, more)], check=True)


def check_one_rank(case):
    case.interpret("logits", "--function", "logits")
    compare("tensors", case.path("logits.safetensors"), os.path.join(case.folder, "logits.safetensors"), 3e-6)
    case.interpret("gradients", *case.settings("sgd"), "--save", "grads")
    compare("tensors", case.path("gradients.safetensors"), os.path.join(case.folder, "gradients.safetensors"), 3e-6)
    for kind, tolerance in (("sgd", 2e-6), ("adamw", 5e-5)):
        case.interpret(kind, *case.settings(kind), "--steps", str(case.golden["steps"]))
        expected = os.path.join(case.folder, kind + ".safetensors")
        if os.path.exists(expected):  # cases of odd sizes leave them out
            compare("tensors", case.path(kind + ".safetensors"), expected, tolerance)
        compare("steps", case.path(kind + ".jsonl"), os.path.join(case.folder, "golden.json"), kind, 6e-6)


def check_plan(case, number, plan):
    name = f"plan{number}"
    case.interpret(name, *case.settings("adamw"), "--steps", str(case.golden["steps"]), *shlex.split(plan))
    compare("tensors", case.path(name + ".safetensors"), case.path("adamw.safetensors"), 1e-6) # stored in f32
    compare("lines", case.path(name + ".jsonl"), case.path("adamw.jsonl"), 1e-10)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("case")
    parser.add_argument("--plan", action="append", default=[], help="flags of par-interpret")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        case = Case(args.case, work)
        try:
            check_one_rank(case)
            for number, plan in enumerate(args.plan):
                check_plan(case, number, plan)
        except subprocess.CalledProcessError as error:
            sys.exit(f"error: {shlex.join(error.cmd)}: exit {error.returncode}")


if __name__ == "__main__":
    main()
