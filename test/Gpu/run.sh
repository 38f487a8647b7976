#!/usr/bin/env bash
# run.sh FOLDER [PART..]: runs what prepare.sh made on a machine with a GPU. Needs the folder, this one and Python, no
# compiler. Every case is written to FOLDER/results when it is over, so a run that was stopped goes on where it was;
# exit code 75 says that a part's time (--limit) was over. `report` prints what there is.
set -euo pipefail
exec python3 "$(dirname "$0")/run.py" "$@"
