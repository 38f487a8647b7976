#!/usr/bin/env python3
"""Looks at --help of the tools that are named: help.py TOOL...

On any width no line is longer, no word is lost or cut, and each flag is there once with its help; of many flags five come first.
"""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Run/Helpers"))
from terminal import everything  # noqa: E402

MANY = 10
ENTRY = re.compile(r"^  (-\S+)(.*(?:\n {6,}.*)*)", re.M)


def page_of(tool, columns):
    """None: as in a pipe."""
    variables = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    if columns:
        variables["COLUMNS"] = str(columns)
    return subprocess.run([tool, "--help"], capture_output=True, text=True, check=True, env=variables).stdout


def page_on_terminal(tool, columns):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    variables = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    with subprocess.Popen([tool, "--help"], stdout=theirs, env=variables) as process:
        os.close(theirs)
        text = everything(ours)
    os.close(ours)
    if process.returncode:
        sys.exit(f"{tool}: exit code {process.returncode} on a terminal")
    return text.decode().replace("\r\n", "\n")


def longest(page):
    return max(len(line) for line in page.split("\n"))


def check(tool):
    plain = page_of(tool, None)
    for columns in (40, 60, 80, 120, 400):
        page = page_of(tool, columns)
        if longest(page) > columns:
            yield f"a line of {longest(page)} at {columns} columns"
        if "".join(page.split()) != "".join(plain.split()):
            yield f"other letters at {columns} columns"
        if columns >= 80 and page.split() != plain.split():
            yield f"a word is cut at {columns} columns"
    if page_of(tool, 80) != plain:
        yield "a pipe has no 80 columns"
    if page_on_terminal(tool, 97) != page_of(tool, 97) or page_on_terminal(tool, 300) != page_of(tool, 120):
        yield "a terminal has other columns than it says"
    entries = ENTRY.findall(plain)
    flags = [spelling for spellings, _ in entries for spelling in spellings.split(",")]
    if len(flags) != len(set(flags)) or not {"--config", "--help", "--version"} <= set(flags):
        yield f"flags are {flags}"
    yield from (f"{flag} has no help" for flag, text in entries if not re.search(r"(  |\n {6,})\S", text))
    first = re.search(r"\n\nMost used:\n(.*?)\n\n", plain, re.S)
    if len(flags) > MANY and (not first or len(ENTRY.findall(first[1])) != 5 or plain.index(first[0]) > plain.index("\n  -")):
        yield "five flags do not come first"


def main():
    problems = [f"{tool}: {problem}" for tool in sys.argv[1:] for problem in check(tool)]
    print("\n".join(problems) or f"{len(sys.argv) - 1} tools: no line too long")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
