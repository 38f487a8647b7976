#!/usr/bin/env python3
"""Random plans of random small models, executed natively on poisoned memory, each compared with one rank.

    native.py --bin build/bin --count 3000 [--first 0] [--results FILE] [--plans 6] [--seed N]

Case n is plan n % PLANS of model n // PLANS. A model is a family with sizes that axes divide or not, frozen parameters, masked targets or documents, and
a batch; a plan is a mesh, ZeRO, sequence parallelism, recompute, offload, overlap, and of pipelines a schedule (`auto` with any chunks among them), chunks,
cuts and micro-batches, often so many that a rank has one sequence. The first thing that a model's run on one rank says has to be said by all: losses and
gradient norms of two steps of SGD, the gradients of the second step and the parameters after it; planned and measured peaks agree. Ranks come late at random
in half of the cases.

With --results each case is written there as a line of JSON, and cases that are there already are not run again. Prints what is wrong, with the commands, and
a summary. Exit code 0, or 1 if anything is wrong.
"""
import argparse
import json
import math
import os
import random
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Run", "Helpers"))
import compare_plans  # pylint: disable=wrong-import-position

MOST_RANKS = 8
# Chunks per stage that a schedule takes.
CHUNKS = {"gpipe": (1,), "1f1b": (1,), "layer-wise": (1,), "zb-h1": (1,), "zb-h2": (1,), "interleaved-1f1b": (2, 3), "zb-v": (2,), "dualpipe-v": (2,),
          "auto": (1, 2, 2, 3, 3)}
FROZEN = {"gpt2": ("*attn*", "*c_attn*", "*mlp*", "*ln_1*", "*wte*", "*.h.0.*", "*bias"),
          "other": ("*self_attn*", "*mlp*", "*embed_tokens*", "*layers.0.*", "*norm*", "*q_proj*,*k_proj*")}
# Gradients are compared as in the random comparisons of the suite; sums in another order differ by so much.
TENSOR, WHOLE, METRIC = 2e-4, 3e-6, 2e-5


def draw_config(draw):
    family = draw.choice(("gpt2", "gpt2", "llama", "olmo", "olmo", "mistral", "qwen2"))
    heads, layers, vocabulary, positions = draw.choice((1, 2, 3, 4)), draw.choice((1, 2, 3, 4, 6, 7)), draw.choice((29, 32, 61, 97)), 40
    hidden = heads * draw.choice((4, 6, 8))
    tied = draw.random() < 0.5
    if family == "gpt2":
        return {"model_type": "gpt2", "vocab_size": vocabulary, "n_embd": hidden, "n_layer": layers, "n_head": heads, "n_positions": positions,
                "n_inner": draw.choice((None, 2 * hidden + 1)), "tie_word_embeddings": True,
                **{key: draw.choice((0.0, 0.0, 0.1)) for key in ("resid_pdrop", "embd_pdrop", "attn_pdrop")}}, layers
    config = {"model_type": family, "vocab_size": vocabulary, "hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
              "num_key_value_heads": draw.choice([n for n in range(1, heads + 1) if heads % n == 0]) if family != "olmo" else heads,
              "intermediate_size": draw.choice((hidden, 2 * hidden + 1, 37)), "max_position_embeddings": positions, "tie_word_embeddings": tied}
    if family == "mistral":
        config["sliding_window"] = draw.choice((1, 5, 64))
    return config, layers


class Model:
    """What all plans of a model share."""

    def __init__(self, seed):
        draw = random.Random(f"model {seed}")
        self.config, self.layers = draw_config(draw)
        self.family = "gpt2" if self.config["model_type"] == "gpt2" else "other"
        self.batch, self.seq = draw.choice((1, 2, 4, 4, 6, 8)), draw.choice((4, 7, 8, 16, 17))
        self.dtype = "bf16" if draw.random() < 0.1 else "f32"
        self.shared = ["--seq", str(self.seq), "--batch", str(self.batch), "--optimizer", "sgd", "--dtype", self.dtype]
        if draw.random() < 0.35:
            frozen = draw.choice(FROZEN[self.family])
            if frozen != "*norm*" or self.config["model_type"] != "olmo":  # whose norms have no parameters
                self.shared += ["--freeze", frozen]
        self.data, self.run = draw.choice(("random", "random", "masked", "documents")), []
        self.seed = draw.randrange(1 << 30)

    def write(self, folder):
        with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
            json.dump(self.config, file)
        if self.data == "random":
            self.run = ["--data", "random"]
            return
        draw, path = random.Random(self.seed), os.path.join(folder, "data.bin")
        vocabulary, count = self.config["vocab_size"], 3 * self.batch * (self.seq + 1) + 5
        tokens = [draw.randrange(vocabulary) for _ in range(count)]
        if self.data == "documents":
            with open(path, "wb") as file:
                file.write(struct.pack(f"<{count}H", *tokens))
            self.run = ["--data", path, "--document-end", str(draw.randrange(vocabulary)), "--documents", "mask"]
            return
        # Runs of masked tokens, some longer than a window: ranks and micro-batches without any target are among them.
        masked, left, isMasked = [], 0, False
        for _ in range(count):
            if left == 0:
                isMasked, left = not isMasked, draw.choice((1, 3, self.seq, 2 * self.seq))
            masked.append(isMasked)
            left -= 1
        masked[1] = False
        masked[self.batch * (self.seq + 1) + 1] = False
        with open(path, "wb") as file:
            file.write(b"PARMASK1" + struct.pack("<Q", count))
            file.write(struct.pack(f"<{count}I", *(token | (one << 31) for token, one in zip(tokens, masked))))
        self.run = ["--data", path]


