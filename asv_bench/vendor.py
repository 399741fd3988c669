"""Copy the scripts that asv's pages load from other hosts, from npm packages of fixed versions."""

from __future__ import annotations

import hashlib
import re
import subprocess
import tarfile
from pathlib import Path

# sha256 of each package's archive
PACKAGES = {
    "blueimp-md5@2.19.0": "0fff5798c7733b21f3e4c0de69ccba12af266e0f01c3e3a41051c0e49a655512",
    "bootstrap@3.1.1": "23b27da4dd80b8fbe8972ac4be87037627e007ad5dd1edb27435844f0a4646a0",
    "flot@0.8.3": "5e4cea78a9efa2d3dbba363ac76c688951e6c638ee916883c36e23516208b1ed",
    "flot-orderbars@1.0.0": "e5523ee7cca778f194b34fc31afb6dda40bf1557e6669fda4730c29f53e87101",
    "jquery@3.3.1": "2c7c70a1e796c1568ff05d45a8cb2da2a0fc6e37426c65e4eef6ee55e217933e",
    "stupid-table-plugin@1.1.3": "1186089584b7c2f7fec9ad4232e9aa1adbfea273eaa233b713beb8c2c916b4ac",
}
# of each file that asv's pages load from another host, the package and the file in it
FILES = {
    "jquery-3.3.1.min.js": ("jquery@3.3.1", "dist/jquery.min.js"),
    "jquery.flot.min.js": ("flot@0.8.3", "jquery.flot.js"),
    "jquery.flot.time.min.js": ("flot@0.8.3", "jquery.flot.time.js"),
    "jquery.flot.selection.min.js": ("flot@0.8.3", "jquery.flot.selection.js"),
    "jquery.flot.categories.min.js": ("flot@0.8.3", "jquery.flot.categories.js"),
    "jquery.flot.orderBars.js": ("flot-orderbars@1.0.0", "js/jquery.flot.orderBars.js"),
    "stupidtable.min.js": ("stupid-table-plugin@1.1.3", "stupidtable.min.js"),
    "md5.min.js": ("blueimp-md5@2.19.0", "js/md5.min.js"),
    "bootstrap.min.js": ("bootstrap@3.1.1", "dist/js/bootstrap.min.js"),
    "bootstrap.min.css": ("bootstrap@3.1.1", "dist/css/bootstrap.min.css"),
}
FONTS = "dist/fonts/"  # which Bootstrap's style sheet refers to
FOLDER = "vendor"
LOADING = re.compile(
    r"""<(script|link|img|iframe)\b[^>]*?\b(?:src|href)=["']((?:https?:)?//[^"']+)["'][^>]*>"""
)
STYLE_LOADS = re.compile(r"""(?:url\(\s*["']?|@import\s+["'])(?:https?:)?//[^"')]+""")


def make_local(pages: Path, archives: Path) -> None:
    """Copy what the pages load from other hosts into them, and load the copies.

    Parameters
    ----------
    pages : Path
        Folder that `asv publish` has written.
    archives : Path
        Folder of the packages' archives; those that are missing are downloaded by npm.

    Raises
    ------
    KeyError
        If a page loads a file that `FILES` does not list.
    ValueError
        If an archive is not the one whose hash is in `PACKAGES`.
    """
    for page in pages.glob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(LOADING.sub(local_tag, text), encoding="utf-8")
    for package in PACKAGES:
        files = {file for name, file in FILES.values() if name == package}
        unpack(archive_of(package, archives), files, pages / FOLDER / package)


def local_tag(match: re.Match[str]) -> str:
    """Return the tag that loads the copy of a file."""
    tag, address = match.groups()
    name = address.rsplit("/", 1)[1]
    if name not in FILES:
        raise KeyError(f"asv's pages load {address}: add {name!r} to FILES in {Path(__file__).name}")
    copy = "/".join((FOLDER, *FILES[name]))
    return f'<script src="{copy}">' if tag == "script" else f'<link rel="stylesheet" href="{copy}">'


def archive_of(package: str, folder: Path) -> Path:
    """Return the archive of a package, downloaded by npm unless it exists, with the expected hash."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{package.replace('@', '-')}.tgz"
    if not file.exists():
        command = ("npm", "pack", "--silent", package, "--pack-destination", str(folder))
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    if digest != PACKAGES[package]:
        raise ValueError(f"{file.name}: expected sha256 {PACKAGES[package]}, got {digest}")
    return file


def unpack(archive: Path, files: set[str], target: Path) -> None:
    """Write some files of an archive, and its fonts, below a folder."""
    with tarfile.open(archive) as content:
        for member in content.getmembers():
            name = member.name.removeprefix("package/")
            if member.isfile() and (name in files or name.startswith(FONTS)):
                file = target / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content.extractfile(member).read())


def loads_from_outside(pages: Path) -> list[str]:
    """Return what pages and style sheets below a folder load from other hosts, with the file that does."""
    loads = []
    for file in sorted(pages.rglob("*")):
        if file.suffix in (".html", ".css"):
            text = file.read_text(encoding="utf-8")
            addresses = [match[1] for match in LOADING.findall(text)] + STYLE_LOADS.findall(text)
            loads += [f"{file.relative_to(pages)}: {address}" for address in addresses]
    return loads
