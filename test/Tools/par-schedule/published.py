"""par-schedule's bubbles against the published ones of the zero-bubble paper (2401.10241)."""
import json
import sys

sys.path.append(sys.path[0] + "/../../Run/Helpers")
from running import run

# schedule, stages, chunks per stage, micro-batches, profiled milliseconds of a stage (F, B, W, transfer), bubble in per cent
PUBLISHED = [
    ("zb-h1", 8, 1, 24, (18.522, 18.086, 9.337, 0.601), 15.85),
    ("zb-h1", 8, 1, 32, (18.513, 18.086, 9.331, 0.626), 12.42),
    ("zb-h1", 8, 1, 64, (18.546, 18.097, 9.321, 0.762), 6.74),
    ("1f1b", 8, 1, 24, (18.522, 18.086, 9.337, 0.601), 24.31),
    ("1f1b", 8, 1, 32, (18.513, 18.086, 9.331, 0.626), 19.85),
    ("1f1b", 8, 1, 64, (18.546, 18.097, 9.321, 0.762), 12.4),
    ("interleaved-1f1b", 8, 3, 24, (18.522, 18.086, 9.337, 0.601), 10.55),
    ("interleaved-1f1b", 8, 3, 32, (18.513, 18.086, 9.331, 0.626), 8.18),
    ("interleaved-1f1b", 8, 3, 64, (18.546, 18.097, 9.321, 0.762), 4.43),
    ("zb-h1", 8, 1, 24, (29.718, 29.444, 19.927, 0.527), 13.23),
    ("zb-h1", 8, 1, 32, (29.802, 29.428, 19.53, 0.577), 10.45),
    ("zb-h1", 8, 1, 64, (29.935, 29.621, 19.388, 0.535), 5.54),
    ("1f1b", 8, 1, 24, (29.718, 29.444, 19.927, 0.527), 23.47),
    ("1f1b", 8, 1, 32, (29.802, 29.428, 19.53, 0.577), 18.98),
    ("1f1b", 8, 1, 64, (29.935, 29.621, 19.388, 0.535), 10.91),
    ("interleaved-1f1b", 8, 4, 24, (29.718, 29.444, 19.927, 0.527), 8.08),
    ("interleaved-1f1b", 8, 4, 32, (29.802, 29.428, 19.53, 0.577), 6.28),
    ("interleaved-1f1b", 8, 4, 64, (29.935, 29.621, 19.388, 0.535), 3.2),
    ("zb-h1", 16, 1, 48, (11.347, 11.248, 8.132, 0.377), 13.97),
    ("zb-h1", 16, 1, 64, (11.307, 11.254, 8.101, 0.379), 10.88),
    ("zb-h1", 16, 1, 128, (11.325, 11.308, 8.109, 0.378), 5.76),
    ("1f1b", 16, 1, 48, (11.347, 11.248, 8.132, 0.377), 25.52),
    ("1f1b", 16, 1, 64, (11.307, 11.254, 8.101, 0.379), 20.82),
    ("1f1b", 16, 1, 128, (11.325, 11.308, 8.109, 0.378), 12.51),
    ("interleaved-1f1b", 16, 3, 48, (11.347, 11.248, 8.132, 0.377), 11.04),
    ("interleaved-1f1b", 16, 3, 64, (11.307, 11.254, 8.101, 0.379), 8.52),
    ("interleaved-1f1b", 16, 3, 128, (11.325, 11.308, 8.109, 0.378), 4.45),
    ("zb-h1", 32, 1, 96, (10.419, 10.207, 7.715, 0.408), 14.21),
    ("zb-h1", 32, 1, 128, (10.408, 10.204, 7.703, 0.408), 11.06),
    ("zb-h1", 32, 1, 256, (10.402, 10.248, 7.698, 0.46), 5.94),
    ("1f1b", 32, 1, 96, (10.419, 10.207, 7.715, 0.408), 26.46),
    ("1f1b", 32, 1, 128, (10.408, 10.204, 7.703, 0.408), 21.68),
    ("1f1b", 32, 1, 256, (10.402, 10.248, 7.698, 0.46), 13.52),
    ("interleaved-1f1b", 32, 2, 96, (10.419, 10.207, 7.715, 0.408), 14.93),
    ("interleaved-1f1b", 32, 2, 128, (10.408, 10.204, 7.703, 0.408), 11.64),
    ("interleaved-1f1b", 32, 2, 256, (10.402, 10.248, 7.698, 0.46), 6.24),
]
TOLERANCE = {"1f1b": 0.1, "zb-h1": 0.1, "interleaved-1f1b": 0.5}


def main():
    wrong = 0
    for name, stages, chunks, count, times, expected in PUBLISHED:
        chunk_times = [time / chunks for time in times[:3]] + [times[3]]
        text = run("par-schedule", "--json", "--schedule", name, "--stages", str(stages), "--chunks", str(chunks), "--micro-batches", str(count),
                   "--times", ",".join(map(str, chunk_times)))
        actual = 100 * json.loads(text)["bubble_of_longest_stage"]
        if abs(actual - expected) > TOLERANCE[name]:
            print(f"{name}, {stages} stages, {count} micro-batches: {actual:.2f} %, published {expected} %")
            wrong += 1
    print(f"{len(PUBLISHED) - wrong} bubbles agree")
    sys.exit(1 if wrong else 0)


main()
