"""machine.py FOLDER: what par-plan and par-compile do without a cluster file for FOLDER/model.json, with a cache in the folder.

They run beside a par-measure of this test: it writes figures that par-measure found once, slower or later as it is told."""
import json
import os
import select
import shutil
import signal
import subprocess
import sys

folder = sys.argv[1]
cache, tools, temporary, model = (os.path.join(folder, name) for name in ("cache", "tools", "temporary", "model.json"))
SHAPE = ["--dtype", "f32", "--seq", "16", "--batch", "8", "--ranks", "2"]
# In each round it takes a word of SLOWER, by how many times it is slower, or "wait" behind a line that says that it is there.
STANDIN = """#!{python}
import json, os, sys, time
assert sys.argv[1:] == ["--rounds", "2", "-o", "-"], sys.argv
for word in os.environ["SLOWER"].split():
    if word == "wait":
        print("measuring", file=sys.stderr, flush=True)
        time.sleep(120)
    figures = json.load(open({folder!r} + "/figures.json"))
    for product in figures["products"]:
        product["seconds"] *= float(word)
    print(json.dumps(figures), flush=True)
"""


def environment(slower):
    return {**os.environ, "XDG_CACHE_HOME": cache, "SLOWER": slower}


def run(name, *words, slower="1 1"):
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


def check_killed(number, *words):
    """What is measuring ends with who asked for it, however that ends: both ends of the pipe close. Nothing is left."""
    shutil.rmtree(cache, ignore_errors=True)
    os.makedirs(temporary, exist_ok=True)
    with subprocess.Popen([f"{tools}/{words[0]}", *words[1:]], env={**environment("wait"), "TMPDIR": temporary}, stderr=subprocess.PIPE) as process:
        while (line := process.stderr.readline()) != b"measuring\n":
            if not line:
                sys.exit(f"{words[0]} ended before it measured")
        process.send_signal(number)
        process.wait()
        if not select.select([process.stderr], [], [], 60)[0] or process.stderr.read():
            sys.exit(f"{words[0]}, {number.name}: par-measure goes on")
    print(f"{words[0]}, {number.name}: both are gone, left {os.listdir(temporary) + os.listdir(cache) if os.path.exists(cache) else os.listdir(temporary)}")


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
for number, name in (signal.SIGTERM, "par-plan"), (signal.SIGKILL, "par-plan"), (signal.SIGTERM, "par-compile"):
    check_killed(number, name, model, *SHAPE, *(["-o", package + ".killed"] if name == "par-compile" else []))
if os.path.exists(package + ".killed"):
    sys.exit("par-compile left a package")
