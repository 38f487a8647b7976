"""What par-compile --explain says of memory and traffic, to the byte."""
import itertools
import re

SENT = re.compile(r"^(\w+) over ([\w. ]+?)  +(\d+)  +(\d+)(?:  +(\d+))?$", re.M)


def expand(stages):
    """"2, 4-6" -> [2, 4, 5, 6]"""
    parts = (part.split("-") for part in stages.split(", "))
    return [stage for first, *last in parts for stage in range(int(first), int((last or [first])[0]) + 1)]


def read_memory(text):
    """By stage {"peak": bytes, "params": bytes, ..}."""
    head, *rows = text.split("peak memory per rank, bytes\n")[1].splitlines()
    names = head.split()
    has_stages = names[0] == "stage"
    row = re.compile(r"(.*?)((?: +\d+){%d})" % (len(names) - has_stages))
    stages = {}
    for found in itertools.takewhile(bool, map(row.fullmatch, rows)):
        for stage in expand(found[1].strip()) if has_stages else [0]:
            stages[stage] = dict(zip(names[has_stages:], map(int, found[2].split())))
    return stages


def read_sent(text):
    """Rows (kind, axes, bytes, calls)."""
    table = re.search(r"^sent per rank and step +bytes  calls.*\n((?:\w+ over .*\n)*)", text, re.M)
    return [(kind, axes, int(size), int(calls)) for kind, axes, size, calls, _ in SENT.findall(table[1])] if table else []
