#!/usr/bin/env python3
"""One of G1 to G3 in PyTorch: torch.compile, bf16 autocast over f32 weights, fused AdamW, its fused attention.

    torch_peer.py G1 [--steps 12] [--device cuda]
"""
import argparse
import json
import os
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

from cases import STEPS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Gpt2Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        width, self.heads = c["n_embd"], c["n_head"]
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, seq, width = x.shape
        q, k, v = (t.view(batch, seq, self.heads, -1).transpose(1, 2) for t in self.qkv(self.ln_1(x)).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, seq, width))
        return x + self.down(F.gelu(self.up(self.ln_2(x)), approximate="tanh"))


class Gpt2(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(c["vocab_size"], c["n_embd"]), nn.Embedding(c["n_positions"], c["n_embd"])
        self.blocks = nn.ModuleList(Gpt2Block(c) for _ in range(c["n_layer"]))
        self.norm = nn.LayerNorm(c["n_embd"])

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.wte.weight)


class LlamaBlock(nn.Module):
    def __init__(self, c):
        super().__init__()
        width, self.heads, self.kv = c["hidden_size"], c["num_attention_heads"], c["num_key_value_heads"]
        self.size = c.get("head_dim") or width // self.heads
        self.norm_1, self.norm_2 = (nn.RMSNorm(width, eps=c["rms_norm_eps"]) for _ in range(2))
        self.q = nn.Linear(width, self.heads * self.size, bias=False)
        self.k, self.v = (nn.Linear(width, self.kv * self.size, bias=False) for _ in range(2))
        self.out = nn.Linear(self.heads * self.size, width, bias=False)
        self.gate, self.up = (nn.Linear(width, c["intermediate_size"], bias=False) for _ in range(2))
        self.down = nn.Linear(c["intermediate_size"], width, bias=False)

    @staticmethod
    def rotate(x, cos, sin):
        a, b = x.chunk(2, -1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), -1).to(x.dtype)

    def forward(self, x, cos, sin):
        batch, seq, _ = x.shape
        y = self.norm_1(x)
        q, k, v = (linear(y).view(batch, seq, -1, self.size).transpose(1, 2) for linear in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(self.rotate(q, cos, sin), self.rotate(k, cos, sin), v, is_causal=True,
                                           enable_gqa=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, seq, -1))
        y = self.norm_2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.embed = nn.Embedding(c["vocab_size"], c["hidden_size"])
        self.blocks = nn.ModuleList(LlamaBlock(c) for _ in range(c["num_hidden_layers"]))
        self.norm = nn.RMSNorm(c["hidden_size"], eps=c["rms_norm_eps"])
        self.tied = c.get("tie_word_embeddings", False)
        self.head = None if self.tied else nn.Linear(c["hidden_size"], c["vocab_size"], bias=False)
        self.theta = c.get("rope_theta", 10000.0)

    def forward(self, tokens):
        x = self.embed(tokens)
        half = self.blocks[0].size // 2
        rates = self.theta ** -(torch.arange(half, device=x.device, dtype=torch.float32) / half)
        angles = torch.arange(tokens.shape[1], device=x.device, dtype=torch.float32)[:, None] * rates
        cos, sin = angles.cos(), angles.sin()
        for block in self.blocks:
            x = block(x, cos, sin)
        x = self.norm(x)
        return F.linear(x, self.embed.weight) if self.tied else self.head(x)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=STEPS)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--change", default="{}", help="JSON: other values of the config, seq and batch, to try it small")
    args = parser.parse_args()
    config, changes, seq, batch = STEPS[args.case]
    with open(os.path.join(ROOT, config)) as file:
        c = {**json.load(file), "seq": seq, "batch": batch, **changes, **json.loads(args.change)}
    torch.manual_seed(0)
    with torch.device(args.device):
        model = (Gpt2 if c["model_type"] == "gpt2" else Llama)(c)
        tokens = torch.randint(c["vocab_size"], (c["batch"], c["seq"] + 1))
    groups = [{"params": [p for p in model.parameters() if (p.ndim >= 2) == wide], "weight_decay": 0.1 * wide}
              for wide in (True, False)]
    optimizer = torch.optim.AdamW(groups, lr=3e-4, betas=(0.9, 0.95), fused=True)

    @torch.compile(dynamic=False)
    def loss_of(window):
        with torch.autocast(args.device, dtype=torch.bfloat16):
            logits = model(window[:, :-1])
            return F.cross_entropy(logits.flatten(0, 1), window[:, 1:].flatten())

    seconds = []
    for _ in range(args.steps):
        begin = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(tokens)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        optimizer.step()
        value = loss.item()
        seconds.append(time.perf_counter() - begin)
    print(f"seconds {statistics.median(seconds[3:]):.6f} loss {value:.4f}")


if __name__ == "__main__":
    main()
