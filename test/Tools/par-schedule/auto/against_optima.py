"""Compares par-schedule --schedule auto with the optima of optima.json (optima.py says how they were found), and with every schedule that has a name and fits
the limits."""
import json
import sys

sys.path.append(sys.path[0] + "/../../../Run/Helpers")
from running import run

NAMED = ("1f1b", "gpipe", "zb-h1", "zb-h2", "layer-wise")


def replay(fixture, schedule, *flags):
    return json.loads(run("par-schedule", "--json", "--schedule", schedule, "--stages", str(fixture["stages"]),
                          "--micro-batches", str(fixture["micro_batches"]), "--times", fixture["times"], *flags))


def end(result):
    return max(action["end"] for stage in result["stages"] for action in stage)


def main():
    with open(sys.path[0] + "/optima.json", encoding="utf-8") as file:
        fixtures = json.load(file)["fixtures"]
    for fixture in fixtures:
        result = replay(fixture, "auto", "--memory", ",".join(map(str, fixture["memory"])))
        fits = all(held <= limit for held, limit in zip(result["peak_live"], fixture["memory"]))
        named = [replay(fixture, name) for name in NAMED]
        best = min((end(one) for one in named if all(held <= limit for held, limit in zip(one["peak_live"], fixture["memory"]))), default=None)
        time, optimum = end(result), fixture["optimum"]
        # Below the optimum the replay and the integer program would not mean the same.
        good = fits and fixture["proved"] and optimum <= time <= 1.02 * optimum and (best is None or time < best or best == optimum)
        print(f"{'good' if good else 'bad'}: {fixture['name']}: {time:g}, optimum {optimum}, best with a name {best and f'{best:g}'}")


main()
