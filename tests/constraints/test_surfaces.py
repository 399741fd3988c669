"""Spheres and capsules on surfaces of triangles: against coal, exchanged and moved, inner edges, a bowl."""

import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import treefactor as tf
from treefactor.constraints import (
    Box,
    Capsule,
    Cone,
    Contact,
    Cylinder,
    Ellipsoid,
    HeightField,
    Mesh,
    Plane,
    Sphere,
    Stepper,
    bounding_boxes,
    contact_points,
)
from treefactor.exceptions import InvalidModelError, ShapeError

H, G = 0.002, 9.81
X = np.linspace(-0.5, 0.5, 11)
HILLS = HeightField(-1, np.random.default_rng(1).uniform(0.0, 0.1, (11, 11)), [1.0, 1.0])
FLAT = HeightField(-1, np.zeros((11, 11)), [1.0, 1.0])
CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
FACES = [
    [0, 1, 3],
    [0, 3, 2],
    [4, 6, 7],
    [4, 7, 5],
    [0, 4, 5],
    [0, 5, 1],
    [2, 3, 7],
    [2, 7, 6],
    [0, 2, 6],
    [0, 6, 4],
]
FACES += [[1, 5, 7], [1, 7, 3]]
CUBE = Mesh(-1, CORNERS, faces=FACES, convex=False)
BALL = Sphere(0, radius=0.05)


def surface(faces):
    """Return the surface of faces of the cube."""
    return Mesh(-1, CORNERS, faces=faces, convex=False)


def test_repeated_faces_and_unused_corners_are_left_out():
    once, twice = surface(FACES), surface([*FACES, *(face[1:] + face[:1] for face in FACES[:3])])
    for name, array in vars(once.surface).items():
        np.testing.assert_array_equal(array, getattr(twice.surface, name))
    far = Mesh(-1, [*CORNERS, [9, 9, 9]], faces=FACES, convex=False)
    slide = tf.Model([tf.Joint("slide", "prismatic", axis=[0, 0, 1], inertia=tf.Inertia(1.0))])
    np.testing.assert_array_equal(bounding_boxes(slide, [far], [0.0]), [[[-0.5] * 3, [0.5] * 3]])
    fins = surface([[0, 1, 3], [1, 0, 4], [0, 1, 7]])  # three triangles beside one edge
    assert fins.surface.edge_borders.sum() == 6
    assert len(contact_points(fins, BALL, at(0, 0, 0), at(0.0, 0.0, 0.0), 2.0).gaps)


def at(x, y, z, turn=(0.0, 0.0, 0.0)):
    """Return a placement."""
    return np.column_stack([Rotation.from_euler("xyz", turn).as_matrix(), [x, y, z]])


def in_coal(coal, surface):
    """Return the triangles for coal."""
    made = coal.BVHModelOBBRSS()
    made.beginModel(len(surface.triangles), 3 * len(surface.triangles))
    for a, b, c in surface.corners[surface.triangles]:
        made.addTriangle(a, b, c)
    made.endModel()
    return made


@pytest.mark.parametrize("shape", [BALL, Capsule(0, 0.05, 0.3)], ids=["sphere", "capsule"])
@pytest.mark.parametrize("ground", [HILLS, CUBE], ids=["hills", "cube"])
def test_the_least_gap_is_that_of_coal(shape, ground):
    coal = pytest.importorskip("coal")
    rng, triangles = np.random.default_rng(2), in_coal(coal, ground.surface)
    axis = coal.Sphere(1e-9) if isinstance(shape, Sphere) else coal.Capsule(1e-9, shape.length)
    touching = 0
    for turn in Rotation.random(300, random_state=rng):
        R, p = turn.as_matrix(), rng.uniform(-0.4, 0.4, 3) * (1.4 if ground is CUBE else 1.0)
        reach = 0.0 if isinstance(shape, Sphere) else shape.length / 2
        p[2] = (0.51 if ground is CUBE else 0.1) + rng.uniform(0.0, 0.1) + reach * abs(R[2, 2])
        request = coal.DistanceRequest()
        request.gjk_tolerance = 1e-10
        distance = coal.distance(
            *(triangles, coal.Transform3s(), axis, coal.Transform3s(R, p), request, coal.DistanceResult())
        )
        points = contact_points(ground, shape, None, np.column_stack([R, p]), margin=0.05)
        assert (len(points.gaps) > 0) == (distance + 1e-9 <= 0.1)
        if len(points.gaps):
            assert points.gaps.min() == pytest.approx(distance + 1e-9 - 0.05, abs=1e-7)
            touching += 1
    assert touching > 50


