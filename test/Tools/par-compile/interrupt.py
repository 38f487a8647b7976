"""Interrupts a compilation while the package is written: interrupt.py MODEL FOLDER"""
import os
import shutil
import signal
import subprocess
import sys
import time


def read_tree(folder):
    return {os.path.join(root, name): os.stat(os.path.join(root, name)).st_mtime_ns
            for root, folders, files in os.walk(folder) for name in folders + files}


def interrupt(command, folder, number, disposition=signal.SIG_DFL):
    """Once there is a temporary folder, the report and the timeline; the exit status."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=lambda: signal.signal(number, disposition))
    while not any(".tmp-" in name for name in os.listdir(folder)) and process.poll() is None:
        time.sleep(0.001)
    written = all(os.path.exists(f"{folder}/{name}") for name in ("report.html", "step.json"))
    assert process.poll() is None and written, "it ended before the signal"
    process.send_signal(number)
    return process.wait(timeout=60)


def main():
    model, folder = sys.argv[1:]
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    command = ["par-compile", model, "--seq", "8", "--batch", "2", "-o", f"{folder}/out.par"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    before = read_tree(folder)
    command += ["--report", f"{folder}/report.html", "--timeline", f"{folder}/step.json"]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        status = interrupt(command, folder, number)
        assert status == -number, f"{number.name}: exit status {status}"
        after = read_tree(folder)
        assert after == before, f"{number.name} leaves {sorted(after.keys() ^ before.keys())}"
        print(f"{number.name}: nothing is left")
    status = interrupt(command, folder, signal.SIGHUP, signal.SIG_IGN)
    there = all(os.path.exists(f"{folder}/{name}") for name in ("report.html", "step.json"))
    assert status == 0 and there, f"SIGHUP under nohup: exit status {status}"
    print("ignored: everything is there")


main()
