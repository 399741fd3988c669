"""Test cross-validation and the command line around it."""

import json
import os
import shlex
import signal
import subprocess
import sys
from functools import partial
from importlib.util import find_spec

import numpy as np
import pytest
from rich.cells import cell_len
from rich.text import Text

import treefactor as tf
from treefactor import check, cli, report, robots, tolerances

pytest.importorskip("pinocchio", reason="Pinocchio is the reference of every check")
pytest.importorskip("pybullet", reason="PyBullet is not installed: it has no wheels after Python 3.11")

from helpers.pybullet_cases import joint, link

from treefactor.adapters import pinocchio_, pybullet_

TWO = ["double_pendulum", "solo12"]
BOTH = ("pinocchio", "pybullet")


def rows_of(names, engines=BOTH, **options):
    chosen = [robots.find(name) for name in names]
    return [row for rows in check.check(chosen, engines, **options) for row in rows]


def test_engines_agree_on_a_fixed_and_a_floating_robot():
    rows = rows_of(TWO, check.DEFAULT_ENGINES, samples=2)
    assert [(row.robot, row.engine) for row in rows] == [(r, e) for r in TWO for e in check.DEFAULT_ENGINES]
    for row in rows:
        assert row.verdict in check.GOOD
        assert row.same_tree
        assert row.error_h < 1e-13
        assert row.error_factor < 1e-14 * row.n
        assert row.error_qdd < 1e-11
        assert row.condition > 1
        assert (row.error_own is None) == (row.error_bias is None) == (row.engine == "pinocchio")
        assert (row.error_ld is None) == (row.engine == "pybullet")


@pytest.mark.slow
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", list(robots.bundled()))
def test_every_bundled_robot_agrees_or_is_explained_or_says_why_not(name, floating):
    engines = [engine for engine, module in check.ENGINES.items() if find_spec(module)]
    for row in next(check.check([robots.find(name, floating)], engines, samples=2)):
        assert row.verdict in (*check.GOOD, check.CANNOT_LOAD), row
        if row.verdict == check.CANNOT_LOAD:
            assert row.reason
        elif row.n:
            assert row.same_tree
            assert row.error_h <= tolerances.ENGINE_H[row.engine]


def test_same_seed_same_figures_whatever_else_is_checked():
    alone = rows_of(["solo12"], samples=1, seed=5)
    among = rows_of(TWO, samples=1, seed=5)
    assert among[2:] == alone
    assert rows_of(["solo12"], samples=1, seed=6) != alone


@pytest.mark.parametrize(
    ("function", "column"),
    [("mass_matrix", "error_h"), ("bias", "error_bias"), ("own_acceleration", "error_own")],
)
def test_a_wrong_figure_of_an_engine_is_found(monkeypatch, function, column):
    right = getattr(pybullet_, function)
    monkeypatch.setattr(pybullet_, function, lambda *arguments: right(*arguments) * (1 + 1e-6))
    own, other = rows_of(["double_pendulum"])
    assert own.verdict == check.AGREES
    assert other.verdict == check.DISAGREES
    assert getattr(other, column) > 1e-8
    assert other.reason


@pytest.mark.parametrize("function", ["mass_matrix", "bias", "own_acceleration"])
@pytest.mark.parametrize("sample", [0, 1, 2])
def test_nan_of_an_engine_in_any_sample_is_no_agreement(monkeypatch, function, sample):
    right, calls = getattr(pybullet_, function), iter(range(1000))

    def wrong(*arguments):
        return right(*arguments) * (np.nan if next(calls) == sample else 1.0)

    monkeypatch.setattr(pybullet_, function, wrong)
    assert rows_of(["double_pendulum"])[1].verdict == check.DISAGREES


@pytest.mark.parametrize("error", [ValueError, RuntimeError, KeyError, SystemError, np.linalg.LinAlgError])
@pytest.mark.parametrize("function", ["bias", "transform", "inertials", "settings"])
def test_an_engine_that_fails_does_not_take_the_other_rows_along(monkeypatch, function, error):
    def fail(*_):
        raise error("broken")

    monkeypatch.setattr(pybullet_, function, fail)
    own, other = rows_of(["double_pendulum"])
    assert own.verdict == check.AGREES
    assert other.verdict == check.DISAGREES
    assert "broken" in other.reason


