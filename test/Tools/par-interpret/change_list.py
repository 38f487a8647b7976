#!/usr/bin/env python3
"""Copy a lowered module with one entry of a stage's training list changed.

    change_list.py MODULE CHANGED STAGE ENTRY before OTHER      the entry stands before the other one
    change_list.py MODULE CHANGED STAGE ENTRY without           the entry is not there
    change_list.py MODULE CHANGED STAGE ENTRY text OLD NEW      the entry has another text

ENTRY and OTHER are KIND:MICRO_BATCH, such as sent_activation:0.
"""
import re
import sys


def find(lines, stage, entry):
    kind, micro_batch = entry.split(":")
    begin = next(i for i, line in enumerate(lines) if re.search(rf"rank\.schedule +train stage {stage}\b", line))
    pattern = re.compile(rf"rank\.(action|exchange) +{kind} .*\bmicro_batch = {micro_batch} : i64")
    number = next(i for i in range(begin, len(lines)) if pattern.search(lines[i]))
    between = [line for line in lines[begin + 1:number] if "rank.schedule" in line]
    if between:
        sys.exit(f"stage {stage} has no {entry}")
    return number


def main():
    source, target, stage, entry, what, *words = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        lines = file.read().split("\n")
    number = find(lines, stage, entry)
    if what == "text":
        old, new = words
        assert lines[number].count(old) == 1, lines[number]
        lines[number] = lines[number].replace(old, new)
    else:
        line = lines.pop(number)
        if what == "before":
            lines.insert(find(lines, stage, words[0]), line)
    with open(target, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


main()
