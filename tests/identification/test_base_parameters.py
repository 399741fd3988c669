"""Base parameters from the tree: counts, names, maps and tolerances."""

import json
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.model_cases import models
from helpers.parameter_cases import GRAVITIES, special_model, special_models
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import numeric_rank

import treefactor as tf
from treefactor import arms
from treefactor.identification._numeric_rank import directions_of_samples
from treefactor.model.joints import SIZES

INERTIAL = ("m", "h_x", "h_y", "h_z", "I_xx", "I_xy", "I_yy", "I_xz", "I_yz", "I_zz")
ROBOTS = {  # base parameters without and with rotor inertias
    "ur5_robot": (36, 40),
    "ur10_robot": (36, 40),
    "kinova": (36, 40),
    "panda": (51, 58),
    "xarm7": (43, 49),
    "z1": (43, 48),
    "double_pendulum": (6, 7),
    "talos_left_arm": (45, 50),
    "solo12": (94, 106),
    "anymal_b_simple/anymal": (94, 106),
    "go2": (94, 106),
    "g1_29dof_rev_1_0": (213, 242),
    "talos_reduced": (234, 266),
    "icub": (234, 266),
    "talos_full_v2": (318, 362),
    "tiago": (310, 352),
}
# arms: gravity along the first axis, tilted, none; then the same with rotor inertias
ARMS = {
    "PUMA 560": (36, 38, 34, 40, 42, 38),
    "general 6R": (36, 38, 36, 41, 43, 41),
    "general 7R": (43, 45, 43, 49, 51, 49),
    "LWR, WAM": (43, 45, 39, 48, 50, 44),
    "Stanford": (33, 35, 31, 37, 39, 35),
    "SCARA": (8, 10, 8, 11, 13, 10),
    "planar 3R": (7, 9, 7, 9, 11, 9),
}
OWN = {
    "SCARA": [("revolute", 0.3), ("revolute", 0.2), ("prismatic", 0.1), ("revolute", 0.0)],
    "planar 3R": [("revolute", 0.0), ("revolute", 0.5), ("revolute", 0.4)],
}


def arm(name, gravity):
    """Return an arm with some gravity, in the frame of the first joint."""
    general = [one for one in arms.GENERAL if one.name == name]
    if general:
        joints = general[0].model().joints
    else:
        joints = [
            tf.Joint(f"joint{k}", kind, k - 1, p=[d, 0.0, 0.0], axis=[0.0, 0.0, 1.0])
            for k, (kind, d) in enumerate(OWN[name])
        ]
    return tf.Model(joints, joints[0].R @ gravity)


def robot(name):
    """Return a bundled robot; one with legs has a free base."""
    try:
        entry = tf.robots.find(name)
    except tf.AdapterError as error:
        pytest.skip(str(error))
    return tf.Model.from_urdf(entry.path, entry.floating or name == "talos_full_v2")


def scaled(model, size):
    """Return a model with other lengths."""
    joints = []
    for j in model.joints:
        mimic = j.mimic
        if mimic and j.kind == "prismatic":
            mimic = tf.Mimic(mimic.leader, mimic.ratio * size, mimic.offset * size)
        joints.append(
            tf.Joint(j.name, j.kind, j.parent, j.R, size * j.p, j.axis, size * j.pitch, mimic=mimic)
        )
    return tf.Model(joints, model.gravity)


def assert_complete(model, base, armature=True):
    """Assert that a model's base parameters determine all forces, and that none is superfluous."""
    Y = numeric_rank.stacked(model, armature)
    assert base.count == numeric_rank.rank(Y)
    scale = np.abs(Y).max()
    size = np.abs(base.null).max(axis=1, initial=0.0, keepdims=True)
    np.testing.assert_allclose(Y @ base.null.T / size.T, 0.0, atol=1e-10 * scale)
    np.testing.assert_allclose(Y[:, base.kept] @ base.K, Y, atol=1e-10 * scale)


@pytest.mark.parametrize("name", ROBOTS)
def test_counts_of_robots(name):
    model = robot(name)
    assert tuple(tf.base_parameters(model, armature).count for armature in (False, True)) == ROBOTS[name]


@pytest.mark.parametrize("name", ARMS)
def test_counts_of_arms(name):
    counts = [
        tf.base_parameters(arm(name, gravity), armature).count
        for armature in (False, True)
        for gravity in [(0.0, 0.0, -9.81), (3.0, 2.0, -8.0), (0.0, 0.0, 0.0)]
    ]
    assert tuple(counts) == ARMS[name]


