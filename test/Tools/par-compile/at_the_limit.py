"""A package's peak as the limit, one byte less, and the first remedy that is named then: at_the_limit.py MODEL DIR [FLAG VALUE]..."""
import json
import os
import re
import subprocess
import sys


def compile_model(model, package, *flags):
    return subprocess.run(["par-compile", model, "-o", package, "--batch", "4", *flags], capture_output=True, text=True,
                          check=False)


def main():
    model, folder, *words = sys.argv[1:]
    flags = dict(zip(words[::2], words[1::2]))
    given = [word for pair in flags.items() for word in pair]
    package, refused = f"{folder}/fits.par", f"{folder}/refused.par"
    compile_model(model, package, *given)
    with open(f"{package}/manifest.json", encoding="utf-8") as file:
        peak = json.load(file)["memory"][0]["peak_bytes"]
    if compile_model(model, package, *given, "--memory-limit", str(peak)).returncode == 0:
        print("accepted at the peak")
    result = compile_model(model, refused, *given, "--memory-limit", str(peak - 1))
    print(result.stderr)
    if result.returncode == 1 and not os.path.exists(refused) and f"needs {peak} bytes" in result.stderr:
        print("refused one byte below")
    remedy = re.search(r"it fits with (--\S+ \S+)", result.stderr)
    print(remedy.group(0))
    flags.update([remedy.group(1).split()])
    given = [word for pair in flags.items() for word in pair]
    if compile_model(model, refused, *given, "--memory-limit", str(peak - 1)).returncode == 0:
        print("the remedy fits")


main()
