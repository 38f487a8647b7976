"""few_processes.py FOLDER: the tools where hardly a process or thread may be started.

FOLDER has model.json, a package four.par of four ranks, text.txt and its tokenizer.json. Under limits of 1 to 12 processes every command ends
within a minute, with the code 0 or with 1 and one line `error:` on standard error, and never by a signal."""
import os
import resource
import shutil
import signal
import subprocess
import sys

COMMANDS = {
    "par-run": ["par-run", "four.par", "--steps", "1", "--data", "random"],
    "par-run with a lock": ["par-run", "four.par", "--steps", "1", "--data", "random", "--checkpoint", "fresh"],
    "par-generate": ["par-generate", "four.par", "--checkpoint", "c", "--prompt-tokens", "1", "--tokens", "2"],
    "par-compile": ["par-compile", "model.json", "--seq", "16", "--batch", "4", "--mesh", "dp=2", "-o", "out.par"],
    "par-plan": ["par-plan", "model.json", "--ranks", "2", "--seq", "16", "--batch", "4", "--cluster", "cpu.json", "--top", "1"],
    "par-data": ["par-data", "text.txt", "--tokenizer", "tokenizer.json", "-o", "out.bin"],
    "par-measure": ["par-measure", "-o", "figures.json"],
    "par-opt": ["par-opt", "many.mlir", "--canonicalize", "-o", "out.mlir"],
}
# The others are slow, and start one kind of thread or none (where par-measure can start all, it measures for a minute;
# with 4 it cannot start its 4 ranks, and says so before it measures).
SOME = {"par-compile": (1, 2), "par-plan": (1, 2, 6), "par-measure": (1, 2, 3, 4), "par-opt": (1, 2), "par-data": (1, 2)}
# A user who has no process, where the limit counts those of a user; else those that there are count, too.
USER = 60000 + os.getpid() % 5000


def count_own_threads():
    count = 0
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.stat(f"/proc/{entry}").st_uid == os.getuid():
                count += len(os.listdir(f"/proc/{entry}/task"))
        except OSError:
            pass
    return count


def limit(processes, own):
    def apply():
        number = processes if os.getuid() == 0 else processes + own
        resource.setrlimit(resource.RLIMIT_NPROC, (number, number))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.setsid()
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(USER)
            os.setuid(USER)

    return apply


def check(name, command, processes, folder, own):
    """What is wrong, or nothing; and whether it failed with a line."""
    shutil.rmtree(f"{folder}/fresh", ignore_errors=True)
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               errors="replace", preexec_fn=limit(processes, own))
    try:
        _, errors = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return f"{name} with {processes} processes hangs: {process.communicate()[1]}", False
    lines = [line for line in errors.splitlines() if "error:" in line]
    if process.returncode == 0 and not lines:
        return "", False
    if process.returncode == 1 and len(lines) == 1 and ";" in lines[0]:
        return "", "could not be started" in lines[0]
    return f"{name} with {processes} processes: code {process.returncode}: {errors}", False


def main():
    folder = os.path.abspath(sys.argv[1])
    names = sys.argv[2:] or list(COMMANDS)
    with open(f"{folder}/many.mlir", "w", encoding="utf-8") as file:
        for number in range(64):
            file.write(f"func.func @f{number}(%a: tensor<4xf32>) -> tensor<4xf32> {{ return %a : tensor<4xf32> }}\n")
    subprocess.run(["chmod", "-R", "a+rwX", folder], check=True)
    own, problems, refused = count_own_threads(), [], set()
    for name in names:
        for processes in SOME.get(name, (1, 2, 3, 4, 5, 6, 8, 12)):
            problem, isLine = check(name, COMMANDS[name], processes, folder, own)
            problems += [problem] if problem else []
            if isLine:
                refused.add(name)
    print("\n".join(problems) or "one line each, or none")
    print("could not be started:", " ".join(sorted(refused)))


main()
