#!/usr/bin/env python3
"""Run the commands of a text and compare how each of them fails.

    refusals.py FILE FOLDER

FILE has commands and what they answer; everything else in it is prose and RUN lines:
    $ par-compile model.json -o out.par --ranks 4
    error: --ranks 4 is not built yet; leave it out
Each command is a shell command run in FOLDER. It has to exit with 1 within a minute, to write to standard error the lines
that follow it, up to an empty one, and nothing else (almost always one line), and to leave every file of FOLDER as it was.
`{{…}}` in an expected line is a regular expression.
"""
import os
import re
import subprocess
import sys


def snapshot(folder):
    """Path -> size and time of last change of every file and folder."""
    state = {}
    for root, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(root, name)
            status = os.lstat(path)
            state[path] = (status.st_size, status.st_mtime_ns, status.st_ino)
    return state


def to_pattern(line):
    parts = re.split(r"\{\{(.*?)\}\}", line)
    return re.compile("".join(part if i % 2 else re.escape(part) for i, part in enumerate(parts)))


def read_cases(path):
    """(line number, command, expected lines) of every `$` line; the expectation ends at an empty line or the next `$`."""
    cases = []
    with open(path, encoding="utf-8") as file:
        open_case = None
        for number, line in enumerate(file.read().split("\n"), 1):
            if line.startswith("$ "):
                open_case = (number, line[2:], [])
                cases.append(open_case)
            elif open_case and line.strip():
                open_case[2].append(line)
            else:
                open_case = None
    return cases


def problem_of(command, expected, folder):
    before = snapshot(folder)
    try:
        done = subprocess.run(command, shell=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              errors="replace", timeout=60)
    except subprocess.TimeoutExpired:
        return "does not end within a minute"
    lines = done.stderr.rstrip("\n").split("\n")
    if done.returncode != 1:
        return f"exit code {done.returncode}, expected 1; it wrote\n  " + "\n  ".join(lines)
    if len(lines) != len(expected) or not all(to_pattern(e).fullmatch(a) for e, a in zip(expected, lines)):
        return "wrote\n  " + "\n  ".join(line[:500] for line in lines) + "\nexpected\n  " + "\n  ".join(expected)
    after = snapshot(folder)
    changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    return f"left behind or changed: {', '.join(changed)}" if changed else None


def main():
    path, folder = sys.argv[1:]
    cases = read_cases(path)
    problems = 0
    for number, command, expected in cases:
        problem = problem_of(command, expected, folder) if expected else "no expected line follows"
        if problem:
            problems += 1
            print(f"{path}:{number}: {command}\n{problem}")
    print(f"{len(cases) - problems} of {len(cases)} commands fail as they should")
    return 1 if problems or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
