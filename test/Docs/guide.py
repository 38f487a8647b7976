#!/usr/bin/env python3
"""Runs the commands of docs/Guide.md on a small model: guide.py PAGE GOLDEN FAMILY FOLDER [--record]

The blocks of the page that are shell commands run in their order in FOLDER, with what SMALLER says in place of sizes that
fit a real model. A block behind `<!-- guide: stopped and run again -->` is stopped by SIGINT while it trains and then run
again. What Transformers gives for the same model is in guide.json: --record runs the Python blocks, too, and writes it there
(it needs torch and transformers; no test does it).
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from guide_model import make_model

SMALLER = {
    "~/models/Llama-3.2-1B": "model", "--seq 1024": "--seq 32", "--batch 16": "--batch 8", "--lr 2e-5": "--lr 1e-2", "--epochs 3": "--epochs 12",
    "--warmup-steps 20": "--warmup-steps 3", "--eval-every 50": "--eval-every 4", "--checkpoint-every 50": "--checkpoint-every 5",
    "--tokens 40": "--tokens 8", "seq = 1024": "seq = 32", "max_new_tokens=40": "max_new_tokens=8",
}
RECORDED = os.path.join(HERE, "guide.json")
BLOCK = re.compile(r"(<!-- guide: stopped and run again -->\n\n)?```(sh|python)\n(.*?)```\n", re.S)
STOPPED_AT = 12  # lines of the log


def expect(condition, what):
    if not condition:
        sys.exit(f"error: {what}")


def lines(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file.read().split("\n")[:-1]]


#: Flags that change nothing of a package or a run.
SHOWING = {"--config", "--dry-run", "--emulate-kernels", "--emulate-link", "--explain", "--from", "--help", "--proof", "--report", "--save-ir", "--timeline", "--to", "--version"}


class Guide:
    def __init__(self, page, folder):
        with open(page, encoding="utf-8") as file:
            self.text = file.read()
        self.folder, self.prelude, self.python, self.generated = folder, "", "", ""
        for large in SMALLER:
            expect(large in self.text, f"{page} does not say {large}; let SMALLER follow it")

    def blocks(self):
        """(is it stopped, language, commands)"""
        for match in BLOCK.finditer(self.text):
            commands = match[3]
            for large, small in SMALLER.items():
                commands = commands.replace(large, small)
            yield bool(match[1]), match[2], commands

    def shell(self, commands):
        return ["bash", "-euc", self.prelude + commands]

    def run(self, commands):
        done = subprocess.run(self.shell(commands), cwd=self.folder, capture_output=True, check=False)
        text = (done.stdout + done.stderr).decode(errors="replace")
        expect(done.returncode == 0, f"exit {done.returncode} of\n{commands}{text}")
        return done.stdout.decode(errors="replace")

    def stop(self, commands):
        """Runs it with delays until its log has some lines; what was computed is the same."""
        slow = dict(os.environ, PAR_TEST_DELAY="10000,7")
        with subprocess.Popen(self.shell(commands), cwd=self.folder, env=slow, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as job:
            log = os.path.join(self.folder, "log.jsonl")
            while job.poll() is None and len(lines(log)) < STOPPED_AT:
                time.sleep(0.02)
            if job.poll() is None:
                os.killpg(job.pid, signal.SIGINT)
            text = job.communicate(timeout=60)[0].decode(errors="replace")
        expect(job.returncode == 1 and "--resume" in text, f"exit {job.returncode} of what was stopped:\n{text}")

    def follow(self, runs_python):
        kinds = set()
        for is_stopped, language, commands in self.blocks():
            kinds.add((is_stopped, language))
            if language == "python":
                self.python += commands
            elif commands.startswith("export "):
                self.prelude += commands
            else:
                if commands.startswith("mpirun ") and not shutil.which("mpirun"):
                    continue
                if is_stopped:
                    self.stop(commands)
                printed = self.run(commands)
                if commands.startswith("mpirun "):
                    expect("transport mpi: " in printed and "step 5/5" in printed, f"mpirun started no ranks:\n{printed}")
                if commands.startswith("par-generate"):
                    self.generated = printed.rstrip("\n")
        expect(kinds == {(False, "sh"), (True, "sh"), (False, "python")}, f"the page has other blocks: {kinds}")
        return self.transformers() if runs_python else None

    def transformers(self):
        """What the Python blocks print for the model of the beginning and for the exported one."""
        results = {}
        for key, folder in [("before", "model"), ("after", "tuned")]:
            words = [sys.executable, "-c", self.python.replace('"tuned"', f'"{folder}"')]
            loss, text = subprocess.run(words, cwd=self.folder, stdout=subprocess.PIPE, text=True, check=True).stdout.rstrip("\n").split("\n", 1)
            results[key] = float(loss)
        prompt = re.search(r'--prompt "(.*?)"', self.text)[1]
        return {**results, "text": text[text.index(prompt):]}

    def check_flags(self):
        """The lists at the end name all flags of the tools that they say, but for those that only show something."""
        section = self.text.split("## What is compiled in")[1]
        for tool, part in zip(("par-compile", "par-run"), section.split("These are flags of `par-run`")):
            listed = "\n".join(re.findall(r"^(?:- |  ).*$", part, re.M))
            known = subprocess.run([tool, "--help"], capture_output=True, text=True, check=True).stdout
            flags = re.findall(r"`(--[\w-]+)`", listed)
            unknown = [flag for flag in flags if not re.search(rf"{flag}\b(?!-)", known)]
            expect(len(flags) > 10 and not unknown, f"{tool} has no {unknown}")
            missing = set(re.findall(r"^  (?:-\w,)?(--[a-z][\w-]*)", known, re.M)) - set(flags) - SHOWING
            expect(not missing, f"the page names no {sorted(missing)} of {tool}")


def is_near(value, expected, tolerance):
    return abs(value - expected) <= tolerance * abs(expected)


def check(guide, expected):
    before, log, again = (lines(os.path.join(guide.folder, name)) for name in ("before.jsonl", "log.jsonl", "again.jsonl"))
    steps = [line["step"] for line in log if "loss" in line]
    expect(steps == list(range(1, len(steps) + 1)) and len(steps) > STOPPED_AT, f"the log has other steps: {steps}")
    expect(sum("pids" in line for line in log) == 2, "the run did not go on where it was stopped")
    best = min(line["eval_loss"] for line in log if "eval_loss" in line)
    for what, ours, theirs, tolerance in [
        ("before", before[0]["eval_loss"], expected["before"], 1e-6),
        ("after", best, expected["after"], 1e-4),  # what training rounds differs between processors
        ("again", again[0]["eval_loss"], best, 1e-6),
    ]:
        expect(is_near(ours, theirs, tolerance), f"loss {what}: {ours}, expected {theirs}")
    expect(expected["after"] < 0.9 * expected["before"], "nothing was learnt")
    expect(guide.generated == expected["text"], f"generated {guide.generated!r}, Transformers {expected['text']!r}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    for name in ("page", "golden", "family", "folder"):
        parser.add_argument(name)
    parser.add_argument("--record", action="store_true")
    args = parser.parse_args()
    shutil.rmtree(args.folder, ignore_errors=True)
    os.makedirs(args.folder)
    make_model(args.golden, args.family, f"{args.folder}/model")
    for name in ("train.txt", "heldout.txt"):
        shutil.copy(f"{args.golden}/corpus/{name}", args.folder)
    guide = Guide(args.page, args.folder)
    guide.check_flags()
    given = guide.follow(args.record)
    recorded = {}
    if os.path.exists(RECORDED):
        with open(RECORDED, encoding="utf-8") as file:
            recorded = json.load(file)
    if args.record:
        recorded[args.family] = given
        with open(RECORDED, "w", encoding="utf-8") as file:
            json.dump(recorded, file, indent=1, ensure_ascii=False, sort_keys=True)
            file.write("\n")
    check(guide, recorded[args.family])
    print(f"{args.family}: the guide's commands do what it says")


if __name__ == "__main__":
    main()
