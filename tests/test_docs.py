"""Every example of the README, the pages and the docstrings runs, and prints what it says."""

import doctest
import importlib
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import treefactor
import treefactor.adapters
import treefactor.codegen
from treefactor import bench, cli, growth, robots, tables

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md"))
CELL = re.compile(r"^```\{code-cell\}\n(.*?)^```", re.MULTILINE | re.DOTALL)
# in a block of its own, or in the text with its arguments
COMMAND = re.compile(r"^    (?:\$ )?((?:treefactor|make -C) .+)$|`(treefactor \w+ [^`]+)`", re.MULTILINE)
LONG = ("treefactor tables", "treefactor check")  # run at length in tests of their own
OUTSIDE = re.compile(r"""(?:src|data)=["'](?:https?:)?//|<link[^>]+stylesheet[^>]+href=["'](?:https?:)?//""")


def slow_if(condition, value, name):
    return pytest.param(value, id=name, marks=[pytest.mark.slow] if condition else [])


def pages():
    return [slow_if(path.parent.name == "papers", path, str(path.relative_to(DOCS))) for path in PAGES]


def commands():
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "README.md", *PAGES)]
    found = dict.fromkeys(a or b for text in texts for a, b in COMMAND.findall(text))
    return [slow_if(command.startswith(LONG), command, command) for command in found]


@pytest.fixture
def workplace(monkeypatch, tmp_path):
    """An empty folder with a robot, where everything is timed only once or twice."""
    pytest.importorskip("pinocchio", reason="the examples use Pinocchio")
    for name, value in {"RUN": 1e-6, "TURNS": 2, "FEWEST": 2, "PATIENCE": 0.0}.items():
        monkeypatch.setattr(bench, name, value)
    monkeypatch.setattr(growth, "NODES", 64)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(DOCS)
    shutil.copy(robots.find("ur5_robot").path, tmp_path / "my_robot.urdf")
    return tmp_path


def execute(command):
    """Run a command line as a reader would."""
    if command.startswith("treefactor"):
        assert cli.main(shlex.split(command, comments=True)[1:]) == 0
        return
    if not shutil.which("make") or not shutil.which("cc"):
        pytest.skip("generated C needs make and a compiler")
    folder = shlex.split(command)[2]
    assert cli.main(["generate", f"{folder}_robot", "-o", folder, "--functions", "crba"]) == 0
    subprocess.run(shlex.split(command), check=True)


def test_readme():
    pytest.importorskip("pinocchio", reason="the README uses Pinocchio")
    done = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert done.attempted > 10
    assert done.failed == 0


@pytest.mark.parametrize("page", pages())
def test_page(page, workplace):
    pytest.importorskip("matplotlib", reason="pages draw with Matplotlib")
    assert doctest.testfile(str(page), module_relative=False).failed == 0
    names = {}
    with np.printoptions():  # a page may set its own
        for cell in CELL.findall(page.read_text(encoding="utf-8")):
            lines = [line for line in cell.splitlines() if not line.startswith(":")]
            exec(compile("\n".join(lines), str(page), "exec"), names)


@pytest.mark.parametrize("command", commands())
def test_command(command, workplace):
    execute(command)


def modules():
    for package in (treefactor, treefactor.adapters, treefactor.codegen):
        for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
            if not module.ispkg and not module.name.endswith("__main__"):
                yield module.name


@pytest.mark.parametrize("name", list(modules()))
def test_docstrings(name):
    try:
        module = importlib.import_module(name)
    except treefactor.AdapterError as error:
        pytest.skip(f"its engine is not installed: {error}")
    assert doctest.testmod(module).failed == 0


def test_pages_show_every_table_and_every_public_name():
    for paper, makers in tables.PAPERS.items():
        text = (DOCS / "papers" / f"{paper}.md").read_text(encoding="utf-8")
        assert re.findall(r"tables\.(\w+)\(\)", text) == [make.__name__ for make in makers]
    listed = set(re.findall(r"^   ([\w.]+)$", (DOCS / "api" / "index.md").read_text(), re.MULTILINE))
    assert set(treefactor.__all__) - {"__version__"} <= listed


def test_stored_times_name_no_path_and_no_machine():
    for file in (DOCS / "measured").glob("*.json"):
        assert "/" not in file.read_text(encoding="utf-8")


@pytest.mark.slow
def test_site_is_built_without_warnings_and_needs_no_network(tmp_path):
    pytest.importorskip("myst_nb", reason="the site is built by Sphinx: pip install 'treefactor[docs]'")
    build = (sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", str(DOCS), str(tmp_path))
    subprocess.run(build, check=True)
    built = list(tmp_path.rglob("*.html"))
    assert len(built) > len(PAGES)
    for file in built:
        text = file.read_text(encoding="utf-8")
        assert not OUTSIDE.search(text), file
        assert str(ROOT) not in text, file
