"""Cross-validation and the command line around it."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import treefactor as tf
from treefactor import check, cli, report, robots

pytest.importorskip("pinocchio", reason="Pinocchio is the reference of every check")
pytest.importorskip("pybullet", reason="PyBullet is not installed: it has no wheels after Python 3.11")

from treefactor.adapters import pinocchio_, pybullet_

TWO = ["double_pendulum", "solo12"]


def rows_of(names, **options):
    return [row for rows in check.check([robots.find(name) for name in names], **options) for row in rows]


def test_engines_agree_on_a_fixed_and_a_floating_robot():
    rows = rows_of(TWO, samples=2)
    assert [(row.robot, row.engine) for row in rows] == [(r, e) for r in TWO for e in check.ENGINES]
    assert {row.verdict for row in rows} == {check.AGREES}
    for row in rows:
        assert row.reason == ""
        assert row.error_h < 1e-11
        assert row.error_factor < 1e-14 * row.n
        assert row.error_qdd < 1e-8
        assert row.condition > 1
        assert (row.error_step is None) == (row.engine == "pinocchio")


@pytest.mark.slow
@pytest.mark.parametrize("robot", robots.default_robots(), ids=lambda robot: robot.name)
def test_every_robot_of_the_default_selection_agrees(robot):
    for row in next(check.check([robot])):
        assert row.verdict in check.GOOD, row


def test_same_seed_same_figures_whatever_else_is_checked():
    alone = rows_of(["solo12"], samples=1, seed=5)
    among = rows_of(TWO, samples=1, seed=5)
    assert among[2:] == alone
    assert rows_of(["solo12"], samples=1, seed=6) != alone


@pytest.mark.parametrize(
    ("function", "column"),
    [("mass_matrix", "error_h"), ("bias", "error_qdd"), ("stepped_acceleration", "error_step")],
)
def test_a_wrong_figure_of_an_engine_is_found(monkeypatch, function, column):
    right = getattr(pybullet_, function)
    monkeypatch.setattr(pybullet_, function, lambda *arguments: right(*arguments) * (1 + 1e-6))
    own, other = rows_of(["double_pendulum"])
    assert own.verdict == check.AGREES
    assert other.verdict == check.DISAGREES
    assert getattr(other, column) > 1e-8
    assert other.reason


def test_nan_of_an_engine_is_no_agreement(monkeypatch):
    monkeypatch.setattr(pybullet_, "stepped_acceleration", lambda body, q, v, tau: np.full(tau.shape, np.nan))
    assert rows_of(["double_pendulum"])[1].verdict == check.DISAGREES


def test_one_engine_that_cannot_load_does_not_touch_the_others(monkeypatch):
    def refuse(path, *_, **__):
        raise tf.AdapterError("out of order", engine="pybullet", file=path)

    monkeypatch.setattr(pybullet_, "load", refuse)
    own, other = rows_of(["double_pendulum"])
    assert own.verdict == check.AGREES
    assert (other.verdict, other.reason) == (check.CANNOT_LOAD, "out of order")


def test_massless_moving_link_is_named():
    own, other = rows_of(["romeo_laas_small"])
    assert own.verdict == other.verdict == check.CANNOT_LOAD
    assert "l_gripper_joint" in own.reason
    assert "l_gripper_joint" in other.reason


# ------------------------------------------------------------------------------------- the command line


def test_check_prints_a_row_per_engine_and_writes_json(tmp_path, capsys):
    file = tmp_path / "out.json"
    assert cli.main(["check", *TWO, "--samples", "1", "--json", str(file)]) == 0
    out = capsys.readouterr().out
    assert "4 agrees" in out
    content = json.loads(file.read_text(encoding="utf-8"))
    assert [row["robot"] for row in content["rows"]] == [name for name in TWO for _ in check.ENGINES]
    assert os.listdir(tmp_path) == ["out.json"]


def test_what_engines_print_is_not_mixed_with_the_table(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "treefactor", "check", "b1", "--samples", "1"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0
    assert "b3Warning" in done.stderr  # PyBullet's C code writes it to stdout
    assert "b3Warning" not in done.stdout
    assert "2 agrees" in done.stdout


def test_exit_status_says_that_something_disagrees(monkeypatch, capsys):
    right = pybullet_.bias
    monkeypatch.setattr(pybullet_, "bias", lambda *arguments: right(*arguments) + 1.0)
    assert cli.main(["check", "double_pendulum"]) == cli.DISAGREE
    assert "disagrees" in capsys.readouterr().out


def test_a_robot_no_engine_can_load_is_a_row(tmp_path, capsys):
    path = tmp_path / "broken.urdf"
    path.write_text("<robot")
    assert cli.main(["check", str(path), "double_pendulum"]) == cli.DISAGREE
    out = capsys.readouterr().out
    assert "cannot load" in out
    assert "broken.urdf" in out
    assert "2 agrees" in out


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
    assert cli.main(["check", "double_pendulum", "--samples", "1", "--json", str(file)]) == cli.FAILED
    captured = capsys.readouterr()
    assert "No space left" in captured.err
    assert "2 agrees" in captured.out  # the table is not lost
    assert file.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.json"]


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
