"""Differentiate the dynamics and kinematics of a Model by complex steps, and by differences with 50 digits.

Newton-Euler equations in the axes of every body, on any numbers of NumPy: double, complex or Decimal. A step
dq displaces the body of freedom k, and all that it carries, by exp(S_k dq_k): Pinocchio's ``integrate``. A
universal joint is two links with one freedom each, so that the motions S are constant in the axes of their
link. Freedoms of followers are those of their leaders by G. Leading axes of v, a and dq are a batch.

Squire and Trapp, Using complex variables to estimate derivatives of real functions (1998).
"""

from decimal import Context, Decimal, localcontext
from typing import NamedTuple

import numpy as np

from oracles.dynamics import about, coupling, freedoms, motion, positions
from oracles.spatial import (
    cross,
    decimals,
    exp,
    force_cross,
    homogeneous,
    momentum,
    motion_cross,
    same_numbers,
    solve,
    to_child,
    to_parent,
    turn,
    vee,
)

STEP = 1e-30  # of complex steps: its square vanishes beside 1
DIGITS = Context(prec=50)
SMALL = Decimal("1e-12")  # steps of differences with 50 digits: the square is their relative error


class Link(NamedTuple):
    """Rigid part of a model: its parent, placement in the parent, motions, their freedoms, and its joint."""

    parent: int
    placement: np.ndarray  # (4, 4)
    S: np.ndarray  # (6, freedoms)
    freedoms: slice
    joint: int  # -1 between the two axes of a universal joint


def links(model, q):
    """Return the links, and the number of the link of every joint."""
    chain, of_joint = [], []
    for i, (joint, x, at) in enumerate(zip(model.joints, positions(model, q), freedoms(model), strict=True)):
        parent = of_joint[joint.parent] if joint.parent >= 0 else -1
        if joint.kind == "universal":
            first, second = (np.concatenate([np.zeros(3), axis])[:, None] for axis in joint.axis)
            R = [about(axis, angle) for axis, angle in zip(joint.axis, x, strict=True)]
            between = slice(at.start, at.start + 1)
            chain.append(Link(parent, homogeneous(joint.R @ R[0], joint.p), first, between, -1))
            link = Link(len(chain) - 1, homogeneous(R[1]), second, slice(at.start + 1, at.stop), i)
        else:
            R, p, S = motion(joint, x)
            link = Link(parent, homogeneous(joint.R @ R, joint.p + joint.R @ p), S, at, i)
        of_joint.append(len(chain))
        chain.append(link)
    return chain, of_joint


class Motion:
    """Placements M in the parents and velocities V and accelerations A of all links, in their own axes.

    ``dq`` is a displacement, or a tuple of displacements one after the other. ``base`` is the acceleration of
    the base (m/s^2).
    """

    def __init__(self, model, q, v, a, dq=0.0, base=(0.0, 0.0, 0.0)):
        steps = dq if isinstance(dq, tuple) else (dq,)
        v, a, base, *steps = same_numbers(v, a, [*base, 0.0, 0.0, 0.0], *steps)
        steps = [np.broadcast_to(step, np.broadcast_shapes(step.shape, (model.nv,))) for step in steps]
        G = same_numbers(v, coupling(model))[1]
        v, a = v @ G.T, a @ G.T
        steps = [step @ G.T for step in steps]
        self.links, self.of_joint = links(model, q)
        self.M, self.V, self.A = [], [], []
        for link in self.links:
            M, S = same_numbers(v, link.placement, link.S)[1:]
            for step in steps:
                M = M @ exp(step[..., link.freedoms] @ S.T)
            above = (self.V[link.parent], self.A[link.parent]) if link.parent >= 0 else (base * 0, base)
            own = v[..., link.freedoms] @ S.T
            V = to_child(M, above[0]) + own
            self.M.append(M)
            self.V.append(V)
            self.A.append(to_child(M, above[1]) + a[..., link.freedoms] @ S.T + motion_cross(V, own))

    def forces(self, inertia, fext=None):
        """Return the forces that the links need, each in its own axes."""
        needed = []
        for link, V, A in zip(self.links, self.V, self.A, strict=True):
            if link.joint < 0:
                needed.append(A * 0)
                continue
            own = inertia[..., link.joint, :]
            force = momentum(own, A) + force_cross(V, momentum(own, V))
            needed.append(force if fext is None else force - fext[..., link.joint, :])
        return needed

    def world(self):
        """Return the placements of all links in the world."""
        placements = []
        for link, M in zip(self.links, self.M, strict=True):
            placements.append(placements[link.parent] @ M if link.parent >= 0 else M)
        return placements


