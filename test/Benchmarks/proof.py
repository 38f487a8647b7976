#!/usr/bin/env python3
"""What judging a compilation costs: proof.py

CPU time and memory of par-compile to a plan, and without its proof, in turns: medians, and the share of the proof.
"""
import os
import pathlib
import statistics
import subprocess

CONFIGS = pathlib.Path(__file__).resolve().parent.parent.parent / "examples/configs"
ROUNDS = 9
PLANS = {"gpt2-xl": "--seq 1024 --batch 8", "llama-3.1-8b": "--seq 4096 --batch 64 --dtype bf16 --mesh dp=2,tp=4 --zero 1 --sequence-parallel --overlap on",
         "gemma-2-27b": "--seq 4096 --batch 64 --dtype bf16 --mesh dp=8,tp=4 --zero 3 --sequence-parallel",
         "llama-3.1-70b": "--seq 1024 --batch 512 --dtype bf16 --mesh dp=64 --zero 3 --recompute full",
         "qwen2.5-72b": "--seq 4096 --batch 256 --dtype bf16 --mesh pp=8,dp=4,tp=4 --micro-batches 16 --zero 1 --schedule zb-h1",
         "llama-3.1-405b": "--seq 8192 --batch 2048 --dtype bf16 --mesh pp=16,dp=128,tp=8 --micro-batches 16 --zero 2 --sequence-parallel --recompute full --schedule gpipe"}


def measure(*command):
    """CPU seconds, and the most memory in MiB."""
    child = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{command} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    for name, plan in PLANS.items():
        command = ["par-compile", CONFIGS / f"{name}.json", *plan.split(), "--dry-run"]
        rounds = [(measure(*command), measure(*command, "--proof", "off")) for _ in range(ROUNDS)]
        seconds, memory = (([statistics.median(kind[number] for kind in kinds) for kinds in zip(*rounds)]) for number in (0, 1))
        print(f"{name:16} {1e3 * seconds[1]:6.0f} ms  {memory[1]:5.0f} MiB   proof {1e3 * (seconds[0] - seconds[1]):4.0f} ms, "
              f"{100 * (seconds[0] / seconds[1] - 1):3.0f} %, {memory[0] - memory[1]:4.1f} MiB", flush=True)


main()
