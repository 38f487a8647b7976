"""Writes the templates of test/Golden/chat/cases.json as files: split_templates.py CASES FOLDER"""
import json
import os
import sys

cases, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
with open(cases, encoding="utf-8") as file:
    templates = sorted({case["template"] for case in json.load(file)})
for number, template in enumerate(templates):
    with open(f"{folder}/{number}", "w", encoding="utf-8") as file:
        file.write(template)
