#!/usr/bin/env python3
"""Plans evaluated in f64 on all ranks equal one rank: compare_interpreted.py MODEL "PLAN" ["PLAN" ...]

Loss and gradient norm of three steps agree to 1e-9, so that nothing hides in rounding; the tool itself checks that replicas are equal and padding is zero.
"""
import json
import shlex
import subprocess
import sys

SIZES = "--seq 15 --batch 8 --micro-batches 2 --steps 3"


def evaluate(model, plan):
    done = subprocess.run(shlex.split(f"par-interpret {model} {SIZES} {plan}"), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{plan}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def main():
    model, *plans = sys.argv[1:]
    expected, failed = evaluate(model, ""), False
    assert len(expected) == 3
    for plan in plans:
        actual = evaluate(model, plan)
        worst = max(abs(a[key] - b[key]) / abs(b[key]) for a, b in zip(actual, expected) for key in ("loss", "grad_norm"))
        good = len(actual) == 3 and worst <= 1e-9
        failed |= not good
        print("ok  " if good else "FAIL", plan, worst)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
