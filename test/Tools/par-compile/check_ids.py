"""Whether the events of a timeline are the entries of a lowered module that they name: check_ids.py FILE.json MODULE.mlir"""
import json
import re
import sys


def read_entries(text):
    """By stage: kind, chunk and micro-batch of every entry."""
    stages = {}
    for part in text.split("rank.schedule ")[1:]:
        stage = re.match(r" *train stage (\d+)", part)
        if not stage:
            continue
        stages[int(stage[1])] = [
            (kind, int(chunk), int(count))
            for kind, chunk, count in re.findall(r"rank\.(?:action|exchange) +(\w+) .*?chunk = (-?\d+) : i64.*?micro_batch = (-?\d+) : i64", part)
        ]
    return stages


with open(sys.argv[1], encoding="utf-8") as file:
    events = [event for event in json.load(file)["traceEvents"] if event["ph"] == "X"]
with open(sys.argv[2], encoding="utf-8") as file:
    stages = read_entries(file.read())
for event in events:
    args = event["args"]
    actual, expected = stages[args["stage"]][args["action"]], (event["cat"], args["chunk"], args["micro_batch"])
    assert actual == expected, f"entry {args['action']} of stage {args['stage']} is {actual}, the timeline says {expected}"
waits = sum(kind.startswith(("sent", "received")) for entries in stages.values() for kind, *_ in entries)
assert len(events) == sum(map(len, stages.values())) - waits, "an entry has no event"
print(len(events), "events are entries of their stage")
