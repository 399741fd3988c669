"""Test Drake's adapter against Pinocchio, the traps between the two, and what it refuses."""

import re

import numpy as np
import pytest
from helpers.bundled_robots import bundled_robot

import treefactor as tf

pydrake = pytest.importorskip("pydrake", reason="Drake is not installed")

from helpers import engine_cases as cases  # noqa: E402
from helpers.engine_cases import pin  # noqa: E402
from helpers.engine_trials import DYNAMICS, assert_all_agree, differing, reduced  # noqa: E402
from pydrake.multibody.parsing import Parser  # noqa: E402
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, MultibodyPlant  # noqa: E402
from pydrake.multibody.tree import BallRpyJoint, PrismaticSpring, SpatialInertia, UnitInertia  # noqa: E402
from pydrake.systems.framework import DiagramBuilder  # noqa: E402

from treefactor.adapters import drake_  # noqa: E402
from treefactor.adapters._drake_settings import random_state  # noqa: E402
from treefactor.adapters.drake_ import Body  # noqa: E402
from treefactor.model._urdf import read  # noqa: E402

INERTIA = SpatialInertia(1.5, [0.1, 0.2, 0.3], UnitInertia(0.3, 0.31, 0.32))


def parsed(text, plant=None):
    """Return a plant that is not yet finalized."""
    plant = plant or MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(text, "urdf")
    return plant


def weld(plant, name="base"):
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(name))
    plant.Finalize()
    return plant


def numbers(n, seed=0):
    return np.random.default_rng(seed).normal(size=(3, n))


# ------------------------------------------------------------------------------------------------- agreement


FAST = [("ur5_robot", False), ("panda", False), ("solo12", True), ("talos_reduced", True)]
SLOW = [("icub", True), ("tiago_dual", False), ("baxter", False), ("anymal_c_simple/anymal", True)]


@pytest.mark.parametrize(
    ("name", "floating"), [*FAST, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)]
)
def test_real_robots_agree_with_pinocchio(name, floating):
    options = ["keep_inertia"] if name == "anymal_c_simple/anymal" else []
    assert_all_agree(drake_, bundled_robot(name), floating, options, steps=DYNAMICS)


@pytest.mark.parametrize(("name", "floating"), FAST[:3])
def test_names_of_the_protocol_and_the_public_ones_agree(name, floating):
    body = drake_.load(bundled_robot(name), floating)
    model = cases.pinocchio_model(bundled_robot(name), floating)
    q, v, tau = cases.own_state(drake_, body, model)
    assert drake_.tree(body).n == model.nv
    expected = np.linalg.solve(drake_.mass_matrix(body, q), tau - drake_.bias(body, q, v))
    assert cases.relative(drake_.forward_dynamics(body, q, v, tau), expected) < cases.QDD_TOLERANCE


OTHER = {"damping and friction", "mimic", "root called world", "extensions"}
SAME = [trap for trap in cases.TRAPS if trap not in OTHER]


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("trap", SAME)
def test_urdfs_that_drake_reads_as_pinocchio_does(write_text, trap, floating):
    assert_all_agree(drake_, write_text(cases.TRAPS[trap]), floating)


def test_gravity_is_an_argument():
    path, gravity = bundled_robot("solo12"), np.array([1.0, -2.0, 3.0])
    model = cases.pinocchio_model(path, floating=True)
    model.gravity.linear = gravity
    cases.assert_agrees(drake_, drake_.load(path, floating=True, gravity=gravity), model)


def test_tree_has_the_names_in_the_order_of_v():
    body = drake_.load(bundled_robot("solo12"), floating=True)
    tree = drake_.tree(body)
    assert tree.names[5:8] == ("base_link[5]", "FL_HAA", "FL_HFE")
    assert list(tree.parent[:8]) == [-1, 0, 1, 2, 3, 4, 5, 6]


def test_both_ways_to_drakes_mass_matrix_agree(tmp_path):
    path = reduced(bundled_robot("talos_reduced"), tmp_path)
    body, model = drake_.load(path, floating=True), cases.pinocchio_model(path, floating=True)
    q, v, _ = cases.own_state(drake_, body, model)
    other = body.plant.CalcMassMatrixViaInverseDynamics(body.at(q, v))
    assert cases.relative(drake_.mass_matrix(body, q), other) < cases.H_TOLERANCE


# ----------------------------------------------------------------------------------------- the user's plants


