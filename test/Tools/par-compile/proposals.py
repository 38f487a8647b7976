"""proposals.py MODEL: every change of flags that par-compile proposes where a plan does not fit is a command line that works, and fits."""
import re
import subprocess
import sys

sys.path.append(sys.path[0] + "/../../Run/Helpers")
from summary import read_memory

# Plans whose levers take values back, or need others beside them.
PLANS = [
    "--mesh dp=2 --zero 3 --overlap on --prefetch-limit 20KiB",
    "--mesh dp=2 --overlap on --bucket-bytes 0",
    "--mesh pp=2 --micro-batches 4 --schedule zb-v --cuts 1,3,5",
    "--mesh pp=2 --micro-batches 2 --schedule 1f1b --cuts 2",
    "--mesh pp=2 --micro-batches 2 --recompute auto --recompute-limit 1MiB,2MiB",
    "--mesh tp=2 --sharding-search",
    "--mesh dp=2 --zero 3 --zero3-gather per-step",
]
SHAPE = ["--set", "num_hidden_layers=6", "--seq", "16", "--batch", "8", "--dry-run"]


def compile_plan(model, flags, *limit):
    words = [word for flag, value in flags.items() for word in ([flag, value] if value else [flag])]
    return subprocess.run(["par-compile", model, *SHAPE, *words, *limit], capture_output=True, text=True, check=False)


def parse(text):
    """Flags and their values; of a toggle nothing."""
    flags, words = {}, text.split()
    for place, word in enumerate(words):
        if word.startswith("--"):
            following = words[place + 1] if place + 1 < len(words) else "--"
            flags[word] = "" if following.startswith("--") else following
    return flags


def main():
    model, problems, proposals, cleared = sys.argv[1], [], 0, 0
    for plan in PLANS:
        flags = parse(plan)
        whole = compile_plan(model, flags, "--explain")
        peak = 0 if whole.returncode else max(held["peak"] for held in read_memory(whole.stdout).values())
        if not peak:
            problems.append(f"{plan}: {whole.stderr}")
            continue
        for share in (0.999, 0.85, 0.6):
            limit = ("--memory-limit", str(int(peak * share)))
            error = compile_plan(model, flags, *limit).stderr.splitlines()[0:]
            text = next((line for line in error if line.startswith("error:")), "")
            found = re.search(r"it fits with (.*)", text)
            for change in re.split(r", or with ", found.group(1)) if found else []:
                change = re.sub(r" \([^()]*\)$", "", change)
                proposals += 1
                cleared += " none" in change
                done = compile_plan(model, {**flags, **parse(change)}, *limit)
                if done.returncode:
                    problems.append(f"{plan} {limit}: {change}: {done.stderr.splitlines()[0]}")
    print("\n".join(problems) or "all proposals work")
    print(f"{proposals} proposals, {cleared} of which take a value back")


main()
