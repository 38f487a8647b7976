#!/usr/bin/env python3
"""The kind of plan that is expected of six models and clusters, each with its batch and sequence length.

    check_cases.py FOLDER [--plans N] [CASE..]

FOLDER is for files. Prints "ok CASE: FLAGS" where the best plan is of the kind that the case states, and "FAIL CASE: .." where not; of the N best plans
of each case (default 1) peaks of all stages and makespan must be those of par-compile. Exit 1 if any fails.
"""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys

sys.path.append(sys.path[0] + "/../../Run/Helpers")
from summary import read_memory

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples"
H100, A100 = "dgx-h100", "dgx-a100-80"
GPT3 = "--set n_layer=96 --set n_embd=12288 --set n_head=96 --set n_positions=2048 --set vocab_size=51200"


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{shlex.join(map(str, command))}: {done.stderr}")
    return done.stdout


class Case:
    """A model (with flags) on so many ranks of a cluster: a step of `batch` sequences of `seq` tokens in bf16."""

    def __init__(self, model, cluster, ranks, batch, seq, flags=""):
        self.ranks, self.flags = ranks, ["--batch", batch, "--seq", seq, "--dtype", "bf16"]
        self.model = [EXAMPLES / "configs" / f"{model}.json", *shlex.split(flags)]
        self.cluster = cluster if isinstance(cluster, pathlib.Path) else EXAMPLES / "clusters" / f"{cluster}.json"

    def plan(self, top, *pins):
        more = [word for pin in pins for word in ("--pin", pin)]
        text = run("par-plan", *self.model, "--cluster", self.cluster, "--ranks", self.ranks, *self.flags, "--json", "--top", top, *more)
        return [Plan(plan) for plan in json.loads(text)["plans"][:top]]

    def check(self, plan, folder):
        """par-compile says the same of it."""
        timeline = f"{folder}/timeline.json"
        summary = run("par-compile", *self.model, "--dry-run", "--explain", "--cluster", self.cluster, "--timeline", timeline, *shlex.split(plan.flags))
        with open(timeline, encoding="utf-8") as file:
            spans = [event for event in json.load(file)["traceEvents"] if event["ph"] == "X"]
        makespan = max(span["ts"] + span["dur"] for span in spans) / 1e6
        assert abs(makespan / plan.seconds - 1) < 1e-6, (makespan, plan.flags)
        peaks = {stage: held["peak"] for stage, held in read_memory(summary).items()}
        assert peaks == {stage["stage"]: stage["peak_bytes"] for stage in plan.memory}, (peaks, plan.flags)


class Plan:
    def __init__(self, described):
        self.flags, self.seconds, self.memory, self.terms = (described[key] for key in ("flags", "step_seconds", "memory", "terms"))
        axes = dict(described["mesh"])
        self.pp, self.tp = axes.get("pp", 1), axes.get("tp", 1)
        self.dp = axes.get("dp", axes.get("dp_replicate", 1) * axes.get("dp_shard", 1))
        words = shlex.split(self.flags)
        self.zero = int(words[words.index("--zero") + 1]) if "--zero" in words else 0


def make_slow(folder):
    """A DGX-H100 of which the network has a sixteenth of its rate: 25 Gbit/s for each device."""
    cluster = json.loads((EXAMPLES / "clusters" / "dgx-h100.json").read_text(encoding="utf-8"))
    network = cluster["links"][1]
    network["node_gbps"] /= 16
    network["message_gbps"] = [[size, rate / 16] for size, rate in network["message_gbps"]]
    for kind in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all"):
        for algorithm in network[kind]:
            algorithm["bus_gbps"] = [[size, rate / 16] for size, rate in algorithm["bus_gbps"]]
    path = pathlib.Path(folder) / "slow.json"
    path.write_text(json.dumps(cluster), encoding="utf-8")
    return path


def fits_one(folder, top):
    """GPT-2 has 124 million parameters: nothing but copies of it."""
    case = Case("gpt2", H100, 8, 64, 1024)
    plans = case.plan(top)
    return case, plans, (plans[0].pp, plans[0].tp, plans[0].zero) == (1, 1, 0)


def one_node(folder, top):
    """7 billion parameters take 112 GB with their state: ZeRO within the node, no other parallelism."""
    case = Case("mistral-7b-v0.1", A100, 8, 64, 4096)
    plans = case.plan(top)
    return case, plans, (plans[0].pp, plans[0].tp) == (1, 1) and plans[0].zero > 0


def eight_nodes(folder, top):
    """70 billion parameters on 8 nodes: tensor parallelism within nodes, and state divided or cut into stages."""
    case = Case("llama-3.1-70b", H100, 64, 512, 4096)
    plans = case.plan(top)
    return case, plans, plans[0].tp <= 8 and (plans[0].pp > 1 or plans[0].zero == 3)


def published(folder, top):
    """Llama 3.1 405B was trained with tp 8, pp 16, dp 128 (Llama Team, 2407.21783, table 4): within 3 % of the best."""
    case = Case("llama-3.1-405b", H100, 16384, 2048, 8192)
    plans = case.plan(top)
    theirs = case.plan(1, "tp=8", "pp=16")[0]
    return case, plans, theirs.dp == 128 and theirs.seconds <= 1.03 * plans[0].seconds


def gpt3(folder, top):
    """175 billion parameters on 1,024 devices (Narayanan et al., 2104.04473): stages, tensor parallelism within nodes, and copies of them."""
    case = Case("gpt2-xl", A100, 1024, 1536, 2048, GPT3)
    plans = case.plan(top)
    return case, plans, plans[0].pp > 1 and 1 < plans[0].tp <= 8 and plans[0].dp > 1


def slow_network(folder, top):
    """Stages send least: pipelines between the nodes, and ZeRO-1 before ZeRO-3, which has parameters to gather as well."""
    case = Case("llama-3.1-8b", make_slow(folder), 32, 128, 4096)
    plans = case.plan(top)
    divided = case.plan(1, "zero=3")[0]
    exchanged = [plan.terms["data"] + plan.terms.get("contention", 0) for plan in (plans[0], divided)]
    return case, plans, plans[0].pp >= 4 and plans[0].zero <= 1 and divided.seconds > plans[0].seconds and exchanged[1] > 2 * exchanged[0]


CASES = {case.__name__: case for case in (fits_one, one_node, eight_nodes, published, gpt3, slow_network)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder")
    parser.add_argument("--plans", type=int, default=1)
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], default=[])
    args = parser.parse_args()
    failed = 0
    for name in args.cases or CASES:
        case, plans, good = CASES[name](args.folder, args.plans)
        for plan in plans:
            case.check(plan, args.folder)
        failed += not good
        print(f"{'ok' if good else 'FAIL'} {name}: {len(plans)} as compiled; {plans[0].flags}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
