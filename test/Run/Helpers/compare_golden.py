#!/usr/bin/env python3
"""Compare par with PyTorch + Hugging Face Transformers on the cases of test/Golden (its README describes them).

    compare_golden.py --bin build/bin --case test/Golden/llama --plan "" --plan "--mesh dp=2,tp=2" [--standin build/lib/standin]

With --standin plans are of `--target cuda`: their kernels are emulated, and NVIDIA's libraries are the stand-ins.
Cases whose documents are apart are compiled and run so. --generate: greedy continuations of cases that have some, too.
Per case and plan: every gradient of the first step, and losses, gradient norms and every parameter after three steps
of SGD (a tenth of the tolerance, like the gradients) and of AdamW (twice the tolerance). Prints a row each; exits 1 if any is off.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

from compare_plans import Failure, Runner, read_safetensors, worst_metric, worst_tensor


def flags(settings):
    return " ".join(f"--{key.replace('_', '-')} {value}" for key, value in settings.items())


class EmulatedRunner(Runner):
    """Its packages are for GPUs, of which there are none."""

    def __init__(self, args, plan, folder, launcher):
        super().__init__(args, plan + " --target cuda", folder, launcher)
        os.environ["LD_LIBRARY_PATH"] = args.standin

    def compile(self, optimizer):
        super().compile(optimizer)
        self.call([os.path.join(self.args.bin, "par-emulate"), self.package])


def check_generation(case, runner, args):
    """A row: greedy continuations, token by token."""
    with open(os.path.join(case, "generate.json")) as file:
        generate = json.load(file)
    wrong = []
    for prompt, expected in zip(generate["prompts"], generate["continuations"]):
        done = subprocess.run([os.path.join(args.bin, "par-generate"), runner.package, "--weights", case, "--ignore-eos", "--prompt-tokens",
                               ",".join(map(str, prompt)), "--tokens", str(len(expected))], capture_output=True, text=True, check=True)
        tokens = [int(number) for number in re.findall(r"\d+", done.stdout)]
        if tokens[-len(expected):] != expected:
            wrong.append(f"{prompt} -> {tokens}, expected {expected}")
    return [(f"{len(generate['prompts'])} continuations" + "".join(f"; {text}" for text in wrong), not wrong)]


def check(case, plan, args):
    """Rows (text, good) of one case under one plan."""
    with open(os.path.join(case, "golden.json")) as file:
        golden = json.load(file)
    expected = {name: read_safetensors(os.path.join(case, name + ".safetensors"))
                for name in ("gradients", "sgd", "adamw")}
    rows, t = [], args.tolerance
    with tempfile.TemporaryDirectory() as folder:
        args.config, args.seq, args.batch, args.dtype = case, golden["seq"], golden["batch"], "f32"
        args.data, args.compile_flags = os.path.join(case, "tokens.bin"), ""
        args.run_flags = f"--weights {case}"
        if "document_end" in golden:
            args.compile_flags = "--documents isolate"
            args.run_flags += f" --document-end {golden['document_end']}"
        runner = (EmulatedRunner if args.standin else Runner)(args, plan, folder, args.launcher)
        for kind in ("sgd", "adamw"):
            settings = flags(golden[kind]["settings"])
            runner.compile(kind)
            if kind == "sgd":
                _, tensors = runner.run(1, settings, "--save-grads")
                worst, name = worst_tensor(tensors, expected["gradients"], floor=t / 1000)
                rows.append((f"gradients {worst:.1e} ({name})", worst <= t / 10))
            lines, tensors = runner.run(golden["steps"], settings, "--save-params")
            loss = worst_metric(lines, golden[kind]["steps"], "loss")
            norm = worst_metric(lines, golden[kind]["steps"], "grad_norm")
            worst, name = worst_tensor(tensors, expected[kind], floor=0.0)
            rows.append((f"{kind} loss {loss:.1e} norm {norm:.1e} parameters {worst:.1e} ({name})",
                         max(loss, norm) <= t / 5 and worst <= (t / 10 if kind == "sgd" else 2 * t)))
        if args.generate and os.path.exists(os.path.join(case, "generate.json")):
            rows += check_generation(case, runner, args)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--case", action="append", required=True, help="a folder made by test/Golden/make.py")
    parser.add_argument("--plan", action="append", required=True, help="compile flags")
    parser.add_argument("--launcher", default="")
    parser.add_argument("--standin", help="the folder of the libraries that stand in for NVIDIA's")
    parser.add_argument("--generate", action="store_true", help="compare the continuations of cases that have some, too")
    parser.add_argument("--tolerance", type=float, default=1e-4)
    parser.add_argument("--timeout", type=int, default=300)
    args = parser.parse_args()

    failed = False
    for case in args.case:
        for plan in args.plan:
            try:
                rows = check(case, plan, args)
                good = all(ok for _, ok in rows)
                text = "\n       ".join(text for text, _ in rows)
                print(f"{'ok  ' if good else 'FAIL'} {os.path.basename(case)} {plan}\n       {text}", flush=True)
            except (Failure, subprocess.TimeoutExpired, KeyError, ValueError, OSError) as error:
                good = False
                print(f"FAIL {os.path.basename(case)} {plan}: {error}", flush=True)
            failed |= not good
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
