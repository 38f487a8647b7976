#!/usr/bin/env python3
"""Rows that are longer on GPUs than on processors are so in no file: checkpoints go from one to the other and back, exported and saved tensors have the model's shapes, and texts go on in the same way.

    moved_rows.py --bin DIR --standin DIR --config FILE --flags "FLAGS of par-compile" --vocabulary N --padded N
"""
import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import compare_plans  # pylint: disable=wrong-import-position


def call(words, **variables):
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, **variables})
    if done.returncode:
        raise SystemExit(f"{shlex.join(words)}: exit {done.returncode}: {done.stderr.strip()[-600:]}")
    return done.stdout


def shapes(package, kind):
    """Of the table of tokens, or of the logits: in the model, and on a rank."""
    with open(f"{package}/manifest.json", encoding="utf-8") as file:
        program = json.load(file)["programs"][0]
    found = [item for item in program[kind] if item["name"] in ("wte.weight", "model.embed_tokens.weight", "logits")]
    return found[0]["shape"], found[0]["local_shape"]


def check(what, found, expected):
    if found != expected:
        raise SystemExit(f"{what}: {found}, expected {expected}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    for name in ("bin", "standin", "config", "flags"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("vocabulary", "padded"):
        parser.add_argument(f"--{name}", type=int, required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cpu, gpu = f"{folder}/cpu.par", f"{folder}/gpu.par"
        for package, target in (cpu, []), (gpu, ["--target", "cuda"]):
            call([f"{args.bin}/par-compile", args.config, "-o", package, "--seq", "16", "--batch", "2", *shlex.split(args.flags), *target])
        call([f"{args.bin}/par-emulate", gpu])
        for kind, dim in ("variables", 0), ("outputs", 2):
            for package, size in (cpu, args.vocabulary), (gpu, args.padded):
                whole, local = shapes(package, kind)
                check(f"{package}: {kind}", (whole[dim], local[dim]), (args.vocabulary, size))

        def train(package, steps, *flags):
            metrics = f"{folder}/metrics-{len(os.listdir(folder))}.jsonl"  # a resumed run would go on with one that is there
            variables = {"LD_LIBRARY_PATH": args.standin} if package == gpu else {}
            call([f"{args.bin}/par-run", package, "--steps", str(steps), "--data", "random", "--seed", "3", "--lr", "1e-2", "--metrics", metrics, *flags], **variables)
            with open(metrics, encoding="utf-8") as file:
                return [json.loads(line) for line in file]

        expected = train(cpu, 3, "--save-params", f"{folder}/expected.safetensors")
        # One step on each; the last one has what both of the others have left.
        lines = train(gpu, 1, "--checkpoint", f"{folder}/a")
        lines += train(cpu, 2, "--resume", f"{folder}/a", "--checkpoint", f"{folder}/b")
        lines += train(gpu, 3, "--resume", f"{folder}/b", "--checkpoint", f"{folder}/c", "--save-params", f"{folder}/moved.safetensors")
        for one, other in zip(expected, lines, strict=True):
            for name in "loss", "grad_norm":
                if not abs(one[name] - other[name]) <= 2e-5 * abs(one[name]):
                    raise SystemExit(f"step {one['step']}: {name} {other[name]}, expected {one[name]}")
        tensors = [compare_plans.read_safetensors(f"{folder}/{name}.safetensors") for name in ("expected", "moved")]
        check("shapes", {name: shape for name, (shape, _) in tensors[1].items()}, {name: shape for name, (shape, _) in tensors[0].items()})
        call([f"{args.bin}/par-export", gpu, "--checkpoint", f"{folder}/c", "-o", f"{folder}/hf"])
        texts = [
            call([f"{args.bin}/par-generate", package, "--weights", f"{folder}/hf", "--prompt-tokens", "5,7,11", "--tokens", "8", "--ignore-eos"], **variables)
            for package, variables in ((cpu, {}), (gpu, {"LD_LIBRARY_PATH": args.standin}))
        ]
        check("generated", texts[1], texts[0])
        exported = compare_plans.read_safetensors(f"{folder}/hf/model.safetensors")
        check("exported shapes", {name: shape for name, (shape, _) in exported.items()}, {name: shape for name, (shape, _) in tensors[0].items()})
    print("no file has padding")


main()
