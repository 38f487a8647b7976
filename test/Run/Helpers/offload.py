"""Where optimizer state is, by two manifests of one model and what a run of the first measured: offload.py AWAY.par HERE.par METRICS"""
import json
import os
import sys


def read(package):
    with open(os.path.join(package, "manifest.json"), encoding="utf-8") as file:
        return json.load(file)


def main():
    away, here = (read(package)["memory"][0] for package in sys.argv[1:3])
    kept = here["arena_bytes"]["optimizer"]
    # Offsets are multiples of 64.
    moved = abs(away["host_peak_bytes"] - kept) < 64 * len(read(sys.argv[1])["programs"][0]["variables"])
    print(f"optimizer bytes on the device: {away['arena_bytes']['optimizer']}; on the host: "
          + ("as many as there were" if moved else f"{away['host_peak_bytes']}, expected {kept}"))
    if here["host_peak_bytes"] or away["peak_bytes"] >= here["peak_bytes"]:
        sys.exit(f"peaks: {here}, {away}")
    with open(sys.argv[3], encoding="utf-8") as file:
        measured = [(line["peak_bytes"], line.get("host_peak_bytes")) for line in map(json.loads, file)]
    if not measured or set(measured) != {(away["peak_bytes"], away["host_peak_bytes"])}:
        sys.exit(f"measured {measured}, planned {away}")
    spaces = {v["role"]: v.get("space", "device") for v in read(sys.argv[1])["programs"][0]["variables"]}
    if [role for role, space in sorted(spaces.items()) if space == "host"] != ["master", "moment"]:
        sys.exit(f"roles are in {spaces}")


main()
