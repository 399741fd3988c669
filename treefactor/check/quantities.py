"""Define what is compared: for each quantity the query to an engine, and the translation of its answer.

Every value is returned in Pinocchio's conventions, so that the reference and all engines are queried alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .._util.conventions import Translation
from .._util.protocol import EngineJoint
from ..exceptions import AdapterError
from ..linalg.factorization import factor
from ..tree.tree import Tree

SHAPES: dict[str, tuple[int | str, ...]] = {  # shapes of an engine's results; "n" is its number of freedoms
    **{"mass_matrix": ("n", "n"), "rnea_derivatives": (2, "n", "n"), "jacobian": (6, "n")},
    **{"placement": (4, 4), "jacobian_dot_v": (6,), "com": (3,), "momentum": (6,)},
    **{"kinetic_energy": (), "potential_energy": ()},
}


@dataclass(frozen=True, eq=False)
class Query:
    """Robot in an engine at one state of the reference.

    Attributes
    ----------
    engine : module
    body : object
        As the engine's ``load`` returns it.
    at : Translation
    sample : Sample
        The reference's state.
    joints : sequence of EngineJoint
        Of the engine.
    carried : dict of str to (str, ndarray)
        By link of the original file, the link of the engine's file that carries it and its pose there; a link
        that is missing carries itself.
    """

    engine: Any
    body: Any
    at: Translation
    sample: Any
    joints: Sequence[EngineJoint]
    carried: dict

    def has(self, function: str) -> bool:
        """Return whether the engine offers a function."""
        return hasattr(self.engine, function)

    def call(self, function: str, *arguments):
        """Return the answer of one of the engine's functions; raise ValueError unless it has the right shape.

        The engine gets copies of arrays, and its answer is copied: engines change what they get, and return
        their buffers.
        """
        return self._checked(function, self._answer(function, *arguments), SHAPES.get(function, ("n",)))

    def factors(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the engine's L and D; raise ValueError unless they have the right shapes."""
        L, D = self._answer("factors", self.at.q)
        return self._checked("factors", L, ("n", "n")), self._checked("factors", D, ("n",))

    def _answer(self, function: str, *arguments) -> Any:
        copies = (
            np.array(argument) if isinstance(argument, np.ndarray) else argument for argument in arguments
        )
        return getattr(self.engine, function)(self.body, *copies)

    def _checked(self, function: str, answer, shape: tuple[int | str, ...]) -> np.ndarray:
        if np.iscomplexobj(answer):
            raise ValueError(f"{function} returns complex numbers")
        array = np.array(answer, dtype=float)
        expected = tuple(len(self.at.v) if size == "n" else size for size in shape)
        if array.shape != expected:
            raise ValueError(f"{function} returns an array of shape {array.shape}, expected {expected}")
        return array

    @property
    def tree(self) -> Tree:
        """Tree of the engine's freedoms that the reference has, too."""
        joints, kept = self.joints, self.at.kept
        parents = [joint.parent for joint in joints]
        widths = [int(np.isin(np.arange(j.v.start, j.v.stop), kept).sum()) for j in joints]
        return Tree.from_joints(parents, widths, [joint.name for joint in joints])

    @property
    def is_composite(self) -> bool:
        """Whether a body has several joints."""
        bodies = [joint.body for joint in self.joints if joint.body]
        return len(set(bodies)) < len(bodies)

    def own_matrix(self) -> np.ndarray:
        """Return the engine's H of the freedoms that the reference has, too."""
        return self.call("mass_matrix", self.at.q)[np.ix_(self.at.kept, self.at.kept)]

    def carriers(self) -> list[tuple[str, np.ndarray] | None]:
        """Return the carrier of every compared link, None for those that the engine does not know."""
        names = set(self.engine.frames(self.body)) if self.has("frames") else None
        carriers = [self.carried.get(frame, (frame, np.eye(4))) for frame in self.sample.frames]
        return [carrier if names is None or carrier[0] in names else None for carrier in carriers]


def _tree(query: Query) -> np.ndarray:
    moved = (query.at.T != 0).astype(float)
    return (moved @ query.tree.mask() @ moved.T > 0).astype(float)


def _inertia(query: Query) -> np.ndarray:
    return query.at.reference_matrix(query.call("mass_matrix", query.at.q))


