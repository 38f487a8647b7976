"""machine.py FOLDER: what par-plan and par-compile do without a cluster file for FOLDER/model.json, with a cache in the folder.

They run beside a par-measure of this test: it writes figures that par-measure found once, slower or later as it is told."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

folder = sys.argv[1]
cache, tools, model = (os.path.join(folder, name) for name in ("cache", "tools", "model.json"))
SHAPE = ["--dtype", "f32", "--seq", "16", "--batch", "8", "--ranks", "2"]
# Runs of it are counted in the file `runs`; of run n it takes word n of SLOWER, by how many times it is slower, or "wait".
STANDIN = """#!{python}
import json, os, sys, time
with open({folder!r} + "/runs", "a") as file:
    file.write("x")
    file.flush()
    number = file.tell() - 1
words = os.environ["SLOWER"].split()
word = words[min(number, len(words) - 1)]
open({folder!r} + "/pid", "w").write(str(os.getpid()))
if word == "wait":
    time.sleep(600)
figures = json.load(open({folder!r} + "/figures.json"))
for product in figures["products"]:
    product["seconds"] *= float(word)
assert sys.argv[1:] == ["-o", "-"], sys.argv
print(json.dumps(figures))
"""


def environment(slower):
    return {**os.environ, "XDG_CACHE_HOME": cache, "SLOWER": slower}


def run(name, *words, slower="1"):
    open(f"{folder}/runs", "w").close()
    done = subprocess.run([f"{tools}/{name}", *words], capture_output=True, text=True, env=environment(slower))
    if done.returncode:
        sys.exit(f"{words}: {done.stderr}")
    return done.stdout, " ".join(line for line in done.stderr.splitlines() if "--mesh" not in line)


def read_cache():
    (name,) = os.listdir(os.path.join(cache, "par"))
    path = os.path.join(cache, "par", name)
    with open(path, "rb") as file:
        return path, file.read()


def make_tools():
    os.makedirs(tools)
    for name in ("par-plan", "par-compile", "par-run"):
        shutil.copy2(shutil.which(name), tools)
    with open(f"{tools}/par-measure", "w", encoding="utf-8") as file:
        file.write(STANDIN.format(python=sys.executable, folder=folder))
    os.chmod(f"{tools}/par-measure", 0o755)


def check_busy():
    """Two rounds that differ: said in a note and in the answer, and not kept."""
    shutil.rmtree(cache)
    text, notes = run("par-plan", model, *SHAPE, "--top", "1", slower="1 1.5")
    print("busy:", notes)
    print("answer:", next(line for line in text.splitlines() if "measured while" in line))
    if os.path.exists(cache):
        sys.exit(f"kept: {os.listdir(cache)}")
    run("par-plan", model, *SHAPE, "--top", "1", slower="1 1.1")
    print("nearly alike:", "kept" if read_cache() else "")


def check_killed():
    """What is measuring ends with who asked for it, however that ends; and nothing is left."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        shutil.rmtree(cache, ignore_errors=True)
        if os.path.exists(f"{folder}/pid"):
            os.remove(f"{folder}/pid")
        open(f"{folder}/runs", "w").close()
        process = subprocess.Popen([f"{tools}/par-plan", model, *SHAPE], env=environment("wait"), stderr=subprocess.DEVNULL)
        while not os.path.exists(f"{folder}/pid") or not open(f"{folder}/pid").read():
            time.sleep(0.02)
        child = int(open(f"{folder}/pid").read())
        process.send_signal(number)
        process.wait()
        for _ in range(200):
            state = f"/proc/{child}/stat"
            if not os.path.exists(state) or open(state).read().rsplit(")", 1)[1].split()[0] == "Z":
                break
            time.sleep(0.05)
        else:
            sys.exit(f"{number.name}: par-measure goes on")
        print(f"{number.name}: both are gone")


make_tools()
text, notes = run("par-plan", model, *SHAPE, "--json", "--top", "1")
plan = json.loads(text)["plans"][0]["flags"]
print("first:", notes)
path, content = read_cache()
package = os.path.join(folder, "out.par")
_, notes = run("par-compile", model, *SHAPE, "-o", package)
with open(os.path.join(package, "manifest.json"), encoding="utf-8") as file:
    mesh = json.load(file)["plan"]["mesh"]
if notes or read_cache()[1] != content or not all(f"{axis}={size}" in plan for axis, size in mesh):
    sys.exit(f"then: {notes!r}, mesh {mesh}, plan {plan}")
print("then: nothing is said, the same file, the same plan")
with open(path, "w", encoding="utf-8") as file:
    file.write("{")
print("spoilt:", run("par-plan", model, *SHAPE)[1])
if read_cache()[1] == b"{":
    sys.exit("what was spoilt is still there")
check_busy()
check_killed()
