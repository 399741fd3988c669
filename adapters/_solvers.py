"""Searches of `treefactor.control` as functions of arrays, and how solutions follow their targets."""

from __future__ import annotations

import numpy as np

from ..control import CustomCost, InverseKinematics, Status, ilqr
from ..exceptions import DtypeError
from ..linalg.damped_least_squares import damped_least_squares
from ..model.digests import number_of
from ..model.model import Model
from ..quantities import functions as tf
from ..tolerances import AT_LIMIT, LEAST_NORM, SLANTED
from ._lie_groups import GROUPS
from ._manifold import Manifold
from ._maps import Argument, MappedFunction, array_function
from ._rules import moved, times, wrench_of

HALF = np.array([1.0, 1.0, 1.0, 0.5, 0.5, 0.5])  # an antisymmetric matrix has every angle twice


class Search(MappedFunction):
    """Inverse kinematics of a frame: configurations and statuses, which count as constants.

    Parameters
    ----------
    model : Model
    options : tuple of (str, value)
        Those of `InverseKinematics`, and whether targets are positions ("point") and q0 is given ("start").
    """

    def __init__(self, model: Model, options: tuple):
        given = dict(options)
        self.is_point, starts, self.frame = given.pop("point"), given.pop("start"), given["frame"]
        self.solver = InverseKinematics(model, **given)
        shape = (3,) if self.is_point else (3, 4)
        targets, q0 = Argument("targets", shape, shape), Argument("q0", (model.nq,), (model.nv,))
        outputs = q0._replace(name="q"), Argument("status", (1,), (1,))
        super().__init__("inverse_kinematics", model, options, (targets, q0)[: 1 + starts], outputs)

    def value(self, inputs, outputs) -> None:
        """Compute outputs from inputs, see `Map`."""
        targets, *start = inputs
        result = self.solver(targets if self.is_point else _poses(targets), *start)
        outputs[0][:], outputs[1][:, 0] = result.q, result.status


class Change(MappedFunction):
    """Zero, which changes by what a solution does when its target moves; see `inverse_kinematics` of JAX.

    The entries of q change by G(q) dq, with the least dq of the free joints that moves the frame as its
    target does: J dq = e, in the axes of the frame, or of the base for positions. A step of damped least
    squares and another one for what it leaves are singular values s of J taken as s / (s^2 + d) and
    d s / (s^2 + d)^2 together: 1 / s but for (d / s^2)^2 of it.
    """

    def __init__(self, model: Model, options: tuple):
        self.search = array_function("inverse_kinematics", model, **dict(options))
        self.is_point, solver = self.search.is_point, self.search.solver
        targets, (q, status) = self.search.inputs[0], self.search.outputs
        change = Argument("change", (model.nq,), (model.nq,))
        super().__init__("change of inverse_kinematics", model, options, (q, status, targets), (change,))
        self.manifold = Manifold(model, np)
        self.scale = np.ones(model.nv)  # of P to G^T, which for quaternions is P / 4
        for kind in set(model.entries) & {"spherical", "freeflyer"}:
            self.scale[model.entries[kind][1][:, -3:]] = 0.25
        self.movable = np.zeros(model.nv, bool)
        places = []
        for number in solver._allowed:
            joint, at, first = model.joints[number], model.idx_q[number], model.idx_v[number]
            self.movable[first : first + joint.nv] = True
            if joint.kind not in GROUPS:
                places += [(at + k, first + k) for k in range(joint.nv)]
        self.entries, self.freedoms = np.array(places, np.intp).reshape(-1, 2).T
        self.lower, self.upper = solver.lower[self.entries] + AT_LIMIT, solver.upper[self.entries] - AT_LIMIT

    @property
    def title(self) -> str:
        """Return the name of the public function."""
        return "inverse_kinematics"

    def value(self, inputs, outputs) -> None:
        """Compute outputs from inputs, see `Map`."""
        outputs[0][:] = 0.0

    def jvp(self, inputs, outputs) -> None:
        """Compute derivatives along directions, see `Map`."""
        q, status, targets, _, _, change = inputs
        motion = change if self.is_point else HALF * wrench_of(targets, change)
        dq = _least(self._jacobian(q), motion)
        dq[_lost(status, motion)] = np.nan
        outputs[0][:] = self.manifold.from_tangent(q, dq)

    def vjp(self, inputs, outputs) -> None:
        """Compute gradients, see `Map`."""
        q, status, targets, weights = inputs
        w = weights if self.manifold.trivial else self.scale * self.manifold.to_tangent(q, weights)
        force = _least(np.swapaxes(self._jacobian(q), 1, 2), w)
        force[_lost(status, weights)] = np.nan
        outputs[0][:], outputs[1][:] = 0.0, 0.0
        outputs[2][:] = force if self.is_point else moved(targets, HALF * force)

    def _jacobian(self, q: np.ndarray) -> np.ndarray:
        """Return the Jacobians of the rows that the targets have, zero for freedoms that are held."""
        reference = "LOCAL_WORLD_ALIGNED" if self.is_point else "LOCAL"
        J = tf.frame_jacobian(self.model, q, self.search.frame, reference)
        free = np.tile(self.movable, (len(q), 1))
        x = q[:, self.entries]
        free[:, self.freedoms] &= (x > self.lower) & (x < self.upper)
        return J[:, : 3 if self.is_point else 6] * free[:, None]


