"""Placements of shapes and the boxes around them, against support functions."""

import numpy as np
import pytest
from oracles.support import support
from scipy.spatial.transform import Rotation

import treefactor as tf
from treefactor.constraints import (
    Box,
    Capsule,
    Cylinder,
    Geometry,
    Mesh,
    Plane,
    Sphere,
    bounding_boxes,
    shape_placements,
)
from treefactor.exceptions import InvalidModelError

TURNED = {"R": Rotation.from_rotvec([0.3, -1.2, 0.7]).as_matrix(), "p": [0.1, 0.2, -0.3]}
CORNERS = [[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0.1, 0, -0.4]]
SHAPES = [
    Sphere(0, TURNED["p"], 0.2),
    Capsule(1, 0.1, 0.5, **TURNED),
    Cylinder(1, 0.1, 0.5, **TURNED),
    Box("arm", [0.1, 0.2, 0.7], **TURNED),
    Mesh(tf.Frame("hand", 1, TURNED["R"].T, [0.0, 0.0, 1.0]), CORNERS, **TURNED),
]


@pytest.fixture(scope="module")
def model():
    inertia = tf.Inertia(1.0, tensor=np.eye(3))
    trunk = tf.Joint("trunk", "freeflyer", inertia=inertia)
    return tf.Model([trunk, tf.Joint("arm", "revolute", 0, axis=[0, 1, 0], p=[0.5, 0, 0], inertia=inertia)])


def test_boxes_touch_their_shapes_on_all_sides(model):
    q = tf.random_configuration(model, np.random.default_rng(0), size=3)
    placed, bounds = shape_placements(model, SHAPES, q), bounding_boxes(model, SHAPES, q)
    assert (placed.shape, bounds.shape) == ((3, 5, 3, 4), (3, 5, 2, 3))
    for at in range(3):
        for shape, placement, (low, high) in zip(SHAPES, placed[at], bounds[at], strict=True):
            for sign, side in ((-1.0, low), (1.0, high)):
                reach = support(shape, sign * placement[:, :3]) + sign * placement[:, 3]
                np.testing.assert_allclose(sign * side, reach, atol=1e-12)
    np.testing.assert_array_equal(bounding_boxes(model, SHAPES, q[1]), bounds[1])


def test_shapes_move_with_their_bodies_and_frames(model):
    q = tf.neutral(model)
    q[:3], q[7] = [1.0, 2.0, 3.0], np.pi / 2
    ball, box = shape_placements(model, [SHAPES[0], Box("arm", [1, 1, 1], p=[0, 0, 0.2])], q)
    np.testing.assert_allclose(ball[:, 3], [1.1, 2.2, 2.7], atol=1e-15)
    np.testing.assert_allclose(box, [[0, 0, 1, 1.7], [0, 1, 0, 2], [-1, 0, 0, 3]], atol=1e-15)
    hand = shape_placements(model, SHAPES[-1:], tf.neutral(model))[0]
    np.testing.assert_allclose(hand[:, :3], np.eye(3), atol=1e-15)
    np.testing.assert_allclose(hand[:, 3], [0.5, 0, 1.0] + TURNED["R"].T @ TURNED["p"], atol=1e-15)


def test_planes_are_infinite_and_placed_by_their_normals(model):
    plane = Plane(-1, [0, 3, 4], [0, 0, 1])
    q = tf.neutral(model)
    np.testing.assert_allclose(shape_placements(model, [plane], q)[0, :, 2:], [[0, 0], [0.6, 0], [0.8, 1]])
    assert bounding_boxes(model, [plane], q).tolist() == [[[-np.inf] * 3, [np.inf] * 3]]


def test_wrong_shapes_are_named(model):
    with pytest.raises(InvalidModelError, match=r"shapes\[1\] is not a shape, but 3"):
        bounding_boxes(model, [SHAPES[0], 3], tf.neutral(model))
    for shapes, name in (
        ([Sphere("leg")], r"shapes\[0\]"),
        (Geometry([Sphere("leg")], ["foot"]), "shape 'foot'"),
    ):
        with pytest.raises(InvalidModelError, match=f"{name}: body 'leg' is not a frame, joint or body"):
            shape_placements(model, shapes, tf.neutral(model))
    with pytest.raises(InvalidModelError, match=r"shapes\[1\]: .* got body 99"):
        bounding_boxes(model, [Sphere(0), Sphere(99)], tf.neutral(model))
