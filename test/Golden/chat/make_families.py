#!/usr/bin/env python3
"""Make families.json: what Transformers' apply_chat_template makes of conversations with the templates of families.py.

    make_families.py FOLDER

Needs `transformers` (families.json: 5.24). The file has `families`: per name template, tokenizer and special tokens;
`texts`: [name, messages, tools, settings, whether an answer is asked for, text, answers], where the text is null if the
template refuses, dates are `@FORMAT@`, and answers are the bytes in {% generation %}; and `masks`: [name, messages, ids, mask],
a letter of the mask for each id, 1 where it is of an answer.
"""
import json
import os
import random
import sys

import transformers
from transformers.utils import chat_template_utils

from families import FAMILIES

USER, ANSWER, SYSTEM, TOOL = ({"role": role} for role in ("user", "assistant", "system", "tool"))
ONE = [{**USER, "content": " Who? \u00e9\u2028\n"}]
TWO = [{**USER, "content": "Who makes laws?"}, {**ANSWER, "content": "  The people. \n"}, {**USER, "content": "Why?"}, {**ANSWER, "content": "They do."}]
CONVERSATIONS = [
    ONE,
    TWO,
    [{**SYSTEM, "content": "Be brief. /no_think "}, {**USER, "content": "Who?"}, {**ANSWER, "content": "\n\nMe."}],
    [{**SYSTEM, "content": "Mine. /system_override "}, {**USER, "content": "\u00a0Who?"}, {**ANSWER, "content": "Me."}, {**USER, "content": "And?"}],
    [{**USER, "content": "a"}, {**USER, "content": "b"}],
    [{**SYSTEM, "content": "s"}],
    [{**USER, "content": "a"}, {**ANSWER, "content": "<think>\nb\n</think>\n\nc"}, {**USER, "content": "<tool_response>d</tool_response>"}, {**ANSWER, "content": "<think>e</think>f"}],
    [{**USER, "content": "a"}, {**ANSWER, "content": "c", "reasoning_content": "\nwhy\n"}, {**USER, "content": "d"}, {**ANSWER, "content": "f", "thinking": "so"}],
    [{**USER, "content": "a"}, {**ANSWER, "content": "c", "reasoning": "because"}],
    [{**SYSTEM, "content": [{"type": "text", "text": "sys "}]}, {**USER, "content": [{"type": "text", "text": " a"}, {"type": "text", "text": "b "}]}],
    [{**SYSTEM, "content": "s", "functions": "[f]"}, {**USER, "content": "u"}, {**ANSWER, "content": None, "function_calls": "f()"}, {"role": "environment", "content": "r"}, {**ANSWER, "content": "x"}],
]
PARAMETERS = {"type": "object", "properties": {"x": {"type": ["string", "null"], "description": "it's \u00e9"}}, "required": ["x"]}
TOOLS = [{"type": "function", "function": {"name": "f", "description": 'Does "it".', "parameters": PARAMETERS}}]
CALLS = [
    {**USER, "content": "a"},
    {**ANSWER, "content": "", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {"x": "1", "n": [2, True, None]}}}]},
    {**TOOL, "content": "42"}, {**TOOL, "content": "43"}, {**ANSWER, "content": "It is 42."},
]
NUMBERS = [{"name": "f", "numbers": [0.1, 1.0, -0.0, 0.5, 1e-4, 1e-5, 1.25e-7, 123456789.123, 1e15, 1e16, 1.5e17, 5e-324, 48.8566, 2**53 + 2.0, 1 / 3]}]
JOBS = [(messages, None, None, asks) for messages in CONVERSATIONS for asks in (False, True)]
JOBS += [(CALLS, TOOLS, None, False), (ONE, NUMBERS, None, False), (CALLS[:-1], TOOLS, {"enable_thinking": False}, True), (ONE, None, {"enable_thinking": False}, True), (TWO, None, {"enable_thinking": False}, False), (ONE, None, {"python_tools": ["def f(): pass"]}, True)]
PIECES = ["the law", " is ", "\u4f60\u597d", "\u00e9", "e\u0301", "<think>\n", "</think>\n\n", "1", "\U0001f600", "\n", "x", "  ", "."]


class Dates:
    """Today as its format."""
    @classmethod
    def now(cls):
        return cls()

    def strftime(self, format):
        return f"@{format}@"


def bytes_before(text, place):
    return len(text[:place].encode())


def text_of(name, messages, tools, settings, asks):
    template, _, tokens = FAMILIES[name]
    try:
        texts, answers = chat_template_utils.render_jinja_template(
            [messages], tools=tools, chat_template=template, return_assistant_tokens_mask=True, add_generation_prompt=asks, **tokens, **(settings or {}))
    except Exception:  # whatever Python has
        return [name, messages, tools, settings, asks, None, []]
    return [name, messages, tools, settings, asks, texts[0], [[bytes_before(texts[0], place) for place in span] for span in answers[0]]]


def mask_of(name, tokenizer, messages):
    given = tokenizer.apply_chat_template(messages, chat_template=FAMILIES[name][0], return_assistant_tokens_mask=True, return_dict=True)
    return [name, messages, given["input_ids"], "".join(map(str, given["assistant_masks"]))]


def masks(folder):
    generator = random.Random(55)
    say = lambda: "".join(generator.choices(PIECES, k=generator.randint(1, 6)))
    for name, (template, tokenizer, tokens) in FAMILIES.items():
        if "generation" not in template.replace("add_generation_prompt", "") or "strftime_now" in template:
            continue
        fast = transformers.PreTrainedTokenizerFast(tokenizer_file=os.path.join(folder, "../tokenizer", tokenizer + ".json"), **tokens)
        for turns in [1, 2] * 8:
            yield mask_of(name, fast, [{**role, "content": say()} for _ in range(turns) for role in (USER, ANSWER)])


def lines(items):
    return "[\n" + ",\n".join(json.dumps(item, ensure_ascii=False) for item in items) + "\n]"


def main(folder):
    chat_template_utils.datetime = Dates
    families = {name: {"template": template, "tokenizer": tokenizer, "tokens": tokens} for name, (template, tokenizer, tokens) in FAMILIES.items()}
    texts = [text_of(name, *job) for name in FAMILIES for job in JOBS]
    with open(os.path.join(folder, "families.json"), "w", encoding="utf-8") as file:
        file.write(f'{{"families": {json.dumps(families, ensure_ascii=False, indent=0)},\n"texts": {lines(texts)},\n"masks": {lines(masks(folder))}}}\n')


if __name__ == "__main__":
    main(*sys.argv[1:])
