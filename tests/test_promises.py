"""Every promise of the pages names tests that exist; further tests of promises that no other file checks."""

import ast
import re
from collections import Counter
from dataclasses import fields
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import treefactor as tf
from treefactor import check, robots
from treefactor.check.project import selection
from treefactor.check.project.configuration import Configuration, Expectation
from treefactor.check.traps import traps
from treefactor.codegen.backends import numpy_
from treefactor.mlcp.families import FAMILIES
from treefactor.papers.kkt import KKT
from treefactor.tolerances import ROUNDINGS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PROMISES = DOCS / "promises.md"
EXPECT = {"robot", "engine", "quantity", "cause", "link", "until"}  # keys of [[expect]]
MADE_NOWHERE = {PROMISES, *(DOCS / "api").glob("*.md"), DOCS / "notation.md"}
ROW = re.compile(r"^\| (?!promise |---)(.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)


def rows():
    return ROW.findall(PROMISES.read_text(encoding="utf-8"))


@cache
def names_in(path):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_promise_names_tests_that_exist():
    assert len(rows()) > 50
    for promise, _, tests in rows():
        named = re.findall(r"`(tests/(?:\w+/)*test_\w+\.py)::(test_\w+)`", tests)
        assert named, promise
        assert len(named) == tests.count("::"), promise
        for path, name in named:
            assert name in names_in(path), f"{path}::{name}: {promise}"


def test_every_promise_names_a_page_and_every_page_is_named():
    made = [re.findall(r"\]\(([\w/-]+\.md)\)|(README)", where) for _, where, _ in rows()]
    assert all(made)
    pages = {DOCS / page for links in made for page, _ in links if page}
    assert {page for page in pages if not page.is_file()} == set()
    assert set(DOCS.rglob("*.md")) - pages - MADE_NOWHERE == set()


# ------------------------------------------------------------- promises that no other file checks


def test_counts_of_programs_are_what_is_executed(monkeypatch):
    model = tf.Model(
        [
            tf.Joint(
                f"hinge{k}",
                "revolute",
                k - 1,
                p=[0.1, 0, 0.3],
                axis=axis,
                inertia=tf.Inertia(1.0, [0, 0.1, 0.2], np.eye(3)),
            )
            for k, axis in enumerate(np.eye(3))
        ]
    )
    program, state, done = tf.generate(model), np.full((3, 3), 0.3), Counter()

    def counted(name, ufunc):
        def apply(*operands):
            done[name] += 1
            return ufunc(*operands)

        apply.nin = ufunc.nin
        return apply

    monkeypatch.setattr(
        numpy_, "UFUNCS", {name: counted(name, ufunc) for name, ufunc in numpy_.UFUNCS.items()}
    )
    for name, function in program.functions.items():
        done.clear()
        numpy_.evaluate(function, *state[: len(function.inputs)])
        count = program.operations[name]
        assert count.mul == done["MUL"]
        assert count.add == done["ADD"] + done["SUB"]
        assert count.div == done["RECIP"]
        assert count.trig == done["SIN"] + done["COS"]
        assert count.total == done.total() > 10


@pytest.mark.parametrize("m", [10, 100])
def test_rows_on_branches_add_no_fill(m):
    problem = FAMILIES["robot"](m, 0)  # contacts and limits of legs on one base
    D = problem.D
    assert KKT(problem.tree, problem.packed, D).nnz == problem.tree.nnz + D.nnz + D.shape[0]


def test_float32_takes_half_the_memory():
    tree = tf.families.binary_tree(4)
    H = np.eye(tree.n) * np.ones((16, 1, 1))
    double, single = (tf.factor(H, tree, dtype=dtype) for dtype in (np.float64, np.float32))
    assert 2 * single.L().nbytes == double.L().nbytes
    lanes = [tree.pack(H, "lanes", dtype=dtype).nbytes for dtype in (np.float64, np.float32)]
    assert lanes[0] == 2 * lanes[1]


def test_robots_that_are_checked_without_names():
    pytest.importorskip("pybullet_data", reason="some robots come with PyBullet")
    if "panda" not in robots.bundled():
        pytest.skip("example-robot-data is not installed")
    count = len(robots.default_robots())
    text = (DOCS / "commands.md").read_text(encoding="utf-8")
    assert f"Without names it checks {count} robots" in text


def test_installed_engines_are_the_default(monkeypatch):
    missing = ("pybullet", "newton")
    monkeypatch.setattr(selection, "engine_version", lambda name: "" if name in missing else "1")
    assert [engine.name for engine in selection.engines_of(Configuration())] == [
        name for name, engine in check.ENGINES.items() if engine.weight != "heavy" and name not in missing
    ]


def test_the_page_on_commands_has_the_quantities_and_engines():
    text = (DOCS / "commands.md").read_text(encoding="utf-8")
    assert f"computes {len(check.ALL_QUANTITIES)} quantities" in text
    assert f"{ROUNDINGS} roundings of float64" in text
    ordinary, heavy = (
        [name for name, engine in check.ENGINES.items() if (engine.weight == "heavy") == slow]
        for slow in (False, True)
    )
    listed = re.search(r"Ten engines (.+?) itself", text, re.DOTALL).group(1)
    assert re.findall("`([a-z]+)`", listed) == ordinary
    assert len(ordinary) == 10
    assert all(f"`{name}`" in text for name in heavy)


def test_traps_and_names_of_robots_are_as_many_as_the_pages_say():
    text = (DOCS / "commands.md").read_text(encoding="utf-8")
    formats = Counter(trap.format for trap in traps())
    assert f"the traps: {formats.total()} small files" in text
    listed = f"{formats['urdf']} URDFs, {formats['mjcf']} MJCFs and {formats['sdf']} SDFs"
    assert f"one peculiarity each: {listed}." in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_page_on_ci_has_all_keys_and_options():
    text = (DOCS / "conformance" / "ci.md").read_text(encoding="utf-8")
    keys = {field.name for field in fields(Configuration)} - {"expect", "file", "narrowed"}
    (part,) = re.findall("^## Configuration$(.+?)^## ", text, re.MULTILINE | re.DOTALL)
    assert keys == set(re.findall(r"^    (\w+) = ", part, re.MULTILINE)) - EXPECT
    assert {field.name for field in fields(Expectation)} == EXPECT
    options = (ROOT / "treefactor" / "pytest_plugin.py").read_text(encoding="utf-8")
    assert all(f"| `{name}" in text for name in re.findall(r'"(--treefactor[\w-]*)"', options))


def test_the_page_on_engines_has_every_part_of_the_protocol():
    text = (DOCS / "conformance" / "adding.md").read_text(encoding="utf-8")
    parts = {*check.Engine.__annotations__, *(name for name in vars(check.Engine) if name[0] != "_")}
    assert {name for name in parts if not re.search(rf"`{name}\b", text)} == set()


TITLES = {"idyntree": "iDynTree", "rtb": "the Robotics Toolbox", "newton": "Newton", "mjx": "MJX"}


def test_what_the_page_calls_not_offered_is_not_offered():
    text = " ".join((DOCS / "commands.md").read_text(encoding="utf-8").split())
    listed = re.search(r"offer all of them: (.+?) have no energies", text).group(1)
    offered = {name: functions_of(engine) for name, engine in check.ENGINES.items()}
    without = {name for name, functions in offered.items() if "potential_energy" not in functions}
    assert {TITLES.get(name, name) for name in without} == set(re.split(", | and ", listed))
    with_derivatives = {name for name, functions in offered.items() if "rnea_derivatives" in functions}
    assert with_derivatives == {"pinocchio", "treefactor"}
    rtb = (ROOT / "adapters" / "rtb_.py").read_text(encoding="utf-8")
    assert re.search("^FLOATS = False", rtb, re.MULTILINE)


def functions_of(engine):
    """Return the functions that the module of an engine defines, without importing it."""
    path = engine.module.replace("treefactor.adapters", "adapters").replace(".", "/")
    return names_in(f"{path}.py")


def test_every_engine_has_an_extra_on_the_page():
    text = (DOCS / "install.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \| .+ \| (yes|no)\b.* \|$", text, re.MULTILINE)
    weights = {name: engine.weight for name, engine in check.ENGINES.items() if name != "treefactor"}
    assert dict(listed) == {name: "no" if weight == "heavy" else "yes" for name, weight in weights.items()}
