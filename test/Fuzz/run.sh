#!/usr/bin/env bash
# run.sh [SECONDS [NAME...]]: builds the fuzzers into build/fuzz with sanitizers and runs each for that long (default: 60),
# beginning with files of the test suite. Prints a row per fuzzer. Inputs that reach new code stay in build/fuzz/corpus;
# one that fails is written to build/fuzz, its path is printed, and the exit status is 1. PAR_FUZZ_JOBS=N: compile with N jobs.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
seconds=${1:-60}
[ $# -eq 0 ] || shift
names=("$@")
[ ${#names[@]} -gt 0 ] || names=(Config Cluster Plan Safetensors Manifest Tokens Tokenizer Text Checkpoint CheckpointFolder Start RunFile ChatTemplate ChatLine Graph)
build=$root/build/fuzz
export CCACHE_BASEDIR=$root CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime

mkdir -p "$build"
{ "$root/test/configure.sh" "$build" -DPAR_FUZZ=ON -DPAR_BUILD_TESTS=OFF -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -gline-tables-only -DNDEBUG" &&
  ninja -C "$build" ${PAR_FUZZ_JOBS:+-j$PAR_FUZZ_JOBS} "${names[@]/#/Fuzz}"; } >"$build/build.log" 2>&1 ||
  { tail -n 30 "$build/build.log"; exit 1; }

# seeds NAME: files that a fuzzer begins with.
seeds() {
  case $1 in
    Config) ls "$root"/examples/{configs,quickstart}/*.json "$root"/examples/recipes/*/config.json "$root"/test/Run/Inputs/*.json ;;
    Cluster) ls "$root"/examples/clusters/*.json ;;
    Plan) ls "$root"/test/Fuzz/seeds/plan*.json ;;
    Tokenizer) ls "$root"/test/Golden/tokenizer/{gpt2,llama3,qwen2,digits,prefix}.json "$root"/test/Fuzz/seeds/tokenizer*.json ;;
    Text) ls "$root"/test/Golden/tokenizer/*.ids.json "$root"/README.md ;;
    Tokens) ls "$root"/test/Golden/*/tokens.bin ;;
    Safetensors) ls "$root"/test/Golden/*/sgd.safetensors "$root"/test/Fuzz/seeds/*.safetensors ;;
    Manifest) ls "$root"/test/Fuzz/seeds/manifest*.json ;;
    Checkpoint) ls "$root"/test/Fuzz/seeds/checkpoint*.json ;;
    Start) ls "$root"/test/Fuzz/seeds/start*.bin ;;
    ChatTemplate) python3 "$root/test/Fuzz/split_templates.py" "$root/test/Golden/chat/cases.json" "$build/templates" && ls "$build"/templates/* ;;
    ChatLine) python3 "$root/test/Fuzz/chat_lines.py" "$root/test/Golden/chat/cases.json" "$build/lines" && ls "$build"/lines/* ;;
    RunFile) ls "$root"/test/Fuzz/seeds/*.toml ;;
    CheckpointFolder) ls "$root"/test/Fuzz/seeds/folder*.json ;;
    Graph) python3 "$root/test/Fuzz/split_graphs.py" "$build/graphs" "$root"/test/Dialect "$root"/test/Run && ls "$build"/graphs/*.mlir ;;
  esac
}

# The words of a fuzzer's language, as a libFuzzer dictionary.
dictionary() {
  if [ "$1" = Graph ]; then
    cat "$build"/graphs/*.mlir | grep -oE '[#@!]?[a-z][a-z0-9_]*(\.[a-z0-9_]+)?' | sort | uniq -c | awk '$1 > 2 { print "\"" $2 "\"" }'
  elif [ "$1" = RunFile ]; then
    cat "$root/test/Fuzz/toml.dict"
  else
    cat "$root/test/Fuzz/json.dict"
  fi
}

# run NAME: one fuzzer, and its row of the table.
run() {
  local name=$1 log=$build/$1.log length=65536 runs crashes cpu
  [ "$name" != Text ] && [ "$name" != Graph ] || length=4000 # longer ones are slow and reach nothing else
  mkdir -p "$build/corpus/$name" "$build/seeds/$name"
  seeds "$name" | xargs -I{} cp {} "$build/seeds/$name/"
  dictionary "$name" >"$build/$name.dict"
  # LLVM's allocators mark their memory for the sanitizer where they are instrumented, but libMLIR is not.
  { TIMEFORMAT='cpu %U %S'; time ASAN_OPTIONS=allow_user_poisoning=0 "$build/bin/Fuzz$name" "$build/corpus/$name" "$build/seeds/$name" \
      -dict="$build/$name.dict" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -max_len="$length" \
      -print_final_stats=1 -artifact_prefix="$build/$name-" -verbosity=0; } >"$log" 2>&1 || true
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  cpu=$(awk '$1 == "cpu" { print $2 + $3 }' "$log")
  crashes=$(find "$build" -maxdepth 1 -newer "$build/$name.dict" -name "$name-*" ! -name '*-slow-unit-*' | wc -l)
  printf '%-12s %12s %12.0f %8s\n' "$name" "${runs:-0}" "${cpu:-0}" "$crashes"
  [ -n "$runs" ] && [ "$crashes" -eq 0 ] || { tail -n 25 "$log"; failed=1; }
}

failed=0
printf '%-12s %12s %12s %8s\n' fuzzer runs 'CPU seconds' failures
for name in "${names[@]}"; do
  run "$name"
done
exit $failed
