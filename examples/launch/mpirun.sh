#!/usr/bin/env bash
# mpirun.sh DIR.par FLAGS...: one process per rank under Open MPI. HOSTFILE names a file of machines ("node0 slots=4" per line);
# MPIRUN_FLAGS are handed to mpirun, for example "--bind-to core".
set -euo pipefail
source "$(dirname "$0")/world_size.sh"
package=${1:-}
size=$(par_world_size "$package")
shift
# shellcheck disable=SC2086
exec mpirun -np "$size" ${HOSTFILE:+--hostfile "$HOSTFILE"} ${MPIRUN_FLAGS:-} "$package/rank" "$@"
