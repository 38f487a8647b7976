"""Checks a predicted timeline and prints its size: check_timeline.py FILE.json [what --explain printed]

What a viewer needs (rows with names), one event for each entry of a stage that takes time, none beside another one in a row, and both ends of a message at one time."""
import json
import re
import sys


def check_rows(events):
    rows = {}
    for event in events:
        rows.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"], event["name"]))
    for place, row in rows.items():
        row.sort()
        for before, after in zip(row, row[1:]):
            assert before[1] <= after[0] + 1e-4, f"row {place}: {before} and {after} overlap"
    return rows


def check_messages(events):
    ends = {}
    for event in events:
        kind, args = event["cat"], event["args"]
        if kind.startswith(("send", "receive")):
            assert event["name"][0] == kind[0]
            where = args["chunk"] if kind.startswith("send") else args["chunk"] + (1 if "gradient" in kind else -1)
            ends.setdefault((kind.split("_")[1], where, args["micro_batch"]), []).append((event["ts"], event["dur"]))
    for key, both in ends.items():
        assert len(both) == 2 and both[0] == both[1], f"message {key}: {both}"
    return len(ends)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        trace = json.load(file)
    named = {(event["pid"], event["tid"]) for event in trace["traceEvents"] if event["ph"] == "M" and event["name"] == "thread_name"}
    events = [event for event in trace["traceEvents"] if event["ph"] != "M"]
    assert all(event["ph"] == "X" and event["pid"] == event["args"]["stage"] and event["args"]["step"] == 0 for event in events)
    ids = [(event["args"]["stage"], event["args"]["action"]) for event in events]
    assert len(set(ids)) == len(ids), "an entry has two events"
    assert set(check_rows(events)) <= named, "a row has no name"
    assert min(event["ts"] for event in events) == 0
    end = max(event["ts"] + event["dur"] for event in events)
    said = ""
    if len(sys.argv) > 2:
        with open(sys.argv[2], encoding="utf-8") as file:
            step, unit = re.search(r"^step: ([0-9.]+) (us|ms) ", file.read(), re.MULTILINE).groups()
        scale = 1000 if unit == "ms" else 1
        assert abs(float(step) * scale - end) < 1.5e-3 * scale, f"the last event ends at {end} us, --explain says {step} {unit}"
        said = ", as --explain says"
    print(f"{len({stage for stage, _ in ids})} stages, {check_messages(events)} messages, {end:.3f} us{said}")


main()
