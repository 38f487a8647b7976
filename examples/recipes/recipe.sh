# The two commands of a recipe, for the scripts in the folders here. Source it.
#   at_scale MODEL FLAG...         the published plan, compiled without machine code: memory of every stage, traffic
#   shrunk MODEL SIZES PLAN        a small model of that family, trained by such a plan and on one rank: the losses
#                                  must agree
# SIZES and PLAN are flags of par-compile, words between spaces. PAR_BIN: where par-compile and par-run are (default:
# build/bin, or where par is installed).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
bin=${PAR_BIN:-$([ -d build/bin ] && echo build/bin || echo ../../bin)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run() { echo "+ $*"; "$@"; }

at_scale() {
  echo "== at its published size"
  run "$bin/par-compile" "$@" --dry-run
}

shrunk() {
  local model=$1 sizes=$2 plan=$3 name
  echo "== shrunk, trained here"
  for name in one many; do
    # shellcheck disable=SC2086
    run "$bin/par-compile" "$model" $sizes $([ $name = one ] || echo "$plan") -o "$work/$name.par" | grep '^[+r]'
    run "$bin/par-run" "$work/$name.par" --steps 12 --data /usr/share/common-licenses/GPL-3 --data-dtype uint8 --lr 3e-3 \
      --seed 1 --metrics "$work/shrunk-$name.jsonl" | grep -v '^step'
  done
  python3 examples/quickstart/compare.py "$work" shrunk
}