def test_reflected_inertia_is_pinocchios_armature(write_text):
    text = cases.TRAPS["prismatic"]
    plant = parsed(text)
    actuator = plant.AddJointActuator("motor", plant.GetJointByName("p"))
    actuator.set_default_rotor_inertia(0.02)
    actuator.set_default_gear_ratio(5.0)
    body, model = Body(weld(plant)), cases.pinocchio_model(write_text(text))
    model.armature = np.array([0.02 * 5.0**2, 0.0])
    cases.assert_agrees(drake_, body, model)


def test_damping_and_springs_are_passive():
    plant = parsed(
        cases.urdf(cases.link("base"), cases.link("a"), cases.joint("p", "base", "a", "prismatic"))
    )
    plant.GetJointByName("p").set_default_damping(0.7)
    plant.AddForceElement(PrismaticSpring(plant.GetJointByName("p"), nominal_position=0.2, stiffness=3.0))
    body = Body(weld(plant))
    q, v, tau = numbers(1)
    np.testing.assert_allclose(drake_.passive(body, q, v), -0.7 * v - 3.0 * (q - 0.2), rtol=1e-12)
    force = tau - drake_.bias(body, q, v) - 0.7 * v - 3.0 * (q - 0.2)
    qdd = drake_.acceleration(body, q, v, tau)
    np.testing.assert_allclose(qdd, force / drake_.mass_matrix(body, q)[0], rtol=1e-12)


def test_a_plant_in_a_diagram_with_the_parameters_of_its_context():
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, 0.0)
    weld(parsed(cases.TRAPS["continuous"], plant))
    root = builder.Build().CreateDefaultContext()
    context = plant.GetMyMutableContextFromRoot(root)
    before = drake_.mass_matrix(Body(plant), [0.3])
    plant.GetBodyByName("a").SetMass(context, 7.0)
    plant.SetPositions(context, [0.1])
    body = Body(plant, context)
    assert drake_.mass_matrix(body, [0.3])[0, 0] > before[0, 0]
    np.testing.assert_array_equal(plant.GetPositions(context), [0.1])


def test_a_plant_with_geometry_has_no_acceleration_outside_its_diagram():
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, 0.0)
    ball = "<collision><geometry><sphere radius='0.1'/></geometry></collision>"
    links = cases.link("base", extra=ball), cases.link("a", extra=ball)
    weld(parsed(cases.urdf(*links, cases.joint("j", "base", "a")), plant))
    _diagram = builder.Build()
    q, v, tau = numbers(1)
    assert drake_.forward_dynamics(Body(plant), q, v, tau).shape == (1,)
    with pytest.raises(tf.AdapterError, match="geometry"):
        drake_.acceleration(Body(plant), q, v, tau)


def test_a_mechanism_welded_at_its_far_end():
    """Assert that the tree follows the joints that Drake reverses."""
    links = [cases.link(name) for name in ("base", "a", "b", "c")]
    joints = [cases.joint("i", "base", "a"), cases.joint("j", "a", "b"), cases.joint("k", "base", "c")]
    body = Body(weld(parsed(cases.urdf(*links, *joints)), "b"))
    q, v, tau = numbers(3)
    H = drake_.mass_matrix(body, q)
    assert not H[~drake_.tree(body).mask()].any()
    expected = np.linalg.solve(H, tau - drake_.bias(body, q, v))
    assert cases.relative(drake_.acceleration(body, q, v, tau), expected) < cases.QDD_TOLERANCE


def test_two_floating_bodies_are_matched_by_name():
    plant = MultibodyPlant(0.0)
    model = pin.Model()
    for name in ("one", "two"):
        plant.AddRigidBody(name, INERTIA)
        joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), name)
        rotational = INERTIA.Shift([0.1, 0.2, 0.3]).CalcRotationalInertia().CopyToFullMatrix3()
        model.appendBodyToJoint(
            joint, pin.Inertia(1.5, np.array([0.1, 0.2, 0.3]), rotational), pin.SE3.Identity()
        )
    plant.Finalize()
    cases.assert_agrees(drake_, Body(plant), model)


def test_a_joint_that_pinocchio_lacks():
    plant = MultibodyPlant(0.0)
    link = plant.AddRigidBody("a", INERTIA)
    plant.AddJoint(BallRpyJoint("ball", plant.world_frame(), link.body_frame()))
    plant.Finalize()
    body = Body(plant)
    q, v, tau = numbers(3)
    expected = np.linalg.solve(drake_.mass_matrix(body, q), tau - drake_.bias(body, q, v))
    assert cases.relative(drake_.acceleration(body, q, v, tau), expected) < cases.QDD_TOLERANCE
    model = pin.Model()
    model.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), "ball")
    with pytest.raises(tf.AdapterError, match="ball"):
        drake_.transform(body, model, pin.neutral(model))