@pytest.mark.parametrize("name", ["ur5_robot", "panda", "solo12", "talos_reduced", "xarm7"])
def test_map_of_robots(name):
    """Y pi = Y_kept K pi, to 1e-12 of the forces."""
    model = robot(name)
    base = tf.base_parameters(model)
    rng = np.random.default_rng(5)
    for _ in range(3):
        q = tf.random_configuration(model, rng)
        v, a = rng.normal(size=(2, model.nv))
        x = rng.normal(size=len(base.columns))
        Y = numeric_rank.regressor(model, q, v, a)
        forces = Y @ x
        error = Y[:, base.kept] @ base.values(x) - forces
        assert np.abs(error).max() < 1e-12 * np.abs(Y).max() * np.abs(x).max() * len(x) ** 0.5


@pytest.mark.parametrize("name", ["ur5_robot", "panda", "xarm7", "z1"])
def test_robots_against_the_rank_of_regressors(name):
    assert_complete(robot(name), tf.base_parameters(robot(name), snap=0.0))


@settings(deadline=None, max_examples=25)
@given(special_models(max_joints=4), st.booleans())
def test_tree_gives_the_rank_of_regressors(model, armature):
    assert_complete(model, tf.base_parameters(model, armature), armature)


@pytest.mark.parametrize("kind", SIZES)
def test_every_kind_of_joint_below_and_above_another(kind):
    chains = [kind], [kind, "revolute"], ["prismatic", kind], [kind, kind]
    for k, kinds in enumerate(chains):
        for seed in range(2):
            model = special_model(kinds, seed, GRAVITIES[(k + seed) % 4])
            assert_complete(model, tf.base_parameters(model))


@pytest.mark.slow
@settings(deadline=None, max_examples=1000)
@given(special_models(max_joints=6), st.booleans())
def test_sweep_of_trees(model, armature):
    assert_complete(model, tf.base_parameters(model, armature), armature)


@pytest.mark.parametrize("name", ["ur5_robot", "talos_reduced"])
def test_against_regressors_of_pinocchio(name):
    pin = pytest.importorskip("pinocchio")
    model, entry = robot(name), tf.robots.find(name)
    root = [pin.JointModelFreeFlyer()] if entry.floating else []
    theirs = pin.buildModelFromUrdf(str(entry.path), *root)
    data, rng = theirs.createData(), np.random.default_rng(3)
    base = tf.base_parameters(model, armature=False)
    for _ in range(5):
        q, (v, a) = tf.random_configuration(model, rng), rng.normal(size=(2, model.nv))
        Y = pin.computeJointTorqueRegressor(theirs, data, q, v, a)
        assert np.abs(Y @ base.null.T).max() < 1e-10
        np.testing.assert_allclose(Y[:, base.kept] @ base.K, Y, atol=1e-12 * np.abs(Y).max())


@pytest.mark.slow
def test_every_bundled_robot():
    tried = 0
    for name in tf.robots.bundled():
        try:
            model = tf.robots.model_of(tf.robots.find(name))
        except tf.AdapterError:  # a file with faults
            continue
        if not 0 < model.njoints < 60:
            continue
        base, directions = tf.base_parameters(model), directions_of_samples(model, True, 1e-9)
        tried += 1
        close = [one for one in base.sensitive if one.size < 1e-6]  # sizes differ by the number of joints
        assert close or len(base.columns) - len(directions.sizes) == base.count, name
        assert np.abs(base.K).max() < 10.0, name
    assert tried > 60


def test_mimic_joints_need_samples():
    """The fingers of panda move by one coordinate: only sums and differences of theirs are felt."""
    model = tf.Model.from_urdf(tf.robots.find("panda").path, mimic=True)
    base = tf.base_parameters(model)
    assert (base.count, base.from_tree) == (54, False)
    assert "h_x of panda_finger_joint1 - h_x of panda_finger_joint2" in base.names
    assert "armature of panda_finger_joint1 + armature of panda_finger_joint2" in base.names
    assert_complete(model, base)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_limits_and_size_of_models_with_mimic_joints_do_not_matter(size):
    def joint(k, kind="revolute", axis=(0, 1, 0), **more):
        return tf.Joint(
            f"j{k}", kind, k - 1, p=[0, 0.1 * size, 0.5 * size * (k > 0)], axis=axis, lower=0, upper=0, **more
        )

    slide = joint(3, "prismatic", (0, 0, 1), mimic=tf.Mimic(2, 0.5 * size))
    model = tf.Model([joint(0), joint(1), joint(2, axis=(1, 0, 0)), slide])
    free = [tf.Joint(j.name, j.kind, j.parent, j.R, j.p, j.axis, mimic=j.mimic) for j in model.joints]
    base = tf.base_parameters(model)
    assert base.count == numeric_rank.rank(numeric_rank.stacked(scaled(tf.Model(free), 1 / size)))


