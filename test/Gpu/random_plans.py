"""Random plans of random models, drawn as test/Stress/native.py draws them: compiled for a GPU here, executed there."""
import argparse
import os
import pickle
import random
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Stress"))
import native  # pylint: disable=wrong-import-position

PACKAGE, EXPECTED = "gpu.par", "expected"
POISON = {"PAR_POISON": "1"}


def case_of(binaries, folder, number):
    """The case, and its plan. Each has a model of its own."""
    model = native.Model(f"gpu/{number}")
    plan = native.draw_plan(random.Random(f"plan gpu/{number}"), model)
    return native.Case(argparse.Namespace(bin=binaries), model, folder), plan


def prepare(binaries, folder, number, flags):
    """Compiles the package, and keeps what one rank on a CPU computes; false, and nothing is left, where the plan is refused."""
    if os.path.exists(os.path.join(folder, EXPECTED)):
        return False
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    case, plan = case_of(binaries, folder, number)
    case.model.write(folder)
    try:
        case.compile(plan, os.path.join(folder, PACKAGE), ["--target", "cuda", *flags])
    except native.Refused as refusal:
        print(f"random {number} is refused: {refusal}")
        shutil.rmtree(folder)
        return False
    expected = case.run([], POISON)
    shutil.rmtree(os.path.join(folder, "p.par"))
    with open(os.path.join(folder, EXPECTED), "wb") as file:
        pickle.dump(expected, file)
    return True


def check(binaries, folder, number):
    """What is wrong, with the commands; nothing where all is equal."""
    case, _ = case_of(binaries, folder, number)
    case.model.write(folder)
    with open(os.path.join(folder, EXPECTED), "rb") as file:
        expected = pickle.load(file)
    try:
        native.compare(case.execute(os.path.join(folder, PACKAGE), POISON), expected, native.tolerance_of(case.model))
    except (native.Wrong, native.compare_plans.Failure, OSError, KeyError, ValueError) as wrong:
        return f"{wrong}\n" + "\n".join(case.commands)
    return None