def _bias(query: Query) -> np.ndarray:
    force = query.at.reference_force(query.call("bias", query.at.q, query.at.v))
    return force - _inertia(query) @ query.at.c if query.at.c.any() else force


def _gravity(query: Query) -> np.ndarray:
    return query.at.reference_force(query.call("gravity_forces", query.at.q))


def _inverse(query: Query) -> np.ndarray:
    at = query.at
    return at.reference_force(query.call("inverse_dynamics", at.q, at.v, at.motion(query.sample.a)))


def _acceleration(query: Query) -> np.ndarray:
    """Return q̈ = H^-1 (tau - bias) through our factor of the engine's H, then the engine's own q̈."""
    at, tau = query.at, query.at.force(query.sample.tau)
    right = (tau - query.call("bias", at.q, at.v))[at.kept]
    full = np.zeros(len(tau))
    full[at.kept] = factor(query.own_matrix(), query.tree).solve(right)
    rows = [at.reference_motion(full)]
    if query.has("acceleration"):
        with suppress(AdapterError):  # the engine has none of this robot
            rows.append(at.reference_motion(query.call("acceleration", at.q, at.v, tau)))
    return np.array(rows)


def _factor(query: Query) -> np.ndarray:
    """Return the deviation of our LᵀDL from the engine's H."""
    H = query.own_matrix()
    return np.array([_relative(factor(H, query.tree).reconstruct(), H)])


def _own_factor(query: Query) -> np.ndarray:
    """Return the deviations of our L and D from the engine's own."""
    f = factor(query.own_matrix(), query.tree)
    L, D = query.factors()
    return np.array([_relative(f.L(), L), _relative(f.D(), D)])


def _placements(query: Query) -> np.ndarray | None:
    placements = np.full((len(query.sample.frames), 3, 4), np.nan)
    carriers = query.carriers()
    for k, carrier in enumerate(carriers):
        if carrier is not None:
            placements[k] = _finite((_pose(query, carrier[0]) @ carrier[1])[:3], carrier[0])
    return placements if any(carrier is not None for carrier in carriers) else None


def _jacobians(query: Query) -> np.ndarray | None:
    jacobians = np.full((len(query.sample.frames), 6, len(query.sample.v)), np.nan)
    carriers = query.carriers()
    for k, carrier in enumerate(carriers):
        if carrier is not None:
            J = query.at.reference_columns(query.call("jacobian", query.at.q, carrier[0]))
            arm = _arm(query, carrier)
            jacobians[k] = _finite(J if arm is None else _at_point(J, arm), carrier[0])
    return jacobians if any(carrier is not None for carrier in carriers) else None


def _drifts(query: Query) -> np.ndarray | None:
    """Return J̇v of every link: its classical acceleration where q̈ of the reference is zero."""
    drifts = np.full((len(query.sample.frames), 6), np.nan)
    carriers, at = query.carriers(), query.at
    for k, carrier in enumerate(carriers):
        if carrier is None:
            continue
        J = at.reference_columns(query.call("jacobian", at.q, carrier[0]))
        drift = query.call("jacobian_dot_v", at.q, at.v, carrier[0]) - J @ at.c
        arm = _arm(query, carrier)
        if arm is not None:
            w = J[3:] @ query.sample.v
            drift[:3] += np.cross(drift[3:], arm) + np.cross(w, np.cross(w, arm))
        drifts[k] = _finite(drift, carrier[0])
    return drifts if any(carrier is not None for carrier in carriers) else None


def _finite(value: np.ndarray, link: str) -> np.ndarray:
    """Return an engine's value of a link; NaN is kept for links that the engine does not know."""
    if not np.isfinite(value).all():
        raise ValueError(f"not a number at the link {link}")
    return value


def _pose(query: Query, link: str) -> np.ndarray:
    return query.call("placement", query.at.q, link)


def _arm(query: Query, carrier: tuple[str, np.ndarray]) -> np.ndarray | None:
    """Return the vector from the carrying link's origin to the link's, world axes; None if they coincide."""
    r = carrier[1][:3, 3]
    return _pose(query, carrier[0])[:3, :3] @ r if r.any() else None


def _at_point(J: np.ndarray, arm: np.ndarray) -> np.ndarray:
    return np.concatenate([J[:3] + np.cross(J[3:].T, arm).T, J[3:]])