@pytest.mark.parametrize("shape", [BALL, Capsule(0, 0.05, 0.3)], ids=["sphere", "capsule"])
def test_exchanged_and_moved_pairs_touch_alike(shape):
    rng = np.random.default_rng(3)
    for _ in range(50):
        placed = at(*rng.uniform(-0.3, 0.3, 2), rng.uniform(0.05, 0.15), rng.uniform(-1.6, 1.6, 3))
        points = contact_points(HILLS, shape, None, placed, 0.02)
        other = contact_points(shape, HILLS, placed, None, 0.02)
        np.testing.assert_allclose(other.normals, -points.normals, atol=1e-12)
        np.testing.assert_allclose(other.gaps, points.gaps, atol=1e-12)
        motion = at(*rng.normal(size=3), rng.uniform(-3, 3, 3))
        R, p = motion[:, :3], motion[:, 3]
        moved = R @ placed
        moved[:, 3] += p
        after = contact_points(HILLS, shape, motion, moved, 0.02)
        np.testing.assert_array_equal(after.identities, points.identities)
        np.testing.assert_allclose(after.points, points.points @ R.T + p, atol=1e-10)
        np.testing.assert_allclose(after.gaps, points.gaps, atol=1e-10)


def test_inner_edges_and_corners_of_flat_parts_make_no_points():
    rng = np.random.default_rng(4)
    places = [*rng.uniform(-0.4, 0.4, (100, 2)), *np.stack(np.meshgrid(X[2:-2], X[2:-2]), -1).reshape(-1, 2)]
    for x, y in places:
        points = contact_points(FLAT, BALL, None, at(x, y, 0.049), 0.01)
        np.testing.assert_allclose(points.points, [[x, y, -0.0005]], atol=1e-12)
        np.testing.assert_allclose(points.normals, [[0, 0, 1]], atol=1e-9)
        lying = contact_points(FLAT, Capsule(0, 0.05, 0.1), None, at(x, y, 0.05, [np.pi / 2, 0, 0.3]), 1e-3)
        assert len(lying.gaps) == 2


def test_edges_corners_and_the_inside_of_a_cube():
    r = 0.05
    for place, normal, gap in (
        ([0.0, 0.1, 0.52], [0, 0, 1], 0.02 - r),
        ([0.53, 0.1, 0.54], [0.6, 0, 0.8], 0.05 - r),
        ([0.51, 0.52, 0.52], np.array([1, 2, 2]) / 3, 0.03 - r),
        ([0.1, 0.1, 0.49], [0, 0, 1], -0.01 - r),
        ([0.1, 0.1, 0.46], [0, 0, 1], -0.04 - r),
    ):
        points = contact_points(CUBE, BALL, None, at(*place), 1e-9)
        np.testing.assert_allclose(points.normals, [normal], atol=1e-12)
        np.testing.assert_allclose(points.gaps, [gap], atol=1e-12)
        assert np.abs(points.points[0] - place) @ np.ones(3) < 0.2


def test_a_capsule_across_an_edge_touches_between_its_ends():
    across = at(0.5, 0.0, 0.5, [0, -np.pi / 4, 0])
    across[:, 3] += 0.04 * across[:, 0]  # the x axis of the capsule leads out of the edge
    points = contact_points(CUBE, Capsule(0, 0.05, 0.3), None, across, 1e-3)
    np.testing.assert_allclose(points.gaps, [-0.01], atol=1e-12)


