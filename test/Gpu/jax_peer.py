#!/usr/bin/env python3
"""One of G1 to G3 in JAX: one jitted step, bf16 products over f32 weights, scanned layers, cuDNN's fused attention.

    jax_peer.py G1 [--steps 12] [--device cuda] [--remat]
"""
import argparse
import functools
import json
import os
import statistics
import sys
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_MEM_FRACTION", "0.95")
os.environ.setdefault("XLA_FLAGS", "--xla_gpu_enable_latency_hiding_scheduler=true")

import jax
import jax.numpy as jnp

from cases import STEPS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LR, BETA_1, BETA_2, EPS, DECAY, CLIP = 3e-4, 0.9, 0.95, 1e-8, 0.1, 1.0

# For a method up to its products: the backward pass does norms, activations and casts again, as torch.compile's does,
# but no product. JAX would save each of their f32 intermediates, which for G1 do not fit. In a scan nothing can merge
# the two passes, so no barriers are needed (prevent_cse).
saves_inputs = functools.partial(jax.checkpoint, prevent_cse=False, static_argnums=(0,))


def bf16(x):
    return x.astype(jnp.bfloat16)


def matmul(x, w):
    """A product in bf16 by a matrix whose master is f32."""
    return bf16(x) @ bf16(w)


def layer_norm(x, scale, bias):
    x = x.astype(jnp.float32)
    x = x - x.mean(-1, keepdims=True)
    return bf16(x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-5) * scale + bias)


def rms_norm(x, scale, eps):
    x = x.astype(jnp.float32)
    return bf16(x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + eps) * scale)


def logits_of(y, table):
    """Logits by bf16 rows of a vocabulary that is padded to a width for which the products are fast (50257 is odd)."""
    return y @ jnp.pad(bf16(table), ((0, -len(table) % 128), (0, 0))).T


class Gpt2:
    def __init__(self, c, attend):
        self.attend, self.heads, self.depth, self.vocab = attend, c["n_head"], c["n_layer"], c["vocab_size"]
        self.width, self.positions = c["n_embd"], c["n_positions"]

    def shapes(self):
        w = self.width
        matrices = {"q": (w, w), "k": (w, w), "v": (w, w), "out": (w, w), "up": (w, 4 * w), "down": (4 * w, w)}
        vectors = {f"{name}_bias": shape[1:] for name, shape in matrices.items()}
        norms = {f"norm_{i}_{part}": (w,) for i in (1, 2) for part in ("scale", "bias")}
        return {"embed": (self.vocab, w), "positions": (self.positions, w), "norm_scale": (w,), "norm_bias": (w,),
                "layers": {**matrices, **vectors, **norms}}

    def start(self, params, tokens):
        return bf16(params["embed"][tokens] + params["positions"][: tokens.shape[1]])

    def tables(self, seq):
        return None

    @staticmethod
    def linear(x, p, name):
        return matmul(x, p[name]) + bf16(p[f"{name}_bias"])

    @saves_inputs
    def qkv(self, x, p):
        y = layer_norm(x, p["norm_1_scale"], p["norm_1_bias"])
        return [self.linear(y, p, name).reshape(*x.shape[:2], self.heads, -1) for name in "qkv"]

    @saves_inputs
    def out(self, y, p):
        return self.linear(y.reshape(*y.shape[:2], -1), p, "out")

    @saves_inputs
    def up(self, x, p):
        return self.linear(layer_norm(x, p["norm_2_scale"], p["norm_2_bias"]), p, "up")

    @saves_inputs
    def down(self, y, p):
        return self.linear(jax.nn.gelu(y, approximate=True), p, "down")

    def block(self, x, p, tables):
        x = x + self.out(self.attend(*self.qkv(x, p)), p)
        return x + self.down(self.up(x, p), p)

    @saves_inputs
    def logits(self, x, p):
        return logits_of(layer_norm(x, p["norm_scale"], p["norm_bias"]), p["embed"])


