#!/usr/bin/env python3
"""Give par-run every flag that par-compile has and par-run has not: each has to be refused with the name of par-compile."""
import re
import subprocess
import sys


def flags_of(tool):
    text = subprocess.run([tool, "--help"], capture_output=True, text=True, check=True).stdout
    return {flag for line in re.findall(r"^  (-\S+)", text, re.M) for flag in line.split(",")}


def main():
    foreign = sorted(flags_of("par-compile") - flags_of("par-run"))
    problems = []
    for flag in foreign:
        done = subprocess.run(["par-run", "x.par", "--steps", "1", flag, "1"], capture_output=True, text=True)
        expected = f"error: unknown flag {flag}: par-compile takes it; what it says is part of the package\n"
        if done.returncode != 1 or done.stderr != expected:
            problems.append(f"{flag}: exit code {done.returncode}, {done.stderr!r}")
    print("\n".join(problems) or f"{len(foreign)} flags are refused as those of par-compile")
    return 1 if problems or len(foreign) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
