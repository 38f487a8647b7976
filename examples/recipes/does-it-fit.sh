#!/usr/bin/env bash
# The default does not fit one device: par says so before anything runs, and what would.
#
#   examples/recipes/does-it-fit.sh            all of it; the last part trains and needs about 16 GB of memory
#   examples/recipes/does-it-fit.sh plan       compiled only
#
# PAR_BIN: where par-compile and par-run are (default: build/bin, or where par is installed).
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${PAR_BIN:-$([ -d build/bin ] && echo build/bin || echo ../../bin)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "error: $*" >&2; exit 1; }

echo "== Llama 3.1 8B on one device of 80 GiB"
if "$bin/par-compile" examples/configs/llama-3.1-8b.json --dry-run --memory-limit 80GiB 2> "$work/error"; then
  fail "the plan for one device was accepted"
fi
grep "^error" "$work/error"
remedy=$(grep -o 'it fits with --mesh tp=[0-9]*' "$work/error" | grep -o -- '--mesh.*') || fail "no mesh was named that fits"

echo "== what it named: $remedy"
# shellcheck disable=SC2086
"$bin/par-compile" examples/configs/llama-3.1-8b.json --dry-run --memory-limit 80GiB $remedy | head -5
[ "$remedy" = "--mesh tp=4" ] || fail "tp=4 was expected"
[ "${1:-}" = plan ] && exit

echo "== Llama 3.2 1B, 8 of its layers, 128 tokens: here"
for tp in 1 2 4; do
  "$bin/par-compile" examples/configs/llama-3.2-1b.json --set num_hidden_layers=8 --seq 128 --batch 1 --mesh "tp=$tp" \
    -o "$work/tp$tp.par" > "$work/summary"
  "$bin/par-run" "$work/tp$tp.par" --steps 4 --data random --seed 1 --metrics "$work/tp$tp.jsonl" > /dev/null
  python3 - "$tp" "$work/tp$tp.jsonl" <<'P'
import json
import statistics
import sys

with open(sys.argv[2]) as file:
    lines = [json.loads(line) for line in file]
print(f"tp={sys.argv[1]}  {statistics.median(line['step_seconds'] for line in lines[1:]):.2f} s per step  "
      f"{lines[0]['peak_bytes'] / 2**30:.2f} GiB per rank  loss {lines[0]['loss']:.5f} -> {lines[-1]['loss']:.5f}")
P
  rm -rf "$work/tp$tp.par"
done
