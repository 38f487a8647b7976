#!/usr/bin/env python3
"""Add up the traffic lines of `par-compile --explain` over their causes and drop what it says of memory: the lines of the summary
without --explain."""
import re
import sys

LINE = re.compile(r"(\d+) bytes in (\d+) calls per rank and step: (\w+ over [\w ]+)(?::.*)?$")
rows = {}
for line in sys.stdin:
    found = LINE.match(line)
    if line.startswith("memory: "):
        continue
    if not found:
        print(line, end="")
        continue
    size, count = rows.get(found[3], (0, 0))
    rows[found[3]] = (size + int(found[1]), count + int(found[2]))
for key, (size, count) in sorted(rows.items()):
    print(f"{size} bytes in {count} calls per rank and step: {key}")
