"""Attention with what newer models have, as programs of one op each, for a machine with a GPU: what it has beside a plain
one costs, and that it is right there. prepare.py records them, run.py launches them."""

#: Elements of queries and keys, and of values, if they are others.
HEADS = {"64": (64, 64), "128": (128, 128), "256": (256, 256)}
LATENT = {"192-128": (192, 128), "576-512": (576, 512)}

#: What a pair of a query and a key may cost beside a plain attention: name -> attributes and operands beside.
KINDS = {"plain": {}, "cap": {"cap": 50.0}, "sinks": {"sinks": True}, "documents": {"documents": True}}


def tensor(sizes, kind):
    return f"tensor<{'x'.join(map(str, sizes))}x{kind}>"


def width(text):
    """Bytes of a tensor by its type."""
    *sizes, kind = text[len("tensor<"):-1].split("x")
    elements = 1
    for size in sizes:
        elements *= int(size)
    return elements * {"bf16": 2, "f32": 4, "i32": 4}[kind]


class Program:
    """A rank.attention of `rows` tokens and some heads, all of one sequence."""

    def __init__(self, rows, heads, head, value, kind="bf16", cap=0.0, sinks=False, documents=False, backward=False):
        self.ins, self.backward, self.kind = [], backward, kind
        self.q, self.k = tensor((1, rows, heads, 1, head), kind), tensor((1, rows, heads, head), kind)
        self.v, self.out = tensor((1, rows, heads, value), kind), tensor((1, rows, heads, 1, value), kind)
        self.lse, table = tensor((1, heads, 1, rows), "f32"), tensor((rows,), "i32")
        operands = self.add("d", self.out) if backward else ""
        first = len(self.ins)
        operands += self.add("q", self.q) + self.add("k", self.k) + self.add("v", self.v)
        if backward:
            operands += self.add("o", self.out) + self.add("l", self.lse)
        operands = operands[2:] + " positions" + (self.add("p", table) + self.add("r", table))[1:]
        if documents:
            operands += " documents" + (self.add("s", table) + self.add("t", table))[1:]
        if sinks and not backward:
            operands += " sinks" + self.add("u", tensor((heads, 1), "f32"))[1:]
        attributes = f"causal, scale = {head ** -0.5}" + (f", cap = {cap}" if cap else "") + ("" if documents else ", diagonal")
        self.outs = [self.q, self.k, self.v] if backward else [self.out, self.lse]
        name = "attention_backward" if backward else "attention"
        results = ", ".join(f"%{number}" for number in range(len(self.outs)))
        self.body = (f"    {results} = par.{name} {operands} {{{attributes}}} : ({self.types(self.ins)}) -> ({', '.join(self.outs)})\n"
                     f"    rank.yield {results} : {', '.join(self.outs)}")
        sizes = {"batch": 1, "q_rows": rows, "k_rows": rows, "kv_heads": heads, "group": 1, "head_dim": head, "value_dim": value}
        self.structure = f"type = {kind}, " + ", ".join(f"{key} = {value}" for key, value in sizes.items())
        places = [("q", first, head), ("k", first + 1, head), ("v", first + 2, value)]
        if backward:
            places += [("dq", 0, head), ("dk", 1, head), ("dv", 2, value)]
        for key, buffer, columns in places:
            self.structure += f", {key} = <buffer = {buffer}, stride = {heads * columns}>"

    def add(self, name, of):
        self.ins.append((name, of))
        return f", %{name}"

    @staticmethod
    def types(named):
        return ", ".join(of for _, of in named)

    def text(self, chip):
        outs = [(f"y{number}", of) for number, of in enumerate(self.outs)]

        def buffers(named):
            return ", ".join(f"!rank.buffer<{width(of)}>" for _, of in named)

        def names(named):
            return ", ".join("%b" + name for name, _ in named)
        parameters = ", ".join(f"%b{name}: !rank.buffer<{width(of)}>" for name, of in self.ins + outs)
        return (f"module attributes {{par.plan = #par.plan<target = \"cuda\", chip = \"{chip}\">}} {{\n"
                f"rank.func @f({parameters}) attributes {{frame = 0 : i64, results = {len(outs)} : i64}} {{\n"
                f"  rank.attention ins({names(self.ins)} : {buffers(self.ins)}) outs({names(outs)} : {buffers(outs)})\n"
                f"      attributes {{structure = #rank.attention<{self.structure}>}} {{\n"
                f"  ^bb0({', '.join(f'%{name}: {of}' for name, of in self.ins)}):\n{self.body}\n  }}\n  rank.return\n}}\n}}\n")


#: Of a sequence's tokens each document has an eighth (test/Unit/Target/RealRows.cpp).
DOCUMENTS = 8


def cases():
    """Name -> (sizes of a head, type, what it has, direction); the name's last word but one is the kind."""
    found = {}
    for kind in ("bf16", "f32"):
        for head, sizes in {**HEADS, **LATENT}.items():
            for name, more in KINDS.items():
                for direction in ("forward", "backward"):
                    if (name == "plain" or head in HEADS) and not (name == "sinks" and direction == "backward"):
                        found[f"{kind} {head} {name} {direction}"] = (sizes, kind, more, direction == "backward")
    return found


def write(folder, rows, heads, chip, names=None):
    """Files of programs, which real-rows takes, one for each case."""
    files = []
    for name, (sizes, kind, more, backward) in cases().items():
        if names is None or name in names:
            files.append(f"{folder}/{name}.mlir")
            with open(files[-1], "w", encoding="utf-8") as file:
                file.write(Program(rows, heads, *sizes, kind, backward=backward, **more).text(chip))
    return files


def count_pairs(name, rows):
    """Of queries and keys that see each other, of a head."""
    each = rows // DOCUMENTS if " documents " in name else rows
    return rows * (each + 1) / 2
