"""Test the configuration of a comparison: search, values, errors, options that replace them, and writing."""

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treefactor.check.engines import ENGINES, ChosenEngine
from treefactor.check.judge import ALL_QUANTITIES
from treefactor.check.project.configuration import (
    BASES,
    FAIL_ON,
    ChosenRobot,
    Configuration,
    Expectation,
    as_toml,
    configuration,
    parse,
)
from treefactor.exceptions import TreefactorError

EVERYTHING = """
robots = ["arm.urdf", "robots/**/*.sdf", {path = "dog.urdf", base = "floating"}]
engines = ["mujoco", "my_engine.py"]
quantities = ["H", "qdd", "Centre-of-mass", "inverse_dynamics", "H"]
samples = 5
seed = 7
timeout = 30
ordinary = false
traps = true
fail_on = ["disagrees"]

[[expect]]
robot = "arm*"
engine = "mujoco"
quantity = "com"
cause = "armature"
link = "https://example.org/1"
until = 2027-01-31
"""
TABLES = """
[engines.mujoco]
[engines.dart]
python = "venv/bin/python"
timeout = 12.5
options = ["setForces"]
[engines.my_engine]
file = "my_engine.py"
timeout = 5
"""
texts = st.text(min_size=1, max_size=12)
seconds = st.none() | st.floats(0.001, 1e6)
dates = st.dates() | st.from_regex(r"[0-9]{1,3}(\.[0-9]{1,3}){0,2}", fullmatch=True)
expectations = st.builds(
    Expectation,
    texts,
    texts,
    st.sampled_from(ALL_QUANTITIES) | st.just("*"),
    st.just("") | texts,
    st.just("") | texts,
    st.none() | dates,
)


def tuples(of, **limits):
    return st.lists(of, max_size=4, unique=True, **limits).map(tuple)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return an empty folder with an engine's file, which becomes the current one."""
    (tmp_path / "my_engine.py").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_key_is_read(folder):
    (folder / "treefactor.toml").write_text(EVERYTHING)
    chosen, here = configuration(), str(folder)
    assert chosen.robots == (
        ChosenRobot("arm.urdf", "", here),
        ChosenRobot("robots/**/*.sdf", "", here),
        ChosenRobot("dog.urdf", "floating", here),
    )
    assert chosen.engines == (
        ChosenEngine("mujoco"),
        ChosenEngine(str(folder / "my_engine.py")),
    )
    assert chosen.quantities == ("H", "q̈", "centre of mass", "inverse dynamics")
    assert (chosen.samples, chosen.seed, chosen.timeout) == (5, 7, 30)
    assert (chosen.ordinary, chosen.traps, chosen.fail_on) == (False, True, ("disagrees",))
    (one,) = chosen.expect
    assert (one.quantity, one.cause, one.until) == ("centre of mass", "armature", date(2027, 1, 31))
    assert chosen.file == str(folder / "treefactor.toml")


def test_engines_have_tables(folder):
    (folder / "treefactor.toml").write_text(TABLES)
    assert configuration().engines == (
        ChosenEngine("mujoco"),
        ChosenEngine("dart", str(folder / "venv/bin/python"), 12.5, ("setForces",)),
        ChosenEngine(str(folder / "my_engine.py"), timeout=5),
    )


def test_the_name_of_a_table_is_that_of_the_engine(folder):
    (folder / "treefactor.toml").write_text("[engines.other]\nfile = 'my_engine.py'")
    (engine,) = configuration().engines
    assert (engine.name, engine.title) == (str(folder / "my_engine.py"), "other")
    assert configuration().replaced(engines=["other", "other"]).engines == (engine,)
    (folder / "treefactor.toml").write_text(as_toml(configuration()))
    assert configuration().engines == (engine,)


def test_a_file_may_not_be_called_like_an_engine_of_treefactor(folder):
    (folder / "dart.py").write_text("")
    with pytest.raises(TreefactorError, match="another name than treefactor's engines"):
        configuration().replaced(engines=["dart.py"])


def test_the_nearest_file_wins(folder, monkeypatch):
    inner = folder / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    (folder / "treefactor.toml").write_text("seed = 1")
    (folder / "a" / "pyproject.toml").write_text("[tool.other]\n")  # without a table of ours
    assert configuration().seed == 1
    (folder / "a" / "pyproject.toml").write_text("[tool.treefactor]\nseed = 2\n")
    assert configuration().seed == 2
    (folder / "a" / "treefactor.toml").write_text("seed = 3")
    assert configuration().seed == 3
    assert configuration(folder / "treefactor.toml").seed == 1


