#!/usr/bin/env python3
"""Objectives of par-plan beside its default, and the number of workers: check_objectives.py MODEL CLUSTER RANKS [flags]."""
import json
import shlex
import subprocess
import sys

sys.path.append(sys.path[0] + "/../../Run/Helpers")
from summary import read_memory

model, cluster, ranks, *more = sys.argv[1:]


def plan(*flags):
    command = ["par-plan", model, "--cluster", cluster, "--ranks", ranks, "--json", *more, *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{shlex.join(command)}: {done.stderr}")
    return json.loads(done.stdout)


def peak(found):
    return max(stage["peak_bytes"] for stage in found["memory"])


def count_ranks(found):
    count = 1
    for _, size in found["mesh"]:
        count *= size
    return count


def check_compiled(found):
    command = ["par-compile", model, "--dry-run", "--explain", *shlex.split(found["flags"])]
    summary = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert peak(found) == max(held["peak"] for held in read_memory(summary).values()), (found, summary)


quick = plan()["plans"][0]
small = plan("--objective", "memory")["plans"]
assert peak(small[0]) <= peak(quick)
assert [peak(found) for found in small] == sorted(peak(found) for found in small)
check_compiled(small[0])
print(f"memory: {peak(small[0])} bytes, of the quickest {peak(quick)}")
cheap = plan("--objective", "cost")["plans"]
assert cheap[0]["device_seconds"] <= quick["device_seconds"]
assert [found["device_seconds"] for found in cheap] == sorted(found["device_seconds"] for found in cheap)
for found in cheap:
    assert abs(found["device_seconds"] - count_ranks(found) * found["step_seconds"]) < 1e-9 * found["device_seconds"]
check_compiled(cheap[0])
print(f"cost: {cheap[0]['device_seconds']:.6f} device seconds on {count_ranks(cheap[0])} ranks, "
      f"of the quickest {quick['device_seconds']:.6f} on {count_ranks(quick)}")
answers = [json.dumps(plan("--workers", workers)) for workers in ("1", "2", "4")]
assert answers[0] == answers[1] == answers[2]
print("1, 2 and 4 workers say the same")
