"""Cones and ellipsoids: against planes by closed forms, against other shapes by coal."""

import pickle
import sys

import numpy as np
import pytest
from oracles.support import support
from scipy.spatial.transform import Rotation

import treefactor as tf
from treefactor.constraints import (
    Box,
    Capsule,
    Cone,
    Contact,
    Cylinder,
    Ellipsoid,
    Geometry,
    Mesh,
    Plane,
    Sphere,
    Stepper,
    bounding_boxes,
    contact_points,
    contacts_of,
)
from treefactor.exceptions import AdapterError, InvalidModelError

coal = pytest.importorskip("coal")
from treefactor.adapters._coal import in_coal  # noqa: E402

G, H = 9.81, 0.002
CORNERS = 0.1 * np.array([[1, 1, -1], [-1, 1, -1], [-1, -1, -1], [1, -1, -1], [0.2, 0.1, 1.5]])
NEW = {"cone": Cone(0, 0.1, 0.3), "ellipsoid": Ellipsoid(0, [0.1, 0.15, 0.25])}
OTHERS = {
    "sphere": Sphere(0, radius=0.12),
    "capsule": Capsule(0, 0.08, 0.3),
    "cylinder": Cylinder(0, 0.1, 0.3),
    "box": Box(0, [0.2, 0.3, 0.4]),
    "mesh": Mesh(0, CORNERS),
    **NEW,
}


def placements(rng, count, reach):
    """Return random placements (count, 2, 3, 4) of two bodies."""
    R = Rotation.random(2 * count, random_state=rng).as_matrix().reshape(count, 2, 3, 3)
    p = 0.05 * rng.normal(size=(count, 2, 3))
    p[:, 1] += rng.normal(size=(count, 3)) * rng.uniform(0.05, reach, (count, 1))
    return np.concatenate([R, p[..., None]], axis=-1)


@pytest.mark.parametrize("kind", NEW)
def test_lowest_points_against_planes(kind):
    shape, rng = NEW[kind], np.random.default_rng(3)
    for first, second in placements(rng, 300, 0.3):
        plane = first @ [0, 0, 0, 1.0], first[:, 2]
        reach = support(shape, -plane[1][None] @ second[:, :3])[0]
        exact = plane[1] @ (second[:, 3] - plane[0]) - reach
        points = contact_points(Plane(), shape, first, second, margin=1.0)
        assert points.gaps.min() == pytest.approx(exact, abs=1e-14)
        np.testing.assert_allclose(points.normals, np.tile(plane[1], (len(points.gaps), 1)), atol=1e-15)
        lower = points.points + 0.5 * points.gaps[:, None] * plane[1]
        own = (lower - second[:, 3]) @ second[:, :3]
        if kind == "cone":
            on_rim = np.hypot(np.hypot(*own[:, :2].T) - shape.radius, own[:, 2] + shape.length / 2)
            distance = np.minimum(on_rim, np.linalg.norm(own - [0, 0, shape.length / 2], axis=1))
        else:
            distance = (own**2 / shape.radii**2).sum(axis=1) - 1.0
        np.testing.assert_allclose(distance, 0.0, atol=1e-13)
        coals = coal.CollisionResult()
        poses = (coal.Transform3s(x[:, :3], x[:, 3]) for x in (first, second))
        one, other = poses
        coal.collide(in_coal(Plane()), one, in_coal(shape), other, coal.CollisionRequest(), coals)
        assert coals.isCollision() == (exact <= 0)


