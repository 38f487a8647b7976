"""check_manifest.py BEFORE.json DIR.par: what par-emulate made of the manifest."""
import hashlib
import json
import os
import sys

before = json.load(open(sys.argv[1]))
path = os.path.join(sys.argv[2], "manifest.json")
text = open(path, "rb").read()
after = json.loads(text)

for name, digest in after["files"].items():
    assert hashlib.sha256(open(os.path.join(sys.argv[2], name), "rb").read()).hexdigest() == digest, name
assert set(after["files"]) == set(before["files"]) | {"program0.emulated.so"}
zeros = text.replace(after["fingerprint"].encode(), b"0" * 64)
assert hashlib.sha256(zeros).hexdigest() == after["fingerprint"]
for manifest in (before, after):
    del manifest["files"], manifest["fingerprint"]
assert before == after
print("all files as they are listed, fingerprint right, nothing else changed")
