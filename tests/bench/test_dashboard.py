"""Test that asv's pages load nothing from other hosts and name no path."""

import json
import re
import shutil
import sys
import tarfile
from hashlib import sha256
from pathlib import Path
from unittest import mock

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def scripts(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "asv_bench")
    yield
    for name in ("dashboard", "vendor"):
        sys.modules.pop(name, None)


def test_asvs_pages_load_nothing_from_other_hosts(tmp_path):
    import vendor

    asv = pytest.importorskip("asv", reason="its pages")
    pages = tmp_path / "html"
    shutil.copytree(Path(asv.__file__).parent / "www", pages)
    assert len(vendor.loads_from_outside(pages)) == len(vendor.FILES)
    for package in vendor.PACKAGES:  # archives of our own, which hold the same names
        files = [file for name, file in vendor.FILES.values() if name == package]
        make_archive(tmp_path / "npm" / f"{package.replace('@', '-')}.tgz", [*files, vendor.FONTS + "a.woff"])
    hashes = {package: sha256(vendor_file(tmp_path, package)).hexdigest() for package in vendor.PACKAGES}
    with mock.patch.dict(vendor.PACKAGES, hashes):
        vendor.make_local(pages, tmp_path / "npm")
    assert vendor.loads_from_outside(pages) == []
    text = (pages / "index.html").read_text()
    local = re.findall(rf'(?:src|href)="({vendor.FOLDER}/[^"]+)"', text)
    assert len(local) == len(vendor.FILES)
    assert all((pages / file).is_file() for file in local)


def vendor_file(folder, package):
    return (folder / "npm" / f"{package.replace('@', '-')}.tgz").read_bytes()


def make_archive(file, names):
    file.parent.mkdir(exist_ok=True)
    with tarfile.open(file, "w:gz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(f"package/{name}"))


def test_an_archive_with_other_content_is_refused(tmp_path):
    import vendor

    make_archive(tmp_path / "jquery-3.3.1.tgz", ["dist/jquery.min.js"])
    with pytest.raises(ValueError, match=r"jquery-3\.3\.1\.tgz: expected sha256"):
        vendor.archive_of("jquery@3.3.1", tmp_path)


def test_a_file_that_is_not_vendored_is_named(tmp_path):
    import vendor

    (tmp_path / "index.html").write_text('<script src="https://example.org/other.js"></script>')
    assert vendor.loads_from_outside(tmp_path) == ["index.html: https://example.org/other.js"]
    with pytest.raises(KeyError, match=r"other\.js"):
        vendor.make_local(tmp_path, tmp_path / "npm")


@pytest.mark.parametrize("text", ["a { background: url(//x.org/a.png) }", "@import 'https://x.org/a.css';"])
def test_style_sheets_that_load_are_found(text, tmp_path):
    import vendor

    (tmp_path / "a.css").write_text(text)
    assert len(vendor.loads_from_outside(tmp_path)) == 1


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="downloads from npm")
def test_packages_of_npm_have_the_files(tmp_path):
    import vendor

    for package in vendor.PACKAGES:
        files = {file for name, file in vendor.FILES.values() if name == package}
        vendor.unpack(vendor.archive_of(package, tmp_path / "npm"), files, tmp_path / package)
        assert all((tmp_path / package / file).stat().st_size > 100 for file in files)


def test_results_are_published_without_paths(tmp_path):
    import dashboard

    environment = f"existing-py{sys.executable.replace('/', '_')}"
    content = {
        "commit_hash": "0123456789",
        "env_name": environment,
        "python": "x",
        "params": {"python": sys.executable},
    }
    file = tmp_path / f"01234567-{environment}.json"
    file.write_text(json.dumps(content))
    assert dashboard.telling(tmp_path)
    dashboard.make_anonymous(file)
    assert not dashboard.telling(tmp_path)
    (written,) = tmp_path.iterdir()
    assert json.loads(written.read_text())["commit_hash"] == "0123456789"
