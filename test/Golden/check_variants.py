#!/usr/bin/env python3
"""Steps of the golden models under further keys, against variants.json: check_variants.py GOLDEN_DIR WORK_DIR

Each variant interpreted on one rank and on a mesh, and compiled.
"""
import json
import os
import subprocess
import sys

EXACT, SINGLE = 2e-6, 2e-5  # of the interpreter, whose norms are f64, and of compiled f32
MESH = ["--mesh", "dp=2,tp=2", "--zero", "2"]
STEPS = ["--lr", "0.05", "--weight-decay", "0", "--clip-grad-norm", "0", "--steps", "3"]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout.splitlines()


class Variant:
    def __init__(self, folder, golden, work):
        case = f"{folder}/{golden['case']}"
        with open(f"{case}/golden.json", encoding="utf-8") as file:
            sizes = json.load(file)
        self.model = [case, "--seq", str(sizes["seq"]), "--batch", str(sizes["batch"]), "--optimizer", "sgd"]
        for key, value in golden["keys"].items():
            self.model += ["--set", f"{key}={json.dumps(value)}"]
        tied = "tie_word_embeddings" in golden["keys"]
        weights = drop_head(f"{case}/model.safetensors", f"{work}/tied.safetensors") if tied else case
        self.steps = ["--weights", weights, "--data", f"{case}/tokens.bin", *STEPS]
        self.work = work

    def interpret(self, *plan):
        return [json.loads(line) for line in run("par-interpret", *self.model, *self.steps, *plan) if line.startswith("{")]

    def compile(self, *plan):
        run("par-compile", *self.model, *plan, "-o", f"{self.work}/variant.par")
        run("par-run", f"{self.work}/variant.par", *self.steps, "--metrics", f"{self.work}/variant.jsonl")
        with open(f"{self.work}/variant.jsonl", encoding="utf-8") as file:
            return [json.loads(line) for line in file]


def drop_head(source, target):
    """The file without the head's matrix."""
    with open(source, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header, body = json.loads(file.read(length)), file.read()
    begin, end = header.pop("lm_head.weight")["data_offsets"]
    for entry in header.values():
        if "data_offsets" in entry and entry["data_offsets"][0] >= end:
            entry["data_offsets"] = [offset - (end - begin) for offset in entry["data_offsets"]]
    text = json.dumps(header).encode()
    with open(target, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + body[:begin] + body[end:])
    return target


def worst(actual, expected):
    return max(abs(a[key] - b[key]) / abs(b[key]) for a, b in zip(actual, expected, strict=True) for key in ("loss", "grad_norm"))


def main():
    folder, work = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    with open(f"{folder}/variants.json", encoding="utf-8") as file:
        variants = json.load(file)
    failed = False
    for golden in variants:
        variant, expected = Variant(folder, golden, work), golden["steps"]
        exact = [worst(variant.interpret(*plan), expected) for plan in ([], [*MESH, "--split-backward"])]
        single = worst(variant.compile(*MESH), expected)
        good = max(exact) <= EXACT and single <= SINGLE
        failed |= not good
        print("ok  " if good else "FAIL", golden["case"], golden["keys"], *(f"{error:.1e}" for error in [*exact, single]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
