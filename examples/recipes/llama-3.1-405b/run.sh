#!/usr/bin/env bash
# Llama 3.1 405B on 16,384 H100 (2407.21783, section 3.3.2 and table 4): tensor parallelism 8, pipeline 16, data 128,
# 16 sequences of 8,192 tokens for each of those, interleaved stages, nothing run again. They shard optimizer states
# and gradients and keep parameters between forward and backward pass: --zero 2.
source "$(dirname "$0")/../recipe.sh"
model=examples/configs/llama-3.1-405b.json

at_scale $model --dtype bf16 --seq 8192 --batch 2048 --mesh pp=16,dp=128,tp=8 --sequence-parallel --zero 2 \
  --schedule interleaved-1f1b --micro-batches 16 --recompute none --memory-limit 80GiB

# Sixteen query heads to a key, Llama 3.1's rotary scaling.
shrunk $model "--set num_hidden_layers=6 --set hidden_size=64 --set num_attention_heads=32 --set num_key_value_heads=2
  --set intermediate_size=208 --set vocab_size=256 --seq 32 --batch 16" \
  "--mesh pp=2,dp=2,tp=2 --sequence-parallel --zero 2 --schedule interleaved-1f1b --micro-batches 4 --recompute none"
