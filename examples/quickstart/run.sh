#!/usr/bin/env bash
# Trains two small language models on the licence texts that every Debian has: each on one rank and on four ranks
# (two-way data times two-way tensor parallelism). The losses must agree.
#   examples/quickstart/run.sh [STEPS]
# In par's source tree: installs what is missing and builds par first. Where par is installed (share/par/examples): with
# those tools, in the folder par-quickstart below the present one.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
steps=${1:-60}
if [ -f "$root/cmake/setup.sh" ]; then
  source "$root/cmake/setup.sh"
  bin=$root/build/bin work=$root/build/quickstart
else
  par_say() { printf '== %s\n' "$*"; }
  par_fail() { printf 'error: %s\n' "$*" >&2; exit 1; }
  par_install_packages() { :; }
  par_build() { :; }
  bin=$root/../../bin work=$PWD/par-quickstart
fi
[[ $steps =~ ^[1-9][0-9]*$ ]] || par_fail "STEPS is '$steps', expected a positive number"
par_install_packages
par_build par-compile par-run

mkdir -p "$work"
# Model tokens are bytes (a vocabulary of 256), so any text is data as it is.
find -L /usr/share/common-licenses -maxdepth 1 -type f | sort | xargs cat >"$work/text"
par_say "text: $(wc -c <"$work/text") bytes of /usr/share/common-licenses"

# train MODEL NAME MESH
train() {
  local package=$work/$1-$2.par
  rm -rf "$package"
  par_say "compile $1 for $3"
  "$bin/par-compile" "$here/$1.json" -o "$package" --seq 64 --batch 8 --mesh "$3"
  par_say "train $1 on $3"
  "$bin/par-run" "$package" --steps "$steps" --data "$work/text" --lr 1e-3 --warmup-steps 10 --seed 1 --metrics "$work/$1-$2.jsonl"
}

for model in gpt2 llama; do
  train $model one dp=1
  train $model many dp=2,tp=2
done
python3 "$here/compare.py" "$work" gpt2 llama
