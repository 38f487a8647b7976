#!/usr/bin/env python3
"""Processes that read rows: open_inputs_apart.py WORK_DIR PACKAGE, of two ranks, behind open_inputs.py."""
import os
import subprocess
import sys

from open_inputs import FLAGS, flags_of_data, make_data
from running import free_port, run_ranks


def start(words, rank, port):
    place = dict(os.environ, RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    return subprocess.Popen(words, env=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def differ(common, second):
    """What two ranks say of which the second one has other flags."""
    port = str(free_port())
    jobs = [start(common, 0, port), start(second, 1, port)]
    texts = [job.communicate(timeout=60)[0] for job in jobs]
    if any(job.returncode == 0 for job in jobs):
        sys.exit(f"ranks with other data trained together:\n{texts}")
    print(next(line for line in texts[0].splitlines() if line.startswith("error:")))


def main():
    work, package = sys.argv[1:]
    words = ["par-run", package, "--steps", "2", *FLAGS, *flags_of_data(work)]
    saved = []
    for transport in ("local", "tcp"):
        run_ranks([*words, "--save-params", f"{work}/{transport}"], 2, transport)
        with open(f"{work}/{transport}", "rb") as file:
            saved.append(file.read())
    print("tcp: as with threads" if saved[0] == saved[1] else "tcp: other parameters than with threads")
    make_data(f"{work}/other.safetensors", 14, seed=9)
    differ(words, [word.replace("/rows.safetensors", "/other.safetensors") for word in words])
    differ(words, [word.replace("scale=0.25", "scale=0.5") for word in words])


main()