@settings(deadline=None, max_examples=15)
@given(models(max_joints=4), st.booleans())
def test_models_with_mimic_joints(model, armature):
    assert_complete(model, tf.base_parameters(model, armature), armature)


@pytest.mark.parametrize("name", ["ur5_robot", "solo12", "xarm7"])
def test_samples_give_what_the_tree_gives(name):
    model = robot(name)
    directions = directions_of_samples(model, True, 1e-9)
    assert len(directions.order) - len(directions.sizes) == tf.base_parameters(model).count


def test_names_of_ur5():
    base = tf.base_parameters(robot("ur5_robot"))
    assert base.names[2] == (
        "h_z of shoulder_lift_joint + 0.425 m of elbow_joint + 0.425 m of wrist_1_joint"
        " + 0.425 m of wrist_2_joint + 0.425 m of wrist_3_joint"
    )
    assert base.names[5].endswith("0.180625 m of wrist_3_joint + armature of shoulder_lift_joint")
    assert base.names[-4:] == tuple(
        f"armature of {name}_joint" for name in ("elbow", "wrist_1", "wrist_2", "wrist_3")
    )
    alone = [f"{one} of shoulder_pan_joint" for one in INERTIAL if one != "I_zz"]
    assert [name for name in base.unfelt if " + " not in name and " - " not in name] == alone
    without = tf.base_parameters(robot("ur5_robot"), armature=False)
    assert np.count_nonzero(without.K) == 94


def test_names_of_panda():
    base = tf.base_parameters(robot("panda"), armature=False)
    assert [name for name in base.unfelt if " + " not in name and " - " not in name] == [
        *(f"{one} of panda_joint1" for one in INERTIAL if one != "I_zz"),
        "m of panda_joint2",
        "h_z of panda_joint2",
    ]


@pytest.mark.parametrize("name", ["ur5_robot", "panda"])
def test_all_names(name):
    golden = json.loads((Path(__file__).parents[1] / "data" / "base_parameters.json").read_text("utf-8"))
    assert list(tf.base_parameters(robot(name)).names) == golden[name]


def test_names_of_floating_robots():
    base = tf.base_parameters(robot("solo12"), armature=False)
    joints = [joint.name for joint in robot("solo12").joints]
    assert base.names[0] == " + ".join(f"m of {name}" for name in joints)


def test_nearly_parallel_axes():
    """A robot whose file has 1.5708 for a quarter of a turn."""
    model = robot("xarm7")
    base = tf.base_parameters(model)
    assert base.counts == {1e-9: 49, 1e-6: 48}
    assert [round(np.log10(one.size)) for one in base.sensitive] == [-6]
    assert base.sensitive[0].name.startswith("armature of joint2")
    assert "49 at 1e-09, 48 at 1e-06" in str(base)
    assert tf.base_parameters(model, tolerance=1e-5).count == 48
    mended = tf.base_parameters(model, snap=1e-5)
    assert (mended.count, mended.sensitive) == (48, ())
    assert 1e-6 < mended.snapped < 1e-5


@pytest.mark.parametrize("tolerance", [1e-11, 1e-9, 1e-7])
@pytest.mark.parametrize("name", ["kinova", "tiago"])
def test_rounded_angles_do_not_become_rank(name, tolerance):
    assert tf.base_parameters(robot(name), tolerance=tolerance, snap=0.0).count == ROBOTS[name][1]


@settings(deadline=None, max_examples=50)
@given(special_models(), st.floats(-13, -5), st.integers(0, 2**32 - 1))
def test_small_errors_of_placements_do_not_become_rank(model, exponent, seed):
    """Errors above the tolerance are reported."""
    rng, error = np.random.default_rng(seed), 10.0**exponent
    joints = [
        tf.Joint(
            *(j.name, j.kind, j.parent, j.R @ tf.so3.exp(error * rng.normal(size=3))),
            *(j.p + error * rng.normal(size=3), j.axis, j.pitch),
        )
        for j in model.joints
    ]
    exact = tf.base_parameters(model, snap=0.0)
    rounded = tf.base_parameters(tf.Model(joints, model.gravity), snap=0.0)
    assert exact.sensitive == ()
    assert rounded.count == exact.count or exact.count in rounded.counts.values()
    assert tf.base_parameters(tf.Model(joints, model.gravity), snap=0.0, tolerance=1e-3).count == exact.count


