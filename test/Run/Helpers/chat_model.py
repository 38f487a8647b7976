#!/usr/bin/env python3
"""A small model with a chat template, and conversations for it: chat_model.py GOLDEN FAMILY FOLDER

What is answered to the same question depends on what was said before. The lines of FOLDER/chats.jsonl are as long in one order
as in the other, so that both kinds of conversations begin a window.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Docs"))
import guide_model

TEMPLATE = """{% for m in messages %}{% if m.role == 'assistant' %}BEFORE{{ m.content | trim }}{{ END }}{% else %}\
{{ m.role[0] }}: {{ m.content }}
ASK{% endif %}{% endfor %}"""
PARTS = {
    "gpt2": {"BEFORE": " ", "END": "eos_token", "ASK": ""},
    "llama": {"BEFORE": " ", "END": "'<|end'", "ASK": ""},  # no end of texts that are no answers
    "mistral": {"BEFORE": "", "END": "eos_token", "ASK": "<s>"},
}
guide_model.TOKENIZERS["mistral"] = "llama2"  # finds its special tokens in any text
SYSTEM, WHO = {"role": "system", "content": "No."}, {"role": "user", "content": "Who?"}
LONG = [SYSTEM, WHO, {"role": "assistant", "content": "The people."}, WHO, {"role": "assistant", "content": "I said."}]
SHORT = [WHO, {"role": "assistant", "content": "Nobody."}]


def main():
    golden, family, folder = sys.argv[1:]
    template = TEMPLATE
    for part, text in PARTS[family].items():
        template = template.replace(part, text)
    guide_model.make_model(golden, family, f"{folder}/model")
    path = f"{folder}/model/tokenizer_config.json"
    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**config, "chat_template": template}, file)
    with open(f"{folder}/chats.jsonl", "w", encoding="utf-8") as file:
        for messages in (LONG, SHORT, SHORT, LONG):
            file.write(json.dumps({"messages": messages}) + "\n")
    with open(f"{folder}/asked.json", "w", encoding="utf-8") as file:
        json.dump(LONG[:-1], file)
    with open(f"{folder}/asked-object.json", "w", encoding="utf-8") as file:
        json.dump({"messages": LONG[:2]}, file)


if __name__ == "__main__":
    main()
