#!/usr/bin/env python3
"""Train test/Run/Files/pieces.mlir, whose parameters are pieces of the files' tensors, beside the same graph with a tensor per parameter.

    file_pieces.py GRAPH.mlir WORK_DIR "--mesh dp=1" ["--mesh dp=2,tp=2 --zero 3" ...]

Where elements lie is written down here once more, as loops over indices. For every plan both graphs begin with the same values, and then have to agree in every bit:
what is saved before the first step, parameters and gradients after the third, and what par-export makes of a checkpoint. Initial values are the same on all meshes
and in the interpreter. Each plan also goes on from the checkpoint of the plan before it, and the interpreter trains from the same files, both up to rounding.
"""
import array
import itertools
import json
import os
import random
import re
import struct
import sys

from compare_plans import read_safetensors
from running import run

TRAINING = ["--lr", "0.01", "--clip-grad-norm", "0.5"]
SHAPES = {"table": (13, 8), "experts": (3, 16, 8), "heads": (6, 8), "gate": (16, 8), "up": (16, 8), "scale.0": (8,), "scale.1": (8,), "biases": (2, 5)}


class Tensor:
    """Values by index."""

    def __init__(self, shape, values=None):
        size = 1
        for n in shape:
            size *= n
        self.shape, self.values = tuple(shape), array.array("f", values if values is not None else [0.0] * size)

    def place(self, index):
        at = 0
        for i, n in zip(index, self.shape):
            at = at * n + i
        return at

    def __getitem__(self, index):
        return self.values[self.place(index)]

    def __setitem__(self, index, value):
        self.values[self.place(index)] = value


def to_files(variables, offset):
    """The files' tensors. `offset` is what the scales have more than their tensor."""
    files = {"table": variables["table"], "gate_up": Tensor((8, 32)), "layers.scale": Tensor((2, 8)), "biases": Tensor((2, 5)), "q": Tensor((4, 8)), "k": Tensor((8, 2))}
    for expert in range(3):
        one = files[f"experts.{expert}.up"] = Tensor((8, 16))
        for mlp, embed in itertools.product(range(16), range(8)):
            one[embed, mlp] = variables["experts"][expert, mlp, embed]
    for mlp, embed in itertools.product(range(16), range(8)):
        files["gate_up"][embed, 2 * mlp] = variables["gate"][mlp, embed]
        files["gate_up"][embed, 2 * mlp + 1] = variables["up"][mlp, embed]
    for row, embed in itertools.product(range(6), range(8)):
        if row < 4:
            files["q"][row, embed] = variables["heads"][row, embed]
        else:
            files["k"][embed, row - 4] = variables["heads"][row, embed]
    for layer, embed in itertools.product(range(2), range(8)):
        files["layers.scale"][layer, embed] = variables[f"scale.{layer}"][embed,] - offset
    for layer, row in itertools.product(range(2), range(5)):
        files["biases"][1 - layer, row] = variables["biases"][layer, row]
    return files


def read(path):
    return {name: Tensor(shape, values) for name, (shape, values) in read_safetensors(path).items()}


def variables_of(tensors):
    """Those of the plain graph's tensors."""
    return {name: Tensor(SHAPES[name], tensor.values) for name, tensor in tensors.items()}


def write(path, tensors):
    header, body = {}, b""
    for name, tensor in tensors.items():
        data = tensor.values.tobytes()
        header[name] = {"dtype": "F32", "shape": tensor.shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)


def compare(title, actual, expected, tolerance=0.0):
    if set(actual) != set(expected):
        sys.exit(f"{title}: tensors {sorted(actual)}, expected {sorted(expected)}")
    for name, tensor in expected.items():
        if actual[name].shape != tensor.shape:
            sys.exit(f"{title}: {name} has shape {actual[name].shape}, expected {tensor.shape}")
        scale = max(max(map(abs, tensor.values)), 1e-3)
        worst = max(abs(a - b) if a == a else float("inf") for a, b in zip(actual[name].values, tensor.values)) / scale
        if worst > tolerance:
            sys.exit(f"{title}: {name} differs by {worst:.2g} of its largest element, expected at most {tolerance:g}")


