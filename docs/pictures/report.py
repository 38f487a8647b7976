#!/usr/bin/env python3
"""Makes report.svg, the picture of README.md: the step and the memory of a stage, cut out of a page of --report.

    report.py PAR-COMPILE [OUTPUT]
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "../../examples")
PLAN = ("--mesh pp=4,dp=2,tp=2 --batch 32 --micro-batches 4 --seq 4096 --dtype bf16 --zero 1 --sequence-parallel "
        "--recompute selective --optimizer adamw --target cuda").split()
COLORS = {"--ink": "#1b1f24", "--soft": "#667085", "--line": "#d0d5dd", "--page": "#ffffff"}
WIDTH, GAP, TITLE, LEGEND = 1040, 16, 26, 20


def make_page(tool):
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "report.html")
        subprocess.run([tool, f"{EXAMPLES}/configs/llama-3.1-8b.json", "--dry-run", *PLAN, "--cluster",
                        f"{EXAMPLES}/clusters/dgx-h100.json", "--report", page], check=True, stdout=subprocess.DEVNULL)
        with open(page, encoding="utf-8") as file:
            return file.read()


def cut_out(page, index):
    """Height and content of the page's picture of that number among the large ones."""
    found = re.findall(r'<svg[^>]*viewBox="0 0 ([0-9.e+]+) ([0-9.e+]+)"[^>]*>(.*?)</svg>', page, flags=re.DOTALL)
    _, height, content = [picture for picture in found if float(picture[0]) >= WIDTH][index]
    return float(height), re.sub(r"<title>.*?</title>", "", content, flags=re.DOTALL)


def cut_legend(page, index, y):
    """The legend of that number, in one line."""
    text = re.findall(r'<p class="legend">(.*?)</p>', page, flags=re.DOTALL)[index]
    x, entries = 80, ""
    for name, meaning in re.findall(r'<rect class="(\w+)"[^>]*/></svg>(.*?)</span>', text):
        entries += f'<rect class="{name}" x="{x}" y="{y:g}" width="11" height="11"/><text x="{x + 16}" y="{y + 10:g}">{meaning}</text>'
        x += 40 + 6.2 * len(meaning)
    return entries


def style_of(page):
    rules = " ".join(re.findall(r"<style>(.*?)</style>", page, flags=re.DOTALL))
    rules = " ".join(rule for rule in re.findall(r"[^{}]+\{[^{}]*\}", rules)
                     if re.match(r"\s*(\.(?!legend|figures)|svg text)", rule) and ":hover" not in rule)
    rules = rules.replace("svg text", "text")
    for name, color in COLORS.items():
        rules = rules.replace(f"var({name})", color)
    return re.sub(r"\s+", " ", rules).strip() + " .title { font-size: 15px; fill: #1b1f24; }"


def main():
    page = make_page(sys.argv[1])
    body, at = [], 0.0
    for title, style, index in (("What every stage does when, and the bytes that are live", "stages", 0), ("Memory of stage 0 over a step", "memory", 1)):
        height, content = cut_out(page, index)
        body.append(f'<text class="title" x="8" y="{at + 18:g}">{title}</text>' + cut_legend(page, index, at + TITLE) +
                    f'<g class="{style}" transform="translate(0 {at + TITLE + LEGEND:g})">{content.strip()}</g>')
        at += TITLE + LEGEND + height + GAP
    text = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {at:g}" role="img">\n<style>{style_of(page)}</style>\n'
            f'<rect width="{WIDTH}" height="{at:g}" fill="{COLORS["--page"]}"/>\n' + "\n".join(body) + "\n</svg>\n")
    with open(sys.argv[2] if len(sys.argv) > 2 else os.path.join(HERE, "report.svg"), "w", encoding="utf-8") as file:
        file.write(text)


main()
