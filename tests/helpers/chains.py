"""Random chains in the base frame, and the same chain as a model of Pinocchio's."""

import numpy as np
import pytest
from hypothesis import strategies as st

pin = pytest.importorskip("pinocchio", reason="the reference")


def random_chain(n, seed=0, batch=()):
    """Return the axis, r, mass, c and inertia of n bodies, each five random points of random mass."""
    rng = np.random.default_rng(seed)
    axis = rng.standard_normal((*batch, n, 3))
    axis /= np.linalg.norm(axis, axis=-1, keepdims=True)
    r = rng.standard_normal((*batch, n, 3))
    points, masses = rng.standard_normal((*batch, n, 5, 3)), rng.uniform(0.1, 1.0, (*batch, n, 5))
    return axis, r, *of_points(points, masses)


def of_points(points, masses):
    """Return the mass, first moment and inertia tensor of masses (..., p) at points (..., p, 3)."""
    c = np.einsum("...p,...px->...x", masses, points)
    second = np.einsum("...p,...px,...py->...xy", masses, points, points)
    trace = np.einsum("...xx->...", second)
    return masses.sum(-1), c, trace[..., None, None] * np.eye(3) - second


@st.composite
def chains(draw, max_n=12):
    """Return arrays of a chain, and which joints slide."""
    n = draw(st.integers(1, max_n))
    arrays = random_chain(n, draw(st.integers(0, 2**32 - 1)))
    return arrays, np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))


def pinocchio_chain(prismatic, seed):
    """Return a model of random joints and bodies, and random q."""
    rng = np.random.default_rng(seed)
    model = pin.Model()
    for slides in prismatic:
        axis = rng.standard_normal(3)
        joint = (pin.JointModelPrismaticUnaligned if slides else pin.JointModelRevoluteUnaligned)(
            axis / np.linalg.norm(axis)
        )
        turn = pin.Quaternion(*(q := rng.standard_normal(4)) / np.linalg.norm(q)).matrix()
        k = model.addJoint(
            model.njoints - 1, joint, pin.SE3(turn, rng.standard_normal(3)), f"joint{model.njoints}"
        )
        mass, c, inertia = of_points(rng.standard_normal((5, 3)), rng.uniform(0.1, 1.0, 5))
        lever = c / mass
        central = inertia - mass * (lever @ lever * np.eye(3) - np.outer(lever, lever))
        model.appendBodyToJoint(k, pin.Inertia(mass, lever, central), pin.SE3.Identity())
    return model, rng.standard_normal(model.nq)


def in_base_frame(model, q):
    """Return the axis, r, mass, c and inertia of Pinocchio's chain at q."""
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    axis, r, mass, c, inertia = [], [], [], [], []
    origin = np.zeros(3)
    for k in range(1, model.njoints):
        M, body = data.oMi[k], model.inertias[k]
        motion = data.J.reshape(6, -1)[:, k - 1]
        axis.append(motion[:3] if np.allclose(motion[3:], 0) else motion[3:])
        r.append(M.translation - origin)
        origin = M.translation
        lever = M.rotation @ body.lever
        mass.append(body.mass)
        c.append(body.mass * lever)
        inertia.append(
            M.rotation @ body.inertia @ M.rotation.T
            + body.mass * (lever @ lever * np.eye(3) - np.outer(lever, lever))
        )
    return tuple(map(np.array, (axis, r, mass, c, inertia)))
