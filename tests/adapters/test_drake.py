"""Test Drake's adapter against Pinocchio, the traps between the two, and what it refuses."""

import numpy as np
import pytest

import treefactor as tf

pydrake = pytest.importorskip("pydrake", reason="Drake is not installed")

from helpers import engine_cases as cases  # noqa: E402
from helpers.engine_cases import pin  # noqa: E402
from pydrake.multibody.parsing import Parser  # noqa: E402
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, MultibodyPlant  # noqa: E402
from pydrake.multibody.tree import BallRpyJoint, PrismaticSpring, SpatialInertia, UnitInertia  # noqa: E402
from pydrake.systems.framework import DiagramBuilder  # noqa: E402

from treefactor import check  # noqa: E402
from treefactor.adapters import drake_  # noqa: E402
from treefactor.adapters.drake_ import Body  # noqa: E402
from treefactor.check import differences as causes  # noqa: E402
from treefactor.robots import Robot  # noqa: E402

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


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", cases.REAL)
def test_real_robots_agree_with_pinocchio(name, floating):
    path = cases.example_robot(name)
    with drake_.load(path, floating) as body:
        for seed in range(2):
            cases.assert_agrees(drake_, body, cases.pinocchio_model(path, floating), seed)


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("trap", cases.TRAPS)
def test_traps_of_urdfs(write_text, trap, floating):
    path = write_text(cases.TRAPS[trap])
    cases.assert_agrees(drake_, drake_.load(path, floating), cases.pinocchio_model(path, floating))


def test_gravity_is_an_argument():
    path, gravity = cases.example_robot("solo12"), np.array([1.0, -2.0, 3.0])
    model = cases.pinocchio_model(path, floating=True)
    model.gravity.linear = gravity
    cases.assert_agrees(drake_, drake_.load(path, floating=True, gravity=gravity), model)


def test_tree_has_the_names_in_the_order_of_v():
    body = drake_.load(cases.example_robot("solo12"), floating=True)
    tree = drake_.tree(body)
    assert tree.names[5:8] == ("base_link[5]", "FL_HAA", "FL_HFE")
    assert list(tree.parent[:8]) == [-1, 0, 1, 2, 3, 4, 5, 6]


def test_both_ways_to_drakes_mass_matrix_agree():
    path = cases.example_robot("talos_reduced")
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
    expected = (tau - drake_.bias(body, q, v)) / drake_.mass_matrix(body, q)[0]
    np.testing.assert_allclose(drake_.own_acceleration(body, q, v, tau), expected, rtol=1e-12)


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
        drake_.own_acceleration(Body(plant), q, v, tau)


def test_a_mechanism_welded_at_its_far_end():
    """Assert that the tree follows the joints that Drake reverses."""
    links = [cases.link(name) for name in ("base", "a", "b", "c")]
    joints = [cases.joint("i", "base", "a"), cases.joint("j", "a", "b"), cases.joint("k", "base", "c")]
    body = Body(weld(parsed(cases.urdf(*links, *joints)), "b"))
    q, v, tau = numbers(3)
    H = drake_.mass_matrix(body, q)
    assert not H[~drake_.tree(body).mask()].any()
    expected = np.linalg.solve(H, tau - drake_.bias(body, q, v))
    assert cases.relative(drake_.own_acceleration(body, q, v, tau), expected) < cases.QDD_TOLERANCE


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
    assert cases.relative(drake_.own_acceleration(body, q, v, tau), expected) < cases.QDD_TOLERANCE
    model = pin.Model()
    model.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), "ball")
    with pytest.raises(tf.AdapterError, match="ball"):
        drake_.transform(body, model, pin.neutral(model))


def test_a_robot_that_cannot_move(write_text):
    body = drake_.load(write_text(cases.urdf(cases.link("alone"))))
    assert drake_.mass_matrix(body, []).shape == (0, 0)
    assert drake_.own_acceleration(body, [], [], []).shape == (0,)
    assert drake_.tree(body).n == 0
    path = write_text(cases.urdf(cases.link("alone")))
    assert drake_.settings(path, False, (0.0, 0.0, -9.81), np.random.default_rng(0)) == []


def test_inverse_dynamics_are_the_forces_of_an_acceleration():
    body = drake_.load(cases.example_robot("solo12"), floating=True)
    q, v, a = drake_.random_state(body, np.random.default_rng(0))
    expected = drake_.mass_matrix(body, q) @ a + drake_.bias(body, q, v)
    assert cases.relative(drake_.inverse_dynamics(body, q, v, a), expected) < cases.FORCE_TOLERANCE


# ------------------------------------------------------------------------------------------ the ordinary way

BOX = '<collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision>'
ROTOR = (
    '<transmission><type>transmission_interface/SimpleTransmission</type><joint name="j"/><actuator name="m">'
    '<drake:rotor_inertia value="0.02"/><drake:gear_ratio value="5"/></actuator></transmission>'
)


def row(path, floating=False):
    (only,) = next(check.check([Robot("case", path, floating)], ["drake"]))
    return only


LIMIT = '<limit lower="-0.01" upper="0.01" effort="1" velocity="1"/>'


def arm(extra="", shape="", parts=()):
    """Write two links on one base, their origins in one place; without limits."""
    place = '<origin xyz="0.3 0.1 -0.2" rpy="0.5 -0.3 0.7"/>'
    links = [cases.link(name, extra=shape) for name in "ab"]
    joints = [cases.joint(name, "base", to, extra="EXTRA") for name, to in (("j", "a"), ("k", "b"))]
    text = cases.urdf(cases.link("base"), *links, *joints, *parts)
    return unlimited(text).replace(place, "").replace("EXTRA", extra)


