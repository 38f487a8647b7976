#!/usr/bin/env bash
# prepare.sh FOLDER [--chip sm_90] [--cases NAME,..]: compiles packages for GPUs, and what they must compute, into a
# folder that run.sh needs on a machine with a GPU: no compiler is needed there. Needs a build (README.md). What is
# there already stays.
set -euo pipefail
exec python3 "$(dirname "$0")/prepare.py" "$@"