def test_without_a_file_there_are_defaults(folder):
    assert configuration() == Configuration()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("sampels = 3", ["unknown key 'sampels'", "did you mean 'samples'"]),
        ("samples = 0", ["samples must be a whole number from 1 on, got 0"]),
        ("samples = true", ["samples must be a whole number from 1 on, got True"]),
        ("seed = 1.5", ["seed must be a whole number from 0 on, got 1.5"]),
        ("timeout = nan", ["timeout must be a number of seconds above 0"]),
        ("ordinary = 'yes'", ["ordinary must be true or false, got 'yes'"]),
        ("engines = ['mujocco']", ["engines must be", "got 'mujocco'", "did you mean 'mujoco'"]),
        ("engines = ['no.py']", ["engines must be", "a Python file that exists, got 'no.py'"]),
        ("engines = 'mujoco'", ["engines must be an array, got 'mujoco'"]),
        ("[engines.mujocco]", ["engines must be one of", "did you mean 'mujoco'"]),
        ("[engines.dart]\ntimout = 1", ["unknown key 'engines.dart.timout'", "'timeout'"]),
        ("[engines.dart]\ntimeout = 'x'", ["engines.dart.timeout must be a number of seconds"]),
        ("[engines.mine]\nfile = 'no.py'", ["engines.mine.file must be", "got 'no.py'"]),
        ("[engines.dart]\nfile = 'my_engine.py'", ["engines.dart.file must be in a table of another name"]),
        ("engines.mujoco = 3", ["engines.mujoco must be a table with python, timeout, options and file"]),
        ("quantities = ['mass']", ["quantities must be an array in which each value is one of tree, H"]),
        ("fail_on = ['agrees']", ["fail_on must be", "got 'agrees'", "did you mean 'disagrees'"]),
        ("robots = 'arm.urdf'", ["robots must be an array, got 'arm.urdf'"]),
        ("robots = [3]", ["robots[0] must be a path, a name or a table with path and base, got 3"]),
        ("[[robots]]\nbase = 'fixed'", ["robots[0].path is missing"]),
        ("[[robots]]\npath = 'a'\nbase = 'free'", ["robots[0].base must be one of fixed, floating"]),
        ("[expect]\nrobot = 'a'", ["expect must be an array"]),
        ("expect = [1]", ["expect[0] must be a table, written as [[expect]], got 1"]),
        ("[[expect]]\ncause = 'a'", ["expect[0] needs robot, engine or quantity"]),
        ("[[expect]]\nrobot = ''", ["expect[0].robot must be a text, got ''"]),
        ("[[expect]]\nquantity = 'mas'", ["expect[0].quantity must be one of"]),
        ("[[expect]]\nrobot = 'a'\nuntil = 1.5", ["expect[0].until must be a date such as 2027-01-31"]),
        ("[[expect]]\nrobot = 'a'\nuntil = 'May'", ["expect[0].until must be", "got 'May'"]),
        ("seed = ", ["is not valid TOML"]),
    ],
)
def test_errors_name_the_file_and_the_key(folder, content, words):
    (folder / "treefactor.toml").write_text(content)
    with pytest.raises(TreefactorError) as caught:
        configuration()
    assert str(caught.value).startswith(str(folder / "treefactor.toml"))
    for word in words:
        assert word in str(caught.value)


def test_errors_of_files(folder):
    with pytest.raises(TreefactorError, match=r"cannot read .*none\.toml: No such file"):
        configuration(folder / "none.toml")
    (folder / "pyproject.toml").write_text("[tool]\ntreefactor = 3\n")
    with pytest.raises(TreefactorError, match="unknown key 'treefactor'"):
        configuration()
    (folder / "pyproject.toml").write_text("[project]\n")
    with pytest.raises(TreefactorError, match=r"has no table \[tool\.treefactor\]"):
        configuration(folder / "pyproject.toml")
    (folder / "bytes.toml").write_bytes(b"\xff")
    with pytest.raises(TreefactorError, match="is not valid TOML"):
        configuration(folder / "bytes.toml")


def test_options_replace_entries(folder):
    (folder / "treefactor.toml").write_text(TABLES)
    chosen = configuration()
    assert chosen.replaced(robots=None, seed=None, quantities=None) == chosen
    some = chosen.replaced(robots=["a.urdf"], engines=["dart", "adam", "my_engine.py"], samples=9)
    assert some.robots == (ChosenRobot("a.urdf"),)
    assert some.engines == (
        chosen.engines[1],
        ChosenEngine("adam"),
        ChosenEngine(str(folder / "my_engine.py")),
    )
    assert (some.samples, some.narrowed, chosen.narrowed) == (9, True, False)
    assert not chosen.replaced(samples=9, fail_on=["stale"]).narrowed
    assert chosen.replaced(quantities=["QDD"]).quantities == ("q̈",)
    for option, message in (("engines", "^engines must be one of"), ("fail_on", "^fail_on must be one of")):
        with pytest.raises(TreefactorError, match=message):
            chosen.replaced(**{option: ["x"]})


@given(
    robots=tuples(st.tuples(texts, st.sampled_from(("", *BASES)))),
    engines=tuples(
        st.builds(ChosenEngine, st.sampled_from(sorted(ENGINES)), timeout=seconds, options=tuples(texts))
    ),
    quantities=tuples(st.sampled_from(ALL_QUANTITIES)),
    samples=st.integers(1, 100),
    seed=st.integers(0, 2**62),
    timeout=seconds,
    base=st.sampled_from(("", *BASES)),
    ordinary=st.booleans(),
    traps=st.booleans(),
    fail_on=tuples(st.sampled_from(FAIL_ON)),
    expect=st.lists(expectations, max_size=3).map(tuple),
)
def test_what_is_written_is_read_again(robots, engines, **others):
    engines = tuple({engine.name: engine for engine in engines}.values())
    robots = tuple(ChosenRobot(path, base, "here") for path, base in robots)
    chosen = Configuration(robots, engines, file="here/treefactor.toml", **others)
    assert parse(read(as_toml(chosen)), chosen.file) == chosen


def read(text):
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has no reader of TOML")
    return tomllib.loads(text)


def test_file_names_in_errors_are_paths(folder):
    (folder / "x.toml").write_text("9 = 1")
    with pytest.raises(TreefactorError, match=r"^x\.toml: unknown key '9'; known are quantities"):
        configuration(Path("x.toml"))
