"""Checks that what a stack file says makes those steps longer or shorter that it is about, and no others."""
import subprocess
import sys

INPUTS = sys.argv[1]
ALL = {"bs-small", "titan-small", "titan-gated", "zb-small", "korthi22-layer", "zb-two", "korthi22-split",
       "kempner-held", "kempner-split", "bs-stages"}
# By two folders of stack files, the rows whose steps take longer with the second one, and those that take less.
CHANGED = {
    ("plain", "blocking"): ({"zb-small", "zb-two", "kempner-split", "bs-stages"}, set()),
    ("plain", "whole"): ({"bs-small", "titan-small", "korthi22-layer", "kempner-held"}, set()),
    ("plain", "kernels"): (ALL, set()),
    ("plain", "loss"): (ALL - {"korthi22-layer"}, set()),
    # What is whole is split by sequence parallelism, as what is split anyway; one rank has all of both.
    ("split-kernels", "whole-kernels"): ({"bs-small", "titan-small", "korthi22-layer", "bs-stages"}, set()),
    ("plain", "unfused"): (ALL, set()),
    ("plain", "slow"): (ALL, set()),
    ("plain", "slow-products"): (ALL, set()),
    ("plain", "slow-kernel"): (ALL, set()),
    # Forward and backward take as long together: where neither is run again, it does not matter which is quicker.
    ("slow-kernel", "even-kernel"): ({"bs-small", "titan-small", "titan-gated", "korthi22-layer",
                                      "kempner-held"}, set()),
    ("plain", "adds"): (ALL, set()),
    ("plain", "bubbles"): (set(), {"zb-two"}),
    ("plain", "first"): (set(), {"korthi22-split", "kempner-split"}),
    ("plain", "whole-sequence"): (set(), {"kempner-split"}),
    ("plain", "launches"): (ALL, set()),
    ("plain", "launches-back"): (ALL, set()),
    ("plain", "narrow"): (set(), ALL - {"korthi22-layer"}),
    ("plain", "in-parts"): (set(), {"bs-stages"}),
    ("plain", "f32-sums"): ({"bs-stages"}, set()),
    ("plain", "slow-network"): ({"bs-stages"}, set()),
    ("alone", "beside"): (set(), {"bs-small", "titan-small", "korthi22-layer", "korthi22-split",
                                  "kempner-split", "bs-stages"}),
}


def predict(stacks, devices="usual"):
    command = ["planner-benchmark", "--rows", f"{INPUTS}/rows.json", "--stacks", f"{INPUTS}/{stacks}",
               "--devices", f"{INPUTS}/devices/{devices}.json"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    words = [line.split() for line in lines]
    return {word[0]: float(word[5]) for word in words if len(word) > 5 and word[2] == "s"}


ratios = {stacks: predict(stacks) for stacks in {name for pair in CHANGED for name in pair}}
for (before, after), expected in CHANGED.items():
    old, new = ratios[before], ratios[after]
    assert set(old) == ALL, set(old) ^ ALL
    changed = ({row for row in ALL if new[row] > old[row]}, {row for row in ALL if new[row] < old[row]})
    assert changed == expected, (before, after, changed, old, new)

# So does what the file of devices says of a variant.
for devices in ("slow-memory", "slow-products"):
    slow = predict("plain", devices)
    assert all(slow[row] > ratios["plain"][row] for row in ALL), (devices, slow)
