#!/usr/bin/env python3
"""The row of `pad_token_id` begins as zeros and gets no gradient from look-ups: padding_token.py CONFIG WORK_DIR PLAN [PLAN ...]

Under every plan: the initial parameters are those of the model without the key but for zeros in the row, which every other row of the same tensor shows to be
no accident. With equal weights the gradients are those without the key but for the row, which is zero where the head is no copy of the table, and what the
head alone gives where it is one. `par-interpret` begins and trains alike.
"""
import json
import shlex
import sys
from array import array

from compare_plans import read_safetensors
from running import lines, run

ROW, WIDTH, VOCAB, SEQ, BATCH = 7, 64, 256, 16, 8
TABLE = "model.embed_tokens.weight"


def row_of(tensors):
    return tensors[TABLE][1][ROW * WIDTH : (ROW + 1) * WIDTH]


def without_row(tensors):
    rest = {name: bytes(values) for name, (_, values) in tensors.items()}
    values = tensors[TABLE][1]
    rest[TABLE] = bytes(values[: ROW * WIDTH] + values[(ROW + 1) * WIDTH :])
    return rest


def require(condition, text):
    if not condition:
        sys.exit(f"error: {text}")


class Model:
    def __init__(self, config, work, plan, *keys):
        self.flags = [*(word for key in keys for word in ("--set", key)), "--seq", str(SEQ), "--batch", str(BATCH)]
        self.config, self.work, self.out = config, work, f"{work}/{len(keys)}"
        run("par-compile", config, "-o", f"{self.out}.par", *self.flags, *shlex.split(plan))

    def initial(self):
        run("par-run", f"{self.out}.par", "--steps", "0", "--save-params", f"{self.out}.params")
        return read_safetensors(f"{self.out}.params")

    def train(self, weights=()):
        words = ["--steps", "1", "--lr", "0", "--data", f"{self.work}/tokens.bin", "--data-dtype", "uint16", *weights]
        run("par-run", f"{self.out}.par", *words, "--metrics", f"{self.out}.jsonl", "--save-grads", f"{self.out}.grads")
        return lines(f"{self.out}.jsonl")[0], read_safetensors(f"{self.out}.grads")

    def interpret(self):
        text = run("par-interpret", self.config, *self.flags, "--lr", "0", "--data", f"{self.work}/tokens.bin")
        return json.loads(next(line for line in text.splitlines() if line.startswith("{")))


def check(config, work, plan, tied):
    tie = f"tie_word_embeddings={str(tied).lower()}"
    plain, padded = Model(config, work, plan, tie), Model(config, work, plan, tie, f"pad_token_id={ROW}")
    before, after = plain.initial(), padded.initial()
    require(not any(row_of(after)) and all(row_of(before)), f"{plan}: the row begins as {list(row_of(after))[:3]}")
    require(without_row(before) == without_row(after), f"{plan}: other initial values differ")
    weights = ["--weights", f"{plain.out}.params"]
    (_, whole), (_, rest) = plain.train(weights), padded.train(weights)
    require(without_row(whole) == without_row(rest), f"{plan}: other gradients differ")
    require(row_of(whole) != row_of(rest) and any(row_of(rest)) == tied, f"{plan}: the row's gradient is {list(row_of(rest))[:3]}")
    if "bf16" in plan:
        return
    actual, expected = padded.train()[0], padded.interpret()
    for key in ("loss", "grad_norm"):
        require(abs(actual[key] - expected[key]) <= 2e-6 * expected[key], f"{plan}: {key} is {actual[key]}, interpreted {expected[key]}")


def main():
    config, work, *plans = sys.argv[1:]
    with open(f"{work}/tokens.bin", "wb") as file:
        array("H", (ROW if index % 5 < 2 else index * index % VOCAB for index in range((SEQ + 1) * BATCH))).tofile(file)
    for plan in plans:
        for tied in (False, True):
            check(config, work, plan, tied)
        print(f"ok {plan}")


if __name__ == "__main__":
    main()
