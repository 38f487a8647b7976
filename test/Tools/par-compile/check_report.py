"""Parses a report and what par-compile --explain says of the same compilation: check_report.py REPORT.html SUMMARY"""
import re
import sys
import xml.etree.ElementTree as tree

sys.path.append(sys.path[0] + "/../../Run/Helpers")
from summary import expand, read_memory, read_sent

BOX = re.compile(r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)h-([\d.]+)z")


def read_boxes(path):
    """(x, y, width, height) of each box of a shape."""
    return [tuple(map(float, box[:4])) for box in BOX.findall(path.get("d"))]


def get_highest(path):
    """The least y of an outline that is drawn by steps across and down."""
    y = lowest = float(re.match(r"M[\d.]+ ([\d.]+)", path.get("d"))[1])
    for command, number in re.findall(r"([vV])(-?[\d.]+)", path.get("d")):
        y = y + float(number) if command == "v" else float(number)
        lowest = min(lowest, y)
    return lowest


def check_ticks(picture):
    """Steps are equal, of 1, 2 or 5 times a power of ten of one unit."""
    labels = [text.text for line, text in zip(picture, picture[1:]) if line.get("class") == "axis" and text.tag == "text" and re.fullmatch(r"0|[\d.]+ ([KMGT]iB|bytes|s|ms|µs)", text.text)]
    values = [float(label.split()[0]) for label in labels]
    assert len(values) > 2 and len({label.split()[1] for label in labels[1:]}) == 1, labels
    step = values[1]
    assert values == [round(number * step, 9) for number in range(len(values))] and f"{step:e}"[0] in "125" and float(f"{step:e}"[:8]) in (1, 2, 5), labels


def check_time(page):
    """What a stage does and holds over time: no two actions at once, and colours that the legend says."""
    picture = page.find(".//svg[@class='stages']")
    check_ticks(picture)
    styles = {span.find("svg/rect").get("class") for span in page.find(".//p[@class='legend']")}
    drawn = {group.get("class") for group in picture.iterfind("g/g")} | {path.get("class") for path in picture.iterfind("g/path")}
    assert styles == drawn, (styles, drawn)
    actions = 0
    for stage in picture.findall("g"):
        boxes = sorted(box for path in stage.iterfind("g/path") for box in read_boxes(path))
        assert all(y == 0 for _, y, *_ in boxes) and boxes
        assert all(x + width <= after + 0.101 for (x, _, width, _), (after, *_) in zip(boxes, boxes[1:])), "actions overlap"
        actions += len(boxes)
        for text in stage.iterfind("g/text"):
            assert any(x < float(text.get("x")) < x + width for x, _, width, _ in boxes), "a number stands in no box"
        held = stage.find("path[@class='held']")
        assert get_highest(held) < float(re.match(r"M[\d.]+ ([\d.]+)", held.get("d"))[1]), "nothing is held"
    return len(picture.findall("g")), actions


def check_stage(kind, peak, areas, arena):
    """The pictures of a stage: the areas and the buffers end where the peak is on the axis."""
    for picture in (areas, arena):
        check_ticks(picture)
    texts = [text for line, text in zip(arena, arena[1:]) if line.get("class") == "axis" and text.get("text-anchor") == "end"]
    y0, y1 = (float(text.get("y")) - 4 for text in texts[:2])
    number, unit = texts[1].text.split()
    tick = float(number) * 1024 ** ("bytes", "KiB", "MiB", "GiB", "TiB").index(unit)
    expected = y0 + (y1 - y0) * peak / tick
    buffers = [box for path in arena.iterfind("g/path") for box in read_boxes(path)]
    highest = min(y for _, y, *_ in buffers) / 10
    assert abs(highest - expected) < 0.25, f"stage {kind}: the highest buffer ends at {highest}, the peak is at {expected}"
    for path in arena.iterfind("g/path"):
        named = re.search(r"(\d+) buffers of", path.find("title").text)
        assert len(read_boxes(path)) == (int(named[1]) if named else 1), path.find("title").text
    print(len(areas.findall("g/path")), "categories")
    print(len(buffers), "buffers")


def check_memory(page, memory):
    """Stages of one kind hold the same, and every stage is of one."""
    text = "".join(page.itertext())
    folds = [fold for fold in page.iterfind(".//details") if fold.find("summary").text.startswith("Stage")]
    kinds = [re.match(r"Stages? ([\d, -]+):", fold.find("summary").text)[1] for fold in folds] or ["0"]
    assert sorted(stage for kind in kinds for stage in expand(kind)) == sorted(memory)
    for kind, fold in zip(kinds, folds or [page]):
        held = [memory[stage] for stage in expand(kind)]
        assert all(other == held[0] for other in held), kind
        assert f"({held[0]['peak']} bytes)" in text
        print("peak agrees")
        check_stage(kind, held[0]["peak"], *fold.findall(".//svg[@role='img']")[-2:])
    fullest = max(memory, key=lambda stage: memory[stage]["peak"])
    for kind, fold in zip(kinds, folds):
        assert (fold.get("open") is not None) == (fullest in expand(kind)), "another stage than the fullest is open"


def check_figures(page, summary):
    """What is read first is what the summary predicts."""
    figures = {div.find("span").text: div.find("b").text for div in page.find(".//div[@class='figures']")}
    if predicted := re.search(r"^predicted for .+\n  (.*?) a step, (\d+) (\w+)/s(?:, mfu (\S+ %))?(?:, bubble (\S+ %))?$", summary, re.M):
        step, speed, unit, mfu, bubble = predicted.groups()
        assert figures["a step"] == step and figures[f"{unit} per second"].replace(",", "") == speed, figures
        assert (figures.get("MFU: of the devices' peak"), figures.get("bubble: time that stages wait")) == (mfu, bubble), figures
    print(list(figures.values())[-1], "|", list(figures)[-1])


def check_collectives(table, summary):
    """The rows are those of the summary by cause: of one stage they add up to it."""
    header, *rows = [["".join(cell.itertext()) for cell in row] for row in table.findall("tr")]
    sums = {}
    for row in rows:
        row = dict(zip(header, row))
        size, calls = sums.get((row["kind"], row["axes"]), (0, 0))
        sums[row["kind"], row["axes"]] = (size + int(row["bytes per rank"]), calls + int(row["calls"]))
    if "stage" not in header:
        assert sums == {(kind, axes): (size, calls) for kind, axes, size, calls in read_sent(summary)}, sums
    print(len(rows), "collectives")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    with open(sys.argv[2], encoding="utf-8") as file:
        summary = file.read()
    assert "http" not in text and "src=" not in text, "the page refers to other files"
    page = tree.fromstring(text.replace("<!DOCTYPE html>", "").replace('<meta charset="utf-8">', ""))
    memory = read_memory(summary)
    check_figures(page, summary)
    rows, actions = check_time(page)
    assert rows == len(memory)
    print(rows, "stages,", actions, "actions")
    check_memory(page, memory)
    if (table := page.find(".//table[@class='collectives']")) is not None:
        check_collectives(table, summary)


main()
