#!/usr/bin/env python3
"""Do the inner loops of products keep their sums in registers?

    check_registers.py OBJECT LEAST FUNCTION...

Looks at the machine code of every function whose symbol contains FUNCTION: loops without another jump inside that hold LEAST fused multiply-adds of whole
vectors or more may not read or write vectors on the stack. What the compiler spills there costs a third of the speed and no test of results sees it.
"""
import re
import subprocess
import sys


def loops_of(lines):
    """Instructions between a jump's target and the jump, where nothing else jumps in between."""
    loop = []
    for line in lines:
        address, _, instruction = line.strip().partition(":")
        jump = re.match(r"\s*j\w+\s+([0-9a-f]+)", instruction)
        if not jump:
            loop.append((address, instruction))
            continue
        addresses = [at for at, _ in loop]
        if jump.group(1) in addresses:
            yield [text for _, text in loop[addresses.index(jump.group(1)):]]
        loop = []


def main():
    path, least, wanted = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], check=True, capture_output=True, text=True).stdout
    loops, spilled = {name: 0 for name in wanted}, []
    for function in re.split(r"\n(?=[0-9a-f]+ <)", code):
        head, *lines = function.split("\n")
        names = [name for name in wanted if name in head]
        for loop in loops_of(lines) if names else []:
            if sum(bool(re.search(r"(vfmadd231ps|vdpbf16ps) .*%[yz]mm", line)) for line in loop) < least:
                continue
            loops[names[0]] += 1
            spills = [line for line in loop if re.search(r"\(%rsp.*%[yz]mm|%[yz]mm.*\(%rsp", line)]
            if spills:
                spilled.append(f"{names[0]}: {len(spills)} of {len(loop)} instructions, for example {spills[0].strip()}")
    for line in spilled:
        print(line)
    for name, count in loops.items():
        print(f"{name}: {'some' if count else 'NO'} loops")
    sys.exit(bool(spilled) or not all(loops.values()))


if __name__ == "__main__":
    main()
