#!/usr/bin/env python3
"""Programs into which a fault is written are refused: edits.py INPUTS FOLDER

Each fault is one that a pass could make; nothing is executed.
"""
import os
import re
import sys

from proving import make, prove

PLANS = {"data": "--mesh dp=2", "zero": "--mesh dp=2,tp=2 --zero 1", "sp": "--mesh tp=3 --sequence-parallel", "gathered": "--mesh dp=2,tp=2 --zero 3"}


def find(lines, function, pattern):
    """Number of the first line in that function, of a rank's program, that has the pattern."""
    inside = False
    for number, line in enumerate(lines):
        if "func.func" in line:
            inside = re.search(rf"@{re.escape(function)}\(", line) is not None
        elif inside and re.search(pattern, line):
            return number
    raise SystemExit(f"@{function} has no line with {pattern}")


def rename(lines, first, old, new):
    """Uses of a value behind a line, up to the end of its function."""
    for number in range(first, len(lines)):
        if lines[number].startswith("  }"):
            return
        lines[number] = re.sub(re.escape(old) + r"(?![\w#:])", new, lines[number])


def leave_out(operand):
    """Instead of the op's result its operand of that number is used."""
    def edit(lines, at):
        result, rest = lines[at].split(" = ", 1)
        rename(lines, at + 1, result.strip(), re.findall(r"%[\w#]+", rest)[operand])
    return edit


def replace(old, new):
    def edit(lines, at):
        assert old in lines[at], lines[at]
        lines[at] = lines[at].replace(old, new)
    return edit


def swap(first, second):
    """Two operands of one type change places, by number."""
    def edit(lines, at):
        head, tail = lines[at].split("return ", 1) if "return " in lines[at] else lines[at].split(" = ", 1)
        names = re.findall(r"%[\w#]+", tail)
        marks = {names[first]: names[second], names[second]: names[first]}
        joint = "return " if "return " in lines[at] else " = "
        lines[at] = head + joint + re.sub(r"%[\w#]+", lambda name: marks.get(name[0], name[0]), tail)
    return edit


def copy_operand(source, target):
    def edit(lines, at):
        head, tail = lines[at].split(" = ", 1)
        names = re.findall(r"%[\w#]+", tail)
        lines[at] = head + " = " + tail.replace(names[target], names[source])
    return edit


def rename_phase():
    """The function becomes a layer that nobody calls."""
    def edit(lines, at):
        while "func.func" not in lines[at]:
            at -= 1
        lines[at] = re.sub(r", par\.phase = #par\.phase<[^>]*>|par\.phase = #par\.phase<[^>]*>, ", "", lines[at])
    return edit


def remove_offset():
    def edit(lines, at):
        lines[at] = re.sub(r" offset %\w+", "", lines[at]).replace(", tensor<i32>)", ")")
    return edit


