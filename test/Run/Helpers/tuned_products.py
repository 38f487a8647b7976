#!/usr/bin/env python3
"""Products of a package for GPUs are computed in the way that was measured at the first start, on all ranks.

    tuned_products.py --bin DIR --standin DIR --config FILE

The stand-in's ways add up along k in other orders, so the last digits of parameters tell which one it was. Prints a line for
each thing that it found as it should be.
"""
import argparse
import glob
import json
import os
import subprocess
import tempfile

from running import free_port

RUN = "--steps 2 --data random --seed 3 --lr 1e-3"
TIME = "--tune-seconds 100"
MACHINE = "stand-in, CUDA 12.8, cuBLASLt 13.0.2"
HALVES, BACKWARD = 1, 2  # ways of the stand-in
GELU_AUX_BIAS = 164  # a cublasLtEpilogue_t
KERNELS = 8  # from here on ways with kernels for epilogues


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Package:
    """A package and what its runs give."""

    def __init__(self, args, folder, plan):
        self.args, self.folder, self.path = args, folder, os.path.join(folder, f"{plan.replace(' ', '')}.par")
        size = "--set n_embd=16 --set n_head=2 --set n_layer=2 --set vocab_size=64 --target cuda --chip sm_90 --seq 8 --batch 2"
        self.call([f"{args.bin}/par-compile", args.config, "-o", self.path, *size.split(), *plan.split()])
        self.call([f"{args.bin}/par-emulate", self.path])

    def call(self, words, **variables):
        done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, **variables})
        if done.returncode:
            raise SystemExit(f"{' '.join(words)}: exit {done.returncode}: {done.stderr.strip()[-600:]}")
        return done.stdout

    def command(self, flags, saved):
        return [f"{self.args.bin}/par-run", self.path, *RUN.split(), *flags.split(), "--save-params", saved]

    def variables(self, cache, **more):
        return {"LD_LIBRARY_PATH": self.args.standin, "PAR_STANDIN_ALGORITHMS": "5", "PAR_STANDIN_DEVICES": "2", "XDG_CACHE_HOME": os.path.join(self.folder, cache), **more}

    def saved(self):
        return os.path.join(self.folder, "parameters.safetensors")

    def run(self, cache, quickest, flags=TIME, first=0, epilogue=0):
        """The parameters, and whether something was measured. `epilogue`: seconds that the library takes for one."""
        settings = {"QUICKEST": quickest, "FIRST": first, "EPILOGUE": epilogue}
        said = self.call(self.command(flags, self.saved()), **self.variables(cache, **{f"PAR_STANDIN_{name}": str(value) for name, value in settings.items()}))
        return read(self.saved()), " measured in " in said

    def run_processes(self, caches, quickest, names=("stand-in", "stand-in"), without=(0, 0)):
        """The parameters of ranks that are processes, each with a home and a kind of GPU of its own, and an epilogue that its library does not have."""
        port = str(free_port())
        ranks = []
        for rank, cache in enumerate(caches):
            launcher = {"RANK": str(rank), "WORLD_SIZE": str(len(caches)), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
            variables = self.variables(cache, PAR_STANDIN_QUICKEST=str(quickest), PAR_STANDIN_NAME=names[rank], PAR_STANDIN_WITHOUT=str(without[rank]), **launcher)
            ranks.append(subprocess.Popen(self.command(f"--transport nccl {TIME}", self.saved()), stdout=subprocess.DEVNULL, env={**os.environ, **variables}))  # pylint: disable=consider-using-with
        if any([rank.wait() for rank in ranks]):
            raise SystemExit("a rank failed")
        return read(self.saved())

    def kept(self, cache):
        """Ways by products in a cache."""
        ways = {}
        for path in glob.glob(os.path.join(self.folder, cache, "par", "products-*.json")):
            with open(path, encoding="utf-8") as file:
                ways.update(json.load(file)["products"])
        return ways

    def keep(self, cache, ways):
        path = os.path.join(self.folder, cache, "par", "products-stand-in-CUDA-12.8-cuBLASLt-13.0.2.json")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"machine": MACHINE, "products": ways}, file)


def expect(what, good):
    if not good:
        raise SystemExit(f"wrong: {what}")
    print(what)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    for name in ("bin", "standin", "config"):
        parser.add_argument(f"--{name}", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        package = Package(args, folder, "--mesh dp=2")
        halves, measured = package.run("cache", HALVES)
        kept = package.kept("cache")
        expect("the first start measures", measured and kept and set(kept.values()) == {HALVES})
        plain, measured = package.run("other", HALVES, "--tune-seconds 0")
        expect("not without time for it", not measured and not package.kept("other"))
        expect("ways that were measured are taken", halves != plain)
        expect("later starts take what is kept", package.run("cache", BACKWARD) == (halves, False))
        expect("--deterministic takes nothing from it", package.run("cache", HALVES, "--deterministic") == (plain, False))
        expect("the first way may have sums of parts of k", package.run("other", HALVES, "--tune-seconds 0", HALVES) == (halves, False))
        expect("and has none with --deterministic", package.run("other", HALVES, "--deterministic", HALVES)[0] not in (halves, plain))
        package.keep("second", {product: BACKWARD for product in kept})
        expect("all processes take the ways of rank 0", package.run_processes(["cache", "second"], HALVES) == halves)
        expect("and not those of another", package.run_processes(["second", "cache"], HALVES) not in (halves, plain))
        expect("where GPUs differ, every rank takes its library's first way", package.run_processes(["first", "first"], HALVES, ("one", "another")) == plain)
        kernels = package.run_processes(["cache", "cache"], HALVES, without=(GELU_AUX_BIAS, GELU_AUX_BIAS))
        expect("kernels compute what libraries do not have", kernels not in (halves, plain))
        expect("on all ranks, if one does not", package.run_processes(["cache", "cache"], HALVES, without=(0, GELU_AUX_BIAS)) == kernels)
        separate, measured = package.run("separate", HALVES, epilogue=1000)
        expect("kernels compute epilogues where that is quicker", measured and separate != halves)
        expect("and it is kept", sorted(set(package.kept("separate").values())) == [HALVES, KERNELS + HALVES])
        expect("so that later starts know it", package.run("separate", BACKWARD) == (separate, False))
        expect("all at once with --deterministic", package.run("separate", HALVES, "--deterministic", epilogue=1000) == (plain, False))
        stages = Package(args, folder, "--mesh pp=2 --micro-batches 2")
        stages.run("stages", HALVES)
        products = {json.dumps(product, sort_keys=True) for program in json.load(open(f"{stages.path}/manifest.json", encoding="utf-8"))["programs"] for product in program["products"]}  # pylint: disable=consider-using-with
        expect("products of all stages are measured", len(stages.kept("stages")) == len(products))


main()
