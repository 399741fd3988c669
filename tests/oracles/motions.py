"""Integrate motions in NumPy: semi-implicit Euler, and Runge-Kutta on the manifold of configurations."""

import numpy as np

import treefactor as tf


def cross(x):
    """Return [x]."""
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def commutator(model, x, y):
    """Return [x, y] of velocities in body axes, from matrices of the motions of each joint."""
    bracket = np.zeros(model.nv)
    for joint, at in zip(model.joints, model.idx_v, strict=True):
        if joint.mimic or joint.kind not in ("freeflyer", "planar", "spherical"):
            continue
        part = slice(at, at + joint.nv)
        A, B = (hat(joint.kind, z[part]) for z in (x, y))
        C = A @ B - B @ A
        turn = [C[2, 1], C[0, 2], C[1, 0]]
        bracket[part] = {
            "freeflyer": [*C[:3, 3], *turn],
            "spherical": turn,
            "planar": [C[0, 3], C[1, 3], turn[2]],
        }[joint.kind]
    return bracket


def hat(kind, z):
    """Return the 4 x 4 matrix of a velocity: linear before angular."""
    linear = {"freeflyer": z[:3], "planar": [z[0], z[1], 0.0], "spherical": np.zeros(3)}[kind]
    turn = [0.0, 0.0, z[2]] if kind == "planar" else z[-3:]
    return np.block([[cross(turn), np.reshape(linear, (3, 1))], [np.zeros((1, 4))]])


def euler(model, acceleration, q, v, h):
    """Return the next state."""
    v = v + h * acceleration(q, v)
    return tf.integrate(model, q, h * v), v


def rk4(model, acceleration, q, v, h):
    """Return the next state: stages at q exp(u) corrected by commutators (Munthe-Kaas & Owren 1999)."""
    a1 = acceleration(q, v)
    v2 = v + h / 2 * a1
    a2 = acceleration(tf.integrate(model, q, h / 2 * v), v2)
    v3 = v + h / 2 * a2
    a3 = acceleration(tf.integrate(model, q, h / 2 * v2 + h**2 / 8 * commutator(model, v, v2)), v3)
    v4 = v + h * a3
    a4 = acceleration(tf.integrate(model, q, h * v3), v4)
    u = h / 6 * (v + 2 * v2 + 2 * v3 + v4) + h**2 / 12 * commutator(model, v, v4)
    return tf.integrate(model, q, u), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


METHODS = {"semi_implicit_euler": euler, "rk4": rk4}


def rollout(model, q, v, tau, h, method, acceleration):
    """Return the trajectories of one motion; ``acceleration`` is called with q, v and an entry of tau."""
    states = [(q, v)]
    for forces in tau:
        states.append(METHODS[method](model, lambda q, v, f=forces: acceleration(q, v, f), *states[-1], h))
    return tuple(np.array(x) for x in zip(*states, strict=True))
