#!/usr/bin/env python3
"""The page of par-plan --report: check_page.py FILE.html."""
import html.parser
import re
import sys

VOID = {"meta", "br", "line", "rect", "circle", "polyline", "polygon"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.headings = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)


text = open(sys.argv[1], encoding="utf-8").read()
page = Page()
page.feed(text)
assert not page.open, page.open
points = [tuple(map(float, point.split(","))) for point in re.search(r'<polyline[^>]* points="([^"]*)"', text)[1].split()]
# To the left is less memory, further up a longer step.
for before, after in zip(points, points[1:]):
    assert after[0] < before[0] and after[1] <= before[1], points
assert len(points) == text.count("<circle")
print(f"the frontier has {len(points)} plans, each slower and smaller than the one before")
print("well formed, with " + ", ".join(page.headings))
# Axes have round numbers.
for label in re.findall(r'<text x="[^"]*" y="[^"]*" text-anchor="(?:middle|end)">([^<]*)</text>', text.split("Step time against memory")[1].split("</svg>")[0]):
    assert re.fullmatch(r"0|(?:[125]0*|\d0*|[1-9]\d*0*|0\.[125]|\d\.5) [A-Za-zµ]+", label), label
assert "predictions of steps are" in text