@settings(deadline=None, max_examples=20)
@given(st.one_of(special_models(max_joints=4), models(max_joints=3)), st.integers(1, 15), st.booleans())
def test_known_bodies(model, which, armature):
    known = [j for j in range(model.njoints) if which >> j & 1]
    base = tf.base_parameters(model, armature, known=[model.joints[j].name for j in known])
    Y = numeric_rank.stacked(model, armature)
    Y[:, [10 * j + k for j in known for k in range(10)]] = 0.0
    assert base.count == (numeric_rank.rank(Y) if Y.any() else 0)
    np.testing.assert_allclose(Y[:, base.kept] @ base.K, Y, atol=1e-10 * np.abs(Y).max())
    np.testing.assert_allclose(
        Y @ base.null.T, 0.0, atol=1e-9 * np.abs(Y).max() * np.abs(base.null).max(initial=1)
    )


def test_the_last_body_of_an_arm_alone():
    """All ten parameters of a payload are felt if the arm is known."""
    model = robot("ur5_robot")
    base = tf.base_parameters(model, armature=False, known=range(5))
    assert base.names == tuple(f"{one} of wrist_3_joint" for one in INERTIAL)
    name = model.joints[-1].name
    assert tf.base_parameters(model, known=name).names == tf.base_parameters(model, known=[name]).names
    with pytest.raises((tf.InvalidModelError, IndexError)):
        tf.base_parameters(model, known=["nothing"])


def test_size_of_the_robot_does_not_matter():
    model = special_model(["revolute", "helical", "universal", "prismatic", "revolute"], 3, (0, 0, -9.81))
    counts = {tf.base_parameters(scaled(model, size)).count for size in (1e-6, 1.0, 1e6)}
    assert len(counts) == 1


@pytest.mark.parametrize("place", [1e2, 1e4, 1e6])
def test_the_place_of_the_robot_does_not_matter(place):
    for kinds in (
        ["revolute"] * 3,
        ["universal", "planar"],
        ["prismatic", "revolute"],
        ["freeflyer", "helical"],
    ):
        model = special_model(kinds, 4, (0, 0, -9.81))
        first = replace(model.joints[0], p=[place, -place, place])
        there = tf.base_parameters(tf.Model([first, *model.joints[1:]], model.gravity))
        here = tf.base_parameters(tf.Model([replace(first, p=[0, 0, 0]), *model.joints[1:]], model.gravity))
        assert there.names == here.names
        np.testing.assert_allclose(there.K, here.K, rtol=0, atol=1e-12)


def test_inertias_do_not_matter():
    model = robot("panda")
    bare = tf.Model([tf.Joint(j.name, j.kind, j.parent, j.R, j.p, j.axis) for j in model.joints])
    assert tf.base_parameters(bare).names == tf.base_parameters(model).names


def test_models_without_bodies_or_freedoms_that_are_felt():
    base = tf.base_parameters(tf.Model([]))
    assert (base.count, base.names, base.null.shape, base.K.shape) == (0, (), (0, 0), (0, 0))


def test_objects_are_frozen_and_picklable():
    base = tf.base_parameters(robot("ur5_robot"))
    again = pickle.loads(pickle.dumps(base))
    assert again.names == base.names
    assert again.counts == base.counts
    np.testing.assert_array_equal(again.K, base.K)
    for one in (base, again):
        with pytest.raises(ValueError, match="read-only"):
            one.K[0, 0] = 2.0
        with pytest.raises(AttributeError):
            one.count = 3


def test_arguments():
    with pytest.raises(TypeError):
        tf.base_parameters("ur5")
    with pytest.raises(ValueError, match="tolerance"):
        tf.base_parameters(robot("ur5_robot"), tolerance=-1.0)
    with pytest.raises(ValueError, match="snap"):
        tf.base_parameters(robot("ur5_robot"), snap=-1.0)
    with pytest.raises(tf.ShapeError, match=r"x must have shape \(..., 66\)"):
        tf.base_parameters(robot("ur5_robot")).values(np.zeros(60))


def test_base_parameters_of_a_model_are_those_of_its_columns():
    rod = tf.Inertia(1.0, [0.1, 0, -0.5], np.diag([0.1, 0.1, 0.02]))
    shoulder = tf.Joint("shoulder", "revolute", axis=[0, 1, 0], inertia=rod, armature=0.3)
    elbow = tf.Joint("elbow", "revolute", 0, p=[0, 0, 0.5], axis=[1, 0, 0], inertia=rod, armature=0.2)
    model = tf.Model([shoulder, elbow])
    for armature, rotors in ((True, [0.3, 0.2]), (False, [])):
        base = tf.base_parameters(model, armature)
        assert np.array_equal(base.values(model), base.values([*model.parameters.ravel(), *rotors]))
        assert repr(base) == f"<BaseParameters: {base.count} of {len(base.columns)} parameters>"
        with pytest.raises(tf.InvalidModelError, match="no m of elbow"):
            base.values(tf.Model([shoulder]))
    with pytest.raises(tf.ShapeError, match=r"shape \(\.\.\., 22\), .* or be a Model"):
        tf.base_parameters(model).values(model.parameters)
