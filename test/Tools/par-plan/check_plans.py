#!/usr/bin/env python3
"""What par-plan says of its plans is what par-compile says of them.

    check_plans.py MODEL CLUSTER FOLDER RANKS [flags of par-plan]

Prints "N plans agree" when of every plan the peaks of all stages, the makespan of the timeline, the predicted speed and the mesh
are those of its flags, and of the plainest those of the plan's file as well.
"""
import json
import math
import re
import shlex
import subprocess
import sys

sys.path.append(sys.path[0] + "/../../Run/Helpers")
from summary import read_memory

model, cluster, folder, ranks, *more = sys.argv[1:]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{shlex.join(command)}: {done.stderr}")
    return done.stdout


def compile_plan(*flags):
    timeline = f"{folder}/timeline.json"
    summary = run("par-compile", model, "--dry-run", "--explain", "--cluster", cluster, "--timeline", timeline, *flags)
    with open(timeline, encoding="utf-8") as file:
        spans = [event for event in json.load(file)["traceEvents"] if event["ph"] == "X"]
    return summary, max(span["ts"] + span["dur"] for span in spans) / 1e6


def check(plan, summary, makespan):
    # Timelines have nanoseconds.
    assert abs(makespan - plan["step_seconds"]) < 1e-6 * plan["step_seconds"] + 1e-9, (makespan, plan)
    peaks = {stage: held["peak"] for stage, held in read_memory(summary).items()}
    assert peaks == {stage["stage"]: stage["peak_bytes"] for stage in plan["memory"]}, (peaks, plan)
    speed, mfu = re.search(r"^predicted for \S+\n  .* a step, (\d+) tokens/s, mfu (\S+) %", summary, re.M).groups()
    assert abs(int(speed) - plan["tokens_per_second"]) <= 0.5 and abs(float(mfu) - 100 * plan["mfu"]) < 0.0501, (summary, plan)


def main():
    base = ["par-plan", model, "--cluster", cluster, "--ranks", ranks, *more]
    text = run(*base, "--json", "--top", "4", "-o", f"{folder}/plan.json")
    assert run(*base, "--json", "--top", "4") == text
    answer = json.loads(text)
    plans, plainest = answer["plans"], answer["plainest"]
    assert plans == sorted(plans, key=lambda plan: plan["step_seconds"])
    for plan in plans:
        assert math.prod(size for _, size in plan["mesh"]) == int(ranks), plan["mesh"]
        assert abs(sum(plan["terms"].values()) / plan["step_seconds"] - 1) < 1e-6, plan
        assert 0 < plan["mfu"] < 1 and 0 <= plan["bubble"] < 1, plan
        check(plan, *compile_plan(*shlex.split(plan["flags"])))
    assert "behind" not in plans[0]
    for plan in plans[1:]:
        behind = plan["step_seconds"] - plans[0]["step_seconds"]
        assert abs(plan["behind"]["seconds"] - behind) < 1e-9, plan
        for term, seconds in plan["behind"]["terms"].items():
            assert abs(plan["terms"][term] - plans[0]["terms"][term] - seconds) < 1e-9, (term, plan)
    assert plainest["step_seconds"] <= plans[0]["step_seconds"] * (1 + answer["claims"]["comparison"]), plainest
    marked = [plan["flags"] for plan in plans if plan["plainest"]]
    assert marked == [plan["flags"] for plan in plans if plan["flags"] == plainest["flags"]], marked
    close = [plan for plan in plans if plan["step_seconds"] <= plainest["step_seconds"]]
    assert all(len(plan["mechanisms"]) >= len(plainest["mechanisms"]) for plan in close), plans
    check(plainest, *compile_plan("--plan", f"{folder}/plan.json"))
    print(len(plans), "plans agree")


main()
