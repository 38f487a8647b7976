"""par-schedule's bubbles and step times against the published ones of the zero-bubble paper (2401.10241)."""
import json
import sys

sys.path.append(sys.path[0] + "/../../Run/Helpers")
from running import run

# schedule, stages, chunks per stage, micro-batches, profiled milliseconds of a stage (F, B, W, transfer), bubble in per cent, measured
# milliseconds of a step
PUBLISHED = [
    ("zb-h1", 8, 1, 24, (18.522, 18.086, 9.337, 0.601), 15.85, None),
    ("zb-h1", 8, 1, 32, (18.513, 18.086, 9.331, 0.626), 12.42, None),
    ("zb-h1", 8, 1, 64, (18.546, 18.097, 9.321, 0.762), 6.74, None),
    ("1f1b", 8, 1, 24, (18.522, 18.086, 9.337, 0.601), 24.31, 1525.4),
    ("1f1b", 8, 1, 32, (18.513, 18.086, 9.331, 0.626), 19.85, 1920.0),
    ("1f1b", 8, 1, 64, (18.546, 18.097, 9.321, 0.762), 12.4, 3529.4),
    ("interleaved-1f1b", 8, 3, 24, (18.522, 18.086, 9.337, 0.601), 10.55, 1374.0),
    ("interleaved-1f1b", 8, 3, 32, (18.513, 18.086, 9.331, 0.626), 8.18, 1791.0),
    ("interleaved-1f1b", 8, 3, 64, (18.546, 18.097, 9.321, 0.762), 4.43, 3453.2),
    ("zb-h1", 8, 1, 24, (29.718, 29.444, 19.927, 0.527), 13.23, None),
    ("zb-h1", 8, 1, 32, (29.802, 29.428, 19.53, 0.577), 10.45, None),
    ("zb-h1", 8, 1, 64, (29.935, 29.621, 19.388, 0.535), 5.54, None),
    ("1f1b", 8, 1, 24, (29.718, 29.444, 19.927, 0.527), 23.47, 2571.4),
    ("1f1b", 8, 1, 32, (29.802, 29.428, 19.53, 0.577), 18.98, 3243.2),
    ("1f1b", 8, 1, 64, (29.935, 29.621, 19.388, 0.535), 10.91, 5955.3),
    ("interleaved-1f1b", 8, 4, 24, (29.718, 29.444, 19.927, 0.527), 8.08, 2244.4),
    ("interleaved-1f1b", 8, 4, 32, (29.802, 29.428, 19.53, 0.577), 6.28, 2941.2),
    ("interleaved-1f1b", 8, 4, 64, (29.935, 29.621, 19.388, 0.535), 3.2, 5727.9),
    ("zb-h1", 16, 1, 48, (11.347, 11.248, 8.132, 0.377), 13.97, None),
    ("zb-h1", 16, 1, 64, (11.307, 11.254, 8.101, 0.379), 10.88, None),
    ("zb-h1", 16, 1, 128, (11.325, 11.308, 8.109, 0.378), 5.76, None),
    ("1f1b", 16, 1, 48, (11.347, 11.248, 8.132, 0.377), 25.52, 2142.9),
    ("1f1b", 16, 1, 64, (11.307, 11.254, 8.101, 0.379), 20.82, 2684.6),
    ("1f1b", 16, 1, 128, (11.325, 11.308, 8.109, 0.378), 12.51, 4878.0),
    ("interleaved-1f1b", 16, 3, 48, (11.347, 11.248, 8.132, 0.377), 11.04, 1948.1),
    ("interleaved-1f1b", 16, 3, 64, (11.307, 11.254, 8.101, 0.379), 8.52, 2515.7),
    ("interleaved-1f1b", 16, 3, 128, (11.325, 11.308, 8.109, 0.378), 4.45, 4819.3),
    ("zb-h1", 32, 1, 96, (10.419, 10.207, 7.715, 0.408), 14.21, None),
    ("zb-h1", 32, 1, 128, (10.408, 10.204, 7.703, 0.408), 11.06, None),
    ("zb-h1", 32, 1, 256, (10.402, 10.248, 7.698, 0.46), 5.94, None),
    ("1f1b", 32, 1, 96, (10.419, 10.207, 7.715, 0.408), 26.46, 3947.4),
    ("1f1b", 32, 1, 128, (10.408, 10.204, 7.703, 0.408), 21.68, 5000.0),
    ("1f1b", 32, 1, 256, (10.402, 10.248, 7.698, 0.46), 13.52, 9090.9),
    ("interleaved-1f1b", 32, 2, 96, (10.419, 10.207, 7.715, 0.408), 14.93, 3658.5),
    ("interleaved-1f1b", 32, 2, 128, (10.408, 10.204, 7.703, 0.408), 11.64, 4705.9),
    ("interleaved-1f1b", 32, 2, 256, (10.402, 10.248, 7.698, 0.46), 6.24, 8888.9),
]
TOLERANCE = {"1f1b": 0.1, "zb-h1": 0.1, "interleaved-1f1b": 0.5}

