"""JAX: the forward passes of the measured models, by hand; parameters by the names of Transformers."""
from cases import DOCUMENT_END, head_dim_of, window_of


def gpt2(c, p, x):
    import jax
    import jax.numpy as jnp
    head_dim = head_dim_of(c)

    def norm(y, name):
        wide = y.astype(jnp.float32)
        centred = wide - wide.mean(-1, keepdims=True)
        scale = jax.lax.rsqrt((centred ** 2).mean(-1, keepdims=True) + 1e-5)
        return (centred * scale).astype(y.dtype) * p[name + ".weight"] + p[name + ".bias"]

    h = p["transformer.wte.weight"][x] + p["transformer.wpe.weight"][: x.shape[1]]
    for i in range(c["layers"]):
        at = f"transformer.h.{i}."
        y = norm(h, at + "ln_1") @ p[at + "attn.c_attn.weight"] + p[at + "attn.c_attn.bias"]
        q, k, v = (part.reshape(*x.shape, c["heads"], head_dim) for part in jnp.split(y, 3, -1))
        out = jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(*x.shape, c["hidden"])
        h = h + out @ p[at + "attn.c_proj.weight"] + p[at + "attn.c_proj.bias"]
        y = norm(h, at + "ln_2") @ p[at + "mlp.c_fc.weight"] + p[at + "mlp.c_fc.bias"]
        h = h + jax.nn.gelu(y, approximate=True) @ p[at + "mlp.c_proj.weight"] + p[at + "mlp.c_proj.bias"]
    return norm(h, "transformer.ln_f") @ p["transformer.wte.weight"].T


def find_documents(x):
    """Where each token stands in its document, and the document's number: a token behind DOCUMENT_END begins one."""
    import jax
    import jax.numpy as jnp
    begins = jnp.pad(x[:, :-1] == DOCUMENT_END, ((0, 0), (1, 0)))
    index = jnp.broadcast_to(jnp.arange(x.shape[1]), x.shape)
    start = jax.lax.cummax(jnp.where(begins, index, 0), axis=1)
    return index - start, jnp.cumsum(begins, axis=1)


class Decoder:
    """Llama and its relatives."""

    def __init__(self, c, p):
        self.c, self.p = c, p
        self.is_gemma = c["family"] == "gemma3"

    def norm(self, y, name):
        import jax
        import jax.numpy as jnp
        wide = y.astype(jnp.float32)
        scaled = wide * jax.lax.rsqrt((wide ** 2).mean(-1, keepdims=True) + 1e-5)
        if self.is_gemma:
            return (scaled * (1 + self.p[name + ".weight"].astype(jnp.float32))).astype(y.dtype)
        return scaled.astype(y.dtype) * self.p[name + ".weight"]

    def rotate(self, y, positions, theta):
        import jax.numpy as jnp
        frequency = theta ** (-jnp.arange(0, y.shape[-1], 2) / y.shape[-1])
        angle = (positions[..., None] * frequency)[:, :, None, :]
        cos, sin = jnp.cos(angle).astype(y.dtype), jnp.sin(angle).astype(y.dtype)
        a, b = jnp.split(y, 2, -1)
        return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)

    def attention(self, i, y, positions, mask):
        import jax
        c, p, at = self.c, self.p, f"model.layers.{i}.self_attn."
        q, k, v = ((y @ p[f"{at}{name}_proj.weight"].T).reshape(*y.shape[:2], -1, head_dim_of(c)) for name in "qkv")
        if c["family"] != "llama":
            q, k = self.norm(q, at + "q_norm"), self.norm(k, at + "k_norm")
        window = window_of(c, i)
        theta = 1e6 if self.is_gemma and not window else 1e4
        out = jax.nn.dot_product_attention(self.rotate(q, positions, theta), self.rotate(k, positions, theta), v, is_causal=True, mask=mask,
                                           local_window_size=(window - 1, 0) if window else None)
        return out.reshape(*y.shape[:2], -1) @ p[at + "o_proj.weight"].T

    def feed_forward(self, i, y):
        import jax
        p, at = self.p, f"model.layers.{i}.mlp."
        gate = y @ p[at + "gate_proj.weight"].T
        gate = jax.nn.gelu(gate, approximate=True) if self.is_gemma else jax.nn.silu(gate)
        return (gate * (y @ p[at + "up_proj.weight"].T)) @ p[at + "down_proj.weight"].T

    def run(self, x):
        import jax.numpy as jnp
        c, p = self.c, self.p
        positions, mask = jnp.broadcast_to(jnp.arange(x.shape[1]), x.shape), None
        if c.get("documents"):
            positions, documents = find_documents(x)
            mask = (documents[:, :, None] == documents[:, None, :])[:, None]
        h = p["model.embed_tokens.weight"][x]
        if self.is_gemma:
            h = h * jnp.asarray(c["hidden"] ** 0.5, h.dtype)
        for i in range(c["layers"]):
            at = f"model.layers.{i}."
            out = self.attention(i, self.norm(h, at + "input_layernorm"), positions, mask)
            h = h + (self.norm(out, at + "post_attention_layernorm") if self.is_gemma else out)
            out = self.feed_forward(i, self.norm(h, at + ("pre_feedforward_layernorm" if self.is_gemma else "post_attention_layernorm")))
            h = h + (self.norm(out, at + "post_feedforward_layernorm") if self.is_gemma else out)
        head = p["model.embed_tokens.weight"] if c["tied"] else p["lm_head.weight"]
        return self.norm(h, "model.norm") @ head.T


def forward(c, p, x):
    return gpt2(c, p, x) if c["family"] == "gpt2" else Decoder(c, p).run(x)