def unlimited(text):
    return text.replace(LIMIT, "").replace("revolute", "continuous")


def test_nothing_acts_without_settings(write_text):
    found = row(write_text(arm()))
    assert (found.verdict, found.causes) == (check.AGREES, ())
    assert found.error_plain < 1e-13


@pytest.mark.parametrize(
    ("text", "name", "where"),
    [
        (arm('<dynamics damping="2"/>'), "joint damping of the file acts", ("j", "k")),
        (arm(LIMIT).replace("continuous", "revolute"), "joint limits push back", ("j", "k")),
        (arm(LIMIT), "joint limits push back", ("j", "k")),  # continuous joints do not have limits in URDF
        (arm(shape=BOX), "contacts act", ("a with b",)),
        (arm(shape=BOX.replace("box", "mesh")), None, ()),
        (arm('<dynamics friction="2"/>'), None, ()),
    ],
    ids=["damping", "limits", "limits of continuous joints", "contacts", "mesh", "friction"],
)
def test_settings_that_act_by_default(write_text, text, name, where):
    found = row(write_text(text))
    expected = [(name, "simulated", "q̈", where)] if name else []
    assert [(c.name, c.way, c.quantity, c.where) for c in found.causes] == expected
    assert found.verdict == (check.EXPLAINED if name else check.AGREES)


def test_mimic_joints_are_tied(write_text):
    text = unlimited(cases.TRAPS["mimic"])
    assert [(c.name, c.where) for c in row(write_text(text)).causes] == [
        ("mimic joints are tied by a constraint", ("k",))
    ]


def test_a_rotor_is_another_armature(write_text):
    text = arm(parts=[ROTOR]).replace("<robot", '<robot xmlns:drake="http://drake.mit.edu"')
    found = row(write_text(text))
    (cause,) = found.causes
    assert (cause.name, cause.way, cause.where) == ("another armature", "Parser", ("j",))
    assert cause.effect == pytest.approx(found.error_plain)
    assert found.verdict == check.EXPLAINED


def test_a_link_called_world_cannot_float(write_text):
    path = write_text(unlimited(cases.TRAPS["root called world"]))
    assert row(path).causes == ()
    (cause,) = row(path, floating=True).causes
    assert cause.name == causes.FIXED_BASE


def test_a_file_the_parser_refuses(write_text):
    """Assert that a file is refused although its dynamics are valid: a fixed joint follows another."""
    weld = cases.joint("w", "a", "tip", "fixed", extra='<mimic joint="j"/>')
    found = row(write_text(arm('<dynamics damping="2"/>', parts=[cases.link("tip"), weld])))
    refused, damping = found.causes
    assert refused.name.startswith(causes.REFUSED)
    assert "0 DOF cannot mimic" in refused.name
    assert damping.where == ("j", "k")


def test_limits_in_the_wrong_order_do_not_end_the_process(write_text):
    text = arm(LIMIT).replace('lower="-0.01"', 'lower="1"')
    with pytest.raises(tf.AdapterError, match="'j' above its upper limit"):
        drake_.load_plain(write_text(text))
    assert row(write_text(text)).verdict == check.EXPLAINED


def test_impossible_inertias_are_replaced_on_the_ordinary_way_only(write_text):
    odd = cases.link("a", 3.0, (0.01, 0.02, 0.5))
    path = write_text(cases.urdf(cases.link("base"), odd, cases.joint("j", "base", "a")))
    held = drake_.inertials(drake_.load_plain(path))["a"]
    assert np.ptp(np.linalg.eigvalsh(held.tensor)) < 1e-12  # those of a ball of water
    assert np.ptp(np.linalg.eigvalsh(drake_.file_inertials(path, False)["a"].tensor)) > 0.4


# ---------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("case", cases.BROKEN)
def test_malformed_urdf_names_the_file(write_text, case):
    text, reason = cases.BROKEN[case]
    cases.assert_refused_with_reason(drake_.load, "drake", write_text(text), reason)


def test_missing_file(tmp_path):
    with pytest.raises(tf.AdapterError, match="No such file"):
        drake_.load(tmp_path / "absent.urdf")


@pytest.mark.parametrize(
    ("odd", "reason"),
    [
        (cases.link("a", 1.0, (0.01, 0.02, 0.5)), "triangle inequality"),
        (cases.link("a", 1.0, (0.01, 0.02, -0.5)), "negative"),
        (cases.link("a", 0.0), "mass"),
    ],
    ids=["triangle", "negative", "inertia without mass"],
)
@pytest.mark.parametrize("kind", ["revolute", "fixed"])
def test_inertias_that_drake_would_silently_replace_are_named(write_text, odd, reason, kind):
    path = write_text(cases.urdf(cases.link("base"), odd, cases.joint("j", "base", "a", kind)))
    with pytest.raises(tf.AdapterError, match=reason) as caught:
        drake_.load(path)
    assert caught.value.joint == "a"


def test_a_massless_link_has_a_singular_H_and_no_acceleration(write_text):
    path = write_text(cases.urdf(cases.link("base"), cases.link("a", None), cases.joint("j", "base", "a")))
    body = drake_.load(path)
    q, v, tau = numbers(1)
    assert drake_.mass_matrix(body, q)[0, 0] == 0.0
    with pytest.raises(tf.NotPositiveDefiniteError, match="j"):
        drake_.forward_dynamics(body, q, v, tau)
    with pytest.raises(tf.AdapterError, match="body a"):
        drake_.own_acceleration(body, q, v, tau)


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
