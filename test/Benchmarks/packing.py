#!/usr/bin/env python3
"""Planned peaks beside the most bytes that are live at one kernel, which no packing can go below: packing.py [BIN]

A table over models and plans; exits 1 if a peak is more than 3 % above its bound.
"""
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Run/Helpers"))
from summary import read_memory

CONFIGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/configs")
CASES = [
    ("gpt2-xl", "--mesh dp=1"),
    ("gpt2-xl", "--mesh dp=8 --zero 3 --micro-batches 4 --recompute full"),
    ("llama-3.1-8b", "--mesh tp=4"),
    ("llama-3.1-8b", "--mesh dp=8 --zero 3 --dtype bf16 --offload optimizer"),
    ("llama-3.1-8b", "--mesh dp=2,tp=4 --zero 1 --sequence-parallel --dtype bf16 --recompute selective"),
    ("llama-3.1-70b", "--mesh dp=8,tp=8 --zero 1 --sequence-parallel --dtype bf16"),
    ("llama-3.1-70b", "--mesh dp=64 --zero 3 --dtype bf16 --recompute full"),
]


def main():
    compiler = os.path.join(sys.argv[1], "par-compile") if len(sys.argv) > 1 else "par-compile"
    worst = 0.0
    for model, flags in CASES:
        command = [compiler, os.path.join(CONFIGS, model + ".json"), "--dry-run", "--explain", *flags.split()]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        peak = read_memory(text)[0]["peak"]
        bound = int(re.search(r"memory: (\d+) bytes (?:\(.*?\) )?live", text).group(1))
        above = peak / bound - 1
        worst = max(worst, above)
        print(f"{model:14} {flags:84} peak {peak:>14} live {bound:>14}  {above:+.3%}", flush=True)
    print(f"at most {worst:.3%} above the bound")
    return 1 if worst > 0.03 else 0


if __name__ == "__main__":
    sys.exit(main())
