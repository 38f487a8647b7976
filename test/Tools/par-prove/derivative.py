#!/usr/bin/env python3
"""Forward and backward functions of models under plans are derivatives of their graphs, and with a fault they are not:
derivative.py INPUTS FOLDER"""
import os
import re
import sys

from proving import compile_to, prove

PLANS = [("llama-odd", "--mesh dp=2 --zero 3 --zero3-gather per-step"), ("gpt2-odd", "--mesh pp=2,dp=2 --micro-batches 2 --schedule zb-h1"),
         ("gemma2-odd", "--mesh tp=2 --recompute full --dtype bf16"), ("olmo2-odd", "--mesh dp=2 --recompute selective"),
         ("smollm3-odd", "--mesh pp=2 --micro-batches 4 --schedule gpipe"), ("gemma3-odd", "--mesh dp=2 --freeze model.layers.0.*")]


def replace(pattern, by):
    return lambda text: re.sub(pattern, by, text, count=1)


def swap_results(text):
    """Two results of one type change places."""
    line = re.search(r"return (.*?) : (.*)", text)
    values, types = line[1].split(", "), re.findall(r"tensor<\w+>", line[2])
    first, second = [number for number, kind in enumerate(types) if kind == "tensor<48xf32>"][:2]
    values[first], values[second] = values[second], values[first]
    return text.replace(line[1], ", ".join(values))


def take_residual_of_other_layer(text):
    first, second = re.findall(r"call @block.backward\((.*?)\)", text)
    values, others = first.split(", "), second.split(", ")
    values[10] = others[10]
    return text.replace(first, ", ".join(values))


def take_other_weight(text):
    first, second = re.findall(r'"bsm,me->bse"\(%\w+, (%\w+)\)', text)
    return re.sub(rf'("bsm,me->bse"\(%\w+, ){first}\)', rf"\g<1>{second})", text, count=1)


# The name of a fault, the function that has it, and what makes it.
FAULTS = [("the cotangent of a residual is dropped", "block.backward", replace(r"addf %arg\d+, %dx ", "addf %dx, %dx ")),
          ("a derivative has the wrong sign", "block.backward", replace(r"subf (%\w+), (%\w+)", r"subf \2, \1")),
          ("a gradient is not added up", "block.backward", replace(r"addf (%\w+), %dweight ", r"addf \1, \1 ")),
          ("beta is taken for what was there", "block.backward", replace(r"mulf (%\w+), (%arg\d+) (.*tensor<48xf32>)", r"mulf \1, \1 \3")),
          ("a product reads another weight", "block.backward", take_other_weight),
          ("accumulators are swapped", "backward", swap_results),
          ("a residual is another layer's", "backward", take_residual_of_other_layer),
          ("a tied use counts what was there again", "backward", replace(r"dense<1.0+e\+00>", "dense<2.0>")),
          ("the loss counts twice", "forward", replace(r"addf %\w+, (%\w+#0) ", r"addf \1, \1 ")),
          ("a layer takes away what it adds", "block.forward", replace("arith.addf", "arith.subf"))]


def plant(text, function, fault):
    """The module with a fault in a function."""
    begin = re.search(rf"func.func (private )?@{re.escape(function)}\(", text).start()
    end = text.index("\n  }\n", begin)
    changed = fault(text[begin:end])
    if changed == text[begin:end]:
        raise SystemExit(f"@{function} has nothing to plant the fault in")
    return text[:begin] + changed + text[end:]


def main(inputs, folder):
    graph, step, edited = (os.path.join(folder, f"{name}.mlir") for name in ("graph", "step", "edited"))
    proved = 0
    for model, plan in PLANS:
        compile_to("import", f"{inputs}/{model}.json", plan, graph)
        compile_to("differentiate", f"{inputs}/{model}.json", plan, step)
        status, line = prove(graph, step)
        proved += not status
        if status:
            print(f"error: {model} {plan}: {line}")
    print(f"{proved} steps are derivatives")
    compile_to("import", f"{inputs}/llama-odd.json", "--mesh dp=2", graph)
    compile_to("differentiate", f"{inputs}/llama-odd.json", "--mesh dp=2", step)
    with open(step, encoding="utf-8") as file:
        text = file.read()
    refused = 0
    for name, function, fault in FAULTS:
        with open(edited, "w", encoding="utf-8") as file:
            file.write(plant(text, function, fault))
        status, line = prove(graph, edited)
        refused += status == 1 and "par-prove: " in line
        if status != 1 or "par-prove: " not in line:
            print(f"{name}: exit {status}, {line}")
    print(f"{refused} of {len(FAULTS)} faults are refused")


main(*sys.argv[1:])
