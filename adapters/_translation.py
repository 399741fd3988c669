"""Translate between engines and Pinocchio models by what the engines declare."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .._util.conventions import JointsDifferError, Pair, Translation, pairs, translate
from .._util.protocol import Base, EngineJoint
from .._util.validation import as_vector
from ..exceptions import AdapterError
from ..model.model import Model

JointEntries = tuple[str, slice, slice]  # name of a joint, and its entries in q and v


def translation_of(joints: Callable, base: Callable, engine: str) -> tuple[Callable, Callable, Callable]:
    """Return ``transform``, ``acceleration_offset`` and ``from_pinocchio`` of an engine.

    Parameters
    ----------
    joints, base : callable
        Functions of the engine protocol.
    engine : str
        Named in errors.
    """

    def at(body, model, q=None, v=None) -> Translation:
        rows = _rows(model)
        halves = getattr(body, "halves", {})
        return _translation(rows, _split(joints(body), halves, rows), base(body), engine, q, v)

    functions = _transform(at), _acceleration_offset(at), _from_pinocchio(at)
    for function in functions:
        function.__module__ = joints.__module__
    return functions


def _transform(at: Callable[..., Translation]) -> Callable:
    """Return ``transform`` of an engine, from its translations."""

    def transform(body, model, q=None) -> np.ndarray:
        """Return T with v_pinocchio = T v, shape (model.nv, nv); joints are matched by name.

        Parameters
        ----------
        body : Body
        model : pinocchio.Model or Model
            A free-flyer called ``root_joint`` is the only free joint of the body, whatever that is called.
        q : array_like, shape (model.nq,), optional
            Pinocchio's. May be left out where T does not depend on it.

        Raises
        ------
        AdapterError
            If body and model have different joints; names them.

        Notes
        -----
        H = T' H_pin T, tau = T' tau_pin, a_pin = T a + c with c from `acceleration_offset`, and so
        bias = T' (nle + H_pin c). The armature of a free joint of MuJoCo acts along the axes of the world,
        Pinocchio's along those of the body: H_pin does not contain it in these equations. The model that
        ``treefactor.adapters.mujoco_.model`` makes has it as MuJoCo has.
        """
        return at(body, model, q).T

    return transform


def _acceleration_offset(at: Callable[..., Translation]) -> Callable:
    """Return ``acceleration_offset`` of an engine, from its translations."""

    def acceleration_offset(body, model, q, v) -> np.ndarray:
        """Return c with a_pinocchio = T a + c, shape (model.nv,); q and v are Pinocchio's.

        Pinocchio's acceleration of a free joint is spatial: for an engine whose one is classical,
        a_lin = classical acceleration - ω × v.
        """
        return at(body, model, q, v).c

    return acceleration_offset


def _from_pinocchio(at: Callable[..., Translation]) -> Callable:
    """Return ``from_pinocchio`` of an engine, from its translations."""

    def from_pinocchio(body, model, q, v) -> tuple[np.ndarray, np.ndarray]:
        """Convert Pinocchio's q and v to the engine's.

        Parameters
        ----------
        body : Body
        model : pinocchio.Model or Model
        q : array_like, shape (model.nq,)
            Continuous joints as (cos, sin), quaternions x y z w.
        v : array_like, shape (model.nv,)
        """
        state = at(body, model, q, v)
        return state.q, state.v

    return from_pinocchio


def _translation(
    rows: Sequence[JointEntries], own: Sequence[EngineJoint], base: Base, engine: str, q, v
) -> Translation:
    """Return a state of a Pinocchio model in an engine's layout; raise AdapterError if joints differ."""
    joint_pairs = _pairs(rows, own, base, engine)
    nq, nv = (max((row[k].stop for row in rows), default=0) for k in (1, 2))
    sizes = tuple(max((getattr(joint, k).stop for joint in own), default=0) for k in ("q", "v"))
    q = np.ones(nq) if q is None else as_vector(q, nq, "q")
    v = np.zeros(nv) if v is None else as_vector(v, nv, "v")
    return translate(joint_pairs, base, (*sizes, nv), q, v)


def _pairs(rows: Sequence[JointEntries], own: Sequence[EngineJoint], base: Base, engine: str) -> list[Pair]:
    """Match the joints of an engine with those of a Pinocchio model; raise AdapterError if they differ."""
    reference = [EngineJoint(name, "other", -1, *ends) for name, *ends in rows]
    try:
        return pairs(reference, own, base)
    except JointsDifferError as error:
        names = ", ".join(error.names)
        message = f"the joints of the Pinocchio model are not those of the robot in the engine: {names}"
        raise AdapterError(message, engine, joint=error.names[0]) from None


def matched(
    own: Sequence[EngineJoint], halves: dict, model, left_out, base: Base, engine: str
) -> tuple[list[Pair], list[EngineJoint]]:
    """Match the joints of an engine with those of a model, but for names that are left out.

    Returns
    -------
    pairs : list of Pair
    joints : list of EngineJoint
        All joints of the model.
    """
    rows = [row for row in _rows(model) if row[0] not in left_out]
    joint_pairs = _pairs(rows, _split(own, halves, rows), base, engine)
    return joint_pairs, [EngineJoint(name, "other", -1, *ends) for name, *ends in rows]


def _split(own: Sequence[EngineJoint], halves: dict, rows: Sequence[JointEntries]) -> list[EngineJoint]:
    """Return the joints; a free joint that the model has as two, see ``mujoco_.model``, is divided."""
    names, listed = {name for name, *_ in rows}, list[EngineJoint]()
    for joint in own:
        parts = halves.get(joint.name, ())
        listed += parts if {part.name for part in parts} & names else (joint,)
    return listed


def _rows(model) -> list[JointEntries]:
    """Return the joints of a Pinocchio model, or of one of ours."""
    if isinstance(model, Model):
        names = [joint.name for joint in model.joints]
        counts = [(joint.nq, joint.nv) for joint in model.joints]
        rows = zip(names, model.idx_q, model.idx_v, *zip(*counts, strict=True), strict=True)
    else:
        columns = model.names, model.idx_qs, model.idx_vs, model.nqs, model.nvs
        rows = zip(*(list(column)[1:] for column in columns), strict=True)
    return [(name, slice(q, q + nq), slice(v, v + nv)) for name, q, v, nq, nv in rows]
