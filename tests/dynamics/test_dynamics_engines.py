"""Compare the dynamics with Pinocchio on every robot and joint, with MuJoCo and Drake on some."""

from importlib import import_module

import numpy as np
import pytest
from helpers.dynamics_cases import EXACT, arguments, assert_accelerations, assert_forces, error, free
from helpers.model_cases import in_pinocchio, models, random_model
from hypothesis import given
from hypothesis import strategies as st

import treefactor as tf
from treefactor import robots
from treefactor.exceptions import AdapterError
from treefactor.model.joints import SIZES

pin = pytest.importorskip("pinocchio", reason="Pinocchio is the reference")

from treefactor.adapters import pinocchio_  # noqa: E402

FEW = ["panda", "double_pendulum_continuous", "baxter", "solo12", "talos_reduced", "g1_29dof_rev_1_0"]
ALL = sorted(robots.bundled())
REGULAR = 1e12  # condition number of H beyond which accelerations mean nothing


def inertia_matrix(theirs, data, q):
    """Return Pinocchio's H; by columns for mimic joints, since crba of Pinocchio 4.1 gets some wrong."""
    if not len(theirs.mimicking_joints):
        return pinocchio_.mass_matrix(theirs, data, q)
    still = np.zeros(theirs.nv)
    weight = pin.rnea(theirs, data, q, still, still).copy()
    return np.array([pin.rnea(theirs, data, q, still, unit) - weight for unit in np.eye(theirs.nv)])


def assert_agrees(model, theirs, seed=0):
    """Assert that all functions agree with Pinocchio's."""
    q, v, x, fext = arguments(model, seed)
    data = theirs.createData()
    H = inertia_matrix(theirs, data, q)
    assert error(tf.crba(model, q), H) < EXACT
    assert_forces(tf.bias(model, q, v), pin.nle(theirs, data, q, v), H, v)
    assert_forces(tf.h_times(model, q, x), H @ x, H, x)
    assert_forces(tf.rnea(model, q, v, x), pin.rnea(theirs, data, q, v, x), H, v, x)
    forces = [pin.Force.Zero(), *map(pin.Force, fext)]
    if len(forces) == theirs.njoints:  # composite joints are several of ours
        tau = pin.rnea(theirs, data, q, v, x, forces)
        assert_forces(tf.rnea(model, q, v, x, fext), tau, H, v, x)
    if model.nv and not model.coupling and np.linalg.cond(H) < REGULAR:
        qdd = pin.aba(theirs, data, q, v, x)
        for method in ("factor", "aba"):
            assert_accelerations(tf.forward_dynamics(model, q, v, x, method=method), qdd, H)


@pytest.mark.parametrize("kind", SIZES)
def test_each_joint_is_pinocchios(kind):
    for kinds in [[kind], [kind, kind], ["revolute", kind, "spherical"]]:
        model = free(random_model(range(-1, len(kinds) - 1), kinds, 1))
        assert_agrees(model, in_pinocchio(model))


@given(models(depth_first=True), st.integers(0, 2**32 - 1))
def test_trees_are_pinocchios(model, seed):
    model = free(model)  # Pinocchio 4.1 crashes where joints follow others against the order
    assert_agrees(model, in_pinocchio(model), seed)


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_robots_are_pinocchios(name, floating):
    theirs = pinocchio_.load(robots.find(name).path, floating)
    assert_agrees(pinocchio_.model(theirs), theirs)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("mimic", [False, True], ids=["free", "mimic"])
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_all_robots_are_pinocchios(name, floating, mimic):
    try:
        theirs = pinocchio_.load(robots.find(name).path, floating, mimic)
    except AdapterError as refusal:
        pytest.skip(f"Pinocchio does not load it: {refusal}")
    try:
        model = pinocchio_.model(theirs)
    except (AdapterError, tf.InvalidModelError) as refusal:
        pytest.skip(f"no model of ours: {refusal}")
    assert_agrees(model, theirs)


@pytest.mark.parametrize("engine", ["mujoco", "drake"])
@pytest.mark.parametrize("name", ["ur5_robot", "solo12"])
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_robots_are_those_of_other_engines(engine, name, floating):
    pytest.importorskip({"drake": "pydrake"}.get(engine, engine), reason="engines are optional")
    adapter = import_module(f"treefactor.adapters.{engine}_")
    if (engine, name, floating) == ("drake", "ur5_robot", True):
        pytest.skip("Drake takes the root link, which is called world, for the world itself")
    path = robots.find(name).path
    theirs = pinocchio_.load(path, floating)
    model = pinocchio_.model(theirs)
    body = adapter.load(path, floating)
    q, v, _, _ = arguments(model)
    own_q, own_v = adapter.from_pinocchio(body, theirs, q, v)
    T, c = adapter.transform(body, theirs, q), adapter.acceleration_offset(body, theirs, q, v)
    H = tf.crba(model, q)
    assert error(adapter.mass_matrix(body, own_q), T.T @ H @ T) < EXACT
    assert_forces(adapter.bias(body, own_q, own_v), T.T @ (tf.bias(model, q, v) + H @ c), H, v)
