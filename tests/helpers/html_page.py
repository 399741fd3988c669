"""HTML pages and PNG images, as far as the tests read them."""

import base64
import struct
import zlib
from html.parser import HTMLParser

import numpy as np

VOID = {"meta", "br", "wbr", "input", "img", "hr"}
DRAWN = {"path", "rect", "circle", "image"}  # elements of SVG that close themselves


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


def decoded(uri):
    """Return the size and rows of palette entries of a PNG that filters lines by the one above."""
    data = base64.b64decode(uri.split(",")[1])
    width, height = struct.unpack(">II", data[16:24])
    start = data.index(b"IDAT") + 4
    (length,) = struct.unpack(">I", data[start - 8 : start - 4])
    lines = np.frombuffer(zlib.decompress(data[start : start + length]), np.uint8).reshape(height, width + 1)
    assert (lines[:, 0] == 2).all()
    return np.cumsum(lines[:, 1:], axis=0, dtype=np.uint8)
