"""Writes inputs of FuzzChatLine: chat_lines.py CASES FOLDER

Each template of test/Golden/chat/cases.json with one of its conversations, and lines of every other kind for some templates.
"""
import json
import os
import sys

LINES = [
    {"messages": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "x", "weight": 0}, {"role": "assistant", "content": "y"}]},
    {"messages": [{"role": "user", "content": [{"type": "text", "text": "Q"}]}, {"role": "assistant", "content": None,
     "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}]}], "tools": []},
    {"messages": [{"role": "assistant", "reasoning_content": "r", "content": "x"}], "chat_template_kwargs": {"enable_thinking": False}},
    {"prompt": "a", "completion": "b"},
    {"conversations": [{"from": "human", "value": "Q"}, {"from": "gpt", "value": "x"}], "system": "s"},
    {"instruction": "I", "input": "J", "output": "x"},
]
MARKED = "{% for m in messages %}{{ m.role }}{% generation %}{{ m.content }}{% endgeneration %}\n{% endfor %}{% if add_generation_prompt %}assistant{% endif %}"
LAST = "{% for m in messages %}{{ m.role ~ ': ' ~ m.content }}{% if loop.last %}!{% endif %}{% endfor %}"


def main(cases, folder):
    os.makedirs(folder, exist_ok=True)
    with open(cases, encoding="utf-8") as file:
        pairs = {case["template"]: {"messages": case["messages"]} for case in json.load(file)}
    inputs = [("m", template, line) for template, line in sorted(pairs.items())]
    for template in ["", MARKED, LAST]:
        inputs += [("s" if "conversations" in line else "a" if "instruction" in line else "m", template, line) for line in LINES]
    for number, (kind, template, line) in enumerate(inputs):
        with open(f"{folder}/{number}", "wb") as file:
            file.write((kind + template + "\0" + json.dumps(line)).encode())


main(*sys.argv[1:])