# Fault, model and plan ("zero" where none is named), function, line, edit, what the message says.
FAULTS = [
    ("a reduction is missing", "llama-odd", "block.forward", 'all_reduce  sum over \\["tp"\\]', leave_out(0), 'addf reads operand 0 as a sum that is pending over "tp"'),
    ("a reduction is over another axis", "llama-odd", "block.forward", 'all_reduce  sum over \\["tp"\\]', replace('["tp"]', '["dp"]'),
     'all_reduce adds up over "dp" what is no sum pending over it'),
    ("a gradient is added up over the wrong replicas", "llama-odd", "reduce", "reduce_scatter over", replace('["dp"]', '["tp"]'),
     'reduce_scatter adds up over "tp" what is no sum pending over it'),
    ("a shard's offset is wrong", "llama-odd", "embed.forward", "dense<130> : tensor<i32>", replace("130", "129"), "embedding has an offset that is not that of its shard"),
    ("a vocabulary's offset is that of another axis", "llama-odd", "head.forward", 'axis_index "tp"', replace('"tp"', '"dp"'), "cross_entropy_shard has an offset that is not"),
    ("a shard's maximum is that of other ranks", "llama-odd", "head.forward", "all_reduce  max", replace('["tp"]', '["dp"]'), "all_reduce "),
    ("padding is written", "gpt2-odd", "backward", "arith.select .*tensor<3x12x60xf32>", leave_out(1), "is written with padding along dimension 0 that may hold anything"),
    ("a mask ends one too late", "gpt2-odd", "backward", "dense<5> : tensor<3x12x60xi32>", replace("<5>", "<6>"),
     "is written with padding along dimension 0 that may hold anything"),
    ("a mask ends one too early", "gpt2-odd", "backward", "dense<5> : tensor<3x12x60xi32>", replace("<5>", "<4>"), "is not what one device computes"),
    ("dropout counts from the shard", "gpt2-odd", "embed.forward", "dense<4> : tensor<i32>", replace("<4>", "<3>"),
     "dropout has offsets that are not those of its shard along dimension 0"),
    ("a cotangent is dropped", "llama-odd", "block.backward", "arith.addf %\\d+, %\\d+ : tensor<4x16x48xf32>", leave_out(0), "is not what one device computes"),
    ("a cotangent is counted twice", "llama-odd", "block.backward", "arith.addf %\\d+, %\\d+ : tensor<4x16x48xf32>", copy_operand(0, 1), "is not what one device computes"),
    ("accumulators are swapped", "llama-odd", "block.backward", "return ", swap(4, 6), "is not what one device computes"),
    ("moments are swapped", "gpt2-odd", "update", "par.adamw", swap(2, 3), "par.adamw is the first op whose result it has not"),
    ("a saved value is another layer's", "llama-odd", "backward", "par.call @block.backward", swap(10, 18), "is not what one device computes"),
    ("a norm reads another weight", "gemma3-odd", "block.forward", "par.rms_norm %\\S+, %arg\\d+ .*tensor<4x16x48xf32>", replace("%arg1 ", "%arg8 "),
     "par.rms_norm is the first op whose result it has not"),
    ("heads are normalised by a rank's own sum", "olmo2-odd", "block.forward", "all_reduce  sum", leave_out(0), "pending over"),
    ("a clip is by another number", "gpt2-odd", "update", "arith.minimumf", leave_out(0), "is not what one device computes"),
    ("a product is a sum", "llama-odd", "block.forward", "arith.mulf", replace("arith.mulf", "arith.addf"), "arith.addf is the first op whose result it has not"),
    ("a class is left out", "llama-odd data", "head.forward", "par.cross_entropy ", replace("classes = 259", "classes = 258"), "is not what one device computes"),
    ("keys are counted from a shard", "gpt2-odd", "block.forward", "par.concat", copy_operand(0, 4), "has offsets that are not those of its shard along dimension 4"),
    ("an update is left out", "llama-odd", "update", "return ", rename_phase(), "no function of the program does what @update of the reference does"),
    ("padding is added up", "gpt2-odd sp", "block.backward", "arith.select .*tensor<8x6x60xf32>", leave_out(1), "adds up padding of operand"),
    ("rows are cut over another axis", "llama-odd", "update", "all_slice over", replace('["dp"]', '["tp"]'), 'adamw reads operand 1 cut over "dp" along factor a, which is cut over "tp"'),
    ("blocks are joined over the major axis", "llama-odd gathered", "forward", "all_gather over", replace('["dp"]', '["tp"]'), 'joins blocks of dimension 0 over "tp"'),
    ("classes are counted with padding", "llama-odd", "head.forward", "cross_entropy_shard", replace("classes = 259", "classes = 260"), "counts 260 classes"),
    ("a shard of a table is taken for the whole", "llama-odd", "embed.forward", "par.embedding", remove_offset(), "in a shard of a table"),
]


def main(inputs, folder):
    made, refused = {}, 0
    for fault, name, function, pattern, edit, message in FAULTS:
        if name not in made:
            model, plan, *_ = [*name.split(), "zero"]
            reference, program = make(f"{inputs}/{model}.json", PLANS[plan], folder)
            kept = f"{reference}.{len(made)}"
            os.rename(reference, kept)
            with open(program, encoding="utf-8") as file:
                made[name] = kept, file.read().split("\n")
        reference, lines = made[name][0], list(made[name][1])
        edit(lines, find(lines, function, pattern))
        with open(f"{folder}/edited.mlir", "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        status, line = prove(reference, f"{folder}/edited.mlir")
        good = status == 1 and "par-prove: " in line and message in line
        refused += good
        if not good or "-v" in sys.argv:
            print(f"{fault}: exit {status}, {line}")
    print(f"{refused} of {len(FAULTS)} faults are refused")


main(*[word for word in sys.argv[1:] if word != "-v"])
