"""sharding_search.py MODEL MESH [FLAG...]: compiles MODEL.json by the names of dimensions, and without them by --sharding-search."""
import re
import subprocess
import sys
import time

model, mesh, *flags = sys.argv[1:]
NAMES = "vocab|heads|kv_heads|group|mlp|embed|head_dim|qkv|positions"


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if result.returncode:
        sys.exit(result.returncode)
    return result.stdout


def drop_names(graph):
    return "".join(re.sub(f'"({NAMES})"', '""', line) if "par.variable" in line else line for line in graph.splitlines(True))


def without_names(module):
    """What names and plan do not tell apart."""
    return re.sub(r" dims \[[^]]*\]", "", re.sub(r"par.plan = #par.plan<[^>]*>", "", module))


def read_shardings(module):
    return dict(re.findall(r"par.variable (@\S+) .*?compute = #par.sharding<@mesh, (\[.*?\])>", module))


def count(module, function):
    body = re.search(rf"func.func private @{function}\(.*?^  }}", module, re.M | re.S).group()
    return len(re.findall(r'par.all_reduce +sum over \["tp"\]', body))


graph = run("par-import", f"{model}.json")
open("named.mlir", "w").write(graph)
open("nameless.mlir", "w").write(drop_names(graph))
assert not re.search(rf'dims \[[^]]*"({NAMES})"', open("nameless.mlir").read())
outputs = {}
for phase in ("annotate", "partition"):
    begin = time.monotonic()
    found = run("par-compile", "nameless.mlir", "--mesh", mesh, "--sharding-search", *flags, "--to", phase)
    seconds = time.monotonic() - begin
    outputs[phase] = run("par-compile", "named.mlir", "--mesh", mesh, "--to", phase), found
named, found = map(read_shardings, outputs["annotate"])
assert len(named) == graph.count("par.variable")
for name in named:
    if named[name] != found.get(name):
        print("other:", name, found.get(name))
print("the same shardings as by names" if named == found else "other shardings")
named, found = map(without_names, outputs["partition"])
print("the same partitioned module" if named == found else "another partitioned module")
print(f"tp: {count(found, 'block.forward')} all-reduces in a layer's forward pass, {count(found, 'block.backward')} in its backward pass")
print("found in time" if seconds <= 5 else f"took {seconds:.1f} s")
