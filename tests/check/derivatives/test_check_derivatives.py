"""Test that derivatives of engines are compared, and that every error of Pinocchio is found and named."""

import json
from pathlib import Path

import numpy as np
import pytest
from helpers.blemishes import BLEMISHES
from helpers.bundled_robots import bundled_robot

import treefactor as tf
from treefactor import check, cli, report, robots
from treefactor.check.derivatives import by_treefactor, comparison
from treefactor.check.derivatives import case as cases
from treefactor.check.derivatives.causes import ALIGNED, INNER, TURNING
from treefactor.check.derivatives.errors import State, allowed, deviation, differences, label
from treefactor.check.workers import CrashedError, TimedOutError

pin = pytest.importorskip("pinocchio", reason="Pinocchio's derivatives are explained")
pytest.importorskip("mujoco", reason="MuJoCo's derivatives are compared")

from treefactor.adapters import _mujoco_derivatives, _pinocchio_derivatives  # noqa: E402

AXIS = np.array([0.0, 0.6, 0.8])
LOCAL = {"∂τ/∂q", "∂τ/∂v", "∂q̈/∂q", "∂q̈/∂v", "∂V/∂q LOCAL", "∂A/∂q LOCAL", "∂A/∂v LOCAL", "∂h/∂q", "∂ḣ/∂v"}


def composite():
    """Return a composite of two revolute joints."""
    joint = pin.JointModelComposite(pin.JointModelRX())
    joint.addJoint(pin.JointModelRY(), pin.SE3.Random())
    return joint


KINDS = {
    "revolute": pin.JointModelRevoluteUnaligned(AXIS),
    "helical": pin.JointModelHelicalUnaligned(AXIS, 0.3),
    "translation": pin.JointModelTranslation(),
    "spherical": pin.JointModelSpherical(),
    "planar": pin.JointModelPlanar(),
    "free-flyer": pin.JointModelFreeFlyer(),
    "universal": pin.JointModelUniversal(np.eye(3)[0], AXIS),
    "spherical ZYX": pin.JointModelSphericalZYX(),
    "composite": composite(),
}
TURNED = ("universal", "spherical ZYX", "composite")
WRONG_INSIDE = ("spherical", "planar", "free-flyer")


def chain(*joints, seed=0):
    """Return Pinocchio's model of a chain of joints, with armature and tilted gravity."""
    pin.seed(seed)
    rng, model, j = np.random.default_rng(seed), pin.Model(), 0
    for i, joint in enumerate(joints):
        j = model.addJoint(j, joint, pin.SE3.Random(), f"j{i}")
        model.appendBodyToJoint(j, pin.Inertia.Random(), pin.SE3.Identity())
    model.armature, model.gravity.linear = rng.random(model.nv), rng.normal(size=3)
    return model


def checked(model, engine="pinocchio", samples=2):
    """Return the row of an engine for Pinocchio's model."""
    case = cases.Case(model, None, samples, np.random.default_rng(0))
    row = check.DerivativeRow("chain", "own", engine)
    return comparison.judged(row, case.own() if engine == "treefactor" else case.pinocchio())


class SilentWorker:
    """Worker whose process answers no call."""

    def __init__(self, error):
        self.error = error

    def submit(self, *_):
        pass

    def result(self):
        raise self.error

    def close(self):
        pass


def names(row):
    """Return the names of the causes."""
    return {cause.name for cause in row.causes}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("inside", [False, True], ids=["at the root", "in mid-tree"])
def test_errors_of_pinocchio_are_named(kind, inside):
    above = [pin.JointModelRZ()] if inside else []
    model = chain(*above, KINDS[kind], pin.JointModelRX(), pin.JointModelRY())
    assert checked(model, "treefactor").verdict == check.AGREES
    row = checked(model)
    assert row.verdict == check.EXPLAINED, row.reason
    expected = {ALIGNED} | ({TURNING} if kind in TURNED else set())
    assert names(row) == expected | ({INNER} if inside and kind in WRONG_INSIDE else set())
    wrong = {key for key, error in row.errors.items() if error > 1e-3}
    assert wrong == {key for key, error in row.differences.items() if error > 1e-3}  # of its own values
    assert {"∂V/∂q LOCAL_WORLD_ALIGNED", "∂A/∂q LOCAL_WORLD_ALIGNED"} <= wrong
    assert (wrong >= LOCAL) == (kind in TURNED)
    assert ("∂A/∂q WORLD" in wrong) == (kind in TURNED or INNER in names(row))
    where = {cause.name: cause.where for cause in row.causes}
    assert all(where[name] == (f"j{int(inside)}",) for name in expected & {TURNING, INNER})


