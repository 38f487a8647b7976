"""Tensors of f32 files, and how far two of them are apart. Nothing but Python's own library."""
import array
import json
import math
import struct


def read(path):
    """name -> array of floats."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header, body = json.loads(file.read(length)), file.read()
    header.pop("__metadata__", None)
    return {name: array.array("f", body[slice(*entry["data_offsets"])]) for name, entry in header.items()}


def norm(values):
    return math.sqrt(sum(v * v for v in values))


def worst(actual, expected):
    """(difference of the worst tensor by the norm of all, its name)."""
    if set(actual) != set(expected):
        return math.inf, "tensors differ: " + ", ".join(sorted(set(actual) ^ set(expected))[:4])
    whole = norm([norm(values) for values in expected.values()])
    found = 0.0, ""
    for name, values in actual.items():
        apart = norm([a - b for a, b in zip(values, expected[name])]) / whole
        if not apart <= found[0]:  # NaN, too
            found = apart, name
    return found
