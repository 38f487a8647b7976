#!/usr/bin/env bash
# Installs what is missing, builds everything and runs every test. Last line: "N passed, N failed"; exits 1 if any failed.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
source "$root/cmake/setup.sh"
lit=/usr/lib/llvm-19/build/utils/lit/lit.py
passed=0 failed=0

# count RESULTS.json SUITE: adds a suite's results; a suite without results (it could not run) counts as one failure.
count() {
  local numbers
  numbers=$(python3 "$root/test/count_results.py" "$1" 2>/dev/null) || numbers="0 1"
  read -r good bad <<<"$numbers"
  passed=$((passed + good)) failed=$((failed + bad))
  par_say "$2: $good passed, $bad failed"
}

# sanitized NAME FLAGS: builds runtime and runtime tests in a build of their own and runs them.
sanitized() {
  local build=$root/build/sanitize-$1 results=$root/build/sanitize-$1/results.json
  par_say "runtime under $1"
  mkdir -p "$build"; rm -f "$results"
  if { cmake -G Ninja -S "$root/runtime" -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=clang-19 \
         -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache \
         -DPAR_SANITIZE="$2" && ninja -C "$build"; } >"$build/build.log" 2>&1; then
    local program
    program=$(find "$build" -name RuntimeTests -type f -perm -u+x | head -n 1)
    "$program" --gtest_output="json:$results" >"$build/test.log" 2>&1 || grep -E 'FAILED|ERROR|WARNING: ThreadSanitizer' "$build/test.log" | head -n 20 || true
  else
    tail -n 20 "$build/build.log"
  fi
  count "$results" "runtime under $1"
}

par_install_packages
par_build
results=$root/build/test/results.json
rm -f "$results"
par_say "texts, programs and executed comparisons"
python3 "$lit" -sv --order=lexical -o "$results" "$root/build/test" "$root/build/test/Unit" || true
count "$results" "texts, programs and executed comparisons"
sanitized address-undefined address,undefined
sanitized thread thread

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
