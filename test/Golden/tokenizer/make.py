#!/usr/bin/env python3
"""Make the tokenizer cases: small BPE tokenizers and what Hugging Face's `tokenizers` encodes with them.

    make.py FOLDER [CASE...]

Needs `tokenizers`. Trains on Debian's licence texts and writes, per case, FOLDER/<case>.json (a tokenizer.json) and
FOLDER/<case>.ids.json: a list of [text, ids] for the texts below, among them random Unicode, or of [text, ids, back] where
the ids are decoded to another text. Cases with marks for spaces (Llama 2 and its relatives) also have FOLDER/<case>.many.json:
for each of the 1,000 texts of FOLDER/many.json the number of ids and their FNV-1a hash, and whether decoding gives the text.
FOLDER/corpus.ids.json has the same of every text of FOLDER/../corpus.

    make.py FOLDER --corpus          only corpus.ids.json, by the tokenizers that are there
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


MARK = "\u2581"
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def marked(normalizer, pre_tokenizer, normalized):
    """As Llama 2's: characters, and bytes for what the vocabulary lacks. Learnt with words, so that merges keep to them."""
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    added = [AddedToken(content, special=True, normalized=normalized) for content in ["<unk>", "<s>", "</s>"]]
    return tokenizer, added, {"marks": (normalizer, pre_tokenizer)}


def llama2():
    return marked(normalizers.Sequence([normalizers.Prepend(MARK), normalizers.Replace(" ", MARK)]), None, False)


def mistral():
    """As llama2, but its added tokens are looked for in the normalized text."""
    return marked(normalizers.Sequence([normalizers.Prepend(MARK), normalizers.Replace(" ", MARK)]), None, True)


def tinyllama():
    """The newer form, in which only the beginning of a text gets a mark."""
    return marked(None, pre_tokenizers.Metaspace(prepend_scheme="first", split=False), False)


def metaspace():
    """Words are split, and every piece gets a mark."""
    return marked(None, pre_tokenizers.Metaspace(prepend_scheme="always", split=True), False)


def crossing():
    """A merge joins the end of a word and the next mark, so that texts are one word."""
    tokenizer, added, options = llama2()
    return tokenizer, added, {**options, "crossing": ["e", MARK + "t"]}


def train_marked(make, size):
    tokenizer, added, options = make()
    special = ["<unk>", "<s>", "</s>"]
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=special + BYTES, limit_alphabet=90, show_progress=False)
    tokenizer.train([os.path.join("/usr/share/common-licenses", name) for name in LICENCES], trainer)
    tokenizer.normalizer, tokenizer.pre_tokenizer = options["marks"]
    tokenizer.decoder = decoders.Sequence([decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    begin = "<s>"
    tokenizer.post_processor = processors.TemplateProcessing(single=[begin, "$A"], special_tokens=[(begin, 1)])
    content = json.loads(tokenizer.to_str())
    content["added_tokens"] = [
        {"id": id, "content": token.content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": token.normalized, "special": True}
        for id, token in enumerate(added)
    ]
    if "crossing" in options:
        pair = options["crossing"]
        content["model"]["vocab"]["".join(pair)] = len(content["model"]["vocab"])
        merges = content["model"]["merges"]
        merges.insert(merges.index([MARK, "t"]) + 1, pair)
    text = json.dumps(content, ensure_ascii=False)
    return text, Tokenizer.from_str(text)


def train(make, size):
    tokenizer, added, options = make()
    if "marks" in options:
        return train_marked(make, size)
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


def many():
    """1,000 random texts, among them added tokens, marks and words of the vocabulary."""
    generator = random.Random(11)
    everything = assigned()
    kinds = [everything, "aeo AEO thlicense", " \n\r\t", "'stm019.,-", MARK + "  ", ["<s>", "</s>", " <unk>", "<0x41>"], [" the", "license ", "of ", " \u00e9"]]
    for _ in range(1000):
        yield "".join(generator.choice(generator.choice(kinds)) for _ in range(generator.randint(1, 24)))


def case_of(tokenizer, text):
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    back = tokenizer.decode(ids, skip_special_tokens=False)
    return [text, ids] if back == text else [text, ids, back]


def hash_of(ids):
    """FNV-1a, 64 bits, of the ids as little-endian 32-bit words."""
    value = 0xCBF29CE484222325
    for byte in b"".join(id.to_bytes(4, "little") for id in ids):
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def write(path, items):
    with open(path, "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(item, separators=(",", ":")) for item in items) + "\n]\n")


def write_many(folder, name, tokenizer):
    texts = list(many())
    with open(os.path.join(folder, "many.json"), "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(text, ensure_ascii=False) for text in texts) + "\n]\n")
    results = []
    for text in texts:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        results.append([len(ids), hash_of(ids), tokenizer.decode(ids, skip_special_tokens=False) == text])
    write(os.path.join(folder, name + ".many.json"), results)


def write_corpus(folder):
    corpus, results = os.path.join(folder, "../corpus"), {}
    for name, _, _ in CASES:
        tokenizer = Tokenizer.from_file(os.path.join(folder, name + ".json"))
        results[name] = {}
        for text in sorted(os.listdir(corpus)):
            with open(os.path.join(corpus, text), encoding="utf-8", newline="") as file:
                content = file.read()
            ids = tokenizer.encode(content, add_special_tokens=False).ids
            results[name][text] = [len(ids), hash_of(ids), tokenizer.decode(ids, skip_special_tokens=False) == content]
    with open(os.path.join(folder, "corpus.ids.json"), "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(texts)}" for name, texts in results.items()) + "\n}\n")


CASES = [
    ("gpt2", gpt2, 640), ("llama3", llama3, 600), ("qwen2", qwen2, 560), ("digits", digits, 420), ("prefix", prefix, 360),
    ("llama2", llama2, 620), ("mistral", mistral, 620), ("tinyllama", tinyllama, 500), ("metaspace", metaspace, 500), ("crossing", crossing, 620),
]


def main():
    folder = sys.argv[1]
    if sys.argv[2:] == ["--corpus"]:
        return write_corpus(folder)
    for name, make, size in CASES:
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        text, tokenizer = train(make, size)
        with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
            file.write(text + "\n")
        cases = [case_of(tokenizer, one) for one in texts()]
        write(os.path.join(folder, name + ".ids.json"), cases)
        if json.loads(text)["model"]["byte_fallback"]:
            write_many(folder, name, tokenizer)
    write_corpus(folder)


if __name__ == "__main__":
    main()