def test_an_indefinite_matrix_is_no_refusal_to_load(monkeypatch):
    right = pybullet_.mass_matrix
    monkeypatch.setattr(pybullet_, "mass_matrix", lambda *arguments: -right(*arguments))
    assert rows_of(["double_pendulum"])[1].verdict == check.DISAGREES


@pytest.mark.parametrize("factor", [np.nan, -1.0, 1.01])
def test_a_wrong_mimic_model_is_no_agreement(monkeypatch, factor):
    right = pinocchio_.mass_matrix

    def wrong(model, data, q):
        return right(model, data, q) * (factor if len(model.mimicking_joints) else 1.0)

    monkeypatch.setattr(pinocchio_, "mass_matrix", wrong)
    assert rows_of(["panda"], ("pinocchio",))[1].verdict == check.DISAGREES


def test_a_heavy_joint_does_not_hide_behind_a_light_one(write, monkeypatch):
    tip = "ixx='1e-9' ixy='0' ixz='0' iyy='1e-9' iyz='0' izz='1e-9'"
    path = write(link("base") + link("upper", 100.0) + link("tip", 1e-4, tip)
                 + joint("a", "continuous", "base", "upper")
                 + joint("b", "continuous", "upper", "tip"))  # fmt: skip
    right = pybullet_.own_acceleration

    def wrong(*arguments):
        return right(*arguments) * [1.01, 1.0]

    robot = robots.Robot("arm", path)
    assert next(check.check([robot], ["pybullet"]))[0].verdict == check.EXPLAINED
    monkeypatch.setattr(pybullet_, "own_acceleration", wrong)
    assert next(check.check([robot], ["pybullet"]))[0].verdict == check.DISAGREES


@pytest.mark.parametrize("names", [("a", "a"), ("", "b")])
def test_joints_without_a_name_of_their_own_crash_nobody(write, names):
    path = write(link("base") + link("upper") + link("lower")
                 + joint(names[0], "continuous", "base", "upper")
                 + joint(names[1], "continuous", "upper", "lower"))  # fmt: skip
    own, *others = next(check.check([robots.Robot("twice", path)]))
    assert own.verdict in (check.CANNOT_LOAD, check.AGREES)  # Pinocchio takes an empty name
    for row in others:
        assert row.verdict == check.CANNOT_LOAD
        assert "name" in row.reason or "called" in row.reason


@pytest.mark.parametrize("encoding", ["klingon", "shift_jis", "utf-16"])
def test_encodings_nobody_knows(tmp_path, encoding):
    path = tmp_path / "odd.urdf"
    path.write_text(f"<?xml version='1.0' encoding='{encoding}'?><robot name='r'><link name='a'/></robot>")
    for row in next(check.check([robots.Robot("odd", path)])):
        assert row.verdict in (check.CANNOT_LOAD, check.AGREES)
        assert row.reason


def test_one_engine_that_cannot_load_does_not_touch_the_others(monkeypatch):
    def refuse(path, *_, **__):
        raise tf.AdapterError("out of order", engine="pybullet", file=path)

    monkeypatch.setattr(pybullet_, "load", refuse)
    own, other = rows_of(["double_pendulum"])
    assert own.verdict == check.AGREES
    assert (other.verdict, other.reason) == (check.CANNOT_LOAD, "out of order")


def test_without_pinocchio_an_engine_is_checked_against_itself():
    own, other, third = rows_of(["pybullet_data/spherical_joint_limit"], check.DEFAULT_ENGINES)
    assert own.verdict == check.CANNOT_LOAD
    for row in (other, third):
        assert row.verdict == check.AGREES
        assert "Pinocchio" in row.reason
        assert row.error_own < 1e-8


def test_massless_moving_link_is_named():
    for row in rows_of(["romeo_laas_small"], check.DEFAULT_ENGINES):
        assert row.verdict == check.EXPLAINED
        assert "l_gripper_joint" in row.reason
        assert row.error_h < 1e-11
        assert row.error_qdd < 1e-11  # of the other joints
        assert row.error_own is None


def test_a_robot_without_joints_has_nothing_to_disagree_about():
    for row in rows_of(["iris_simple"], check.DEFAULT_ENGINES):
        assert (row.n, row.verdict) == (0, check.AGREES)


@pytest.mark.parametrize("name", ["panda", "baxter", "pr2", "tiago_pro"])
def test_mimic_joints_get_a_row_of_their_own(name):
    free, mimic = rows_of([name], ("pinocchio",))
    assert mimic.base == "fixed, mimic"
    assert mimic.n < free.n
    assert mimic.verdict == check.AGREES
    assert mimic.error_h < 1e-13
    assert mimic.error_qdd < 1e-14 * mimic.condition


