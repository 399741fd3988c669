"""Test the command line without Pinocchio, without arguments, and with wrong ones; its suggestions."""

import json
import os
import re
import subprocess
import sys
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from helpers.few_turns import small_sizes
from helpers.stand_in_engines import WRONG
from helpers.sweeps import sweep

import treefactor as tf
from treefactor import bench, check, cli, mechanisms, report, robots
from treefactor.codegen import folder
from treefactor.exceptions import AdapterError

MODULES = ("pinocchio", "pybullet", "mujoco", "pydrake")  # of engines
ARM = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><mass value="2"/><origin xyz="0 0.1 0.3"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="lower"><inertial><mass value="1"/><origin xyz="0 0 0.2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
<joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/><axis xyz="0 1 0"/>
<origin xyz="0 0 0.5"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
MJCF = """<mujoco model="arm"><worldbody><body name="upper"><joint name="shoulder" axis="0 1 0"/>
<geom size=".1"/></body></worldbody></mujoco>"""
TESTS = Path(__file__).parents[1]
MAIN = """
import sys
from helpers.few_turns import small_sizes
from treefactor.cli import main
small_sizes()
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def arm(tmp_path, monkeypatch):
    """Write a URDF in an empty folder, which becomes the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CC", "absent")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    small_sizes(monkeypatch.setattr)
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