def _com(query: Query) -> np.ndarray:
    return query.call("com", query.at.q)


def _momentum(query: Query) -> np.ndarray:
    return query.call("momentum", query.at.q, query.at.v)


def _energies(query: Query) -> np.ndarray:
    kinetic = query.call("kinetic_energy", query.at.q, query.at.v)
    return np.array([kinetic, query.call("potential_energy", query.at.q)])


def _derivatives(query: Query) -> np.ndarray | None:
    """Return the derivatives of inverse dynamics where T is constant and a body has one joint, else None."""
    at = query.at
    if at.c.any() or not np.isin(at.T, (0.0, 1.0)).all() or query.is_composite:
        return None
    matrices = query.call("rnea_derivatives", at.q, at.v, at.motion(query.sample.a))
    return np.array([at.reference_matrix(D) for D in matrices])


@dataclass(frozen=True)
class Quantity:
    """One column of the comparison.

    Attributes
    ----------
    name : str
    compute : callable
        Returns the value in Pinocchio's conventions for an `Query`, None if the engine knows no link.
    needs : tuple of str
        Functions of the engine without which it is not offered.
    unit : {"matrix", "force", "acceleration", "position", "exact", "deviation"}
        What its error is relative to: the largest entry; the largest force; accelerations weighted by the
        inertia; the largest entry, at least 1; nothing, for values that must be equal; or the value itself is
        a relative deviation.
    """

    name: str
    compute: Callable[[Query], np.ndarray | None]
    needs: tuple[str, ...] = ()
    unit: Literal["matrix", "force", "acceleration", "position", "exact", "deviation"] = "matrix"

    def ask(self, query: Query) -> np.ndarray | None:
        """Return the value, None if the engine does not offer it."""
        return self.compute(query) if all(map(query.has, self.needs)) else None

    def error(self, value: np.ndarray, sample) -> float:
        """Return the deviation from the reference's value at a sample; NaN if anything is not a number."""
        if self.unit == "deviation":
            return float(np.max(value, initial=0.0))
        reference = sample.values[self.name]
        if self.unit == "acceleration":
            weight = np.sqrt(np.abs(np.diag(sample.values["H"])))
            size = np.abs(weight * reference[0]).max(initial=0.0) or 1.0
            return float(np.abs(weight * (value - reference[0])).max(initial=0.0) / size)
        if self.name in OF_FRAMES:
            known = np.isfinite(value.reshape(len(value), -1)).any(axis=1)
            value, reference = value[known], reference[known]
        return float(np.abs(value - reference).max(initial=0.0) / sample.sizes[self.name])


QUANTITIES = {
    quantity.name: quantity
    for quantity in (
        Quantity("tree", _tree, unit="exact"),
        Quantity("H", _inertia),
        Quantity("bias", _bias, unit="force"),
        Quantity("gravity", _gravity, ("gravity_forces",), "force"),
        Quantity("inverse dynamics", _inverse, ("inverse_dynamics",), "force"),
        Quantity("q̈", _acceleration, unit="acceleration"),
        Quantity("placements", _placements, ("placement",), "position"),
        Quantity("Jacobians", _jacobians, ("jacobian",), "position"),
        Quantity("centre of mass", _com, ("com",), "position"),
        Quantity("momentum", _momentum, ("momentum",)),
        Quantity("energies", _energies, ("kinetic_energy", "potential_energy")),
        Quantity("J̇v", _drifts, ("jacobian", "jacobian_dot_v"), "position"),
        Quantity("derivatives", _derivatives, ("rnea_derivatives",), "force"),
        Quantity("LᵀDL", _factor, unit="deviation"),
        Quantity("L and D", _own_factor, ("factors",), "deviation"),
    )
}
OF_FRAMES = ("placements", "Jacobians", "J̇v")


def largest_force(scale: float, force: np.ndarray, v: np.ndarray) -> float:
    """Return the scale of forces, positive even where gravity and velocity terms cancel."""
    return max(float(np.abs(force).max(initial=0.0)), scale * float(np.square(v).max(initial=1.0)))


def _relative(value: np.ndarray, reference: np.ndarray) -> float:
    scale = np.abs(reference).max(initial=0.0) or 1.0
    return float(np.abs(value - reference).max(initial=0.0) / scale)
