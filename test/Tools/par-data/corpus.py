#!/usr/bin/env python3
"""par-data's ids of the corpus are those of Hugging Face's tokenizers: corpus.py GOLDEN FOLDER

What they are was recorded by test/Golden/tokenizer/make.py: per tokenizer and text the number of ids, their hash, and whether
they give the text again there. (They may here and not there: an added token that is spelt with é is no UTF-8 when it comes back.)
"""
import array
import json
import subprocess
import sys


def hash_of(ids):
    """FNV-1a, 64 bits, of the ids as little-endian 32-bit words, as make.py computes it."""
    value = 0xCBF29CE484222325
    for byte in b"".join(id.to_bytes(4, "little") for id in ids):
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def read(path):
    with open(path, "rb") as file:
        return file.read()


def encode(tokenizer, path, folder):
    """What the record has of a text."""
    out, back = f"{folder}/ids.bin", f"{folder}/back.txt"
    subprocess.run(["par-data", path, "--tokenizer", tokenizer, "-o", out], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["par-data", "--tokenizer", tokenizer, "--decode", out, "-o", back], check=True, stdout=subprocess.DEVNULL)
    ids = array.array("H", read(out))
    return [len(ids), hash_of(ids), read(back) == read(path)]


def main(golden, folder):
    recorded = json.loads(read(f"{golden}/tokenizer/corpus.ids.json"))
    for tokenizer, texts in recorded.items():
        for name, expected in texts.items():
            actual = encode(f"{golden}/tokenizer/{tokenizer}.json", f"{golden}/corpus/{name}", folder)
            if actual[:2] != expected[:2] or actual[2] < expected[2]:
                sys.exit(f"error: {tokenizer}, {name}: {actual}, expected {expected}")
    print(f"{len(recorded)} tokenizers agree")


if __name__ == "__main__":
    main(*sys.argv[1:])
