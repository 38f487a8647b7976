#!/usr/bin/env python3
"""Continue prompts greedily with compiled packages and with the interpreter.

    compare_generation.py MODEL WORK_DIR PLAN [PLAN ...]      MODEL: a Hugging Face folder with weights

The interpreter's tokens: the largest logit at the last position of the text, of which the last SEQ tokens count, appended COUNT times. Every
plan's package has to print the same.
"""
import array
import json
import os
import struct
import sys

from running import run

SEQ, COUNT = 32, 3
# One is as long as the sequence: the window slides from the first new token on.
PROMPTS = [[(a * i * i + b) % 79 for i in range(length)] for a, b, length in [(5, 3, 30), (7, 1, 1), (11, 40, 9), (3, 8, 20), (2, 60, 32)]]


def read_logits(path):
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack("<Q", content[:8])
    shape = json.loads(content[8 : 8 + length])["logits"]["shape"]
    return shape, array.array("f", content[8 + length :])


def interpret(model, work, prompt):
    text = list(prompt)
    data, out = os.path.join(work, "window.bin"), os.path.join(work, "logits.safetensors")
    for _ in range(COUNT):
        window = text[-SEQ:]
        with open(data, "wb") as file:
            array.array("H", window + [0] * (SEQ + 1 - len(window))).tofile(file)
        run(f"par-interpret {model} --function logits --seq {SEQ} --batch 1 --weights {model} --data {data} -o {out}")
        shape, logits = read_logits(out)
        row = logits[(len(window) - 1) * shape[2] : len(window) * shape[2]]
        text.append(max(range(shape[2]), key=lambda token: row[token]))
    return text[len(prompt) :]


def main(model, work, *plans):
    expected = [interpret(model, work, prompt) for prompt in PROMPTS]
    if len(set(sum(expected, []))) < 4:
        sys.exit(f"error: {expected} would be right by chance")
    for plan in plans:
        package = os.path.join(work, "model.par")
        run(f"par-compile {model} --seq {SEQ} {plan} -o {package}")
        for prompt, tokens in zip(PROMPTS, expected):
            text = ",".join(map(str, prompt))
            actual = run(f"par-generate {package} --weights {model} --prompt-tokens {text} --tokens {COUNT} --ignore-eos")
            if actual.split() != [str(token) for token in tokens]:
                sys.exit(f"error: {plan}: {prompt} gives {actual.strip()}, expected {tokens}")
        print(f"{plan} agrees")


if __name__ == "__main__":
    main(*sys.argv[1:])
