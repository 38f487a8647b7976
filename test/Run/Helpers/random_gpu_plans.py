#!/usr/bin/env python3
"""Random plans of random models on the stand-in of NVIDIA's libraries, each compared with the same plan on a CPU: random_gpu_plans.py BIN STANDIN INPUTS FIRST COUNT

A seed draws what random_plans.py draws, how ranks meet (threads of one process, or NCCL between processes), whose attention is taken, and the order in which the
stand-in executes. emulated_gpus.py says what must be equal, and that the stand-in finds nothing.
"""
import os
import random
import subprocess
import sys

import random_plans

TOLERANCES = {"f32": "2e-5", "bf16": "1.6e-2"}


def draw_plan(draw, batch, narrow, units):
    """A plan that a GPU takes, without an update on the host."""
    while True:
        plan = random_plans.draw_plan(draw, batch, narrow, units)
        if "optimizer:host-update" not in plan:
            return plan


def check(binaries, standin, inputs, seed):
    draw = random.Random(seed)
    model, _, narrow, changes, units = random_plans.draw_model(draw)
    batch = 8  # emulation takes its time
    dtype = "bf16" if narrow else "f32"
    command = [sys.executable, os.path.join(os.path.dirname(__file__), "emulated_gpus.py"), "--bin", binaries, "--standin", standin,
               "--config", f"{inputs}/{model}.json", "--batch", str(batch), "--seq", str(draw.choice((16, 33))), "--dtype", dtype,
               "--tolerance", TOLERANCES[dtype], "--seed", str(draw.randrange(1, 1000)), "--transport", draw.choice(("local", "local", "tcp")), "--timeout", "600"]
    if narrow:
        changes += draw.choice(([], ["--grad-dtype", "bf16"], ["--moment-dtype", "bf16"]))
        changes += draw.choice(([], ["--micro-batches", "2"]))
        command += draw.choice(([], ["--attention", "generated"]))
    command += ["--plan", " ".join(changes + draw_plan(draw, batch, narrow, units))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"seed {seed}: {subprocess.list2cmdline(command)}\n{done.stdout}{done.stderr}", flush=True)
    return done.returncode == 0


def main():
    binaries, standin, inputs, first, count = *sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5])
    good = [check(binaries, standin, inputs, seed) for seed in range(first, first + count)]
    print(f"{sum(good)} of {count} plans are on GPUs what they are on a CPU")
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
