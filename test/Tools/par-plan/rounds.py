"""rounds.py FIGURES FOLDER: measures this machine twice with par-measure, on a terminal, and writes the first round to FIGURES.

Then another par-measure is ended while it measures, with a pipe where the terminal was.
"""
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Run/Helpers"))
from terminal import everything  # noqa: E402

figures, folder = sys.argv[1:]
CLEAR = "\r\x1b[K"


def measure_on_terminal():
    ours, theirs = pty.openpty()
    with subprocess.Popen(["par-measure", "--rounds", "2", "-o", f"{folder}/rounds"], stderr=theirs) as process:
        os.close(theirs)
        shown = everything(ours).decode()
    os.close(ours)
    if process.returncode:
        sys.exit(f"par-measure: exit code {process.returncode}, {shown!r}")
    return shown


def check_bar(shown):
    states = re.findall(re.escape(CLEAR) + r"measuring this machine: \[(#* *)\] ([a-z ]+)", shown)
    filled = [bar.count("#") for bar, _ in states]
    parts = [part for _, part in states]
    if "".join(f"{CLEAR}measuring this machine: [{bar}] {part}" for bar, part in states) + CLEAR != shown:
        sys.exit(f"something else is shown: {shown!r}")
    if filled != sorted(filled) or filled[0] != 0 or {len(bar) for bar, _ in states} != {20} or parts[: len(parts) // 2] * 2 != parts:
        sys.exit(f"no bar of two rounds: {states}")
    print(f"bar: begins at {filled[0]}, is at {filled[len(filled) // 2]} of 20 when the second round begins, and is gone at the end")


def seconds_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def check_ended():
    """Its first products have been announced when it has computed for half a second."""
    os.makedirs(f"{folder}/ended")
    with subprocess.Popen(["par-measure", "-o", f"{folder}/ended/figures.json"], stderr=subprocess.PIPE) as process:
        while process.poll() is None and seconds_of(process.pid) < 0.5:
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        shown = process.communicate()[1].decode()
    print(f"ended: exit code {process.returncode}, shown {shown!r}, left {os.listdir(folder + '/ended')}")


check_bar(measure_on_terminal())
with open(f"{folder}/rounds", encoding="utf-8") as file:
    rounds = file.read().split("\n")
if len(rounds) != 3 or rounds[2] or rounds[0] == rounds[1] or not all(json.loads(line)["products"] for line in rounds[:2]):
    sys.exit(f"{folder}/rounds: no two lines of figures")
with open(figures, "w", encoding="utf-8") as file:
    file.write(rounds[0])
check_ended()
