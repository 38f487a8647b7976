"""Runs every tool of the runtime under several limits for stacks: stack_limits.py FOLDER GOLDEN_MODEL. FOLDER has two.par, of
two ranks, and a tokenizer.json. What is trained does not depend on the limit."""
import os
import resource
import sys

from running import run, run_ranks

UNLIMITED = resource.RLIM_INFINITY
KIB = (1024, 2048, 4096, 8192, UNLIMITED)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def commands(folder, model, name):
    """Runs everything; returns how many commands and the parameters that were trained."""
    at = os.path.join(folder, name)
    os.mkdir(at)
    with open(f"{at}/text", "w", encoding="utf-8") as file:
        file.write("words and words\n" * 1000)
    run(f"par-data {at}/text --tokenizer {folder}/tokenizer.json -o {at}/text.bin")
    trained = []
    for transport in ("local", "mpi", "tcp"):
        words = f"par-run {folder}/two.par --steps 2 --weights {model} --data {model}/tokens.bin --save-params {at}/{transport}"
        run_ranks(words.split(), 2, transport)
        trained.append(read(f"{at}/{transport}"))
    run(f"par-run {folder}/two.par --steps 1 --profile --eval-data {model}/tokens.bin")
    run(f"par-export {folder}/two.par --checkpoint {at}/local -o {at}/hf")
    run(f"par-generate {folder}/two.par --weights {at}/hf --prompt-tokens 1,2 --tokens 3")
    return 7, trained


def main():
    folder, model = sys.argv[1:]
    first = None
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    for kib in KIB:
        limit = kib if kib == UNLIMITED else kib * 1024
        if hard != UNLIMITED and (limit == UNLIMITED or limit > hard):
            continue  # this system allows no such limit
        resource.setrlimit(resource.RLIMIT_STACK, (limit, hard))
        name = "no limit" if kib == UNLIMITED else f"{kib} KiB"
        count, trained = commands(folder, model, name.replace(" ", "-"))
        first = first or trained[0]
        if any(one != first for one in trained):
            sys.exit(f"{name}: trains to other parameters")
        print(f"{name}: {count} commands", flush=True)


main()
