#!/usr/bin/env python3
"""What ZeRO stages, sequence parallelism and recompute need: memory.py CONFIG [--bin DIR] [--flags FLAGS] [--mesh AXES] [--rounds N] [--steps N]

A row per stage, with and without sequence parallelism, of three policies: peak bytes per rank and bytes sent per rank and step, planned; with --rounds also
the median of step times and its ratio to the first plan's, of so many rounds in which every plan runs --steps steps after the first.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Run/Helpers"))
from summary import read_memory, read_sent

POLICIES = ("none", "selective", "full")
ROWS = [(stage, sequence) for stage in range(4) for sequence in (False, True)]


class Plan:
    def __init__(self, args, folder, stage, sequence, policy):
        self.package = os.path.join(folder, f"{stage}-{sequence}-{policy}.par")
        self.times = []
        command = [os.path.join(args.bin, "par-compile"), args.config, "--mesh", args.mesh, *args.flags.split(), "--zero", str(stage), "--recompute", policy, "--explain",
                   *(["--sequence-parallel"] if sequence else []), *(["-o", self.package] if args.rounds else ["--dry-run"])]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        self.peak = read_memory(text)[0]["peak"]
        self.sent = sum(size for _, _, size, _ in read_sent(text))

    def run(self, args, metrics):
        if os.path.exists(metrics):
            os.remove(metrics)
        subprocess.run([os.path.join(args.bin, "par-run"), self.package, "--steps", str(args.steps + 1), "--data", "random", "--metrics", metrics], check=True,
                       capture_output=True)
        with open(metrics, encoding="utf-8") as file:
            self.times += [json.loads(line)["step_seconds"] for line in list(file)[1:]]

    def cell(self, first):
        text = f"{self.peak:,}; {self.sent / 1e6:,.1f} MB"
        if self.times:
            own, other = statistics.median(self.times), statistics.median(first.times)
            text += f"; {own * 1e3:.0f} ms, {own / other:.2f}"
        return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config")
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--flags", default="")
    parser.add_argument("--mesh", default="dp=4,tp=2")
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--steps", type=int, default=4)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plans = {(row, policy): Plan(args, folder, *row, policy) for row in ROWS for policy in POLICIES}
        for _ in range(args.rounds):
            for plan in plans.values():
                plan.run(args, os.path.join(folder, "m.jsonl"))
    first = plans[ROWS[0], POLICIES[0]]
    print("| ZeRO | sequence parallel |" + "".join(f" {policy} |" for policy in POLICIES) + "\n|---|---|" + "---|" * len(POLICIES))
    for row in ROWS:
        print(f"| {row[0]} | {'yes' if row[1] else 'no'} | " + " | ".join(plans[row, policy].cell(first) for policy in POLICIES) + " |")


if __name__ == "__main__":
    main()
