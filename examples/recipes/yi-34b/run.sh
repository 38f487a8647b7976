#!/usr/bin/env bash
# Yi-34B (2403.04652, "Performance and Cost Efficiency"): ZeRO-1 over data-parallel ranks, tensor and pipeline
# parallelism within a node, nothing run again. The report does not say how many of each, nor the batch, nor whether
# the sequence is split: here are 128 nodes of 8 GPUs, and it is.
source "$(dirname "$0")/../recipe.sh"
model=examples/recipes/yi-34b/config.json

# Stages are par's outermost axis: unlike theirs, a stage's neighbours lie in other nodes.
at_scale $model --dtype bf16 --seq 4096 --batch 1024 --mesh pp=2,dp=128,tp=4 --sequence-parallel --zero 1 \
  --micro-batches 8 --recompute none --memory-limit 80GiB

# Seven query heads to a key, a padding token.
shrunk $model "--set num_hidden_layers=4 --set hidden_size=112 --set num_attention_heads=14 --set num_key_value_heads=2
  --set intermediate_size=320 --set vocab_size=256 --seq 32 --batch 16" \
  "--mesh pp=2,dp=2,tp=2 --sequence-parallel --zero 1 --micro-batches 4 --recompute none"
