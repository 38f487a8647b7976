#!/usr/bin/env python3
"""Trained weights in Transformers: check_export.py [CASE ...]   (default: a case of every family)

Trains each golden model three steps on dp=2,tp=2, exports the checkpoint, loads the folder with from_pretrained and compares its
logits with those of par-interpret on the same tokens. Needs torch and transformers, so no test runs it; par's tools on PATH.
"""
import os
import subprocess
import sys
import tempfile

import numpy
import torch
import transformers
from safetensors.torch import load_file

FAMILIES = ["gpt2", "llama", "mistral", "olmo", "qwen2", "qwen3", "gemma2", "gemma3", "olmo2", "olmo3", "smollm3", "phi3"]
SEQ, BATCH, TOLERANCE = 16, 4, 1e-6


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def check(case, folder):
    package, checkpoints, exported = (os.path.join(folder, name) for name in ("m.par", "checkpoints", "exported"))
    tokens, logits = os.path.join(folder, "t.bin"), os.path.join(folder, "logits.safetensors")
    sizes = ["--seq", str(SEQ), "--batch", str(BATCH)]
    run("par-compile", os.path.join(os.path.dirname(os.path.abspath(__file__)), case), *sizes, "--mesh", "dp=2,tp=2", "-o", package)
    run("par-run", package, "--steps", "3", "--data", "random", "--checkpoint", checkpoints)
    run("par-export", package, "--checkpoint", checkpoints, "-o", exported)
    model = transformers.AutoModelForCausalLM.from_pretrained(exported).eval()
    windows = numpy.random.default_rng(1).integers(0, model.config.vocab_size, (BATCH, SEQ + 1))
    windows.astype(numpy.uint16).tofile(tokens)
    run("par-interpret", exported, "--function", "logits", *sizes, "--weights", exported, "--data", tokens, "-o", logits)
    with torch.no_grad():
        theirs = model(torch.from_numpy(windows[:, :SEQ])).logits.double()
    difference = (load_file(logits)["logits"].double() - theirs).abs().max().item()
    print(f"{case}: logits differ by {difference:.1e}, the largest is {theirs.abs().max():.2f}")
    return difference <= TOLERANCE * theirs.abs().max().item()


def main():
    for case in sys.argv[1:] or FAMILIES:
        with tempfile.TemporaryDirectory() as folder:
            if not check(case, folder):
                sys.exit(f"{case}: Transformers computes something else with the exported weights")


main()
