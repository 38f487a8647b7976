#!/usr/bin/env python3
"""What a search says of memory agrees with itself and with par-compile:

- the plan that needs least of all fits in what it needs, and a byte less is refused with that very number;
- no plan of the same ranks that par-compile takes needs less;
- with more memory the best plan takes no longer.

    check_least.py MODEL CLUSTER RANKS FLAGS...
"""
import itertools
import json
import random
import re
import shlex
import subprocess
import sys

sys.path.append(sys.path[0] + "/../../Run/Helpers")
from summary import read_memory

model, cluster, ranks, *flags = sys.argv[1:]
PLANS = 12  # that are drawn, of which not all are possible


def find(*more):
    return subprocess.run(["par-plan", model, "--cluster", cluster, "--ranks", ranks, "--top", "1", "--json", *flags, *more],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def best(*more):
    done = find(*more)
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)["plans"][0]
    return plan, max(stage["peak_bytes"] for stage in plan["memory"])


def compiled_peak(plan_flags):
    """None where par-compile refuses the plan."""
    done = subprocess.run(["par-compile", model, "--dry-run", "--explain", *flags, *target, *plan_flags],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return None if done.returncode else max(held["peak"] for held in read_memory(done.stdout).values())


def draw(dice):
    count = int(ranks)
    pp = dice.choice([size for size in range(1, count + 1) if count % size == 0])
    tp = dice.choice([size for size in (1, 2, 4) if count // pp % size == 0])
    dp = count // pp // tp
    drawn = ["--mesh", f"pp={pp},dp={dp},tp={tp}", "--micro-batches", str(dice.choice([1, 2, 4, 8]))]
    drawn += ["--recompute", dice.choice(["none", "selective", "full"]), "--offload", dice.choice(["none", "optimizer"])]
    if dp > 1:
        drawn += ["--zero", str(dice.randrange(4))]
    if pp > 1:
        drawn += ["--schedule", dice.choice(["1f1b", "zb-h1", "zb-h2"])]
    return drawn


smallest, least = best("--objective", "memory")
target = re.findall(r"--(?:target|chip) \S+", smallest["flags"])
target = shlex.split(" ".join(target))
assert best("--memory-limit", str(least))[1] == least
refused = find("--memory-limit", str(least - 1))
assert refused.returncode == 1 and "needs least takes" in refused.stderr, refused.stderr
print(re.search(r"the one that needs least takes .*? \(", refused.stderr).group(0))

seconds = [best("--memory-limit", str(int(least * share)))[0]["step_seconds"] for share in (1, 1.1, 1.25, 1.5, 2, 3, 6)]
assert all(more <= less for less, more in itertools.pairwise(seconds)), seconds

dice = random.Random(7)
peaks = [compiled_peak(draw(dice)) for _ in range(PLANS)]
possible = [peak for peak in peaks if peak is not None]
assert len(possible) >= PLANS // 4 and min(possible) >= least, (least, peaks)
print("no plan needs less than the least, and more memory makes none longer")
