#!/usr/bin/env python3
"""In the place of ptxas -v -arch=CHIP FILE -o FILE: every kernel is said to spill."""
import re
import sys

with open(sys.argv[3], encoding="utf-8") as file:
    for name in re.findall(r"\.entry (\w+)", file.read()):
        print(f"Compiling entry function '{name}' for '{sys.argv[2]}'\n    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads\nUsed 72 registers", file=sys.stderr)