def test_nothing_is_beside_the_borders_of_a_height_field():
    assert len(contact_points(FLAT, BALL, None, at(0.51, 0.0, -0.01)).gaps) == 0
    assert len(contact_points(FLAT, BALL, None, at(0.51, 0.0, 0.01)).gaps) == 1


def test_a_ball_rolls_in_a_bowl_with_the_period_of_a_pendulum():
    R, r, n = 0.5, 0.05, 81
    x, y = np.meshgrid(*2 * [np.linspace(-0.2, 0.2, n)], indexing="ij")
    bowl = HeightField(-1, R - np.sqrt(R * R - x * x - y * y), [0.4, 0.4])
    ball = tf.Joint("ball", "freeflyer", inertia=tf.Inertia(1.0, tensor=0.4 * r * r * np.eye(3)))
    for ground in (bowl, Mesh(-1, bowl.surface.corners, faces=bowl.surface.triangles, convex=False)):
        stepper = Stepper(tf.Model([ball]), [Contact(BALL, ground, mu=0.8)], h=H, friction="box")
        angle = 0.1
        q = [(R - r) * np.sin(angle), 0.0, R - (R - r) * np.cos(angle), 0, 0, 0, 1.0]
        run = pickle.loads(pickle.dumps(stepper)).run(q, np.zeros(6), 1300, keep_steps=False)
        x = run.q[:, 0]
        k = np.flatnonzero(x[:-1] * x[1:] < 0)
        crossings = H * (k + x[k] / (x[k] - x[k + 1]))
        period = 2.0 * np.pi * np.sqrt(7.0 * (R - r) / (5.0 * G))
        assert 2.0 * np.diff(crossings) == pytest.approx(period, rel=0.01)
        assert np.abs(run.q[:, 1]).max() < 1e-3


def test_bounds_and_pickles_of_surfaces():
    slide = tf.Model([tf.Joint("slide", "prismatic", axis=[0, 0, 1], inertia=tf.Inertia(1.0))])
    (low, high), cube = bounding_boxes(slide, [HILLS, CUBE], [0.0])
    np.testing.assert_array_equal(
        [low, high], [[-0.5, -0.5, HILLS.heights.min()], [0.5, 0.5, HILLS.heights.max()]]
    )
    np.testing.assert_array_equal(cube, [[-0.5] * 3, [0.5] * 3])
    again = pickle.loads(pickle.dumps(HILLS))
    np.testing.assert_array_equal(again.surface.bounds, HILLS.surface.bounds)
    assert not again.surface.corners.flags.writeable


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Mesh(-1, CORNERS, convex=False), InvalidModelError, "a mesh has faces with convex=False"),
        (lambda: Mesh(-1, CORNERS, faces=FACES), InvalidModelError, "a mesh has faces with convex=False"),
        (lambda: Mesh(-1, CORNERS, faces=[[0, 1, 8]], convex=False), InvalidModelError, "of the 8 vertices"),
        (lambda: Mesh(-1, CORNERS, faces=[[0, 1, 1]], convex=False), InvalidModelError, "have no area"),
        (lambda: Mesh(-1, CORNERS, faces=[0, 1, 2], convex=False), ShapeError, r"shape \(faces, 3\)"),
        (lambda: surface([[0, 1, 2, 3]]), ShapeError, r"got \(1, 4\): divide others into triangles"),
        (lambda: surface([[0, 1, 2], [1, 2]]), InvalidModelError, "divide others into triangles"),
        (lambda: surface([[0, 1, -1]]), InvalidModelError, "of the 8 vertices, from 0"),
        (lambda: surface([[0.0, 1.0, 2.0]]), InvalidModelError, "of the 8 vertices, from 0"),
        (lambda: surface(np.zeros((0, 3), int)), InvalidModelError, "got no faces"),
        (lambda: surface([[0, 1, 3], [0, 3, 1]]), InvalidModelError, "face opposite ways.* of one side"),
        (
            lambda: HeightField(-1, np.zeros((1, 5)), [1, 1]),
            InvalidModelError,
            "at least two points each way",
        ),
        (
            lambda: HeightField(-1, np.zeros((2, 5)), [1, 0]),
            InvalidModelError,
            "sides of a height field must",
        ),
        (
            lambda: Contact(CUBE, FLAT),
            InvalidModelError,
            "both sides of a contact|surfaces touch solid shapes",
        ),
        (lambda: contact_points(Plane(), FLAT), InvalidModelError, "surfaces touch solid shapes"),
    ],
)
def test_impossible_surfaces_and_pairs_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


