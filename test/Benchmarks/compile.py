#!/usr/bin/env python3
"""Compile time against number of layers and of ranks: compile.py [--bin build/bin] [--rounds 3]

Prints CPU seconds (user + system, the least of the rounds: other work on the machine only adds) of
  plan      par-compile --dry-run: everything but machine code, for Llama 3.1 405B with fewer or more layers, on fewer or more ranks; for more and more
            rows on one rank; and with a limit of memory that no plan meets as it is, so that others are sought
  package   a whole compilation with machine code, for a small model with fewer or more layers
  start     par-opt on an empty module
and beside each the ratio to the first row of its table. Nothing here passes or fails: machines are too noisy for that.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LARGE = ROOT / "examples/configs/llama-3.1-405b.json"
MIDDLE = ROOT / "examples/configs/llama-3.1-8b.json"
SMALL = ROOT / "examples/quickstart/llama.json"


def seconds(command, rounds):
    best = None
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        # A limit that is not met is an answer too.
        subprocess.run(command, check="--memory-limit" not in command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = spent if best is None else min(best, spent)
    return best


def table(title, rows, rounds):
    print(f"\n{title}")
    first = None
    for name, command in rows:
        spent = seconds(command, rounds)
        first = first or spent
        print(f"  {name:<34} {spent:8.2f} s   x {spent / first:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(ROOT / "build/bin"))
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    compiler = os.path.join(args.bin, "par-compile")
    with tempfile.TemporaryDirectory() as folder:
        def plan(layers, mesh, ranks):
            command = [compiler, str(LARGE), "--dry-run", "--set", f"num_hidden_layers={layers}", "--mesh", mesh, "--batch", "2048", "--seq", "8192"]
            return (f"{layers} layers, {ranks} ranks", command)

        table("compile to plan, Llama 3.1 405B's width, by layers", [plan(n, "dp=2048,tp=8", 16384) for n in (16, 32, 64, 126)], args.rounds)
        table("compile to plan, Llama 3.1 405B, by ranks", [plan(126, f"dp={n},tp=8", 8 * n) for n in (1, 16, 256, 2048)], args.rounds)

        def rows(config, batch, seq, *flags):
            return (f"{config.stem}, batch {batch:,} x {seq:,}", [compiler, str(config), "--dry-run", "--batch", str(batch), "--seq", str(seq), *flags])

        narrow = ("--set", "hidden_size=32", "--set", "num_hidden_layers=2")
        table("compile to plan, Llama 3.1 8B on one rank, by rows", [rows(MIDDLE, n, 8192) for n in (1, 4, 16)], args.rounds)
        table("compile to plan, a tiny model, by rows", [rows(SMALL, n, 16, *narrow) for n in (1000, 1000000, 1000000000)], args.rounds)
        limited = [compiler, str(MIDDLE), "--dry-run", "--mesh", "dp=2", "--memory-limit"]
        table("Llama 3.1 8B, dp=2, and a limit", [(limit, [*limited, limit]) for limit in ("400GiB", "80GiB", "20GiB")], args.rounds)

        def package(layers):
            command = [compiler, str(SMALL), "--set", f"num_hidden_layers={layers}", "--mesh", "dp=2,tp=2", "-o", f"{folder}/{layers}.par"]
            return (f"{layers} layers", command)

        table("whole package, dp=2,tp=2, by layers", [package(n) for n in (2, 8, 32)], args.rounds)
        empty = os.path.join(folder, "empty.mlir")
        pathlib.Path(empty).write_text("module {}\n")
        table("par-opt on an empty module", [("start", [os.path.join(args.bin, "par-opt"), empty])], args.rounds)


if __name__ == "__main__":
    main()
