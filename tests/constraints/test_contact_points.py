"""Points at which shapes touch: against coal, by support functions, moved, exchanged, and little moved."""

import pickle

import numpy as np
import pytest
from oracles.support import surfaces
from scipy.spatial.transform import Rotation

from treefactor.constraints import (
    Box,
    Capsule,
    Cylinder,
    Mesh,
    Plane,
    Sphere,
    contact_points,
)
from treefactor.exceptions import InvalidModelError, NonFiniteError, ShapeError

coal = pytest.importorskip("coal")

KINDS = ("plane", "sphere", "capsule", "cylinder", "box", "mesh")
# coal goes wrong where its tolerance is smaller than this for curved shapes, and larger for the others
TOLERANCES = {True: 1e-6, False: 1e-10}
EACH = 8  # shapes of every kind
GROUND = np.eye(3, 4)
FOOT = np.stack(np.meshgrid(*(np.linspace(-0.1, 0.1, 5),) * 3), axis=-1).reshape(-1, 3)


def in_coal(shape):
    """Return the same shape for coal, about its own origin."""
    if isinstance(shape, Plane):
        return coal.Halfspace(shape.normal, 0.0)
    if isinstance(shape, Sphere):
        return coal.Sphere(shape.radius)
    if isinstance(shape, Box):
        return coal.Box(*shape.size)
    if isinstance(shape, Mesh):
        corners = coal.StdVec_Vec3s()
        corners.extend(list(shape.vertices))
        return coal.Convex.convexHull(corners, True, "Qt")
    return getattr(coal, type(shape).__name__)(shape.radius, shape.length)


def shapes_of(kind, rng):
    """Return shapes of random sizes, and the same ones of coal."""
    made = []
    for x, y, z in rng.uniform(0.05, 0.3, (1 if kind == "plane" else EACH, 3)):
        points = rng.normal(size=(rng.integers(6, 40), 3)) * (x, y, z)
        made.append(
            {
                "plane": lambda: Plane(),
                "sphere": lambda x=x: Sphere(0, radius=x),
                "capsule": lambda x=x, y=y: Capsule(0, x, 2 * y),
                "cylinder": lambda x=x, y=y: Cylinder(0, x, 2 * y),
                "box": lambda x=x, y=y, z=z: Box(0, [2 * x, 2 * y, 2 * z]),
                "mesh": lambda points=points: Mesh(0, points),
            }[kind]()
        )
    return [(shape, in_coal(shape)) for shape in made]


def placements(rng, count, reach):
    """Return random placements (count, 2, 3, 4) of two bodies, of which most overlap."""
    R = Rotation.random(2 * count, random_state=rng).as_matrix().reshape(count, 2, 3, 3)
    p = 0.05 * rng.normal(size=(count, 2, 3))
    p[:, 1] += rng.normal(size=(count, 3)) * rng.uniform(0.05, reach, (count, 1))
    return np.concatenate([R, p[..., None]], axis=-1)


def coals_distance(first, second, placed, is_curved):
    """Return the signed distance."""
    request, poses = coal.DistanceRequest(), [coal.Transform3s(x[:, :3], x[:, 3]) for x in placed]
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = TOLERANCES[is_curved]
    return coal.distance(first, poses[0], second, poses[1], request, coal.DistanceResult())


def by_identity(points, sign=1.0):
    """Return normals and gaps, sorted by the gap."""
    order = np.argsort(points.gaps)
    return np.column_stack([sign * points.normals, points.gaps])[order]


