#!/usr/bin/env python3
"""The same command again and again, with ranks that come late at random: the parameters are the same bytes.

    repeat.py CONFIG TIMES PLAN LAUNCHER...     LAUNCHER: local, mpi (one process per rank under mpirun) or tcp (processes)
"""
import hashlib
import os
import shlex
import subprocess
import sys
import tempfile

from running import free_port

RANKS = 4


def run(package, output, launcher, seed):
    command = ["par-run", package, "--steps", "2", "--data", "random", "--save-params", output]
    if launcher == "mpi":
        command = ["mpirun", "--oversubscribe", "-np", str(RANKS), *command]
    if launcher == "tcp":
        port = free_port()
        ranks = " & ".join(f"MASTER_PORT={port} {shlex.join(command)} --rank {rank}" for rank in range(1, RANKS))
        command = ["bash", "-c", f"{ranks} & MASTER_PORT={port} {shlex.join(command)} --rank 0; status=$?; wait; exit $status"]
    environment = dict(os.environ, PAR_TEST_DELAY=f"3000,{seed}", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        sys.exit(f"{launcher}, seed {seed}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    with open(output, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    os.remove(output)
    return digest


def main():
    config, times, plan, *launchers = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        package = os.path.join(folder, "model.par")
        subprocess.run(["par-compile", config, "--seq", "8", "--batch", "8", *shlex.split(plan), "-o", package],
                       check=True, stdout=subprocess.DEVNULL)
        digests = {run(package, os.path.join(folder, "p"), launcher, seed) for launcher in launchers for seed in range(int(times))}
    print(f"{int(times) * len(launchers)} runs, {len(digests)} results")


main()
