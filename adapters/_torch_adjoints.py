"""Gradients of trajectories of the semi-implicit Euler method, where nothing else is to be differentiated.

A step is v1 = v + h a(q, v, forces), q1 = integrate(q, u), u = h v1. Gradients by configurations are kept as
tangents, which the two derivatives of `integrate` transpose. From the last step to the first, the gradients
by q1 and v1 give that by v1 alone, and one product of the derivatives of a with it gives those by q, v and
the forces. The states are read from the trajectory; no step is computed again.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from ..model.configuration import neutral
from ..model.joints import Inertia, Joint
from ..model.model import Model
from ..quantities.functions import d_integrate
from ._lie_groups import GROUPS
from ._manifold import Manifold
from ._maps import Map
from ._programs import ProgramMap


class Adjoint:
    """Gradients through all steps of length h of a trajectory, by the map "vjp" of its forward dynamics."""

    def __init__(self, model: Model, dynamics: Map | ProgramMap, manifold: Manifold, h: float):
        self.dynamics, self.manifold, self.h = dynamics, manifold, h
        self.dtype = torch.float32 if dynamics.dtype == np.float32 else torch.float64
        turning = [kind for kind in model.entries if kind in GROUPS]
        self.turns = [_Turn(kind, model.entries[kind][1]) for kind in turning]
        self.scale = np.ones(model.nv, dynamics.dtype)  # of P to G^T, which for quaternions is P / 4
        for kind in set(turning) & {"spherical", "freeflyer"}:
            self.scale[model.entries[kind][1][:, -3:]] = 0.25

    def gradients(self, q, v, forces, inertias, weights) -> list[torch.Tensor]:
        """Return the gradients by the first state, all forces and, if there are any, inertias.

        Parameters
        ----------
        q, v : torch.Tensor, shapes (batch, T + 1, nq), (batch, T + 1, nv)
            The trajectories.
        forces : sequence of torch.Tensor, shape (batch, T, ...)
            Generalized forces and, if there are any, external forces.
        inertias : sequence of torch.Tensor, shape (batch, njoints, 10)
            One or none: the same in all steps.
        weights : sequence of torch.Tensor
            Gradients by q and v.
        """
        dtype = q.dtype
        q, v, *forces, by_q, by_v = (x.detach().to(self.dtype) for x in (q, v, *forces, *weights))
        constants = [x.detach().to(self.dtype).numpy() for x in inertias]
        if dtype != torch.float64:
            q = self.manifold.normalize(q)  # rounded, it has no unit length
        tangents = by_q
        if self.turns:
            tangents = self.manifold.to_tangent(q, by_q).mul_(torch.from_numpy(self.scale))
        arrays = [x.numpy() for x in (q, v, *forces)]
        weights = tangents.numpy(), by_v.numpy()
        first, dv, *others = self._backward(*arrays[:2], arrays[2:], constants, *weights)
        dq = self.manifold.pull(q[:, 0], torch.from_numpy(first))
        return [dq.to(dtype), *(torch.from_numpy(x).to(dtype) for x in (dv, *others))]

    def _backward(self, q, v, forces, constants, by_q, by_v):
        """Return the gradients by the first state, all forces, and constants."""
        steps = (q, v, *forces)
        new = partial(np.zeros, dtype=v.dtype)
        state = [*(new(x[:, 0].shape) for x in steps), *constants, new(v[:, 0].shape)]
        gradients = [new(x.shape) for x in (v[:, 0], v[:, 0], *(each[:, 0] for each in forces), *constants)]
        by_forces, totals = [new(x.shape) for x in forces], [new(x.shape) for x in constants]
        dq, dv, w = np.zeros_like(gradients[0]), by_v[:, -1].copy(), state[-1]
        for k in reversed(range(q.shape[1] - 1)):
            dq += by_q[:, k + 1]
            dq, moved = self._pull_integrate(v[:, k + 1], dq)
            np.multiply(moved, self.h, out=w)
            dv += w
            np.multiply(dv, self.h, out=w)
            for x, each in zip(state, steps, strict=False):
                np.copyto(x, each[:, k])
            if len(w):
                self.dynamics.run(state, gradients)
            dq += gradients[0]
            dv += gradients[1]
            dv += by_v[:, k]
            for every, one in zip(by_forces, gradients[2:], strict=False):
                every[:, k] = one
            for total, one in zip(totals, gradients[len(steps) :], strict=True):
                total += one
        return dq + by_q[:, 0], dv, *by_forces, *totals

    def _pull_integrate(self, v: np.ndarray, weights: np.ndarray):
        """Return the gradients of integrate(q, h v) by q and by h v: the same array where nothing turns."""
        if not self.turns:
            return weights, weights
        pulled = weights.copy(), weights.copy()
        for turn in self.turns:
            turn.pull(self.h * v[:, turn.places], weights[:, turn.places], *pulled)
        return pulled


class _Turn:
    """Joints of one kind that turn, by a model of one such joint."""

    def __init__(self, kind: str, places: np.ndarray):
        axis = {"axis": [0.0, 0.0, 1.0]} if kind == "continuous" else {}
        self.model = Model([Joint(kind, kind, inertia=Inertia(1.0, [0.0] * 3, np.eye(3)), **axis)])
        self.places = places if len(places) > 1 else slice(places[0, 0], places[0, -1] + 1)
        self.rest = neutral(self.model)

    def pull(self, u: np.ndarray, weights: np.ndarray, by_q: np.ndarray, by_u: np.ndarray):
        """Write the gradients; the derivatives are the same at all q."""
        q = np.broadcast_to(self.rest, (*u.shape[:-1], self.model.nq))
        for derivative, out in zip(d_integrate(self.model, q, u), (by_q, by_u), strict=True):
            out[:, self.places] = np.einsum("...i,...ij->...j", weights, derivative)
