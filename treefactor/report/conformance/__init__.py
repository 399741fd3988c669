"""Write the reports of a comparison, all from one `Report`: JSON, terminal, page, files for services.

`stored` writes and reads the JSON; `summary` groups the cells for all other modules.
"""

from .badge import BADGES, write_badge
from .junit import write_junit
from .markdown import write_markdown
from .page import write_html
from .sarif import write_sarif
from .stored import read_json, write_json
from .summary import title
from .terminal import WIDTH, print_report

__all__ = [
    "BADGES",
    "WIDTH",
    "print_report",
    "read_json",
    "title",
    "write_badge",
    "write_html",
    "write_json",
    "write_junit",
    "write_markdown",
    "write_sarif",
]