PAIRS = [
    (first, second)
    for k, first in enumerate(KINDS)
    for second in KINDS[k:]
    if (first, second) != ("plane", "plane")
]
ROUND = [kinds for kinds in PAIRS if kinds[0] == "cylinder"]


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_random_pairs_touch_where_coal_says(kinds):
    rng = np.random.default_rng(7)
    first, second = (shapes_of(kind, rng) for kind in kinds)
    is_curved, count = "cylinder" in kinds, 3000 if kinds == ("box", "box") else 500
    directions = rng.normal(size=(200, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    overlaps = deeper = 0
    for k, placed in enumerate(placements(rng, count, 0.5 if "plane" in kinds else 0.35)):
        (a, coal_a), (b, coal_b) = first[k % len(first)], second[(3 * k + 1) % len(second)]
        points = contact_points(a, b, *placed)
        distance = coals_distance(coal_a, coal_b, placed, is_curved)
        assert (len(points.gaps) > 0) == (distance <= 0), (k, distance)
        if distance > 0:
            continue
        overlaps += 1
        gap = points.gaps.min()
        deepest, normal = points.points[points.gaps.argmin()], points.normals[points.gaps.argmin()]
        end, begin = surfaces(a, b, *placed, np.vstack([normal, directions]))
        assert begin[0] - end[0] == pytest.approx(gap, abs=1e-3)
        assert normal @ deepest == pytest.approx((begin[0] + end[0]) / 2, abs=1e-3)
        assert (begin - end).max() <= gap + 1e-12
        if is_curved and distance < gap - 3e-6:
            deeper += 1  # coal overestimates
        else:
            assert gap == pytest.approx(distance, abs=3e-6 if is_curved else 1e-9)
    assert overlaps > count / 3
    assert deeper <= (0.25 * count if kinds == ("sphere", "cylinder") else 0)


def test_hulls_of_many_corners_touch_where_coal_says():
    rng, hulls = np.random.default_rng(9), []
    for count in (100, 250, 600):
        points = rng.normal(size=(count, 3))
        points *= rng.uniform(0.05, 0.2, 3) / np.linalg.norm(points, axis=1, keepdims=True)
        shape = Mesh(0, np.clip(points, -0.1, 0.1))  # round, with flat sides
        hulls.append((shape, in_coal(shape)))
    overlaps = 0
    for k, placed in enumerate(placements(rng, 60, 0.3)):
        (a, coal_a), (b, coal_b) = hulls[k % 3], hulls[k // 3 % 3]
        distance = coals_distance(coal_a, coal_b, placed, False)
        points = contact_points(a, b, *placed)
        assert (len(points.gaps) > 0) == (distance <= 0), (k, distance)
        if distance > 0:
            continue
        overlaps += 1
        assert points.gaps.min() == pytest.approx(distance, abs=1e-9)
        for depth in (1e-2, 1e-3, 1e-5):  # moved apart until they hardly touch
            deepest = points.gaps.argmin()
            placed[1, :, 3] -= (points.gaps[deepest] + depth) * points.normals[deepest]
            points, distance = contact_points(a, b, *placed), coals_distance(coal_a, coal_b, placed, False)
            assert (len(points.gaps) > 0) == (distance <= 0), (k, distance)
            if distance > 0:
                break
            assert points.gaps.min() == pytest.approx(distance, abs=1e-9)
    assert overlaps > 20


def test_hulls_far_apart_have_points_within_any_margin():
    rng = np.random.default_rng(3)
    first, second = Mesh(0, rng.normal(size=(60, 3))), Mesh(0, rng.normal(size=(60, 3)))
    for height in 10.0 ** np.arange(1, 10):
        points = contact_points(first, second, None, np.column_stack([np.eye(3), [0, 0, height]]), 2 * height)
        assert (points.gaps < height).all()


def most_separated(first, second, placed, rng):
    """Return the largest separation along any direction, from 1,500 ones and random moves of the 8 best."""
    n = rng.normal(size=(1500, 3))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    end, begin = surfaces(first, second, *placed, n)
    best = np.argsort(end - begin)[:8]
    n, separation, width = n[best], (begin - end)[best], np.full(8, 0.1)
    while width.max() > 1e-8:
        moved = n[:, None] + width[:, None, None] * rng.normal(size=(8, 16, 3))
        moved /= np.linalg.norm(moved, axis=2, keepdims=True)
        end, begin = surfaces(first, second, *placed, moved.reshape(-1, 3))
        reached = (begin - end).reshape(8, 16)
        k = reached.argmax(axis=1)
        is_better = reached.max(axis=1) > separation
        n[is_better], separation[is_better] = moved[is_better, k[is_better]], reached.max(axis=1)[is_better]
        width[~is_better] *= 0.6
    return separation.max()


@pytest.mark.parametrize("count", [12, pytest.param(500, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kinds", ROUND, ids="-".join)
def test_no_direction_separates_cylinders_more(kinds, count):
    rng = np.random.default_rng(11)
    first, second = (shapes_of(kind, rng) for kind in kinds)
    chosen = 0
    for k, placed in enumerate(placements(rng, count, 0.35)):
        a, b = first[k % len(first)][0], second[(3 * k + 1) % len(second)][0]
        points = contact_points(a, b, *placed, margin=1.0)
        gap, normal = points.gaps.min(), points.normals[points.gaps.argmin()]
        end, begin = surfaces(a, b, *placed, normal[None])
        most = most_separated(a, b, placed, rng)
        is_best = begin[0] - end[0] == pytest.approx(gap, abs=1e-9) and most <= gap + 1e-9
        chosen += not is_best  # of two directions that separate alike, that of the flat part
        assert is_best or gap == pytest.approx(most, abs=2e-4)
    assert chosen <= max(1, 0.02 * count)


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_exchanged_and_moved_pairs_touch_alike(kinds):
    rng = np.random.default_rng(8)
    first, second = (shapes_of(kind, rng) for kind in kinds)
    for k, placed in enumerate(placements(rng, 40, 0.5 if "plane" in kinds else 0.35)):
        a, b = first[k % len(first)][0], second[(3 * k + 1) % len(second)][0]
        points = contact_points(a, b, *placed, margin=0.02)
        other = contact_points(b, a, *placed[::-1], margin=0.02)
        np.testing.assert_allclose(by_identity(points), by_identity(other, -1.0), atol=1e-12)
        R, p = Rotation.random(random_state=rng).as_matrix(), rng.normal(size=3)
        moved = R @ placed
        moved[..., 3] += p
        after = contact_points(a, b, *moved, margin=0.02)
        np.testing.assert_array_equal(after.identities, points.identities)
        np.testing.assert_allclose(after.points, points.points @ R.T + p, atol=1e-10)
        np.testing.assert_allclose(after.normals, points.normals @ R.T, atol=1e-10)
        np.testing.assert_allclose(after.gaps, points.gaps, atol=1e-10)


CUBE = Box(0, [0.2, 0.2, 0.2])
RESTING = {  # two shapes, the height and turn of the second, and how many points they have
    "cube on a wide box": (Box(1, [1.0, 0.8, 0.2]), CUBE, 0.2, [0, 0, 0.3], 4),
    "cubes of one size": (Box(1, [0.2, 0.2, 0.2]), CUBE, 0.2, [0, 0, 0], 4),
    "cubes of one size, turned": (Box(1, [0.2, 0.2, 0.2]), CUBE, 0.2, [0, 0, np.pi / 4], 8),
    "cube on a plane": (Plane(), CUBE, 0.1, [0, 0, 0.3], 4),
    "mesh of many points on a plane": (Plane(), Mesh(0, FOOT), 0.1, [0, 0, 0.3], 4),
    "mesh on a cube": (Box(1, [0.3, 0.3, 0.2]), Mesh(0, FOOT), 0.2, [0, 0, 0.3], 4),
    "upright cylinder on a plane": (Plane(), Cylinder(0, 0.1, 0.4), 0.2, [0, 0, 0.3], 5),
    "lying cylinder on a plane": (Plane(), Cylinder(0, 0.1, 0.4), 0.1, [np.pi / 2, 0, 0], 2),
    "capsule lying on a plane": (Plane(), Capsule(0, 0.1, 0.4), 0.1, [np.pi / 2, 0, 0], 2),
    "capsule lying across a box": (Box(1, [1.0, 0.2, 0.2]), Capsule(0, 0.1, 0.4), 0.2, [np.pi / 2, 0, 0], 2),
    "capsule lying on a cylinder": (Cylinder(1, 0.5, 0.2), Capsule(0, 0.1, 0.4), 0.2, [np.pi / 2, 0, 0], 2),
    "upright cylinder on a box": (Box(1, [1.0, 0.8, 0.2]), Cylinder(0, 0.1, 0.4), 0.3, [0, 0, 0.3], 5),
    "upright cylinder on a small box": (Box(1, [0.1, 0.1, 0.2]), Cylinder(0, 0.1, 0.4), 0.3, [0, 0, 0.3], 4),
    "upright cylinder on a box of its width": (
        *(Box(1, [0.2, 0.2, 0.2]), Cylinder(0, 0.1, 0.4), 0.3, [0, 0, 0], 5),
    ),
    "upright cylinder on a mesh": (Mesh(1, FOOT), Cylinder(0, 0.05, 0.4), 0.3, [0, 0, 0.3], 5),
    "upright cylinder on its like": (Cylinder(1, 0.1, 0.2), Cylinder(0, 0.1, 0.4), 0.3, [0, 0, 0.3], 5),
    "upright cylinder on a wide one": (Cylinder(1, 0.3, 0.2), Cylinder(0, 0.1, 0.4), 0.3, [0, 0, 0.3], 5),
    "lying cylinder on a box": (Box(1, [1.0, 0.8, 0.2]), Cylinder(0, 0.1, 0.4), 0.2, [np.pi / 2, 0, 0], 2),
    "lying cylinder on a narrow box": (
        *(Box(1, [0.2, 0.2, 0.2]), Cylinder(0, 0.1, 0.4), 0.2, [np.pi / 2, 0, 0], 2),
    ),
    "lying cylinder on an end": (Cylinder(1, 0.3, 0.2), Cylinder(0, 0.1, 0.4), 0.2, [np.pi / 2, 0, 0], 2),
    "end of a cylinder on a lying one": (
        *(Cylinder(1, 0.1, 0.4, R=[[1, 0, 0], [0, 0, -1], [0, 1, 0]]), Cylinder(0, 0.3, 0.2), 0.2),
        *([0, 0, 0.3], 2),
    ),
    "cube on a cylinder": (Cylinder(1, 0.3, 0.2), CUBE, 0.2, [0, 0, 0.3], 4),
    "sphere on a box": (Box(1, [1.0, 0.2, 0.2]), Sphere(0, radius=0.1), 0.2, [0, 0, 0], 1),
}


@pytest.mark.parametrize("case", RESTING)
def test_small_moves_change_no_identity(case):
    first, second, height, turn, count = RESTING[case]
    rng, R = np.random.default_rng(9), Rotation.from_euler("xyz", turn).as_matrix()
    known = None
    for _ in range(300):
        small = Rotation.from_rotvec(1e-5 * rng.uniform(-1, 1, 3)).as_matrix()
        placed = np.column_stack([small @ R, [0, 0, height] + 1e-6 * rng.uniform(-1, 1, 3)])
        points = contact_points(first, second, GROUND, placed, 1e-3)
        identities = set(points.identities.tolist())
        assert len(points.gaps) == len(identities) == count
        known = known or identities
        assert identities == known
        assert np.abs(points.gaps).max() < 1e-5


def test_every_point_has_its_own_gap():
    tilt = 3e-3
    R = Rotation.from_euler("y", tilt).as_matrix()
    placed = np.column_stack([R, [0, 0, 0.2]])
    for ground in (Box(1, [1.0, 1.0, 0.2]), Plane(1, point=[0, 0, 0.1])):
        points = contact_points(ground, CUBE, GROUND, placed, 1e-2)
        corners = placed @ np.r_[0.1, 0.1, -0.1, 1.0], placed @ np.r_[-0.1, 0.1, -0.1, 1.0]
        heights = sorted(x[2] - 0.1 for x in corners)
        np.testing.assert_allclose(np.sort(points.gaps), np.repeat(heights, 2), atol=1e-15)


def test_points_of_a_lying_capsule_end_where_the_face_does():
    placed = np.column_stack([Rotation.from_euler("x", 90, degrees=True).as_matrix(), [0, 0.05, 0.2]])
    below = Box(1, [1.0, 0.4, 0.2])
    points = contact_points(below, Capsule(0, 0.1, 0.4), GROUND, placed, 1e-3)
    np.testing.assert_allclose(np.sort(points.points[:, 1]), [-0.15, 0.2], atol=1e-15)
    np.testing.assert_allclose(points.points[:, 2], 0.1)


def test_a_plane_faces_along_its_normal():
    normal, point = np.array([0.48, 0.6, 0.64]), np.array([0.3, -0.2, 0.1])
    R = Rotation.from_euler("xyz", [0.1, 0.2, 0.3]).as_matrix()
    turned = np.column_stack([R, [0.0, 0.5, 0.1]])
    points = contact_points(Plane(1, normal, point), CUBE, turned, GROUND, 1.0)
    corners = 0.1 * np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)])
    gaps = (corners - turned @ [*point, 1.0]) @ R @ normal
    np.testing.assert_allclose(points.normals, np.tile(R @ normal, (8, 1)), atol=1e-15)
    np.testing.assert_allclose(points.gaps, gaps, atol=1e-15)


def test_points_of_an_overhanging_cube_end_at_both_edges():
    placed = np.column_stack([np.eye(3), [0.06, 0.0, 0.2]])
    points = contact_points(CUBE, Box(1, [0.2, 0.2, 0.2]), GROUND, placed, 1e-3)
    assert sorted(points.points.round(12).tolist()) == [
        [x, y, 0.1] for x in (-0.04, 0.1) for y in (-0.1, 0.1)
    ]
    np.testing.assert_array_equal(points.normals, np.tile([0, 0, 1], (4, 1)))


def test_an_identity_stands_for_the_same_features_wherever_the_shapes_are():
    below, rng = Box(1, [0.2, 0.3, 0.2]), np.random.default_rng(10)
    R = Rotation.from_euler("z", 0.3).as_matrix()
    features: dict[int, tuple] = {}
    for x, y in rng.uniform(-0.15, 0.15, (200, 2)):
        points = contact_points(below, CUBE, GROUND, np.column_stack([R, [x, y, 0.2]]), 1e-3)
        for place, identity in zip(points.points, points.identities.tolist(), strict=True):
            own = R.T @ (place - [x, y, 0.2])
            distances = np.r_[
                place[:2] - [0.1, 0.15], -place[:2] - [0.1, 0.15], own[:2] - 0.1, -own[:2] - 0.1
            ]
            at = np.flatnonzero(np.abs(distances) < 1e-9)  # sides of both shapes
            if len(at) == 2 and np.sort(np.abs(distances))[2] > 1e-3:
                assert features.setdefault(identity, tuple(at)) == tuple(at)
    assert len(features) == len(set(features.values())) > 16


def test_of_many_corners_those_that_span_a_face_and_the_lowest_touch_a_plane():
    angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    ring = 0.1 * np.column_stack([np.cos(angles), np.sin(angles)])
    prism = Mesh(0, [[*x, z] for x in ring for z in (-0.1, 0.1)])
    assert len(prism.hull.normals) == 26
    ids = []
    for tilt in ([1e-3, 0, 0], [0, -1e-3, 0]):
        R = Rotation.from_rotvec(tilt).as_matrix()
        points = contact_points(Plane(), prism, GROUND, np.column_stack([R, [0, 0, 0.1]]), 1e-2)
        assert points.gaps.min() == pytest.approx((prism.vertices @ R.T)[:, 2].min() + 0.1, abs=1e-15)
        assert np.ptp(points.points[:, :2], axis=0) == pytest.approx([0.2, 0.2], abs=0.01)
        ids.append(set(points.identities.tolist()))
    assert len(ids[0] & ids[1]) >= 4
    flat = contact_points(Plane(), prism, GROUND, np.column_stack([GROUND[:, :3], [0, 0, 0.1]]), 1e-2)
    assert prism.hull.corners[:, 2].argmin() in flat.identities  # the first of equals


@pytest.mark.parametrize("count", [5, 30, 200, 700])
def test_the_lowest_corners_touch_a_plane_whatever_its_direction(count):
    rng = np.random.default_rng(count)
    hull = Mesh(0, rng.normal(size=(count, 3)) * rng.uniform(0.01, 1.0, 3)).hull
    shape, grid = Mesh(0, hull.corners), np.linspace(-1.0, 1.0, 17)
    edges = np.array(np.meshgrid(grid, grid, [-1.0, 1.0])).reshape(3, -1).T  # of cells of a cube
    directions = np.vstack([np.roll(edges, rng.integers(3), axis=1), rng.normal(size=(300, 3))])
    for n in directions / np.linalg.norm(directions, axis=1, keepdims=True):
        heights = shape.hull.corners @ n
        least, many = heights.min(), np.sort(heights)[min(12, len(heights) - 1)]
        deepest = contact_points(Plane(normal=n, point=least * n), shape, margin=many - least)
        assert deepest.gaps.min() == pytest.approx(0.0, abs=1e-12)
        assert deepest.identities[deepest.gaps.argmin()] == heights.argmin()
        bound = 0.5 * np.sort(heights)[min(6, len(heights) - 1) :][:2].sum()
        points = contact_points(Plane(normal=n, point=bound * n), shape)
        assert points.identities.tolist() == np.flatnonzero(heights <= bound).tolist()


@pytest.mark.parametrize("tilt", [-1e-4, 1e-4])
def test_of_parallel_faces_the_larger_one_is_the_reference(tilt):
    square = np.array([[-0.1, -0.1, 0], [0.1, -0.1, 0], [-0.1, 0.1, 0], [0.1, 0.1, 0]])
    small = Mesh(0, np.vstack([square, [0, 0, 0.2]]))  # pyramids
    large = Mesh(0, np.vstack([3 * square, [0, 0, -0.2]]) + np.array([0.25, 0, 0]))
    R = Rotation.from_rotvec([0, tilt, 0]).as_matrix()  # the small one separates more if it is turned back
    for pair, sign in (((large, small), 1), ((small, large), -1)):
        placed = {large: GROUND, small: np.column_stack([R, [0, 0, 1e-3]])}
        points = contact_points(*pair, *(placed[shape] for shape in pair), margin=0.01)
        assert len(points.gaps) == 4
        assert (sign * points.normals == [0, 0, 1]).all()


def test_an_overhanging_end_touches_within_what_is_below():
    above = np.column_stack([np.eye(3), [0.06, 0, 0.2]])
    for below, crossing in ((Cylinder(1, 0.1, 0.2), 0.03), (Box(1, [0.2, 0.4, 0.2]), 0.1)):
        points = contact_points(below, Cylinder(0, 0.1, 0.2), GROUND, above, 1e-3).points
        half = np.sqrt(0.01 - (crossing - 0.06) ** 2)
        for y in (-half, half):
            assert np.abs(points - [crossing, y, 0.1]).max(axis=1).min() < 1e-12
        assert (np.hypot(points[:, 0] - 0.06, points[:, 1]) < 0.1 + 1e-9).all()
        if isinstance(below, Cylinder):
            assert (np.hypot(*points[:, :2].T) < 0.1 + 1e-9).all()
        else:
            assert points[:, 0].max() < 0.1 + 1e-9
        assert len(points) in (4, 5, 6)


def test_crossing_edges_touch_in_one_point():
    up = Rotation.from_euler("x", np.pi / 4).as_matrix()
    across = Rotation.from_euler("z", np.pi / 2).as_matrix() @ up
    placed = np.column_stack([up, [0, 0, 0]]), np.column_stack([across, [0, 0, 0.2 * np.sqrt(2) - 0.01]])
    points = contact_points(CUBE, Box(1, [0.2, 0.2, 0.2]), *placed)
    np.testing.assert_allclose(points.points, [[0, 0, 0.1 * np.sqrt(2) - 0.005]], atol=1e-15)
    np.testing.assert_allclose(points.normals, [[0, 0, 1]], atol=1e-15)


def test_a_hull_has_flat_faces_and_keeps_through_pickling():
    foot = pickle.loads(pickle.dumps(Mesh(0, FOOT)))
    assert foot.vertices.shape == (8, 3)
    assert foot.hull.normals.shape == (6, 3)
    assert not foot.hull.corners.flags.writeable
    np.testing.assert_allclose(foot.hull.areas, 0.04)


@pytest.mark.parametrize("count", [200, 256, 600, 1001])
def test_a_finely_divided_cylinder_loses_the_corners_that_stick_out_least(count):
    angle = 2.0 * np.pi * np.arange(count) / count
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    points = np.concatenate([np.column_stack([ring, np.full(count, z)]) for z in (0.0, 0.5)])
    hull = Mesh(0, points).hull
    assert np.diff(hull.start).max() == min(count, 200)
    beyond = (points @ hull.normals.T - hull.offsets).max()
    assert beyond < 1.0 - np.cos(2.0 * np.pi / 100)
    assert (len(hull.corners) == len(points)) == (beyond < 1e-9) == (count == 200)


def test_of_uneven_corners_the_closest_ones_are_lost():
    turn = 2.0 * np.pi * np.arange(250) / 250
    angle = turn + 0.9 * np.sin(turn)  # ten times as close on one side
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    points = np.concatenate([np.column_stack([ring, np.full(250, z)]) for z in (0.0, 0.5)])
    hull = Mesh(0, points).hull
    assert 0.0 < (points @ hull.normals.T - hull.offsets).max() < 2e-4


def test_a_hull_with_too_many_edges_keeps_its_outermost_corners():
    rng, half = np.random.default_rng(0), np.array([0.1, 0.2, 2.0])
    points, directions = rng.normal(size=(6000, 3)), rng.normal(size=(100, 3)) / half
    points *= half / np.linalg.norm(points, axis=1)[:, None]
    hull = Mesh(0, points).hull
    assert 4000 < len(hull.corners) <= 5000
    assert len(hull.edges) <= 1 << 14
    lost = (points @ directions.T).max(axis=0) - (hull.corners @ directions.T).max(axis=0)
    assert 0.0 < (lost / np.linalg.norm(directions * half, axis=1)).max() < 1e-3  # of the half axes


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Box(0, [0.1, 0.0, 0.1]), r"sides of a box must be positive, got \[0.1, 0.0, 0.1\]"),
        (lambda: Capsule(0, 0.1, 0.0), "radius and length of a capsule must be positive"),
        (lambda: Cylinder(0, -0.1, 1.0), "radius and length of a cylinder must be positive"),
        (lambda: Mesh(0, FOOT[:3]), "3 points in one plane enclose no volume"),
        (lambda: Mesh(0, FOOT[FOOT[:, 2] == 0.1]), "25 points in one plane"),
        (lambda: Mesh(0, np.zeros((0, 3))), "0 points in one plane"),
        (lambda: Mesh(0, np.ones((9, 3))), "9 points in one plane"),
        (lambda: Mesh(0, np.arange(5.0)[:, None] * [1, 2, 3]), "5 points in one plane"),
        (
            lambda: Mesh(0, FOOT * [1, 1, 1e-11]),
            "in one plane enclose no volume.* give a flat part a thickness",
        ),
        (lambda: Mesh(0, FOOT + 1e15), "have no convex hull|in one plane"),
        (lambda: Mesh(0, [[0, 0, np.nan]]), r"vertices is not finite: vertices\[0, 2\]"),
        (lambda: Mesh(0, [[0, 0, np.inf]]), r"vertices is not finite: vertices\[0, 2\]"),
        (lambda: Capsule(0, np.nan, 1.0), "radius is not finite"),
        (lambda: Cylinder(0, 0.1, np.inf), "length is not finite"),
        (lambda: Box(0, [1, np.nan, 1]), r"size is not finite: size\[1\]"),
        (lambda: Box(0, [1, 1, 1], p=[0, 0, np.inf]), r"p is not finite: p\[2\]"),
        (lambda: Box(0, [1, 1, 1], R=np.diag([1, 1, -1])), "R is not a rotation matrix"),
        (lambda: Box(None, [1, 1, 1]), "body must be the number of a joint, its or its body's name"),
        (lambda: Box(0, [1, 1, 1], R=np.ones((3, 3))), "R is not a rotation matrix"),
        (lambda: contact_points(Plane(), Plane()), "two planes cannot touch"),
        (lambda: contact_points(CUBE, 3), "second must be one of Plane, Sphere"),
    ],
)
def test_impossible_shapes_and_pairs_are_refused(make, message):
    with pytest.raises((InvalidModelError, NonFiniteError), match=message):
        make()


def test_arrays_of_wrong_shapes_are_refused():
    with pytest.raises(ShapeError, match=r"vertices must have shape \(points, 3\)"):
        Mesh(0, np.ones(3))
    with pytest.raises(ShapeError, match=r"second_placement must have shape \(3, 4\)"):
        contact_points(CUBE, CUBE, None, np.eye(4))
