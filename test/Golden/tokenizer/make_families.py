#!/usr/bin/env python3
"""Make the tokenizers of families: the parts of their published tokenizer.json, learnt on licences.

    make_families.py FOLDER [CASE...]

Needs `tokenizers`. Writes FOLDER/<case>.json and FOLDER/<case>.ids.json as make.py does, and FOLDER/<case>.decoded.json:
[ids, text] for ids that no text gives, so that bytes are no characters. Vocabularies are small; normalizer, pre-tokenizer,
post-processor, decoder, flags of the model and the kinds of added tokens are those of Gemma 2 and 3, Qwen 3, OLMo 2 and 3,
SmolLM 3 and Phi 3.
"""
import json
import os
import random
import sys

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from make import BYTES, LICENCES, LLAMA3, MARK, QWEN2, assigned, case_of, texts, write

FILES = [os.path.join("/usr/share/common-licenses", name) for name in LICENCES]


def added(content, special=False, normalized=False, rstrip=False):
    return {"content": content, "single_word": False, "lstrip": False, "rstrip": rstrip, "normalized": normalized, "special": special}


def with_added(tokenizer, tokens, words=()):
    """Words that no merge makes, then added tokens: at the vocabulary's id where it has them, else behind it."""
    content = json.loads(tokenizer.to_str())
    vocabulary = content["model"]["vocab"]
    for word in words:
        vocabulary[word] = len(vocabulary)
    free = len(vocabulary)
    content["added_tokens"] = []
    for token in tokens:
        id = vocabulary.get(token["content"], free)
        free += id == free
        content["added_tokens"].append({"id": id, **token})
    content["added_tokens"].sort(key=lambda token: token["id"])
    return json.dumps(content, ensure_ascii=False)


def prefix(tokenizer, token):
    id = tokenizer.token_to_id(token)
    return processors.TemplateProcessing(single=[token, "$A"], special_tokens=[(token, id)])


def of_characters(special, size, words):
    """Characters, and bytes for what the vocabulary lacks. Learnt with words, so that merges keep to them."""
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=special + words + BYTES, limit_alphabet=90, show_progress=False)
    tokenizer.train(FILES, trainer)
    return tokenizer


def gemma():
    """No mark before a text. Runs of newlines, tabs and marks are added tokens that are not special, within the vocabulary; one lies
    behind it."""
    special = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "<start_of_turn>", "<end_of_turn>"]
    runs = ["\n" * n for n in range(2, 6)] + [MARK * n for n in range(2, 6)] + ["\t\t", "<h1>", "</h1>"]
    tokenizer = of_characters(special, 900, runs)
    tokenizer.normalizer = normalizers.Replace(" ", MARK)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.decoder = decoders.Sequence([decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.post_processor = prefix(tokenizer, "<bos>")
    behind = [added("<image_soft_token>", special=True)]
    return with_added(tokenizer, [added(token, special=True) for token in special] + [added(run) for run in runs] + behind)


def phi3():
    """As Llama 2, but blanks behind the marks of turns belong to them."""
    tokenizer = of_characters(["<unk>", "<s>", "</s>"], 620, [])
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend(MARK), normalizers.Replace(" ", MARK)])
    tokenizer.pre_tokenizer = None
    strip = decoders.Strip(" ", 1, 0)
    tokenizer.decoder = decoders.Sequence([decoders.Replace(MARK, " "), decoders.ByteFallback(), decoders.Fuse(), strip])
    tokenizer.post_processor = processors.TemplateProcessing(single=["$A"], special_tokens=[])
    turns = ["<|assistant|>", "<|placeholder1|>", "<|system|>", "<|end|>", "<|user|>"]
    tokens = [added("<unk>", True), added("<s>", True), added("</s>", rstrip=True), added("<|endoftext|>", True)]
    return with_added(tokenizer, tokens + [added(turn, True, rstrip=True) for turn in turns])


def of_bytes(pattern, behavior, invert=False, ignore_merges=False):
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    bytes_of = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), behavior, invert), bytes_of])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=640, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train(FILES, trainer)
    return tokenizer


def qwen3():
    tokenizer = of_bytes(QWEN2, "isolated")
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>"]
    plain = ["<tool_call>", "</tool_call>", "<|fim_prefix|>", "<tool_response>", "</tool_response>", "<think>", "</think>"]
    return with_added(tokenizer, [added(token, True) for token in special] + [added(token) for token in plain])


def olmo2():
    """GPT-4's words, written as what a split keeps."""
    tokenizer = of_bytes(LLAMA3, "removed", invert=True)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokens = [added("<|extra_id_0|>"), added("<|endoftext|>", True), added("<|fim_prefix|>", True), added("|||PHONE_NUMBER|||"), added("|||EMAIL_ADDRESS|||")]
    return with_added(tokenizer, tokens + [added(token, True) for token in ["<|im_start|>", "<|im_end|>", "<|pad|>"]] + [added("<functions>")])


