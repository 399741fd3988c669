"""Read HTML pages."""

from html.parser import HTMLParser

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
            element
            for name, element in self.elements
            if name == tag and all(element.get(key) == value for key, value in attributes.items())
        ]
