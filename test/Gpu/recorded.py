#!/usr/bin/env python3
"""Every kind of product in packages for GPUs is one that cuBLASLt has computed on a GPU.

    recorded.py PACKAGE..

`records/products-*.json` are what runs on GPUs have kept of measured products (runtime/core/WayCache.h). A kind is what
a product is beside its sizes: types, transposes, what it adds to, and its epilogue. Names those that were never run;
exit 1 if there are any.
"""
import glob
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
KEY = re.compile(r"\d+ of \d+ x \d+ x \d+ A(\^T)? \S+ B(\^T)? \S+ C \d+,\d+( \+ beta D| \+ D)?, (\w+) to (\w+), (\w+)")
ADDS = {None: "none", " + beta D": "value", " + D": "one"}


def kinds_recorded():
    kinds = set()
    for path in glob.glob(os.path.join(HERE, "records", "products-*.json")):
        with open(path, encoding="utf-8") as file:
            for key in json.load(file)["products"]:
                a, b, adds, source, result, epilogue = KEY.match(key).groups()
                kinds.add((bool(a), bool(b), ADDS[adds], source, result, epilogue))
    return kinds


def kinds_of(package):
    with open(os.path.join(package, "manifest.json"), encoding="utf-8") as file:
        programs = json.load(file)["programs"]
    return {(product["transpose_a"], product["transpose_b"], product["beta"], product["type"], product["result"],
             product.get("epilogue", "none")) for program in programs for product in program["products"]}


def main():
    recorded, missing, count = kinds_recorded(), 0, 0
    for package in sys.argv[1:]:
        kinds = kinds_of(package)
        count += len(kinds)
        for kind in sorted(kinds - recorded):
            missing += 1
            print(f"{package}: never computed on a GPU: A{'^T' * kind[0]} B{'^T' * kind[1]}, beta {kind[2]}, "
                  f"{kind[3]} to {kind[4]}, epilogue {kind[5]}")
    print(f"{count} kinds of products, {missing} without a record")
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