def test_a_joint_that_cannot_be_split_is_refused_by_name():
    with pytest.raises(tf.AdapterError, match="Ellipsoid"):
        _pinocchio_derivatives.split_joints(chain(pin.JointModelEllipsoid(0.3, 0.4, 0.5)))


def test_splitting_keeps_values():
    model = chain(pin.JointModelRZ(), *(KINDS[kind] for kind in TURNED), pin.JointModelRX())
    split = _pinocchio_derivatives.split_joints(model)
    q = pin.integrate(model, pin.neutral(model), np.full(model.nv, 0.4))
    v, a = np.random.default_rng(0).normal(size=(2, model.nv))
    expected = np.array(pin.rnea(model, model.createData(), q, v, a))
    np.testing.assert_allclose(pin.rnea(split, split.createData(), q, v, a), expected, rtol=1e-12)


def test_both_bases_and_mimic_joints_of_robots():
    chosen = [robots.find("panda"), robots.find("solo12")]
    rows = [row for table in check.check_derivatives(chosen, samples=1) for row in table]
    both = ["treefactor", "pinocchio", "mujoco"]
    assert [(row.robot, row.base, row.engine) for row in rows] == [
        *(("panda", "fixed", engine) for engine in both),
        *(("panda", "fixed, mimic", engine) for engine in both[:2]),
        *(("solo12", "floating", engine) for engine in both),
    ]
    assert all(row.verdict in check.GOOD for row in rows), rows
    assert [row.n for row in rows] == [9] * 3 + [8] * 2 + [18] * 3
    mimic = rows[4]
    assert "does not support Joint Mimic" in mimic.reason
    assert "∂q̈/∂q" not in mimic.errors  # Pinocchio has no forward dynamics of it, either
    assert max(mimic.errors.values()) < 1e-8
    assert rows[2].method == "differences"
    assert 0 < max(rows[2].errors.values()) < 1e-4
    assert {"∂τ/∂q by JVP", "∂q̈/∂τ by VJP", "∂∇q/∂q", "∂∇v/∂v"} <= rows[0].errors.keys()


@pytest.mark.parametrize("name", ["blank_after_moment", "break_in_joint"])
def test_what_pinocchio_drops_or_refuses_is_not_the_reference(name, tmp_path):
    (blemish,) = [one for one in BLEMISHES if one.name == name]
    (rows,) = check.check_derivatives([robots.Robot(name, blemish.write(tmp_path))], samples=1)
    assert [row.verdict for row in rows] == [check.AGREES, check.REFUSED, check.AGREES], rows
    assert name == "break_in_joint" or f"line {blemish.line}: <inertial> of link 'lower'" in rows[1].reason


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # of the square root of a negative inertia
def test_an_impossible_inertia_is_no_agreement(tmp_path):
    (blemish,) = [one for one in BLEMISHES if one.name == "negative_moment"]
    (rows,) = check.check_derivatives(
        [robots.Robot("arm", blemish.write(tmp_path))], ["pinocchio"], samples=1
    )
    assert rows[0].verdict == check.DISAGREES, rows
    assert rows[0].reason.startswith("impossible: ")


def test_without_pinocchio_treefactor_is_checked_against_itself(monkeypatch):
    monkeypatch.setattr(cases, "has_pinocchio", lambda: False)
    (rows,) = check.check_derivatives([robots.find("solo12")], ["mujoco"], samples=1)
    assert [(row.engine, row.verdict) for row in rows] == [
        (e, check.AGREES) for e in ("treefactor", "mujoco")
    ]


@pytest.mark.slow
def test_all_robots_of_the_default_selection_agree_or_are_explained():
    for rows in check.check_derivatives(robots.default_robots(), samples=1):
        assert all(row.verdict in check.GOOD for row in rows), rows


