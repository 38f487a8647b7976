#!/usr/bin/env python3
"""Every op round-trips, every constraint has a failing case.

    check_coverage.py INCLUDE_DIALECT_DIR TEST_DIALECT_DIR [CODE ...]

Reads ops (`def X_YOp : Class<"mnemonic"`) and constraint codes (`(softmax_c1)`) from the .td files of each dialect, and looks for
  round trips    a file of the dialect's tests that -verify-roundtrip and FileCheck run on, with the op in the input and in a CHECK line
  failing cases  an expected-error with the code, in a file that -verify-diagnostics runs on
Prints what lacks one, and codes that tests expect but no .td explains; exits 1 if there is any. CODEs are constraints that need no
failing case, or ops (rank.library) that need no round trip; one that has what it needs not, or does not exist, is a problem too.
"""
import glob
import os
import re
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def read_dialect(folder):
    """(mnemonics, constraint codes) of a dialect's .td files."""
    text = "\n".join(read(path) for path in sorted(glob.glob(f"{folder}/**/*.td", recursive=True)))
    ops = re.findall(r"^def \w+Op\s*:\s*\w+<\s*\"(\w+)\"", text, flags=re.M)
    return set(ops), set(re.findall(r"\((\w+_c\d+)\)", text))


def read_tests(folder, dialect):
    """(ops that round-trip, codes that are expected) of a dialect's tests."""
    checked, written, expected = set(), set(), set()
    for path in sorted(glob.glob(f"{folder}/**/*.mlir", recursive=True)):
        text = read(path)
        runs = "\n".join(line for line in text.split("\n") if "RUN:" in line)
        if "-verify-diagnostics" in runs:
            for line in re.findall(r"expected-error[^\n]*", text):
                expected |= set(re.findall(r"\b(\w+_c\d+)\b", line))
        elif "-verify-roundtrip" in runs and "FileCheck" in runs:
            for line in text.split("\n"):
                target = checked if re.match(r"\s*// CHECK", line) else written if not line.lstrip().startswith("//") else set()
                target |= set(re.findall(rf"\b{dialect}\.(\w+)", line))
    return checked & written, expected


def main():
    include, tests, *excused = sys.argv[1:]
    problems, ops_seen, codes_seen, lacking = [], 0, 0, set()
    for name in ("Par", "Rank"):
        dialect = name.lower()
        ops, codes = read_dialect(os.path.join(include, name))
        round_trips, failing = read_tests(os.path.join(tests, name), dialect)
        ops_seen, codes_seen = ops_seen + len(ops), codes_seen + len(codes)
        untried = {f"{dialect}.{op}" for op in ops - round_trips}
        problems += [f"{op}: no round trip" for op in sorted(untried - set(excused))]
        lacking |= untried | (codes - failing)
        problems += [f"{dialect}: {code}: no failing case" for code in sorted(codes - failing - set(excused))]
        problems += [f"{dialect}: {code}: expected by a test, in no .td file" for code in sorted(failing - codes)]
    problems += [f"{code}: is excused but needs not be" for code in excused if code not in lacking]
    print("\n".join(problems + [f"{ops_seen} ops and {codes_seen} constraints, {len(problems)} problems"]))
    return 1 if problems or not ops_seen or not codes_seen else 0


if __name__ == "__main__":
    sys.exit(main())
