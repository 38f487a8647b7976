"""signals.py FOLDER: every signal that can be caught, to every tool that writes files, at random moments.

FOLDER has model.json, gpu.par (a package for GPUs), four.par and text.txt. After each signal the folder of the tool holds
what it held before, or all that the tool was to write; nothing else, and above all nothing temporary. A tool whose package
was changed runs again."""
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

# Those that end a process or are ignored; not SIGKILL, nor what stops a process.
SIGNALS = [number for number in range(1, 32)
           if number not in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)] + [40]
SHAPE = ["--seq", "16", "--batch", "4"]
# Name -> command in a folder of its own, and its seconds or so.
TOOLS = {
    "par-compile": (["par-compile", "../model.json", *SHAPE, "-o", "out.par", "--report", "r.html", "--timeline", "t.json"], 1.2),
    "par-emulate": (["par-emulate", "gpu.par"], 1.0),
    "par-run": (["par-run", "../four.par", "--steps", "2000", "--data", "random", "--checkpoint", "c", "--save-every", "1",
                 "--keep", "2", "--metrics", "m.jsonl"], 0.6),
    "par-export": (["par-export", "../four.par", "--checkpoint", "../c", "-o", "exported"], 0.2),
    "par-data": (["par-data", "../text.txt", "--tokenizer", "../tokenizer.json", "-o", "out.bin"], 0.2),
    "par-import": (["par-import", "../model.json", *SHAPE, "-o", "out.mlir"], 0.2),
    "par-measure": (["par-measure", "-o", "figures.json"], 2.0),
    "par-plan": (["par-plan", "../model.json", *SHAPE, "--ranks", "2", "--cluster", "../cpu.json", "-o", "plan.json"], 1.0),
}
# Whole results, and a run's own: a checkpoint that is there is complete, metrics are a line per step.
RESULTS = {"out.par", "r.html", "t.json", "exported", "out.bin", "out.bin.json", "out.mlir", "figures.json", "plan.json", "m.jsonl"}
PARTIAL = (".tmp", "temp-stream", "run.lock")


def list_files(folder):
    return sorted(os.path.relpath(os.path.join(root, name), folder)
                  for root, folders, files in os.walk(folder) for name in folders + files)


def make_place(folder, name):
    place = os.path.join(folder, "place")
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    if name == "par-emulate":
        shutil.copytree(os.path.join(folder, "gpu.par"), os.path.join(place, "gpu.par"))
    return place


def find_left(place, before):
    """Names that ought not to be there."""
    left = [name for name in list_files(place) if any(part in name for part in PARTIAL)]
    new = {name.split(os.sep)[0] for name in set(list_files(place)) - set(before)}
    return left + sorted(new - RESULTS - {"c", "gpu.par"})


def interrupt(command, place, number, delay):
    process = subprocess.Popen(command, cwd=place, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True, errors="replace",
                               preexec_fn=lambda: (signal.signal(number, signal.SIG_DFL),
                                                   resource.setrlimit(resource.RLIMIT_CORE, (0, 0))))
    time.sleep(delay)
    process.send_signal(number)
    try:
        return process, process.communicate(timeout=2)[1]
    except subprocess.TimeoutExpired:  # it goes on where the signal is ignored
        process.terminate()
    try:
        return process, process.communicate(timeout=60)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        return process, "it does not end"


def check(folder, name, number, chance):
    command, seconds = TOOLS[name]
    place = make_place(folder, name)
    before = list_files(place)
    delay = chance.uniform(0, seconds)
    _, errors = interrupt(command, place, number, delay)
    left = find_left(place, before)
    problems = [f"{name}, signal {number} after {delay:.3f} s leaves {left}"] if left else []
    if os.path.exists(f"{place}/out.bin") != os.path.exists(f"{place}/out.bin.json"):
        problems.append(f"{name}, signal {number} after {delay:.3f} s: one of out.bin and its description is there")
    if "it does not end" in errors or "terminate called" in errors:
        problems.append(f"{name}, signal {number}: {errors}")
    if name == "par-emulate" and chance.random() < 0.3:
        again = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
        problems += [f"{name} again: {again.stderr}"] if again.returncode else []
    return problems


def main():
    folder, rounds, seed = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance, problems = random.Random(seed), []
    always, others = ["par-compile", "par-run"], ["par-emulate", "par-export", "par-data", "par-import", "par-measure", "par-plan"]
    for turn in range(rounds):
        for place, number in enumerate(SIGNALS):
            for name in always + [others[(place + turn) % len(others)]]:
                problems += check(folder, name, number, chance)
    print("\n".join(problems) or f"{len(SIGNALS)} signals: nothing is left")


main()
