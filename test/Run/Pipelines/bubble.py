#!/usr/bin/env python3
"""A stage waits for longer than --timeout while the one that it waits for works: no failure, with threads and with processes.

    bubble.py PACKAGE WORK_DIR TRANSPORT...     PACKAGE: gpipe over two stages
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Helpers"))
from running import run_ranks  # noqa: E402

TIMEOUT, KERNELS = 1.0, "0.015,1"


def longest_wait(path):
    with open(path, encoding="utf-8") as file:
        return max(event["dur"] / 1e6 for event in json.load(file)["traceEvents"] if event.get("cat") == "wait")


def main():
    package, work, *transports = sys.argv[1:]
    trace = os.path.join(work, "bubble.json")
    for transport in transports:
        run_ranks(["par-run", package, "--steps", "1", "--emulate-kernels", KERNELS, "--timeout", str(TIMEOUT), "--trace", trace], 2, transport)
        if longest_wait(trace) <= TIMEOUT:
            sys.exit(f"error: {transport}: nobody waited for {TIMEOUT} s: longest {longest_wait(trace)}")
        print(f"{transport}: ended")


main()
