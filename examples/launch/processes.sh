#!/usr/bin/env bash
# processes.sh DIR.par FLAGS...: one process per rank on this machine, over TCP. PORT is rank 0's (default 29500).
set -euo pipefail
source "$(dirname "$0")/world_size.sh"
package=${1:-}
size=$(par_world_size "$package")
shift
export MASTER_ADDR=127.0.0.1 MASTER_PORT=${PORT:-29500}
pids=()
trap 'kill -TERM "${pids[@]}" 2>/dev/null || true' TERM INT
trap 'kill -USR1 "${pids[@]}" 2>/dev/null || true' USR1
for ((rank = 0; rank < size; ++rank)); do
  "$package/rank" --rank "$rank" "$@" &
  pids+=($!)
done
code=0
for pid in "${pids[@]}"; do
  # A signal ends the wait, not the process.
  while true; do
    status=0
    wait "$pid" || status=$?
    kill -0 "$pid" 2>/dev/null || break
  done
  [ "$status" -eq 0 ] || code=1
done
exit "$code"
