#!/usr/bin/env bash
# The script 7-families.sh with one number changed. The original trains Gemma 2's golden case for three steps and asks that the third loss be
# lower than the first. The three steps have other tokens: in PyTorch's f64 they lose 5.3659, 5.2166 and 5.4675 (golden.json, adamw), so it
# is not. Here the fourth step has the tokens of the first again.
# The dense families of today: published sizes, golden values under plans, documents apart, generation, export, GPU kernels executed.
set -euo pipefail
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
here=${PAR_ACCEPTANCE:?the folder of golden.py and train.py}; bin=$(realpath "${PAR_BIN:-build/bin}"); golden=$here/../golden; out=$(mktemp -d); trap 'rm -rf "$out"' EXIT
# refuse PATTERN COMMAND..: exit 1 and one error line, which the pattern finds
refuse() {
  local pattern=$1 text status=0; shift
  text=$("$@" 2>&1 >/dev/null) || status=$?
  if [ "$status" != 1 ] || [ "$(grep -cE '(^|: )error: ' <<< "$text")" != 1 ] || ! grep -qE "$pattern" <<< "$text"; then
    echo "FAIL exit $status, expected 1 and one error line with /$pattern/: $*"; echo "     ${text:0:300}"; return 1
  fi
  echo "ok   $(grep -m1 'error: ' <<< "$text" | cut -c1-180)"
}
echo "== published sizes"
BIN=$bin OUT=$out python3 - <<'P'
import json, os, subprocess, sys
rope = {"max_position_embeddings": 8192, "rope_theta": 10000.0}
gemma = {**rope, "head_dim": 256, "hidden_activation": "gelu_pytorch_tanh", "query_pre_attn_scalar": 256, "pad_token_id": 0}


def sizes(vocab, hidden, mlp, layers, heads, kv, tied):
    return {"vocab_size": vocab, "hidden_size": hidden, "intermediate_size": mlp, "num_hidden_layers": layers, "num_attention_heads": heads,
            "num_key_value_heads": kv, "tie_word_embeddings": tied}


