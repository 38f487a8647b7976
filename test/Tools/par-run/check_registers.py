#!/usr/bin/env python3
"""Do the inner loops of products keep their sums in registers?

    check_registers.py OBJECT LEAST FUNCTION...

Looks at the machine code of every function whose symbol contains FUNCTION: stretches without a jump that hold LEAST fused multiply-adds of whole vectors or more
may not read or write vectors on the stack. What the compiler spills there costs a third of the speed and no test of results sees it.
"""
import re
import subprocess
import sys


def stretches(lines):
    """Instructions between jumps and jump targets."""
    targets = {found.group(1) for line in lines if (found := re.search(r"\tj\w+\s+([0-9a-f]+)", line))}
    stretch = []
    for line in lines:
        address, _, instruction = line.strip().partition(":")
        if address in targets or instruction.lstrip().startswith("j"):
            yield stretch
            stretch = []
        stretch.append(instruction)
    yield stretch


def main():
    path, least, wanted = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], check=True, capture_output=True, text=True).stdout
    loops, spilled = {name: 0 for name in wanted}, []
    for function in re.split(r"\n(?=[0-9a-f]+ <)", code):
        head, *lines = function.split("\n")
        names = [name for name in wanted if name in head]
        for stretch in stretches(lines) if names else []:
            if sum(bool(re.search(r"vfmadd231ps .*%[yz]mm", line)) for line in stretch) < least:
                continue
            loops[names[0]] += 1
            spills = [line for line in stretch if re.search(r"\(%rsp.*%[yz]mm|%[yz]mm.*\(%rsp", line)]
            if spills:
                spilled.append(f"{names[0]}: {len(spills)} of {len(stretch)} instructions, for example {spills[0].strip()}")
    for line in spilled:
        print(line)
    for name, count in loops.items():
        print(f"{name}: {'some' if count else 'NO'} loops")
    sys.exit(bool(spilled) or not all(loops.values()))


if __name__ == "__main__":
    main()
