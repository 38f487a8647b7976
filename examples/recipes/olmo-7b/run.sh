#!/usr/bin/env bash
# OLMo 7B (2402.00838, section 3): ZeRO by PyTorch's FSDP, which is stage 3. A step is 2,048 sequences of 2,048 tokens,
# 4,096 tokens a GPU: 1,024 of them. Masters and sums of gradients in f32, products in bf16. A device of theirs, half
# an MI250X, has 64 GiB.
source "$(dirname "$0")/../recipe.sh"
model=examples/recipes/olmo-7b/config.json

at_scale $model --dtype bf16 --seq 2048 --batch 2048 --mesh dp=1024 --zero 3 --memory-limit 64GiB

# Norms without parameters, a padding token.
shrunk $model "--set num_hidden_layers=3 --set hidden_size=64 --set num_attention_heads=4 --set num_key_value_heads=null
  --set intermediate_size=172 --set vocab_size=256 --seq 32 --batch 16" \
  "--mesh dp=4 --zero 3 --micro-batches 2"
