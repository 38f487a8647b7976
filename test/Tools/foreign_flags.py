#!/usr/bin/env python3
"""Holds the table of flags that other trainers have against par's tools: foreign_flags.py ForeignFlags.def

Each flag that a line names is one of the tools that it is said to be of, and none of the names is. Each tool answers with
what its first line says (Unit/Runtime/UnknownFlag.* asks for all names).
"""
import re
import subprocess
import sys

LINE = re.compile(r'^FOREIGN\(((?:"[^"]*"\s*)+),\s*"([^"]*)",\s*"([^"]*)"\)', re.M | re.S)
HELP = {}


def flags_of(tool):
    if tool not in HELP:
        page = subprocess.run([tool, "--help"], capture_output=True, text=True, check=True).stdout
        HELP[tool] = {flag for spellings in re.findall(r"^  (-\S+)", page, re.M) for flag in spellings.split(",")}
    return HELP[tool]


def read_table(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    lines = [("".join(re.findall('"([^"]*)"', names)).split(), tools.split(), say) for names, tools, say in LINE.findall(text)]
    if len(lines) != len(re.findall("^FOREIGN", text, re.M)) or len(lines) < 50:
        sys.exit(f"{path}: some lines are not as the others")
    return lines


def named_flags(say, tools):
    """(tool, flag) of all that the text names: of the tool before it, else of all tools of the line."""
    for tool, flag in re.findall(r"(?:(par-[a-z]+) )?(?<![\w-])(--?[a-z][\w-]*)", say.replace("mpirun -np", "mpirun")):
        yield from ((each, flag) for each in ([tool] if tool else tools))


def check_line(names, tools, say):
    for tool, flag in named_flags(say, tools):
        if flag not in flags_of(tool):
            yield f"{tool} has no {flag}, which '{say}' names"
    for tool in tools:
        yield from (f"--{name} is a flag of {tool}" for name in names if "--" + name in flags_of(tool))


def check_answer(tool, name, say):
    done = subprocess.run([tool, "x", "--" + name, "7"], capture_output=True, text=True)
    say = say.replace("#", "7")
    expected = f"error: unknown flag --{name}" + (f"; did you mean {say}?" if say[0] == "-" else f": {say}") + "\n"
    if done.returncode != 1 or done.stderr != expected:
        yield f"{tool} --{name} 7: exit code {done.returncode}, {done.stderr!r}, expected {expected!r}"


def main():
    table, problems, first = read_table(sys.argv[1]), [], {}
    for names, tools, say in table:
        tools = [] if tools == ["*"] else tools
        problems += check_line(names, tools, say)
        for tool in tools:
            first.setdefault(tool, (names[0], say))
    for tool, (name, say) in first.items():
        if tool != "par-schedule":  # which takes nothing but flags
            problems += check_answer(tool, name, say)
    print("\n".join(problems) or f"{len(table)} lines name flags that there are")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
