#!/usr/bin/env python3
"""Train one model under several plans and compare each with one rank.

For every plan these runs are compared with the same run on one rank:
  gradients  one step; every gradient tensor, so a wrong scale that Adam or a global norm would hide is seen
  adamw      ten steps with weight decay and active clipping; losses, gradient norms and final parameters
  sgd        with --sgd: ten steps of plain SGD, by a package of its own; losses, gradient norms and final parameters
and the run must show that the plan was carried out: traffic on every mesh axis larger than one, the planned
bytes of it and the planned peaks of device and host memory, and one process per rank under a launcher. Prints a row per plan; exits 1 if any plan fails.

    compare_plans.py --bin build/bin --config test/Run/Inputs/llama-tiny.json --plan "--mesh dp=2,tp=2" --plan "--mesh tp=4"
"""
import argparse
import array
import json
import math
import os
import re
import shlex
import struct
import subprocess
import sys
import tempfile

SGD = "--lr 0.02 --weight-decay 0 --clip-grad-norm 0"
ADAMW = "--lr 1e-3 --beta1 0.9 --beta2 0.95 --eps 1e-8 --weight-decay 0.1 --clip-grad-norm 0.5"
# The key part of an attention bias has an exactly zero gradient, so Adam follows rounding noise there.
KEY_BIAS = re.compile(r"(c_attn|k_proj)\.bias$")


class Failure(Exception):
    pass


