#!/usr/bin/env python3
"""Reads a trace of `par-run --trace` and holds it against the lists of `par-schedule --json --step`.

    check_trace.py TRACE.json LISTS.json STEPS

For every rank and step: the entries are those of its stage's list, in that order and in time; no two of what it computes overlap; all chunks are
used, each on its stage; no more micro-batches are in flight than the replay of the lists says; and what is transferred has begun at both ends before
it is needed, is sent behind what makes it and before the stage computes anything else, and has arrived before what needs it begins.
"""
import collections
import json
import re
import sys

WAITS = {"SF": "sent_activation", "RF": "received_activation", "SB": "sent_gradient", "RB": "received_gradient"}
NOT_LISTED = {"gather", "sum_gradients"}  # par-schedule knows no parameters
Entry = collections.namedtuple("Entry", "action kind chunk micro_batch begin end tid")


def fail(text):
    sys.exit(f"error: {text}")


def expect(good, *what):
    if not good:
        fail(" ".join(str(part) for part in what))


def read_trace(path):
    """(rank, step) -> entries in the order of actions; rank -> stage."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    steps, stages = collections.defaultdict(list), {}
    for event in events:
        if event["ph"] != "X" or event["cat"] == "collective":  # within a function
            continue
        where = event["args"]
        kind = WAITS[re.match("[A-Z]+", event["name"])[0]] if event["cat"] == "wait" else event["cat"]
        entry = Entry(where["action"], kind, where["chunk"], where["micro_batch"], event["ts"], event["ts"] + event["dur"], event["tid"])
        expect(event["dur"] >= 0, "an event ends before it begins:", event)
        steps[event["pid"], where["step"]].append(entry)
        expect(stages.setdefault(event["pid"], where["stage"]) == where["stage"], "rank", event["pid"], "is of two stages")
    for entries in steps.values():
        entries.sort()
    return steps, stages


def computes(entry):
    return entry.tid == 0 and not entry.kind.startswith(("sent_", "received_"))


def check_order(place, entries, expected):
    """The list's entries, each once, and in time."""
    expect([entry.action for entry in entries] == list(range(len(entries))), place, "lacks entries or has one twice")
    actual = [(entry.kind, entry.chunk, entry.micro_batch) for entry in entries if entry.kind not in NOT_LISTED]
    for number, (one, other) in enumerate(zip(actual, expected)):
        expect(one == other, place, f"entry {number} is {one}, the list has {other}")
    expect(len(actual) == len(expected), place, f"has {len(actual)} entries, the list {len(expected)}")
    for one, other in zip(entries, entries[1:]):
        expect(one.begin <= other.begin, place, f"{other} begins before {one}")
    row = [entry for entry in entries if entry.tid == 0]
    for one, other in zip(row, row[1:]):
        expect(one.end <= other.begin + 1e-3, place, f"{one} and {other} overlap")


def check_flight(place, entries, most, chunks):
    """A micro-batch is held from its forward to its backward, or the part for weights where that is apart."""
    live, peak = set(), 0
    for entry in entries:
        key = (entry.chunk, entry.micro_batch)
        if entry.kind == "forward":
            live.add(key)
            peak = max(peak, len(live))
        elif entry.kind in ("backward", "backward_last", "backward_weight", "backward_weight_last"):
            expect(key in live, place, f"{entry} has nothing saved")
            live.discard(key)
    expect(not live, place, f"{live} are never freed")
    expect(peak <= most * chunks + 1e-9, place, f"{peak / chunks} micro-batches are in flight, the replay says {most}")


def check_sends(place, entries):
    """Behind what makes it, and before anything else is computed."""
    for number, entry in enumerate(entries):
        if not entry.kind.startswith("send_"):
            continue
        made = next(one for one in reversed(entries[:number]) if computes(one))
        maker = ("forward",) if entry.kind == "send_activation" else ("backward", "backward_input", "backward_last")
        expect(made.kind in maker and (made.chunk, made.micro_batch) == (entry.chunk, entry.micro_batch), place, f"{entry} is behind {made}")
        expect(made.end <= entry.begin + 1e-3, place, f"{entry} begins before {made} has ended")


def check_receives(place, entries):
    """Begun before it is needed: what is computed in between hides it, where the stage has anything to do before."""
    posts = {(one.kind, one.chunk, one.micro_batch): one for one in entries if one.kind.startswith("receive_")}
    for number, entry in enumerate(entries):
        if not entry.kind.startswith("received_"):
            continue
        post = posts[entry.kind.replace("received_", "receive_"), entry.chunk, entry.micro_batch]
        expect(post.begin <= entry.begin and post.end <= entry.end + 1e-3, place, f"{entry} waits for {post}, which is later")
        before = [one.action for one in entries[:number] if computes(one)]
        expect(not before or post.action < before[-1], place, f"{post} begins only behind what could hide it")
        needs = next(one for one in entries[number:] if computes(one))
        expect(post.end <= needs.begin + 1e-3, place, f"{needs} begins before {post} has arrived")


def check_ends(step, traced, stages, stage_of):
    """A message arrives after both ends have begun it. One rank per stage is looked at: the first."""
    rank_of = {}
    for rank, stage in sorted(stages.items()):
        rank_of.setdefault(stage, rank)
    entries = {(stage, one.kind, one.chunk, one.micro_batch): one for stage, rank in rank_of.items() for one in traced[rank, step]}
    seen = 0
    for (stage, kind, chunk, micro_batch), send in entries.items():
        if not kind.startswith("send_"):
            continue
        other = chunk + (1 if kind == "send_activation" else -1)
        receive = entries.get((stage_of[other], kind.replace("send_", "receive_"), other, micro_batch))
        expect(receive, f"step {step}: nobody receives {send} of stage {stage}")
        expect(receive.end + 1e-3 >= send.begin, f"step {step}: {receive} arrives before {send} begins")
        seen += 1
    return seen


def main():
    trace, lists, steps = sys.argv[1:]
    with open(lists, encoding="utf-8") as file:
        schedule = json.load(file)
    expected = [[(one["kind"], one["chunk"], one["micro_batch"]) for one in stage if one["kind"] not in NOT_LISTED] for stage in schedule["stages"]]
    stage_of = schedule["stage_of_chunk"]
    chunks = stage_of.count(0)
    traced, stages = read_trace(trace)
    expect(sorted(traced) == [(rank, step) for rank in range(len(stages)) for step in range(1, int(steps) + 1)], "steps are", sorted(traced))
    expect(set(stages.values()) == set(range(len(expected))), "stages are", set(stages.values()))
    messages, used = 0, set()
    for (rank, step), entries in traced.items():
        place = f"rank {rank}, step {step}:"
        check_order(place, entries, expected[stages[rank]])
        check_flight(place, entries, schedule["peak_live"][stages[rank]], chunks)
        check_sends(place, entries)
        check_receives(place, entries)
        used |= {(stages[rank], one.chunk) for one in entries if one.kind == "forward"}
    expect(used == {(stage, chunk) for chunk, stage in enumerate(stage_of)}, "chunks are used as", sorted(used))
    for step in range(1, int(steps) + 1):
        messages += check_ends(step, traced, stages, stage_of)
    print(f"{len(traced)} lists, {messages} messages")


main()
