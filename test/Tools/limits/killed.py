"""killed.py FOLDER: par-emulate of FOLDER/gpu.par is killed at many moments; then it runs again, and so does par-compile."""
import os
import shutil
import subprocess
import sys
import time


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (command, done.stderr)


def main():
    folder = sys.argv[1]
    package = f"{folder}/killed.par"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(f"{folder}/gpu.par", package)
    before = sorted(os.listdir(package))
    for turn in range(12):
        process = subprocess.Popen(["par-emulate", package], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.05 * (turn + 1))
        process.kill()
        process.wait()
        extra = set(os.listdir(package)) - set(before)
        assert extra <= {"program0.emulated.so"}, extra
    # Killed between the file and the manifest, which does not list it yet.
    shutil.copy(f"{package}/program0.so", f"{package}/program0.emulated.so")
    shutil.copy(f"{folder}/gpu.par/manifest.json", package)
    run("par-emulate", package)
    shutil.copy(f"{folder}/gpu.par/manifest.json", package)
    run("par-compile", f"{folder}/model.json", "--target", "cuda", "--seq", "16", "--batch", "4", "-o", package)
    assert sorted(os.listdir(package)) == before, os.listdir(package)
    print("killed: emulated and compiled again")


main()