@pytest.fixture
def without(arm, tmp_path, monkeypatch):
    """Run a command in a process in which, and in whose children, engines cannot be imported."""
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(blocked), str(TESTS)]))

    def run(*arguments, engines=("pinocchio",), status=0):
        for engine in engines:
            (blocked / f"{engine}.py").write_text(f"raise ImportError('no {engine} here')\n")
        command = [sys.executable, "-W", "ignore", "-c", MAIN, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == status, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


# ------------------------------------------------------------------------------- without Pinocchio


def test_info_needs_no_engine(without, arm, capsys):
    done = without("info", "arm.urdf", "--json", "info.json", engines=MODULES)
    assert "shoulder" in done.stdout
    content = json.loads((arm.parent / "info.json").read_text())
    assert [(one["name"], one["q"], one["v"]) for one in content["joints"]] == [
        ("shoulder", "q[0:2]", "v[0]"),
        ("elbow", "q[2]", "v[1]"),
    ]
    assert re.search("elbow +revolute +q.2. +v.1. +angle +its rate", done.stdout)
    assert (content["n"], content["names"]) == (2, ["shoulder", "elbow"])
    assert cli.main(["info", "arm.urdf"]) == 0
    assert capsys.readouterr().out == done.stdout


@pytest.mark.parametrize(
    "engines",
    [pytest.param(("pinocchio",), id="one"), pytest.param(MODULES, id="all", marks=pytest.mark.slow)],
)
def test_check_without_a_reference(without, arm, engines):
    names = ["pinocchio", "treefactor", "mujoco"]
    done = without(
        *("check", "arm.urdf", "--samples", "2", "--json", "check.json", "--engine", *names),
        engines=engines,
        status=0 if engines == ("pinocchio",) else cli.NOTHING,
    )
    assert cli.check.NO_REFERENCE in done.stderr
    cells = json.loads((arm.parent / "check.json").read_text())["cells"]
    states = {name: {cell["state"] for cell in cells if cell["engine"] == name} for name in names}
    assert states["pinocchio"] == {check.NOT_INSTALLED}
    assert states["treefactor"] == {check.EXCLUDED}  # nothing to compare it with
    assert (check.AGREES in states["mujoco"]) == (engines == ("pinocchio",))


def test_bench_leaves_out_what_is_missing(without, arm):
    done = without("bench", "arm.urdf", "--json", "bench.json", engines=("pinocchio",))
    assert "Pinocchio cannot be imported: the comparisons with it are left out" in done.stderr
    results = json.loads((arm.parent / "bench.json").read_text())["results"]
    peers = {one["peer"] for one in results}
    alone = {"NumPy", "FMA peak", "one thread", "float64", "our rnea", "our forward dynamics"}
    assert alone <= peers <= alone | {"MuJoCo"}
    assert all(one["ours"] > 0 for one in results)
    for what in ("loops", "--all"):
        assert "pip install 'treefactor[pinocchio]'" in without("bench", what, status=2).stderr


def test_an_mjcf_needs_an_engine_that_reads_it(without, arm):
    (arm.parent / "arm.xml").write_text(MJCF)
    error = without("info", "arm.xml", engines=("pinocchio", "mujoco"), status=2).stderr
    assert "an MJCF is read by MuJoCo or Pinocchio: pip install 'treefactor[mujoco]'" in error


@pytest.mark.parametrize("module", ["mujoco", "pinocchio"])
def test_every_command_takes_an_mjcf(arm, in_process, capsys, module):
    pytest.importorskip(module, reason="it reads the file")
    pytest.importorskip("mujoco", reason="it reads the file first")
    (arm.parent / "arm.xml").write_text(MJCF)
    assert cli.main(["info", "arm.xml"]) == 0
    assert cli.main(["generate", "arm.xml", "-o", "out", "--functions", "crba"]) == 0
    assert "shoulder" in capsys.readouterr().out
    assert cli.main(["check", "arm.xml", "--samples", "1", "--quantity", "H", "--engine", module]) == 0


def test_bench_of_an_mjcf_names_no_goals(arm, capsys):
    pytest.importorskip("mujoco", reason="it reads the file")
    (arm.parent / "arm.xml").write_text(MJCF)
    assert cli.main(["bench", "arm.xml", "--json", "plain.json"]) == 0
    plain = capsys.readouterr()
    for words in ("S1", "S4", "S8", "goal", "Goal", "reached", "missed"):
        assert words not in plain.out + plain.err
    text = (arm.parent / "plain.json").read_text()
    assert "goal" not in text
    stored = json.loads(text)
    assert stored["config"] == tf.show_config("dicts")
    assert date.fromisoformat(stored["date"]) <= date.today()
    assert stored.get("load", 0.0) >= 0.0


@pytest.mark.parametrize("robot", robots.default_robots(), ids=lambda robot: robot.name)
def test_trees_without_an_engine_are_pinocchios(robot):
    pytest.importorskip("pinocchio", reason="the reference")
    from treefactor.adapters import pinocchio_

    for mimic in (False, True):
        theirs = pinocchio_.tree(pinocchio_.load(robot.path, robot.floating, mimic))
        assert robots.model_of(robot, mimic).tree == theirs
        assert robots.model_of(robot, mimic).tree.names == theirs.names


# ----------------------------------------------------------------------------- messages to the user


def test_no_arguments_help(capsys):
    assert cli.main([]) == 0
    out = capsys.readouterr().out
    for command in ("check", "info", "bench", "families", "tables", "generate"):
        assert f"\n    {command} " in out
    assert "Next: `treefactor info --list`" in out


@pytest.mark.parametrize(
    ("line", "proposed"),
    [("chek panda", "check"), ("benhc panda", "bench"), ("check panda --base floatng", "floating")],
)
def test_a_wrong_word_is_followed_by_the_right_one(line, proposed, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(line.split())
    assert ended.value.code == 2
    assert f"did you mean '{proposed}'" in capsys.readouterr().err


def test_goals_are_for_this_project(arm, capsys):
    assert cli.main(["bench", "arm.urdf", "--goals", "--json", "goals.json"]) == 0
    shown = capsys.readouterr().out
    assert all(words in shown for words in (bench.SUBJECTS["S8"], "goal", "reached"))
    assert "S8" not in shown
    results = json.loads((arm.parent / "goals.json").read_text())["results"]
    assert all({*bench.GOALS} <= {*one} for one in results)


@pytest.mark.parametrize(
    ("verdicts", "shown"),
    [
        ([check.AGREES], "1 agrees"),
        ([check.AGREES] * 2, "2 agree"),
        ([check.DISAGREES, check.AGREES, check.DISAGREES], "1 agrees, 2 disagree"),
        ([check.EXPLAINED] * 3 + [check.REFUSED], "3 explained, 1 refused"),
    ],
)
def test_verdicts_are_counted_in_english(verdicts, shown):
    assert report.counted(verdicts, report.COLOURS).plain == shown


def test_figures_that_differ_are_counted_in_english():
    assert report.counted(["differs", "equal", "differs"], report.VERDICTS).plain == "1 equal, 2 differ"


@pytest.mark.parametrize(
    ("command", "step"),
    [
        (
            ["info", "arm.urdf"],
            "`treefactor bench arm.urdf` measures it, `treefactor check",
        ),
        (["generate", "arm.urdf", "-o", "my out", "--functions", "crba"], "`make -C 'my out' check`"),
        (
            ["check", "arm.urdf", "--samples", "1", "--engine", "mujoco"],
            "`treefactor generate arm.urdf -o",
        ),
        (["families", "--nodes", "8"], "`treefactor families --plot FILE`"),
    ],
)
def test_next_steps_are_named(arm, in_process, capsys, command, step):
    if "mujoco" in command:
        pytest.importorskip("mujoco", reason="the engine")
    assert cli.main(command) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith(f"Next: {step}")


def test_disagreement_names_the_page(arm, in_process, capsys):
    (arm.parent / "wrong.py").write_text(WRONG)
    assert cli.main(["check", "arm.urdf", "--engine", "wrong.py"]) == cli.DISAGREE
    assert "Next: `treefactor check arm.urdf --html` draws which" in capsys.readouterr().out
    assert cli.main(["check", "arm.urdf", "--engine", "wrong.py", "--html"]) == cli.DISAGREE
    assert "Next" not in capsys.readouterr().out
    assert (arm.parent / "check.html").is_file()


def test_pages_have_a_name_of_their_own(arm, capsys):
    options = cli.options.parser().parse_args(["tables", "kane-sum", "--html"])
    assert options.html.name == "tables.html"
    assert cli.options.parser().parse_args(["check", "--html", "x.HTML"]).html.name == "x.HTML"
    for command in ("tables", "check"):
        with pytest.raises(SystemExit):
            cli.main([command, "--html", "kane-sum"])
        assert "expected a file name that ends in .html, got 'kane-sum'" in capsys.readouterr().err


def test_info_needs_a_robot(capsys):
    assert cli.main(["info"]) == cli.FAILED
    assert "info needs the file or name of a robot; `treefactor info --list`" in capsys.readouterr().err


# ---------------------------------------------------------------------------------------- generate


def run_generate(*arguments, status=0):
    assert cli.main(["generate", *arguments, "--functions", "crba"]) == status


def test_the_folder_of_another_robot_stays(arm, capsys):
    out = arm.parent / "out"
    run_generate("arm.urdf", "-o", "out")
    first = {file.name: file.read_bytes() for file in out.iterdir()}
    run_generate("four-bar", "-o", "out", status=2)
    error = capsys.readouterr().err
    assert "it holds another robot (Dynamics of arm: 3 entries of q, 2 of v" in error
    assert "--force" in error
    assert {file.name: file.read_bytes() for file in out.iterdir()} == first
    run_generate("arm.urdf", "-o", "out")
    run_generate("arm.urdf", "-o", "out", "--base", "floating", status=2)
    run_generate("four-bar", "-o", "out", "--force")
    assert "four-bar" in (out / "dynamics.h").read_text()


def test_force_replaces_changes_but_no_files_of_others(arm, capsys):
    out = arm.parent / "out"
    run_generate("arm.urdf", "-o", "out")
    (out / "crba.c").write_text("better")
    run_generate("arm.urdf", "-o", "out", status=2)
    run_generate("arm.urdf", "-o", "out", "--force")
    assert (out / "crba.c").read_text() != "better"
    (out / "mine.txt").write_text("mine")
    run_generate("four-bar", "-o", "out", "--force", status=2)
    assert "mine.txt in it was not generated" in capsys.readouterr().err
    assert (out / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("stages", ["out", "./out", "out/stages", "."])
def test_the_folder_of_stages_lies_apart(arm, capsys, stages):
    run_generate("arm.urdf", "-o", "out", "--stages", stages, status=2)
    assert f"--stages {Path(stages)}: expected a folder outside of --output out" in capsys.readouterr().err
    assert sorted(file.name for file in arm.parent.iterdir()) == ["arm.urdf"]
    run_generate("arm.urdf", "-o", "out", "--stages", "stages")


@pytest.mark.parametrize("name", sweep(mechanisms.MECHANISMS, lambda name: name != "docking"))
def test_mechanisms_are_closed_as_they_are_assembled(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    written = []
    monkeypatch.setattr(folder, "write", lambda model, program, *_: written.append(program))
    command = ["generate", name, "-o", "out", "--functions", "position_closure"]
    assert cli.main(command) == 0
    signs = [f"{freedom}={sign}" for freedom, sign in written[0].branch]
    assert f"Signs of position_closure: {' '.join(signs)}\n" in capsys.readouterr().out
    closed = mechanisms.MECHANISMS[name]().closed
    q = tf.compile(written[0]).position_closure(closed)
    np.testing.assert_allclose(q, closed, rtol=0, atol=1e-12)
    freedom, sign = written[0].branch[-1]
    assert cli.main([*command, "--branch", f"{freedom}={-sign}"]) == 0
    assert written[1].branch == (*written[0].branch[:-1], (freedom, -sign))


def test_tips_are_required(arm, capsys):
    assert cli.main(["generate", "arm.urdf", "-o", "out", "--functions", "jacobian"]) == 2
    assert "'jacobian' needs tips=" in capsys.readouterr().err
    assert cli.main(["generate", "arm.urdf", "-o", "out", "--tips", "lowr"]) == 2
    assert "'lowr' is not a frame, joint or body of arm; did you mean 'lower'" in capsys.readouterr().err
    assert cli.main(["generate", "arm.urdf", "-o", "out", "--tips", "lower", "--functions", "jacobian"]) == 0


def test_unknown_robots_have_similar_names():
    if "panda" not in robots.bundled():
        pytest.skip("example-robot-data is not installed")
    with pytest.raises(AdapterError, match=r"padna: no such file.*; did you mean .*'panda'"):
        robots.find("padna")
