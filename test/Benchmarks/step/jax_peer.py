"""JAX: the same models by hand (jax_models.py), jitted, on one or two host devices; in bf16 with f32 masters, norms and loss."""
import os

from cases import BETAS, CLIP, DECAY, DOCUMENT_END, EPS, LR, batches, hf_model
from jax_models import forward


def weights_of(c):
    return {name: value.detach().numpy() for name, value in hf_model(c).named_parameters()}


def make_step(c, dtype, devices=1):
    """step(index) -> loss, data-parallel over `devices`."""
    if devices > 1:
        os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices}"
    import jax
    import jax.numpy as jnp
    import optax
    weights = weights_of(c)
    optimizer = optax.chain(
        optax.clip_by_global_norm(CLIP),
        optax.adamw(LR, b1=BETAS[0], b2=BETAS[1], eps=EPS, weight_decay=DECAY,
                    mask=lambda p: {name: value.ndim >= 2 for name, value in p.items()}))

    def loss_of(p, window):
        computed = {name: value.astype(jnp.bfloat16) if dtype == "bf16" else value for name, value in p.items()}
        logits = forward(c, computed, window[:, :-1]).astype(jnp.float32)
        losses = optax.softmax_cross_entropy_with_integer_labels(logits, window[:, 1:])
        # A document's first token is no target.
        counts = window[:, :-1] != DOCUMENT_END if c.get("documents") else jnp.ones_like(losses)
        return (losses * counts).sum() / counts.sum()

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
