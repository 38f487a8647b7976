"""messages.py FOLDER TOKENIZER MODEL: files that hold what a terminal obeys, or a value without end, in every place that a message quotes.

Each command fails with lines of at most some 2,000 characters without a control character."""
import copy
import json
import os
import re
import struct
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
ESCAPES, LONG = "\x1b]0;x\x07\u009b31m\u202e", "x" * 100000
# What acts on a terminal, and what is no UTF-8.
BAD = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\udc80-\udcff]")


def write(path, text):
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text if isinstance(text, str) else json.dumps(text, ensure_ascii=False))


def write_safetensors(path, header):
    text = json.dumps(header, ensure_ascii=False).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + bytes(8))


def make_cases(tokenizer, model):
    """(name, command) with the files that it reads, of every reader."""
    for number, value in enumerate([ESCAPES, LONG, ESCAPES + LONG, "a " * 2000 + ESCAPES]):
        changed = copy.deepcopy(tokenizer)
        changed["model"]["type"] = value
        write(f"type{number}.json", changed)
        changed = copy.deepcopy(tokenizer)
        changed["pre_tokenizer"] = {"type": value}
        write(f"pre{number}.json", changed)
        write(f"config{number}.json", {**model, "model_type": value})
        write(f"act{number}.json", {**model, "hidden_act": value})
        write(f"key{number}.json", {**model, "x" + value: [value]})
        write(f"cluster{number}.json", {"version": 1, value: 2})
        with open(os.path.join(ROOT, "examples/clusters/cpu.json"), encoding="utf-8") as file:
            write(f"named{number}.json", {**json.load(file), "name": value})
        write(f"plan{number}.json", {"version": 1, "model": value, value: value})
        write(f"run{number}.toml", f'lr = "{value[:70000]}"'.replace("\x1b", "\\u001b").replace("\x07", "\\u0007").replace("\x9b", "\\u009b"))
        write(f"graph{number}.mlir", f'module {{ "{json.dumps(value)[1:-1]}" = 1 }}')
        write_safetensors(f"w{number}.safetensors", {value: {"dtype": value, "shape": list(range(1000)), "data_offsets": [0, 8]}})
        write_safetensors(f"s{number}.safetensors", {"a": {"dtype": "F32", "shape": list(range(1, 1000)), "data_offsets": [0, 8]}})
        os.makedirs(f"chat{number}", exist_ok=True)
        write(f"chat{number}/tokenizer.json", tokenizer)
        write(f"chat{number}/tokenizer_config.json", {"chat_template": "{{ raise_exception(" + json.dumps(value[:60000]) + ") }}"})
        write(f"chat{number}.jsonl", json.dumps({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}) + "\n")
        write(f"role{number}.jsonl", json.dumps({"messages": [{"role": value, "content": 1}]}) + "\n")
        for file in (f"type{number}.json", f"pre{number}.json"):
            yield ["par-data", "text.txt", "--tokenizer", file, "-o", "x.bin"]
        for file in (f"config{number}.json", f"act{number}.json", f"key{number}.json", f"graph{number}.mlir"):
            yield ["par-compile", file, "-o", "x.par"]
        yield ["par-compile", "model.json", "--plan", f"plan{number}.json", "-o", "x.par"]
        yield ["par-plan", "model.json", "--cluster", f"cluster{number}.json", "--ranks", "2"]
        yield ["par-plan", "model.json", "--cluster", f"named{number}.json", "--ranks", "2"]
        yield ["par-run", "one.par", "--steps", "1", "--data", "random", "--config", f"run{number}.toml"]
        for file in (f"w{number}.safetensors", f"s{number}.safetensors"):
            yield ["par-run", "one.par", "--steps", "1", "--data", "random", "--weights", file]
        yield ["par-data", f"chat{number}.jsonl", "--chat", "--tokenizer", f"chat{number}", "-o", "x.bin"]
        yield ["par-data", f"role{number}.jsonl", "--chat", "--tokenizer", f"chat{number}", "-o", "x.bin"]
        run = ["par-run", "one.par", "--steps", "1"]
        yield run + ["--data", value]
        for words in (["--lr", value], ["--resume", value], ["--" + value]):
            yield run + ["--data", "random", *words]
        if number != 1:  # its line is shown as a compiler shows lines
            write(f"raw{number}.mlir", f"module {{}} // {value}")
            yield ["par-opt", f"raw{number}.mlir"]
        if number:  # as a name the first is one
            yield ["par-compile", "model.json", "-o", value]
        yield ["par-compile", "model.json", "-o", "x.par", "--mesh", value]
        yield ["par-compile", value]
        yield ["par-import", "model.json", "--set", value]


def check(command):
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    text = done.stderr.decode("utf-8", errors="surrogateescape")
    problem = ""
    if done.returncode != 1 or "error: " not in text:
        problem = f"code {done.returncode}, {text[:300]!r}"
    elif BAD.search(text):
        problem = f"{BAD.search(text)} in {text[:300]!r}"
    elif any(len(line) > 2100 for line in text.splitlines()):
        problem = f"a line of {max(map(len, text.splitlines()))} characters: {text[:300]!r}"
    return f"{[word[:40] for word in command]}: {problem}" if problem else "", text


def explain():
    """What a report says of a graph whose names a terminal would obey."""
    with open(os.path.join(ROOT, "test/Run/Plans/column-row-parallel.mlir"), encoding="utf-8") as file:
        text = re.sub(r"@up(?![\w.])", r'@"u\\1B]0;x\\07p"', file.read())
    write("named.mlir", text)
    done = subprocess.run(["par-compile", "named.mlir", "--mesh", "dp=2,tp=2", "--explain", "--dry-run"], capture_output=True, text=True, check=False)
    if done.returncode or BAD.search(done.stdout):
        return f"code {done.returncode}, {BAD.search(done.stdout)}: {done.stderr[:200]}"
    return next(line for line in done.stdout.splitlines() if "u\\x1b" in line)


def main():
    folder, tokenizer, model = sys.argv[1:]
    os.chdir(folder)
    with open(tokenizer, encoding="utf-8") as file:
        tokenizer = json.load(file)
    with open(model, encoding="utf-8") as file:
        model = json.load(file)
    write("model.json", model)
    write("tokenizer.json", tokenizer)
    write("text.txt", "some text\n")
    subprocess.run(["par-compile", "model.json", "--seq", "8", "--batch", "2", "-o", "one.par"], check=True, capture_output=True)
    problems, shown, cut = [], "", ""
    for command in make_cases(tokenizer, model):
        try:
            problem, text = check(command)
        except OSError:  # the system takes no such argument
            continue
        problems += [problem] if problem else []
        shown = text if "\\x1b]0;x\\x07" in text and "type0" in text else shown
        cut = text if "type1" in text else cut
    print("\n".join(problems) or "every message is one line that a terminal shows")
    print("shown:", shown.strip())
    print("cut:", cut.strip())
    print("explained:", explain())
    raw = ESCAPES + "\n" + "y" * 300
    write("raw.txt", raw)
    subprocess.run(["par-data", "raw.txt", "--tokenizer", "tokenizer.json", "-o", "raw.bin"], check=True, capture_output=True)
    text = subprocess.run(["par-data", "--decode", "raw.bin", "--tokenizer", "tokenizer.json"], check=True, capture_output=True).stdout
    print("decoded:", "the same bytes" if raw.encode() in text else text[:100])


main()
