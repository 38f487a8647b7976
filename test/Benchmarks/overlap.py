#!/usr/bin/env python3
"""Step times with and without overlap, under an emulated link.

    overlap.py MODEL --compile "--mesh dp=2 --zero 3" [--compile ...] [--link 0.5,20] [--launch "mpirun -n 2"] [--rounds 5] [--steps 6]

Every plan is compiled twice and run in turns, a round of each; of every run the first step is left out. Prints the median step of all rounds, and the
peak memory per rank. Without --link messages move as fast as memory does. With
--launch the ranks are processes.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile


def call(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")


def step_times(package, args, folder):
    metrics = os.path.join(folder, "m.jsonl")
    if os.path.exists(metrics):
        os.remove(metrics)
    link = ["--emulate-link", args.link] if args.link else []
    call(*args.launch.split(), "par-run", package, "--steps", str(args.steps), "--data", "random", "--metrics", metrics, *link)
    with open(metrics, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return [line["step_seconds"] for line in lines[1:]], lines[-1]["peak_bytes"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--compile", action="append", required=True)
    parser.add_argument("--link", default="")
    parser.add_argument("--launch", default="")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=6)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for number, flags in enumerate(args.compile):
            packages = {}
            for overlap in ("off", "on"):
                packages[overlap] = os.path.join(folder, f"{number}-{overlap}.par")
                call("par-compile", args.model, *flags.split(), "--overlap", overlap, "-o", packages[overlap])
            times, peaks = {"off": [], "on": []}, {}
            for _ in range(args.rounds):
                for overlap, package in packages.items():
                    more, peaks[overlap] = step_times(package, args, folder)
                    times[overlap] += more
            off, on = (statistics.median(times[overlap]) for overlap in ("off", "on"))
            print(f"{flags}, link {args.link or 'none'}{args.launch and ', ' + args.launch}: off {off * 1e3:.0f} ms, on {on * 1e3:.0f} ms, ratio {on / off:.3f}; "
                  f"peak {peaks['off'] / 1e6:.1f} MB, {peaks['on'] / 1e6:.1f} MB", flush=True)


main()
