"""JAX: the same models by hand, jitted, on one or two host devices; in bf16 with f32 masters, norms and loss."""
import os

from cases import BETAS, CLIP, DECAY, EPS, LR, batches, hf_model


def weights_of(c):
    return {name: value.detach().numpy() for name, value in hf_model(c).named_parameters()}


def make_forward(c):
    import jax
    import jax.numpy as jnp
    head_dim = c["hidden"] // c["heads"]

    def attend(q, k, v):
        return jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(*q.shape[:2], c["hidden"])

    def gpt2(p, x):
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
            h = h + attend(q, k, v) @ p[at + "attn.c_proj.weight"] + p[at + "attn.c_proj.bias"]
            y = norm(h, at + "ln_2") @ p[at + "mlp.c_fc.weight"] + p[at + "mlp.c_fc.bias"]
            h = h + jax.nn.gelu(y, approximate=True) @ p[at + "mlp.c_proj.weight"] + p[at + "mlp.c_proj.bias"]
        return norm(h, "transformer.ln_f") @ p["transformer.wte.weight"].T

    def llama(p, x):
        def norm(y, name):
            wide = y.astype(jnp.float32)
            scaled = wide * jax.lax.rsqrt((wide ** 2).mean(-1, keepdims=True) + 1e-5)
            return scaled.astype(y.dtype) * p[name + ".weight"]
        frequency = 10000.0 ** (-jnp.arange(0, head_dim, 2) / head_dim)
        angle = jnp.outer(jnp.arange(x.shape[1]), frequency)[:, None, :]
        cos, sin = (f(angle).astype(p["model.norm.weight"].dtype) for f in (jnp.cos, jnp.sin))

        def rotate(y):
            a, b = jnp.split(y, 2, -1)
            return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)
        h = p["model.embed_tokens.weight"][x]
        for i in range(c["layers"]):
            at = f"model.layers.{i}."
            y = norm(h, at + "input_layernorm")
            q = (y @ p[at + "self_attn.q_proj.weight"].T).reshape(*x.shape, c["heads"], head_dim)
            k = (y @ p[at + "self_attn.k_proj.weight"].T).reshape(*x.shape, c["kv"], head_dim)
            v = (y @ p[at + "self_attn.v_proj.weight"].T).reshape(*x.shape, c["kv"], head_dim)
            h = h + attend(rotate(q), rotate(k), v) @ p[at + "self_attn.o_proj.weight"].T
            y = norm(h, at + "post_attention_layernorm")
            gate = jax.nn.silu(y @ p[at + "mlp.gate_proj.weight"].T)
            h = h + (gate * (y @ p[at + "mlp.up_proj.weight"].T)) @ p[at + "mlp.down_proj.weight"].T
        head = p["model.embed_tokens.weight"] if c["tied"] else p["lm_head.weight"]
        return norm(h, "model.norm") @ head.T
    return gpt2 if c["family"] == "gpt2" else llama


def make_step(c, dtype, devices=1):
    """step(index) -> loss, data-parallel over `devices`."""
    if devices > 1:
        os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices}"
    import jax
    import jax.numpy as jnp
    import optax
    weights = weights_of(c)
    forward = make_forward(c)
    optimizer = optax.chain(
        optax.clip_by_global_norm(CLIP),
        optax.adamw(LR, b1=BETAS[0], b2=BETAS[1], eps=EPS, weight_decay=DECAY,
                    mask=lambda p: {name: value.ndim >= 2 for name, value in p.items()}))

    def loss_of(p, window):
        computed = {name: value.astype(jnp.bfloat16) if dtype == "bf16" else value for name, value in p.items()}
        logits = forward(computed, window[:, :-1]).astype(jnp.float32)
        return optax.softmax_cross_entropy_with_integer_labels(logits, window[:, 1:]).mean()

    def update(p, state, window):
        loss, gradient = jax.value_and_grad(loss_of)(p, window)
        change, state = optimizer.update(gradient, state, p)
        return optax.apply_updates(p, change), state, loss

    run = jax.jit(update, donate_argnums=(0, 1))
    held = {"p": {name: jnp.asarray(value) for name, value in weights.items()}}
    data = jnp.asarray(batches(c))
    if devices > 1:
        mesh = jax.make_mesh((devices,), ("dp",), axis_types=(jax.sharding.AxisType.Auto,))
        place = lambda *axes: jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*axes))
        held["p"] = jax.device_put(held["p"], place())
        data = jax.device_put(data, place(None, "dp"))
    held["state"] = optimizer.init(held["p"])

    def step(index):
        held["p"], held["state"], loss = run(held["p"], held["state"], data[index % len(data)])
        return float(loss)
    return step
