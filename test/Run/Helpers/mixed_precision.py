#!/usr/bin/env python3
"""Training in bf16: mixed_precision.py CHECK CONFIG WORK_DIR

  state        bytes of state per parameter are those of the types asked for, to the byte
  interpreter  a step follows par-interpret's bf16 arithmetic: loss, gradients and, after it, masters
  curve        200 steps follow the loss of f32 within 1 %
  small-steps  with a learning rate of 1e-6 at least 99 % of the masters change in a step
  tools        evaluation, weights from files, export and generation take masters and give what they promise
  resume       a run that is resumed from a checkpoint gives the bytes of one that was not stopped
"""
import json
import os
import shutil
import struct
import sys

from compare_plans import norm, read_safetensors
from running import run

TEXT = "/usr/share/common-licenses/GPL-3"




def compile_model(config, package, *flags):
    run("par-compile", config, "-o", package, "--seq", "64", "--batch", "8", *flags)
    with open(os.path.join(package, "manifest.json")) as file:
        return json.load(file)


def train(package, work, *flags, save=None):
    """Metrics of every step and what `save`, a flag of par-run, wrote."""
    metrics, tensors = os.path.join(work, "metrics.jsonl"), os.path.join(work, "saved.safetensors")
    for path in (metrics, tensors):
        if os.path.exists(path):
            os.remove(path)
    run("par-run", package, "--seed", "1", "--metrics", metrics, *flags, *([save, tensors] if save else []))
    with open(metrics) as file:
        lines = [json.loads(line) for line in file]
    return lines, read_safetensors(tensors) if save else None


def check_state(config, work):
    for flags, expected in (((), (2, 4, 12)),
                            (("--grad-dtype", "bf16"), (2, 2, 12)),
                            (("--grad-dtype", "bf16", "--moment-dtype", "bf16"), (2, 2, 8)),
                            (("--optimizer", "sgd"), (2, 4, 4)),
                            (("--dtype", "f32"), (4, 4, 8)),
                            (("--dtype", "f32", "--grad-dtype", "bf16", "--moment-dtype", "bf16"), (4, 2, 4))):
        dtype = () if "--dtype" in flags else ("--dtype", "bf16")
        manifest = compile_model(config, os.path.join(work, "state.par"), *dtype, *flags)
        size, memory = manifest["model"]["parameters"], manifest["memory"][0]["arena_bytes"]
        actual = tuple(memory[name] / size for name in ("parameters", "gradients", "optimizer"))
        if actual != expected:
            sys.exit(f"{flags}: parameters, gradients and optimizer have {actual} bytes per parameter, expected {expected}")
        lines, _ = train(os.path.join(work, "state.par"), work, "--steps", "2", "--data", TEXT)
        if lines[-1]["peak_bytes"] != manifest["memory"][0]["peak_bytes"]:
            sys.exit(f"{flags}: peak {lines[-1]['peak_bytes']}, planned {manifest['memory'][0]['peak_bytes']}")
        print(f"{' '.join(flags) or 'default'}: {sum(expected)} bytes per parameter")


def differences(expected, actual, floor):
    """Largest relative difference of a tensor; differences below `floor` of all tensors together do not count."""
    total = sum(norm(values) ** 2 for _, values in expected.values()) ** 0.5
    worst = (0.0, "")
    for name, (_, values) in expected.items():
        apart = norm([a - b for a, b in zip(values, actual[name][1])])
        worst = max(worst, (max(apart - floor * total, 0) / norm(values), name))
    return worst


def check_near(expected, reference, saved, lines, what, limits):
    """A step against the interpreter's, with the largest differences of loss, gradient norm and a tensor."""
    apart = {key: abs(lines[0][key] / expected[key] - 1) for key in ("loss", "grad_norm")}
    apart["tensor"], name = differences(read_safetensors(reference), saved, 1e-5)
    text = ", ".join(f"{key} {value:.1e}" for key, value in apart.items())
    print(f"{what}: differences {text} ({name})", file=sys.stderr)
    if not all(value <= limit for value, limit in zip(apart.values(), limits)):
        sys.exit(f"{what}: {text} ({name}), expected at most {limits}")
    print(f"{what}: within {limits[-1]:g}")


def check_interpreter(config, work):
    """Plain SGD: Adam's first step has the sign of gradients that are nothing but rounding. The processor's units, where it has any,
    round the probabilities of attention to bf16 before they are multiplied; without them nothing is rounded that the interpreter does
    not round."""
    for extra in ((), ("--grad-dtype", "bf16")):
        common = ["--dtype", "bf16", "--seq", "16", "--batch", "2", "--optimizer", "sgd", *extra]
        package, reference = os.path.join(work, "near.par"), os.path.join(work, "reference.safetensors")
        run("par-compile", config, "-o", package, *common)
        for what, limit in (("grads", 1e-2), ("params", 1e-3)):
            steps = ["--steps", "1", "--seed", "1", "--lr", "0.02"]
            text = run("par-interpret", config, *common, *steps, "--save", what, "-o", reference)
            expected = json.loads(text.splitlines()[0])
            for units, limits in (("none", (2e-5, 2e-3, limit)), ("auto", (2e-4, 5e-3, 3 * limit))):
                lines, saved = train(package, work, "--steps", "1", "--lr", "0.02", "--bf16-units", units, save="--save-" + what)
                check_near(expected, reference, saved, lines, f"{what} with units {units}", limits)


