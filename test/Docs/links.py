#!/usr/bin/env python3
"""Are the files there that pages of documentation link to, and is README.md as short as it promises?

    links.py ROOT
"""
import os
import re
import sys

README_LINES = 150


def pages(root):
    yield from (os.path.join(root, name) for name in sorted(os.listdir(root)) if name.endswith(".md"))
    for folder in ("docs", "examples", "test/Mutants", "test/Fuzz"):
        for place, _, names in os.walk(os.path.join(root, folder)):
            yield from (os.path.join(place, name) for name in sorted(names) if name.endswith(".md"))


def main():
    root, count, broken = sys.argv[1], 0, []
    for page in pages(root):
        with open(page, encoding="utf-8") as file:
            text = re.sub(r"```.*?```", "", file.read(), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            target = target.split("#")[0]
            if not target or "://" in target:
                continue
            count += 1
            if not os.path.exists(os.path.join(os.path.dirname(page), target)):
                broken.append(f"{os.path.relpath(page, root)}: {target}")
    with open(os.path.join(root, "README.md"), encoding="utf-8") as file:
        if len(file.readlines()) >= README_LINES:
            broken.append(f"README.md: {README_LINES} lines or more")
    print("\n".join([f"{count} links, {len(broken)} broken"] + broken))


main()
