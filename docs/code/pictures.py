"""Make the pictures of the pages anew whose scripts have changed: `make docs` does this first.

The commands of the gallery's pictures are those that `docs/gallery.md` shows; `cards.py` draws those of the
tutorials. A picture belongs to the text of its script, and of the files in `examples` that this imports:
`docs/images/scripts.json` has the digest of these texts for every picture. `pictures.py NAME ...` makes the
named ones, whatever their scripts.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

DOCS = Path(__file__).parents[1]
EXAMPLES, IMAGES, CARDS = DOCS.parent / "examples", DOCS / "images", DOCS / "code" / "cards.py"
DIGESTS = IMAGES / "scripts.json"
COMMAND = re.compile(r"^    python examples/(\w+)\.py --out (\S+)$", re.MULTILINE)
CARD = re.compile(r"images/cards/(\w+)\.png")


def commands() -> dict[str, list[str]]:
    """Return a script and its arguments by the names of pictures."""
    gallery = (DOCS / "gallery.md").read_text(encoding="utf-8")
    tutorials = (DOCS / "tutorials" / "index.md").read_text(encoding="utf-8")
    scripts = {picture: [str(EXAMPLES / f"{script}.py")] for script, picture in COMMAND.findall(gallery)}
    return scripts | {f"cards/{name}.png": [str(CARDS), name] for name in CARD.findall(tutorials)}


def sources(script: Path) -> set[Path]:
    """Return a script and the files beside it that it imports, directly or not."""
    known, waiting = set(), [script]
    while waiting:
        path = waiting.pop()
        known.add(path)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            beside = {EXAMPLES.joinpath(*name.split(".")).with_suffix(".py") for name in names}
            waiting += [one for one in beside if one.is_file() and one not in known]
    return known


def digest(script: Path) -> str:
    """Return the digest of the texts that a picture belongs to."""
    return sha256(b"\0".join(path.read_bytes() for path in sorted(sources(script)))).hexdigest()[:16]


def made() -> dict[str, str]:
    """Return the digests of the scripts that made the pictures."""
    return json.loads(DIGESTS.read_text(encoding="utf-8")) if DIGESTS.is_file() else {}


def stale() -> list[str]:
    """Return the pictures that are absent, or whose scripts have changed."""
    known = made()
    return [
        picture
        for picture, (script, *_) in commands().items()
        if known.get(picture) != digest(Path(script)) or not (IMAGES / picture).is_file()
    ]


def make(picture: str) -> None:
    """Run the script of a picture, and note its digest."""
    script, *arguments = commands()[picture]
    print(f"{picture}: {Path(script).name}", flush=True)
    (IMAGES / picture).parent.mkdir(exist_ok=True)
    command = [sys.executable, script, *arguments, "--out", str(IMAGES / picture)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    digests = made() | {picture: digest(Path(script))}
    DIGESTS.write_text(json.dumps(dict(sorted(digests.items())), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or stale():
        make(name)
