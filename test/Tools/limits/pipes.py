"""pipes.py FOLDER: a pipe to which nobody writes, as every file that a tool reads; and what comes from one that has a writer.

Every command ends within half a minute with one line that names the pipe."""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

COMMANDS = [
    "par-run four.par --steps 1 --data pipe --timeout 5",
    "par-run four.par --steps 1 --data random --eval-data pipe --eval-every 1",
    "par-run four.par --steps 1 --data random --weights pipe",
    "par-run four.par --steps 1 --data random --config pipe",
    "par-run four.par --steps 1 --data random --resume pipe",
    "par-data pipe --tokenizer tokenizer.json -o x.bin",
    "par-data text.txt --tokenizer pipe -o x.bin",
    "par-generate four.par --weights pipe --prompt-tokens 1 --tokens 1",
    "par-generate four.par --checkpoint c --tokenizer pipe --prompt x --tokens 1",
    "par-export four.par --checkpoint pipe -o exported",
    "par-compile pipe -o x.par",
    "par-compile pipe.mlir -o x.par",
    "par-compile model.json --plan pipe -o x.par",
    "par-compile model.json --cluster pipe --ranks 2 -o x.par",
    "par-compile model.json -o x.par --config pipe",
    "par-plan model.json --ranks 2 --cluster pipe",
    "par-opt pipe.mlir",
    "par-import pipe",
]
# Nobody reads it either; not beside those that would.
WRITES = "par-import model.json --seq 16 --batch 4 -o pipe"


def check(folder, command):
    try:
        done = subprocess.run(command.split(), cwd=folder, capture_output=True, text=True, timeout=30, check=False)
    except subprocess.TimeoutExpired:
        return f"{command}: hangs"
    lines = done.stderr.splitlines()
    good = done.returncode == 1 and len(lines) == 1 and "error: " in lines[0] and "pipe" in lines[0]
    return "" if good else f"{command}: code {done.returncode}: {done.stderr}"


def check_writer(folder, command):
    """With a live writer, of which the whole is read."""
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return "" if done.returncode == 0 else f"{command}: {done.stderr}"


def main():
    folder = sys.argv[1]
    for name in ("pipe", "pipe.mlir"):
        if os.path.exists(f"{folder}/{name}"):
            os.remove(f"{folder}/{name}")
        os.mkfifo(f"{folder}/{name}")
    with ThreadPoolExecutor(8) as pool:
        problems = [problem for problem in pool.map(lambda command: check(folder, command), COMMANDS) if problem]
    problems += [problem for problem in [check(folder, WRITES)] if problem]
    problems += [problem for problem in (check_writer(folder, command) for command in (
        "par-compile <(sleep 0.2; cat model.json) --seq 16 --batch 4 --dry-run",
        "par-compile model.json --plan <(sleep 0.2; cat four.par/manifest.json) --dry-run",
        "par-import model.json --seq 16 --batch 4 -o >(cat > /dev/null)",
    )) if problem]
    print("\n".join(problems) or f"{len(COMMANDS)} commands: one line each")


main()
