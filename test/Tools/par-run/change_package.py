#!/usr/bin/env python3
"""Copy a package with some text of its manifest replaced, under a fingerprint that is right again.

    change_package.py GOOD.par CHANGED.par OLD NEW
"""
import hashlib
import re
import shutil
import sys


def main():
    source, target, old, new = sys.argv[1:]
    shutil.copytree(source, target)
    path = f"{target}/manifest.json"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text.count(old) < 1:
        sys.exit(f"{path}: has no {old}")
    zeros = "0" * 64
    text = re.sub(r'"fingerprint":"[0-9a-f]{64}"', f'"fingerprint":"{zeros}"', text.replace(old, new, 1))
    text = text.replace(zeros, hashlib.sha256(text.encode()).hexdigest(), 1)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
