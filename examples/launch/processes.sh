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

# All ranks end within seconds of the first that fails, and rank 0 says why. What is left after ten cannot: a process that
# is stopped, or ranks that wait for one that was killed before it reached them, which nobody else has noticed.
code=0 first='' failed_at=0
while [ ${#pids[@]} -gt 0 ]; do
  running=()
  for pid in "${pids[@]}"; do
    if kill -0 "$pid" 2>/dev/null; then
      running+=("$pid")
      continue
    fi
    status=0
    wait "$pid" || status=$?
    [ "$status" -eq 0 ] || [ "$code" -ne 0 ] || { code=1; first=$status; failed_at=$SECONDS; }
  done
  pids=("${running[@]}")
  if [ ${#pids[@]} -gt 0 ] && [ "$code" -ne 0 ] && [ $((SECONDS - failed_at)) -ge 10 ]; then
    line="processes.sh: a rank ended with code $first; the ${#pids[@]} that did not end with it were killed"
    [ "$first" -le 128 ] || line="error: $line"
    echo "$line" >&2
    kill -KILL "${pids[@]}" 2>/dev/null || true
  fi
  sleep 0.1 &
  wait $! || true # a signal ends the wait, and its trap runs
done
exit "$code"
