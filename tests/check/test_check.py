"""Test cross-validation and the command line around it."""

from importlib.util import find_spec

import numpy as np
import pytest

import treefactor as tf
from treefactor import check, robots, tolerances

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
def test_nan_of_an_engine_in_any_sample_disagrees(monkeypatch, function, sample):
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


def test_an_indefinite_matrix_disagrees(monkeypatch):
    right = pybullet_.mass_matrix
    monkeypatch.setattr(pybullet_, "mass_matrix", lambda *arguments: -right(*arguments))
    assert rows_of(["double_pendulum"])[1].verdict == check.DISAGREES


@pytest.mark.parametrize("factor", [np.nan, -1.0, 1.01])
def test_a_wrong_mimic_model_disagrees(monkeypatch, factor):
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
def test_joints_without_a_unique_name_crash_no_engine(write, names):
    path = write(link("base") + link("upper") + link("lower")
                 + joint(names[0], "continuous", "base", "upper")
                 + joint(names[1], "continuous", "upper", "lower"))  # fmt: skip
    own, *others = next(check.check([robots.Robot("twice", path)]))
    assert own.verdict in (check.CANNOT_LOAD, check.AGREES)  # Pinocchio takes an empty name
    for row in others:
        assert row.verdict == check.CANNOT_LOAD
        assert "name" in row.reason or "called" in row.reason


@pytest.mark.parametrize("encoding", ["klingon", "shift_jis", "utf-16"])
def test_unknown_encodings(tmp_path, encoding):
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
