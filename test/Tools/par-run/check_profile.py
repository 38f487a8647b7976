"""check_profile.py TABLE.txt MANIFEST.json PAIRS CLASS ...: the table of --profile has these classes, its numbers fit together and the manifest. Under it
are the pairs of a query and a key that attention computes in a step, PAIRS forward and as many backward; 0: it says nothing of them."""
import json
import re
import sys


def expect(good, what):
    if not good:
        sys.exit(f"error: {what}")


def main(table, manifest, pairs, *classes):
    with open(table, encoding="utf-8") as file:
        text = file.read()
    with open(manifest, encoding="utf-8") as file:
        work = json.load(file)["programs"][0]["work"]
    head = re.search(r"^profile of rank 0, the median of (\d+) steps; this machine: copy ([\d.]+) GB/s, matrix product ([\d.]+) GFLOP/s with \d+ threads?$", text, re.M)
    expect(head and int(head[1]) == 4 and float(head[2]) > 0 and float(head[3]) > 0, "the first line")
    copy, product = float(head[2]), float(head[3])
    lines = text[head.end() :].strip("\n").split("\n")
    expect(lines[0].split() == ["class", "ms", "%", "calls", "GB/s", "GFLOP/s", "roofline"], lines[0])
    counted = re.fullmatch(r"attention computed (\d+) pairs of a query and a key forward and (\d+) backward in a step", lines[-1])
    expect([pairs, pairs] == (list(counted.groups()) if counted else ["0", "0"]), f"pairs: {lines[-1]}, expected {pairs}")
    if counted:
        lines.pop()
    rows = {}
    for line in lines[1:]:
        match = re.fullmatch(r"(\S.*?) +([\d.]+) +([\d.]+)(?: +(\d+) +([\d.]+) +([\d.]+) +([\d.]+)%)?", line)
        expect(match and match[1] not in rows, line)
        rows[match[1]] = [float(value) if value else None for value in match.groups()[1:]]
    expect(list(rows)[-1] == "step", list(rows))
    step = rows.pop("step")[0]
    expect(not set(classes) - set(rows), f"{sorted(set(classes) - set(rows))} missing among {sorted(rows)}")
    # Every row is rounded to a tenth of a microsecond.
    expect(sum(row[0] for row in rows.values()) <= step + 1e-4 * len(rows), f"classes take longer than the step of {step} ms: {rows}")
    expect([row[0] for row in rows.values()] == sorted((row[0] for row in rows.values()), reverse=True), "the longest comes first")
    for name, (milliseconds, _, calls, bandwidth, rate, roofline) in rows.items():
        parts = [entry for entry in work if entry["class"] == name and entry["times"]]
        if name in ("inputs", "other"):
            expect(calls is None, name)
            continue
        expect(calls == sum(entry["times"] for entry in parts) > 0, f"{name}: {calls} calls, the manifest has {parts}")
        if milliseconds < 0.05:
            continue  # too few digits
        for shown, key, unit in ((bandwidth, "bytes", 1e9), (rate, "flops", 1e9)):
            total = sum(entry[key] * entry["times"] for entry in parts) / unit / (milliseconds * 1e-3)
            expect(abs(shown - total) <= 0.01 + 0.01 * total, f"{name}: {shown} G{key}/s, expected {total}")
        ideal = sum(entry["times"] * max(entry["flops"] / product, entry["bytes"] / copy) for entry in parts) / 1e9
        expect(abs(roofline - ideal / milliseconds * 1e5) <= 0.2 + 0.1 * roofline, f"{name}: {roofline} %, expected {ideal / milliseconds * 1e5}")
    print("good")


if __name__ == "__main__":
    main(*sys.argv[1:])
