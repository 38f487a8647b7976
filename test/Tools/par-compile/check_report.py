"""Parses a report and the summary of the same compilation: check_report.py REPORT.html SUMMARY"""
import re
import sys
import xml.etree.ElementTree as tree


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    with open(sys.argv[2], encoding="utf-8") as file:
        peak = re.search(r"per rank (\d+) bytes", file.read()).group(1)
    assert "http" not in text and "src=" not in text, "the page refers to other files"
    page = tree.fromstring(text.replace("<!DOCTYPE html>", "").replace('<meta charset="utf-8">', ""))
    if f"({peak} bytes)" in "".join(page.itertext()):
        print("peak agrees")
    areas, map_ = page.findall(".//svg[@role='img']")
    print(len(areas.findall("polygon")), "categories")
    buffers = [rect for rect in map_.findall("rect") if "buffer" in rect.get("class")]
    ends = []
    for rect in buffers:
        bytes_, offset = re.search(r"(\d+) bytes at (\d+)$", rect.find("title").text).groups()
        ends.append(int(bytes_) + int(offset))
    assert max(ends) == int(peak), f"the highest buffer ends at {max(ends)}"
    print(len(buffers), "buffers")
    print(len(page.findall(".//table")[-1].findall("tr")) - 1, "collectives")


main()