def smollm3():
    tokenizer = of_bytes(LLAMA3, "isolated", ignore_merges=True)
    begin = "<|begin_of_text|>"
    special = [begin, "<|end_of_text|>", "<|im_start|>", "<|im_end|>"]
    plain = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<code>", "</code>"]
    text = with_added(tokenizer, [added(token, True) for token in special] + [added(token) for token in plain], ["\u0120licenzing", "zqzqz"])
    content = json.loads(text)
    template = prefix(Tokenizer.from_str(text), begin)
    whole = Tokenizer.from_str(text)
    whole.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), template])
    content["post_processor"] = json.loads(whole.to_str())["post_processor"]
    return json.dumps(content, ensure_ascii=False)


CHATS = [
    "<bos><start_of_turn>user\nWho are you?<end_of_turn>\n<start_of_turn>model\n  Me.\n\n\n<h1>x</h1>", "a" + MARK * 2 + "b" + MARK + " " + MARK * 7,
    "<|im_start|>user\n2+2?<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n4<|im_end|>\n", "<tool_call>\n{\"name\": \"f\"}\n</tool_call><tool_response>",
    "<|user|>\nHi<|end|>\n<|assistant|> \n \n Yes.<|end|>\n<|endoftext|>\n", "</s>  \n\nx</s>", "|||EMAIL_ADDRESS||| ||||PHONE_NUMBER||| <|extra_id_0|>",
    "<image_soft_token><unk><pad> <mask>", "<|begin_of_text|> licenzing zqzqz licenzingx", "<code>\nprint(1)\n</code>", "\n\n\n\n\n\n\n", "\t\t\t\tx", "12345678 1,234.5 \u0663\u0664\u0665\u0666 \u00bd\u2167",
    "I'LL don't WE'VE it\u2019s '\u017f", "def f(x):\n    return {\n        'a': [1, 2],\n    }\n\n\n# end  \n", "\u4f60\u597d\uff0c\u4e16\u754c\u3002 \u3053\u3093\u306b\u3061\u306f \uc548\ub155", "\U0001f468\u200d\U0001f469\u200d\U0001f467\U0001f3fd \u2764\ufe0f\u200d\U0001f525",
    "cafe\u0301 A\u030a\u0327 \u1e9b\u0323 \uac00\u11a8 \u0958 \u2126", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35 \u0928\u092e\u0938\u094d\u0924\u0947 \u0645\u0631\u062d\u0628\u0627", "\r\n\r\n a\r\nb\rc \r\n", "\x00\x07\x1b[0m\x7f\u0080\ufeff\ufffd", " lead", "trail ", "   a   b   ", "\u00a0\u2009\u3000 \u202f",
]


def family_texts(content):
    """Those of make.py without the longest, conversations, and pieces with the case's added tokens between them."""
    yield from (text for text in texts() if len(text) < 1000)
    yield from CHATS
    generator = random.Random(53)
    tokens = [token["content"] for token in content["added_tokens"]]
    kinds = [tokens, [" ", "  ", "\n", "\n\n", "\t", "\u00a0", MARK], ["the", " license", "a", "\u00e9", "e\u0301", "1", "42", ".", "'s", "\u4e16", "\U0001f600", "<", "|>"], assigned()]
    for _ in range(60):
        yield "".join(generator.choice(generator.choice(kinds)) for _ in range(generator.randint(1, 16)))


def keeps_characters(group):
    """Whether bytes are a text, or begin with no character: a decoder of single tokens has shown it when the next byte breaks it."""
    try:
        group.decode()
        return True
    except UnicodeDecodeError as error:
        return error.start == 0


def random_ids(tokenizer):
    """Ids that no text gives, and their text: bytes that are no character, parts of some, other tokens between them."""
    generator = random.Random(54)
    size = tokenizer.get_vocab_size()
    for _ in range(150):
        text = "".join(generator.choice("\u00e9\u0939\u4f60\U0001f600\U0010ffff\u07ffa ") for _ in range(generator.randint(1, 5)))
        whole = tokenizer.encode(text, add_special_tokens=False).ids
        ids = [id if generator.random() < 0.8 else generator.randrange(size) for id in whole if generator.random() < 0.9]
        groups = [b""]
        for token in map(tokenizer.id_to_token, ids):
            groups = [*groups[:-1], groups[-1] + bytes([int(token[3:5], 16)])] if token in BYTES else [*groups, b""]
        if all(keeps_characters(group) for group in groups):
            yield [ids, tokenizer.decode(ids, skip_special_tokens=False)]


CASES = {"gemma": gemma, "qwen3": qwen3, "olmo2": olmo2, "smollm3": smollm3, "phi3": phi3}


def main():
    folder = sys.argv[1]
    for name in sys.argv[2:] or CASES:
        text = CASES[name]()
        with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
            file.write(text + "\n")
        tokenizer = Tokenizer.from_str(text)
        loaded = json.loads(tokenizer.to_str())["added_tokens"]
        assert loaded == json.loads(text)["added_tokens"], name
        write(os.path.join(folder, name + ".ids.json"), [case_of(tokenizer, one) for one in family_texts(json.loads(text))])
        write(os.path.join(folder, name + ".decoded.json"), random_ids(tokenizer))


if __name__ == "__main__":
    main()
