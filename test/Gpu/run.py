#!/usr/bin/env python3
"""Runs on a GPU what prepare.sh compiled; see run.sh."""
import argparse
import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import attention
import launch
import random_plans
import tensors
from cases import CLUSTERS, EQUAL, EQUAL_FLAGS, EQUAL_STEPS, MODELS, PREDICTED, STEPS

HERE = os.path.dirname(os.path.abspath(__file__))
#: bf16 products of an H100 or H200 (SXM), dense, per second.
PEAK = 989.4e12
#: For who waits until there is time for more: the part is not over.
AGAIN = 75


class Part:
    """Results of one part, a line of JSON per case, so that a run which was stopped goes on where it was."""

    def __init__(self, folder, name, limit):
        self.folder, self.end = folder, time.monotonic() + limit
        os.makedirs(os.path.join(folder, "results"), exist_ok=True)
        self.path = os.path.join(folder, "results", name + ".jsonl")
        self.done, self.bad = {}, 0
        if os.path.exists(self.path):
            with open(self.path) as file:
                self.done = {line["case"]: line for line in map(json.loads, file)}

    def wants(self, case):
        if case in self.done:
            return False
        if time.monotonic() > self.end:
            print("the part's time is over; run it again to go on")
            sys.exit(AGAIN)
        return True

    def add(self, case, **result):
        self.done[case] = {"case": case, **result}
        with open(self.path, "a") as file:
            file.write(json.dumps(self.done[case]) + "\n")
        print(case, *(f"{key} {value}" for key, value in result.items() if "\n" not in str(value)), flush=True)

    def call(self, *command, environment=None, timeout=400):
        """(exit code, output); 124 for what had to be killed."""
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout,
                                  env={**os.environ, **(environment or {})})
        except subprocess.TimeoutExpired as late:
            return 124, (late.stdout or b"").decode(errors="replace") + f"\nkilled after {timeout} s"
        return done.returncode, done.stdout

    def par_run(self, name, *flags, **how):
        package = os.path.join(self.folder, "packages", name + ".par")
        return self.call(os.path.join(self.folder, "bin", "par-run"), package, *flags, **how)

    def at(self, name):
        return os.path.join(self.folder, "results", name)


