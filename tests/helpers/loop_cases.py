"""Define models with loops that `treefactor.model.mechanisms` lacks, and states that keep them closed."""

import numpy as np
from scipy.spatial.transform import Rotation

import treefactor as tf
from helpers.body_frames import placement
from helpers.dynamics_cases import free
from helpers.model_cases import random_model
from treefactor import constraints, mechanisms
from treefactor.model.joints import LOOPS, SIZES


def leg():
    """Leg of a walking robot with two loops: a rod from thigh to heel, one from a crank to the toe."""
    rod = tf.Inertia(0.2, [0.2, 0, 0], np.diag([1e-4, 4e-3, 4e-3]))
    link = tf.Inertia(2.0, [0.2, 0.01, 0], np.diag([2e-3, 3e-2, 3e-2]))
    z = [0.0, 0, 1]
    joints = [
        tf.Joint("roll", "revolute", axis=[1.0, 0, 0], inertia=link),
        tf.Joint("yaw", "revolute", 0, axis=[0, 1.0, 0], inertia=link),
        tf.Joint("thigh", "revolute", 1, axis=z, inertia=link),
        tf.Joint("knee", "revolute", 2, p=[0.4, 0, 0], axis=z, inertia=link),
        tf.Joint("tarsus", "revolute", 3, p=[0.1, 0, 0], axis=z, inertia=link, armature=0.01),
        tf.Joint("toe", "revolute", 4, p=[0.4, 0, 0], axis=z, inertia=rod),
        tf.Joint("crank", "revolute", 4, p=[0.05, 0, 0], axis=z, inertia=rod),
        tf.Joint("toe rod", "universal", 6, p=[0, 0.05, 0], axis=[[0, 0, 1.0], [0, 1, 0]], inertia=rod),
        tf.Joint("heel rod", "spherical", 2, p=[0.0, -0.05, 0.02], inertia=rod),
    ]
    loops = [
        tf.Loop("heel ball", "spherical", 8, 4, p1=[0.5, 0, 0], p2=[-0.05, -0.05, 0.02]),
        tf.Loop("toe ball", "spherical", 7, 5, p1=[0.35, 0, 0], p2=[0, 0.05, 0]),
    ]
    return tf.Model(joints, name="leg", loops=loops)


def over_constrained():
    """Return the four-bar with its last joint as a revolute one: five rows, three of them dependent."""
    model = mechanisms.four_bar().model
    loop = model.loops[0]
    loop = tf.Loop(loop.name, "revolute", loop.first, loop.second, loop.R1, loop.p1, loop.R2, loop.p2)
    return tf.Model(model.joints, model.gravity, model.name, loops=[loop])


def welded():
    """Return an arm of seven joints whose hand is held."""
    model = free(random_model(range(-1, 6), ["revolute"] * 7, 5))
    hand = tf.Loop("hand", "weld", 6, -1, *frame_of(1), *frame_of(2))
    return tf.Model(model.joints, model.gravity, "arm", loops=[hand])


def random_loops(model, seed):
    """Return the model with a loop of each kind between random bodies, nowhere near closed."""
    rng = np.random.default_rng(seed)
    ends = [rng.choice(np.arange(-1, model.njoints), 2, replace=False) for _ in LOOPS]
    loops = [
        tf.Loop(f"loop{k}", kind, int(a), int(b), *frame_of(rng), *frame_of(rng))
        for k, (kind, (a, b)) in enumerate(zip(LOOPS, ends, strict=True))
    ]
    return tf.Model(model.joints, model.gravity, model.name, loops=loops)


def frame_of(seed):
    rng = np.random.default_rng(seed)
    return Rotation.random(random_state=int(rng.integers(2**31))).as_matrix(), rng.normal(size=3)


def held(model, seed=0):
    """Return a model whose loop is closed in some configuration, and that configuration."""
    rng = np.random.default_rng(seed)
    q = tf.random_configuration(model, rng)
    loops = []
    for loop in model.loops:
        R, p = placement(model, q, loop.first, loop.R1, loop.p1)
        loops.append(tf.Loop(loop.name, loop.kind, loop.first, -1, loop.R1, loop.p1, R, p))
    return tf.Model(model.joints, model.gravity, model.name, loops=loops), q


def closed_cases():
    """Models by name, each with a closed configuration."""
    cases = {name: (made().model, made().closed) for name, made in mechanisms.MECHANISMS.items()}
    cases["over-constrained"] = over_constrained(), mechanisms.four_bar().closed
    cases["leg"] = leg(), constraints.close(leg(), LEG_ROUGHLY)
    cases["arm"] = held(welded())
    return cases


LEG_ROUGHLY = np.array([0.1, 0.2, 0.3, -0.8, 1.2, 0.3, 0.3, -0.3, 0, 0, 0, 0, 1.0])


def closed_velocity(model, q, seed=0):
    """Return random velocity that keeps the loops closed."""
    J = constraints.loop_rows(model, q).dense()
    v = np.random.default_rng(seed).normal(size=model.nv)
    return v - np.linalg.pinv(J, rcond=1e-9) @ (J @ v)


MIXED = random_model([-1, 0, 1, 2, 1, 4, 0, -1, 7], SIZES, 3)  # all kinds of joints, two trees, followers
