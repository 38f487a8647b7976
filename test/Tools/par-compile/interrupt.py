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


# A linker that waits for permission to link, so that the signal arrives while the package is being written.
LINKER = """#!/bin/sh
touch "$FOLDER/linking"
while kill -0 $PPID 2> /dev/null; do
  test -e "$FOLDER/permission" && exec "$LINKER" "$@"
  sleep 0.01
done
"""


def put_linker(folder):
    """The environment in which par-compile finds the waiting linker, which keeps its files in `folder`."""
    os.makedirs(folder)
    with open(f"{folder}/ld.lld-19", "w") as file:
        file.write(LINKER)
    os.chmod(f"{folder}/ld.lld-19", 0o755)
    return dict(os.environ, FOLDER=folder, LINKER=shutil.which("ld.lld-19"), PATH=f"{folder}:{os.environ['PATH']}")


def are_written(folder):
    return all(os.path.exists(f"{folder}/{name}") for name in ("report.html", "step.json"))


def interrupt(command, folder, environment, number, disposition=signal.SIG_DFL):
    """Once report and timeline are written and the package is linked; the exit status."""
    linking, permission = (os.path.join(environment["FOLDER"], name) for name in ("linking", "permission"))
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment,
                               preexec_fn=lambda: signal.signal(number, disposition))
    while not os.path.exists(linking):
        assert process.poll() is None, "it ended before it linked"
        time.sleep(0.001)
    assert are_written(folder), "it links before report and timeline are written"
    process.send_signal(number)
    if disposition == signal.SIG_IGN:
        open(permission, "w").close()
    status = process.wait(timeout=60)
    os.remove(linking)
    return status


def main():
    model, folder = sys.argv[1:]
    for former in (folder, f"{folder}-linker"):
        shutil.rmtree(former, ignore_errors=True)
    os.makedirs(folder)
    command = ["par-compile", model, "--seq", "8", "--batch", "2", "-o", f"{folder}/out.par"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    before = read_tree(folder)
    environment = put_linker(f"{folder}-linker")
    command += ["--report", f"{folder}/report.html", "--timeline", f"{folder}/step.json"]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        status = interrupt(command, folder, environment, number)
        assert status == -number, f"{number.name}: exit status {status}"
        after = read_tree(folder)
        assert after == before, f"{number.name} leaves {sorted(after.keys() ^ before.keys())}"
        print(f"{number.name}: nothing is left")
    status = interrupt(command, folder, environment, signal.SIGHUP, signal.SIG_IGN)
    assert status == 0 and are_written(folder), f"SIGHUP under nohup: exit status {status}"
    print("ignored: everything is there")


main()
