"""Parses a report and the summary of the same compilation: check_report.py REPORT.html SUMMARY"""
import re
import sys
import xml.etree.ElementTree as tree


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


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    with open(sys.argv[2], encoding="utf-8") as file:
        peaks = re.findall(r"^peak memory per rank (?:of stage \d+ )?(\d+) bytes", file.read(), re.M)
    assert "http" not in text and "src=" not in text, "the page refers to other files"
    page = tree.fromstring(text.replace("<!DOCTYPE html>", "").replace('<meta charset="utf-8">', ""))
    pictures = page.findall(".//svg[@role='img']")[-2 * len(peaks):]
    for stage, peak in enumerate(peaks):
        check_stage("".join(page.itertext()), peak, *pictures[2 * stage:2 * stage + 2])
    print(len(page.findall(".//table")[-1].findall("tr")) - 1, "collectives")


main()
