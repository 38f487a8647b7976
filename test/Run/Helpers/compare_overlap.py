#!/usr/bin/env python3
"""Overlap changes when collectives run and nothing else: the same bytes with --overlap on and off.

    compare_overlap.py CONFIG "PLAN [; PLAN FLAGS ON]"...     flags of par-compile; behind the semicolon, only with overlap

Every plan is compiled with --overlap off and on and trained for three steps with dead memory poisoned and ranks that come late at random:
on threads, and with overlap also as processes, that talk by TCP and by MPI in turns. Parameters, losses, norms and bytes sent must be equal, the
measured peak must be the planned one, and the package must start collectives.
"""
import json
import os
import sys
import tempfile

from running import lines, run, run_ranks

RUN = ["--steps", "3", "--data", "random", "--lr", "0.01", "--timeout", "60"]


def compile_plan(config, folder, overlap, flags):
    package = os.path.join(folder, overlap + ".par")
    run("par-compile", config, "--seq", "16", "--batch", "8", "--overlap", overlap, "-o", package, *flags.split())
    with open(os.path.join(package, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    started = [entry["started"] for entry in manifest["programs"][0]["collectives"]]
    if any(started) != (overlap == "on") or manifest["plan"]["overlap"] != (overlap == "on"):
        sys.exit(f"{flags}: --overlap {overlap} starts {sum(started)} of {len(started)} collectives")
    return package, manifest


HARD = dict(PAR_TEST_DELAY="1500,3")


def train(package, ranks, transport, folder):
    """(bytes of the parameters, metrics)"""
    params, metrics = os.path.join(folder, "p"), os.path.join(folder, "m.jsonl")
    for path in (params, metrics):
        if os.path.exists(path):
            os.remove(path)
    run_ranks(["par-run", package, *RUN, "--save-params", params, "--metrics", metrics], ranks, transport, HARD)
    with open(params, "rb") as file:
        return file.read(), lines(metrics)


def check(config, case, processes):
    flags, _, more = case.partition(";")
    with tempfile.TemporaryDirectory() as folder:
        off, manifest = compile_plan(config, folder, "off", flags)
        on, overlapped = compile_plan(config, folder, "on", flags + more)
        ranks = manifest["world_size"]
        expected, metrics = train(off, ranks, "local", folder)
        for transport in ("local", processes):
            params, measured = train(on, ranks, transport, folder)
            if params != expected:
                sys.exit(f"{flags}: parameters differ over {transport}")
            for a, b in zip(metrics, measured):
                for key in ("loss", "grad_norm", "sent_bytes"):
                    if a[key] != b[key]:
                        sys.exit(f"{flags}: step {a['step']}: {key} is {b[key]} over {transport}, {a[key]} without overlap")
                if b["peak_bytes"] != overlapped["memory"][0]["peak_bytes"]:
                    sys.exit(f"{flags}: peak {b['peak_bytes']} over {transport}, planned {overlapped['memory'][0]['peak_bytes']}")
    print(f"equal: {flags}")


if __name__ == "__main__":
    for number, plan in enumerate(sys.argv[2:]):
        check(sys.argv[1], plan, ("tcp", "mpi")[number % 2])
