#!/usr/bin/env python3
"""A rank of a pipeline is stopped, or dies, at an action drawn at random: the run ends in time, says which rank and where, and leaves nothing partial.

    faults.py CONFIG TIMES SEED TRANSPORT...     TRANSPORT: local, tcp, mpi

Each transport gets TIMES runs. A stalled rank is named with the very action that it stalled in, by its number, name, chunk and micro-batch. So is one that
fails, which on threads stands for one that dies: a process of its own that is killed takes what it did last with it, so there the report has the
place that was last heard of, which is not behind the one where it died.
"""
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Helpers"))
import running  # pylint: disable=wrong-import-position

RANKS, STEPS, TIMEOUT = 4, 2, 2
LATEST = TIMEOUT + 25  # seconds; what starts and ends processes is slow where cores are few
PLAN = f"--mesh pp={RANKS} --micro-batches 4 --seq 8 --batch 4 --set num_hidden_layers=4"
FILES = "--metrics m --save-params p --save-grads g --trace t.json --checkpoint ck --checkpoint-every 1"


def launches(transport, command):
    """The commands of all processes, with what their environments have beside the common one."""
    if transport == "local":
        return [(command, {})]
    if transport == "mpi":
        return [(["mpirun", "--oversubscribe", "-np", str(RANKS), *command], {})]
    port = str(running.free_port())
    return [([*command, "--rank", str(rank)], {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}) for rank in range(RANKS)]


def run(transport, package, folder, fault):
    """What all print, their exit codes, and how long it took."""
    environment = dict(os.environ, PAR_TEST_FAULT=fault, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    command = ["par-run", package, "--steps", str(STEPS), "--timeout", str(TIMEOUT), *shlex.split(FILES)]
    begin = time.monotonic()
    jobs = [subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**environment, **place})
            for words, place in launches(transport, command)]
    texts = [job.communicate(timeout=LATEST)[0] for job in jobs]
    return "".join(texts), [job.returncode for job in jobs], time.monotonic() - begin


def partial(folder):
    """What no run that ends early may leave. Metrics have whole lines, and checkpoints are whole."""
    left = [name for name in os.listdir(folder) if name not in ("m", "ck")]
    checkpoints = os.listdir(os.path.join(folder, "ck")) if os.path.isdir(os.path.join(folder, "ck")) else []
    left += [name for name in checkpoints if name != "run.lock" and not os.path.exists(os.path.join(folder, "ck", name, "checkpoint.json"))]
    if os.path.exists(os.path.join(folder, "m")):
        with open(os.path.join(folder, "m"), encoding="utf-8") as file:
            for line in file:
                json.loads(line)
    return left


def problem(kind, rank, step, action, described, text, codes):
    """What is wrong with a report, or nothing."""
    errors = re.findall("^error: .*", text, re.MULTILINE)
    if 0 in codes:
        return f"exit codes {codes}"
    if len(errors) != 1:
        return f"{len(errors)} errors"
    if not re.search(rf"\brank {rank}\b", errors[0]):
        return f"rank {rank} is not named"
    if kind != "kill":
        return "" if f"in step {step}, action {action} {described}" in errors[0] else f"not named: action {action} {described}"
    heard = re.search(r"step (\d+), action (\d+)", errors[0])
    return "the action is behind the one of its death" if heard and (int(heard[1]), int(heard[2])) > (step, action) else ""


def describe(action):
    micro_batch = f", micro-batch {action['micro_batch']}" if action["micro_batch"] >= 0 else ""
    return f"\"{action['name']}\" (chunk {action['chunk']}{micro_batch})"


def main():
    config, times, seed, *transports = sys.argv[1:]
    draw = random.Random(int(seed))
    with tempfile.TemporaryDirectory() as work:
        package = os.path.join(work, "model.par")
        subprocess.run(["par-compile", config, *shlex.split(PLAN), "-o", package], check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(package, "manifest.json"), encoding="utf-8") as file:
            programs = json.load(file)["programs"]
        longest = 0.0
        for transport in transports:
            for number in range(int(times)):
                rank, step = draw.randrange(RANKS), draw.randrange(1, STEPS + 1)
                actions = programs[rank]["actions"]
                train = next(i for i, one in enumerate(actions) if one["name"] == "update") + 1
                action = draw.randrange(train)
                kind = draw.choice(["stall", "fail" if transport == "local" else "kill"])
                fault = f"{kind}:rank={rank},step={step},action={action}"
                folder = os.path.join(work, f"{transport}-{number}")
                os.mkdir(folder)
                text, codes, seconds = run(transport, package, folder, fault)
                longest = max(longest, seconds)
                wrong = problem(kind, rank, step, action, describe(actions[action]), text, codes)
                left = partial(folder)
                if wrong or left:
                    sys.exit(f"{transport}, PAR_TEST_FAULT={fault}: {wrong} {left}\n{text[-4000:]}")
        print(f"{len(transports) * int(times)} runs ended as they should, the longest after {longest:.1f} s")


main()
