"""Test what the page on adding an engine shows: a short module, and the conventions of all engines."""

import re
from pathlib import Path

import pytest
from helpers.engine_cases import joint, link, urdf

import treefactor as tf
from treefactor.check import engines
from treefactor.check.reference import opened
from treefactor.check.rewriting import translated

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "conformance" / "adding.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if re.search("linear-angular|angular-linear", line)
]
HEAVY = {"mjx", "jaxsim", "frax"}
ENGINES = [
    pytest.param(name, row, marks=[pytest.mark.slow] if name in HEAVY else [])
    for names, *row in ROWS
    for name in names.lower().split(", ")
]


def test_the_module_of_frax_has_less_than_100_lines_and_uses_public_names():
    source = (ROOT / "adapters" / "frax_.py").read_text(encoding="utf-8")
    assert "literalinclude:: ../../adapters/frax_.py" in PAGE
    assert source.count("\n") < 100
    assert set(re.findall(r"from (treefactor\S*) import", source)) == {
        "treefactor.adapters",
        "treefactor.exceptions",
    }


def test_the_table_has_all_engines_with_a_floating_base():
    assert len(ENGINES) == len({*engines.ENGINES} - {"rtb"})


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize(("name", "row"), ENGINES)
def test_the_table_has_the_conventions_of_engines(name, row, tmp_path, write_text):
    try:
        engine = engines.engine_module(name)
    except (tf.AdapterError, ModuleNotFoundError) as error:
        pytest.skip(f"the engine is not installed: {error}")
    source = write_text(urdf(link("a"), link("b"), joint("j", "a", "b")))  # without meshes
    text, suffix, _ = translated(source, (), engine.READS[0], True)
    path = tmp_path / f"translated{suffix}"
    path.write_text(text, encoding="utf-8")
    with opened(engine.load(path, True, (0.0, 0.0, -9.81), frozenset())) as body:
        base = engine.base(body)
    assert [base.order, base.linear, base.angular, base.point, base.placed, base.pose] == row
