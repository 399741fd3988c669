"""Compile a model for the recursions: bodies with one kind of motion each, about or along their z axis.

Moments about a point far from a rotating body lose digits: 2 log2(r) bits for a lever arm of r radii of
gyration. A body that can rotate farther from its parent's local origin than LONGEST_ARM radii of gyration
therefore gets its own local origin, at its joint.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..model.joints import ROTATIONS
from ..model.model import Model
from ..model.parameters import moved_parameters
from ..tree._pattern import Pattern
from ._body_structs import body_structs, permutations, permuted, with_inertias
from ._recursions import BODY, Bodies


class Layout(NamedTuple):
    """Compiled parts that do not depend on inertias, except that the first ones choose the local origins."""

    structs: np.ndarray
    parents: list[int]
    massive: np.ndarray  # the body of every joint
    axes: np.ndarray  # rotations from the joints' axes to those of their bodies
    source: np.ndarray  # of permuted axes: parameters that become those (joints, 10) of the bodies
    sign: np.ndarray  # and their factors
    turned: np.ndarray  # joints whose axes are not permuted
    pattern: Pattern
    units: np.ndarray
    coupling: tuple | None


def bodies(model) -> Bodies:
    """Return the compiled form of a `treefactor.Model`."""
    layout = layout_of(model)
    turned = turned_parameters(layout, model.parameters)
    return Bodies(
        with_inertias(layout.structs, layout.massive, turned),
        model.gravity,
        model.extended,
        _sets(layout, turned, model._rotors),
        layout.pattern,
        model.nq,
        layout.units,
        model.njoints,
        layout.coupling,
    )


def layout_of(model) -> Layout:
    """Return what the bodies of all models have in common that `Model.with_parameters` makes from one."""
    if "layout" in model._shared:
        return model._shared["layout"]
    source = model._source or model
    structs, massive = body_structs(source)
    layout = Layout(
        structs,
        structs["parent"].tolist(),
        massive,
        *permutations(structs, massive),
        Pattern(model.tree),
        units(source),
        coupling_of(model),
    )
    return model._shared.setdefault("layout", layout)


def turned_parameters(layout: Layout, pi: np.ndarray) -> np.ndarray:
    """Return the parameters (..., njoints, 10) of bodies in their own axes."""
    turned = permuted(pi, layout.source, layout.sign)
    if layout.turned.size:
        turned[..., layout.turned, :] = moved_parameters(
            pi[..., layout.turned, :], layout.axes[layout.turned]
        )
    return turned


def structs_with(layout: Layout, pi: np.ndarray) -> np.ndarray:
    """Return the structs of a layout with the inertias of parameters (njoints, 10)."""
    return with_inertias(layout.structs, layout.massive, turned_parameters(layout, pi))


def table_of(model) -> list[dict]:
    """Return the bodies of a `treefactor.Model`; a universal joint becomes two, the first without mass."""
    structs, _ = body_structs(model)
    table = [dict(zip(BODY.names, struct.tolist(), strict=True)) for struct in structs]
    for body in table:
        for name in ("R", "axes", "tensor"):
            body[name] = np.array(body[name]).reshape(3, 3).T
        body["p"], body["first"] = np.array(body["p"]), np.array(body["first"])
    return table


def sets_of(layout: Layout, pi: np.ndarray, rotors: np.ndarray) -> np.ndarray:
    """Return inertias of all bodies and armature of all freedoms, as `Bodies` reads them.

    Parameters
    ----------
    layout : Layout
    pi : ndarray, shape (..., njoints, 10)
        Inertial parameters in the axes of the joints: see `Model.parameters`.
    rotors : ndarray, shape (..., n)
        Armature of the freedoms of all joints, mimic joints included.

    Returns
    -------
    ndarray, shape (..., 10 bodies + n)
    """
    return _sets(layout, turned_parameters(layout, pi), rotors)


def _sets(layout: Layout, turned: np.ndarray, rotors: np.ndarray) -> np.ndarray:
    """Return inertias and armature from parameters of the bodies in their own axes."""
    lead, count = turned.shape[:-2], len(layout.structs)
    inertias = turned
    if count > turned.shape[-2]:  # universal joints have bodies without mass
        inertias = np.zeros((*lead, count, 10))
        inertias[..., layout.massive, :] = turned
    return np.concatenate([inertias.reshape(*lead, 10 * count), rotors], axis=-1)


def units(model) -> np.ndarray:
    """Return first entry and number of entries of every unit vector in q."""
    places = [
        (q + ROTATIONS[joint.kind].start, ROTATIONS[joint.kind].stop - ROTATIONS[joint.kind].start)
        for joint, q in zip(model.joints, model.idx_q, strict=True)
        if joint.kind in ROTATIONS
    ]
    return np.array(places, dtype=np.intp).reshape(-1, 2)


def coupling_of(model) -> tuple | None:
    """Return targets and factors for the entries of the extended v and of the packed extended H, or None."""
    if model.coupling is None:
        return None
    extended, tree, G = model.extended, model.tree, model.coupling.G
    follows = np.argmax(G != 0, axis=1)
    ratio = G[np.arange(extended.n), follows]
    row, column = extended.rows, extended.columns
    low, high = np.sort([follows[row], follows[column]], axis=0)
    fold = tree.row_start[high] + tree.depth[low] - 1
    fold_ratio = ratio[row] * ratio[column] * np.where((row != column) & (low == high), 2.0, 1.0)
    return follows, ratio, fold, fold_ratio


Model._compile = staticmethod(bodies)  # called by Model.bodies
