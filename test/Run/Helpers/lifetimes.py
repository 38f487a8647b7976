#!/usr/bin/env python3
"""Print the training list of a stage of a lowered module, and where and how long each of its slots lives.

    lifetimes.py MODULE STAGE

    3 send_activation 1 to stage 1: activation 0.0 (24 bytes)
    activation 0.0: 24 bytes at 832, 2 to 5

Entries are counted from 1, micro-batches too; a sum or update has none. A slot lives from the first entry that names it to the last one. Variables,
inputs, constants and outputs are the runtime's and live all the time: "always". Fails if two slots that live at once share a byte.
"""
import re
import sys

NAMES = {"residual": "", "frame": "frame of "}


def read(path, stage):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    begin = next(i for i, line in enumerate(lines) if re.search(rf"rank\.schedule +train stage {stage}\b", line))
    slots, entries = {}, []
    for line in lines[begin + 1:]:
        if "rank.return" in line:
            return slots, entries
        if found := re.search(r'(%\d+) = rank\.slot +(\w+) "([^"]*)" .*\boffset = (\d+) : i64.* : (?:!rank\.buffer)?<(\d+)>', line):
            value, kind, name, offset, size = found.groups()
            slots[value] = {"kind": kind, "name": NAMES.get(kind, kind + " ") + name, "offset": int(offset), "bytes": int(size), "lives": []}
        elif found := re.search(r"rank\.(action|exchange) +(\w+) (.*)\{.*micro_batch = (-?\d+) : i64", line):
            entries.append({"what": found.group(1), "kind": found.group(2), "text": found.group(3), "micro_batch": int(found.group(4)) + 1})
    sys.exit(f"{path}: the schedule of stage {stage} has no end")


def touch(slots, entries):
    for number, entry in enumerate(entries, 1):
        entry["slots"] = list(dict.fromkeys(re.findall(r"%\d+", entry["text"])))
        for value in entry["slots"]:
            slots[value]["lives"].append(number)


def describe(slots, entry):
    text = entry["kind"] + (f" {entry['micro_batch']}" if entry["micro_batch"] else "")
    if entry["what"] == "exchange":
        stages = re.search(r"with \[([^\]]*)\]", entry["text"]).group(1)
        text += f" with {stages}: " + ", ".join(f"{slots[value]['name']} ({slots[value]['bytes']} bytes)" for value in entry["slots"])
    return text


def lifetime(slot, entries):
    if slot["kind"] not in NAMES:
        return 1, entries
    return min(slot["lives"]), max(slot["lives"])


def check(slots, entries):
    """Slots that live at once lie apart."""
    placed = sorted((slot for slot in slots.values() if slot["bytes"]), key=lambda slot: slot["offset"])
    for i, a in enumerate(placed):
        for b in placed[i + 1:]:
            (first, last), (begin, end) = lifetime(a, entries), lifetime(b, entries)
            if b["offset"] < a["offset"] + a["bytes"] and begin <= last and first <= end:
                sys.exit(f"{a['name']} and {b['name']} live at once and share byte {b['offset']}")


def main():
    slots, entries = read(sys.argv[1], int(sys.argv[2]))
    touch(slots, entries)
    for number, entry in enumerate(entries, 1):
        print(number, describe(slots, entry))
    for slot in slots.values():
        first, last = lifetime(slot, len(entries))
        lives = "always" if slot["kind"] not in NAMES else f"{first} to {last}"
        print(f"{slot['name']}: {slot['bytes']} bytes at {slot['offset']}, {lives}")
    check(slots, len(entries))


main()