def check_curve(config, work):
    losses = []
    for dtype in ("f32", "bf16"):
        compile_model(config, os.path.join(work, dtype + ".par"), "--dtype", dtype)
        lines, _ = train(os.path.join(work, dtype + ".par"), work, "--steps", "200", "--data", TEXT, "--lr", "1e-3")
        losses.append([line["loss"] for line in lines])
    worst = max(abs(a - b) / a for a, b in zip(*losses))
    print(f"largest difference of a step's loss {worst:.2%}; {losses[0][0]:.3f} -> {losses[0][-1]:.3f}", file=sys.stderr)
    if not (worst <= 0.01 and losses[0][-1] < 0.7 * losses[0][0]):
        sys.exit(f"bf16 leaves f32 by {worst:.2%}")
    print("200 steps within 1 %")


def check_small_steps(config, work):
    package = os.path.join(work, "small.par")
    compile_model(config, package, "--dtype", "bf16")
    values = []
    for rate in ("0", "1e-6"):
        _, saved = train(package, work, "--steps", "1", "--data", "random", "--lr", rate, save="--save-params")
        values.append([value for name in sorted(saved) for value in saved[name][1]])
    changed = sum(a != b for a, b in zip(*values)) / len(values[0])
    if changed < 0.99:
        sys.exit(f"only {changed:.2%} of the masters change")
    print("small steps change masters")


def check_resume(config, work):
    package, checkpoint = os.path.join(work, "resume.par"), os.path.join(work, "checkpoint")
    compile_model(config, package, "--dtype", "bf16", "--moment-dtype", "bf16")
    flags = ["--data", TEXT, "--lr", "1e-3", "--checkpoint", checkpoint, "--checkpoint-every", "2"]
    whole = train(package, work, "--steps", "4", *flags, save="--save-params")
    # Masters lie under the parameters' names, in f32.
    first = read_safetensors(os.path.join(checkpoint, "step-00000004", "model-00001-of-00001.safetensors"))
    if {name: values for name, (_, values) in first.items()} != {name: values for name, (_, values) in whole[1].items()}:
        sys.exit("the checkpoint does not hold the masters that --save-params wrote")
    if not any(value != round_to_bf16(value) for _, values in first.values() for value in values):
        sys.exit("masters are bf16 numbers")
    rest = train(package, work, "--steps", "4", "--data", TEXT, "--lr", "1e-3", "--resume",
                 os.path.join(checkpoint, "step-00000002"), save="--save-params")
    if rest[1] != whole[1] or [line["loss"] for line in rest[0]] != [line["loss"] for line in whole[0]][2:]:
        sys.exit("the resumed run differs")
    print("resumed runs are equal")


def header(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        return json.loads(file.read(length))


def check_tools(config, work):
    package, checkpoint, exported = (os.path.join(work, name) for name in ("tools.par", "checkpoint", "exported"))
    shutil.rmtree(work)
    os.makedirs(work)
    compile_model(config, package, "--dtype", "bf16", "--mesh", "tp=2")
    lines, masters = train(package, work, "--steps", "2", "--data", TEXT, "--lr", "1e-3", "--eval-data", TEXT, "--checkpoint",
                           checkpoint, save="--save-params")
    if not abs(lines[-1]["eval_loss"] - lines[1]["loss"]) < 0.2 * lines[1]["loss"]:
        sys.exit(f"eval_loss {lines[-1]['eval_loss']} after loss {lines[1]['loss']}")
    for flags, dtype, name in (((), "BF16", "bfloat16"), (("--dtype", "f32"), "F32", "float32")):
        folder = exported + dtype
        run("par-export", package, "--checkpoint", checkpoint, "-o", folder, *flags)
        types = {entry["dtype"] for key, entry in header(os.path.join(folder, "model.safetensors")).items() if key != "__metadata__"}
        with open(os.path.join(folder, "config.json")) as file:
            stated = json.load(file)["torch_dtype"]
        if types != {dtype} or stated != name:
            sys.exit(f"par-export {flags}: weights are {types}, the config says {stated}")
    if read_safetensors(os.path.join(exported + "F32", "model.safetensors")) != masters:
        sys.exit("exported f32 weights are not the masters")
    _, again = train(package, work, "--steps", "1", "--data", TEXT, "--lr", "0", "--weights", exported + "F32", save="--save-params")
    if again != masters:
        sys.exit("--weights does not give masters what is in the file")
    tokens = run("par-generate", package, "--checkpoint", checkpoint, "--prompt-tokens", "72,101,108", "--tokens", "4")
    if len(tokens.replace(",", " ").split()) < 4:
        sys.exit(f"par-generate printed {tokens!r}")
    print("tools take masters")


def round_to_bf16(value):
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000))[0]


if __name__ == "__main__":
    check, config, work = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    {"state": check_state, "interpreter": check_interpreter, "curve": check_curve,
     "small-steps": check_small_steps, "resume": check_resume, "tools": check_tools}[check](config, work)