class Llama:
    def __init__(self, c, attend):
        self.attend, self.depth, self.vocab = attend, c["num_hidden_layers"], c["vocab_size"]
        self.width, self.inner, self.eps = c["hidden_size"], c["intermediate_size"], c["rms_norm_eps"]
        self.heads, self.kv = c["num_attention_heads"], c["num_key_value_heads"]
        self.size = c.get("head_dim") or self.width // self.heads
        self.head = "embed" if c.get("tie_word_embeddings", False) else "head"
        self.theta = c.get("rope_theta", 10000.0)

    def shapes(self):
        w, q, kv = self.width, self.heads * self.size, self.kv * self.size
        layers = {"q": (w, q), "k": (w, kv), "v": (w, kv), "out": (q, w), "gate": (w, self.inner),
                  "up": (w, self.inner), "down": (self.inner, w), "norm_1_scale": (w,), "norm_2_scale": (w,)}
        return {"embed": (self.vocab, w), self.head: (self.vocab, w), "norm_scale": (w,), "layers": layers}

    def start(self, params, tokens):
        return bf16(params["embed"][tokens])

    def tables(self, seq):
        """Cosines and sines, of the shape seq, 1, size / 2."""
        half = self.size // 2
        rates = self.theta ** -(jnp.arange(half, dtype=jnp.float32) / half)
        angles = jnp.arange(seq, dtype=jnp.float32)[:, None, None] * rates
        return jnp.cos(angles), jnp.sin(angles)

    @staticmethod
    def rotate(x, cos, sin):
        a, b = jnp.split(x.astype(jnp.float32), 2, -1)
        return bf16(jnp.concatenate((a * cos - b * sin, b * cos + a * sin), -1))

    @saves_inputs
    def qkv(self, x, p):
        y = rms_norm(x, p["norm_1_scale"], self.eps)
        return [matmul(y, p[name]).reshape(*x.shape[:2], -1, self.size) for name in "qkv"]

    @saves_inputs
    def out(self, y, p):
        return matmul(y.reshape(*y.shape[:2], -1), p["out"])

    @saves_inputs
    def gate_up(self, x, p):
        y = rms_norm(x, p["norm_2_scale"], self.eps)
        return matmul(y, p["gate"]), matmul(y, p["up"])

    @saves_inputs
    def down(self, gate, up, p):
        return matmul(jax.nn.silu(gate) * up, p["down"])

    def block(self, x, p, tables):
        q, k, v = self.qkv(x, p)
        x = x + self.out(self.attend(self.rotate(q, *tables), self.rotate(k, *tables), v), p)
        return x + self.down(*self.gate_up(x, p), p)

    @saves_inputs
    def logits(self, x, p):
        return logits_of(rms_norm(x, p["norm_scale"], self.eps), p[self.head])


def known(logits, vocab):
    """f32 logits, none of them of the padding."""
    return jnp.where(jnp.arange(logits.shape[-1]) < vocab, logits.astype(jnp.float32), -jnp.inf)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def cross_entropy(logits, targets, vocab):
    return cross_entropy_forward(logits, targets, vocab)[0]


def cross_entropy_forward(logits, targets, vocab):
    """Keeps the bf16 logits and one sum a row: as large as the logits, f32 intermediates would be gigabytes."""
    total = jax.nn.logsumexp(known(logits, vocab), axis=-1)
    picked = jnp.take_along_axis(logits, targets[..., None], -1)[..., 0].astype(jnp.float32)
    return (total - picked).mean(), (logits, targets, total)


def cross_entropy_backward(vocab, kept, slope):
    logits, targets, total = kept
    hits = jnp.arange(logits.shape[-1]) == targets[..., None]
    return bf16((jnp.exp(known(logits, vocab) - total[..., None]) - hits) * (slope / targets.size)), None


cross_entropy.defvjp(cross_entropy_forward, cross_entropy_backward)


def loss_of(params, tokens, model, remat):
    tables, block = model.tables(tokens.shape[1] - 1), model.block
    if remat:
        block = jax.checkpoint(block, prevent_cse=False, policy=getattr(jax.checkpoint_policies, remat))
    x = model.start(params, tokens[:, :-1])
    x, _ = jax.lax.scan(lambda x, p: (block(x, p, tables), None), x, params["layers"])
    rest = {name: value for name, value in params.items() if name != "layers"}
    return cross_entropy(model.logits(x, rest), tokens[:, 1:], model.vocab)


