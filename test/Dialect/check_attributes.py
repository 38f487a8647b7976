#!/usr/bin/env python3
"""The attributes that passes leave for passes, as docs/IR.md tells of them and as the dialect takes them.

    check_attributes.py DiscardableAttributes.def Inputs.def IR.md

Compares the names and places of the list with the table of IR.md, and the inputs and outputs of the runtime with the two lists
there. Prints what differs, in either direction; exits 1 if anything does.
"""
import re
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    attributes, inputs, docs = map(read, sys.argv[1:])
    problems = []

    def compare(what, code, text):
        problems.extend(f"{what} {name}: in the code, not in docs/IR.md" for name in sorted(code - text))
        problems.extend(f"{what} {name}: in docs/IR.md, not in the code" for name in sorted(text - code))

    declared = re.findall(r"^PAR_DISCARDABLE\(\w+, \"([\w.]+)\", ([A-Z| ]+),", attributes, flags=re.M)
    table = re.findall(r"^\| `(par\.\w+)[^`]*` \| ([a-z, ]+) \|", docs, flags=re.M)
    compare("attribute", {f"{name} of {place}" for name, places in declared for place in places.lower().split(" | ")},
            {f"{name} of {place}" for name, places in table for place in places.strip().split(", ")})
    for kind in ("input", "output"):
        listed = re.search(rf"^- {kind}s: ((?:.|\n)*?)\.$", docs, flags=re.M)
        names = set(re.findall(r"`(\w+)`", listed.group(1))) if listed else set()
        compare(kind, set(re.findall(rf"^PAR_{kind.upper()}\(\w+, (\w+),", inputs, flags=re.M)), names)
    print("\n".join(problems + [f"{len(declared)} attributes, {len(problems)} problems"]))
    return 1 if problems or not declared else 0


if __name__ == "__main__":
    sys.exit(main())
