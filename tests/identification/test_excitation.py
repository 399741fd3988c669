"""Names of the directions that data do not excite."""

import numpy as np
import pytest

import treefactor as tf
from treefactor.identification import directions_not_excited, regressor, unexcited
from treefactor.identification._combinations import singular_values

LIFT = tf.Model([tf.Joint("lift", "prismatic", axis=[0, 0, 1])])


def triangle(model, q, v, a, columns):
    """Return the triangle of the regressor of all samples, and the names of its columns."""
    base = tf.base_parameters(model, "armature" in columns)
    count = len(base.columns)
    Y = regressor(model, q, v, a, columns=columns).reshape(-1, count + model.nv * (len(columns) - 1))
    names = (*base.names, *tf.identification.column_names(model, columns)[count:])
    return np.linalg.qr(np.hstack([Y[:, base.kept], Y[:, count:]]), mode="r"), names


def test_weight_and_offset_of_a_slow_lift():
    """A vertical prismatic joint at constant speed shows only the sum of weight and offset."""
    rng = np.random.default_rng(0)
    q = rng.normal(size=(50, 1))
    R, names = triangle(LIFT, q, np.ones_like(q), np.zeros_like(q), ("inertia", "offset"))
    assert directions_not_excited(R, names) == ("offset of lift - 0.101937 m of lift",)
    R, names = triangle(LIFT, q, np.ones_like(q), rng.normal(size=q.shape), ("inertia", "offset"))
    assert directions_not_excited(R, names) == ()


def test_friction_at_one_speed():
    """Dry friction, viscous friction and offset are one column at constant speed."""
    Y = np.tile([3.0, 1.0, 1.0, 0.0], (10, 1))
    names = ["viscous", "dry", "offset", "armature"]
    missing = directions_not_excited(Y, names)
    assert missing == ("dry - 0.333333 viscous", "offset - 0.333333 viscous", "armature")
    rows = unexcited(Y)
    np.testing.assert_allclose(Y @ rows.T, 0.0, atol=1e-14)
    assert rows.shape == (3, 4)


def test_one_moving_joint_of_an_arm():
    """With the shoulder alone in motion, only the gravity torques of the others are felt."""
    model = tf.Model.from_urdf(tf.robots.find("ur5_robot").path)
    base = tf.base_parameters(model, armature=False)
    rng = np.random.default_rng(1)
    q = rng.uniform(-3, 3, (400, 6))
    moving = rng.normal(size=(2, 400, 6))
    everything, names = triangle(model, q, *moving, ("inertia",))
    assert directions_not_excited(everything, names) == ()
    rest, names = triangle(model, q, 0 * q, 0 * q, ("inertia",))
    missing = directions_not_excited(rest, names)
    tensors = [name for name in names if not name.startswith(("m of", "h_"))]
    assert len(missing) == len(tensors)
    assert set(missing) == {f"({name})" if " + " in name or " - " in name else name for name in tensors}
    assert base.count == len(names)


def test_scales_of_columns_do_not_matter():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(30, 4)) @ np.diag([1e-6, 1.0, 1e6, 1.0])
    A = np.hstack([A, A[:, :1] * 1e9 + A[:, 1:2]])
    assert len(unexcited(A)) == 1
    np.testing.assert_allclose(A @ unexcited(A)[0] / np.abs(A).max(), 0.0, atol=1e-12)


def test_fewer_rows_than_columns():
    assert unexcited([[1.0, 2.0, 0.0]]).tolist() == [[-2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert unexcited(np.zeros((0, 2))).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_arguments():
    with pytest.raises(tf.ShapeError, match="a column for each of 3 names, got 2"):
        directions_not_excited(np.eye(2), ["a", "b", "c"])
    with pytest.raises(tf.ShapeError, match=r"shape \(m, k\)"):
        unexcited(np.ones(3))
    with pytest.raises(tf.NonFiniteError):
        unexcited([[np.nan, 1.0]])
    with pytest.raises(ValueError, match="threshold"):
        unexcited(np.eye(2), -1.0)


def test_singular_values_where_the_fast_method_fails(monkeypatch):
    """LAPACK's gesdd does not converge for some triangles: the slower gesvd takes its place."""
    rows = np.random.default_rng(0).normal(size=(6, 4))
    expected = np.linalg.svd(rows, full_matrices=False)

    def fail(*_, **__):
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(np.linalg, "svd", fail)
    sizes, axes = singular_values(rows)
    np.testing.assert_allclose(sizes, expected[1], rtol=1e-13)
    np.testing.assert_allclose(np.abs(axes), np.abs(expected[2]), rtol=1e-10)