text = {"model_type": "gemma3_text", **sizes(262144, 1152, 6912, 26, 4, 1, True), **gemma, "sliding_window": 512, "sliding_window_pattern": 6, "rope_local_base_freq": 10000}
models = {
    "Qwen3-8B": (8190735360, {"model_type": "qwen3", **sizes(151936, 4096, 12288, 36, 32, 8, False), **rope, "head_dim": 128, "attention_bias": False}),
    "Gemma-2-9B": (9241705984, {"model_type": "gemma2", **sizes(256000, 3584, 14336, 42, 16, 8, True), **gemma, "sliding_window": 4096,
                                "attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0}),
    "Gemma-3-1B": (999885952, text),
    "Gemma-3-1B as text_config": (999885952, {"model_type": "gemma3", "text_config": text}),
    "OLMo-2-7B": (7298617344, {"model_type": "olmo2", **sizes(100352, 4096, 11008, 32, 32, 32, False), **rope, "pad_token_id": 100277}),
    "SmolLM3-3B": (3075098624, {"model_type": "smollm3", **sizes(128256, 2048, 11008, 36, 16, 4, True), **rope, "pad_token_id": 128004})}
failed = False
for name, (expected, config) in models.items():
    path = os.path.join(os.environ["OUT"], "config.json")
    with open(path, "w") as file:
        json.dump(config, file)
    done = subprocess.run([os.path.join(os.environ["BIN"], "par-import"), path, "--summary"], capture_output=True, text=True)
    counted = json.loads(done.stdout)["parameters"] if done.returncode == 0 else done.stderr.strip()
    failed |= counted != expected
    print(f"{'ok  ' if counted == expected else 'FAIL'} {name}: {counted} parameters, published {expected}", flush=True)
sys.exit(failed)
P
echo "== golden values, generation"
run() { "$here/golden.py" --bin "$bin" "$@"; }
for case in qwen3 gemma2 gemma3 olmo2 smollm3; do
  run --generate --case "$golden/$case" --plan "" --plan "--mesh tp=2 --sequence-parallel" --plan "--mesh dp=2,tp=2 --zero 3 --recompute full"
  run --case "$golden/$case" --plan "--mesh tp=4" --plan "--mesh pp=2,dp=2 --micro-batches 2 --zero 1 --recompute selective"
done
echo "== documents apart"
for case in llama-packed gpt2-packed; do
  run --case "$golden/$case" --plan "" --plan "--mesh dp=2,tp=2 --zero 2" --plan "--mesh tp=2 --sequence-parallel --micro-batches 2" --plan "--mesh pp=2 --micro-batches 2"
done
echo "== bf16, processes"
for case in qwen3 gemma2; do
  "$here/train.py" --bin "$bin" --config "$golden/$case" --data "$golden/$case/tokens.bin" --run-flags "--weights $golden/$case" --seq 24 --batch 4 --steps 4 --dtype bf16 --tolerance 1e-2 --plan "--mesh dp=2,tp=2"
done
"$here/train.py" --bin "$bin" --config "$golden/gemma3" --data "$golden/gemma3/tokens.bin" --run-flags "--weights $golden/gemma3" --seq 24 --batch 4 --steps 3 --launcher "mpirun --oversubscribe -np 4" --plan "--mesh dp=2,tp=2 --zero 1"
echo "== out again: the trained weights have the names and shapes of the folder that came in"
for case in qwen3 gemma2 olmo2; do
  "$bin/par-compile" "$golden/$case" -o "$out/e.par" --seq 24 --batch 4 --mesh tp=2 > /dev/null
  "$bin/par-run" "$out/e.par" --steps 1 --data "$golden/$case/tokens.bin" --weights "$golden/$case" --checkpoint "$out/$case" --checkpoint-every 1 > /dev/null
  "$bin/par-export" "$out/e.par" --checkpoint "$out/$case" -o "$out/$case-hf" > /dev/null
  cmp -s "$golden/$case/config.json" "$out/$case-hf/config.json" || python3 -c "import json, sys; a, b = (json.load(open(p)) for p in sys.argv[1:]); sys.exit({k for k in a if a[k] is not None and a[k] != b.get(k)} - {'transformers_version'} != set())" "$golden/$case/config.json" "$out/$case-hf/config.json"
  HERE=$here python3 -c "import os, sys; sys.path.insert(0, os.environ['HERE']); from train import read_safetensors; a, b = ({n: s for n, (s, _) in read_safetensors(p + '/model.safetensors').items()} for p in sys.argv[1:]); print('ok  ', len(a), 'tensors') if a == b else sys.exit(f'FAIL {sorted(set(a.items()) ^ set(b.items()))[:4]}')" "$golden/$case" "$out/$case-hf"
done
echo "== GPU kernels, executed on the CPU: norms of heads, caps, windows by layer, documents"
gpu() { LD_LIBRARY_PATH="$(realpath "${PAR_STANDIN:-build/lib/standin}")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$here/golden.py" --bin "$bin" --emulate "$@"; }
for case in qwen3 gemma2 gemma3 llama-packed; do gpu --case "$golden/$case" --plan "--target cuda" --plan "--target cuda --mesh tp=2"; done
echo "== bad input"
# set_key CASE KEY JSON: the config of a case with another value
set_key() { python3 -c "import json, sys; c = json.load(open(sys.argv[1] + '/config.json')); c[sys.argv[2]] = json.loads(sys.argv[3]); json.dump(c, open(sys.argv[4], 'w'))" "$golden/$1" "$2" "$3" "$out/config.json"; }
import() { "$bin/par-import" "$out/config.json" --summary; }
set_key gemma2 layer_types '["full_attention"]'; refuse "layer_types.*3" import
set_key gemma3 layer_types '["full_attention", "chunked_attention", "full_attention", "full_attention"]'; refuse "chunked_attention" import
set_key gemma2 attn_logit_softcapping '-1'; refuse "attn_logit_softcapping" import
set_key gemma2 sliding_window 0; refuse "sliding_window" import
set_key smollm3 no_rope_layers '[1, 0]'; refuse "no_rope_layers.*4" import
set_key qwen3 rope_scaling '{"rope_type": "yarn", "factor": -4.0}'; refuse "factor" import
set_key qwen3 rope_scaling '{"rope_type": "longrope", "factor": 4.0}'; refuse "longrope" import
"$bin/par-compile" "$golden/llama-packed" -o "$out/d.par" --seq 24 --batch 4 --documents isolate > /dev/null
refuse "document-end" "$bin/par-run" "$out/d.par" --steps 1 --data "$golden/llama-packed/tokens.bin"
"$bin/par-compile" "$golden/llama-packed" -o "$out/p.par" --seq 24 --batch 4 > /dev/null
refuse "par-compile.*--documents isolate" "$bin/par-run" "$out/p.par" --steps 1 --data "$golden/llama-packed/tokens.bin" --documents isolate --document-end 0
