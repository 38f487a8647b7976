#!/usr/bin/env python3
"""Make FOLDER/added.json: what Hugging Face's `tokenizers` encodes where added tokens say `lstrip`, `rstrip` or `single_word`.

    make_added.py FOLDER

Needs `tokenizers`. A list of [case, added tokens, [[text, ids], ...]]: the tokenizer is FOLDER/<case>.json with these added
tokens behind its own. Contents, attributes and texts are drawn by a fixed seed.
"""
import json
import random
import sys

from tokenizers import Tokenizer

CASES = ["gpt2", "qwen2", "llama2", "mistral", "tinyllama", "metaspace", "gemma", "phi3"]
CONTENTS = ["<m>", "<mm>", "<m", "the", "ab", "é", "x x", "1", "\n"]
PIECES = ["a", "b", "<m>", "<mm>", " ", "  ", "\n", "\u00a0", "\u3000", "é", "e\u0301", "1", "_", ".", "\u200d", "\u24b6", "<m", "m>", "the", "x", "<"]


def draw(generator, base):
    content = json.loads(json.dumps(base))
    names = Tokenizer.from_str(json.dumps(base)).get_vocab()
    added = []
    for name in generator.sample(CONTENTS, 3):
        token = {"id": names.get(name, len(names)), "content": name}
        token.update({key: generator.random() < 0.4 for key in ("single_word", "lstrip", "rstrip")})
        token.update({"normalized": generator.random() < 0.5, "special": generator.random() < 0.3})
        names[name] = token["id"]
        added.append(token)
    content["added_tokens"] += added
    return added, Tokenizer.from_str(json.dumps(content))


def main(folder):
    generator, cases = random.Random(47), []
    for case in CASES:
        with open(f"{folder}/{case}.json", encoding="utf-8") as file:
            base = json.load(file)
        for _ in range(12):
            added, tokenizer = draw(generator, base)
            texts = ["".join(generator.choices(PIECES, k=generator.randint(1, 12))) for _ in range(12)]
            cases.append([case, added, [[text, tokenizer.encode(text, add_special_tokens=False).ids] for text in texts]])
    with open(f"{folder}/added.json", "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