def inverse_dynamics(model, q, v, a, fext=None, dq=0.0, inertia=None, gravity=None):
    """Return tau, shape (..., nv); inertia (njoints, 10) replaces `inertial_parameters`."""
    gravity = model.gravity if gravity is None else np.asarray(gravity)
    moving = Motion(model, q, v, a, dq, -gravity)
    like = moving.V[-1]
    inertia = same_numbers(like, inertial_parameters(model) if inertia is None else inertia)[1]
    fext = None if fext is None else same_numbers(like, fext)[1]
    force, parts = moving.forces(inertia, fext), {}
    for i in reversed(range(len(force))):
        link = moving.links[i]
        parts[link.freedoms.start] = force[i] @ same_numbers(like, link.S)[1]
        if link.parent >= 0:
            force[link.parent] = force[link.parent] + to_parent(moving.M[i], force[i])
    shape = np.broadcast_shapes(*(part.shape[:-1] for part in parts.values()))
    tau = [np.broadcast_to(parts[at], (*shape, parts[at].shape[-1])) for at in sorted(parts)]
    a, G, armature = same_numbers(like, a, coupling(model), model.armature)[1:]
    return np.concatenate(tau, axis=-1) @ G + armature * a


def mass_matrix(model, q, dq=0.0):
    """Return H, shape (..., nv, nv), from forces at unit accelerations."""
    one, *steps = same_numbers(np.eye(model.nv), *(dq if isinstance(dq, tuple) else (dq,)))
    steps = tuple(step[..., None, :] if step.ndim else step for step in steps)
    return inverse_dynamics(model, q, one * 0, one, dq=steps, gravity=np.zeros(3))


def forward_dynamics(model, q, v, tau, fext=None, dq=0.0):
    """Return the acceleration, shape (..., nv)."""
    v, tau, *steps = same_numbers(v, tau, *(dq if isinstance(dq, tuple) else (dq,)))
    H = mass_matrix(model, q, tuple(step + v * 0 for step in steps))
    bias = inverse_dynamics(model, q, v, v * 0, fext, tuple(steps))
    return solve(H, tau - bias)


# ------------------------------------------------------------------------------------------ first derivatives


def by_complex_steps(function, size):
    """Return the derivatives of an array by the entries of its argument, on the last axis."""
    values = function(1j * STEP * np.eye(size))
    return np.moveaxis(values.imag / STEP, 0, -1)


def rnea_derivatives(model, q, v, a, fext=None):
    """Return dtau_dq, dtau_dv, dtau_da, each (nv, nv): rows are forces."""
    n = model.nv
    return (
        by_complex_steps(lambda step: inverse_dynamics(model, q, v, a, fext, step), n),
        by_complex_steps(lambda step: inverse_dynamics(model, q, v + step, a, fext), n),
        by_complex_steps(lambda step: inverse_dynamics(model, q, v, a + step, fext), n),
    )


def forward_dynamics_derivatives(model, q, v, tau, fext=None):
    """Return da_dq, da_dv, da_dtau, each (nv, nv): - H^-1 dtau_dq, - H^-1 dtau_dv and H^-1."""
    a = forward_dynamics(model, q, v, tau, fext)
    dq, dv, H = rnea_derivatives(model, q, v, a, fext)
    return -np.linalg.solve(H, dq), -np.linalg.solve(H, dv), np.linalg.inv(H)


