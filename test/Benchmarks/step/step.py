#!/usr/bin/env python3
"""Step time of one training step on CPU: par beside PyTorch eager, torch.compile and jitted JAX, in f32 or bf16.

    step.py [--dtype f32|bf16] [--cases c1,c2,c3,c4] [--peers par,eager,compile,jax] [--threads 2] [--rounds 5] [--steps 3] [--json FILE]
    step.py --cases c1 --peers par-dp,ddp,jax-dp        two ranks with a thread each
    step.py --cases d1,d2,d3                            the families of today: Qwen 3, Gemma 3, and Llama with 16 documents in a window

par-compile and par-run are those on PATH, else of build/bin. Needs torch, transformers, jax and optax in the Python that runs it.
Every peer is a process of its own, pinned to the same cores; rounds are interleaved, so noise of the machine hits all alike. All begin with the same weights
and see the same tokens, with AdamW and clipping; the losses of the first five steps must agree to 1e-4, in bf16 to 1e-2. In bf16
PyTorch is under autocast, which keeps weights in f32, and `pure` is torch.compile of a model that is bf16 with its state. Prints per case and peer:
compile seconds (the first call where a framework compiles in it), median step milliseconds, share of the machine's own rate of products,
peak RSS, losses; then how much faster par is than the fastest other, and its peak RSS over the leanest other's.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys

from cases import CASES, flops


class Peer:
    def __init__(self, case, name, prefix, environment, dtype):
        self.name, self.times, self.rss_mib = name, [], 0.0
        worker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker.py")
        self.process = subprocess.Popen([*prefix, sys.executable, worker, case, name, dtype], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=None if os.environ.get("VERBOSE") else subprocess.DEVNULL, text=True, env=environment)
        self.start = self.read()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} failed; VERBOSE=1 shows why")
        return json.loads(line)

    def run(self, steps):
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()
        reply = self.read()
        self.times += reply["times"]
        self.rss_mib = reply["rss_mib"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def median(self):
        return statistics.median(self.times)


def measure(case, names, args, environment):
    """Median rows of one case; all its peers are alive at once and take turns."""
    cores = ",".join(str(core) for core in sorted(os.sched_getaffinity(0))[: args.threads])
    peers = []
    for name in ["sgemm", *names]:
        try:
            peers.append(Peer(case, name, ["taskset", "-c", cores], environment, args.dtype))
        except RuntimeError as error:
            print(f"{case} {error}")
    for _ in range(args.rounds):
        for peer in peers:
            peer.run(args.steps)
    for peer in peers:
        peer.close()
    return peers


def report(case, sgemm, peers, tolerance):
    rate = 2 * 2048 ** 3 / sgemm.median() / 1e9
    print(f"{case} sgemm    {rate:.0f} GFLOP/s")
    rows = {"sgemm_gflops": rate}
    for peer in peers:
        share = flops(CASES[case]) / peer.median() / 1e9 / rate
        losses = peer.start["losses"]
        rows[peer.name] = {"first_seconds": peer.start["first_seconds"], "step_ms": peer.median() * 1e3, "rss_mib": peer.rss_mib,
                           "sgemm_share": share, "losses": losses}
        print(f"{case} {peer.name:8s} compile {peer.start['first_seconds']:6.1f} s  step {peer.median() * 1e3:8.1f} ms "
              f"({min(peer.times) * 1e3:.1f}..{max(peer.times) * 1e3:.1f})  {100 * share:3.0f}% of sgemm  {peer.rss_mib:5.0f} MiB  "
              f"loss {losses[0]:.5f} -> {losses[-1]:.5f}", flush=True)
    compare(case, peers, rows, tolerance)
    return rows


def compare(case, peers, rows, tolerance):
    first = peers[0].start["losses"]
    worst = max(abs(a - b) / abs(b) for peer in peers for a, b in zip(peer.start["losses"], first))
    print(f"{case} losses agree to {worst:.1e}{'' if worst < tolerance and math.isfinite(worst) else '  NOT COMPARABLE'}")
    ours = [peer for peer in peers if peer.name.startswith("par")]
    others = [peer for peer in peers if not peer.name.startswith("par")]
    if not ours or not others:
        return
    fastest = min(others, key=Peer.median)
    rows["speedup"] = fastest.median() / ours[0].median()
    rows["rss_ratio"] = ours[0].rss_mib / min(peer.rss_mib for peer in others)
    print(f"{case} par is {rows['speedup']:.2f} x as fast as {fastest.name}, with {100 * rows['rss_ratio']:.0f}% of the leanest peer's "
          f"memory", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cases", default="c1,c2,c3,c4")
    parser.add_argument("--dtype", default="f32", choices=("f32", "bf16"))
    parser.add_argument("--peers", help="default: par,eager,compile,jax, and pure in bf16")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--json")
    args = parser.parse_args()
    args.peers = args.peers or "par,eager,compile,jax" + (",pure" if args.dtype == "bf16" else "")
    built = pathlib.Path(__file__).resolve().parents[3] / "build" / "bin"
    path = os.environ.get("PATH", os.defpath) + os.pathsep + str(built)
    environment = dict(os.environ, PATH=path, PEER_THREADS=str(args.threads), OMP_NUM_THREADS=str(args.threads),
                       TOKENIZERS_PARALLELISM="false", JAX_PLATFORMS="cpu")
    results = {}
    for case in args.cases.split(","):
        sgemm, *peers = measure(case, args.peers.split(","), args, environment)
        if not peers:
            raise SystemExit(f"{case}: none of the peers {args.peers} ran")
        results[case] = report(case, sgemm, peers, 1e-4 if args.dtype == "f32" else 1e-2)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
