"""Parses a report and the summary of the same compilation: check_report.py REPORT.html SUMMARY"""
import re
import sys
import xml.etree.ElementTree as tree


def check_time(page):
    """What a stage does and holds over time: no two actions at once, and never more bytes than are live at once."""
    picture = page.find(".//svg[@class='stages']")
    rows = {}
    for rect in picture.findall("rect"):
        rows.setdefault(rect.get("y"), []).append((float(rect.get("x")), float(rect.get("width"))))
    for row in rows.values():
        assert all(x + width <= after + 0.02 for (x, width), (after, _) in zip(row, row[1:])), "actions overlap"
    held = [polygon for polygon in picture.findall("polygon")]
    assert len(held) == len(rows)
    for polygon in held:
        heights = [float(point.split(",")[1]) for point in polygon.get("points").split()]
        assert min(heights) < heights[0] == heights[-1] == max(heights), "nothing is held"
    most = [int(re.search(r"at most (\d+) bytes live", polygon.find("title").text)[1]) for polygon in held]
    return len(rows), sum(map(len, rows.values())), most


def check_stage(text, peak, areas, map_):
    if f"({peak} bytes)" in text:
        print("peak agrees")
    print(len(areas.findall("polygon")), "categories")
    buffers = [rect for rect in map_.findall("rect") if "buffer" in rect.get("class")]
    ends = []
    for rect in buffers:
        bytes_, offset = re.search(r"(\d+) bytes at (\d+)$", rect.find("title").text).groups()
        ends.append(int(bytes_) + int(offset))
    assert max(ends) == int(peak), f"the highest buffer ends at {max(ends)}"
    print(len(buffers), "buffers")


def check_collectives(table, summary):
    """The rows are those of the summary by cause: of one stage they add up to it."""
    header, *rows = [["".join(cell.itertext()) for cell in row] for row in table.findall("tr")]
    sums = {}
    for row in rows:
        row = dict(zip(header, row))
        size, calls = sums.get((row["kind"], row["axes"]), (0, 0))
        sums[row["kind"], row["axes"]] = (size + int(row["bytes per rank"]), calls + int(row["calls"]))
    for size, calls, kind, axes in re.findall(r"^(\d+) bytes .*?in (\d+) calls per rank and step: (\w+) over (.*)$", summary, re.M):
        assert sums[kind, axes] == (int(size), int(calls)), f"{kind} over {axes}: {sums[kind, axes]}, the summary has {size} bytes in {calls} calls"
    print(len(rows), "collectives")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    with open(sys.argv[2], encoding="utf-8") as file:
        summary = file.read()
    peaks = re.findall(r"^peak memory per rank (?:of stage \d+ )?(\d+) bytes", summary, re.M)
    assert "http" not in text and "src=" not in text, "the page refers to other files"
    page = tree.fromstring(text.replace("<!DOCTYPE html>", "").replace('<meta charset="utf-8">', ""))
    rows, actions, most = check_time(page)
    assert all(f"no packing can go below: {bytes_} " in "".join(page.itertext()) for bytes_ in most) and rows == len(peaks)
    print(rows, "stages,", actions, "actions")
    pictures = page.findall(".//svg[@role='img']")[-2 * len(peaks):]
    for stage, peak in enumerate(peaks):
        check_stage("".join(page.itertext()), peak, *pictures[2 * stage:2 * stage + 2])
    check_collectives(page.findall(".//table")[-1], summary)


main()
