#!/usr/bin/env python3
"""Steps of par's own packages beside what par-compile predicts of them.

    own_steps.py OwnSteps.def CONFIGS

Of every row, the prediction is the row's milliseconds by the model times the factor of the row's device and type, which
is the geometric mean of measured by modelled. Prints the factors.
"""
import collections
import math
import re
import shlex
import subprocess
import sys

table, configs = sys.argv[1:]
CLUSTERS = {"H100": "dgx-h100", "H200": "hgx-h200"}
NO_DROPOUT = " --set attn_pdrop=0.0 --set embd_pdrop=0.0 --set resid_pdrop=0.0"
UNITS = {"us": 1e-3, "ms": 1, "s": 1e3}

with open(table, encoding="utf-8") as file:
    rows = re.findall(r'^OWN_STEP\("(\w+)", (\w+), "([\w.-]+)",\s+"([^"]*)"( NO_DROPOUT)?,\s+([\d.]+),\s+([\d.]+), (?:true|false)\)', file.read(), re.M)


def predict(device, dtype, config, flags):
    command = f"par-compile {configs}/{config}.json {flags} --dtype {dtype.lower()} --target cuda --dry-run --explain"
    done = subprocess.run([*shlex.split(command), "--cluster", CLUSTERS[device]], capture_output=True, text=True, check=True)
    seconds, unit = re.search(r"^step: (\S+) (\w+) by the cost model", done.stdout, re.M).groups()
    return float(seconds) * UNITS[unit]


groups = collections.defaultdict(list)
for device, dtype, config, flags, dropout, modelled, measured in rows:
    groups[device, dtype].append((config, flags + (NO_DROPOUT if dropout else ""), float(modelled), float(measured)))
for (device, dtype), steps in groups.items():
    factor = math.exp(sum(math.log(measured / modelled) for *_, modelled, measured in steps) / len(steps))
    for config, flags, modelled, _ in steps:
        ratio = predict(device, dtype, config, flags) / (modelled * factor)
        assert abs(ratio - 1) < 0.005, (device, config, flags, ratio)
    print(f"{device} {dtype}: {len(steps)} steps, factor {factor:.3f}")
