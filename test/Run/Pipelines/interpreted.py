#!/usr/bin/env python3
"""Compares loss and norm of three interpreted steps of rank programs with those of the whole model: to 1e-12.

    interpreted.py FOLDER --micro-batches M "--mesh pp=2 …" …

FOLDER has model.json.
"""
import argparse
import json
import subprocess
import sys


def interpret(flags, micro_batches, folder, phase):
    module = f"{folder}/module.mlir"
    with open(module, "w", encoding="utf-8") as output:
        subprocess.run(["par-compile", f"{folder}/model.json", "--batch", "12", "--seq", "4", "--micro-batches",
                        str(micro_batches), *flags, "--to", phase], check=True, stdout=output)
    lines = subprocess.run(["par-interpret", module, "--micro-batches", str(micro_batches), "--steps", "3"],
                           check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return [json.loads(line) for line in lines]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--micro-batches", type=int)
    parser.add_argument("plans", nargs="+")
    arguments = parser.parse_args()
    expected = interpret([], arguments.micro_batches, arguments.folder, "differentiate")
    assert len(expected) == 3 and len({step["loss"] for step in expected}) == 3, expected
    for plan in arguments.plans:
        actual = interpret(plan.split(), arguments.micro_batches, arguments.folder, "lower")
        for one, other in zip(expected, actual):
            for key in ("loss", "grad_norm"):
                difference = abs(one[key] - other[key]) / abs(one[key])
                if not difference < 1e-12:
                    sys.exit(f"{plan}: step {one['step']}: {key} is {other[key]}, expected {one[key]}")


main()
