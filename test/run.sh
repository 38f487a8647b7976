#!/usr/bin/env bash
# Installs what is missing, builds everything and runs every test. Last line: "N passed, N failed"; exits 1 if any failed.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
source "$root/cmake/setup.sh"
lit=/usr/lib/llvm-19/build/utils/lit/lit.py
passed=0 failed=0

# count SUITE RESULTS.json...: adds a suite's results; a part without results (it could not run) counts as one failure.
count() {
  local suite=$1 numbers file good=0 bad=0
  shift
  for file in "$@"; do
    numbers=$(python3 "$root/test/count_results.py" "$file" 2>/dev/null) || numbers="0 1"
    good=$((good + ${numbers% *})) bad=$((bad + ${numbers#* }))
  done
  passed=$((passed + good)) failed=$((failed + bad))
  par_say "$suite: $good passed, $bad failed"
}

# shard PROGRAM RESULTS LOG: its tests; races and leaks fail no test, but the program at its end, which then has no results.
shard() {
  "$1" --gtest_output="json:$2" >"$3" 2>&1 || grep -q '"failures": [1-9]' "$2" 2>/dev/null || rm -f "$2"
}

# shards PROGRAM RESULTS LOGS: starts a part of its tests in each of several processes, for many wait for a timeout.
shards() {
  local count=4 number
  for ((number = 0; number < count; ++number)); do
    GTEST_TOTAL_SHARDS=$count GTEST_SHARD_INDEX=$number shard "$1" "$2$number.json" "$3$number.log" &
  done
}

# sanitized NAME FLAGS: builds runtime and runtime tests in a build of their own and runs them.
sanitized() {
  local build=$root/build/sanitize-$1
  par_say "runtime under $1"
  mkdir -p "$build"; rm -f "$build"/{results,test}-*
  if { cmake -G Ninja -S "$root/runtime" -B "$build" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_COMPILER=clang-19 \
         -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache \
         -DPAR_SANITIZE="$2" && ninja -C "$build"; } >"$build/build.log" 2>&1; then
    shards "$(find "$build" -name RuntimeTests -type f)" "$build/results-runtime" "$build/test-runtime"
    wait # more at once, and ranks that are slow would be taken for some that stand still
    shards "$(find "$build" -name CudaTests -type f)" "$build/results-cuda" "$build/test-cuda"
    wait
    grep -hE -A12 ': Failure$|^\[  FAILED|ERROR: |WARNING: ThreadSanitizer' "$build"/test-*.log | head -n 80 || true
  else
    tail -n 20 "$build/build.log"
  fi
  count "runtime under $1" "$build"/results-{runtime,cuda}{0..3}.json
}

par_install_packages
par_build
results=$root/build/test/results.json
rm -f "$results"
par_say "texts, programs and executed comparisons"
python3 "$lit" -sv --order=lexical -o "$results" "$root/build/test" "$root/build/test/Unit" || true
count "texts, programs and executed comparisons" "$results"
sanitized address-undefined address,undefined
sanitized thread thread

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