@pytest.mark.parametrize(("name", "by"), [("τ", "v"), ("q̈", "q"), ("A WORLD", "v"), ("h", "q")])
@pytest.mark.parametrize("factor", [1 + 1e-6, np.nan])
def test_wrong_entries_of_an_engine_are_unexplained(monkeypatch, name, by, factor):
    right = _pinocchio_derivatives.derivatives

    def wrong(*arguments):
        blocks, refused = right(*arguments)
        blocks[name, by].flat[np.abs(blocks[name, by]).argmax()] *= factor
        return blocks, refused

    monkeypatch.setattr(_pinocchio_derivatives, "derivatives", wrong)
    row = checked(chain(pin.JointModelRX(), pin.JointModelRY()))
    assert row.verdict == check.DISAGREES
    assert row.reason.startswith(label((name, by)))


def test_wrong_entries_of_treefactor_are_found(monkeypatch):
    right = by_treefactor.derivatives

    def wrong(*arguments):
        blocks = right(*arguments)
        blocks["τ", "q"] = blocks["τ", "q"] * (1 + 1e-4)
        return blocks

    monkeypatch.setattr(by_treefactor, "derivatives", wrong)
    row = checked(chain(pin.JointModelRX(), pin.JointModelSpherical()), "treefactor")
    assert row.verdict == check.DISAGREES
    assert "∂τ/∂q by " in row.reason
    assert "∂τ/∂q by JVP" in row.reason


def test_wrong_entries_of_mujoco_are_found(monkeypatch):
    right = _mujoco_derivatives.derivatives

    def wrong(*arguments):
        theirs, own, T = right(*arguments)
        return {key: X * 1.01 for key, X in theirs.items()}, own, T

    monkeypatch.setattr(_mujoco_derivatives, "derivatives", wrong)
    ((*_, row),) = check.check_derivatives([robots.find("double_pendulum")], ["mujoco"], samples=1)
    assert row.verdict == check.DISAGREES


def test_an_engine_that_fails_does_not_take_the_other_rows_along(monkeypatch):
    def fail(*_):
        raise SystemError("out of order")

    monkeypatch.setattr(_mujoco_derivatives, "derivatives", fail)
    (rows,) = check.check_derivatives([robots.find("double_pendulum")], samples=1)
    assert [row.verdict for row in rows] == [check.AGREES, check.EXPLAINED, check.DISAGREES]
    assert rows[2].reason == "SystemError: out of order"


def test_robots_without_inverse_and_without_mass():
    model = pin.Model()
    model.addJoint(
        model.addJoint(0, pin.JointModelRX(), pin.SE3.Random(), "a"),
        pin.JointModelRY(),
        pin.SE3.Random(),
        "b",
    )
    row = checked(model)
    assert row.verdict == check.EXPLAINED
    assert {key[1] for key in row.errors} == {"τ", "V", "A"}
    assert checked(model, "treefactor").verdict == check.AGREES


def test_files_that_cannot_be_read_and_engines_without_derivatives(tmp_path):
    path = tmp_path / "broken.urdf"
    path.write_text("<robot")
    (rows,) = check.check_derivatives([robots.find(str(path))])
    assert {row.verdict for row in rows} == {check.REFUSED}
    assert all("not well-formed" in row.reason for row in rows)
    with pytest.raises(tf.AdapterError, match=r"derivatives \(pinocchio, mujoco\), got 'pybullet'"):
        next(check.check_derivatives([], ["pybullet"]))


@pytest.mark.parametrize(
    ("error", "verdict"),
    [(CrashedError("its process died"), "crashed"), (TimedOutError("no answer"), "timed out")],
)
def test_a_process_that_gives_no_answer_is_not_a_refusal(error, verdict, monkeypatch, capsys):
    monkeypatch.setattr(comparison, "Worker", lambda: SilentWorker(error))
    robot = robots.Robot("arm", Path("arm.urdf"))
    (rows,) = check.check_derivatives([robot], ["mujoco"], timeout=1.0)
    assert [(row.engine, row.verdict, row.reason) for row in rows] == [
        ("treefactor", verdict, str(error)),
        ("mujoco", verdict, str(error)),
    ]
    report.print_derivative_rows(rows)
    assert f"2 {verdict}" in capsys.readouterr().out


