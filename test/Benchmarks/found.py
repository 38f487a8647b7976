#!/usr/bin/env python3
"""Whether the plan that is found is the quickest on this machine: it, the next ones and pure strategies, run in turns.

    found.py [CONFIG] [--ranks 4] [--next 15] [--plan FLAGS] [--rounds 5] [--steps 5]

Without a cluster file, so this machine is measured where it was not yet. Prints each plan's predicted and measured step, and the found plan's time over that
of the quickest; beside it the spread of the found plan, run twice in each turn.
"""
import argparse
import json
import os
import shlex
import statistics
import subprocess
import tempfile


def find_plans(config, args):
    """{flags: predicted seconds}: the plan that is found, those that come next, and pure strategies that fit."""
    command = ["par-plan", config, "--ranks", str(args.ranks), "--top", str(args.next + 1), "--compare", "--json", *shlex.split(args.plan)]
    answer = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    plans = answer["plans"][: args.next + 1] + [row for row in answer["strategies"] if "flags" in row]
    return {plan["flags"]: plan["step_seconds"] for plan in plans}


def run(package, steps):
    metrics = package + ".jsonl"
    subprocess.run(["par-run", package, "--steps", str(steps), "--data", "random", "--metrics", metrics], check=True, capture_output=True)
    with open(metrics, encoding="utf-8") as file:
        seconds = [json.loads(line)["step_seconds"] for line in file][1:]
    os.remove(metrics)
    return statistics.median(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", nargs="?", default=os.path.join(os.path.dirname(__file__), "../../examples/quickstart/llama.json"))
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--next", type=int, default=15)
    parser.add_argument("--plan", default="", help="more flags of par-plan")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=5)
    args = parser.parse_args()
    plans = find_plans(args.config, args)
    with tempfile.TemporaryDirectory() as folder:
        packages = {}
        for number, flags in enumerate(plans):
            packages[flags] = os.path.join(folder, f"{number}.par")
            subprocess.run(["par-compile", args.config, *shlex.split(flags), "-o", packages[flags]], check=True, capture_output=True)
        found = next(iter(plans))
        times, again = {flags: [] for flags in plans}, []
        for _ in range(args.rounds):
            for flags, package in packages.items():
                times[flags].append(run(package, args.steps))
            again.append(run(packages[found], args.steps))
    measured = {flags: statistics.median(seconds) for flags, seconds in times.items()}
    print("predicted ms | measured ms | plan")
    for flags, seconds in plans.items():
        print(f"{1e3 * seconds:.1f} | {1e3 * measured[flags]:.1f} | {flags}")
    quickest = min(measured.values())
    print(f"the found plan takes {measured[found] / quickest:.3f} times the quickest; run once more {statistics.median(again) / quickest:.3f}")


if __name__ == "__main__":
    main()