def test_a_robot_that_cannot_move(write_text):
    body = drake_.load(write_text(cases.urdf(cases.link("alone"))))
    assert drake_.mass_matrix(body, []).shape == (0, 0)
    assert drake_.acceleration(body, [], [], []).shape == (0,)
    assert drake_.tree(body).n == 0
    assert acting(write_text(cases.urdf(cases.link("alone")))) == {}


def test_inverse_dynamics_are_the_forces_of_an_acceleration():
    body = drake_.load(bundled_robot("solo12"), floating=True)
    q, v, a = random_state(body, np.random.default_rng(0))
    expected = drake_.mass_matrix(body, q) @ a + drake_.bias(body, q, v)
    assert cases.relative(drake_.inverse_dynamics(body, q, v, a), expected) < cases.FORCE_TOLERANCE


# ------------------------------------------------------------------------------------------ the ordinary way

BOX = '<collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision>'
ROTOR = (
    '<transmission><type>transmission_interface/SimpleTransmission</type><joint name="j"/><actuator name="m">'
    '<drake:rotor_inertia value="0.02"/><drake:gear_ratio value="5"/></actuator></transmission>'
)
LIMIT = '<limit lower="-0.01" upper="0.01" effort="1" velocity="1"/>'
GRAVITY = (0.0, 0.0, -9.81)


def arm(extra="", shape="", parts=()):
    """Write two links on one base, their origins in one place; without limits."""
    place = '<origin xyz="0.3 0.1 -0.2" rpy="0.5 -0.3 0.7"/>'
    links = [cases.link(name, extra=shape) for name in "ab"]
    joints = [cases.joint(name, "base", to, extra="EXTRA") for name, to in (("j", "a"), ("k", "b"))]
    text = cases.urdf(cases.link("base"), *links, *joints, *parts)
    return unlimited(text).replace(place, "").replace("EXTRA", extra)


def unlimited(text):
    return text.replace(LIMIT, "").replace("revolute", "continuous")


def acting(path, floating=False):
    """Return the settings that act, and where."""
    settings = drake_.settings(path, floating, GRAVITY, np.random.default_rng(0))
    return {name: where for name, _, where in settings}


def test_nothing_acts_without_settings(write_text):
    path = write_text(arm())
    assert_all_agree(drake_, path)
    assert acting(path) == {}


@pytest.mark.parametrize(
    ("text", "name", "where"),
    [
        (arm('<dynamics damping="2"/>'), "joint damping of the file acts", ("j", "k")),
        (arm(LIMIT).replace("continuous", "revolute"), "joint limits push back", ("j", "k")),
        (arm(LIMIT), "joint limits push back", ("j", "k")),  # continuous joints do not have limits in URDF
        (arm(shape=BOX), "contacts act", ("a with b",)),
        (unlimited(cases.TRAPS["mimic"]), "mimic joints are tied by a constraint", ("k",)),
        (arm(shape=BOX.replace("box", "mesh")), None, ()),
        (arm('<dynamics friction="2"/>'), None, ()),
    ],
    ids=["damping", "limits", "limits of continuous joints", "contacts", "mimic", "mesh", "friction"],
)
def test_settings_that_act_by_default(write_text, text, name, where):
    assert acting(write_text(text)) == ({name: where} if name else {})


def test_trap_damping_acts_on_accelerations(write_text):
    assert differing(drake_, write_text(cases.TRAPS["damping and friction"])) == {"q̈"}


def test_trap_mimic_joints_have_no_acceleration_in_continuous_time(write_text):
    path = write_text(cases.TRAPS["mimic"])
    assert_all_agree(drake_, path)
    with pytest.raises(tf.AdapterError, match="does not support constraints"):
        drake_.acceleration(drake_.load(path), *np.ones((3, 2)))


def test_trap_a_rotor_adds_its_inertia(write_text):
    text = arm(parts=[ROTOR]).replace("<robot", '<robot xmlns:drake="http://drake.mit.edu"')
    path = write_text(text)
    assert {"H", "inverse dynamics", "q̈"} <= differing(drake_, path)
    body = drake_.load(path)
    q = np.zeros(body.nq)
    plain = drake_.mass_matrix(drake_.load(write_text(arm(), "plain.urdf")), q)
    np.testing.assert_allclose(drake_.mass_matrix(body, q) - plain, np.diag([0.02 * 5.0**2, 0.0]), atol=1e-15)


def test_trap_a_link_called_world_is_the_world(write_text):
    path = write_text(unlimited(cases.TRAPS["root called world"]))
    assert differing(drake_, path) == {"centre of mass", "momentum", "energies"}  # without that link's mass
    assert [joint.kind for joint in drake_.joints(drake_.load(path, floating=True))] == ["revolute"]


