#!/usr/bin/env python3
"""The same command again and again, with ranks that come late at random: the parameters are the same bytes.

    repeat.py CONFIG TIMES LAUNCHER...     LAUNCHER: local, or mpi (one process per rank under mpirun)
"""
import hashlib
import os
import subprocess
import sys
import tempfile

RANKS = 4


def run(package, output, launcher, seed):
    command = ["par-run", package, "--steps", "2", "--data", "random", "--save-params", output]
    if launcher == "mpi":
        command = ["mpirun", "--oversubscribe", "-np", str(RANKS), *command]
    environment = dict(os.environ, PAR_TEST_DELAY=f"3000,{seed}", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        sys.exit(f"{launcher}, seed {seed}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    with open(output, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    os.remove(output)
    return digest


def main():
    config, times, *launchers = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        package = os.path.join(folder, "model.par")
        subprocess.run(["par-compile", config, "--seq", "8", "--batch", "8", "--micro-batches", "2", "--mesh", "dp=2,tp=2", "-o", package],
                       check=True, stdout=subprocess.DEVNULL)
        digests = {run(package, os.path.join(folder, "p"), launcher, seed) for launcher in launchers for seed in range(int(times))}
    print(f"{int(times) * len(launchers)} runs, {len(digests)} results")


main()
