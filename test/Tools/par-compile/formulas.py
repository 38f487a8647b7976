#!/usr/bin/env python3
"""Planned traffic and memory against the formulas of docs/Formulas.md: formulas.py GPT2_CONFIG LLAMA_CONFIG

Per layer: what one layer more adds to a plan, so that embedding and head do not count. Every number must be exact.
"""
import sys

sys.path.append(sys.path[0] + "/../../Run/Helpers")
from running import run
from summary import read_memory, read_sent

B, S, H = 8, 64, 64  # sequences of a micro-batch, tokens, embedding
VALUE = 2            # bytes of bf16
STREAM = B * S * H * VALUE
WEIGHTS, VECTORS = 12 * H * H + 7 * H, 6 * H  # of a GPT-2 block: split over tp; whole on every rank (norms, biases after sums)
WIDE = 4             # bytes of f32, in which gradients are reduced


def plan(config, flags):
    """({kind:axes → bytes}, {category → bytes}) of one rank"""
    text = run(f"par-compile {config} --seq {S} --batch {B} --dtype bf16 --dry-run --explain {flags}")
    return {f"{kind}:{axes}": amount for kind, axes, amount, _ in read_sent(text)}, read_memory(text)[0]


def per_layer(config, flags, layers=2):
    (fewer, less), (more, most) = (plan(config, f"{flags} --set n_layer={count}") for count in (layers, layers + 1))
    return {key: more[key] - fewer.get(key, 0) for key in more}, {key: most[key] - less[key] for key in most}


def expect(what, actual, expected, problems):
    if actual != expected:
        problems.append(f"{what}: {actual}, expected {expected}")


def check_tensor_parallel(config, problems):
    for n in (2, 4):
        ring = (n - 1) / n
        # 1909.08053: two all-reduces of bsh forward and two backward, each 2(n-1)/n.
        sent, _ = per_layer(config, f"--mesh tp={n}")
        expect(f"tp={n}", sent, {"all_reduce:tp": 8 * STREAM * ring}, problems)
        # Run again: the first of the two forward all-reduces; nothing reads what the second one makes.
        sent, _ = per_layer(config, f"--mesh tp={n} --recompute full")
        expect(f"tp={n} full", sent, {"all_reduce:tp": 10 * STREAM * ring}, problems)
        # 2205.05198: the same bytes as gathers and scatters, inputs of products gathered again, and gradients of what is whole on all ranks.
        for policy, scatters in (("none", 4), ("selective", 4), ("full", 5)):
            sent, _ = per_layer(config, f"--mesh tp={n} --sequence-parallel --recompute {policy}")
            expect(f"tp={n} sequence-parallel {policy}", sent,
                   {"all_gather:tp": 6 * STREAM * ring, "reduce_scatter:tp": scatters * STREAM * ring, "all_reduce:tp": 2 * WIDE * VECTORS * ring}, problems)
        sent, _ = per_layer(config, f"--mesh tp={n} --sequence-parallel --recompute auto --recompute-limit 1000000000")
        expect(f"tp={n} sequence-parallel, all held", sent,
               {"all_gather:tp": 4 * STREAM * ring, "reduce_scatter:tp": 4 * STREAM * ring, "all_reduce:tp": 2 * WIDE * VECTORS * ring}, problems)


def check_data_parallel(config, problems):
    # Ring all-reduce of the gradient: 2Ψ(n-1)/n; under tp a rank has N/tp weights, and those that are whole everywhere.
    for dp, tp in ((4, 1), (2, 2)):
        sent, _ = per_layer(config, f"--mesh dp={dp},tp={tp}")
        expect(f"dp={dp},tp={tp}", sent["all_reduce:dp"], 2 * WIDE * (WEIGHTS // tp + VECTORS) * (dp - 1) / dp, problems)


def check_sequence_memory(config, problems):
    # 2205.05198: layer inputs alone are divided by tp as a whole; of `none` only what tp did not divide is.
    for policy, ratio in (("full", 1 / 2), ("none", 3 / 4)):
        whole, part = (per_layer(config, f"--mesh tp=2 --recompute {policy} {flag}")[1]["activations"] for flag in ("", "--sequence-parallel"))
        if not abs(part / whole - ratio) < 0.005:  # statistics of norms and attention are small
            problems.append(f"{policy}: sequence parallelism holds {part} of {whole} bytes per layer, expected {ratio}")
    whole, part = (plan(config, f"--mesh tp=2 --recompute full --set n_layer=16 {flag}")[1]["activations"] for flag in ("", "--sequence-parallel"))
    if part > 0.6 * whole:
        problems.append(f"16 layers, full: sequence parallelism holds {part} of {whole} bytes")


def check_zero(config, problems):
    # 1910.02054 section 5: 2Ψ + 2Ψ + 12Ψ bytes, Ψ parameters, of which stage 1 divides the last, stage 2 the last two, stage 3 all.
    n = 4
    whole = plan(config, "--grad-dtype bf16")[1]
    psi = whole["params"] / 2
    for stage, divided in enumerate(((), ("optimizer",), ("optimizer", "grads"), ("optimizer", "grads", "params"))):
        memory = plan(config, f"--mesh dp={n} --zero {stage} --grad-dtype bf16")[1]
        for name, bytes_ in (("params", 2), ("grads", 2), ("optimizer", 12)):
            expected = bytes_ * psi / (n if name in divided else 1)
            if stage == 1 and name == "grads":
                expected += 2 * psi / n  # the reduced part, beside the accumulators
            if not expected <= memory[name] <= expected + 4:  # @loss is an accumulator too
                problems.append(f"zero {stage}: {name} {memory[name]}, expected {expected}")


if __name__ == "__main__":
    gpt2, llama = sys.argv[1:]
    found = []
    check_tensor_parallel(gpt2, found)
    check_data_parallel(gpt2, found)
    check_sequence_memory(gpt2, found)
    check_zero(llama, found)
    print("\n".join(found) or "plans agree with the formulas")
    sys.exit(1 if found else 0)
