"""Frozen parameters against the same model with all of them trained, and under every plan: freeze.py CONFIG FOLDER PATTERNS PLAN...

Gradients of the others are the same; frozen ones have none, no state and no update; plans give what one rank gives.
"""
import fnmatch
import json
import os
import sys

from running import run

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../Golden"))
from compare import compare_tensors, load

FLAGS = ["--seq", "16", "--batch", "8"]


def expect(condition, what):
    if not condition:
        sys.exit(what)


class Case:
    def __init__(self, config, folder, patterns):
        self.config, self.folder, self.patterns = config, folder, patterns

    def compile(self, name, *flags):
        package = f"{self.folder}/{name}.par"
        text = run("par-compile", self.config, *FLAGS, *flags, "-o", package)
        return package, text

    def train(self, package, *flags):
        return run("par-run", package, "--seed", "3", "--lr", "0.01", "--eps", "1e-3", "--data", "random", *flags)

    def is_frozen(self, name):
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in self.patterns.split(","))

    def compare_gradients(self):
        """Without clipping, as the norm is of what is trained."""
        gradients = {}
        for name, flags in [("whole", []), ("frozen", ["--freeze", self.patterns])]:
            package, text = self.compile(name, *flags)
            self.train(package, "--steps", "1", "--clip-grad-norm", "0", "--save-grads", f"{self.folder}/{name}.grads", "--save-params", f"{self.folder}/{name}.one")
            gradients[name] = load(f"{self.folder}/{name}.grads")
        trained = {name: value for name, value in gradients["whole"].items() if not self.is_frozen(name)}
        expect(trained == gradients["frozen"], "gradients of trained parameters are not the same bytes, or others have some")
        expect(len(trained) < len(gradients["whole"]), "no parameter is frozen")
        whole, frozen = (load(f"{self.folder}/{name}.one") for name in ("whole", "frozen"))
        expect(all((whole[name] == frozen[name]) != self.is_frozen(name) for name in whole), "updates are not those of the trained parameters alone")
        count = sum(len(values) for name, (_, values) in whole.items() if self.is_frozen(name))
        expect(f"frozen {count} of {sum(len(values) for _, values in whole.values())} parameters\n" in text, text)
        return count

    def compare_bytes(self, count):
        """Gradients of 4 bytes and two moments of 4, but for what offsets are rounded up to."""
        memory = []
        for name in ("whole", "frozen"):
            with open(f"{self.folder}/{name}.par/manifest.json", encoding="utf-8") as file:
                manifest = json.load(file)
            memory.append(manifest["memory"][0])
        expect([v["name"] for v in manifest["programs"][0]["variables"] if not v.get("trained", True)], "no variable is said to be frozen")
        for category, each in [("gradients", 4), ("optimizer", 8)]:
            fell = memory[0]["arena_bytes"][category] - memory[1]["arena_bytes"][category]
            expect(abs(fell - each * count) <= 64 * 64, f"{category}: {fell} bytes fewer, expected {each * count}")
        expect(memory[0]["peak_bytes"] - memory[1]["peak_bytes"] >= 12 * count - 64 * 64, f"the peak: {memory}")

    def compare_plans(self, plans):
        package = f"{self.folder}/frozen.par"
        self.train(package, "--steps", "3", "--save-params", f"{self.folder}/one")
        for number, plan in enumerate(plans):
            package, _ = self.compile(f"plan{number}", "--freeze", self.patterns, *plan.split())
            metrics, params = f"{self.folder}/plan{number}.jsonl", f"{self.folder}/plan{number}.params"
            self.train(package, "--steps", "2", "--checkpoint", f"{self.folder}/ck{number}", "--metrics", metrics)
            self.train(package, "--steps", "3", "--checkpoint", f"{self.folder}/ck{number}", "--resume", "latest", "--save-params", params, "--metrics", metrics)
            compare_tensors(params, f"{self.folder}/one", 0.2 if "bf16" in plan else 1e-4)
            initial = f"{self.folder}/initial{number}"
            run("par-run", package, "--steps", "0", "--seed", "3", "--save-params", initial)
            before, after = load(initial), load(params)
            same = {name for name in before if after[name] == before[name]}
            frozen = {name for name in before if self.is_frozen(name)}
            expect(same == frozen, f"{plan}: {sorted(same ^ frozen)} should have changed, or should not")
            print(f"{plan} agrees")


def main():
    case = Case(*sys.argv[1:4])
    count = case.compare_gradients()
    case.compare_bytes(count)
    print(f"{count} parameters are frozen")
    case.compare_plans(sys.argv[4:])


main()
