#!/usr/bin/env python3
"""What ZeRO stages, sequence parallelism and recompute need: memory.py CONFIG [--bin DIR] [--flags FLAGS] [--mesh AXES] [--steps N]

A row per stage, with and without sequence parallelism, of three policies: peak bytes per rank and bytes sent per rank and step, planned; with --steps also the
least seconds of a step, of a run of so many after the first. Rounds are not interleaved: compare within a row and a column, on a quiet machine.
"""
import argparse
import json
import os
import re
import subprocess
import tempfile

POLICIES = ("none", "selective", "full")


def measure(args, flags):
    command = [os.path.join(args.bin, "par-compile"), args.config, "--mesh", args.mesh, *args.flags.split(), *flags]
    with tempfile.TemporaryDirectory() as folder:
        package, metrics = os.path.join(folder, "p.par"), os.path.join(folder, "m.jsonl")
        text = subprocess.run(command + (["-o", package] if args.steps else ["--dry-run"]), check=True, capture_output=True,
                              text=True).stdout
        seconds = None
        if args.steps:
            subprocess.run([os.path.join(args.bin, "par-run"), package, "--steps", str(args.steps + 1), "--data", "random", "--metrics", metrics],
                           check=True, capture_output=True)
            with open(metrics, encoding="utf-8") as file:
                seconds = min(json.loads(line)["step_seconds"] for line in list(file)[1:])
    peak = int(re.search(r"per rank (\d+) bytes", text).group(1))
    sent = sum(int(number) for number in re.findall(r"^(\d+) bytes in \d+ calls", text, re.M))
    return peak, sent, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config")
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--flags", default="")
    parser.add_argument("--mesh", default="dp=4,tp=2")
    parser.add_argument("--steps", type=int, default=0)
    args = parser.parse_args()
    print("| ZeRO | sequence parallel |" + "".join(f" {policy} |" for policy in POLICIES) + "\n|---|---|" + "---|" * len(POLICIES))
    for stage in range(4):
        for sequence in ((), ("--sequence-parallel",)):
            cells = []
            for policy in POLICIES:
                peak, sent, seconds = measure(args, ["--zero", str(stage), "--recompute", policy, *sequence])
                cells.append(f"{peak:,}; {sent / 1e6:,.1f} MB" + (f"; {seconds * 1e3:.0f} ms" if seconds else ""))
            print(f"| {stage} | {'yes' if sequence else 'no'} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
