#!/usr/bin/env python3
"""Writes rows for planner-benchmark from the tables of four sources, all but those that are published rows already.

    further_rows.py --published published.json --mosaic README.md --vtrain ground_truth_multi.csv \\
        --bs chronicles-prequel.md --simumax b200_release_v1.2_summary.json -o further.json

Nothing of stack files or clusters was fitted to these rows. The tables lie in mosaicml/llm-foundry
(scripts/train/benchmarking/README.md), VIA-Research/vTrain (data/ground_truth_multi.csv),
bigscience-workshop/bigscience (train/tr11-176B-ml/chronicles-prequel.md) and MooreThreads/SimuMax (docs/b200). What a
table does not say of a model or a cluster, a published row of the same source says.
"""
import argparse
import collections
import copy
import csv
import json
import math
import re
import sys

CLOSE = 0.03  # of a size that is printed in billions
SAME = 1e-3  # of a time that was derived from a rate


def split_table_line(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def read_tables(path):
    """(what the section says before, {column: cell}) of each line of its tables."""
    said, columns = [], None
    for line in open(path, encoding="utf-8"):
        if line.startswith("#"):
            said = []
        if not line.startswith("|"):
            said.append(line)
            columns = None
            continue
        cells = split_table_line(line)
        if columns is None:
            columns = cells
        elif len(cells) == len(columns) and not cells[0].startswith("-"):
            yield said, dict(zip(columns, cells))


class Sources:
    """Published rows of a group, as patterns for further ones."""

    def __init__(self, rows, group):
        self.rows = [row for row in rows if row["id"].split("-")[0] == group]
        self.known = collections.defaultdict(list)  # seconds, by what was run
        for row in self.rows:
            self.known[self.key(row)].append(row["measured"]["iter_s"])

    @staticmethod
    def key(row):
        model, plan = row["model"], row["plan"]
        names = ("tp", "pp", "dp", "micro_batch", "global_batch")
        return (row["hardware"]["gpu"].split(" ")[0], model["hidden"], model["layers"], model["seq"],
                *(plan[name] for name in names))

    def make(self, pattern, identifier, model, hardware, plan, seconds):
        """A row like the pattern; nothing where it is published, or was made before."""
        row = copy.deepcopy(pattern)
        row["id"] = identifier
        row["model"].update(model)
        row["hardware"].update(hardware)
        row["plan"].update(plan)
        row["measured"] = {"iter_s": seconds}
        row["notes"] = ""
        before = self.known[self.key(row)]
        if any(math.isclose(seconds, other, rel_tol=SAME) for other in before):
            return None
        before.append(seconds)
        return row


def read_mosaic(path, published):
    """Models of llm-foundry on other devices: A100 of 40 GB, H100 in bf16."""
    sources = Sources(published, "mosaic")
    models = {row["model"]["name"].removeprefix("MPT-"): row for row in sources.rows}
    devices = {"a100_80gb": ("A100-80GB", 1600), "a100_40gb": ("A100-40GB", 1600), "h100_80gb": ("H100-80GB", None)}
    stages = {"FULL_SHARD": 3, "SHARD_GRAD_OP": 2, "NO_SHARD": 0}
    for _, cells in read_tables(path):
        name, precision = cells.get("Model"), cells.get("Precision", "")
        if name not in models or "fp8" in precision or cells["Activation CPUOffload"] == "True":
            continue
        device, network = devices[cells["GPU"]]
        ranks, rows = int(cells["# GPUs"]), int(cells["MicroBatchSize"])
        yield sources.make(
            models[name], f"mosaic-{cells['GPU']}-{name}-s{cells['SeqLen (T)']}-g{ranks}-mb{rows}",
            {"seq": int(cells["SeqLen (T)"])}, {"gpu": device, "n_gpus": ranks, "inter_gbps": network},
            {"dp": ranks, "zero": stages[cells["Sharding Strategy"]], "micro_batch": rows,
             "global_batch": int(cells["GlobalBatchSize"]), "precision": precision,
             "recompute": "full" if cells["Activation Checkpointing"] == "True" else "none"},
            int(cells["GlobalBatchSize (T)"]) / float(cells["Throughput (T/s)"]))


def read_vtrain(path, published):
    sources = Sources(published, "vtrain")
    for line in csv.DictReader(open(path, encoding="utf-8-sig")):
        size = float(line["Parameters (billion)"])
        number = {name: int(line[name]) for name in line if name not in ("Parameters (billion)", "iteration time (ms)")}
        plan = {"tp": number["tensor parallelism"], "dp": number["data parallelism"],
                "pp": number["pipeline parallelism"], "micro_batch": number["micro batch"],
                "global_batch": number["global batch"]}
        hidden, heads = number["hidden size"], number["attention heads"]
        yield sources.make(
            sources.rows[0], f"vtrain-{size}B-t{plan['tp']}d{plan['dp']}p{plan['pp']}-mb{plan['micro_batch']}",
            {"name": f"GPT-{size}B", "params_b": size, "layers": number["# layers"], "hidden": hidden, "heads": heads,
             "kv_heads": heads, "ffn": 4 * hidden, "seq": number["sequence length"]},
            {"n_gpus": number["# GPUs"]}, plan, float(line["iteration time (ms)"]) / 1000)


def find_shape(sources, said, cells, plan):
    """Layers, hidden size and heads: of the table, of the text before it, or of a published row of that day."""
    shape = {}
    for line in said:
        for name, word in (("layers", "NLAYERS"), ("hidden", "HIDDEN"), ("heads", "NHEADS")):
            if found := re.search(rf"\bN?{word}=(\d+)", line):
                shape[name] = int(found.group(1))
    for row in sources.rows:
        if f"-{cells['Size']}-" in row["id"] and cells["Notes"][:5] in row["id"]:
            # Rows of 02-20 have as many layers as their stages can share.
            if cells["Notes"][:5] != "02-20" or row["plan"]["pp"] == plan["pp"]:
                shape = {**{name: row["model"][name] for name in ("layers", "hidden", "heads")}, **shape}
    for name, column in (("layers", "NLAYERS"), ("hidden", "NHIDDEN"), ("heads", "NHEADS")):
        if cells.get(column, "").isdigit():
            shape[name] = int(cells[column])
    return shape


def has_size(shape, billions, vocabulary):
    if len(shape) < 3:
        return False
    hidden = shape["hidden"]
    count = shape["layers"] * (12 * hidden**2 + 13 * hidden) + vocabulary * hidden
    return abs(count / 1e9 / billions - 1) < CLOSE


def read_bs(path, published):
    """BLOOM's trials on 8 devices a node; tables whose models' shapes are not clear are left out."""
    sources = Sources(published, "bs")
    pattern = next(row for row in sources.rows if row["model"]["vocab"])
    for said, cells in read_tables(path):
        names = ("Nodes", "DP", "TP", "PP", "MBS", "GBS", "Sec/it")
        if not all(re.fullmatch(r"[\d.]+", cells.get(name, "")) for name in names):
            continue
        plan = {"dp": int(cells["DP"]), "tp": int(cells["TP"]), "pp": int(cells["PP"]),
                "micro_batch": int(cells["MBS"]), "global_batch": int(cells["GBS"]),
                "precision": "bf16 (fp32 grad accum)" if "02-28" in cells["Notes"] else "fp16"}
        shape = find_shape(sources, said, cells, plan)
        if not has_size(shape, float(cells["Size"].rstrip("B")), pattern["model"]["vocab"]):
            continue
        identifier = f"bs-{cells['Size']}-tp{plan['tp']}pp{plan['pp']}dp{plan['dp']}-mbs{plan['micro_batch']}"
        yield sources.make(
            pattern, f"{identifier}-gbs{plan['global_batch']}-{cells['Notes'][:5]}-h{shape['heads']}",
            {**shape, "name": "GPT-" + cells["Size"], "kv_heads": shape["heads"], "ffn": 4 * shape["hidden"]},
            {"n_gpus": 8 * int(cells["Nodes"])}, plan, float(cells["Sec/it"]))


def read_simumax(path, published):
    """Llama on eight B200: the name of a case is its plan."""
    sources = Sources(published, "simumax")
    for case in json.load(open(path, encoding="utf-8"))["rows"]:
        counts = {word: int(count) for word, count in re.findall(r"_(tp|pp|dp|cp|ep|mbc)(\d+)", case["case"])}
        model = re.match(r"(llama3_\d+b)_", case["case"])
        if not model or counts.get("cp", 1) > 1:
            continue
        pattern = next(row for row in sources.rows if row["id"].startswith(f"simumax-{model.group(1)}_"))
        row = sources.make(
            pattern, "simumax-" + case["case"].removesuffix("_cef"), {}, {},
            {"tp": counts["tp"], "pp": counts["pp"], "dp": counts["dp"], "sp": counts["tp"] > 1, "cp": 1,
             "schedule": "1f1b" if counts["pp"] > 1 else None, "global_batch": counts["dp"] * counts["mbc"]},
            case["real_ms"] / 1000)
        if row:
            row["measured"]["peak_mem_gb"] = case["real_alloc_gib"] * 2**30 / 1e9
        yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--published", required=True)
    readers = {"mosaic": read_mosaic, "vtrain": read_vtrain, "bs": read_bs, "simumax": read_simumax}
    for name in readers:
        parser.add_argument(f"--{name}")
    parser.add_argument("-o", "--output", required=True)
    arguments = parser.parse_args()
    published = json.load(open(arguments.published, encoding="utf-8"))
    rows = []
    for name, reader in readers.items():
        if path := getattr(arguments, name):
            try:
                rows += [row for row in reader(path, published) if row]
            except (OSError, ValueError, KeyError, StopIteration) as problem:
                sys.exit(f"error: --{name} {path}: not the table that is expected ({problem!r}); see --help")
    with open(arguments.output, "w", encoding="utf-8") as file:
        json.dump(rows, file, indent=1)
    print(f"{len(rows)} rows")


if __name__ == "__main__":
    main()
