#!/usr/bin/env python3
"""A small Llama with the tokenizer and the chat template of a family, and conversations for it: family_chat.py GOLDEN FAMILY FOLDER

FAMILY is one of GOLDEN/chat/families.json. One of the answers begins with a letter that no vocabulary there has.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Docs"))
import guide_model

ANSWERS = {"Who?": "\u4f60.", "Why?": "So it is."}


def main():
    golden, name, folder = sys.argv[1:]
    with open(f"{golden}/chat/families.json", encoding="utf-8") as file:
        family = json.load(file)["families"][name]
    guide_model.TOKENIZERS["llama"], guide_model.ENDS["llama"] = family["tokenizer"], family["tokens"]["eos_token"]
    guide_model.make_model(golden, "llama", f"{folder}/model")
    with open(f"{folder}/model/tokenizer_config.json", "w", encoding="utf-8") as file:
        json.dump(family["tokens"], file)
    with open(f"{folder}/model/chat_template.jinja", "w", encoding="utf-8") as file:
        file.write(family["template"])
    with open(f"{folder}/chats.jsonl", "w", encoding="utf-8") as file:
        for question, answer in list(ANSWERS.items()) * 2:
            file.write(json.dumps({"messages": [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]}) + "\n")


if __name__ == "__main__":
    main()
