#!/usr/bin/env python3
"""The distinct kernels of packages for GPUs are taken by NVIDIA's assembler, and none of them spills registers.

    assemble.py --bin DIR [--ptxas FILE] [--config FILE ..] [--plan "FLAGS" ..] [--chip NAME ..] [--jobs N]

Without --config all examples, without --plan four plans, without --chip all chips. Kernels of several chips are the same
text but for the line that names the chip, which is checked for the first model and plan: all others are compiled once.
Prints a line for each chip and one for each kernel that spills; exit 1 if any does, or is not taken. Where there is no
ptxas it says so and exits 0.
"""
import argparse
import concurrent.futures
import glob
import os
import re
import shlex
import shutil
import sys
import tempfile

import examples
from examples import call

CHIPS = ["sm_80", "sm_90", "sm_90a"]
TARGET = re.compile(r"^\.target \w+$", re.MULTILINE)
ENTRY = re.compile(r"^\.visible \.entry (\w+)\(.*?^\}\n", re.DOTALL | re.MULTILINE)
#: Labels and shared arrays bear numbers that tell which kernel of the module it is.
NUMBERED = re.compile(r"(\$L__BB)\d+|(?<=\bshared_)\d+")
USE = re.compile(r"Compiling entry function '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores.*?Used (\d+) registers", re.DOTALL)


class Distinct:
    """The PTX of kernels that differ in more than their names, in modules of their own; where each was first."""

    def __init__(self):
        self.known, self.texts, self.places = set(), [], {}

    def add(self, ptx, where):
        head = ptx[: ptx.index(".visible .entry")]
        fresh = []
        for match in ENTRY.finditer(ptx):
            name, text = match.group(1), match.group(0)
            plain = re.sub(rf"\b{name}(?=\b|_param)", "kernel", text)
            shape = NUMBERED.sub(r"\g<1>", plain)
            if shape not in self.known:
                self.known.add(shape)
                # Names of different packages are the same: numbered, so that what spills can be named.
                number = f"kernel_{len(self.places)}"
                self.places[number] = f"{name} of {where}"
                fresh.append(plain.replace("kernel", number))
        if fresh:
            self.texts.append(head + "".join(fresh))


def compile_one(compiler, config, plan, chip):
    """The PTX of all programs of a package."""
    with tempfile.TemporaryDirectory() as folder:
        package = os.path.join(folder, "m.par")
        call([compiler, config, "-o", package, "--target", "cuda", "--chip", chip, *shlex.split(plan)])
        texts = []
        for file in sorted(glob.glob(f"{package}/*.ptx")):
            with open(file, encoding="utf-8") as ptx:
                texts.append(ptx.read())
        return texts


def collect(args, workers, chips):
    """Of the first chip; all others have the same text."""
    compiler = f"{args.bin}/par-compile"
    cases = [(config, plan) for config in args.config or examples.CONFIGS for plan in args.plan or [options for options, _ in examples.PLANS.values()]]
    firsts = [workers.submit(compile_one, compiler, *cases[0], chip) for chip in chips[1:]]
    packages = [workers.submit(compile_one, compiler, *case, chips[0]) for case in cases]
    for chip, first in zip(chips[1:], firsts):
        if [TARGET.sub("", text) for text in first.result()] != [TARGET.sub("", text) for text in packages[0].result()]:
            raise SystemExit(f"{shlex.join(cases[0])}: kernels for {chip} are others than for {chips[0]}; look at each chip alone, with --chip")
    kernels = Distinct()
    for (config, plan), package in zip(cases, packages):
        for text in package.result():
            kernels.add(text, f"{examples.get_name(config)} {plan}")
    return kernels


def assemble_one(ptxas, chip, text):
    """What ptxas says of each kernel: its name, bytes that it spills, registers."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "m.ptx")
        with open(file, "w", encoding="utf-8") as out:
            out.write(TARGET.sub(f".target {chip}", text))
        return [(name, int(stores), int(registers)) for name, _, stores, registers in USE.findall(call([ptxas, "-v", f"-arch={chip}", file, "-o", file + ".cubin"]))]


def assemble(ptxas, chip, kernels, workers):
    """Kernels that spill, and most registers of any."""
    told = [kernel for of in [workers.submit(assemble_one, ptxas, chip, text) for text in kernels.texts] for kernel in of.result()]
    if len(told) != len(kernels.places):
        raise SystemExit(f"{chip}: ptxas told of {len(told)} kernels, expected {len(kernels.places)}")
    spilled = [f"{chip}: {kernels.places[name]}: {stores} bytes of registers are spilled" for name, stores, _ in told if stores]
    return spilled, max(registers for _, _, registers in told)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--ptxas", default="ptxas")
    parser.add_argument("--jobs", type=int, default=2)
    for name in ("config", "plan", "chip"):
        parser.add_argument(f"--{name}", action="append", default=[])
    args = parser.parse_args()
    ptxas = shutil.which(args.ptxas)
    if not ptxas:
        print(f"skipped: there is no {args.ptxas} on this machine (CUDA's toolkit has it)")
        return 0
    failed, chips = False, args.chip or CHIPS
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as workers:
        kernels = collect(args, workers, chips)
        for chip in chips:
            spilled, most = assemble(ptxas, chip, kernels, workers)
            print(f"{chip}: {len(kernels.places)} kernels, at most {most} registers, {len(spilled)} spill", flush=True)
            print("".join(f"{line}\n" for line in spilled), end="")
            failed |= bool(spilled)
    return int(failed)


sys.exit(main())