# times P micro-batches of memory, stages, micro-batches, (heads, hidden size), milliseconds of a stage as above, bubble in per cent, measured
# milliseconds of a step
SEARCHED = [
    (2, 8, 24, (24, 2304), (18.522, 18.086, 9.337, 0.601), 4.33, 1241.4),
    (2, 8, 32, (24, 2304), (18.513, 18.086, 9.331, 0.626), 0.39, 1621.6),
    (2, 8, 64, (24, 2304), (18.546, 18.097, 9.321, 0.762), 0.26, 3221.5),
    (1, 8, 24, (24, 2304), (18.522, 18.086, 9.337, 0.601), 15.85, 1395.3),
    (1, 8, 32, (24, 2304), (18.513, 18.086, 9.331, 0.626), 12.42, 1791.0),
    (1, 8, 64, (24, 2304), (18.546, 18.097, 9.321, 0.762), 6.74, 3380.3),
    (2, 8, 24, (32, 4096), (29.718, 29.444, 19.927, 0.527), 0.29, 2083.3),
    (2, 8, 32, (32, 4096), (29.802, 29.428, 19.53, 0.577), 0.22, 2758.6),
    (2, 8, 64, (32, 4096), (29.935, 29.621, 19.388, 0.535), 0.1, 5467.0),
    (1, 8, 24, (32, 4096), (29.718, 29.444, 19.927, 0.527), 13.23, 2319.6),
    (1, 8, 32, (32, 4096), (29.802, 29.428, 19.53, 0.577), 10.45, 3000.0),
    (1, 8, 64, (32, 4096), (29.935, 29.621, 19.388, 0.535), 5.54, 5714.3),
    (2, 16, 48, (40, 5120), (11.347, 11.248, 8.132, 0.377), 0.66, 1657.5),
    (2, 16, 64, (40, 5120), (11.307, 11.254, 8.101, 0.379), 0.54, 2185.8),
    (2, 16, 128, (40, 5120), (11.325, 11.308, 8.109, 0.378), 0.28, 4324.3),
    (1, 16, 48, (40, 5120), (11.347, 11.248, 8.132, 0.377), 13.97, 1863.4),
    (1, 16, 64, (40, 5120), (11.307, 11.254, 8.101, 0.379), 10.88, 2395.2),
    (1, 16, 128, (40, 5120), (11.325, 11.308, 8.109, 0.378), 5.76, 4545.5),
    (2, 32, 96, (48, 6144), (10.419, 10.207, 7.715, 0.408), 0.38, 3030.3),
    (2, 32, 128, (48, 6144), (10.408, 10.204, 7.703, 0.408), 0.29, 4000.0),
    (2, 32, 256, (48, 6144), (10.402, 10.248, 7.698, 0.46), 0.18, 8000.0),
    (1, 32, 96, (48, 6144), (10.419, 10.207, 7.715, 0.408), 14.21, 3448.3),
    (1, 32, 128, (48, 6144), (10.408, 10.204, 7.703, 0.408), 11.06, 4444.4),
    (1, 32, 256, (48, 6144), (10.402, 10.248, 7.698, 0.46), 5.94, 8333.3),
]
SEQUENCE = 1024


def weight_share(heads, hidden):
    """What the weight part holds of what a layer saves, 32sbh of sbh(34 + 5as/h) bytes (2401.10241, section 2.3)."""
    return 32 / (34 + 5 * heads * SEQUENCE / hidden)


def schedule(name, stages, count, times, *flags):
    text = run("par-schedule", "--json", "--schedule", name, "--stages", str(stages), "--micro-batches", str(count), "--times", ",".join(map(str, times)), *flags)
    return json.loads(text)


def schedule_named(name, stages, chunks, count, times, *flags):
    return schedule(name, stages, count, [time / chunks for time in times[:3]] + [times[3]], "--chunks", str(chunks), *flags)


def schedule_searched(factor, stages, count, model, times, *flags):
    return schedule("auto", stages, count, times, "--memory", str(factor * stages), "--weight-share", f"{weight_share(*model):.4f}", *flags)


def count_bubbles():
    good = 0
    for *row, expected, _ in PUBLISHED:
        actual = 100 * schedule_named(*row)["bubble_of_longest_stage"]
        if abs(actual - expected) > TOLERANCE[row[0]]:
            print(f"{row[0]}, {row[1]} stages, {row[3]} micro-batches: {actual:.2f} %, published {expected} %")
        else:
            good += 1
    return good


def count_searched():
    good = 0
    for *row, expected, _ in SEARCHED:
        actual = 100 * schedule_searched(*row)["bubble_of_longest_stage"]
        if actual > expected + 0.5:
            print(f"auto, {row[1]} stages, {row[2]} micro-batches, {row[0]}p: {actual:.2f} %, published {expected} %")
        else:
            good += 1
    return good


# What a stage's passes take in a step over what they were profiled to, for all 48 rows.
SLOWER = 1.068


def measure_errors():
    """Of predicted step times in per cent, by schedule. Megatron's transfers are waited for by the stage that sends. The optimizer needs no
    sum over stages before it (section 4), so that steps follow each other on every stage: they take as long as the longest one."""
    errors = {}
    for *row, _, measured in PUBLISHED:
        if measured:
            predicted = SLOWER * schedule_named(*row, "--blocking-transfers")["longest_stage"]
            errors.setdefault(row[0], []).append(100 * (predicted / measured - 1))
    for *row, _, measured in SEARCHED:
        predicted = SLOWER * schedule_searched(*row, "--blocking-transfers")["longest_stage"]
        errors.setdefault(f"ZB-{row[0]}p", []).append(100 * (predicted / measured - 1))
    return errors


def average(numbers):
    return sum(numbers) / len(numbers)


def main():
    good = count_bubbles()
    print(f"{good} bubbles agree")
    print(f"{count_searched()} searched ones")
    errors = measure_errors()
    for name, of_schedule in errors.items():
        print(f"{name}: mean error {average([abs(error) for error in of_schedule]):.2f} %, worst {max(of_schedule, key=abs):+.2f} %")
    every = [abs(error) for of_schedule in errors.values() for error in of_schedule]
    print(f"{len(every)} step times: mean error {average(every):.2f} %, worst {max(every):.2f} %")
    sys.exit(good < len(PUBLISHED) or average(every) > 3)


main()