# ------------------------------------------------------------------------------------- the command line


def test_check_prints_a_row_per_engine_and_writes_json(tmp_path, capsys):
    file = tmp_path / "out.json"
    assert cli.main(["check", *TWO, "--samples", "1", "--json", str(file), "--engine", *BOTH]) == 0
    out = capsys.readouterr().out
    assert "2 agree, 2 explained" in out
    content = json.loads(file.read_text(encoding="utf-8"))
    assert [row["robot"] for row in content["rows"]] == [name for name in TWO for _ in BOTH]
    assert os.listdir(tmp_path) == ["out.json"]


def test_what_engines_print_is_not_mixed_with_the_table(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "treefactor", "check", "b1", "--samples", "1", "--engine", "pybullet"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0
    assert "b3Warning" not in done.stdout + done.stderr  # PyBullet's C code prints it
    assert "1 explained" in done.stdout


@pytest.mark.parametrize("streams", ["| true", ">&-", "2>&-"])
def test_a_reader_that_leaves_or_a_closed_stream_costs_no_result(tmp_path, streams):
    python = shlex.quote(sys.executable)
    command = f"{python} -m treefactor check double_pendulum --engine pinocchio --json out.json"
    script = f"{command} {streams}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0
    assert json.loads((tmp_path / "out.json").read_text())["rows"][0]["verdict"] == check.AGREES


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_no_file_and_no_process_behind(tmp_path, sent, status):
    command = [sys.executable, "-m", "treefactor", "check", "--json", "out.json"]
    heard = partial(signal.signal, sent, signal.SIG_DFL)  # shells have background jobs ignore SIGINT
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    begun = subprocess.Popen(command, cwd=tmp_path, preexec_fn=heard, **pipes)
    assert any(b"[1/" in line for line in begun.stderr)
    begun.send_signal(sent)
    begun.communicate(timeout=60)  # ends only when no process holds the pipes any more
    assert begun.returncode == status
    assert os.listdir(tmp_path) == []


def test_what_an_engine_prints_that_refuses_a_robot_is_its_reason(monkeypatch):
    def refuse(path, *_):
        os.system("seq 99; echo no such thing >&2")
        raise tf.AdapterError("PyBullet refused it, see its output", "pybullet", path)

    robot = robots.find("double_pendulum")
    monkeypatch.setattr(check.run, "_check_robot", lambda robot, *_: [row_of(refuse, robot)])
    ((row,),) = check.check([robot], ["pybullet"], timeout=60)
    assert row.reason.endswith("\n98\n99\nno such thing")
    assert "\n80\n" not in row.reason


def row_of(load, robot):
    try:
        load(robot.path)
    except tf.AdapterError as error:
        return check.Row(robot.name, robot.base, "pybullet", reason=str(error))


def disagreeing(robot, engines, *_):
    return [check.Row(robot.name, robot.base, engine, verdict=check.DISAGREES) for engine in engines]


def test_exit_status_says_that_something_disagrees(monkeypatch, capsys):
    monkeypatch.setattr(check.run, "_check_robot", disagreeing)
    assert cli.main(["check", "double_pendulum"]) == cli.DISAGREE
    assert "disagrees" in capsys.readouterr().out


def test_a_robot_no_engine_can_load_is_a_row(tmp_path, capsys):
    path = tmp_path / "broken.urdf"
    path.write_text("<robot")
    arguments = ["check", str(path), "double_pendulum", "--engine", *BOTH]
    assert cli.main(arguments) == cli.DISAGREE
    out = capsys.readouterr().out
    assert "cannot load" in out
    assert "broken.urdf" in out
    assert "not well-formed" in out
    assert "1 agrees, 1 explained, 2 cannot load" in out


def test_a_robot_nobody_knows_is_an_error(capsys):
    assert cli.main(["check", "padna"]) == cli.FAILED
    assert "panda" in capsys.readouterr().err


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_the_base_can_be_chosen(base, capsys):
    assert cli.main(["check", "double_pendulum", "--samples", "1", "--base", base]) == 0
    assert base in capsys.readouterr().out


@pytest.mark.parametrize("bad", [["--samples", "0"], ["--seed", "-1"], ["--engine", "ode"], ["--json"]])
def test_bad_options_are_usage_errors(bad, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["check", *bad])
    assert caught.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_unwritable_json_is_found_before_the_work_starts(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(check, "check", lambda *_: pytest.fail("the work started"))
    assert cli.main(["check", "panda", "--json", str(tmp_path / "absent" / "out.json")]) == cli.FAILED
    assert "absent" in capsys.readouterr().err


def test_json_that_fails_leaves_the_old_file_and_no_other(tmp_path, monkeypatch, capsys):
    file = tmp_path / "out.json"
    file.write_text("old")

    def disk_full(path, content):
        path.write_text('{"rows": [')
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(report, "write_json", disk_full)
    arguments = ["check", "double_pendulum", "--samples", "1", "--json", str(file), "--engine", "pinocchio"]
    assert cli.main(arguments) == cli.FAILED
    captured = capsys.readouterr()
    assert "No space left" in captured.err
    assert "1 agrees" in captured.out  # the table is not lost
    assert file.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.json"]


def test_json_replaces_the_target_of_a_link(tmp_path, capsys):
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(target)
    assert cli.main(["info", "panda", "--json", str(link)]) == 0
    assert link.is_symlink()
    assert json.loads(target.read_text())["n"] == 9


def test_json_into_a_pipe_or_a_folder(tmp_path, capsys):
    assert cli.main(["info", "panda", "--json", "/dev/null"]) == 0
    assert not os.path.isfile("/dev/null")
    assert cli.main(["info", "panda", "--json", str(tmp_path)]) == cli.FAILED
    assert str(tmp_path) in capsys.readouterr().err
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["[/red]", "a[bold]b.urdf", "\\[x]"])
def test_names_are_no_markup(name, capsys):
    assert cli.main(["check", name]) == cli.FAILED
    assert name in capsys.readouterr().err


@pytest.mark.parametrize("width", ["80", "200"])
def test_the_table_fits_its_terminal(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", width)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert cli.main(["check", "solo12", "--samples", "1", "--engine", *BOTH]) == 0
    lines = Text.from_ansi(capsys.readouterr().out).plain.splitlines()
    assert max(map(cell_len, lines)) <= int(width)  # of q̈ one character has no width
    assert any("pybullet" in line and "explained" in line for line in lines)
    assert any("density" in line for line in lines) == (width == "200")


def test_json_has_no_nan(tmp_path):
    file = tmp_path / "out.json"
    report.write_json(file, {"a": [float("nan"), 1.0], "b": {"c": float("inf")}})
    assert json.loads(file.read_text()) == {"a": [None, 1.0], "b": {"c": None}}


def test_info_prints_names_depths_and_costs(tmp_path, capsys):
    file = tmp_path / "solo.json"
    assert cli.main(["info", "solo12", "--json", str(file)]) == 0
    out = capsys.readouterr().out
    tree = pinocchio_.tree(pinocchio_.load(robots.find("solo12").path, floating=True))
    for word in ("FL_HAA", "HR_KFE", f"D1 = {tree.D1}", f"D2 = {tree.D2}", f"{tree.density:.3f}", "LTDL"):
        assert word in out
    content = json.loads(file.read_text())
    assert content["parent"] == tree.parent.tolist()
    assert content["cost"]["LTDL"]["total"] == tree.cost("LTDL").total


def test_info_lists_the_bundled_robots(capsys):
    assert cli.main(["info", "--list"]) == 0
    assert capsys.readouterr().out.splitlines() == list(robots.bundled())


def test_info_without_a_robot(capsys):
    assert cli.main(["info"]) == cli.FAILED
    assert "--list" in capsys.readouterr().err


def test_info_of_a_coupled_model(capsys):
    assert cli.main(["info", "panda", "--mimic"]) == 0
    assert "n = 8" in capsys.readouterr().out


@pytest.mark.parametrize(("ending", "magic"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_info_draws(tmp_path, ending, magic):
    pytest.importorskip("matplotlib", reason="plots need Matplotlib")
    file = tmp_path / f"talos.{ending}"
    assert cli.main(["info", "talos_reduced", "--plot", str(file)]) == 0
    assert file.read_bytes().startswith(magic)


def test_info_draws_no_unknown_format(tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="plots need Matplotlib")
    assert cli.main(["info", "panda", "--plot", str(tmp_path / "panda.xyz")]) == cli.FAILED
    assert "xyz" in capsys.readouterr().err
    assert os.listdir(tmp_path) == []
