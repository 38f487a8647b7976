#!/usr/bin/env python3
"""Add up the table of `par-compile --explain` over its causes and drop what it says of memory and time: the lines of the summary without
--explain."""
import re
import sys

ROW = re.compile(r" *(\d+) +(?:\d+ bytes|[\d.]+ [KMGTP]iB) +(\d+)(?: +\d+)? +(\w+ over [\w ]+)(?::.*)?$")


def describe(size):
    """As the summary says it: exact, and as people read it."""
    if size < 1024:
        return f"{size} bytes"
    value, unit = size / 1024, 0
    while value >= 1024:
        value, unit = value / 1024, unit + 1
    return f"{size} bytes ({value:.2f} {('KiB', 'MiB', 'GiB', 'TiB', 'PiB')[unit]})"


rows, last = {}, None
for line in sys.stdin:
    if line.startswith(("memory: ", "step: ")) or " calls per rank and step: " in line:
        continue
    if found := ROW.match(line):
        size, count = int(found[1]), int(found[2])
        if last is not None and size > last:
            sys.exit(f"error: {size} bytes stand below {last}")
        last = size
        before = rows.get(found[3], (0, 0))
        rows[found[3]] = (before[0] + size, before[1] + count)
    elif not line.endswith(" sent per rank and step, and why\n"):
        print(line, end="")
for key, (size, count) in sorted(rows.items()):
    print(f"{describe(size)} in {count} calls per rank and step: {key}")
