"""The models that are measured, and what all peers share: hyperparameters, tokens, weights, FLOPs."""

LR, BETAS, EPS, DECAY, CLIP = 3e-4, (0.9, 0.95), 1e-8, 0.1, 1.0
DISTINCT_STEPS = 5  # step i uses the tokens of step i mod 5

CASES = {
    "c1": dict(family="gpt2", layers=8, hidden=512, heads=8, kv=8, mlp=2048, vocab=256, seq=512, batch=2, tied=True),
    "c2": dict(family="llama", layers=6, hidden=384, heads=6, kv=2, mlp=1024, vocab=32000, seq=256, batch=4, tied=True),
    "c3": dict(family="llama", layers=6, hidden=256, heads=4, kv=2, mlp=704, vocab=256, seq=4096, batch=1, tied=False),
    "c4": dict(family="gpt2", layers=12, hidden=128, heads=4, kv=4, mlp=512, vocab=256, seq=128, batch=2, tied=True),
    # The families of today: norms of heads, windows by layer, documents apart.
    "d1": dict(family="qwen3", layers=6, hidden=384, heads=6, kv=2, head_dim=64, mlp=1024, vocab=4096, seq=512, batch=4, tied=True),
    "d2": dict(family="gemma3", layers=6, hidden=384, heads=6, kv=2, head_dim=64, mlp=1024, vocab=4096, seq=512, batch=4, tied=True,
               window=128, pattern=6),
    "d3": dict(family="llama", layers=6, hidden=384, heads=6, kv=2, head_dim=64, mlp=1024, vocab=4096, seq=2048, batch=1, tied=True,
               documents=16),
}
DOCUMENT_END = 0  # of cases with documents: the token behind which one begins


def head_dim_of(c):
    return c.get("head_dim", c["hidden"] // c["heads"])


def window_of(c, layer):
    """0: none."""
    return c["window"] if "window" in c and (layer + 1) % c["pattern"] else 0


def flops(c):
    """Matrix-multiply FLOPs of a step: 6 per weight and token, and 12 per visible pair and element of a head; half of all pairs are."""
    head_dim = head_dim_of(c)
    attention = c["hidden"] * (c["heads"] + 2 * c["kv"]) * head_dim + c["heads"] * head_dim * c["hidden"]
    mlp = (2 if c["family"] == "gpt2" else 3) * c["hidden"] * c["mlp"]
    weights = c["layers"] * (attention + mlp) + c["hidden"] * c["vocab"]
    tokens = c["batch"] * c["seq"]
    pairs = 0
    for layer in range(c["layers"]):
        length = c["seq"] // c.get("documents", 1)
        window = min(window_of(c, layer) or length, length)
        pairs += tokens * window - tokens // length * window ** 2 / 2
    return 6 * weights * tokens + 12 * pairs * c["heads"] * head_dim


def batches(c):
    """Tokens of the distinct steps: [step, sequence, seq + 1]."""
    import numpy
    tokens = numpy.random.default_rng(0).integers(0, c["vocab"], (DISTINCT_STEPS, c["batch"], c["seq"] + 1))
    if c.get("documents"):
        tokens[tokens == DOCUMENT_END] = 1
        length = c["seq"] // c["documents"]
        tokens[:, :, length - 1 :: length] = DOCUMENT_END
    return tokens


def hf_config(c):
    import transformers
    if c["family"] == "gpt2":
        return transformers.GPT2Config(
            n_layer=c["layers"], n_embd=c["hidden"], n_head=c["heads"], n_inner=c["mlp"], vocab_size=c["vocab"],
            n_positions=c["seq"], attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0)
    shared = dict(
        num_hidden_layers=c["layers"], hidden_size=c["hidden"], num_attention_heads=c["heads"], head_dim=head_dim_of(c),
        num_key_value_heads=c["kv"], intermediate_size=c["mlp"], vocab_size=c["vocab"],
        max_position_embeddings=c["seq"], tie_word_embeddings=c["tied"], rms_norm_eps=1e-5)
    if c["family"] == "qwen3":
        return transformers.Qwen3Config(**shared)
    if c["family"] == "gemma3":
        return transformers.Gemma3TextConfig(**shared, sliding_window=c["window"], sliding_window_pattern=c["pattern"],
                                             query_pre_attn_scalar=head_dim_of(c), pad_token_id=None)
    return transformers.LlamaConfig(**shared)


def hf_model(c):
    """The model with the weights that every peer begins with."""
    import torch
    import transformers
    torch.manual_seed(0)
    return transformers.AutoModelForCausalLM.from_config(hf_config(c), attn_implementation="sdpa").train()
