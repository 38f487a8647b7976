#!/usr/bin/env python3
"""Make variants.json: three steps of SGD of the golden models under keys that their configs do not have.

    make_variants.py FOLDER_OF_CASES > variants.json

Needs torch, transformers and safetensors. Weights and tokens are those of the case; all is computed in f64, with the
keys as Transformers understands them.
"""
import json
import sys

import numpy
import torch
from safetensors.torch import load_file
from transformers import AutoConfig, AutoModelForCausalLM

from make import SGD, STEPS, train

# The most frequent token of each case's data stands for padding.
VARIANTS = [
    ("gpt2", {"scale_attn_by_inverse_layer_idx": True}),
    ("gpt2", {"scale_attn_weights": False}),
    ("gpt2", {"scale_attn_weights": False, "scale_attn_by_inverse_layer_idx": True, "reorder_and_upcast_attn": True}),
    ("gpt2", {"pad_token_id": "frequent"}),
    ("llama", {"pad_token_id": "frequent"}),
    ("llama", {"pad_token_id": "frequent", "tie_word_embeddings": True}),
    ("llama", {"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}, "pretraining_tp": 2, "rms_norm_eps": 0.0}),
    ("mistral", {"pad_token_id": "frequent, from the end"}),
    ("olmo", {"tie_word_embeddings": True}),
    ("qwen2", {"pad_token_id": "frequent"}),
]


def make(folder, case, keys):
    config = AutoConfig.from_pretrained(f"{folder}/{case}")
    golden = json.load(open(f"{folder}/{case}/golden.json"))
    seq, batch = golden["seq"], golden["batch"]
    tokens = numpy.fromfile(f"{folder}/{case}/tokens.bin", dtype=numpy.uint16).astype(numpy.int64)
    windows = torch.from_numpy(tokens).reshape(STEPS, batch, seq + 1)
    frequent = int(numpy.bincount(tokens).argmax())
    if "pad_token_id" in keys:
        keys = {**keys, "pad_token_id": frequent - config.vocab_size if "end" in keys["pad_token_id"] else frequent}
    values = json.load(open(f"{folder}/{case}/config.json"))
    values.update(keys)
    config = type(config).from_dict(values)
    state = load_file(f"{folder}/{case}/model.safetensors")
    if keys.get("tie_word_embeddings"):
        del state["lm_head.weight"]

    def build():
        torch.set_default_dtype(torch.float64)
        model = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa").double().eval()
        missing, extra = model.load_state_dict({name: value.double() for name, value in state.items()}, strict=False)
        assert not extra and set(missing) <= {"lm_head.weight"}, (missing, extra)
        model.tie_weights()
        return model

    steps, _ = train(build, windows, "sgd", SGD)
    return {"case": case, "keys": keys, "steps": steps}


def main():
    folder = sys.argv[1]
    print("[\n" + ",\n".join(" " + json.dumps(make(folder, case, keys)) for case, keys in VARIANTS) + "\n]")


main()
