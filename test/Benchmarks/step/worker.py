#!/usr/bin/env python3
"""One peer as a process: worker.py CASE PEER DTYPE prints its first losses, then answers 'N' on stdin with the seconds of N steps."""
import json
import resource
import sys
import time

import jax_peer
import torch_peer
from cases import CASES
from par_peer import ParPeer

PEERS = {
    "sgemm": lambda c, case, dtype: torch_peer.make_sgemm_step(dtype),
    "eager": lambda c, case, dtype: torch_peer.make_step(c, dtype),
    "compile": lambda c, case, dtype: torch_peer.make_step(c, dtype, compiled=True),
    "pure": lambda c, case, dtype: torch_peer.make_step(c, "pure", compiled=True),
    "ddp": torch_peer.make_ddp_step,
    "jax": lambda c, case, dtype: jax_peer.make_step(c, dtype),
    "jax-dp": lambda c, case, dtype: jax_peer.make_step(c, dtype, 2),
}


def answer(values):
    print(json.dumps(values), flush=True)


def run_par(c, ranks, dtype):
    peer = ParPeer(c, ranks, dtype)
    try:
        begin = time.perf_counter()
        losses = peer.first_losses()
        answer({"first_seconds": peer.compile_seconds, "start_seconds": time.perf_counter() - begin, "losses": losses})
        for line in sys.stdin:
            times = peer.times(int(line))
            answer({"times": times, "rss_mib": peer.rss_mib()})
    finally:
        peer.close()


def run_framework(c, case, peer, dtype):
    step = PEERS[peer](c, case, dtype)
    begin = time.perf_counter()
    losses = [step(0)]
    first = time.perf_counter() - begin
    losses += [step(i) for i in range(1, 5)]
    index = 5
    answer({"first_seconds": first, "losses": losses})
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            begin = time.perf_counter()
            step(index)
            index += 1
            times.append(time.perf_counter() - begin)
        answer({"times": times, "rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024})


def main():
    case, peer, dtype = sys.argv[1:]
    c = CASES[case]
    if peer == "ddp-follower":
        torch_peer.follow(c, dtype)
    elif peer in ("par", "par-dp"):
        run_par(c, 2 if peer == "par-dp" else 1, dtype)
    else:
        run_framework(c, case, peer, dtype)


if __name__ == "__main__":
    main()
