#!/usr/bin/env python3
"""Programs of models under plans are proved, partitioned and overlapped: plans.py INPUTS FOLDER"""
import sys

from proving import make, prove

PLANS = ["--mesh dp=2,tp=2 --zero 2 --micro-batches 2", "--mesh tp=3 --sequence-parallel --recompute full", "--mesh dp=2,tp=2 --zero 3 --sequence-parallel",
         "--mesh pp=2,tp=2 --micro-batches 2 --schedule zb-h1", "--mesh dp_replicate=2,dp_shard=2 --zero 3 --zero3-gather per-step", "--mesh tp=4"]
MODELS = ["gpt2-odd", "llama-odd", "gemma2-odd", "gemma3-odd", "olmo2-odd", "smollm3-odd"]


# So many logits that their loss is computed in the backward pass.
LONG = "--set vocab_size=32000 --seq 256 --batch 32 --overlap on"
LONG_PLANS = ["--mesh dp=8 --zero 3", "--mesh dp=4 --zero 2 --micro-batches 4", "--mesh pp=2,dp=2 --micro-batches 4 --schedule zb-h1 --zero 1"]


def main(inputs, folder):
    proved = 0
    for plan in LONG_PLANS:
        status, line = prove(*make(f"{inputs}/llama-tiny.json", f"{LONG} {plan}", folder, "overlap"))
        proved += not status
        if status:
            print(f"error: {LONG} {plan}: {line}")
    for number, plan in enumerate(PLANS):
        for model in (MODELS[number], MODELS[(number + 3) % len(MODELS)]):
            for phase, flags in [("partition", plan), ("overlap", f"{plan} --overlap on")]:
                status, line = prove(*make(f"{inputs}/{model}.json", flags, folder, phase))
                if status or line != "proved":
                    print(f"error: {model} {flags}: {line}")
                else:
                    proved += 1
    print(f"{proved} programs are proved")


main(*sys.argv[1:])
