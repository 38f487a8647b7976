#!/usr/bin/env python3
"""The distinct kernels of packages for GPUs are taken by NVIDIA's assembler, and none of them spills registers.

    assemble.py --bin DIR [--ptxas FILE] [--config FILE ..] [--plan "FLAGS" ..] [--chip NAME ..]

Without --config all of examples/configs, without --plan four plans, without --chip all chips. Prints a line for each chip and one for each kernel that spills; exit 1 if any does, or is not taken. Where there is no ptxas it
says so and exits 0.
"""
import argparse
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CONFIGS = os.path.join(HERE, "..", "..", "examples", "configs", "*.json")
CHIPS = ["sm_80", "sm_90", "sm_90a"]
PLANS = [
    "--dtype bf16",
    "--dtype f32 --recompute full",
    "--dtype bf16 --mesh dp=2,tp=2 --zero 3 --sequence-parallel --recompute selective",
    "--dtype bf16 --mesh pp=2,tp=2 --micro-batches 2",
]
ENTRY = re.compile(r"^\.visible \.entry (\w+)\(.*?^\}\n", re.DOTALL | re.MULTILINE)
#: Labels and shared arrays bear numbers that tell which kernel of the module it is.
NUMBERED = re.compile(r"(\$L__BB)\d+|(?<=\bshared_)\d+")
USE = re.compile(r"Compiling entry function '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores.*?Used (\d+) registers", re.DOTALL)


def call(words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{shlex.join(words)}: exit {done.returncode}: {done.stderr.strip()[-600:]}")
    return done.stdout + done.stderr


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


def collect(args, chip):
    kernels = Distinct()
    for config in args.config or sorted(glob.glob(CONFIGS)):
        for plan in args.plan or PLANS:
            with tempfile.TemporaryDirectory() as folder:
                package = os.path.join(folder, "m.par")
                call([f"{args.bin}/par-compile", config, "-o", package, "--target", "cuda", "--chip", chip, *shlex.split(plan)])
                for file in sorted(glob.glob(f"{package}/*.ptx")):
                    with open(file, encoding="utf-8") as ptx:
                        kernels.add(ptx.read(), f"{os.path.basename(config)} {plan}")
    return kernels


def assemble(ptxas, chip, kernels):
    """Kernels that spill, and most registers of any."""
    spilled, most, seen = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for text in kernels.texts:
            file = os.path.join(folder, "m.ptx")
            with open(file, "w", encoding="utf-8") as out:
                out.write(text)
            for name, _, stores, registers in USE.findall(call([ptxas, "-v", f"-arch={chip}", file, "-o", os.path.join(folder, "m.cubin")])):
                seen, most = seen + 1, max(most, int(registers))
                if int(stores):
                    spilled.append(f"{chip}: {kernels.places[name]}: {stores} bytes of registers are spilled")
    if seen != len(kernels.places):
        raise SystemExit(f"{chip}: ptxas told of {seen} kernels, expected {len(kernels.places)}")
    return spilled, most


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--ptxas", default="ptxas")
    for name in ("config", "plan", "chip"):
        parser.add_argument(f"--{name}", action="append", default=[])
    args = parser.parse_args()
    ptxas = shutil.which(args.ptxas)
    if not ptxas:
        print(f"skipped: there is no {args.ptxas} on this machine (CUDA's toolkit has it)")
        return 0
    failed = False
    for chip in args.chip or CHIPS:
        kernels = collect(args, chip)
        spilled, most = assemble(ptxas, chip, kernels)
        print(f"{chip}: {len(kernels.places)} kernels, at most {most} registers, {len(spilled)} spill", flush=True)
        print("".join(f"{line}\n" for line in spilled), end="")
        failed |= bool(spilled)
    return int(failed)


sys.exit(main())
