#!/usr/bin/env python3
"""A graph whose layers return a loss of their own beside what they pass on: router_layers.py LAYERS > graph.mlir"""
import sys

WIDTH, ROWS, SEQ, VOCAB = 64, 4, 16, 97
X = f"tensor<{ROWS}x{SEQ}x{WIDTH}xf32>"
WEIGHT, TABLE, IDS = f"tensor<{WIDTH}x{WIDTH}xf32>", f"tensor<{VOCAB}x{WIDTH}xf32>", f"tensor<{ROWS}x{SEQ}xi32>"
LOSSES = f"tensor<{ROWS}x{SEQ}xf32>"


def main():
    layers = int(sys.argv[1])
    print(f"module attributes {{par.model = {{model_type = \"example\", vocab = {VOCAB} : i64}}}} {{")
    names = ["table"] + [f"layers.{i}" for i in range(layers)]
    for name in names:
        print(f'  par.variable @{name} : {TABLE if name == "table" else WEIGHT} dims ["", ""] {{role = #par.role<parameter>, file = #par.file<"{name}">, '
              "init = #par.init<normal, 0.1>}")
    print(f"""  func.func private @layer(%x: {X}, %w: {WEIGHT}) -> ({X}, tensor<f32>) {{
    %y = par.einsum "bse,me->bsm"(%x, %w) : ({X}, {WEIGHT}) -> {X}
    %a = math.tanh %y : {X}
    %squares = arith.mulf %a, %a : {X}
    %loss = par.reduce sum %squares dims [0, 1, 2] : {X} -> tensor<f32>
    return %a, %loss : {X}, tensor<f32>
  }}
  func.func @forward(%tokens: {IDS} {{par.place = #par.place<input tokens>, par.dims = ["batch", "seq"]}}, %targets: {IDS} {{par.place = #par.place<input targets>,
      par.dims = ["batch", "seq"]}}, """ + ", ".join(f'%{name.replace(".", "_")}: {TABLE if name == "table" else WEIGHT} {{par.place = #par.place<variable @{name}>}}' for name in names) + """)
      -> (tensor<f32> {par.place = #par.place<output loss>}) attributes {par.phase = #par.phase<forward, chunk = 0>} {""")
    print(f"    %x0 = par.embedding %tokens, %table : ({IDS}, {TABLE}) -> {X}")
    for i in range(layers):
        x = f"%x{i}" if i == 0 else f"%r{i}#0"
        print(f"    %r{i + 1}:2 = par.call @layer({x}, %layers_{i}) : ({X}, {WEIGHT}) -> ({X}, tensor<f32>)")
    print(f"""    %logits = par.einsum "bse,ve->bsv"(%r{layers}#0, %table) : ({X}, {TABLE}) -> tensor<{ROWS}x{SEQ}x{VOCAB}xf32>
    %losses, %lse = par.cross_entropy %logits, %targets {{classes = {VOCAB} : i64}} : (tensor<{ROWS}x{SEQ}x{VOCAB}xf32>, {IDS}) -> ({LOSSES}, {LOSSES})
    %t0 = par.reduce sum %losses dims [0, 1] : {LOSSES} -> tensor<f32>""")
    for i in range(layers):
        print(f"    %t{i + 1} = arith.addf %t{i}, %r{i + 1}#1 : tensor<f32>")
    print(f"    return %t{layers} : tensor<f32>\n  }}\n}}")


if __name__ == "__main__":
    main()
