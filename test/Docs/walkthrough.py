#!/usr/bin/env python3
"""The IR in docs/Walkthrough.md is what the tools print: walkthrough.py PAGE GRAPH [--update]

A block of the page that stands behind a comment

    <!-- ir: partition @pair.forward -->
    <!-- ir: lower @train only rank.action -->

shows one op of the graph behind a phase: the op of that symbol, to its closing brace, long lines broken. With `only`
just the lines that hold one of the words are shown, first and last line apart; what is left out is a line `…`. With
`short` lists of arguments and results of a function, and types and numbers of values of an action's slots, are left out.
Exits 1 and shows the difference where the page says something else; --update writes the page anew.
"""
import argparse
import difflib
import functools
import re
import subprocess
import sys

FLAGS = "--mesh dp=2,tp=2 --zero 3 --overlap on --micro-batches 2"
WIDTH = 116
BLOCK = re.compile(r"<!-- ir: (?P<phase>\w+) (?P<symbol>@\S+|train)(?P<short> short)?(?: only (?P<only>[^>]*?))? -->\n\n```mlir\n(?P<text>.*?)```\n", re.S)


@functools.lru_cache(None)
def compile_to(graph, phase):
    """The lines of the module behind a phase."""
    words = ["par-compile", graph, *FLAGS.split(), "--to", phase]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}\n{done.stderr}")
    return done.stdout.split("\n")


def find(lines, symbol):
    """The op that defines a symbol, or the schedule to train, without the module's indentation."""
    defines = re.compile(rf"^  \S[^@]*{re.escape(symbol)}(?![\w.])")
    first = next((number for number, line in enumerate(lines) if defines.match(line)), None)
    if first is None:
        sys.exit(f"no op defines {symbol}")
    last = first
    if lines[first].endswith("{"):
        last = next(number for number in range(first, len(lines)) if lines[number] == "  }")
    return [re.sub(r"(?<=\S)  +", " ", line[2:]) for line in lines[first : last + 1]]


def select(op, words):
    shown = [op[0]]
    for line in op[1:-1]:
        if any(word in line for word in words):
            shown.append(line)
        elif shown[-1].strip() != "…":
            shown.append("  …")
    return shown + op[-1:]


def shorten(header):
    """`func.func @f(…) -> (…) attributes {…} {`"""
    if "(" not in header:
        return header
    name = header[: header.index("(")]
    results = " -> (…)" if ") -> " in header else ""
    attributes = header.rpartition("attributes {")
    return f"{name}(…){results}{' ' + ''.join(attributes[1:]) if attributes[1] else ' {'}"


def shorten_action(line):
    """Without types of slots and numbers of values."""
    line = re.sub(r" : <\d+>", "", line)
    return re.sub(r"(reads|writes) = array<i64[^>]*>", r"\1 = …", re.sub(r" : !rank\.buffer[^)]*", " : …", line))


def wrap(line):
    """Broken at blanks, best where something ends; what follows is indented by four more."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    broken = []
    while len(line) > WIDTH:
        places = [line.rfind(text, len(indent) + 20, WIDTH - len(text) + 1) + shift
                  for text, shift in ((") -> (", 1), (" : (", 0), ("}, %", 2), ("}, tensor", 2), (">, ", 2), (" {", 0), ("; ", 1), (", ", 1))]
        at = next((place for place in places if place > WIDTH // 2), max(places))
        if at < len(indent) + 20:
            at = line.rfind(" ", len(indent) + 20, WIDTH)
        broken.append(line[:at].rstrip())
        line = indent + line[at:].lstrip()
    return broken + [line]


def render(graph, match):
    op = find(compile_to(graph, match["phase"]), match["symbol"])
    if match["short"]:
        op = [shorten(op[0])] + [shorten_action(line) if line.startswith("  rank.action ") else line for line in op[1:]]
    if match["only"]:
        op = select(op, match["only"].split())
    text = "\n".join(part for line in op for part in wrap(line))
    head = match[0][: match.start("text") - match.start()]
    return f"{head}{text}\n```\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("page")
    parser.add_argument("graph")
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    with open(args.page, encoding="utf-8") as file:
        page = file.read()
    anew, blocks = BLOCK.subn(lambda match: render(args.graph, match), page)
    if args.update and anew != page:
        with open(args.page, "w", encoding="utf-8") as file:
            file.write(anew)
    elif anew != page:
        sys.stdout.writelines(difflib.unified_diff(page.splitlines(True), anew.splitlines(True), args.page, "tools"))
        sys.exit(f"{args.page} shows something else than the tools print: {' '.join(sys.argv)} --update")
    print(f"{blocks} blocks of IR are as the tools print them")


if __name__ == "__main__":
    main()
