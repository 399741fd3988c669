"""Names in the tables of the API reference."""

import re
from pathlib import Path

PAGES = sorted((Path(__file__).parents[2] / "docs" / "api").glob("*.md"))
LISTED = [
    name
    for page in PAGES
    for name in re.findall(r"^   ([A-Za-z_][\w.]*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
]
