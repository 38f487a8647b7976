#!/usr/bin/env python3
"""Copy a safetensors file with one tensor there under a second name, too.

    copy_tensor.py GOOD COPY NAME SECOND_NAME [--change ELEMENT]      ELEMENT of the second one has another value
"""
import argparse
import json
import struct


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("good")
    parser.add_argument("copy")
    parser.add_argument("name")
    parser.add_argument("second")
    parser.add_argument("--change", type=int)
    args = parser.parse_args()
    with open(args.good, "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        header, data = json.loads(file.read(length)), file.read()
    entry = dict(header[args.name])
    begin, end = entry["data_offsets"]
    values = bytearray(data[begin:end])
    if args.change is not None:
        (value,) = struct.unpack_from("<f", values, 4 * args.change)
        struct.pack_into("<f", values, 4 * args.change, value + 1)
    entry["data_offsets"] = [len(data), len(data) + len(values)]
    header[args.second] = entry
    text = json.dumps(header).encode()
    with open(args.copy, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data + values)


main()
