#!/usr/bin/env python3
"""What sequence parallelism leaves of tp=2's activations, by plans: sequence_memory.py CONFIG

Layer inputs alone (--recompute full) are split whole: at most 0.6 times as many bytes, the rest being the one layer that is computed again and the head. With nothing
recomputed, tensor parallelism has halved most already: the paper counts sbh(10 + 24/2) against 34sbh/2, 0.77 (Korthikanti et al., 2205.05198, table 2, without the scores,
which blocked attention does not hold).
"""
import sys

from running import run
from summary import read_memory

MOST = {"full": 0.6, "selective": 0.85, "none": 17 / 22}


def activations(config, recompute, *more):
    text = run("par-compile", config, "--set", "num_hidden_layers=16", "--seq", "128", "--batch", "8", "--mesh", "tp=2", "--recompute", recompute, "--dry-run", "--explain", *more)
    return read_memory(text)[0]["activations"]


def main(config):
    wholes = {}
    for recompute, most in MOST.items():
        wholes[recompute] = activations(config, recompute)
        parts = activations(config, recompute, "--sequence-parallel")
        ratio = parts / wholes[recompute]
        print(f"{'ok' if ratio <= most else 'FAIL'} {recompute}: {parts} of {wholes[recompute]} bytes, {ratio:.3f}, at most {most:.3f}")
    print(f"{'ok' if wholes['full'] < wholes['selective'] < wholes['none'] else 'FAIL'} {wholes}")


main(*sys.argv[1:])
