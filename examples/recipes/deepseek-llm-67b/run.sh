#!/usr/bin/env bash
# DeepSeek-LLM 67B (2401.02954): 4,608 sequences of 4,096 tokens a step. The paper names data, tensor, sequence and
# 1F1B pipeline parallelism and ZeRO-1, parameters in bf16 and gradients summed in f32. It does not say how many of
# each: here are 2,048 GPUs.
source "$(dirname "$0")/../recipe.sh"
model=examples/recipes/deepseek-llm-67b/config.json

at_scale $model --dtype bf16 --seq 4096 --batch 4608 --mesh pp=4,dp=64,tp=8 --sequence-parallel --zero 1 \
  --schedule 1f1b --micro-batches 72 --memory-limit 80GiB

# An odd number of layers, eight query heads to a key.
shrunk $model "--set num_hidden_layers=5 --set hidden_size=64 --set num_attention_heads=16 --set num_key_value_heads=2
  --set intermediate_size=176 --set vocab_size=256 --seq 32 --batch 16" \
  "--mesh pp=2,dp=2,tp=2 --sequence-parallel --zero 1 --schedule 1f1b --micro-batches 4"
