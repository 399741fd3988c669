"""Test the options of `treefactor check`, its files and its exit status, with engines in files."""

import json

import pytest
from helpers.stand_in_engines import PLAIN, write_project

from treefactor import cli
from treefactor.check.cells import Report
from treefactor.check.engines import ENGINES
from treefactor.check.judge import ALL_QUANTITIES
from treefactor.check.project.quantity_names import quantity_named
from treefactor.report import conformance

SOME = ("--quantity", "H", "gravity", "com")


@pytest.fixture
def project(tmp_path, monkeypatch, in_process):
    """Return an empty folder with robots and engines, which run in this process."""
    monkeypatch.chdir(tmp_path)
    return write_project(tmp_path, "good", "damps", "wrong", "refuses", "missing")


def status(*arguments):
    return cli.main(["check", *arguments])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["arm.urdf", "--engine", "good.py", "damps.py"], 0),
        (["damped.urdf", "--engine", "damps.py"], 0),
        (["damped.urdf", "--engine", "damps.py", "--fail-on", "explained"], cli.DISAGREE),
        (["arm.urdf", "--engine", "wrong.py"], cli.DISAGREE),
        (["arm.urdf", "--engine", "wrong.py", "--fail-on"], 0),
        (["arm.urdf", "--engine", "refuses.py"], cli.DISAGREE),
        (["arm.urdf", "--engine", "refuses.py", "--fail-on", "disagrees"], 0),
        (["arm.urdf", "--engine", "missing.py"], cli.NOTHING),
        (["arm.urdf", "--engine", "absent.py"], cli.FAILED),
        (["arm.urdf", "--engine", "mujocco"], cli.FAILED),
        (["arm.urdf", "--fail-on", "agrees"], cli.FAILED),
        (["arm.urdf", "--config", "none.toml"], cli.FAILED),
        (["*.sdf", "--engine", "good.py"], cli.FAILED),
        (["arm.urdf", "--derivatives", "--sarif", "out.sarif"], cli.FAILED),
        (["arm.urdf", "--engine", "good.py", "--json", "arm.urdf"], cli.FAILED),
        (["arm.urdf", "--engine", "good.py", "--html", "damped.urdf"], cli.FAILED),
        (["arm.urdf", "--engine", "good.py", "--json", "a.json", "--sarif", "./a.json"], cli.FAILED),
        (["arm.urdf", "--engine", "good.py", "--badge", "badge.png"], cli.FAILED),
        (["arm.urdf", "--engine", "good.py", "--json", "/dev/null", "--sarif", "/dev/null"], 0),
    ],
)
def test_exit_status(project, arguments, expected, capsys):
    assert status(*arguments, *SOME) == expected
    captured = capsys.readouterr()
    assert (project / "arm.urdf").read_text() == PLAIN
    if expected == cli.FAILED:
        assert captured.err.startswith("treefactor: error: ")
        assert captured.out == ""
    elif expected == cli.NOTHING:
        assert "nothing was compared" in captured.out
    else:
        assert "arm" in captured.out or "damped" in captured.out


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("mass", "'H', 'centre of mass'"),
        ("inertias", "'inertia', 'inertia matrix'"),
        ("energie", "'energies'"),
    ],
)
def test_an_unknown_quantity_is_an_error(project, name, near, capsys):
    assert status("arm.urdf", "--quantity", name) == cli.FAILED
    text = capsys.readouterr().err
    assert "quantities must be one of tree, H (also mass matrix, " in text
    assert all(quantity in text for quantity in ALL_QUANTITIES)
    assert f"did you mean {near}" in text


@pytest.mark.parametrize(("name", "quantity"), [("mass-matrix", "H"), ("rnea", "inverse dynamics")])
def test_quantities_have_other_names(name, quantity):
    assert quantity_named(name) == quantity


def test_every_report_is_written(project, capsys):
    files = {kind: f"out.{kind}" for kind in ("json", "html", "junit", "sarif", "markdown")}
    files["badge"] = "badge.svg"
    options = [word for kind, name in files.items() for word in (f"--{kind}", name)]
    assert status(".", "--engine", "good.py", "wrong.py", *SOME, *options) == cli.DISAGREE
    for name in files.values():
        assert (project / name).stat().st_size > 100
    content = json.loads((project / "out.json").read_text())
    assert [robot["name"] for robot in content["robots"]] == ["arm.urdf", "damped.urdf"]
    assert [engine["name"] for engine in content["engines"]] == ["good", "wrong"]
    assert len(content["cells"]) == 12
    assert json.loads((project / "out.sarif").read_text())["runs"]
    first = (project / "out.json").read_bytes()
    status(".", "--engine", "good.py", "wrong.py", *SOME, "--json", "out.json")
    assert (project / "out.json").read_bytes() == first  # the same seed gives the same file


def test_expectations_of_the_configuration(project, capsys):
    text = """
        robots = ["*.urdf"]
        engines = ["wrong.py"]
        quantities = ["centre of mass", "H"]
        [[expect]]
        engine = "wrong"
        quantity = "centre of mass"
    """
    (project / "treefactor.toml").write_text(text)
    assert status("--json", "out.json") == 0
    content = json.loads((project / "out.json").read_text())
    assert [cell["state"] for cell in content["cells"]] == ["expected", "agrees"] * 2
    assert [one["stale"] for one in content["expectations"]] == [False]
    (project / "treefactor.toml").write_text(f"{text}\n[[expect]]\nrobot = 'dog'\n")
    assert status() == cli.DISAGREE
    assert "differs: robot = dog, engine = *, quantity = *\n" in capsys.readouterr().out
    assert status("--fail-on", "disagrees") == 0
    assert status("arm.urdf") == 0  # other robots are not compared
    (project / "treefactor.toml").write_text(f"{text}\nuntil = 2001-01-01\n")
    assert status() == cli.DISAGREE


