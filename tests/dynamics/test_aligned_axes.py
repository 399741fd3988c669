"""Compare recursions in the bodies' own axes with those in the axes of the root, for aligned joint axes."""

import itertools

import numpy as np
import pytest
from helpers.dynamics_cases import EXACT, PER_CONDITION, arguments, error, force_scale

import treefactor as tf
from treefactor.dynamics._body_structs import TREE_TURNS
from treefactor.dynamics.bodies import table_of

pytestmark = pytest.mark.isa

TURNS = [
    np.array(rows)
    for order in itertools.permutations(np.eye(3))
    for rows in itertools.product(*((row, -row) for row in order))
    if np.linalg.det(np.array(rows)) > 0
]
KINDS = ("revolute", "continuous", "prismatic")


def about_z(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def limbs(R, kind, angle=0.0, root="freeflyer"):
    """Return a root with two limbs, the placement of whose joints is a rotation R, then one about z."""
    rng = np.random.default_rng(0)
    joints = []
    for i, (parent, one) in enumerate([(-1, root), (0, kind), (1, "revolute"), (0, "revolute"), (3, kind)]):
        hinge = {} if one == "freeflyer" else {"axis": [0.0, 0.0, 1.0], "armature": rng.uniform()}
        inertia = tf.Inertia(rng.uniform(1, 2), rng.normal(size=3), np.diag(rng.uniform(2, 3, 3)))
        placement = np.eye(3) if i == 0 else R @ about_z(angle)
        joints.append(
            tf.Joint(f"{i}", one, parent=parent, R=placement, p=rng.normal(size=3), inertia=inertia, **hinge)
        )
    return tf.Model(joints)


def assert_agree(model):
    """Assert that forces are those of the Coriolis matrix, and that forward dynamics invert them."""
    q, v, a, _ = arguments(model, 1)
    H = tf.crba(model, q)
    scale = force_scale(H, v) + (np.abs(H) @ np.abs(a)).max()
    rest = tf.coriolis_matrix(model, q, v) @ v + tf.generalized_gravity(model, q)
    tau = tf.rnea(model, q, v, a)
    assert error(tau, H @ a + rest, scale) < EXACT
    assert 2 * tf.kinetic_energy(model, q, v) == pytest.approx(v @ H @ v, rel=EXACT)
    accelerations = tf.aba(model, q, v, tau)
    assert error(accelerations, a, np.abs(a).max()) < PER_CONDITION * np.linalg.cond(H)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("R", TURNS)
def test_axes_along_each_other(R, kind):
    assert_agree(limbs(R, kind))
    assert_agree(limbs(R, kind, root="revolute"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("C", TREE_TURNS)
def test_turned_about_an_axis_of_the_parent(C, kind):
    assert_agree(limbs(C, kind, angle=0.3))


@pytest.mark.parametrize("R", TURNS)
def test_bodies_whose_axes_lie_along_each_other_are_found(R):
    for body in table_of(limbs(R, "prismatic", root="revolute")):
        assert np.array_equal(body["R"], TREE_TURNS[body["turn"] - 1])
        assert body["offset"] == 0.0


@pytest.mark.parametrize("C", TREE_TURNS)
def test_revolute_joints_get_an_offset_others_any_rotation(C):
    for body in table_of(limbs(C, "continuous", angle=0.3))[1:]:
        if body["kind"] == 0:
            assert np.array_equal(body["R"], TREE_TURNS[body["turn"] - 1])
            assert body["offset"] == pytest.approx(0.3, abs=1e-15)
        else:
            assert body["turn"] == 0
            np.testing.assert_allclose(body["R"], C @ about_z(0.3), atol=1e-15)
