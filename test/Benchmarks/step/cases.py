"""The models that are measured, and what all peers share: hyperparameters, tokens, weights, FLOPs."""

LR, BETAS, EPS, DECAY, CLIP = 3e-4, (0.9, 0.95), 1e-8, 0.1, 1.0
DISTINCT_STEPS = 5  # step i uses the tokens of step i mod 5

CASES = {
    "c1": dict(family="gpt2", layers=8, hidden=512, heads=8, kv=8, mlp=2048, vocab=256, seq=512, batch=2, tied=True),
    "c2": dict(family="llama", layers=6, hidden=384, heads=6, kv=2, mlp=1024, vocab=32000, seq=256, batch=4, tied=True),
    "c3": dict(family="llama", layers=6, hidden=256, heads=4, kv=2, mlp=704, vocab=256, seq=4096, batch=1, tied=False),
    "c4": dict(family="gpt2", layers=12, hidden=128, heads=4, kv=4, mlp=512, vocab=256, seq=128, batch=2, tied=True),
}


def flops(c):
    """Matrix-multiply FLOPs of a step: 6 per weight and token, and causal attention counted half."""
    head_dim = c["hidden"] // c["heads"]
    attention = c["hidden"] * (c["heads"] + 2 * c["kv"]) * head_dim + c["heads"] * head_dim * c["hidden"]
    mlp = (2 if c["family"] == "gpt2" else 3) * c["hidden"] * c["mlp"]
    weights = c["layers"] * (attention + mlp) + c["hidden"] * c["vocab"]
    tokens = c["batch"] * c["seq"]
    return 6 * weights * tokens + 6 * c["layers"] * tokens * c["seq"] * c["hidden"]


def batches(c):
    """Tokens of the distinct steps: [step, sequence, seq + 1]."""
    import numpy
    return numpy.random.default_rng(0).integers(0, c["vocab"], (DISTINCT_STEPS, c["batch"], c["seq"] + 1))


def hf_config(c):
    import transformers
    if c["family"] == "gpt2":
        return transformers.GPT2Config(
            n_layer=c["layers"], n_embd=c["hidden"], n_head=c["heads"], n_inner=c["mlp"], vocab_size=c["vocab"],
            n_positions=c["seq"], attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0)
    return transformers.LlamaConfig(
        num_hidden_layers=c["layers"], hidden_size=c["hidden"], num_attention_heads=c["heads"],
        num_key_value_heads=c["kv"], intermediate_size=c["mlp"], vocab_size=c["vocab"],
        max_position_embeddings=c["seq"], tie_word_embeddings=c["tied"], rms_norm_eps=1e-5)


def hf_model(c):
    """The model with the weights that every peer begins with."""
    import torch
    import transformers
    torch.manual_seed(0)
    return transformers.AutoModelForCausalLM.from_config(hf_config(c), attn_implementation="sdpa").train()
