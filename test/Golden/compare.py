"""Compares what a tool wrote with a golden case; standard library only.

compare.py tensors OURS.safetensors GOLDEN.safetensors TOLERANCE
    Same names and sizes; per tensor the largest difference divided by the golden tensor's largest absolute value (at least 1e-6).
compare.py steps OURS.jsonl golden.json OPTIMIZER TOLERANCE
    Loss and gradient norm of every line, relative. There must be at least one line, and no more than golden steps.
compare.py lines A.jsonl B.jsonl TOLERANCE
    The same of two runs.
"""

import array
import json
import struct
import sys


def load(path):
    with open(path, "rb") as file:
        content = file.read()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            assert entry["dtype"] == "F32", f"{path}: {name} is {entry['dtype']}, expected F32"
            begin, end = entry["data_offsets"]
            tensors[name] = (entry["shape"], array.array("f", content[8 + length + begin : 8 + length + end]))
    return tensors


def compare_tensors(ours, golden, tolerance):
    a, b = load(ours), load(golden)
    if set(a) != set(b):
        sys.exit(f"error: {ours} lacks {sorted(set(b) - set(a))} and has {sorted(set(a) - set(b))} too many")
    for name in b:
        if a[name][0] != b[name][0]:
            sys.exit(f"error: {name} has shape {a[name][0]}, expected {b[name][0]}")
        scale = max(max(map(abs, b[name][1])), 1e-6)
        # A NaN must fail, so the comparison is for what is good.
        if not all(abs(x - y) <= tolerance * scale for x, y in zip(a[name][1], b[name][1])):
            worst = max(abs(x - y) for x, y in zip(a[name][1], b[name][1])) / scale
            sys.exit(f"error: {name} differs by {worst:.3g} of its largest value, expected at most {tolerance:g}")


def compare_steps(lines, expected, tolerance):
    if not lines or len(lines) > len(expected):
        sys.exit(f"error: {len(lines)} steps, expected 1 to {len(expected)}")
    for ours, golden in zip(lines, expected):
        for key in ("loss", "grad_norm"):
            if not abs(ours[key] - golden[key]) <= tolerance * abs(golden[key]):
                sys.exit(f"error: {key} of step {ours['step']} is {ours[key]}, expected {golden[key]} up to {tolerance:g}")


def read_lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def main(mode, *arguments):
    if mode == "tensors":
        compare_tensors(arguments[0], arguments[1], float(arguments[2]))
    elif mode == "steps":
        with open(arguments[1]) as file:
            golden = json.load(file)
        compare_steps(read_lines(arguments[0]), golden[arguments[2]]["steps"], float(arguments[3]))
    elif mode == "lines":
        compare_steps(read_lines(arguments[0]), read_lines(arguments[1]), float(arguments[2]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
