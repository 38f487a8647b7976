#!/usr/bin/env python3
"""A kernel of COUNT sums over the rows of as many matrices: many_columns.py COUNT"""
import sys

count = int(sys.argv[1])
INPUT, OUTPUT, MATRIX, SUM = "!rank.buffer<2048>", "!rank.buffer<128>", "tensor<16x32xf32>", "tensor<32xf32>"


def names(letter, kind=""):
    return ", ".join(f"%{letter}{number}{kind}" for number in range(count))


def types(kind):
    return ", ".join([kind] * count)


print('module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {')
print(f"rank.func @f({names('x', ': ' + INPUT)}, {names('y', ': ' + OUTPUT)}) attributes {{frame = 0 : i64, results = {count} : i64}} {{")
print(f"  rank.kernel ins({names('x')} : {types(INPUT)}) outs({names('y')} : {types(OUTPUT)}) {{")
print(f"  ^bb0({names('a', ': ' + MATRIX)}):")
for number in range(count):
    print(f"    %s{number} = par.reduce sum %a{number} dims [0] : {MATRIX} -> {SUM}")
print(f"    rank.yield {names('s')} : {types(SUM)}\n  }}\n  rank.return\n}}\n}}")