def gradient_by_forces(model, q, w):
    """Return the gradient of w^T tau by fext, shape (njoints, 6): tau is linear in it."""
    zero = np.zeros(model.nv)
    unit = np.eye(6 * model.njoints).reshape(-1, model.njoints, 6)
    gradient = inverse_dynamics(model, q, zero, zero, unit, gravity=np.zeros(3)) @ w
    return gradient.reshape(model.njoints, 6)


def gradient_by_inertia(model, q, v, a, w):
    """Return the gradient of w^T tau by `inertial_parameters`, shape (njoints, 10): tau is linear in them."""
    unit = np.eye(10 * model.njoints).reshape(-1, model.njoints, 10)
    forces = inverse_dynamics(model, q, v, a, inertia=unit) - model.armature * a
    return (forces @ w).reshape(model.njoints, 10)


def inertial_parameters(model):
    """Return m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of all bodies about the origins of their joints."""
    parameters = []
    for joint in model.joints:
        m, c = joint.inertia.mass, joint.inertia.com
        about_origin = joint.inertia.tensor + m * (c @ c * np.eye(3) - np.outer(c, c))
        parameters.append([m, *(m * c), *about_origin[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]])
    return np.reshape(parameters, (-1, 10))


# --------------------------------------------------------------------------------------- kinematic quantities


class FrameState(NamedTuple):
    """Placement (..., 3, 4) in the world; velocity, acceleration and classical acceleration (..., 6)."""

    placement: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    classical: np.ndarray


def frame_state(model, q, v, a, frame, reference="LOCAL", dq=0.0, dv=0.0, da=0.0):
    """Return the `FrameState` of a frame (a name, a joint's number or a Frame) displaced by dq, dv, da."""
    frame = model.frame(model.joints[frame].name) if isinstance(frame, int) else frame
    frame = model.frame(frame) if isinstance(frame, str) else frame
    v, a, *steps = same_numbers(v, a, *(dq if isinstance(dq, tuple) else (dq,)), dv, da)
    moving = Motion(model, q, v + steps[-2], a + steps[-1], tuple(steps[:-2]))
    own = same_numbers(moving.V[-1], homogeneous(frame.R, frame.p))[1]
    if frame.joint < 0:
        M, V, A = own, moving.V[-1] * 0, moving.V[-1] * 0
    else:
        link = moving.of_joint[frame.joint]
        M = moving.world()[link] @ own
        V, A = to_child(own, moving.V[link]), to_child(own, moving.A[link])
    V, A = in_reference(M, V, reference), in_reference(M, A, reference)
    turning = np.concatenate([cross(V[..., 3:], V[..., :3]), A[..., 3:] * 0], axis=-1)
    return FrameState(M[..., :3, :], V, A, A + turning)


def in_reference(M, x, reference):
    """Return a motion given in the axes and at the origin of a frame with placement M."""
    if reference == "LOCAL":
        return x
    linear, angular = turn(M, x[..., :3]), turn(M, x[..., 3:])
    if reference == "WORLD":
        linear = linear + cross(M[..., :3, 3], angular)
    return np.concatenate([linear, angular], axis=-1)


class CentroidalState(NamedTuple):
    """Centre of mass with its velocity and acceleration, momentum about it, and the rate of that."""

    com: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    momentum: np.ndarray
    rate: np.ndarray


