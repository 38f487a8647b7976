#!/usr/bin/env bash
# Gemma 2 27B (2408.00118, section 3.4 and table 3): 6,144 TPUv5p, data divided over 768 ranks with optimizer state as
# in ZeRO-3, models over 8 (tensor parallelism). The report does not say the batch, nor what is run again; here a rank
# has one sequence of 8,192 tokens at a time, whose layers are run again.
source "$(dirname "$0")/../recipe.sh"
model=examples/recipes/gemma-2-27b/config.json

at_scale $model --dtype bf16 --seq 8192 --batch 1536 --mesh dp=768,tp=8 --sequence-parallel --zero 3 \
  --micro-batches 2 --recompute full --memory-limit 95GB

# Caps, four norms per layer, windows in every second layer, scores scaled by another number than the head's size.
shrunk $model "--set num_hidden_layers=4 --set hidden_size=96 --set num_attention_heads=6 --set num_key_value_heads=2
  --set head_dim=20 --set query_pre_attn_scalar=16 --set intermediate_size=320 --set vocab_size=256
  --set sliding_window=12 --seq 32 --batch 16" \
  "--mesh dp=2,tp=2 --sequence-parallel --zero 3 --micro-batches 4 --recompute full"
