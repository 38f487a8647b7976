#!/usr/bin/env python3
"""Random plans of random models, each compared with one rank: random_plans.py BIN INPUTS FIRST COUNT

A seed draws a model (sizes that axes divide or not, tied or own head, dropout), types, micro-batches, and three plans of everything that can be combined:
mesh, ZeRO stage and gathers, sequence parallelism, recompute, offload, overlap, and of pipelines stages, schedules, chunks and cuts. compare_plans.py says
what must be equal.
"""
import os
import random
import subprocess
import sys

SIZES = {"gpt2-tiny": {"n_layer": (1, 2, 6)}, "gpt2-odd": {"n_layer": (1, 3), "n_inner": (150, 151), "vocab_size": (257, 263)},
         "llama-tiny": {"num_hidden_layers": (1, 6), "tie_word_embeddings": ("true", "false")},
         "llama-odd": {"num_hidden_layers": (1, 2), "intermediate_size": (100, 97), "tie_word_embeddings": ("true", "false")},
         "gemma2-odd": {"num_hidden_layers": (2, 3), "vocab_size": (257, 263)},
         "gemma3-odd": {"num_hidden_layers": (3, 6), "num_attention_heads": (3, 4)},
         "olmo2-odd": {"num_hidden_layers": (1, 3), "tie_word_embeddings": ("true", "false")},
         "qwen3-odd": {"num_hidden_layers": (1, 2), "intermediate_size": (100, 97), "tie_word_embeddings": ("true", "false")},
         "smollm3-odd": {"num_hidden_layers": (2, 4), "num_key_value_heads": (2, 3)}}
MOST_RANKS = 8
# Chunks per stage, by schedule.
SCHEDULES = {"gpipe": 1, "1f1b": 1, "layer-wise": 1, "zb-h1": 1, "zb-h2": 1, "interleaved-1f1b": 2, "zb-v": 2, "dualpipe-v": 2, "auto": 1}


def draw_mesh(draw):
    while True:
        tp, data = draw.choice((1, 1, 2, 2, 3, 4)), draw.choice(("dp=1", "dp=2", "dp=2", "dp=4", "dp_replicate=2,dp_shard=2"))
        dp, pp = 4 if "shard" in data else int(data[3:]), draw.choice((1, 1, 2, 2, 3, 4))
        if 1 < dp * tp * pp <= MOST_RANKS:
            return f"pp={pp},{data},tp={tp}", dp, tp, pp


def draw_pipeline(draw, stages, units, counts):
    """Schedule, chunks, cuts and the number of micro-batches; None where the model has fewer units than any schedule has chunks."""
    schedule = draw.choice(sorted(SCHEDULES))
    chunks = SCHEDULES[schedule]
    if schedule in ("interleaved-1f1b", "auto"):
        chunks = draw.choice((chunks, chunks + 1))
    if schedule == "interleaved-1f1b":
        counts = [count for count in counts if count % stages == 0]
    if stages * chunks > units or not counts:
        return None
    flags = ["--schedule", schedule, "--chunks", str(chunks)]
    if draw.random() < 0.3:
        flags += ["--cuts", ",".join(map(str, sorted(draw.sample(range(1, units), stages * chunks - 1))))]
    return flags, draw.choice(counts)


def draw_plan(draw, batch, narrow, units):
    mesh, dp, tp, pp = draw_mesh(draw)
    counts = [count for count in (1, 2, 4, 8) if batch % (count * dp) == 0]
    pipeline = None
    if pp > 1 and not narrow:
        pipeline = draw_pipeline(draw, pp, units, counts)
    if not pipeline:
        mesh = mesh.split(",", 1)[1]
        if dp * tp == 1:
            return draw_plan(draw, batch, narrow, units)
    flags = ["--mesh", mesh]
    zero = draw.randrange(4) if dp > 1 else 0
    if zero:
        flags += ["--zero", str(zero)]
    if zero == 3 and draw.random() < 0.3:
        flags += ["--zero3-gather", "per-step"]
    if tp > 1 and draw.random() < 0.6:
        flags += ["--sequence-parallel"]
    flags += draw.choice(([], [], ["--recompute", "selective"], ["--recompute", "full"], ["--recompute", "auto", "--recompute-limit", "100000000"]))
    flags += draw.choice(([], [], ["--offload", "optimizer"], ["--offload", "optimizer:host-update"]))
    flags += draw.choice(([], ["--overlap", "on"], ["--overlap", "on", "--bucket-bytes", "20000"], ["--overlap", "on", "--prefetch-limit", "0"]))
    # Rounding of bf16 depends on what is summed up at once, so the micro-batches are one rank's there.
    if pipeline:
        return flags + pipeline[0] + ["--micro-batches", str(pipeline[1])]
    return flags if narrow else flags + ["--micro-batches", str(draw.choice([count for count in counts if count < 8]))]


def draw_model(draw):
    """Its config's name, the batch, whether it is in bf16, what is changed in the config as flags, and how many units it has."""
    model = draw.choice(sorted(SIZES))
    batch, narrow = draw.choice((8, 16)), draw.random() < 0.3
    sizes = {key: draw.choice(values) for key, values in SIZES[model].items()}
    changes = [word for key, value in sizes.items() for word in ("--set", f"{key}={value}")]
    return model, batch, narrow, changes, 2 + sizes.get("n_layer", sizes.get("num_hidden_layers"))


def check(binaries, inputs, seed):
    draw = random.Random(seed)
    model, batch, narrow, shared, units = draw_model(draw)
    command = [sys.executable, os.path.join(os.path.dirname(__file__), "compare_plans.py"), "--bin", binaries, "--config", f"{inputs}/{model}.json",
               "--batch", str(batch), "--seq", str(draw.choice((16, 33, 63, 64)))]
    if narrow:
        shared += draw.choice(([], ["--grad-dtype", "bf16"], ["--moment-dtype", "bf16"]))
        shared += draw.choice(([], ["--micro-batches", "2"]))
        # Sums over ranks are rounded, and ten steps of plain SGD show it in small biases first.
        # Behind a projection a norm leaves only the part of its gradient that is orthogonal to the output, where roundings weigh more.
        has_norms = not model.startswith(("gpt2", "llama"))
        command += ["--dtype", "bf16", "--tolerance", "2e-2", "--loss-tolerance", "3e-3" if has_norms else "1e-3"]
    command += ["--compile-flags", " ".join(shared)] + ["--sgd"] * (seed % 2)
    for _ in range(3):
        command += ["--plan", " ".join(draw_plan(draw, batch, narrow, units))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"seed {seed}: {subprocess.list2cmdline(command)}\n{done.stdout}{done.stderr}", flush=True)
    return done.returncode == 0


def main():
    binaries, inputs, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    good = [check(binaries, inputs, seed) for seed in range(first, first + count)]
    print(f"{sum(good)} of {count} models agree under all plans")
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
