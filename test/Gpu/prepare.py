#!/usr/bin/env python3
"""Compiles what run.sh needs on a machine with a GPU and without a compiler; see prepare.sh."""
import argparse
import ctypes
import json
import lzma
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import attention
import examples
import random_plans
from cases import (ATTENTION_ROWS, CLUSTERS, EQUAL, EQUAL_FLAGS, EQUAL_STEPS, MODELS, OUTPUT_CONFIGS, OUTPUT_PLANS, OUTPUT_ROWS,
                   OUTPUT_TABLE_ROWS, PREDICTED, STEP_FLAGS, STEPS)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Folder:
    def __init__(self, args):
        self.path, self.bin, self.chip, self.emulate = args.folder, args.bin, args.chip, args.emulate
        for name in ("bin", "packages", "expected"):
            os.makedirs(self.at(name), exist_ok=True)
        shutil.copy2(os.path.join(self.bin, "par-run"), self.at("bin"))
        subprocess.run(["strip", self.at("bin", "par-run")], check=True)

    def at(self, *names):
        return os.path.join(self.path, *names)

    def call(self, *command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit(f"error: {shlex.join(command)}: exit {done.returncode}\n{done.stdout}")
        return done.stdout

    def compile(self, config, package, flags):
        self.call(os.path.join(self.bin, "par-compile"), config, "-o", package, *shlex.split(flags))

    def compile_for_gpu(self, config, name, flags):
        package = self.at("packages", name + ".par")
        if os.path.exists(package):
            return
        self.compile(config, package, f"{flags} --target cuda --chip {self.chip}")
        if self.emulate:
            self.call(os.path.join(self.bin, "par-emulate"), package)
        self.share_launcher(package, "../../bin/rank")

    def share_launcher(self, package, shared):
        """The same program in every package, and for every rank of it: one file in `bin`, and links to it."""
        os.replace(os.path.join(package, "rank"), self.at("bin", "rank"))
        for name in os.listdir(package):
            if re.fullmatch(r"rank\d+", name):
                os.remove(os.path.join(package, name))
                os.symlink(shared, os.path.join(package, name))
        os.symlink(shared, os.path.join(package, "rank"))

    def expect(self, model):
        """Gradients of the first step and metrics of a few, of one rank on a CPU."""
        config, flags, _ = MODELS[model]
        package, gradients = self.at("expected", model + ".par"), self.at("expected", model + ".safetensors")
        metrics = self.at("expected", model + ".jsonl")
        if os.path.exists(metrics):
            return
        self.compile(os.path.join(ROOT, config), package, flags)
        run = [os.path.join(self.bin, "par-run"), package, *shlex.split(EQUAL_FLAGS)]
        self.call(*run, "--steps", "1", "--save-grads", gradients)
        self.call(*run, "--steps", str(EQUAL_STEPS), "--metrics", metrics)
        shutil.rmtree(package)

    def predict(self, config, name, flags):
        """Seconds of a step by the cost model, for every GPU that there is a cluster file of."""
        seconds = {}
        for cluster in CLUSTERS.values():
            file = os.path.join(ROOT, "examples", "clusters", cluster + ".json")
            told = self.call(os.path.join(self.bin, "par-compile"), config, *shlex.split(flags), "--target", "cuda",
                             "--cluster", file, "--dry-run", "--explain")
            step, unit = re.search(r"^step: (\S+) (\w+) by the cost model", told, re.M).groups()
            seconds[cluster] = float(step) * {"us": 1e-6, "ms": 1e-3, "s": 1}[unit]
        with open(self.at("expected", name + ".predicted.json"), "w") as file:
            json.dump(seconds, file)

    def record_outputs(self, configs):
        """Kernels at real lengths of rows with inputs, and outputs as they were emulated."""
        if os.path.exists(self.at("outputs", "kernels.json")):
            return
        build = os.path.dirname(self.bin)
        with tempfile.TemporaryDirectory() as texts:
            files = examples.print_programs(build, texts, configs, OUTPUT_PLANS, chip=self.chip, **OUTPUT_ROWS)
            self.record("outputs", files)

    def record(self, name, files, *flags):
        """Kernels of programs, in a folder of that name."""
        with tempfile.TemporaryDirectory() as made:
            self.call(os.path.join(os.path.dirname(self.bin), "test", "Unit", "Target", "real-rows"), "--rows",
                      str(OUTPUT_TABLE_ROWS), "--record", made, *flags, *files)
            binary = os.path.join(made, "kernels.bin")
            with open(binary, "rb") as raw, lzma.open(binary + ".xz", "w", preset=1) as packed:
                shutil.copyfileobj(raw, packed)
            os.remove(binary)
            self.keep_outputs(made, name)

    def record_attention(self, rows, timed_rows, names):
        """Attention with caps, sinks and documents: a few rows as they were emulated, and many whose time counts."""
        for name, count, heads, flags in (("attention", rows, 2, []), ("attention-times", timed_rows, 16, ["--unemulated"])):
            if count and not os.path.exists(self.at(name, "kernels.json")):
                with tempfile.TemporaryDirectory() as texts:
                    self.record(name, attention.write(texts, count, heads, self.chip, names), *flags)

    def keep_outputs(self, made, name):
        for file in os.listdir(made):
            if file.endswith(".so") and not self.emulate:
                os.remove(os.path.join(made, file))
        if self.emulate:  # the stand-in finds kernels in packages
            with open(os.path.join(made, "manifest.json"), "w") as file:
                file.write("{}\n")
        shutil.rmtree(self.at(name), ignore_errors=True)
        shutil.copytree(made, self.at(name))

    def draw_plans(self, count):
        """Random plans of random models, with what one rank on a CPU computes for each."""
        for number in range(count):
            if random_plans.prepare(self.bin, self.at("random", str(number)), number, ["--chip", self.chip]):
                package = self.at("random", str(number), random_plans.PACKAGE)
                if self.emulate:
                    self.call(os.path.join(self.bin, "par-emulate"), package)
                self.share_launcher(package, "../../../bin/rank")

    def changed(self, config, changes, name):
        with open(os.path.join(ROOT, config)) as file:
            model = {**json.load(file), **changes}
        path = self.at("expected", name + ".json")
        with open(path, "w") as file:
            json.dump(model, file)
        return path


def has_cudnn():
    try:
        ctypes.CDLL("libcudnn.so.9")
    except OSError:
        return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--chip", default="sm_90")
    parser.add_argument("--cases", default=",".join([*EQUAL, *STEPS, *PREDICTED, "outputs", "attention"]), help="some of them only")
    parser.add_argument("--outputs-of", action="append", metavar="CONFIG", help="models whose kernels `outputs` has")
    parser.add_argument("--attention-of", action="append", metavar="NAME", help="cases that `attention` has (attention.py)")
    parser.add_argument("--attention-rows", type=int, default=4096, help="of those whose time counts")
    parser.add_argument("--random", type=int, default=24, help="random plans that `random` runs")
    parser.add_argument("--emulate", action="store_true", help="for the stand-in, to try run.sh without a GPU")
    args = parser.parse_args()
    folder = Folder(args)
    for name in args.cases.split(","):
        if name in EQUAL:
            model, plan = EQUAL[name]
            if "--cudnn-plans" in plan and not has_cudnn():
                print(name, "is left out: no libcudnn.so.9 here")
                continue
            folder.expect(model)
            folder.compile_for_gpu(os.path.join(ROOT, MODELS[model][0]), name, f"{MODELS[model][1]} {plan}")
        elif name == "outputs":
            folder.record_outputs(args.outputs_of or [os.path.join(ROOT, config) for config in OUTPUT_CONFIGS])
        elif name == "attention":
            folder.record_attention(ATTENTION_ROWS, args.attention_rows, args.attention_of)
        elif name in PREDICTED:
            config, changes, flags = PREDICTED[name]
            config = folder.changed(config, changes, name)
            folder.predict(config, name, flags)
            folder.compile_for_gpu(config, name, flags)
        else:
            config, changes, seq, batch = STEPS[name]
            folder.compile_for_gpu(folder.changed(config, changes, name), name,
                                   f"--seq {seq} --batch {batch} {STEP_FLAGS}")
        print(name, flush=True)
    folder.draw_plans(args.random)
    size = sum(os.lstat(os.path.join(at, file)).st_size for at, _, files in os.walk(args.folder) for file in files)
    print(f"{args.folder}: {size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
