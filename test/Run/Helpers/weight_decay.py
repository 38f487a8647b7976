"""Which parameters decay: weight_decay.py CONFIG FOLDER PATTERN

A step of AdamW with decay differs from one without by -lr * decay * parameter where there is decay, and nowhere else.
"""
import fnmatch
import os
import sys

from running import run

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../Golden"))
from compare import load

LR, DECAY = 0.125, 0.25


def compare(package, folder, decays):
    values = {}
    step = ["--steps", "1", "--lr", str(LR), "--data", "random", "--weight-decay"]
    for name, flags in [("before", ["--steps", "0"]), ("without", [*step, "0"]), ("with", [*step, str(DECAY)])]:
        path = f"{folder}/{name}"
        run("par-run", package, "--seed", "3", *flags, "--save-params", path)
        values[name] = load(path)
    for name, (_, before) in values["before"].items():
        rate = LR * DECAY if decays(name, values["before"][name][0]) else 0
        for old, without, with_decay in zip(before, values["without"][name][1], values["with"][name][1]):
            if not abs(with_decay - (without - rate * old)) <= 1e-6 * max(1, abs(old)):
                sys.exit(f"{name}: {old} became {with_decay}, without decay {without}, expected a rate of {rate}")


def main():
    config, folder, pattern = sys.argv[1:]
    compile_ = ["par-compile", config, "--seq", "16", "--batch", "4", "--mesh", "dp=2,tp=2"]
    run(*compile_, "-o", f"{folder}/usual.par")
    compare(f"{folder}/usual.par", folder, lambda name, shape: len(shape) >= 2)
    run(*compile_, "--weight-decay-on", pattern, "-o", f"{folder}/some.par")
    compare(f"{folder}/some.par", folder, lambda name, shape: any(fnmatch.fnmatchcase(name, one) for one in pattern.split(",")))
    # Through a checkpoint.
    train = ["par-run", f"{folder}/some.par", "--seed", "3", "--lr", str(LR), "--weight-decay", str(DECAY), "--data", "random"]
    run(*train, "--steps", "4", "--save-params", f"{folder}/whole")
    for steps in ("2", "4"):
        run(*train, "--steps", steps, "--checkpoint", f"{folder}/ck", "--resume", "latest", "--save-params", f"{folder}/parts")
    if load(f"{folder}/whole") != load(f"{folder}/parts"):
        sys.exit("resumed, it gives something else")
    print("decays as it should")


main()
