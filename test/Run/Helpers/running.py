"""Running the tools, for the comparisons of this folder."""
import itertools
import json
import os
import shlex
import socket
import subprocess
import sys


def run(*command, environment=None):
    """What the command (words, or one string) prints; ends the comparison with its errors if it fails."""
    words = shlex.split(command[0]) if len(command) == 1 else command
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, **(environment or {})})
    if done.returncode:
        sys.exit(f"{shlex.join(words)}: exit {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    return done.stdout


def lines(path):
    """The objects of a file of JSON lines."""
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


_tried = itertools.count(os.getpid() * 37)


def free_port():
    """A port of 127.0.0.1 that nobody listens on now, below those that outgoing connections take."""
    while True:
        port = 15000 + next(_tried) % 17000
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return port


def run_ranks(words, ranks, transport, environment=None, timeout=120):
    """Runs par-run on threads ("local") or as a process per rank ("mpi", "tcp"); ends the comparison with its output if one fails, or takes longer than `timeout`
    seconds."""
    everywhere = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", **(environment or {}))
    places = [{}]
    if transport == "mpi":
        words = ["mpirun", "--oversubscribe", "-np", str(ranks), *words]
    if transport == "tcp":
        port = str(free_port())
        places = [dict(RANK=str(rank), WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=port) for rank in range(ranks)]
    jobs = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**everywhere, **place}) for place in places]
    for job in jobs:
        try:
            text = job.communicate(timeout=timeout)[0]
        except subprocess.TimeoutExpired:
            for late in jobs:
                late.kill()
            sys.exit(f"{transport}: {shlex.join(words)}: killed after {timeout} s")
        if job.returncode:
            sys.exit(f"{transport}: {shlex.join(words)}: exit {job.returncode}\n{text[-3000:]}")
