"""check_strategies.py COMMAND: runs `COMMAND --compare --json`; prints its strategies where each keeps to itself and none beats the best plan."""
import json
import subprocess
import sys

EXPECTED = {"data parallelism": "dp", "ZeRO-1": "dp", "ZeRO-2": "dp", "ZeRO-3": "dp", "tensor parallelism": "tp", "pipeline": "pp"}
done = subprocess.run([*sys.argv[1:], "--compare", "--json", "--top", "1"], capture_output=True, text=True)
if done.returncode:
    sys.exit(done.stderr)
answer = json.loads(done.stdout)
best = answer["plans"][0]["step_seconds"]
for row in answer["strategies"]:
    if "step_seconds" not in row:
        continue
    axes = {axis: size for axis, size in row["mesh"] if size > 1}
    zero = row["strategy"].partition("ZeRO-")[2]
    if row["step_seconds"] < best * 0.999999:
        sys.exit(f"{row['strategy']} beats the best plan: {row['step_seconds']} < {best}")
    if set(axes) != {EXPECTED[row["strategy"]]} or (zero and f"--zero {zero}" not in row["flags"]):
        sys.exit(f"{row['strategy']}: {row['flags']}")
print(", ".join(row["strategy"] for row in answer["strategies"]) + ": none beats the best plan")
