#!/usr/bin/env python3
"""How near predictions come on this machine: plans are predicted before they run, then run in turns.

    calibration.py [--cluster FILE.json] [--rounds 5] [--steps 5]

Two models (a Llama and a GPT-2 of some million parameters) under six plans each, on 1 to 4 ranks. Without --cluster the machine is measured first, by
`par-plan --calibrate`. Prints each plan's predicted and measured step, the mean error, and how many pairs of plans of a model come in the right order.
"""
import argparse
import itertools
import json
import os
import re
import statistics
import subprocess
import tempfile

MODELS = {
    "llama": {
        "model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 4096, "max_position_embeddings": 256, "hidden_size": 384,
        "intermediate_size": 1024, "num_hidden_layers": 6, "num_attention_heads": 6, "num_key_value_heads": 6, "head_dim": 64, "hidden_act": "silu",
        "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "attention_bias": False, "mlp_bias": False, "tie_word_embeddings": False},
    "gpt2": {
        "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 2048, "n_positions": 256, "n_embd": 256, "n_layer": 8, "n_head": 4,
        "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0,
        "tie_word_embeddings": True},
}
PLANS = {
    "llama": ["--mesh dp=1", "--mesh dp=2", "--mesh tp=2", "--mesh pp=2 --micro-batches 4 --schedule 1f1b", "--mesh dp=2 --zero 3 --recompute full",
              "--mesh dp=2,tp=2 --zero 1"],
    "gpt2": ["--mesh dp=1 --micro-batches 4", "--mesh dp=1 --recompute full", "--mesh dp=4 --zero 2", "--mesh tp=4", "--mesh pp=2 --micro-batches 8 --schedule zb-h1",
             "--mesh pp=2,dp=2 --micro-batches 2 --schedule gpipe"],
}


def compile_plans(folder, cluster):
    """[model, plan, package, predicted seconds] of all plans."""
    found = []
    for model, config in MODELS.items():
        path = os.path.join(folder, f"{model}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        for number, plan in enumerate(PLANS[model]):
            package = os.path.join(folder, f"{model}{number}.par")
            command = ["par-compile", path, "--batch", "16", "--seq", "128", *plan.split(), "--cluster", cluster, "--explain", "-o", package]
            text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            found.append([model, plan, package, float(re.search(r"step: ([0-9.]+) ms", text)[1]) / 1e3])
    return found


def run(package, steps):
    metrics = package + ".jsonl"
    subprocess.run(["par-run", package, "--steps", str(steps), "--data", "random", "--metrics", metrics], check=True, capture_output=True)
    with open(metrics, encoding="utf-8") as file:
        seconds = [json.loads(line)["step_seconds"] for line in file][1:]
    os.remove(metrics)
    return seconds


def count_pairs(rows, apart):
    """Pairs of plans of a model whose measured times are that far apart, and how many of them are predicted in the right order."""
    pairs = [(a, b) for a, b in itertools.combinations(rows, 2) if a[0] == b[0] and max(a[3], b[3]) > (1 + apart) * min(a[3], b[3])]
    return sum((a[2] < b[2]) == (a[3] < b[3]) for a, b in pairs), len(pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cluster")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cluster = args.cluster or os.path.join(folder, "cluster.json")
        if not args.cluster:
            subprocess.run(["par-plan", "--calibrate", "-o", cluster], check=True)
        plans = compile_plans(folder, cluster)
        seconds = {package: [] for _, _, package, _ in plans}
        for _ in range(args.rounds):
            for package, times in seconds.items():
                times += run(package, args.steps)
        rows = [(model, plan, predicted, statistics.median(seconds[package])) for model, plan, package, predicted in plans]
    print("model plan | predicted ms | measured ms | ratio")
    for model, plan, predicted, measured in rows:
        print(f"{model} {plan} | {1e3 * predicted:.1f} | {1e3 * measured:.1f} | {predicted / measured:.3f}")
    print(f"mean error {100 * statistics.mean(abs(row[2] / row[3] - 1) for row in rows):.1f} %")
    for apart in (0.1, 0.3):
        right, count = count_pairs(rows, apart)
        print(f"pairs more than {100 * apart:.0f} % apart: {right} of {count} the right way round")


if __name__ == "__main__":
    main()
