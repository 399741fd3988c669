"""Test the Robotics Toolbox as an engine: values against Pinocchio's, and difficult files."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from helpers.engine_errors import INERTIAL, SPHERE, arm, errors, joint, link, write

import treefactor as tf
from treefactor import robots
from treefactor.check.rewriting import edits, rewrite

rtb_ = pytest.importorskip("treefactor.adapters.rtb_", reason="Robotics Toolbox", exc_type=tf.AdapterError)

ALLOWED = 64 * float(np.finfo(float).eps)
QDD = 1e-11
DYNAMICS = ("mass_matrix", "bias", "gravity_forces", "inverse_dynamics", "acceleration")

# steps of the rewriting that each needs; the meshes of all are in packages unknown to the toolbox
ROBOTS = [("double_pendulum", {1}), ("panda", {1, 5, 6})]
SLOW = [
    ("ur5_robot", {1}),
    ("baxter", {1, 5}),
    ("talos_reduced", {1, 3, 5}),
    ("solo12", {1}),
    ("icub", {1, 2, 3, 5, 6}),
]


def assert_wrong(deviations, wrong):
    """Assert that some quantities are wrong, and that all others have rounding errors only."""
    beyond = {
        name for name, error in deviations.items() if error > (QDD if name == "acceleration" else ALLOWED)
    }
    assert beyond == set(wrong), deviations


def rewritten(tmp_path, path, steps):
    """Write a URDF after some steps of its rewriting."""
    chosen = [edit for edit in edits(path) if edit.step in steps]
    return write(tmp_path, rewrite(path, chosen).text)


@pytest.mark.parametrize(
    ("name", "steps"), [*ROBOTS, *(pytest.param(*one, marks=pytest.mark.slow) for one in SLOW)]
)
def test_robots_are_as_in_pinocchio(tmp_path, name, steps):
    path = robots.find(name).path
    assert_wrong(errors(rtb_, rewritten(tmp_path, path, steps)), ())
    if steps - {1, 2}:
        assert errors(rtb_, rewritten(tmp_path, path, {1, 2}))["bias"] > 1e-3


def test_small_file_agrees(tmp_path):
    assert_wrong(errors(rtb_, write(tmp_path, arm())), ())


def test_meshes_that_are_not_found_refuse_the_file(tmp_path):
    before = set(Path(tempfile.gettempdir()).glob("rtb-expanded-*"))
    mesh = '<visual><geometry><mesh filename="missing.stl"/></geometry></visual>'
    for inside in (mesh, mesh.replace("missing", "package://nowhere/missing")):
        with pytest.raises(
            tf.AdapterError, match=r"arm\.urdf: the Robotics Toolbox refuses it: URDFError"
        ) as error:
            rtb_.load(write(tmp_path, arm(tip=INERTIAL + inside)), False, None)
        assert "rtb-expanded" not in str(error.value)  # a file of a random name
    assert set(Path(tempfile.gettempdir()).glob("rtb-expanded-*")) == before


def test_transmission_of_an_unknown_joint_refuses_the_file(tmp_path):
    inside = "<type>simple</type><joint name='none'><hardwareInterface>effort</hardwareInterface></joint>"
    path = write(tmp_path, arm(more=f"<transmission name='drive'>{inside}</transmission>"))
    with pytest.raises(tf.AdapterError, match="invalid joint name none"):
        rtb_.load(path, False, None)
    assert_wrong(errors(rtb_, rewritten(tmp_path, path, {1})), ())


def test_one_fixed_link_is_right(tmp_path):
    more = link("hand") + joint("wrist", "lower", "hand", "fixed")
    assert_wrong(errors(rtb_, write(tmp_path, arm(more=more))), ())


def test_two_fixed_links_of_one_parent_are_placed_in_a_row(tmp_path):
    more = "".join(link(name) + joint(f"to_{name}", "lower", name, "fixed") for name in ("hand", "eye"))
    path = write(tmp_path, arm(more=more))
    deviations = errors(rtb_, path)
    assert_wrong(deviations, DYNAMICS)
    assert deviations["mass_matrix"] > 0.1
    assert_wrong(errors(rtb_, rewritten(tmp_path, path, {5})), ())


@pytest.mark.parametrize("axis", ["-1 0 0", "0 -1 0", "0 0 -1"])
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_dynamics_of_negative_axes_have_the_opposite_sign(tmp_path, kind, axis):
    path = write(tmp_path, arm(joint("second", "upper", "lower", kind, axis)))
    deviations = errors(rtb_, path)
    assert_wrong(deviations, DYNAMICS)
    assert_wrong(errors(rtb_, rewritten(tmp_path, path, {6})), ())


def test_frames_of_oblique_axes_are_turned(tmp_path):
    path = write(tmp_path, arm(joint("second", "upper", "lower", axis="0.6 0 0.8")))
    deviations = errors(rtb_, path)
    assert deviations["placement"] > 0.1
    assert deviations["mass_matrix"] > 0.01
    assert_wrong(errors(rtb_, rewritten(tmp_path, path, {6})), ())


def test_longer_axis_is_made_a_unit_vector(tmp_path):
    assert_wrong(errors(rtb_, write(tmp_path, arm(joint("second", "upper", "lower", axis="0 0 2")))), ())


@pytest.mark.parametrize("kind", ["planar", "floating"])
def test_joints_of_more_freedoms_are_lost(tmp_path, kind):
    body = rtb_.load(write(tmp_path, arm(joint("second", "upper", "lower", kind))), False, None)
    assert [one.name for one in rtb_.joints(body)] == ["first"]


def test_gravity_is_not_turned_by_fixed_joints_of_the_root(tmp_path):
    path = write(tmp_path, arm(more=link("world", "") + joint("mount", "world", "base", "fixed")))
    deviations = errors(rtb_, path)
    assert_wrong(deviations, set(DYNAMICS) - {"mass_matrix"})
    assert deviations["bias"] > 0.1
    assert_wrong(errors(rtb_, rewritten(tmp_path, path, {5})), ())


def test_friction_of_the_file_is_taken_as_viscous(tmp_path):
    inside = '<dynamics damping="0.5" friction="3"/>'
    path = write(tmp_path, arm(joint("second", "upper", "lower", inside=inside)))
    assert_wrong(errors(rtb_, path), ("bias", "inverse_dynamics", "acceleration"))
    body, q, v = rtb_.load(path, False, None), np.zeros(2), np.array([0.0, 2.0])
    inside = inside.replace("3", "0")
    other = rtb_.load(write(tmp_path, arm(joint("second", "upper", "lower", inside=inside))), False, None)
    np.testing.assert_allclose(rtb_.bias(body, q, v) - rtb_.bias(other, q, v), [0.0, 6.0])
    assert_wrong(errors(rtb_, rewritten(tmp_path, path, {3})), ())


def test_mimic_and_limits_do_not_act(tmp_path):
    path = write(tmp_path, arm(joint("second", "upper", "lower", inside='<mimic joint="first"/>')))
    assert_wrong(errors(rtb_, path), ())


def test_link_without_inertia_has_none(tmp_path):
    more = link("hand", SPHERE) + joint("wrist", "lower", "hand", "fixed")
    assert_wrong(errors(rtb_, write(tmp_path, arm(more=more))), ())


def test_impossible_inertias_are_kept(tmp_path):
    for old, new in (('izz="0.7"', 'izz="1.7"'), ('ixx="0.5"', 'ixx="-0.5"'), ('value="2"', 'value="0"')):
        deviations = errors(rtb_, write(tmp_path, arm(tip=INERTIAL.replace(old, new))))
        deviations.pop("acceleration")  # H may be indefinite
        assert_wrong(deviations, ())


def test_joints_are_depth_first_in_the_order_of_the_file(tmp_path):
    more = [link(name) for name in "mc"] + [joint("m", "base", "m"), joint("c", "upper", "c")]
    path = write(tmp_path, arm(more="".join(more)))
    joints = rtb_.joints(rtb_.load(path, False, None))
    assert [(one.name, one.parent) for one in joints] == [("first", -1), ("second", 0), ("c", 0), ("m", -1)]
    assert_wrong(errors(rtb_, path), ())


def test_floating_base_is_refused(tmp_path):
    with pytest.raises(tf.AdapterError, match="no floating base"):
        rtb_.load(write(tmp_path, arm()), True, None)


@pytest.mark.parametrize("text", ["<robot", "", "<robot name='empty'/>"])
def test_refusals_name_the_file(tmp_path, text):
    with pytest.raises(tf.AdapterError, match=r"arm\.urdf: the Robotics Toolbox refuses it"):
        rtb_.load(write(tmp_path, text), False, None)


def test_robot_without_freedoms(tmp_path):
    body, none = (
        rtb_.load(write(tmp_path, f"<robot name='r'>{link('base')}</robot>"), False, None),
        np.zeros(0),
    )
    assert rtb_.mass_matrix(body, none).shape == (0, 0)
    assert rtb_.bias(body, none, none).shape == rtb_.gravity_forces(body, none).shape == (0,)
    assert rtb_.acceleration(body, none, none, none).shape == (0,)
    assert rtb_.jacobian(body, none, "base").shape == (6, 0)
    np.testing.assert_array_equal(rtb_.placement(body, none, "base"), np.eye(4))


def test_gravity_is_the_callers(tmp_path):
    path = write(tmp_path, arm())
    down, up = (rtb_.load(path, False, (0.0, 0.0, sign * 9.81)) for sign in (-1, 1))
    q = np.array([0.3, 0.4])
    np.testing.assert_allclose(rtb_.gravity_forces(down, q), -rtb_.gravity_forces(up, q), rtol=1e-12)
    file = rtb_.load(path, False, None)
    np.testing.assert_array_equal(rtb_.gravity_forces(down, q), rtb_.gravity_forces(file, q))


def test_kept_forces_are_those_of_the_state(tmp_path):
    body, rng = rtb_.load(write(tmp_path, arm()), False, None), np.random.default_rng(0)
    states = rng.normal(size=(3 * rtb_.KEPT, 3, 2))
    forces = [rtb_.inverse_dynamics(body, *state) for state in states]
    forces[0][:] = np.nan
    again = [rtb_.inverse_dynamics(body, *state) for state in states[1:]]
    np.testing.assert_array_equal(forces[1:], again)
