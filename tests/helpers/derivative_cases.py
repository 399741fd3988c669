"""Models for the tests of derivatives: every kind of joint at the root and in mid-tree; and comparisons.

Entries of one matrix have different units: one tolerance for the whole matrix would hide errors of small
rows. Comparisons scale rows and columns by the roots of the diagonal of H, or take classes of both.
"""

from dataclasses import replace
from functools import cache

import numpy as np

import treefactor as tf
from helpers.dynamics_cases import free
from helpers.model_cases import random_axis, random_inertia, random_model
from treefactor.model.joints import SIZES

FIRST_ORDER = 1e-14  # relative to the largest entry, scaled; more freedoms add more up
PER_CONDITION = 1e-14  # of derivatives of accelerations, times the condition number of the scaled H
ROBOTS = {"ur5": ("ur5_robot", False), "panda": ("panda", False)}
ROBOTS |= {name: (name, True) for name in ("solo12", "talos_reduced")}
LINEAR = {  # whether the freedoms of a kind are lengths
    "prismatic": [True],
    "planar": [True, True, False],
    "translation": [True] * 3,
    "freeflyer": [True] * 3 + [False] * 3,
}


def chain(kind, seed=0):
    """Return a revolute joint, one of this kind, and behind it a revolute and a prismatic branch."""
    return free(random_model([-1, 0, 1, 1], ["revolute", kind, "revolute", "prismatic"], seed))


def rooted(kind, seed=0):
    """Return a joint of this kind at the root with a revolute and a helical joint behind."""
    return free(random_model([-1, 0, 1], [kind, "revolute", "helical"], seed))


def followers(seed=0):
    """Return a tree with three followers of one leader: below it, beside it, and on another branch.

    Their kinds are helical, prismatic and revolute; their ratios -1.7, 0.6 and 2.3; a free-flyer carries all.
    """
    rng = np.random.default_rng(seed)
    kinds = ["freeflyer", "revolute", "helical", "prismatic", "spherical", "revolute", "universal"]
    couplings = {2: (1, -1.7, 0.3), 3: (1, 0.6, -0.2), 5: (1, 2.3, 1.1)}
    joints = []
    for i, (parent, kind) in enumerate(zip([-1, 0, 1, 0, 0, 4, 2], kinds, strict=True)):
        joint = tf.Joint(
            f"j{i}",
            kind,
            parent,
            random_rotation(rng),
            rng.normal(size=3),
            random_axis(kind, rng),
            0.4 if kind == "helical" else 0.0,
            random_inertia(rng),
            rng.random(SIZES[kind][1]),
        )
        mimic = tf.Mimic(*couplings[i]) if i in couplings else None
        joints.append(replace(joint, mimic=mimic) if mimic else joint)
    return tf.Model(joints, gravity=rng.normal(size=3), name="followers")


def random_rotation(rng):
    """Return a random rotation matrix."""
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.sign(np.linalg.det(Q))


KINDS = tuple(SIZES)
SINGLE = {f"{kind} at the root": rooted(kind, i) for i, kind in enumerate(KINDS)}
SINGLE |= {f"{kind} in mid-tree": chain(kind, i) for i, kind in enumerate(KINDS)}
TREES = {
    "all kinds": free(random_model([-1, 0, 1, 2, 1, 4, 0, -1, 7], KINDS, 3)),
    "all kinds reversed": free(random_model([-1, 0, 1, 1, 3, 0, 5, 6, 5], KINDS[::-1], 4)),
    "forest": free(random_model(list(range(-1, 8)) + [-1] * 9, [*KINDS, *KINDS], 5)),
}
FOLLOWERS = {
    "followers": followers(),
    "continuous leader": random_model(
        [-1, 0, 1, 2, 1, 4, 0], ["continuous", *["revolute", "helical"] * 3], 2
    ),
}
MODELS = {**SINGLE, **TREES, **FOLLOWERS}


@cache
def robot(name):
    """Return Pinocchio's model of a robot with random armature and tilted gravity, and ours."""
    from treefactor.adapters import pinocchio_

    file, floating = ROBOTS[name]
    theirs = pinocchio_.load(tf.robots.find(file).path, floating)
    rng = np.random.default_rng(len(name))
    theirs.armature = rng.uniform(0.0, 0.1, theirs.nv)
    theirs.gravity.linear = np.array([1.3, -2.1, -9.0])
    return theirs, pinocchio_.model(theirs)


def random_case(model, rng=0, size=()):
    """Return random q, v, a, tau and fext; rng is a generator or its seed."""
    rng = np.random.default_rng(rng)
    reach = np.full(model.nq, 3.0)  # whatever limits a robot's file sets
    q = tf.random_configuration(model, rng, -reach, reach, size)
    batch = q.shape[:-1]
    return q, *rng.normal(size=(3, *batch, model.nv)), rng.normal(size=(*batch, model.njoints, 6))


def is_linear(model):
    """Return for every freedom whether it is a length."""
    parts = [LINEAR.get(j.kind, [False] * SIZES[j.kind][1]) for j in model.joints if not j.mimic]
    return np.concatenate([np.zeros(0, bool), *parts])


def sizes(model, q):
    """Return the roots of the diagonal of H: a force over them, and a motion times them, have equal units."""
    return np.sqrt(np.diagonal(tf.crba(model, q), axis1=-2, axis2=-1))


def scaled_error(own, expected, rows, columns):
    """Return the largest deviation over the largest entry expected, both divided by rows and columns.

    For dtau_dq these are `sizes` and `sizes`; for da_dq 1 / sizes and sizes; for a gradient by q sizes alone
    (rows of length 1).
    """
    assert own.shape == expected.shape
    assert own.dtype == np.float64
    scale = np.expand_dims(rows, -1) * np.expand_dims(columns, -2)
    largest = np.abs(expected / scale).max(initial=1e-300)
    return np.abs((own - expected) / scale).max(initial=0.0) / largest


def class_error(own, expected, rows, columns, scale=0.0):
    """Return the largest deviation of the last two axes over the largest entry of its class.

    rows and columns have the class of each row and column, such as `is_linear`. A class that holds nothing
    but rounding errors is measured by the largest entry of the matrix; none by less than the scale given.
    """
    assert own.shape == expected.shape
    largest = np.abs(expected).max(initial=1e-300)
    worst = 0.0
    for row in np.unique(rows):
        for column in np.unique(columns):
            block = np.ix_(np.equal(rows, row), np.equal(columns, column))
            size = np.abs(expected[(..., *block)]).max(initial=0.0)
            size = max(size if size > 1e-10 * largest else largest, scale)
            worst = max(worst, np.abs((own - expected)[(..., *block)]).max(initial=0.0) / size)
    return worst


def assert_forces(own, expected, size, tolerance=FIRST_ORDER):
    """Assert that dtau_dq, dtau_dv and dtau_da, or some of them, are as expected."""
    for one, other in zip(own, expected, strict=True):
        assert scaled_error(one, other, size, size) < tolerance


def assert_accelerations(own, expected, H, size, tolerance=PER_CONDITION):
    """Assert that da_dq, da_dv and da_dtau are as expected, within the tolerance times the condition of H."""
    scale = size[..., :, None] * size[..., None, :]
    allowed = tolerance * np.linalg.cond(H / scale).max()
    columns = (size, size, 1 / size)
    for one, other, column in zip(own, expected, columns, strict=True):
        assert scaled_error(one, other, 1 / size, column) < allowed
