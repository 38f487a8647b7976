#!/usr/bin/env python3
"""The families of today beside what they are judged by, in one run: families.py [step] [import] [plan]   (default: all)

step    test/Benchmarks/step/step.py of Qwen 3, Gemma 3 and Llama with documents apart, beside PyTorch and JAX (its needs are there)
import  CPU time of par-import of every config of examples/configs, as a share of Llama 3.1 8B's
plan    CPU time to the plan of Gemma 2 27B (ZeRO-3, tp, sp), as a share of that of a Qwen 2 as wide with windows in every second layer
Medians of rounds in turns; par's tools on PATH.
"""
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CONFIGS = HERE.parent.parent / "examples/configs"
ROUNDS = 15
PLAN = "--dtype bf16 --seq 8192 --batch 64 --mesh dp=8,tp=8 --sequence-parallel --zero 3 --dry-run".split()


def cpu_seconds(*command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def in_turns(commands, rounds=ROUNDS):
    """The median of each command, by name."""
    times = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            times[name].append(cpu_seconds(*command))
    return {name: statistics.median(all_times) for name, all_times in times.items()}


def report(medians, base):
    for name, median in medians.items():
        print(f"{name:24} {1e3 * median:6.0f} ms   {median / medians[base]:.2f}")


def measure_import():
    # A command takes as long as a dozen of the kernel's ticks, so that few rounds say little.
    commands = {path.stem: ["par-import", path] for path in sorted(CONFIGS.glob("*.json"))}
    report(in_turns(commands, rounds=60), "llama-3.1-8b")


def qwen2_as_wide(gemma):
    same = ["hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "vocab_size",
            "max_position_embeddings", "sliding_window"]
    kinds = ["sliding_attention", "full_attention"] * (gemma["num_hidden_layers"] // 2)
    return {"model_type": "qwen2", **{key: gemma[key] for key in same}, "use_sliding_window": True, "layer_types": kinds,
            "tie_word_embeddings": True}


def measure_plan():
    gemma = CONFIGS / "gemma-2-27b.json"
    with tempfile.TemporaryDirectory() as folder:
        qwen2 = pathlib.Path(folder) / "config.json"
        qwen2.write_text(json.dumps(qwen2_as_wide(json.loads(gemma.read_text()))))
        report(in_turns({"qwen 2 as wide": ["par-compile", qwen2, *PLAN], "gemma-2-27b": ["par-compile", gemma, *PLAN]}), "qwen 2 as wide")


def measure_step():
    subprocess.run([sys.executable, HERE / "step/step.py", "--cases", "d1,d2,d3"], check=True, env=os.environ)


PARTS = {"step": measure_step, "import": measure_import, "plan": measure_plan}


def main():
    unknown = [name for name in sys.argv[1:] if name not in PARTS]
    if unknown:
        sys.exit(f"families.py: no part is named {unknown[0]}; there are {', '.join(PARTS)}")
    for name in sys.argv[1:] or PARTS:
        print(f"== {name}", flush=True)
        PARTS[name]()


main()
