"""The example models and four plans, for checks of every kernel that par generates."""
import glob
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