def separation(first, second, placed, n):
    """Return how far two shapes are apart along n, from the first to the second."""
    (R, p), (Q, s) = ((x[:, :3], x[:, 3]) for x in placed)
    return n @ (s - p) - support(first, n @ R) - support(second, -n @ Q)


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("kind", NEW)
def test_no_direction_separates_more_than_that_of_coal(kind, other):
    first, second, rng = NEW[kind], OTHERS[other], np.random.default_rng(4)
    directions = rng.normal(size=(2000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    overlaps = 0
    for placed in placements(rng, 40, 0.3):
        points = contact_points(first, second, *placed, margin=1.0)
        gap, n = points.gaps.min(), points.normals[0]
        assert separation(first, second, placed, n[None])[0] == pytest.approx(gap, abs=1e-4, rel=2e-3)
        assert separation(first, second, placed, directions).max() <= gap + 1e-5 + 2e-3 * abs(gap)
        exchanged = contact_points(second, first, *placed[::-1], margin=1.0)
        assert exchanged.gaps.min() == pytest.approx(gap, abs=1e-5, rel=2e-3)
        overlaps += gap < 0
    assert overlaps > 5


def free(moments):
    """Return a model of one free body of 1 kg."""
    return tf.Model([tf.Joint("body", "freeflyer", inertia=tf.Inertia(1.0, tensor=np.diag(moments)))])


@pytest.mark.parametrize("below", [Plane(), Box(-1, [2.0, 2.0, 0.2], p=[0, 0, -0.1])], ids=["plane", "box"])
def test_a_cone_stands_on_its_base(below):
    cone = Cone(0, 0.1, 0.4, p=[0, 0, 0.1])  # its centre of mass is a quarter of its length above its base
    stepper = Stepper(free([0.009, 0.009, 0.003]), [Contact(cone, below, mu=0.5)], h=H)
    copies = [pickle.loads(pickle.dumps(stepper)) for _ in range(2)]
    run = stepper.run([0, 0, 0.1, 0, 0, 0, 1.0], np.zeros(6), 250)
    slow = isinstance(below, Box)
    assert stepper.slow_pairs == slow
    np.testing.assert_allclose(run.q[-1], [0, 0, 0.1, 0, 0, 0, 1.0], atol=1e-5 if slow else 1e-12)
    assert run.steps[-1].impulse[:, 2].sum() / H == pytest.approx(G, rel=1e-3)
    for copy, keep_steps in zip(copies, (True, False), strict=True):
        again = copy.run(run.q[0], np.zeros(6), 250, keep_steps=keep_steps)
        np.testing.assert_array_equal(again.q, run.q)


def test_an_ellipsoid_rocks_as_its_curvature_says():
    a, c, k = 0.2, 0.1, 0.02  # half axes; moment of inertia about its centre
    stepper = Stepper(free([k] * 3), [Contact(Ellipsoid(0, [a, a, c]), mu=1.0)], h=0.001, friction="box")
    tilt = Rotation.from_euler("y", 0.02).as_quat()
    run = stepper.run([0, 0, c + 2e-5, *tilt], np.zeros(6), 2000, keep_steps=False)
    angle = 2.0 * run.q[:, 4]
    crossings = np.flatnonzero(angle[:-1] * angle[1:] < 0)
    rate = np.sqrt(G * (a * a / c - c) / (k + c * c))  # radius a^2 / c at the lowest point
    assert np.diff(crossings).mean() * 0.001 == pytest.approx(np.pi / rate, rel=0.01)


def test_bounds_hold_the_shapes():
    rng = np.random.default_rng(5)
    for shape in NEW.values():
        for R in Rotation.random(20, random_state=rng):
            q = [0.1, 0.2, 0.3, *R.as_quat()]
            low, high = bounding_boxes(free([1, 1, 1]), [shape], q)[0]
            axes = np.eye(3) @ R.as_matrix()
            np.testing.assert_allclose(high, np.array([0.1, 0.2, 0.3]) + support(shape, axes), atol=1e-14)
            np.testing.assert_allclose(low, np.array([0.1, 0.2, 0.3]) - support(shape, -axes), atol=1e-14)


def test_a_pair_without_coal_names_the_extra(monkeypatch):
    monkeypatch.setattr(sys.modules["treefactor.constraints.contact_points"], "find_spec", lambda name: None)
    with pytest.raises(
        AdapterError, match=r"cone on body 0 against box on body -1 needs coal: pip install 't"
    ):
        Contact(Cone(0, 0.1, 0.2), Box(-1, [1, 1, 1]))
    shapes = Geometry([Cone(0, 0.1, 0.2)], ["wheel"])
    with pytest.raises(AdapterError, match="cone 'wheel' against box 'other 0' needs coal"):
        contacts_of(free([1, 1, 1]), shapes, [Box(-1, [1, 1, 1])])
    Contact(Cone(0, 0.1, 0.2))  # the ground has a kernel


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Cone(0, 0.1, 0.0), "radius and length of a cone must be positive"),
        (
            lambda: Ellipsoid(0, [0.1, -0.1, 0.1]),
            r"radii of an ellipsoid must be positive, got \[0.1, -0.1, 0.1\]",
        ),
    ],
)
def test_impossible_sizes_are_refused(make, message):
    with pytest.raises(InvalidModelError, match=message):
        make()
