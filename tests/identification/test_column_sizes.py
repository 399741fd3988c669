"""Columns that are rounding beside their terms are not excited: gantries, tilted robots, joints at rest."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.model_cases import random_inertia, random_model
from helpers.parameter_cases import GRAVITIES, special_model
from oracles import numeric_rank

import treefactor as tf
from treefactor.identification import PayloadIdentification, identify_payload, payload, unexcited
from treefactor.model.joints import SIZES

ALONG = {"prismatic": 1, "planar": 2, "translation": 3, "freeflyer": 3}  # first freedoms, along lines
UNITS = [0, 1, 1, 1, 2, 2, 2, 2, 2, 2]  # powers of a length in the parameters of a body
FAINT, FELT = 1e-11, 1e-7  # no singular value in consistent units lies between: the rank is certain
LOAD = tf.Inertia(1.5, [0.2, 0.3, 0.4], np.diag([0.02, 0.03, 0.025]))
NEVER = ("h_z", "I_xx", "I_xy", "I_yy", "I_xz", "I_yz")  # of a joint that turns about z only


def rotation(rng):
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return Q * np.linalg.det(Q)


def loaded(model, number, load):
    parameters = model.parameters.copy()
    parameters[number] += load.parameters
    return model.with_parameters(parameters)


def along_lines(model):
    """Return which freedoms move along lines."""
    return np.concatenate(
        [np.arange(joint.nv) < ALONG.get(joint.kind, 0) for joint in model.joints if not joint.mimic]
    )


def gantry_or_tree(seed, count=25):
    """Return a tilted robot of any size on a gantry or without, its size, and samples that may show little.

    Motions are of all joints, of some, of none, or some joints do not move at all.
    """
    rng = np.random.default_rng(seed)
    stages = rng.choice(["prismatic", "translation", "planar"], rng.integers(0, 3)).tolist()
    kinds = [*stages, *rng.choice(list(SIZES), rng.integers(1, 5)).tolist()]
    model = special_model(kinds, seed, GRAVITIES[rng.integers(4)])
    size, tilt = 10.0 ** rng.integers(-3, 3), rotation(rng)
    joints = [
        replace(
            joint,
            R=tilt @ joint.R if joint.parent < 0 else joint.R,
            p=size * joint.p,
            pitch=size * joint.pitch,
            inertia=scaled(random_inertia(rng), size),
        )
        for joint in model.joints
    ]
    model = tf.Model(joints, tilt @ model.gravity)
    reach = np.full(model.nq, 2 * size)
    q = tf.random_configuration(model, rng, -reach, reach, size=(count,))
    v, a = rng.normal(size=(2, count, model.nv))
    mode = rng.integers(4)
    for joint, at, first in zip(model.joints, model.idx_q, model.idx_v, strict=True):
        if mode == 1 or (mode > 1 and rng.random() < 0.5):
            v[:, first : first + joint.nv] = a[:, first : first + joint.nv] = 0.0
            if mode == 3:
                q[:, at : at + joint.nq] = q[0, at : at + joint.nq]
    return model, size, (q, v, a)


def scaled(body, size):
    """Return a body of another size."""
    return tf.Inertia(body.mass, body.com * size, body.tensor * size**2)


def shown(model, size, motion, columns, units):
    """Return the rank of columns of the regressor, and which parameters they determine; None if in doubt.

    Lengths are in units of the size, so that forces, moments and all parameters count alike.
    """
    Y = np.array([numeric_rank.regressor(model, *state) for state in zip(*motion, strict=True)])[..., columns]
    lengths = np.where(along_lines(model), 1.0, size)
    A = (Y * size ** np.array(units, dtype=float) / lengths[:, None]).reshape(-1, len(units))
    A /= (np.linalg.norm(model.gravity) + size) * np.sqrt(len(A))
    _, values, axes = np.linalg.svd(np.vstack([A, np.zeros((len(units), len(units)))]))
    if ((values > FAINT) & (values < FELT)).any():
        return None
    rank = int((values > FELT).sum())
    return rank, ~(np.abs(axes[rank:]) > 1e-6).any(axis=0)


def check_payload(seed):
    """Compare the payload of the last joint, from torques without noise, with what the samples show."""
    model, size, motion = gantry_or_tree(seed)
    number = model.njoints - 1
    expected = shown(model, size, motion, slice(10 * number, 10 * number + 10), UNITS)
    if expected is None:
        return
    load = scaled(random_inertia(np.random.default_rng(seed)), size)
    identified = identify_payload(model, number, *motion, tf.rnea(loaded(model, number, load), *motion))
    names = np.array([f"{name} of {model.joints[number].name}" for name in payload.PARAMETERS])
    assert identified.rank == expected[0]
    assert identified.not_excited == tuple(names[~expected[1]])
    error = (identified.parameters - load.parameters) / size ** np.array(UNITS, dtype=float)
    assert np.abs(error[expected[1]]).max(initial=0.0) < 1e-6


def check_base_parameters(seed):
    """Compare the estimate of all base parameters, from torques without noise, with what the samples show."""
    model, size, motion = gantry_or_tree(seed)
    base = tf.base_parameters(model)
    rotors = [0 if joint.kind == "prismatic" else 2 for joint in model.joints if joint.nv == 1]
    units = np.array([*UNITS * model.njoints, *rotors], dtype=float)[base.kept]
    expected = shown(model, size, motion, base.kept, units)
    if expected is None:
        return
    fit = tf.Identification(model, columns=("inertia", "armature"))
    fit.add(*motion, tf.rnea(model, *motion))
    estimate = fit.solve()
    assert estimate.rank == expected[0]
    assert np.array_equal(np.isfinite(estimate.values), expected[1])
    truth = base.values(model) / size**units
    error = (estimate.values / size**units - truth)[expected[1]]
    assert np.abs(error).max(initial=0.0) < 1e-6 * np.abs(truth).max()
    other = tf.Identification(model, columns=("inertia", "armature"))
    other.merge(fit)
    assert other.solve().not_excited == estimate.not_excited


@pytest.mark.parametrize("seed", [0, 3, 10, 15, 36])
def test_payloads_on_gantries_and_trees(seed):
    check_payload(seed)


@pytest.mark.parametrize("seed", [0, 15, 16, 24, 32])
def test_base_parameters_of_gantries_and_trees(seed):
    check_base_parameters(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 200))
def test_many_gantries_and_trees(seed):
    check_payload(seed)
    check_base_parameters(seed)


def tilted_wrist(seed, kind):
    """Return a gantry with a wrist in any axes."""
    rng = np.random.default_rng(seed)
    body = tf.Inertia(1.0, [0.1, 0.0, 0.2], np.diag([0.1, 0.1, 0.1]))
    gantry = tf.Joint("gantry", "translation", inertia=tf.Inertia(3.0))
    axis = [0, 0, 1] if kind == "revolute" else None
    return tf.Model([gantry, tf.Joint("wrist", kind, 0, R=rotation(rng), axis=axis, inertia=body)])


@pytest.mark.parametrize("kind", ["revolute", "planar"])
def test_a_tilted_wrist_on_a_gantry_shows_four_parameters(kind):
    for seed in range(20):
        model, rng = tilted_wrist(seed, kind), np.random.default_rng(seed)
        q = tf.random_configuration(model, rng, -np.ones(model.nq), np.ones(model.nq), size=(50,))
        v, a = rng.normal(size=(2, 50, model.nv))
        identified = identify_payload(model, "wrist", q, v, a, tf.rnea(loaded(model, 1, LOAD), q, v, a))
        assert identified.rank == 4
        assert identified.not_excited == tuple(f"{name} of wrist" for name in NEVER)
        own = np.isfinite(identified.parameters)
        np.testing.assert_allclose(identified.parameters[own], LOAD.parameters[own], atol=1e-12)
        assert identified.cond < 10


def test_samples_whose_columns_are_all_rounding_show_nothing():
    """A hinge whose axis is that of gravity, in any axes, at rest: its torque is rounding."""
    for seed in range(20):
        R = rotation(np.random.default_rng(seed))
        hinge = tf.Joint("hinge", "revolute", R=R, axis=[0, 0, 1], inertia=tf.Inertia(1.0, [0.3, 0.2, 0.1]))
        model = tf.Model([hinge], 9.81 * R[:, 2])
        q, still = np.linspace(-3, 3, 30)[:, None], np.zeros((30, 1))
        tau = tf.rnea(model, q, still, still)
        identified = identify_payload(model, "hinge", q, still, still, tau, static=True)
        assert (identified.rank, len(identified.not_excited)) == (0, 10)
        fit = tf.Identification(model, columns=("inertia",))
        fit.add(q, still, still, tau)
        assert fit.solve().rank == 0
        assert not fit.triangle()[:, :-1].any()


def test_the_size_of_terms_decides_not_that_of_the_column():
    """A gravity column of 1e-6 of its terms, from a hinge tilted by as much, is excited."""
    tilt = 1e-6
    R = np.array([[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), np.cos(tilt)]])
    hinge = tf.Joint("hinge", "revolute", R=R, axis=[0, 0, 1], inertia=tf.Inertia(1.0, [0.3, 0.2, 0.1]))
    model = tf.Model([hinge])
    q, still = np.linspace(-3, 3, 30)[:, None], np.zeros((30, 1))
    identified = identify_payload(
        model, "hinge", q, still, still, tf.rnea(loaded(model, 0, LOAD), q, still, still), static=True
    )
    assert identified.rank == 2
    np.testing.assert_allclose(identified.parameters[1:3], LOAD.parameters[1:3], rtol=1e-6)


def test_columns_far_below_the_largest_are_not_excited():
    """Without other sizes those of `unexcited` are the largest column."""
    R = np.diag([1.0, 1e-16])
    assert unexcited(R).tolist() == [[0.0, 1.0]]
    assert unexcited(R, sizes=[1.0, 0.0]).tolist() == []
    assert unexcited(1e-16 * np.eye(2), sizes=[1.0, 1.0]).tolist() == np.eye(2).tolist()
    with pytest.raises(tf.ShapeError, match="sizes"):
        unexcited(R, sizes=[1.0])


def test_without_bounds_of_the_terms_rounding_counts_as_excitation(monkeypatch):
    """The planted error is scaling every column to unit norm, whatever it was computed from."""
    monkeypatch.setattr(payload, "column_sizes", lambda model, _: np.zeros((model.nv, 10 * model.njoints)))
    with pytest.raises(AssertionError):
        test_samples_whose_columns_are_all_rounding_show_nothing()
    with pytest.raises(AssertionError):
        check_payload(10)


def test_one_sample_at_a_time_and_many_at_once_agree():
    model, rng = tilted_wrist(0, "revolute"), np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 30, 4))
    tau = tf.rnea(loaded(model, 1, LOAD), q, v, a)
    fit = PayloadIdentification(model, "wrist")
    for sample in zip(q, v, a, tau, strict=True):
        fit.add(*sample)
    assert fit.solve().not_excited == identify_payload(model, "wrist", q, v, a, tau).not_excited


@pytest.mark.parametrize(
    ("seed", "kinds"),
    [
        (0, ["freeflyer", "helical", "prismatic", "prismatic"]),
        (10, ["spherical", "prismatic", "prismatic", "freeflyer"]),
        (39, ["helical", "prismatic", "helical", "freeflyer"]),
    ],
)
def test_known_bodies_that_no_unfelt_change_touches(seed, kinds):
    """Unfelt changes from samples have entries of 1e-17 for such a body, which do not count."""
    model = random_model([-1, 0, 1, 2], kinds, seed)
    assert model.coupling is not None
    Y = numeric_rank.stacked(model)
    for known in range(model.njoints):
        others = np.delete(Y, slice(10 * known, 10 * known + 10), axis=1)
        base = tf.base_parameters(model, known=[known])
        assert base.count == numeric_rank.rank(others / np.linalg.norm(others, axis=0).clip(1e-12))
