"""Read HTML pages and the heat maps they contain."""

import re
from html.parser import HTMLParser

import numpy as np

VOID = {"meta", "br", "wbr", "input", "img", "hr"}
DRAWN = {"path", "rect", "circle", "line"}  # elements of SVG that close themselves


class Page(HTMLParser):
    """Elements and texts of a page; fails where tags are not balanced."""

    def __init__(self, path):
        super().__init__()
        self.source = path.read_text(encoding="utf-8")
        self.open, self.elements, self.texts = [], [], [""]
        self.feed(self.source)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs), f"<{tag}> has an attribute twice"
        assert tag not in DRAWN, f"<{tag}> is not closed"
        if tag not in VOID:
            self.open.append(tag)
        if tag != "wbr":
            self.texts.append("")

    def handle_startendtag(self, tag, attrs):
        assert tag in DRAWN
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self.texts.append("")

    def handle_data(self, data):
        self.texts[-1] += data

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())

    def of(self, tag, **attributes):
        return [
            found
            for name, found in self.elements
            if name == tag and all(found.get(key) == value for key, value in attributes.items())
        ]


def heat_map(page, n):
    """Return a drawn matrix of n rows: 0 where it is blank, else the rank of the colour among those drawn."""
    cells = np.zeros((n, n), int)
    for rank, path in enumerate((found for found in page.of("path") if "fill" in found), 1):
        for column, row, width in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\d+z", path["d"]):
            cells[int(row), int(column) : int(column) + int(width)] = rank
    return cells