def read_safetensors(path):
    """name -> (shape, array of floats) of an f32 safetensors file."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        body = file.read()
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        if entry["dtype"] != "F32":
            raise Failure(f"{path}: {name} has dtype {entry['dtype']}, expected F32")
        begin, end = entry["data_offsets"]
        tensors[name] = (tuple(entry["shape"]), array.array("f", body[begin:end]))
    return tensors


def norm(values):
    return math.sqrt(sum(v * v for v in values))


def worst_tensor(actual, expected, floor, loose=1.0):
    """(largest relative difference, its name); raises unless names and shapes agree and all is finite."""
    if set(actual) != set(expected):
        raise Failure(f"tensors differ: {sorted(set(actual) ^ set(expected))[:4]}")
    total = math.sqrt(sum(norm(values) ** 2 for _, values in expected.values()))
    worst, worst_name = 0.0, ""
    for name, (shape, values) in actual.items():
        if shape != expected[name][0]:
            raise Failure(f"{name}: shape {shape}, expected {expected[name][0]}")
        if not all(map(math.isfinite, values)):
            raise Failure(f"{name}: not finite")
        difference = norm([a - b for a, b in zip(values, expected[name][1])])
        relative = max(difference - floor * total, 0.0) / max(norm(expected[name][1]), 1e-30)
        if KEY_BIAS.search(name):
            relative /= loose
        if relative > worst:
            worst, worst_name = relative, name
    return worst, worst_name


def worst_metric(actual, expected, key):
    pairs = [(float(a[key]), float(b[key])) for a, b in zip(actual, expected)]
    if not all(math.isfinite(x) for pair in pairs for x in pair):
        raise Failure(f"{key} is not finite")
    return max(abs(a - b) / abs(b) for a, b in pairs)


class Runner:
    """Compiles and runs one plan in a folder of its own."""

    def __init__(self, args, plan, folder, launcher=""):
        self.args, self.plan, self.folder, self.launcher = args, plan, folder, shlex.split(launcher)
        self.data_type = [] if args.data.endswith(".bin") else ["--data-dtype", "uint8"]

    def call(self, command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=self.args.timeout)
        if done.returncode != 0:
            raise Failure(f"{shlex.join(command)}: exit {done.returncode}\n{done.stdout[-1500:]}")

    def compile(self, optimizer):
        self.package = os.path.join(self.folder, optimizer + ".par")
        self.call([os.path.join(self.args.bin, "par-compile"), self.args.config, "-o", self.package,
                   "--seq", str(self.args.seq), "--batch", str(self.args.batch), "--dtype", self.args.dtype,
                   "--optimizer", optimizer, *self.acting(optimizer, shlex.split(self.args.compile_flags)),
                   *self.acting(optimizer, shlex.split(self.plan))])

    @staticmethod
    def acting(optimizer, flags):
        """Without the type of moments for SGD, which has none and refuses it."""
        while optimizer == "sgd" and "--moment-dtype" in flags:
            at = flags.index("--moment-dtype")
            del flags[at:at + 2]
        return flags

    def run(self, steps, flags, save):
        """Returns metrics lines and the saved tensors (`save` is --save-params or --save-grads)."""
        metrics, tensors = os.path.join(self.folder, "metrics.jsonl"), os.path.join(self.folder, "saved.safetensors")
        for path in (metrics, tensors):
            if os.path.exists(path):
                os.remove(path)
        self.call([*self.launcher, os.path.join(self.args.bin, "par-run"), self.package, "--steps", str(steps),
                   "--data", self.args.data, *self.data_type, "--seed", "1", "--metrics", metrics, save, tensors,
                   *shlex.split(flags), *shlex.split(self.args.run_flags)])
        with open(metrics) as file:
            lines = [json.loads(line) for line in file if line.strip()]
        if [line["step"] for line in lines] != list(range(1, steps + 1)):
            raise Failure(f"metrics name steps {[line['step'] for line in lines]}")
        return lines, read_safetensors(tensors)

    def all(self):
        results = {}
        self.compile("adamw")
        results["gradients"] = self.run(1, SGD, "--save-grads")
        results["adamw"] = self.run(self.args.steps, ADAMW, "--save-params")
        self.check_carried_out(results["adamw"][0])
        if self.args.sgd:
            self.compile("sgd")
            results["sgd"] = self.run(self.args.steps, SGD, "--save-params")
            self.check_carried_out(results["sgd"][0])
        return results

    @staticmethod
    def check_peaks(manifest, line):
        """Of every rank, what its stage's plan says."""
        inner = 1  # ranks from one stage to the next
        for axis, size in reversed(manifest["mesh"]):
            if axis == "pp":
                break
            inner *= size
        stages = len(manifest["memory"])
        planned = [manifest["memory"][rank // inner % stages]["peak_bytes"] for rank in range(manifest["world_size"])]
        if line["peaks"] != planned:
            raise Failure(f"peaks {line['peaks']}, planned {planned}")

    def check_carried_out(self, lines):
        first, line = lines[0], lines[-1]  # only a run's first line names its processes
        with open(os.path.join(self.package, "manifest.json")) as file:
            manifest = json.load(file)
        wanted = dict(re.findall(r"(\w+)=(\d+)", (re.search(r"--mesh (\S+)", self.plan) or [None, ""])[1]))
        mesh = dict((axis, int(size)) for axis, size in manifest["mesh"])
        for axis, size in wanted.items():
            if mesh.get(axis, 1) != int(size):
                raise Failure(f"manifest has mesh {mesh}, asked for {axis}={size}")
            if int(size) > 1 and not any(bytes_ > 0 and axis in re.split(r"[:+]", key)
                                         for key, bytes_ in line["sent_bytes"].items()):
                raise Failure(f"nothing was sent over {axis}: {line['sent_bytes']}")
        traffic = {}
        for entry in manifest["collectives"]:
            if entry.get("stage", 0) != 0:
                continue  # rank 0 says what it has sent
            key = entry["kind"] + ":" + "+".join(entry["axes"])
            traffic[key] = traffic.get(key, 0) + entry["bytes"]
        if {key: bytes_ for key, bytes_ in traffic.items() if bytes_} != line["sent_bytes"]:
            raise Failure(f"sent {line['sent_bytes']}, planned {traffic}")
        planned = max(program["peak_bytes"] for program in manifest["memory"])
        if line["peak_bytes"] != planned:
            raise Failure(f"peak memory {line['peak_bytes']}, planned {planned}")
        self.check_peaks(manifest, line)
        planned, measured = max(program["host_peak_bytes"] for program in manifest["memory"]), line.get("host_peak_bytes", 0)
        if measured != planned:
            raise Failure(f"peak of host memory {measured}, planned {planned}")
        if self.launcher and len(set(first["pids"])) != manifest["world_size"]:
            raise Failure(f"{manifest['world_size']} ranks in {len(set(first['pids']))} processes")


def compare(results, reference, args):
    """Rows (text, good) of one plan against one rank."""
    t, rows = args.tolerance, []
    worst, name = worst_tensor(results["gradients"][1], reference["gradients"][1], floor=t / 100)
    rows.append((f"gradients {worst:.1e} ({name})", worst <= 10 * t))
    for kind, loose in (("sgd", 1.0), ("adamw", 50.0)):
        if kind not in results:
            continue
        lines, tensors = results[kind]
        loss = worst_metric(lines, reference[kind][0], "loss")
        grad = worst_metric(lines, reference[kind][0], "grad_norm")
        worst, name = worst_tensor(tensors, reference[kind][1], floor=0.0, loose=loose)
        limit = t if kind == "sgd" else 10 * t
        rows.append((f"{kind} loss {loss:.1e} norm {grad:.1e} parameters {worst:.1e} ({name})",
                     loss <= args.loss_tolerance and grad <= 10 * args.loss_tolerance and worst <= limit))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--config", required=True)
    parser.add_argument("--data", default="/usr/share/common-licenses/GPL-3")
    parser.add_argument("--reference", default="--mesh dp=1", help="compile flags of the one-rank run")
    parser.add_argument("--plan", action="append", required=True, help="compile flags of a plan to compare")
    parser.add_argument("--compile-flags", default="", help="for every compilation, the reference included")
    parser.add_argument("--run-flags", default="")
    parser.add_argument("--launcher", default="", help="for the plans, for example: mpirun -np 4")
    parser.add_argument("--seq", type=int, default=64)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--sgd", action="store_true", help="compare plain SGD too")
    parser.add_argument("--dtype", default="f32")
    parser.add_argument("--tolerance", type=float, default=1e-5)
    parser.add_argument("--loss-tolerance", type=float, help="of losses, ten times that of gradient norms (default: --tolerance)")
    parser.add_argument("--timeout", type=int, default=300)
    args = parser.parse_args()
    if args.loss_tolerance is None:
        args.loss_tolerance = args.tolerance

    with tempfile.TemporaryDirectory() as folder:
        reference = Runner(args, args.reference, folder).all()
    first, last = (float(reference["adamw"][0][i]["loss"]) for i in (0, -1))
    print(f"one rank: loss {first:.5f} -> {last:.5f}")
    failed = not last < first
    if failed:
        print("FAIL: the loss of one rank does not fall")
    for plan in args.plan:
        try:
            with tempfile.TemporaryDirectory() as folder:
                rows = compare(Runner(args, plan, folder, args.launcher).all(), reference, args)
            good = all(ok for _, ok in rows)
            print(f"{'ok  ' if good else 'FAIL'} {plan}\n       " + "\n       ".join(text for text, _ in rows), flush=True)
        except (Failure, subprocess.TimeoutExpired, KeyError, ValueError, OSError) as error:
            good = False
            print(f"FAIL {plan}: {error}", flush=True)
        failed |= not good
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
