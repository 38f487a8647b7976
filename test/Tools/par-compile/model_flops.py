"""model_flops.py CONFIG FOLDER: the manifest's model_flops_per_step is the formula's, whatever the plan repeats or leaves out."""
import json
import os
import subprocess
import sys

config, folder = sys.argv[1:]
with open(config, encoding="utf-8") as file:
    c = json.load(file)
BATCH, SEQ = 8, 32
hidden, heads, kv, dim, mlp = (c[key] for key in ("hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim", "intermediate_size"))
weights = c["num_hidden_layers"] * (hidden * dim * (heads + 2 * kv) + heads * dim * hidden + 3 * hidden * mlp) + hidden * c["vocab_size"]
# Two products of a query and a key for each that it sees, half of them all.
attention = c["num_hidden_layers"] * BATCH * SEQ * SEQ * heads * dim * 2 * 2 / 2
expected = 3 * (2 * weights * BATCH * SEQ + attention)
for plan in ("", "--mesh dp=2,tp=2 --recompute full", "--mesh tp=4 --micro-batches 4", "--mesh pp=2,dp=2 --micro-batches 2"):
    package = os.path.join(folder, "m.par")
    subprocess.run(["par-compile", config, "-o", package, "--batch", str(BATCH), "--seq", str(SEQ), *plan.split()], check=True,
                   stdout=subprocess.DEVNULL)
    with open(os.path.join(package, "manifest.json"), encoding="utf-8") as file:
        actual = json.load(file)["model_flops_per_step"]
    print(f"{plan or 'one rank'}: {'as the formula' if actual == expected else f'{actual}, expected {expected}'}")