def test_the_configuration_is_printed(project, capsys):
    (project / "pyproject.toml").write_text("[tool.treefactor]\nseed = 5\nengines = ['good.py']\n")
    assert status("arm.urdf", "--samples", "9", "--no-ordinary", "--base", "fixed", "--print-config") == 0
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has no reader of TOML")
    text = capsys.readouterr().out
    assert "# not set: quantities, timeout, fail_on\n" in text
    printed = tomllib.loads(text)
    assert (printed["seed"], printed["samples"], printed["ordinary"]) == (5, 9, False)
    assert printed["robots"] == [{"path": "arm.urdf", "base": "fixed"}]
    assert printed["engines"] == [str(project / "good.py")]


def test_options_that_an_engine_does_not_have_are_refused(project, capsys):
    (project / "treefactor.toml").write_text("[engines.good]\nfile = 'good.py'\noptions = ['root_links']\n")
    assert status("arm.urdf", "--quantity", "H") == cli.DISAGREE
    assert "options of good are none; got 'root_links'" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "expected", "shown"),
    [
        (["arm.urdf", "--quantity", "H"], 0, ["Next: `treefactor generate arm.urdf"]),
        ([".", "--quantity", "H"], 0, []),
        (["arm.urdf", "--quantity", "simulation"], cli.NOTHING, ["nothing was compared"]),
        (["arm.urdf", "--quantity", "H", "--no-ordinary"], 0, ["for “as it is” read “as rewritten”", "Next"]),
    ],
)
def test_the_last_lines_fit_what_was_compared(project, arguments, expected, shown, capsys):
    assert status(*arguments, "--engine", "good.py") == expected
    text = capsys.readouterr().out
    assert all(line in text for line in shown)
    for line in ("Next", "nothing was compared", "as rewritten"):
        assert (line in text) == any(line in one for one in shown)


def test_the_engines_are_listed(project, capsys):
    assert status("--list-engines") == 0
    shown = capsys.readouterr().out
    lines = {line.split()[0]: line for line in shown.splitlines() if line.strip()}
    assert max(map(len, shown.splitlines())) <= conformance.WIDTH
    text = " ".join(shown.split())  # long remedies go on in the next line
    assert set(ENGINES) <= set(lines)
    assert "urdf, mjcf" in lines["treefactor"]
    for name, engine in ENGINES.items():
        assert ("not installed" in lines[name]) == (engine.remedy in text)
        assert f"pip install 'treefactor[{name}]'" in engine.remedy or name == "treefactor"


def test_without_any_engine_the_command_names_what_needs_none(monkeypatch, capsys):
    monkeypatch.setattr("treefactor.check.has_pinocchio", lambda: False)
    monkeypatch.setattr("treefactor.cli.check.compare", lambda *_: Report({}))
    monkeypatch.setattr("treefactor.cli.check.engine_version", lambda name: "1" * (name == "treefactor"))
    status("arm.urdf")
    assert "--derivatives and --contacts need none" in capsys.readouterr().err
    monkeypatch.setattr("treefactor.cli.check.engine_version", lambda name: "1" * (name == "mujoco"))
    status("arm.urdf")
    assert "own recursions" in capsys.readouterr().err


@pytest.mark.parametrize("minor", [11, 12])
def test_an_engine_that_is_not_installed_is_named_with_the_remedy(project, capsys, monkeypatch, minor):
    monkeypatch.setattr("sys.version_info", (3, minor, 0, "final", 0))
    absent = {"pybullet", "dart"}
    monkeypatch.setattr("treefactor.cli.check.engine_version", lambda name: "" if name in absent else "1")
    monkeypatch.setattr("treefactor.cli.check.compare", lambda *_: Report({}))
    status("arm.urdf")
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= conformance.WIDTH == 100
    text = " ".join(printed.split())  # long remedies go on in the next line
    wheels = "" if minor == 11 else "it has no wheels for Python 3.12: use Python 3.11, "
    checkout = "; in a checkout make demo PYTHON=python3.11, or make pybullet, which builds it"
    checkout = "" if minor == 11 else checkout
    pybullet = (
        f"not compared: pybullet is not installed: {wheels}pip install 'treefactor[pybullet]'{checkout}"
    )
    assert f"{pybullet} not compared: dart is not installed: pip install 'treefactor[dart]'" in text
    assert text.count("not compared: ") == len(absent)
    status("arm.urdf", "--engine", "good.py")
    assert "not compared: " not in capsys.readouterr().out


def test_traps_are_robots(project, capsys):
    assert status("--traps", "--engine", "good.py", "--quantity", "tree", "--json", "out.json") in (0, 1)
    names = [robot["name"] for robot in json.loads((project / "out.json").read_text())["robots"]]
    assert "traps/axis_negative" in names
    assert all(name.startswith("traps/") for name in names)
