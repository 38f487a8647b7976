#!/usr/bin/env python3
"""Add up the traffic lines of `par-compile --explain` over their causes and drop what it says of memory and time: the lines of the summary
without --explain."""
import re
import sys

LINE = re.compile(r"(\d+) bytes(?: \([^)]*\))? in (\d+) calls per rank and step: (\w+ over [\w ]+)(?::.*)?$")


def describe(size):
    """As the summary says it: exact, and as people read it."""
    if size < 1024:
        return f"{size} bytes"
    value, unit = size / 1024, 0
    while value >= 1024:
        value, unit = value / 1024, unit + 1
    return f"{size} bytes ({value:.2f} {('KiB', 'MiB', 'GiB', 'TiB', 'PiB')[unit]})"


rows = {}
for line in sys.stdin:
    found = LINE.match(line)
    if line.startswith(("memory: ", "step: ")):
        continue
    if not found:
        print(line, end="")
        continue
    size, count = rows.get(found[3], (0, 0))
    rows[found[3]] = (size + int(found[1]), count + int(found[2]))
for key, (size, count) in sorted(rows.items()):
    print(f"{describe(size)} in {count} calls per rank and step: {key}")