def make_start(work):
    """Values that an offset of 1 keeps in every bit."""
    numbers = random.Random(5)
    variables = {}
    for name, shape in SHAPES.items():
        variables[name] = Tensor(shape)
        for at in range(len(variables[name].values)):
            variables[name].values[at] = numbers.randrange(-512, 512) / 1024 + name.startswith("scale")
    plain = {**variables, "biases": Tensor((10,), variables["biases"].values)}
    write(os.path.join(work, "plain.start"), plain)
    write(os.path.join(work, "pieces.start"), to_files(variables, 1.0))


class Graph:
    def __init__(self, path, work, kind):
        self.path, self.work, self.kind = path, work, kind

    def name(self, ending):
        return os.path.join(self.work, f"{self.kind}.{ending}")

    def compile(self, plan):
        self.package = self.name("par")
        run("par-compile", self.path, *plan.split(), "-o", self.package)

    def save(self, what, steps, *flags):
        output = self.name(what)
        run("par-run", self.package, "--steps", str(steps), "--seed", "3", *(TRAINING if steps else []), *flags, f"--save-{what}", output)
        return read(output)

    def interpret(self, steps, *flags):
        output = self.name("interpreted")
        run("par-interpret", self.path, "--steps", str(steps), "--seed", "3", *flags, "-o", output)
        return read(output)


def check_plan(plan, plain, pieces):
    """Everything that is the same in every bit. Returns the parameters after three steps."""
    for graph in (plain, pieces):
        graph.compile(plan)
    start = ["--weights", pieces.name("start")]
    compare(f"{plan}: loaded and saved", pieces.save("params", 0, *start), read(pieces.name("start")))
    for what, offset in (("grads", 0.0), ("params", 1.0)):
        expected = to_files(variables_of(plain.save(what, 3, "--weights", plain.name("start"))), offset)
        actual = pieces.save(what, 3, *start, *(["--checkpoint", pieces.name("checkpoint")] if what == "params" else []))
        compare(f"{plan}: {what}", actual, expected)
    exported = pieces.name("exported")
    run("par-export", pieces.package, "--checkpoint", pieces.name("checkpoint"), "--source", pieces.name("config.json"), "-o", exported)
    compare(f"{plan}: exported", read(os.path.join(exported, "model.safetensors")), actual)
    return actual


def main():
    graph, work, *plans = sys.argv[1:]
    with open(graph, encoding="utf-8") as file:
        text = file.read()
    plain = Graph(os.path.join(work, "plain.mlir"), work, "plain")
    pieces = Graph(graph, work, "pieces")
    text = re.sub(r"(par\.variable @([\w.]+) .*?file = #par\.file)<.*?>, init", r'\1<"\2">, init', text)
    with open(plain.path, "w", encoding="utf-8") as file: # layers' biases are vectors, which do not decay
        file.write(text.replace('<"biases">', '<"biases", shape = [10]>'))
    with open(pieces.name("config.json"), "w", encoding="utf-8") as file:
        json.dump({"model_type": "example", "tie_word_embeddings": True}, file)
    make_start(work)
    initial = pieces.interpret(1, "--lr", "0")
    trained = before = None
    for plan in plans:
        for name in ("checkpoint", "exported"):
            run("rm", "-rf", pieces.name(name))
        params = check_plan(plan, plain, pieces)
        compare(f"{plan}: initial values", pieces.save("params", 0), initial)
        if before:
            compare(f"{plan}: resumed", pieces.save("params", 5, "--resume", before), trained, 1e-5)
        else:
            trained = pieces.save("params", 5, "--resume", pieces.name("checkpoint"))
            compare(f"{plan}: against the interpreter", params, pieces.interpret(3, *TRAINING, "--weights", pieces.name("start")), 1e-4)
        before = os.path.join(work, "before")
        run("rm", "-rf", before)
        os.rename(pieces.name("checkpoint"), before)
        print(f"{plan} agrees")


if __name__ == "__main__":
    main()
