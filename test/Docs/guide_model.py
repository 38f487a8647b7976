"""A small Hugging Face folder with weights and a tokenizer that belong together.

Config and weights are those of a golden case, which Transformers wrote; what the vocabulary of the tokenizer has more than the
case's are rows that repeat the case's, each time turned by one place, so that no two are alike and no number is rounded.
"""
import array
import json
import os
import shutil
import struct

#: The tokenizer of a family, and its end of text.
TOKENIZERS = {"gpt2": "gpt2", "llama": "llama3", "mistral": "mistral", "qwen2": "qwen2", "qwen3": "qwen3", "gemma2": "gemma", "gemma3": "gemma",
              "olmo2": "olmo2", "olmo3": "olmo2", "smollm3": "smollm3", "phi3": "phi3"}
ENDS = {"gpt2": "<|endoftext|>", "llama": "<|end_of_text|>", "mistral": "</s>", "qwen2": "<|endoftext|>", "qwen3": "<|endoftext|>", "gemma2": "<eos>",
        "gemma3": "<eos>", "olmo2": "<|endoftext|>", "olmo3": "<|endoftext|>", "smollm3": "<|end_of_text|>", "phi3": "<|endoftext|>"}
TABLES = ("wte.weight", "embed_tokens.weight", "lm_head.weight")


def read_safetensors(path):
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack("<Q", content[:8])
    tensors = {}
    for name, entry in json.loads(content[8 : 8 + length]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            tensors[name] = (entry["shape"], array.array("f", content[8 + length + begin : 8 + length + end]))
    return tensors


def write_safetensors(path, tensors):
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, (shape, values) in tensors.items():
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + 4 * len(values)]}
        at += 4 * len(values)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(values.tobytes() for _, values in tensors.values()))


def lengthen(shape, values, rows):
    count, width = shape
    longer = array.array("f")
    for row in range(rows):
        source, turn = values[row % count * width : (row % count + 1) * width], row // count % width
        longer += source[turn:] + source[:turn]
    return [rows, width], longer


def make_model(golden, family, folder):
    os.makedirs(folder)
    with open(f"{golden}/tokenizer/{TOKENIZERS[family]}.json", encoding="utf-8") as file:
        tokenizer = json.load(file)
    ids = dict(tokenizer["model"]["vocab"], **{token["content"]: token["id"] for token in tokenizer["added_tokens"]})
    size, end = max(ids.values()) + 1, ENDS[family]
    with open(f"{golden}/{family}/config.json", encoding="utf-8") as file:
        config = json.load(file)
    begin = next((ids[token] for token in ("<|begin_of_text|>", "<s>") if token in ids), ids[end])
    config.update(vocab_size=size, bos_token_id=begin, eos_token_id=ids[end])
    tensors = {name: lengthen(*tensor, size) if name.endswith(TABLES) else tensor
               for name, tensor in read_safetensors(f"{golden}/{family}/model.safetensors").items()}
    write_safetensors(f"{folder}/model.safetensors", tensors)
    shutil.copy(f"{golden}/tokenizer/{TOKENIZERS[family]}.json", f"{folder}/tokenizer.json")
    for name, content in [("config", config), ("tokenizer_config", {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": end})]:
        with open(f"{folder}/{name}.json", "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1)
