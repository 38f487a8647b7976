#!/usr/bin/env python3
"""The distinct kernels of all example models under four plans, emulated at the real length of their rows.

    rows.py --build DIR [--config FILE ..] [--plan NAME ..]

Layers are cut to two, and rows: a rank has three sequences of 8 tokens at a time, and a weight or a table 16 rows. What
the kernels compute is compared with the interpreter, and what they move with docs/Emulation.md's limits. Prints a line
for each kernel (its plan, the model, the length of a row, bytes moved by needed, share of 16 bytes at a time, share of
sectors used) and the worst of each plan; exit 1 where a number or a limit is wrong.
"""
import argparse
import subprocess
import sys
import tempfile

import examples

SEQUENCES, TOKENS, LAYERS = 3, 8, 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", required=True)
    for name in ("config", "plan"):
        parser.add_argument(f"--{name}", action="append", default=[])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = examples.print_programs(args.build, folder, args.config, args.plan, SEQUENCES, TOKENS, LAYERS)
        return subprocess.run([f"{args.build}/test/Unit/Target/real-rows", *files], check=False).returncode


sys.exit(main())