SOLIDS = {
    "box": Box(0, [0.2, 0.2, 0.2]),
    "cylinder": Cylinder(0, 0.1, 0.2),
    "cone": Cone(0, 0.1, 0.2),
    "ellipsoid": Ellipsoid(0, [0.1, 0.2, 0.1]),
    "mesh": Mesh(0, [[0, 0, 0.1], [0.1, 0, -0.1], [-0.1, 0.1, -0.1], [-0.1, -0.1, -0.1]]),
}


@pytest.mark.parametrize("kind", SOLIDS)
def test_solids_on_a_flat_surface_touch_by_coal_as_on_a_plane(kind):
    pytest.importorskip("coal")
    shape, rng = SOLIDS[kind], np.random.default_rng(6)
    for _ in range(20):
        placed = at(*rng.uniform(-0.2, 0.2, 2), 0.0, rng.uniform(-3, 3, 3))
        placed[2, 3] = contact_points(Plane(), shape, None, placed, 1.0).gaps.min() * -1.0 - 2e-3
        exact = contact_points(Plane(), shape, None, placed)
        points = contact_points(FLAT, shape, None, placed)
        assert points.gaps.min() == pytest.approx(exact.gaps.min(), abs=1e-5)
        np.testing.assert_allclose(points.normals, np.tile([0, 0, 1], (len(points.gaps), 1)), atol=5e-3)
        deepest = exact.points[exact.gaps < exact.gaps.min() + 1e-6]
        deepest_here = points.points[points.gaps.argmin()]
        assert np.linalg.norm(deepest - deepest_here, axis=1).min() < 2e-2
        exchanged = contact_points(shape, FLAT, placed)
        assert exchanged.gaps.min() == pytest.approx(exact.gaps.min(), abs=1e-5)
        np.testing.assert_allclose(exchanged.normals[0], [0, 0, -1], atol=5e-3)


@pytest.mark.parametrize("kind", ["box", "cone", "mesh"])
def test_solids_stand_on_a_slope_of_triangles(kind):
    pytest.importorskip("coal")
    slope = HeightField(-1, np.tile(0.1 * np.linspace(-1, 1, 11)[:, None], 11), [1.0, 1.0])
    body = tf.Joint("body", "freeflyer", inertia=tf.Inertia(1.0, tensor=0.005 * np.eye(3)))
    stepper = Stepper(
        *(tf.Model([body]), [Contact(SOLIDS[kind], slope, mu=0.8)]), h=H, friction="box", correction="split"
    )
    turn = Rotation.from_euler("y", -np.arctan(0.2)).as_quat()
    q = [0.0, 0.0, 0.1 * np.sqrt(1.04), *turn]
    run = stepper.run(q, np.zeros(6), 100, keep_steps=False)
    assert stepper.slow_pairs == 1
    np.testing.assert_allclose(run.q[-1], q, atol=2e-3)
    assert np.abs(run.v[-1]).max() < 1e-3


def test_the_upper_end_of_a_tilted_capsule_makes_no_point():
    placed = at(0.02, 0.03, 0.08, [0, np.pi / 2 - 0.1, 0])
    points = contact_points(FLAT, Capsule(0, 0.05, 0.3), None, placed, 0.1)
    np.testing.assert_allclose(points.gaps, [0.08 - 0.05 - 0.15 * np.sin(0.1)], atol=1e-12)
