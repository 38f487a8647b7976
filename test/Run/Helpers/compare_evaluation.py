#!/usr/bin/env python3
"""Evaluate during training under several plans, of a GPT-2 with dropout or another model.

    compare_evaluation.py CONFIG WEIGHTS TOKENS WORK_DIR PLAN [PLAN ...]      CONFIG and WEIGHTS as par-compile and par-run take them

Per plan: the loss before any step equals the interpreter's of the model without dropout over the same windows, a last batch that is not full
included; the losses after steps equal the first plan's to 1e-6; the training lines and the trained parameters are the bytes of a run that
evaluates nothing, whose peak memory is the planned one. With a process per rank, by MPI and by TCP, the losses are those of threads to the last digit.
"""
import json
import os
import sys

from running import lines, run, run_ranks

DROPOUT = {"resid_pdrop": 0.1, "attn_pdrop": 0.2, "embd_pdrop": 0.1}
SEQ = 32


def content(path):
    with open(path, "rb") as file:
        return file.read()


def expect(good, what):
    if not good:
        sys.exit(f"error: {what}")


def dropout(config, share=1):
    """Flags that set `share` of DROPOUT, where the family has it."""
    with open(os.path.join(config, "config.json") if os.path.isdir(config) else config, encoding="utf-8") as file:
        has_dropout = json.load(file)["model_type"] == "gpt2"
    return " ".join(f"--set {key}={share * rate}" for key, rate in DROPOUT.items()) if has_dropout else ""


def count_windows(tokens):
    """Windows of a file of two bytes per token; the token behind the last one is its target."""
    return (os.path.getsize(tokens) // 2 - 1) // SEQ


def close(a, b):
    return abs(a - b) <= 1e-6 * abs(b)


def train(package, weights, tokens, work, flags):
    metrics, params = os.path.join(work, "metrics.jsonl"), os.path.join(work, "params.safetensors")
    run(f"par-run {package} --steps 3 --weights {weights} --data {tokens} --metrics {metrics} --save-params {params} {flags}")
    return lines(metrics), content(params)


def check(plan, config, weights, tokens, work, reference):
    package = os.path.join(work, "model.par")
    run(f"par-compile {config} {dropout(config)} --seq {SEQ} --batch 8 {plan} -o {package}")
    with open(os.path.join(package, "manifest.json"), encoding="utf-8") as file:
        planned = max(program["peak_bytes"] for program in json.load(file)["memory"])
    metrics = os.path.join(work, "metrics.jsonl")
    run(f"par-run {package} --steps 0 --weights {weights} --eval-data {tokens} --metrics {metrics}")
    (first,) = lines(metrics)
    expect(first["step"] == 0 and first["eval_tokens"] == SEQ * count_windows(tokens), f"{plan}: {first}")
    expect(close(first["eval_loss"], reference), f"{plan}: {first}, the interpreter says {reference}")

    with_evaluation, trained = train(package, weights, tokens, work, f"--eval-data {tokens} --eval-every 2")
    without, alone = train(package, weights, tokens, work, "")
    evaluations = [line for line in with_evaluation if "eval_loss" in line]
    expect([line["step"] for line in evaluations] == [2, 3], f"{plan}: evaluated {evaluations}")
    expect(evaluations[0]["eval_loss"] < first["eval_loss"], f"{plan}: nothing was learnt: {evaluations}")
    steps = [line for line in with_evaluation if "loss" in line]
    for key in ("step", "loss", "grad_norm", "lr", "sent_bytes"):
        expect([line[key] for line in steps] == [line[key] for line in without], f"{plan}: {key} differs with evaluation")
    expect(trained == alone, f"{plan}: parameters differ with evaluation")
    expect([line["peak_bytes"] for line in without] == 3 * [planned], f"{plan}: peak is not the planned {planned}: {without}")
    losses = [line["eval_loss"] for line in evaluations]
    check_processes(plan, package, weights, tokens, work, losses)
    return losses


def check_processes(plan, package, weights, tokens, work, losses):
    with open(os.path.join(package, "manifest.json"), encoding="utf-8") as file:
        ranks = json.load(file)["world_size"]
    metrics = os.path.join(work, "processes.jsonl")
    for transport in ["mpi", "tcp"] if ranks > 1 else []:
        words = f"par-run {package} --steps 3 --weights {weights} --data {tokens} --metrics {metrics} --eval-data {tokens} --eval-every 2"
        run_ranks(words.split(), ranks, transport)
        found = [line["eval_loss"] for line in lines(metrics) if "eval_loss" in line]
        expect(found == losses, f"{plan}: {transport} evaluates to {found}, threads to {losses}")


def main(config, weights, tokens, work, *plans):
    step = run(f"par-interpret {config} {dropout(config, 0)} --seq {SEQ} --batch {count_windows(tokens)} --weights {weights} --data {tokens}")
    reference, first = json.loads(step)["loss"], None
    for plan in plans:
        losses = check(plan, config, weights, tokens, work, reference)
        first = first or losses
        expect(all(map(close, losses, first)), f"{plan}: losses {losses}, {plans[0]} has {first}")
        print(f"{plan} agrees")


if __name__ == "__main__":
    main(*sys.argv[1:])
