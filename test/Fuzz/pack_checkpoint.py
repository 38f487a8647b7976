#!/usr/bin/env python3
"""pack_checkpoint.py FOLDER: prints a checkpoint as one input of FuzzCheckpointFolder."""
import json
import os
import sys

folder = sys.argv[1]
files = {}
for name in sorted(os.listdir(folder)):
    with open(os.path.join(folder, name), "rb") as file:
        files[name] = file.read()
checkpoint = json.loads(files.pop("checkpoint.json"))
print(json.dumps({"repair": True, "checkpoint": checkpoint, "files": {name: data.hex() for name, data in files.items()}}, separators=(",", ":")))
