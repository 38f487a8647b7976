#!/usr/bin/env python3
"""Runs pipelines with --trace, and holds what they wrote against the lists of par-schedule (check_trace.py).

    traced.py WORK_DIR [--transport local|tcp|mpi] "MESH SCHEDULE MICRO_BATCHES CHUNKS"...     the model is WORK_DIR/model.json
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Helpers"))
from running import run, run_ranks  # noqa: E402

STEPS = 2


def main():
    work, *plans = sys.argv[1:]
    transport = "local"
    if plans[0] == "--transport":
        transport, plans = plans[1], plans[2:]
    package, trace, lists = (os.path.join(work, name) for name in ("model.par", "trace.json", "lists.json"))
    for plan in plans:
        mesh, schedule, micro_batches, chunks = plan.split()
        sizes = [int(axis.split("=")[1]) for axis in mesh.split(",")]
        flags = f"--schedule {schedule} --micro-batches {micro_batches} --chunks {chunks}"
        ranks = sizes[0] * (sizes[1] if len(sizes) > 1 else 1)
        batch = int(micro_batches) * ranks // sizes[0]
        run(f"par-compile {work}/model.json --seq 8 --batch {batch} --mesh {mesh} {flags} -o {package}")
        run_ranks(["par-run", package, "--steps", str(STEPS), "--trace", trace], ranks, transport)
        with open(lists, "w", encoding="utf-8") as file:
            file.write(run(f"par-schedule --stages {sizes[0]} {flags} --step --json"))
        print(f"{plan}: {run(sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'check_trace.py'), trace, lists, str(STEPS))}", end="")


main()
