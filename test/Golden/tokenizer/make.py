#!/usr/bin/env python3
"""Make the tokenizer cases: small byte-level BPE tokenizers and what Hugging Face's `tokenizers` encodes with them.

    make.py FOLDER

Needs `tokenizers`. Trains on Debian's licence texts and writes, per case, FOLDER/<case>.json (a tokenizer.json) and
FOLDER/<case>.ids.json: a list of [text, ids] for the texts below, among them random Unicode.
"""
import json
import os
import random
import sys
import unicodedata

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
LICENCES = ["BSD", "Apache-2.0", "Artistic", "MPL-1.1"]
END = "<|endoftext|>"


def byte_level(use_regex):
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=use_regex)


def split(pattern):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), behavior="isolated"), byte_level(False)])


def gpt2():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = byte_level(True)
    return tokenizer, [AddedToken(END, special=True)], {}


def llama3():
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    tokenizer.pre_tokenizer = split(LLAMA3)
    begin = "<|begin_of_text|>"
    added = [AddedToken(begin, special=True), AddedToken("<|end_of_text|>", special=True), AddedToken("<|end", special=True)]
    return tokenizer, added, {"begin": begin, "words": ["\u0120licenzing", "zqzqz"]}


def qwen2():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = split(QWEN2)
    return tokenizer, [AddedToken(END, special=True), AddedToken("caf\u00e9", normalized=True)], {}


def digits():
    """What small models of Hugging Face use: single digits, then GPT-2's words; a prefix space; merges as in old files."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), byte_level(True)])
    return tokenizer, [AddedToken(END, special=True)], {"old_merges": True}


def prefix():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    return tokenizer, [AddedToken(END, special=True)], {}


def train(make, size):
    tokenizer, added, options = make()
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train([os.path.join("/usr/share/common-licenses", name) for name in LICENCES], trainer)
    if "words" in options:  # that no merge makes: only ignore_merges gives them
        content = json.loads(tokenizer.to_str())
        for word in options["words"]:
            content["model"]["vocab"][word] = len(content["model"]["vocab"])
        tokenizer = Tokenizer.from_str(json.dumps(content))
    tokenizer.add_tokens(added)
    if "begin" in options:
        begin = options["begin"]
        template = processors.TemplateProcessing(single=[begin, "$A"], special_tokens=[(begin, tokenizer.token_to_id(begin))])
        tokenizer.post_processor = processors.Sequence([processors.ByteLevel(), template])
    content = json.loads(tokenizer.to_str())
    if "old_merges" in options:
        content["model"]["merges"] = [" ".join(pair) for pair in content["model"]["merges"]]
    text = json.dumps(content, ensure_ascii=False)
    return text, Tokenizer.from_str(text)


def assigned():
    """Characters whose properties have been stable for years, so that versions of Unicode do not matter."""
    return [chr(c) for c in range(0x30000) if unicodedata.ucd_3_2_0.category(chr(c))[0] not in "C" or c in (9, 10, 13)]


def texts():
    yield from ["", " ", "  ", "\n", "a", "Hello, world!", "  two  spaces  ", "tab\tand\r\nline\n\n\nends \n \n x", "don't DON'T I'LL we've 'S '\u017f"]
    yield from ["1 12 123 1234567 3.14 \u00bd \u2167 \u0663\u0664", "x" * 300, "ab" * 100 + "c" * 77, " " * 100 + "x", "\n" * 50, "\u3000\u00a0\u2003 x"]
    yield from ["\u180e a\u180eb", "na\u00efve cafe\u0301 caf\u00e9 \u1e9b\u0323 A\u030a\u212b", "\uac00\u1100\u1161\u11a8 \u4f60\u597d\uff0c\u4e16\u754c", "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f"]
    yield from ["before<|endoftext|>after", "<|endoftext|><|endoftext|> x", "<|end_of_text|><|end|><|endo", " <|begin_of_text|> <|endoftext |>"]
    yield from [" licenzing zqzqz licenzingx", "the licensor and the licensee, WHEREAS; copyright \u00a9 (c) 2004-2026", "\x00\x01\x7f\u0085\u2028\u2029", "\ufeffBOM", "e\u0301" * 40, "\u0301\u0301start", "q\u0323\u0307 q\u0307\u0323"]
    with open("/usr/share/common-licenses/LGPL-2.1") as file:
        yield file.read()[:6000]
    generator = random.Random(7)
    everything = assigned()
    marks = [c for c in everything if unicodedata.combining(c)]
    for _ in range(60):
        yield "".join(generator.choice(everything) for _ in range(generator.randint(1, 40)))
    for _ in range(40):
        yield "".join(generator.choice(generator.choice([everything, marks, "aeo AEO", " \n\r\t", "'stm019.,-"])) for _ in range(generator.randint(1, 60)))


def main():
    folder = sys.argv[1]
    for name, make, size in [("gpt2", gpt2, 640), ("llama3", llama3, 600), ("qwen2", qwen2, 560), ("digits", digits, 420), ("prefix", prefix, 360)]:
        text, tokenizer = train(make, size)
        with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
            file.write(text + "\n")
        cases = [[t, tokenizer.encode(t, add_special_tokens=False).ids] for t in texts()]
        with open(os.path.join(folder, name + ".ids.json"), "w", encoding="utf-8") as file:
            file.write("[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]\n")


main()
