"""Safetensors files with tensors of any type that an input has."""
import array
import json
import struct


def _bf16(value):
    return struct.unpack("<I", struct.pack("<f", value))[0] >> 16  # of values that bf16 holds


FORMATS = {"F32": "f", "F64": "d", "I32": "i", "I64": "q", "BOOL": "B", "BF16": "H"}


def write_tensors(path, tensors):
    """`tensors`: name -> (type as in the file, shape, numbers in row-major order)."""
    header, body = {}, b""
    for name, (dtype, shape, values) in tensors.items():
        data = array.array(FORMATS[dtype], [_bf16(value) for value in values] if dtype == "BF16" else values).tobytes()
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    with open(path, "wb") as file:  # the data need not be aligned
        file.write(struct.pack("<Q", len(text)) + text + body)
