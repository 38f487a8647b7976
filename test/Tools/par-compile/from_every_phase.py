#!/usr/bin/env python3
"""Go on with the graph of every phase and compare the plan and the program of the package.

    from_every_phase.py IR_DIR WHOLE.par

IR_DIR is what --save-ir wrote when WHOLE.par was compiled, with overlap. Flags are those of phases that are still to come, and no others.
"""
import filecmp
import json
import subprocess
import sys

FLAGS = {
    "annotate": "--mesh dp=2,tp=2 --zero 3 --sequence-parallel --freeze model.embed_*",
    "differentiate": "--zero3-gather per-step --recompute selective --grad-dtype bf16 --weight-decay-on *proj*,*norm*",
    "overlap": "--overlap on",
    "lower": "--offload optimizer",
}
PHASES = ["import", "annotate", "propagate", "differentiate", "partition", "overlap", "lower"]


def main():
    folder, whole = sys.argv[1:]
    plan = json.load(open(f"{whole}/manifest.json", encoding="utf-8"))["plan"]
    for number, phase in enumerate(PHASES[1:], 1):
        graph = f"{folder}/{number}-{PHASES[number - 1]}.mlir"
        flags = " ".join(FLAGS.get(later, "") for later in PHASES[number:])
        command = f"par-compile {graph} --from {phase} {flags} --cpu x86-64-v2 -o from.par"
        if number == 1:
            command += " --micro-batches 2"
        subprocess.run(command.split(), check=True, stdout=subprocess.DEVNULL)
        resumed = json.load(open("from.par/manifest.json", encoding="utf-8"))["plan"]
        different = {key: (plan[key], resumed[key]) for key in plan if plan[key] != resumed[key]}
        same_program = filecmp.cmp(f"{whole}/program0.so", "from.par/program0.so", shallow=False)
        print(f"from {phase}: {'the same plan' if not different and same_program else different or 'another program'}")


if __name__ == "__main__":
    main()
