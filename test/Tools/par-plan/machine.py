"""machine.py FOLDER: what par-plan and par-compile do without a cluster file for FOLDER/model.json, with a cache in the folder."""
import json
import os
import subprocess
import sys

folder = sys.argv[1]
cache = os.path.join(folder, "cache")
model = os.path.join(folder, "model.json")
SHAPE = ["--seq", "16", "--batch", "8", "--ranks", "2"]


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "XDG_CACHE_HOME": cache})
    if done.returncode:
        sys.exit(f"{words}: {done.stderr}")
    return done.stdout, " ".join(line for line in done.stderr.splitlines() if "--mesh" not in line)


def read_cache():
    (name,) = os.listdir(os.path.join(cache, "par"))
    path = os.path.join(cache, "par", name)
    with open(path, "rb") as file:
        return path, file.read()


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
