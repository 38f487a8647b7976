#!/bin/sh
# Makes Combine.ptx.inc from Combine.c with a clang that knows NVPTX: generate.sh [CLANG] > Combine.ptx.inc
# PTX 8.0 for sm_80: every driver from CUDA 12.0 on and every GPU from A100 on takes it.
set -e
cd "$(dirname "$0")"
echo 'R"PTX('
"${1:-clang-19}" -cc1 -triple nvptx64-nvidia-cuda -target-cpu sm_80 -target-feature +ptx80 -O2 -ffp-contract=off -S \
  -o - Combine.c | sed 's/[[:space:]]*\/\/.*$//' | grep -v '^[[:space:]]*$'
echo ')PTX"'
