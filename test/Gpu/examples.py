"""The example models and four plans, for checks of every kernel that par generates."""
import glob
import json
import os
import shlex
import subprocess

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
CONFIGS = sorted(glob.glob(f"{ROOT}/examples/configs/*.json")) + sorted(glob.glob(f"{ROOT}/examples/recipes/*/config.json"))

#: Name -> (options of par-compile, data-parallel ranks times micro-batches).
PLANS = {
    "bf16": ("--dtype bf16", 1),
    "f32": ("--dtype f32 --recompute full", 1),
    "zero3": ("--dtype bf16 --mesh dp=2,tp=2 --zero 3 --sequence-parallel --recompute selective", 2),
    "pipeline": ("--dtype bf16 --mesh pp=2,tp=2 --micro-batches 2", 2),
}


def get_name(config):
    """llama-3.1-8b of examples/configs/llama-3.1-8b.json, yi-34b of examples/recipes/yi-34b/config.json."""
    name = os.path.splitext(os.path.basename(config))[0]
    return os.path.basename(os.path.dirname(config)) if name == "config" else name


def call(words):
    """What the command prints, on either stream."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{shlex.join(words)}: exit {done.returncode}: {done.stderr.strip()[-600:]}")
    return done.stdout + done.stderr


def print_programs(build, folder, configs, plans, sequences, tokens, layers, chip="sm_90"):
    """Files with the programs of models under plans as text. A rank has `sequences` of `tokens` at a time."""
    files = []
    for config in configs or CONFIGS:
        with open(config, encoding="utf-8") as file:
            key = "n_layer" if "n_layer" in json.load(file) else "num_hidden_layers"
        for plan in plans or PLANS:
            options, times = PLANS[plan]
            words = [f"{build}/bin/par-compile", config, "-o", f"{folder}/none.par", "--target", "cuda", "--chip", chip, "--set", f"{key}={layers}"]
            words += ["--seq", str(tokens), "--batch", str(sequences * times), *shlex.split(options), "--to", "lower"]
            files.append(f"{folder}/{get_name(config)} {plan}.mlir")
            with open(files[-1], "w", encoding="utf-8") as out:
                out.write(call(words))
    return files
