#!/usr/bin/env python3
"""What sums over rows lose does not grow with their number: sums_over_rows.py CONFIG WORK_DIR FLAGS...

A batch of one sequence many times over has the loss and the gradients of a few of it. They differ by the roundings of the sums alone.
"""
import sys
from array import array

from compare_plans import read_safetensors
from running import lines, run

SEQ, FEW, MANY = 64, 32, 2048  # 2,048 rows of activations and 131,072
TOLERANCE = 8e-7  # of the largest element: parts of a large value are added in f32; all else is exact here, running sums lose 1e-5


def train(config, work, batch, flags):
    package, out = f"{work}/{batch}.par", f"{work}/{batch}"
    run("par-compile", config, "-o", package, "--seq", str(SEQ), "--batch", str(batch), *flags)
    run("par-run", package, "--steps", "1", "--lr", "0", "--data", f"{work}/tokens.bin", "--data-dtype", "uint16", "--metrics", f"{out}.jsonl", "--save-grads",
        f"{out}.grads")
    return lines(f"{out}.jsonl")[0]["loss"], read_safetensors(f"{out}.grads")


def main():
    config, work, *flags = sys.argv[1:]
    with open(f"{work}/tokens.bin", "wb") as file:
        window = array("H", (position * position % 13 for position in range(SEQ + 1)))
        file.write(window.tobytes() * MANY)
    (few_loss, few), (many_loss, many) = (train(config, work, batch, flags) for batch in (FEW, MANY))
    worst = {"loss": abs(many_loss - few_loss) / few_loss}
    for name, (shape, values) in few.items():
        # Products add up in blocks of their own; a key's bias has no gradient but roundings.
        if len(shape) == 1 and not name.endswith("c_attn.bias"):
            largest = max(map(abs, values))
            worst[name] = max(abs(a - b) for a, b in zip(many[name][1], values)) / largest
    bad = {name: error for name, error in worst.items() if not error <= TOLERANCE}
    name = max(worst, key=worst.get)
    print(f"{len(worst)} sums, worst {name} {worst[name]:.1e}: {'good' if not bad else f'BAD {bad}'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
