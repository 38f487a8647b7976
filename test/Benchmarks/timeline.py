#!/usr/bin/env python3
"""Does a pipeline run as par-compile predicts? Emulated devices and links, so that 8 ranks run on two cores.

    timeline.py [--ranks 8] [--micro-batches 16] [--steps 5] [--within 5] [SCHEDULE ...]

Per schedule: a Llama of uneven stages (the head is worth several layers) is compiled with --timeline and run with --trace, both with the same
--emulate-kernels and --emulate-link. Of each stage are compared: the time from its first to its last action, and the time that it does nothing. Of
the whole: the step, and the bubble. The run's step is the shortest of all but the first: what else the machine does only adds. Every pass takes 10 ms and more, as sleeping
is exact to a tenth of a millisecond. Exits with 1 where a time is further off than --within per cent, or bubbles that differ by a point and more
are in another order.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

SCHEDULES = ["gpipe", "1f1b", "interleaved-1f1b", "zb-h1", "zb-v"]
CONFIG = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4,
          "num_key_value_heads": 4, "vocab_size": 512, "max_position_embeddings": 128, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
          "hidden_act": "silu", "tie_word_embeddings": False}
LAYERS, SEQ = 26, 32  # 26 layers on 8 stages are uneven, for any number of chunks
LINK = "0.01,500"  # a message of 8 KiB takes 1.3 ms
SHORTEST = 10000.0  # microseconds of an action


def tool(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"error: {' '.join(words)}: exit {done.returncode}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")


def read(path):
    """step -> stage -> [(action, begin, end, category)] of what stages do: neither messages nor waits, and not what is within functions."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    steps = collections.defaultdict(lambda: collections.defaultdict(list))
    for event in events:
        if event["ph"] == "X" and event["cat"] not in ("wait", "collective") and not event["cat"].startswith(("send_", "receive_")):
            where = event["args"]
            steps[where["step"]][where["stage"]].append((where["action"], event["ts"], event["ts"] + event["dur"], event["cat"]))
    return steps


def computed(stage):
    return [one for one in stage if not one[3].startswith("sum_")]


def summary(stages):
    """(milliseconds of the step and its idle share; the same of every stage: span from first to last action, and idle within the step)."""
    begin = min(one[1] for stage in stages.values() for one in stage)
    end = max(one[2] for stage in stages.values() for one in stage)
    rows = {}
    for number, stage in sorted(stages.items()):
        work = sum(one[2] - one[1] for one in computed(stage))
        first, last = min(one[1] for one in computed(stage)), max(one[2] for one in computed(stage))
        rows[number] = ((last - first) / 1e3, (end - begin - work) / 1e3)
    idle = sum(row[1] for row in rows.values()) / len(rows) / ((end - begin) / 1e3)
    return (end - begin) / 1e3, idle, rows


def rates(folder, flags, shortest):
    """GFLOPS and GB/s for which the shortest pass of a micro-batch takes as long: predicted at 1,1 first."""
    path = os.path.join(folder, "probe.json")
    tool("par-compile", os.path.join(folder, "model.json"), *flags, "--emulate-kernels", "1,1", "--timeline", path, "--dry-run")
    passes = [end - begin for stage in read(path)[0].values() for _, begin, end, kind in stage if kind.startswith(("forward", "backward"))]
    rate = f"{min(passes) / shortest:.6g}"
    return f"{rate},{rate}"


def measure(folder, schedule, arguments):
    chunks = 2 if schedule in ("interleaved-1f1b", "zb-v", "dualpipe-v") else 1
    flags = ["--seq", str(SEQ), "--batch", str(arguments.micro_batches), "--micro-batches", str(arguments.micro_batches), "--mesh",
             f"pp={arguments.ranks}", "--schedule", schedule, "--chunks", str(chunks)]
    emulate = ["--emulate-kernels", rates(folder, flags, SHORTEST), "--emulate-link", LINK]
    package, predicted, trace = (os.path.join(folder, name) for name in ("model.par", "predicted.json", "trace.json"))
    tool("par-compile", os.path.join(folder, "model.json"), *flags, *emulate, "--timeline", predicted, "-o", package)
    tool("par-run", package, "--steps", str(arguments.steps), *emulate, "--trace", trace)
    runs = [summary(stages) for step, stages in read(trace).items() if step > 1]
    return summary(read(predicted)[0]), min(runs, key=lambda one: one[0])


def off(actual, expected):
    return 100 * (actual / expected - 1)


def show(schedule, predicted, actual):
    print(f"{schedule}: step {predicted[0]:.1f} ms predicted, {actual[0]:.1f} measured ({off(actual[0], predicted[0]):+.1f} %); "
          f"bubble {100 * predicted[1]:.1f} % predicted, {100 * actual[1]:.1f} measured")
    for stage, (span, idle) in predicted[2].items():
        now = actual[2][stage]
        print(f"  stage {stage}: {span:8.1f} ms predicted, {now[0]:8.1f} measured ({off(now[0], span):+.1f} %); idle {idle:7.1f} ms, {now[1]:7.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("schedules", nargs="*", default=SCHEDULES)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--micro-batches", type=int, default=16)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--within", type=float, default=5)
    arguments = parser.parse_args()
    worst, order = 0.0, []
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "model.json"), "w", encoding="utf-8") as file:
            json.dump(dict(CONFIG, num_hidden_layers=LAYERS), file)
        for schedule in arguments.schedules:
            predicted, actual = measure(folder, schedule, arguments)
            show(schedule, predicted, actual)
            worst = max([worst, abs(off(actual[0], predicted[0]))] + [abs(off(actual[2][stage][0], row[0])) for stage, row in predicted[2].items()])
            order.append((schedule, predicted[1], actual[1]))
    swapped = [(one[0], other[0]) for one in order for other in order if one[1] < other[1] - 0.01 and one[2] > other[2]]
    by = [[one[0] for one in sorted(order, key=lambda one: one[which])] for which in (1, 2)]
    print(f"worst {worst:.1f} %; bubbles from the smallest, predicted: {' '.join(by[0])}; measured: {' '.join(by[1])}")
    return 1 if worst > arguments.within or swapped else 0


if __name__ == "__main__":
    sys.exit(main())
