#!/usr/bin/env python3
"""A limit of memory below what the quickest plan takes: the plan that is found is one of as many ranks that fits it, by par-plan
and by par-compile.

    check_limit.py MODEL CLUSTER RANKS FLAGS...
"""
import json
import re
import subprocess
import sys

model, cluster, ranks, *flags = sys.argv[1:]


def find(*more):
    done = subprocess.run(["par-plan", model, "--cluster", cluster, "--ranks", ranks, "--top", "1", "--json", *flags, *more],
                          stdout=subprocess.PIPE, text=True, check=True)
    answer = json.loads(done.stdout)
    plan = answer["plans"][0]
    return max(stage["peak_bytes"] for stage in plan["memory"]), answer["plainest"]["flags"], plan["step_seconds"]


peak, _, seconds = find()
limit = peak * 4 // 5
smaller, plan, longer = find("--memory-limit", str(limit))
assert smaller <= limit and longer >= seconds, (smaller, limit, longer, seconds)
done = subprocess.run(["par-compile", model, "--cluster", cluster, "--ranks", ranks, "--memory-limit", str(limit), "--dry-run",
                       *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
assert done.stderr.endswith(f"\nnote: {plan}\n"), done.stderr
assert re.search(rf"^ranks {ranks},", done.stdout, re.M), done.stdout
print("the quickest plan that fits is found and compiled")