def metrics_of(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def run_device(part):
    """What machine it is."""
    if part.wants("device"):
        query = "name,driver_version,memory.total,clocks.max.sm,clocks.max.memory,power.limit"
        code, text = part.call("nvidia-smi", "--query-gpu=" + query, "--format=csv") if shutil.which("nvidia-smi") else (127, "")
        part.add("device", ok=code == 0, text=text)


def compare(part, name, *flags, **how):
    """A package's first gradients and its losses against those of one rank on a CPU."""
    model = EQUAL[name][0]
    limits = MODELS[model][2]
    gradients, metrics = part.at(name + ".safetensors"), part.at(name + ".metrics.jsonl")
    for path in (gradients, metrics):
        if os.path.exists(path):
            os.remove(path)
    for steps, more in ((1, ["--save-grads", gradients]), (EQUAL_STEPS, ["--metrics", metrics])):
        code, text = part.par_run(name, "--steps", str(steps), *shlex.split(EQUAL_FLAGS), *more, *flags, **how)
        if code:
            return {"ok": False, "exit": code, "text": text[-3000:]}
        if "--cudnn-plans" in EQUAL[name][1] and "its plans are the package's" not in text:
            return {"ok": False, "text": "cuDNN did not take the package's plans\n" + text[-3000:]}
    expected = os.path.join(part.folder, "expected", model)
    apart, tensor = tensors.worst(tensors.read(gradients), tensors.read(expected + ".safetensors"))
    losses = max(abs(a["loss"] - b["loss"]) / abs(b["loss"])
                 for a, b in zip(metrics_of(metrics), metrics_of(expected + ".jsonl")))
    os.remove(gradients)
    return {"ok": apart <= limits[0] and losses <= limits[1], "gradients": apart, "tensor": tensor, "losses": losses}


def run_equal(part):
    """Small models under every kind of plan, all ranks on the GPU, equal those of a CPU. A few at a time: most of it
    is starting, and time on a GPU is short."""
    names = [name for name in EQUAL
             if os.path.exists(os.path.join(part.folder, "packages", name + ".par")) and part.wants(name)]
    with ThreadPoolExecutor(4) as pool:
        for name, result in zip(names, pool.map(lambda name: compare(part, name), names)):
            part.add(name, **result)


def run_random(part):
    """Random plans of small random models are on the GPU what one rank is on a CPU."""
    folder = os.path.join(part.folder, "random")
    names = [name for name in sorted(os.listdir(folder) if os.path.exists(folder) else [], key=int) if part.wants(name)]
    with ThreadPoolExecutor(4) as pool:
        for name, wrong in zip(names, pool.map(lambda name: random_plans.check(
                os.path.join(part.folder, "bin"), os.path.join(folder, name), int(name)), names)):
            part.add(name, ok=not wrong, **({"text": wrong} if wrong else {}))


def run_outputs(part, folder="outputs"):
    """Kernels one by one, at real lengths of rows, write what was emulated."""
    folder = os.path.join(part.folder, folder)
    if not os.path.exists(folder):
        return
    record, driver = launch.Record(folder), None
    for number, case in enumerate(record.cases):
        name = f"{number} {case['plan']}, {case['where']}"
        if not part.wants(name):
            continue
        try:
            driver = driver or launch.Driver()
            apart = record.run(driver, case)
        except (OSError, RuntimeError) as error:  # behind a fault the context is of no use
            part.add(name, ok=False, text=str(error))
            return print("no kernel runs behind that one; run the part again to go on")
        part.add(name, ok=all(one <= 1 for one in apart), of_tolerance=round(max(apart, default=0), 3))


#: Of its own speed without, what attention with a cap, with sinks or with documents should have for a pair, in per cent.
FEATURE_GOAL = 85


def run_attention(part):
    """Attention with caps, sinks, documents and values of another size: it writes what was emulated, and a pair of a query and
    a key takes about as long as without."""
    run_outputs(part, "attention")
    folder = os.path.join(part.folder, "attention-times")
    if not os.path.exists(folder):
        return
    record, driver = launch.Record(folder), None
    for case in record.cases:
        name, (_, rows, heads, *_) = case["where"], case["operands"][0]["shape"]
        if part.wants(name):
            driver = driver or launch.Driver()
            seconds = record.time(driver, case)
            pairs = heads * attention.count_pairs(name, rows)
            part.add(name, ok=True, seconds=seconds, picoseconds_of_a_pair=round(1e12 * seconds / pairs, 3))
    times = {name: case["picoseconds_of_a_pair"] for name, case in part.done.items() if "picoseconds_of_a_pair" in case}
    for name, time_of in times.items():
        kind, head, feature, direction = name.split()
        plain = times.get(f"{kind} {head} plain {direction}")
        if plain and feature != "plain" and part.wants(name + " by plain"):
            percent = round(100 * plain / time_of, 1)
            part.add(name + " by plain", ok=True, percent=percent, goal=percent >= FEATURE_GOAL)


def run_nccl(part):
    """Groups of one rank: NCCL is opened, communicators are made and left."""
    alone = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29511"}
    if part.wants("gpt2-one"):
        part.add("gpt2-one", **compare(part, "gpt2-one", "--transport", "nccl", environment=alone))


def run_faults(part):
    """Ranks that fail or hang end the run, with the place, and not before the time is over."""
    for kind, flags in (("fail", []), ("stall", ["--timeout", "10"])):
        if not part.wants(kind):
            continue
        begin = time.monotonic()
        code, text = part.par_run("gpt2-dp2-tp2", "--steps", "3", *flags, timeout=60,
                                  environment={"PAR_TEST_FAULT": f"{kind}:rank=1,step=2,action=1"})
        told = re.search(r"^error: .*rank 1.*step 2, action 1", text, re.M)
        part.add(kind, ok=code not in (0, 124) and told is not None, exit=code,
                 seconds=round(time.monotonic() - begin, 1), text=text[-2000:])


def run_sanitizer(part):
    """NVIDIA's own check of memory, on the smallest model."""
    tool = shutil.which("compute-sanitizer")
    if part.wants("memcheck"):
        if not tool:
            return part.add("memcheck", ok=True, text="no compute-sanitizer here")
        code, text = part.call(tool, "--error-exitcode", "9", os.path.join(part.folder, "bin", "par-run"),
                               os.path.join(part.folder, "packages", "gpt2-one.par"), "--steps", "2")
        works = "not supported" not in text
        part.add("memcheck", ok=not works or code == 0, exit=code, text=text[-3000:])


def measure(part, name, steps):
    """(metrics of a run's steps, None), or (None, what went wrong)."""
    metrics = part.at(name + ".metrics.jsonl")
    if os.path.exists(metrics):
        os.remove(metrics)
    code, text = part.par_run(name, "--steps", str(steps), "--metrics", metrics)
    if code:
        return None, {"ok": False, "exit": code, "text": text[-3000:]}
    return metrics_of(metrics), None


def seconds_of(lines):
    """Of a step; the first three are left out."""
    return statistics.median(line["step_seconds"] for line in lines[3:])


def profile_of(part, name):
    """Time by class of work."""
    text = part.par_run(name, "--steps", "6", "--profile")[1]
    return text[text.find("profile of"):]


def run_steps(part):
    """Steps of G1 to G3 with a profile."""
    for name in STEPS:
        if not os.path.exists(os.path.join(part.folder, "packages", name + ".par")) or not part.wants(name):
            continue
        lines, problem = measure(part, name, 12)
        if problem:
            part.add(name, **problem)
            continue
        seconds = seconds_of(lines)
        with open(os.path.join(part.folder, "packages", name + ".par", "manifest.json")) as file:
            manifest = json.load(file)
        flops = manifest["flops_per_step"]
        full = flops + sum(work["flops"] for work in manifest["step_work"] if work["class"].startswith("attention"))
        part.add(name, ok=True, seconds=seconds, tokens_per_second=lines[-1]["tokens_per_second"],
                 mfu_causal_half=round(100 * flops / seconds / PEAK, 2),
                 mfu_full=round(100 * full / seconds / PEAK, 2), peak_bytes=lines[-1]["peak_bytes"],
                 losses=[line["loss"] for line in lines], text=profile_of(part, name))


#: A line of --profile: class, ms, per cent of the step, calls, GB/s, GFLOP/s, roofline.
CLASS = re.compile(r"^(kernel .*?|update) +[\d.]+ +([\d.]+) +\d+ +([\d.]+) ", re.M)
#: What a class of kernels should have of the copy bandwidth, if it has a two hundredth of a step.
PASS, GOAL, MATTERS = 75, 85, 0.5


def run_kernels(part):
    """Bytes per second of the steps' kernels, by class, against the copy that the same run has measured."""
    for name, step in Part(part.folder, "steps", 0).done.items():
        copied = re.search(r"copy ([\d.]+) GB/s", step.get("text", ""))
        for kind, share, rate in CLASS.findall(step.get("text", "")):
            if copied and float(share) >= MATTERS and part.wants(f"{name} {kind}"):
                percent = round(100 * float(rate) / float(copied[1]), 1)
                part.add(f"{name} {kind}", ok=percent >= PASS, percent_of_copy=percent, goal=percent >= GOAL)


#: Per cent that a prediction is off by, from which on one wants to know by what class of work.
FAR_OFF = 8


def cluster_here(part):
    """The cluster file of this machine's GPU, or None."""
    name = part.call("nvidia-smi", "--query-gpu=name", "--format=csv,noheader")[1] if shutil.which("nvidia-smi") else ""
    return next((file for word, file in CLUSTERS.items() if word in name), None)


def run_predictions(part):
    """Steps of plans of one rank beside what the cost model has said of them."""
    cluster = cluster_here(part)
    if not cluster:
        return print("no cluster file predicts this GPU; expected one of", ", ".join(CLUSTERS))
    for name in PREDICTED:
        if not os.path.exists(os.path.join(part.folder, "packages", name + ".par")) or not part.wants(name):
            continue
        lines, problem = measure(part, name, 10)
        if problem:
            part.add(name, **problem)
            continue
        seconds = seconds_of(lines)
        with open(os.path.join(part.folder, "expected", name + ".predicted.json")) as file:
            predicted = json.load(file)[cluster]
        percent = round(100 * (predicted - seconds) / seconds, 1)
        part.add(name, ok=True, seconds=seconds, predicted=predicted, percent=percent, cluster=cluster,
                 **({"text": profile_of(part, name)} if abs(percent) > FAR_OFF else {}))
    errors = [abs(case["percent"]) for case in part.done.values() if "percent" in case]
    if len(errors) == len(PREDICTED) and part.wants("mean error"):
        part.add("mean error", ok=statistics.mean(errors) <= 10, percent_off=round(statistics.mean(errors), 1))


def run_peers(part):
    """The same steps by JAX and PyTorch, beside par's own (part `steps`)."""
    for peer in ("jax", "torch"):
        for name in STEPS:
            if part.wants(f"{name}-{peer}"):
                code, text = part.call(sys.executable, os.path.join(HERE, peer + "_peer.py"), name)
                found = re.search(r"^seconds (\S+) loss (\S+)$", text, re.M)
                part.add(f"{name}-{peer}", ok=code == 0 and found is not None, exit=code,
                         seconds=float(found[1]) if found else None, text=text[-2000:])


PARTS = {"device": run_device, "outputs": run_outputs, "attention": run_attention, "equal": run_equal, "random": run_random,
         "nccl": run_nccl, "faults": run_faults,
         "sanitizer": run_sanitizer, "steps": run_steps, "kernels": run_kernels, "predictions": run_predictions,
         "peers": run_peers}


def report(folder):
    bad = 0
    for name in PARTS:
        for case in Part(folder, name, 0).done.values():
            bad += not case["ok"]
            print(f"{'ok' if case['ok'] else 'FAIL'} {name} " +
                  " ".join(f"{value if key == 'case' else f'{key} {value}'}" for key, value in case.items()
                           if key not in ("ok", "text", "losses")))
            if case.get("text") and (not case["ok"] or name in ("device", "steps", "predictions")):
                print("    " + case["text"].strip().replace("\n", "\n    "))
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("parts", nargs="*", metavar="PART", help="of " + ", ".join(PARTS) + ", report; none: all")
    parser.add_argument("--limit", type=float, default=480, help="seconds after which a part begins no case")
    args = parser.parse_args()
    unknown = [name for name in args.parts if name not in PARTS and name != "report"]
    if unknown:
        sys.exit(f"error: no part {unknown[0]}; expected some of {', '.join(PARTS)}, report")
    for name in args.parts or PARTS:
        if name in PARTS:
            print("==", name, flush=True)
            PARTS[name](Part(args.folder, name, args.limit))
    sys.exit(1 if report(args.folder) else 0)


if __name__ == "__main__":
    main()
