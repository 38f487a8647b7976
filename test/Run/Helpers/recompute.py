#!/usr/bin/env python3
"""What backward passes run again changes memory, not numbers.

    recompute.py --bin build/bin --config C [--compile-flags F] "--mesh tp=2" ...

Per plan: full needs less memory for activations than selective, selective less than none; auto at the limit that selective needs holds no more than
that; planned peaks are measured peaks; losses and every parameter after three steps agree with none to 1e-6.
"""
import json
import os
import re
import shlex
import sys
import tempfile

from compare_plans import read_safetensors
from running import run
from traffic import main

TOLERANCE = 1e-6


def train(args, flags, folder):
    """(manifest, losses and norms, parameters) of three steps; planned and measured peaks must agree"""
    package, metrics, parameters = (os.path.join(folder, name) for name in ("m.par", "m.jsonl", "m.safetensors"))
    run(os.path.join(args.bin, "par-compile"), args.config, "-o", package, "--seq", "32", "--batch", "4", "--micro-batches", "2",
        *shlex.split(args.compile_flags), *shlex.split(flags))
    run(os.path.join(args.bin, "par-run"), package, "--steps", "3", "--seed", "3", "--metrics", metrics, "--save-params", parameters)
    with open(os.path.join(package, "manifest.json")) as file:
        manifest = json.load(file)
    with open(metrics) as file:
        lines = [json.loads(line) for line in file]
    planned = manifest["memory"][0]["peak_bytes"]
    if any(line["peak_bytes"] != planned for line in lines):
        sys.exit(f"{flags}: planned {planned} bytes, measured {[line['peak_bytes'] for line in lines]}")
    policy = re.search(r"--recompute (\w+)", flags).group(1)
    if manifest["plan"]["recompute"] != policy:
        sys.exit(f"{flags}: the manifest says {manifest['plan']}")
    tensors = {name: list(values) for name, (_, values) in read_safetensors(parameters).items()}
    tensors["metrics"] = [line[key] for line in lines for key in ("loss", "grad_norm")]
    return manifest, tensors


def find_difference(expected, actual):
    """The largest difference relative to a tensor's largest element, and its name."""
    return max((max(abs(a - b) for a, b in zip(values, actual[name])) / max(1e-30, max(map(abs, values))), name)
               for name, values in expected.items())


def check(args, plan):
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for policy in ("none", "selective", "full"):
            results[policy] = train(args, f"{plan} --recompute {policy}", folder)
        limit = results["selective"][0]["memory"][0]["arena_bytes"]["activations"]
        results["auto"] = train(args, f"{plan} --recompute auto --recompute-limit {limit}", folder)
    bytes_ = {policy: manifest["memory"][0]["arena_bytes"]["activations"] for policy, (manifest, _) in results.items()}
    good = bytes_["full"] < bytes_["selective"] < bytes_["none"] and bytes_["auto"] <= limit
    worst = max(find_difference(results["none"][1], results[policy][1]) for policy in ("selective", "full", "auto"))
    good &= worst[0] <= TOLERANCE
    print("ok  " if good else "FAIL", plan, f"activations {bytes_}; largest difference {worst[0]:.1e} of {worst[1]}")
    return good


if __name__ == "__main__":
    sys.exit(main(__doc__, check))