def centroidal_state(model, q, v, a, dq=0.0, dv=0.0, da=0.0):
    """Return the `CentroidalState` of a model displaced by dq, dv, da, without gravity, in world axes."""
    v, a, *steps = same_numbers(v, a, *(dq if isinstance(dq, tuple) else (dq,)), dv, da)
    moving = Motion(model, q, v + steps[-2], a + steps[-1], tuple(steps[:-2]))
    inertia = same_numbers(moving.V[-1], inertial_parameters(model))[1]
    mass, first, h, rate = inertia[:, 0].sum(), 0, 0, 0
    parts = zip(moving.links, moving.world(), moving.V, moving.forces(inertia), strict=True)
    for link, M, V, force in parts:
        if link.joint >= 0:
            own = inertia[link.joint]
            first = first + own[0] * M[..., :3, 3] + turn(M, own[1:4])
            h, rate = h + to_parent(M, momentum(own, V)), rate + to_parent(M, force)
    com = first / mass
    return CentroidalState(
        com, h[..., :3] / mass, rate[..., :3] / mass, about_point(com, h), about_point(com, rate)
    )


def about_point(point, force):
    """Return a force with its moment about a point instead of the origin."""
    moment = force[..., 3:] - cross(point, force[..., :3])
    return np.concatenate([force[..., :3], moment], axis=-1)


def integrate_derivatives(model, v):
    """Return the derivatives of integrate(q, v) by q and v, each (nv, nv): changes seen from the result."""
    by_q, by_v = np.eye(model.nv), np.eye(model.nv)
    for joint, at in zip(model.joints, model.idx_v, strict=True):
        if joint.mimic or joint.kind not in ("spherical", "planar", "freeflyer"):
            continue
        S, part = motion(joint, neutral(joint.kind))[2], slice(at, at + joint.nv)
        x, steps = S @ v[part], 1j * STEP * S.T
        back = exp(-x)
        changes = back @ exp(steps) @ exp(x), back @ exp(x + steps)
        by_q[part, part], by_v[part, part] = (S.T @ vee(M.imag / STEP).T for M in changes)
    return by_q, by_v


def difference_derivatives(model, d):
    """Return the derivatives of d = difference(q0, q1) by q0 and q1, each (nv, nv)."""
    by_q, by_v = integrate_derivatives(model, d)
    return -np.linalg.solve(by_v, by_q), np.linalg.inv(by_v)


def neutral(kind):
    """Return the entries of q of a joint that does not move its body."""
    return {"spherical": np.eye(4)[3], "planar": np.eye(4)[2], "freeflyer": np.eye(7)[6]}[kind]


# ----------------------------------------------------------------------------------------- second derivatives


def hessian_differences(model, q, v, a, w, x, y, fext=None, symmetric=True):
    """Return y^T D x, where D has the second derivatives of w^T tau, by differences with 50 digits.

    x and y have the shape (..., 3, nv): directions in q, v and a. D is the Hessian at 0 of w^T tau as a
    function of the displacement; or with symmetric=False the derivative along x of the gradient along y.
    """

    def function(dq, dv, da):
        return inverse_dynamics(model, q, decimals(v) + dv, decimals(a) + da, fext, dq) @ decimals(w)

    return second_differences(function, x, y, symmetric)


def forward_hessian_differences(model, q, v, tau, w, x, y, fext=None, symmetric=True):
    """Return the same as `hessian_differences` for w^T a; directions are in q, v and tau."""

    def function(dq, dv, dtau):
        return forward_dynamics(model, q, decimals(v) + dv, decimals(tau) + dtau, fext, dq) @ decimals(w)

    return second_differences(function, x, y, symmetric)


def second_differences(function, x, y, symmetric):
    """Return the mixed second derivative of a function of displacements (dq, dv, da) along x and y."""
    with localcontext(DIGITS):
        x, y = (SMALL * decimals(z) for z in (x, y))
        total = 0
        for s in (1, -1):
            for t in (1, -1):
                dq = (s * x + t * y)[..., 0, :] if symmetric else (s * x[..., 0, :], t * y[..., 0, :])
                rest = s * x[..., 1:, :] + t * y[..., 1:, :]
                total = total + s * t * function(dq, rest[..., 0, :], rest[..., 1, :])
        return np.asarray(total / (4 * SMALL**2)).astype(float)