def adamw(params, grads, state, decays):
    """AdamW after the gradients' norm is clipped, as clip_grad_norm_ does it."""
    norm = jnp.sqrt(sum(jnp.square(g).sum() for g in jax.tree.leaves(grads)))
    clip, count = jnp.minimum(1.0, CLIP / (norm + 1e-6)), state["count"] + 1
    first = jax.tree.map(lambda m, g: BETA_1 * m + (1 - BETA_1) * (clip * g), state["first"], grads)
    second = jax.tree.map(lambda v, g: BETA_2 * v + (1 - BETA_2) * jnp.square(clip * g), state["second"], grads)
    unbias_1, unbias_2 = 1 / (1 - BETA_1**count), 1 / (1 - BETA_2**count)

    def moved(p, m, v, decay):
        return p * (1 - LR * decay) - LR * (m * unbias_1) / (jnp.sqrt(v * unbias_2) + EPS)

    params = jax.tree.map(moved, params, first, second, decays)
    return params, {"first": first, "second": second, "count": count}


def decays_of(shapes):
    """Weight decay by the shape within one layer: stacked, a layer's vectors have two dimensions as well."""
    return jax.tree.map(lambda shape: DECAY * (len(shape) >= 2), shapes, is_leaf=lambda s: isinstance(s, tuple))


def init(model, key):
    def fresh(name, shape, stack, key):
        if len(shape) == 1:
            return jnp.full(stack + shape, float(name.endswith("scale")), jnp.float32)
        return 0.02 * jax.random.normal(key, stack + shape, jnp.float32)

    shapes = model.shapes()
    layers, stack = shapes.pop("layers"), (model.depth,)
    keys = iter(jax.random.split(key, len(shapes) + len(layers)))
    params = {name: fresh(name, shape, (), next(keys)) for name, shape in shapes.items()}
    params["layers"] = {name: fresh(name, shape, stack, next(keys)) for name, shape in layers.items()}
    first, second = (jax.tree.map(jnp.zeros_like, params) for _ in range(2))
    return params, {"first": first, "second": second, "count": jnp.zeros((), jnp.float32)}


def step(params, state, tokens, *, model, remat):
    loss, grads = jax.value_and_grad(loss_of)(params, tokens, model, remat)
    params, state = adamw(params, grads, state, decays_of(model.shapes()))
    return params, state, loss


def run(model, c, args):
    key_params, key_tokens = jax.random.split(jax.random.key(0))
    params, state = jax.jit(functools.partial(init, model))(key_params)
    tokens = jax.random.randint(key_tokens, (c["batch"], c["seq"] + 1), 0, c["vocab_size"], jnp.int32)
    begin = time.perf_counter()
    whole = jax.jit(functools.partial(step, model=model, remat=args.remat), donate_argnums=(0, 1))
    whole = whole.lower(params, state, tokens).compile()
    print(f"compiled in {time.perf_counter() - begin:.1f} seconds", file=sys.stderr)
    seconds = []
    for _ in range(args.steps):
        begin = time.perf_counter()
        params, state, loss = whole(params, state, tokens)
        value = float(loss)
        seconds.append(time.perf_counter() - begin)
    return seconds, value


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=STEPS)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--device", default="cuda", help="a platform of JAX: cuda, or cpu to try it small")
    parser.add_argument("--change", default="{}", help="JSON: other values of the config, seq, batch, to try it small")
    parser.add_argument("--remat", nargs="?", const="dots_with_no_batch_dims_saveable", metavar="POLICY",
                        help="keep less of each layer: one of jax.checkpoint_policies")
    args = parser.parse_args()
    config, changes, seq, batch = STEPS[args.case]
    with open(os.path.join(ROOT, config)) as file:
        c = {**json.load(file), "seq": seq, "batch": batch, **changes, **json.loads(args.change)}
    attend = functools.partial(jax.nn.dot_product_attention, is_causal=True,
                               implementation="xla" if args.device == "cpu" else "cudnn")
    with jax.default_device(jax.devices(args.device)[0]):
        seconds, value = run((Gpt2 if c["model_type"] == "gpt2" else Llama)(c, attend), c, args)
    print(f"seconds {statistics.median(seconds[3:]):.6f} loss {value:.4f}")


if __name__ == "__main__":
    main()
