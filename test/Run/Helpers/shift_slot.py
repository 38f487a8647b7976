#!/usr/bin/env python3
"""shift_slot.py RANK.mlir KIND: moves one slot of a kind so that it overlaps the one below it by one byte, a fault that interpretation must see."""
import re
import sys

SLOT = re.compile(r"rank\.slot +(\w+) .*offset = (\d+) .*: <(\d+)>")

with open(sys.argv[1]) as file:
    lines = file.read().split("\n")
slots = []  # (offset, bytes, line)
for number, line in enumerate(lines):
    match = SLOT.search(line)
    if match and match.group(1) == sys.argv[2]:
        slots.append((int(match.group(2)), int(match.group(3)), number))
slots.sort()
(below, size, _), (offset, _, number) = slots[0], slots[1]
assert below + size <= offset
lines[number] = lines[number].replace(f"offset = {offset} ", f"offset = {below + size - 1} ")
print("\n".join(lines))
