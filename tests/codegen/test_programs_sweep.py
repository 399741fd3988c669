"""Compare all functions with Pinocchio on all robots of example-robot-data."""

import itertools
import shutil

import numpy as np
import pinocchio as pin
import pytest
from helpers.sweeps import sweep
from test_codegen_values import BACKWARD, INVERSE, RELATIVE

import treefactor as tf
from treefactor import robots
from treefactor.adapters import pinocchio_
from treefactor.codegen.program import available
from treefactor.codegen.program.names import ROUTINES

STATES = 2
PER_CONDITION = 1e-3  # of J H^-1 J^T by a dense factor, in roundings that are allowed
NAMES = [name for name in robots.bundled() if not name.startswith("pybullet_data")]
SOME = ("TwoDofs", "ur3_robot", "double_pendulum", "bolt", "finger_edu")


def assert_same(actual, expected, scale=0.0):
    """Assert that deviations are rounding errors of the largest entry or scale."""
    assert actual.shape == expected.shape
    assert np.abs(actual - expected).max() <= RELATIVE * max(np.abs(expected).max(), scale)


def theirs_of(model, q, v, x, joints):
    """Return H, bias, inverse dynamics and joint Jacobians of Pinocchio."""
    data = model.createData()
    H = np.triu(pin.crba(model, data, q))
    J = [pin.computeJointJacobian(model, data, q, joint) for joint in joints]
    bias = pin.nonLinearEffects(model, data, q, v).copy()
    return H + np.triu(H, 1).T, bias, pin.rnea(model, data, q, v, x).copy(), np.vstack(J)


def moves_mass(model):
    """Return whether all freedoms move mass."""
    rest = np.zeros(model.nv)
    try:
        tf.forward_dynamics(model, tf.neutral(model), rest, rest)
    except tf.NotPositiveDefiniteError:
        return False
    return True


def assert_equals_pinocchio(theirs, backend):
    """Check all functions in some states; accelerations and inverses by their residuals.

    Angles of the file near multiples of 90 degrees may be rounded, by at most `Program.snapped`.
    """
    model = pinocchio_.model(theirs)
    tips = [theirs.names[-1], theirs.names[1]]
    program = tf.generate(
        model,
        [name for name in available(model, tips) if not ROUTINES[name].solved or moves_mass(model)],
        tips,
    )
    own = tf.codegen.Kernels(program, backend, model)
    assert own.backend == backend
    rng = np.random.default_rng(0)
    q, v, x = tf.random_configuration(model, rng, size=STATES), *rng.normal(size=(2, STATES, model.nv))
    for k in range(STATES):
        one = q[k], v[k], x[k]
        H, bias, tau, J = theirs_of(theirs, *one, [theirs.getJointId(tip) for tip in tips])
        unit = np.abs(H).max()  # force of a unit acceleration
        assert_same(own.crba(q)[k], H)
        assert_same(own.bias(q, v)[k], bias, unit)
        assert_same(own.rnea(q, v, x)[k], tau, unit)
        assert_same(own.jacobian(q)[k], J)
        if "aba" not in program.functions:
            continue
        for qdd in (own.aba(q, v, x)[k], own.forward_dynamics(q, v, x)[k]):
            terms = np.abs(H).sum(axis=1).max() * (np.abs(qdd).max() + 9.81) + np.abs(bias - x[k]).max()
            assert np.abs(H @ qdd + bias - x[k]).max() <= (BACKWARD + program.snapped) * terms
        W, norm = own.minv(q)[k], np.linalg.norm
        assert np.abs(W @ H - np.eye(model.nv)).max() <= INVERSE * norm(W) * norm(H)
        solved = J @ np.linalg.solve(H, J.T)
        assert_same(own.delassus(q)[k], solved, PER_CONDITION * np.linalg.cond(H) * np.abs(solved).max())


@pytest.mark.slow
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", NAMES)
def test_all_robots(name, floating):
    try:
        theirs = pinocchio_.load(robots.find(name).path, floating)
    except tf.AdapterError as error:
        pytest.skip(str(error))
    if not theirs.nv:
        pytest.skip(f"{name} has no joints on a fixed base")
    assert_equals_pinocchio(theirs, "interp")


@pytest.mark.parametrize(
    ("name", "backend"),
    sweep(
        itertools.product(SOME, ["interp", "numpy", "cc", "llvm"]),
        lambda case: case[1] == "interp" or case in (("bolt", "llvm"), ("bolt", "numpy"), ("TwoDofs", "cc")),
    ),
)
def test_some_robots_by_all_backends(name, backend, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if name not in NAMES:
        pytest.skip(f"{name} is not installed")
    if backend == "llvm":
        pytest.importorskip("llvmlite")
    if backend == "cc" and shutil.which("cc") is None:
        pytest.skip("no C compiler")
    assert_equals_pinocchio(pinocchio_.load(robots.find(name).path, name == "bolt"), backend)
