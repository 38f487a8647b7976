"""Writes the optima of optima.json: the shortest end of the last action, by constraint programming over integers (pip install ortools). Run by hand; the test
itself needs no solver.

    python3 optima.py optima.json

Every stage runs forward, backward of inputs and of weights of every micro-batch, one action at a time, in any order that data allow; an activation or gradient
arrives a transfer after what makes it. Between the beginning of forward and the end of the weight part a micro-batch takes a unit of the stage's memory.
"""
import json
import sys

from ortools.sat.python import cp_model


def optimum(fixture):
    stages, count = fixture["stages"], fixture["micro_batches"]
    entries = [[int(value) for value in entry.split(",")] for entry in fixture["times"].split(";")]
    times = entries if len(entries) > 1 else entries * stages
    model = cp_model.CpModel()
    horizon = sum(sum(entry) for entry in times) * count
    end = model.new_int_var(0, horizon, "end")
    ends = {}
    for stage in range(stages):
        intervals, held = [], []
        for batch in range(count):
            starts = {}
            for part, length in zip("FBW", times[stage]):
                start = model.new_int_var(0, horizon, f"{part}{stage}.{batch}")
                ends[part, stage, batch] = start + length
                starts[part] = start
                intervals.append(model.new_fixed_size_interval_var(start, length, f"i{part}{stage}.{batch}"))
                model.add(end >= start + length)
            for before, after in ("FB", "BW"):
                model.add(starts[after] >= ends[before, stage, batch])
            size = model.new_int_var(0, horizon, "")
            held.append(model.new_interval_var(starts["F"], size, ends["W", stage, batch], f"h{stage}.{batch}"))
            if stage > 0:
                model.add(starts["F"] >= ends["F", stage - 1, batch] + times[stage - 1][3])
        model.add_no_overlap(intervals)
        model.add_cumulative(held, [1] * count, fixture["memory"][stage])
    for stage in range(stages - 1):
        for batch in range(count):
            model.add(ends["B", stage, batch] - times[stage][1] >= ends["B", stage + 1, batch] + times[stage][3])
    # Micro-batches are alike: they are numbered as the first stage runs them forward.
    for batch in range(count - 1):
        model.add(ends["F", 0, batch] <= ends["F", 0, batch + 1])
    model.minimize(end)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = 240
    status = solver.solve(model)
    return {"optimum": int(solver.objective_value), "bound": int(solver.best_objective_bound), "proved": status == cp_model.OPTIMAL}


def main():
    path = sys.argv[1]
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    for fixture in data["fixtures"]:
        fixture.update(optimum(fixture))
        print(fixture["name"], fixture["optimum"], fixture["bound"], fixture["proved"], flush=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(data, file, indent=2)
        file.write("\n")


main()
