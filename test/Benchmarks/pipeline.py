#!/usr/bin/env python3
"""What a pipeline of two stages takes of the time of one rank.

    pipeline.py [--micro-batches 8] [--schedule 1f1b] [--compile FLAGS] [--rounds 5] [--steps 6]

A Llama of 7 layers of 384 and 4,096 tokens of vocabulary, which two stages share evenly, 16 sequences of 128 tokens. In turns: two stages on two cores, and
one rank with the same micro-batches on one core while a second such run has the other (a core alone is faster than one of two that share a memory). Prints
the median steps, their ratio, and the ratio beside the bound (M + 1)/(2M) of a 1f1b without any cost of its own.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

CONFIG = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 4096, "max_position_embeddings": 128, "hidden_size": 384,
    "intermediate_size": 1024, "num_hidden_layers": 7, "num_attention_heads": 6, "num_key_value_heads": 6, "head_dim": 64, "hidden_act": "silu",
    "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "attention_bias": False, "mlp_bias": False, "tie_word_embeddings": False,
}


def start(package, metrics, steps, cores):
    return subprocess.Popen(["taskset", "-c", cores, "par-run", package, "--steps", str(steps), "--data", "random", "--metrics", metrics],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def finish(process, metrics):
    text = process.communicate()[0]
    if process.returncode:
        raise SystemExit(text)
    with open(metrics, encoding="utf-8") as file:
        return [json.loads(line)["step_seconds"] for line in file][1:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--micro-batches", type=int, default=8)
    parser.add_argument("--schedule", default="1f1b")
    parser.add_argument("--compile", default="", help="more flags of both packages")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=6)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        config = os.path.join(folder, "llama.json")
        with open(config, "w", encoding="utf-8") as file:
            json.dump(CONFIG, file)
        shape = ["--batch", "16", "--seq", "128", "--micro-batches", str(args.micro_batches), *args.compile.split()]
        for name, more in {"one": [], "two": ["--mesh", "pp=2", "--schedule", args.schedule]}.items():
            subprocess.run(["par-compile", config, *shape, *more, "-o", f"{folder}/{name}.par"], check=True, capture_output=True)
        times = {"one": [], "two": []}
        for _ in range(args.rounds):
            two = start(f"{folder}/two.par", f"{folder}/two.jsonl", args.steps, "0,1")
            times["two"] += finish(two, f"{folder}/two.jsonl")
            ones = [(start(f"{folder}/one.par", f"{folder}/one{core}.jsonl", args.steps, core), f"{folder}/one{core}.jsonl") for core in "01"]
            for process, metrics in ones:
                times["one"] += finish(process, metrics)
            for name in os.listdir(folder):
                if name.endswith(".jsonl"):
                    os.remove(os.path.join(folder, name))
    one, two = statistics.median(times["one"]), statistics.median(times["two"])
    bound = (args.micro_batches + 1) / (2 * args.micro_batches)
    print(f"{args.schedule}, {args.micro_batches} micro-batches: one rank on one core {one * 1e3:.0f} ms, two stages on two {two * 1e3:.0f} ms, ratio {two / one:.3f}, "
          f"{two / one / bound:.3f} times (M + 1)/(2M) = {bound:.4f}")


main()
