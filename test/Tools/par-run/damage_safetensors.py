#!/usr/bin/env python3
"""Write damaged copies of a safetensors file: FOLDER/<damage>.safetensors.

    damage_safetensors.py GOOD.safetensors TENSOR FOLDER

TENSOR, an f32 vector of 8, is the one whose header entry is wrong.
"""
import json
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8:8 + length]), data[8 + length:]


def join(header, body, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + body


def main():
    source, tensor, folder = sys.argv[1:]
    header, body = read(source)
    without = {name: entry for name, entry in header.items() if name != tensor}

    def changed(**entries):
        return join({**header, tensor: {**header[tensor], **entries}}, body)

    begin = header[tensor]["data_offsets"][0]
    files = {
        "truncated": join(header, body)[:-4],
        "stub": b"\x10\0\0\0",
        "long-header": join(header, body, length=1 << 40),
        "endless-header": join(header, body, length=(1 << 64) - 1),
        "no-json": join(b"{" * 40, body),
        "shape": changed(shape=[2, 4]),
        "negative": changed(shape=[-8]),
        "dtype": changed(dtype="I32"),
        "unknown-dtype": changed(dtype="F7"),
        "offsets": changed(data_offsets=[0, 4]),
        "overlap": changed(data_offsets=[0, 32]),
        "beyond": changed(data_offsets=[len(body), len(body) + 32]),
        "missing": join({**without, "model.rotary_emb.inv_freq": header[tensor]}, body),
        "trailing": join(header, body) + bytes(4),
        "gap": join(without, body),
        "twice": join(json.dumps(header).encode()[:-1] + b", " + json.dumps({tensor: header[tensor]}).encode()[1:], body),
        "metadata": join({**header, "__metadata__": {"format": 1}}, body),
        "nan": join(header, body[:begin + 12] + struct.pack("<f", float("nan")) + body[begin + 16:]),
        "foreign": join({**header, "model.other.weight": {**header[tensor], "data_offsets": [len(body), len(body) + 32]}}, body + bytes(32)),
    }
    for damage, data in files.items():
        with open(f"{folder}/{damage}.safetensors", "wb") as file:
            file.write(data)


if __name__ == "__main__":
    main()