def test_trap_a_fixed_joint_that_follows_another_is_refused(write_text):
    weld = cases.joint("w", "a", "tip", "fixed", extra='<mimic joint="j"/>')
    path = write_text(arm(parts=[cases.link("tip"), weld]))
    with pytest.raises(tf.AdapterError, match=r"'w'.*0 DOF cannot mimic"):
        drake_.load(path)


def test_trap_a_transmission_without_type_is_refused(write_text):
    with pytest.raises(tf.AdapterError, match="Transmission element is missing a type"):
        drake_.load(write_text(cases.TRAPS["extensions"]))


@pytest.mark.parametrize(
    ("key", "limit", "fault"),
    [
        ("lower", "1", "lower limit of joint 'j' above its upper"),
        ("velocity", "-5", "negative velocity .* 'j'"),
    ],
)
def test_trap_limits_that_would_end_the_process(write_text, key, limit, fault):
    path = write_text(re.sub(f'{key}="[^"]*"', f'{key}="{limit}"', arm(LIMIT)))
    with pytest.raises(tf.AdapterError, match=f"Drake ends the process: {fault}"):
        drake_.load(path)


@pytest.mark.parametrize("kind", ["revolute", "fixed"])
@pytest.mark.parametrize(
    "odd",
    [
        cases.link("a", 3.0, (0.01, 0.02, 0.5)),
        cases.link("a", 1.0, (0.01, 0.3, -0.05)),
        cases.link("a", 0.0),
    ],
    ids=["triangle", "negative", "inertia without mass"],
)
def test_trap_impossible_inertias_are_replaced(write_text, odd, kind):
    others = cases.link("tip"), cases.joint("k", "a", "tip")
    path = write_text(cases.urdf(cases.link("base"), odd, cases.joint("j", "base", "a", kind), *others))
    if kind == "revolute":
        assert {"H", "momentum"} <= differing(drake_, path)
    held = drake_.inertials(drake_.load(path))["a"]
    assert np.ptp(np.linalg.eigvalsh(held.tensor)) < 1e-12  # those of a ball of water
    for floating in (False, True):
        assert_all_agree(drake_, path, floating, ["keep_inertia"])
    kept = drake_.inertials(drake_.load(path, options={"keep_inertia"}))["a"]
    np.testing.assert_allclose(kept.tensor, read(path).links["a"].tensor, atol=1e-13)


# ---------------------------------------------------------------------------------------------------- errors


REASONS = {  # in Drake's own words
    "no robot": "does not contain a robot tag",
    "no link": "finds no link",
    "two links of one name": "already contains a body named 'a'",
}


@pytest.mark.parametrize("case", [case for case in cases.BROKEN if case != "two roots"])
def test_malformed_urdf_names_the_file(write_text, case):
    text, reason = cases.BROKEN[case]
    cases.assert_refused_with_reason(drake_.load, "drake", write_text(text), REASONS.get(case, reason))


def test_two_roots_are_two_robots(write_text):
    body = drake_.load(write_text(cases.BROKEN["two roots"][0]), floating=True)
    assert [joint.kind for joint in drake_.joints(body)] == ["free", "free"]


def test_missing_file(tmp_path):
    with pytest.raises(tf.AdapterError, match="No such file"):
        drake_.load(tmp_path / "absent.urdf")


def test_a_massless_link_has_a_singular_H_and_no_acceleration(write_text):
    path = write_text(cases.urdf(cases.link("base"), cases.link("a", None), cases.joint("j", "base", "a")))
    body = drake_.load(path)
    q, v, tau = numbers(1)
    assert drake_.mass_matrix(body, q)[0, 0] == 0.0
    with pytest.raises(tf.NotPositiveDefiniteError, match="j"):
        drake_.forward_dynamics(body, q, v, tau)
    with pytest.raises(tf.AdapterError, match="body a"):
        drake_.acceleration(body, q, v, tau)


def test_plants_that_are_not_continuous_time_trees():
    with pytest.raises(tf.AdapterError, match="finalized"):
        Body(MultibodyPlant(0.0))
    discrete = MultibodyPlant(0.001)
    discrete.Finalize()
    with pytest.raises(tf.AdapterError, match="continuous"):
        Body(discrete)


def test_wrong_lengths_and_nan():
    cases.assert_wrong_arguments_are_refused(drake_)


def test_joints_that_pinocchio_lacks_are_named():
    cases.assert_unmatched_joints_are_named(drake_)
