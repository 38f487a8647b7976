"""A package's peak as the limit, one byte less, and the first remedy that is named then: at_the_limit.py MODEL DIR"""
import os
import re
import subprocess
import sys


def compile_model(model, package, *flags):
    return subprocess.run(["par-compile", model, "-o", package, "--batch", "4", *flags], capture_output=True, text=True,
                          check=False)


def main():
    model, folder = sys.argv[1:]
    package, refused = f"{folder}/fits.par", f"{folder}/refused.par"
    peak = int(re.search(r"per rank (\d+) bytes", compile_model(model, package).stdout).group(1))
    if compile_model(model, package, "--memory-limit", str(peak)).returncode == 0:
        print("accepted at the peak")
    result = compile_model(model, refused, "--memory-limit", str(peak - 1))
    print(result.stderr)
    if result.returncode == 1 and not os.path.exists(refused) and f"needs {peak} bytes" in result.stderr:
        print("refused one byte below")
    remedy = re.search(r"it fits with (--\S+ \S+)", result.stderr)
    print(remedy.group(0))
    if compile_model(model, refused, "--memory-limit", str(peak - 1), *remedy.group(1).split()).returncode == 0:
        print("the remedy fits")


main()