def test_mjcf_with_a_ball_in_mid_tree(tmp_path):
    path = tmp_path / "ball.xml"
    path.write_text(
        "<mujoco><worldbody>"
        "<body name='a'><joint name='a' axis='0 1 0' damping='3'/><geom size='.1' mass='1'/>"
        "<body name='b' pos='0 0 .5'><joint name='b' type='ball'/><geom size='.1' mass='2' pos='.2 0 .1'/>"
        "<body name='c' pos='.1 .2 .3'><joint name='c' axis='1 0 0'/><geom size='.1' mass='3' pos='.1 .3 0'/>"
        "</body></body></body></worldbody></mujoco>"
    )
    (rows,) = check.check_derivatives([robots.find(str(path))], samples=2)
    assert [row.verdict for row in rows] == [check.AGREES, check.EXPLAINED, check.AGREES], rows
    assert names(rows[1]) == {ALIGNED, INNER}
    assert len(rows[2].errors) == 3


def test_differences_are_derivatives():
    state = State(*np.random.default_rng(0).normal(size=(4, 2)))
    derivatives = differences(lambda s: {"τ": np.sin(s.q) * s.v + s.a**2}, lambda q, step: q + step, state)
    np.testing.assert_allclose(derivatives["τ", "q"], np.diag(np.cos(state.q) * state.v), atol=1e-11)
    np.testing.assert_allclose(derivatives["τ", "a"], np.diag(2 * state.a), atol=1e-11)
    assert ("τ", "τ") not in derivatives


def test_deviations_see_small_rows_and_wrong_shapes():
    expected, size = np.array([[1e6, 1e3], [1e3, 1.0]]), np.array([1e3, 1.0])
    wrong = expected + np.diag([0.0, 1e-3])
    assert deviation(("τ", "q"), wrong, expected, size, 1.0) == pytest.approx(1e-3)
    rows = np.repeat([[1e3], [1.0]], 3, axis=0)
    assert deviation(("V LOCAL", "q"), rows + 0.1, rows, np.ones(1), 1.0) == pytest.approx(1e-2)
    assert deviation(("τ", "q"), wrong[:1], expected, size, 1.0) == np.inf
    assert allowed(("q̈", "q"), 1e5) == pytest.approx(1e-9)
    assert allowed(("τ", "q"), 1e5) == pytest.approx(1e-10)


def test_the_command_prints_a_table_and_writes_json(tmp_path, capsys):
    path = tmp_path / "found.json"
    arguments = ["check", "double_pendulum", "--derivatives", "--samples", "1", "--json", str(path)]
    assert cli.main(arguments) == 0
    out = capsys.readouterr().out
    assert "treefactor  2" in out
    assert ALIGNED in " ".join(out.split())
    written = json.loads(path.read_text())
    assert [row["verdict"] for row in written["rows"]] == ["agrees", "explained", "agrees"]
    assert written["rows"][1]["causes"][0]["name"] == ALIGNED
    assert written["rows"][1]["errors"]["∂τ/∂q"] < 1e-12
    assert cli.main([*arguments, "--html"]) == 2


def test_exit_status_of_disagreements(monkeypatch, capsys):
    rows = [check.DerivativeRow(f"r{k}", "fixed", "mujoco", verdict=check.DISAGREES) for k in range(9)]
    monkeypatch.setattr(check, "check_derivatives", lambda *_: iter([rows]))
    assert cli.main(["check", "double_pendulum", "--derivatives"]) == cli.DISAGREE
    assert "9 disagree" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["revolute", "translation"])
def test_one_joint_keeps_its_axes(kind):
    model = chain(KINDS[kind])
    assert checked(model, "treefactor").verdict == check.AGREES
    assert checked(model).verdict in check.GOOD


def test_accelerations_are_left_out_where_h_is_singular_but_for_rounding():
    path = bundled_robot("pybullet_data/pendulum5")
    (rows,) = check.check_derivatives([robots.Robot("pendulum5", path, floating=True)], samples=2)
    assert all(row.verdict in check.GOOD for row in rows), rows
    assert not any("q̈" in key for key in rows[1].errors)


def test_mimic_joints_that_pinocchio_refuses():
    (rows,) = check.check_derivatives([robots.find("romeo", False)], ["pinocchio"], samples=1)
    assert [row.verdict for row in rows] == [check.AGREES, check.EXPLAINED, check.AGREES, check.EXPLAINED]
    assert "The parent joint of the mimic joint" in rows[3].reason
    (rows,) = check.check_derivatives([robots.find("alex_psyonic_hands", False)], ["pinocchio"], samples=1)
    assert rows[-1].reason.startswith("mimic joints stay free: ")