def draw_mesh(draw, batch, layers):
    while True:
        tp, dp, pp = draw.choice((1, 1, 2, 2, 3, 4)), draw.choice((1, 1, 2, 2, 4, 3)), draw.choice((1, 1, 2, 2, 3, 4, 5))
        if 1 < dp * tp * pp <= MOST_RANKS and batch % dp == 0 and pp <= layers + 2:
            return dp, tp, pp


def draw_pipeline(draw, model, dp, stages):
    """Flags of a schedule that the model has units for; None where there is none."""
    units, counts = model.layers + 2, [count for count in range(1, model.batch // dp + 1) if model.batch // dp % count == 0]
    schedule = draw.choice(sorted(CHUNKS) + ["auto"] * 4)
    chunks = draw.choice(CHUNKS[schedule])
    if schedule == "interleaved-1f1b":
        counts = [count for count in counts if count % stages == 0]
    if stages * chunks > units or not counts:
        return None
    flags = ["--schedule", schedule, "--chunks", str(chunks), "--micro-batches", str(draw.choice(counts + counts[-1:] * 2))]
    if draw.random() < 0.3:
        flags += ["--cuts", ",".join(map(str, sorted(draw.sample(range(1, units), stages * chunks - 1))))]
    return flags


def draw_plan(draw, model):
    dp, tp, pp = draw_mesh(draw, model.batch, model.layers) if model.batch * 4 > 4 or draw.random() < 0.9 else (1, 2, 1)
    pipeline = draw_pipeline(draw, model, dp, pp) if pp > 1 else None
    if pp > 1 and not pipeline:
        return draw_plan(draw, model)
    hybrid = dp == 4 and draw.random() < 0.3
    flags = ["--mesh", (f"pp={pp}," if pp > 1 else "") + ("dp_replicate=2,dp_shard=2" if hybrid else f"dp={dp}") + f",tp={tp}"]
    zero = draw.randrange(4) if dp > 1 else 0
    if zero:
        flags += ["--zero", str(zero)]
    if zero == 3 and draw.random() < 0.3:
        flags += ["--zero3-gather", "per-step"]
    if tp > 1 and draw.random() < 0.6:
        flags += ["--sequence-parallel"]
    flags += draw.choice(([], ["--recompute", "selective"], ["--recompute", "selective"], ["--recompute", "full"],
                          ["--recompute", "auto", "--recompute-limit", "100000000"]))
    flags += draw.choice(([], [], ["--overlap", "on"], ["--overlap", "on", "--bucket-bytes", "2000"]))
    if pipeline:
        return flags + pipeline
    counts = [count for count in range(1, model.batch // dp + 1) if model.batch // dp % count == 0]
    return flags + ["--micro-batches", str(draw.choice(counts + counts[-1:] * 2))]


class Wrong(Exception):
    pass


class Refused(Exception):
    """par-compile answers with an error: counted, not wrong."""


class Case:
    """One package, compiled and run."""

    def __init__(self, args, model, folder):
        self.args, self.model, self.folder, self.commands = args, model, folder, []

    def call(self, command, environment=None):
        words = [f"{key}={value}" for key, value in (environment or {}).items()]
        self.commands.append(" ".join(words + [shlex.join(command)]))
        try:
            return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=300,
                                  env={**os.environ, **(environment or {})})
        except subprocess.TimeoutExpired as error:
            raise Wrong("takes longer than 300 s") from error

    def compile(self, plan, package, flags=()):
        done = self.call([f"{self.args.bin}/par-compile", f"{self.folder}/config.json", "-o", package, *self.model.shared, *plan, *flags])
        if done.returncode == 1 and done.stdout.count("error:") == 1:
            raise Refused(done.stdout[done.stdout.find("error:"):].strip())
        if done.returncode:
            raise Wrong(f"par-compile: exit {done.returncode}\n{done.stdout[-1500:]}")

    def execute(self, package, environment):
        """Metrics of two steps, gradients of the second one, and parameters."""
        files = {flag: f"{self.folder}/{flag[2:]}" for flag in ("--metrics", "--save-params", "--save-grads")}
        for path in files.values():
            if os.path.exists(path):
                os.remove(path)
        done = self.call([f"{self.args.bin}/par-run", package, "--steps", "2", "--seed", "3", "--lr", "0.05", "--weight-decay", "0", "--clip-grad-norm", "0",
                          "--timeout", "60", *self.model.run, *(word for pair in files.items() for word in pair)], environment)
        if done.returncode:
            raise Wrong(f"par-run: exit {done.returncode}\n{done.stdout[-1500:]}")
        with open(files["--metrics"], encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        with open(f"{package}/manifest.json", encoding="utf-8") as file:
            planned = max(program["peak_bytes"] for program in json.load(file)["memory"])
        if lines[-1]["peak_bytes"] != planned:
            raise Wrong(f"peak {lines[-1]['peak_bytes']}, planned {planned}")
        return lines, compare_plans.read_safetensors(files["--save-grads"]), compare_plans.read_safetensors(files["--save-params"])

    def run(self, plan, environment):
        package = os.path.join(self.folder, "p.par")
        shutil.rmtree(package, ignore_errors=True)
        self.compile(plan, package)
        return self.execute(package, environment)


def norm(values):
    return math.sqrt(sum(value * value for value in values))


def compare_tensors(what, actual, expected, loose):
    if set(actual) != set(expected):
        raise Wrong(f"{what}: names differ: {sorted(set(actual) ^ set(expected))[:4]}")
    total = math.sqrt(sum(norm(values) ** 2 for _, values in expected.values()))
    for name, (shape, values) in actual.items():
        if shape != expected[name][0]:
            raise Wrong(f"{what} {name}: shape {shape}, one rank {expected[name][0]}")
        difference = norm([a - b for a, b in zip(values, expected[name][1])])
        allowed = loose * (TENSOR * norm(expected[name][1]) + WHOLE * total)
        if not difference <= allowed: # NaN included
            raise Wrong(f"{what} {name}: off by {difference:.3g} of {norm(expected[name][1]):.3g}, allowed {allowed:.3g}")


def tolerance_of(model):
    """By how much more than f32 the model's type differs."""
    return 1000.0 if model.dtype == "bf16" else 1.0


def compare(actual, expected, loose):
    for line, reference in zip(actual[0], expected[0]):
        for key in ("loss", "grad_norm"):
            one, other = float(line[key]), float(reference[key])
            if not abs(one - other) <= loose * METRIC * max(abs(other), 1e-3):
                raise Wrong(f"{key} of step {line['step']}: {one!r}, one rank {other!r}")
    compare_tensors("gradient of", actual[1], expected[1], loose)
    compare_tensors("parameter", actual[2], expected[2], loose)


def check(args, number, known):
    """One case; `known` keeps the last model's run on one rank."""
    model_number, folder = number // args.plans, known["folder"]
    if known.get("model") != model_number:
        known.clear()
        known.update(model=model_number, folder=folder, drawn=Model(f"{args.seed}/{model_number}"))
        known["drawn"].write(folder)
        one = Case(args, known["drawn"], folder)
        known["expected"], known["commands"] = one.run([], {"PAR_POISON": "1"}), one.commands
    model, draw = known["drawn"], random.Random(f"plan {args.seed}/{number}")
    plan, environment = draw_plan(draw, model), {"PAR_POISON": "1"}
    if draw.random() < 0.5:
        environment["PAR_TEST_DELAY"] = f"{draw.choice((300, 1500))},{draw.randrange(100)}"
    case = Case(args, model, folder)
    result = {"case": number, "plan": shlex.join(plan)}
    try:
        compare(case.run(plan, environment), known["expected"], tolerance_of(model))
        return {**result, "verdict": "good"}
    except Refused as refusal:
        return {**result, "verdict": "refused", "why": str(refusal)[:300]}
    except (Wrong, compare_plans.Failure, OSError, KeyError, ValueError) as wrong:
        return {**result, "verdict": "wrong", "why": str(wrong), "config": model.config, "commands": known["commands"] + case.commands}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--plans", type=int, default=6, help="plans of one model")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--results", help="a file that gets a line for each case, and says which are done")
    args = parser.parse_args()
    done = {}
    if args.results and os.path.exists(args.results):
        with open(args.results, encoding="utf-8") as file:
            done = {line["case"]: line["verdict"] for line in map(json.loads, file)}
    wanted = range(args.first, args.first + args.count)
    with tempfile.TemporaryDirectory() as folder:
        known = {"folder": folder}
        for number in wanted:
            if number in done:
                continue
            result = check(args, number, known)
            done[number] = result["verdict"]
            if args.results:
                with open(args.results, "a", encoding="utf-8") as file:
                    file.write(json.dumps(result) + "\n")
            if result["verdict"] == "wrong":
                print(f"case {number}: {result['why']}\n  {json.dumps(result['config'])}\n  " + "\n  ".join(result["commands"]), flush=True)
    counts = {verdict: sum(done[number] == verdict for number in wanted) for verdict in ("good", "refused", "wrong")}
    print(f"{counts['good']} of {args.count} plans agree with one rank, {counts['refused']} are refused, {counts['wrong']} are wrong")
    sys.exit(1 if counts["wrong"] else 0)


if __name__ == "__main__":
    main()
