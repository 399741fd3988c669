"""Build the site: it has every public name, and its pages load nothing from other sites."""

import importlib
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

import treefactor

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
OUTSIDE = re.compile(r"""(?:src|data)=["'](?:https?:)?//|<link[^>]+stylesheet[^>]+href=["'](?:https?:)?//""")


def public_names():
    """Yield full names of classes and functions that modules of the reference list in ``__all__``."""
    adapters = [
        f"treefactor.adapters.{name}_"
        for name in ("pinocchio", "mujoco", "pybullet", "drake", "dask", "jax", "torch")
    ]
    for place in ("treefactor", "treefactor.constraints", "treefactor.check", *adapters):
        try:
            module = importlib.import_module(place)
        except treefactor.AdapterError:
            continue  # its engine is not installed
        own = [name for name, thing in vars(module).items() if getattr(thing, "__module__", "") == place]
        for name in getattr(module, "__all__", [name for name in own if name[0] != "_"]):
            if callable(getattr(module, name)):
                yield f"{place}.{name}"


def inventory(file):
    """Return the entries of Sphinx' inventory."""
    *_, packed = file.read_bytes().split(b"\n", 4)
    return [line.split(" ", 1) for line in zlib.decompress(packed).decode().splitlines()]


@pytest.mark.slow
def test_site_is_built_without_warnings_and_needs_no_network(tmp_path):
    pytest.importorskip("myst_nb", reason="the site is built by Sphinx: pip install 'treefactor[docs]'")
    build = (sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", str(DOCS), str(tmp_path))
    subprocess.run(build, check=True)
    shown = {entry[0] for entry in inventory(tmp_path / "objects.inv")}
    assert {name for name in public_names() if name not in shown} == set()
    built = list(tmp_path.rglob("*.html"))
    assert len(built) > len(PAGES)
    for file in built:
        text = file.read_text(encoding="utf-8")
        assert not OUTSIDE.search(text), file
        assert str(ROOT) not in text, file