class Regulation(MappedFunction):
    """Iterative linear-quadratic regulation: motions, costs and statuses, without derivatives.

    Parameters
    ----------
    model : Model
    options : tuple of (str, value)
        Those of `ilqr`, and "steps" and "controls", the sizes of u.
    """

    def __init__(self, model: Model, options: tuple):
        self.own = dict(options)
        steps, nu = self.own.pop("steps"), self.own.pop("controls")
        if any(isinstance(term, CustomCost) for term in self.own["cost"]):
            raise DtypeError("costs inside JAX and PyTorch are data: a CustomCost has functions")
        self.number = number_of(options)
        q0, v0 = Argument("q0", (model.nq,), (model.nv,)), Argument("v0", (model.nv,), (model.nv,))
        u = Argument("u", (steps, nu), (steps, nu))
        q = Argument("q", (steps + 1, model.nq), (steps + 1, model.nv))
        v = Argument("v", (steps + 1, model.nv), (steps + 1, model.nv))
        numbers = (Argument(name, (1,), (1,)) for name in ("cost", "status"))
        super().__init__("ilqr", model, options, (q0, v0, u), (q, v, u, *numbers))

    @property
    def key(self) -> tuple:
        """Return what tells this function from the others of the same model: the content of its costs."""
        return self.name, self.number

    def value(self, inputs, outputs) -> None:
        """Compute outputs from inputs, see `Map`."""
        result = ilqr(self.model, *inputs, **self.own)
        for output, name in zip(outputs, ("q", "v", "u", "cost", "status"), strict=True):
            output[:] = getattr(result, name).reshape(output.shape)


def _poses(targets: np.ndarray) -> np.ndarray:
    """Return poses, NaN for those that have no rotation: batches have no errors for single elements."""
    R = targets[..., :3]
    with np.errstate(invalid="ignore"):  # of those that are not finite
        slanted = np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max(axis=(1, 2), initial=0.0) > SLANTED
        bad = slanted | (np.linalg.det(R) < 0.0)
    return np.where(bad[:, None, None], np.nan, targets) if bad.any() else targets


def _lost(status: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Return which elements have no solution that could change, and are asked for its change."""
    return (status[:, 0] != Status.SOLVED) & (given != 0.0).any(axis=1)


def _least(J: np.ndarray, e: np.ndarray) -> np.ndarray:
    """Return the shortest x (batch, n) with the least |J x - e|."""
    damping = LEAST_NORM * np.square(J).sum(axis=(1, 2))
    damping[damping == 0.0] = 1.0
    x = damped_least_squares(J, e, damping)
    return x + damped_least_squares(J, e - times(J, x), damping)
