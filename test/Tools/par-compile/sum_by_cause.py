#!/usr/bin/env python3
"""Adds up the table of `par-compile --explain` over its causes: sum_by_cause.py SUMMARY EXPLAINED

The sums must be what the latter says by kind and axes, to the byte, and the former as people read it."""
import re
import sys

sys.path.append(sys.path[0] + "/../../Run/Helpers")
from summary import read_memory, read_sent

ROW = re.compile(r" *(\d+) +(?:\d+ bytes|[\d.]+ [KMGTP]iB) +(\d+)(?: +\d+)? +(\w+) over ([\w ]+)(?::.*)?$")


def describe(size):
    """As a summary says it."""
    if size < 1024:
        return f"{size} bytes"
    value, unit = size / 1024, 0
    while value >= 1024:
        value, unit = value / 1024, unit + 1
    return f"{value:.2f} {('KiB', 'MiB', 'GiB', 'TiB', 'PiB')[unit]}"


def main():
    summary, explained = (open(path, encoding="utf-8").read() for path in sys.argv[1:])
    sums, last = {}, None
    for found in filter(None, map(ROW.match, explained.splitlines())):
        size, count, key = int(found[1]), int(found[2]), (found[3], found[4])
        if last is not None and size > last:
            sys.exit(f"error: {size} bytes stand below {last}")
        last = size
        before = sums.get(key, (0, 0))
        sums[key] = (before[0] + size, before[1] + count)
    assert sums == {(kind, axes): (size, calls) for kind, axes, size, calls in read_sent(explained)}, sums
    rows = re.findall(r"^(\w+) over ([\w ]+?)  +(\S+ \w+)  +(\d+)$", summary, re.M)
    assert {(kind, axes): (describe(size), str(calls)) for (kind, axes), (size, calls) in sums.items()} == {row[:2]: row[2:] for row in rows}, rows
    unit, held = re.search(r"^peak memory per rank, (\w+).*\n.*\n(.*)$", summary, re.M).groups()
    scale = 1024 ** ("bytes", "KiB", "MiB", "GiB", "TiB").index(unit)
    assert held.split() == [f"{size / scale:.2f}" if size else "0" for size in read_memory(explained)[0].values()], held


main()
