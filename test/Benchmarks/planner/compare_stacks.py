"""Checks that what a stack file says makes those steps longer that it is about, and no others."""
import subprocess
import sys

INPUTS = sys.argv[1]
# By folder of stack files, the rows whose steps take longer than with the plain one.
LONGER = {
    "blocking": {"zb-small"},
    "whole": {"bs-small", "titan-small", "korthi22-layer"},
    "kernels": {"bs-small", "titan-small", "titan-gated", "zb-small", "korthi22-layer"},
    "unfused": {"bs-small", "titan-small", "titan-gated", "zb-small", "korthi22-layer"},
    "slow": {"bs-small", "titan-small", "titan-gated", "zb-small", "korthi22-layer"},
}


def predict(stacks):
    command = ["planner-benchmark", "--rows", f"{INPUTS}/rows.json", "--stacks", f"{INPUTS}/{stacks}"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    words = [line.split() for line in lines]
    return {word[0]: float(word[5]) for word in words if len(word) > 5 and word[2] == "s"}


plain = predict("plain")
for stacks, expected in LONGER.items():
    ratios = predict(stacks)
    longer = {row for row in plain if ratios[row] > plain[row]}
    assert longer == expected, (stacks, longer, plain, ratios)
