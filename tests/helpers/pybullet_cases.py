"""Robots, states and comparisons for the tests of the PyBullet adapter."""

import importlib.metadata
from pathlib import Path

import numpy as np
import pytest

pin = pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
pybullet = pytest.importorskip(
    "pybullet", reason="PyBullet is not installed: it has no wheels after Python 3.11"
)


from treefactor.adapters import pybullet_  # noqa: E402

H_TOLERANCE = 1e-13  # relative; the sanitised copy keeps PyBullet at round-off
RAW_TOLERANCE = 1e-9  # relative; PyBullet's own Jacobi diagonalisation stops at 1e-10
ACCELERATION_TOLERANCE = 1e-10  # relative, at condition numbers up to 1e7

INERTIA = "ixx='.3' ixy='.02' ixz='-.03' iyy='.4' iyz='.05' izz='.35'"


def link(name, mass=2.0, inertia=INERTIA, origin="xyz='.1 -.2 .3' rpy='.4 -.5 1.1'", extra=""):
    return (
        f"<link name='{name}'><inertial><origin {origin}/><mass value='{mass}'/><inertia {inertia}/>"
        f"</inertial>{extra}</link>\n"
    )


def joint(name, kind, parent, child, extra=""):
    return (
        f"<joint name='{name}' type='{kind}'><parent link='{parent}'/><child link='{child}'/>"
        f"<origin xyz='.3 .2 -.4' rpy='.7 -.2 .5'/><axis xyz='0 .6 .8'/>"
        f"<limit lower='-2' upper='2' effort='1' velocity='1'/>{extra}</joint>\n"
    )


ARM = (
    link("base")
    + link("upper", 1.5)
    + link("lower", 1.1)
    + joint("shoulder", "revolute", "base", "upper")
    + joint("elbow", "prismatic", "upper", "lower")
)


CURED = frozenset(pybullet_.OPTIONS) - {"root_link"}  # by which H is that of the file to rounding


def load(path, floating=False, gravity=(0.0, 0.0, -9.81), options=CURED):
    return pybullet_.load(path, floating, gravity, options)


def load_raw(path, client, floating=False, **options):
    """Load a robot as a user would, with the one flag that users should know."""
    flags = pybullet.URDF_USE_INERTIA_FROM_FILE | options.pop("flags", 0)
    return pybullet.loadURDF(
        str(path), useFixedBase=not floating, flags=flags, physicsClientId=client, **options
    )


def pinocchio_model(path, floating=False):
    return pin.buildModelFromUrdf(str(path), *[pin.JointModelFreeFlyer()] * floating)


def state(model, seed=0):
    rng = np.random.default_rng(seed)
    q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
    return q, *rng.normal(size=(2, model.nv))


def assert_close(actual, expected, tolerance):
    assert actual.shape == expected.shape
    assert np.abs(actual - expected).max() <= tolerance * max(np.abs(expected).max(), 1e-3)


def assert_agrees(body, model, tolerance=H_TOLERANCE, seed=0, step=True):
    """Return H, bias and both accelerations of the engine against Pinocchio's."""
    q, v, tau = state(model, seed)
    data = model.createData()
    H = np.array(pin.crba(model, data, q))
    nle, qdd = np.array(pin.nle(model, data, q, v)), np.array(pin.aba(model, data, q, v, tau))
    T = pybullet_.transform(body, model, q)
    offset = pybullet_.acceleration_offset(body, model, q, v)
    at = pybullet_.from_pinocchio(body, model, q, v)
    slack = max(tolerance, H_TOLERANCE) / H_TOLERANCE * ACCELERATION_TOLERANCE
    assert_close(T @ at[1], v, H_TOLERANCE)
    assert_close(pybullet_.mass_matrix(body, at[0]), T.T @ H @ T, tolerance)
    assert_close(pybullet_.bias(body, *at), T.T @ (nle + H @ offset), 100 * tolerance)
    assert_close(T @ pybullet_.forward_dynamics(body, *at, T.T @ tau) + offset, qdd, slack)
    if step:
        assert_close(T @ pybullet_.acceleration(body, *at, T.T @ tau) + offset, qdd, slack)


def example_robot(end):
    files = importlib.metadata.files("example-robot-data")
    return next(Path(f.locate()) for f in files if str(f).endswith(end))
