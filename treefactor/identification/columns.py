"""Name the columns of regressors, and list their entries that can differ from zero."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..model.joints import SIZES
from ..model.model import Model, require_model
from ..model.parameters import PARAMETERS

__all__ = ["column_names", "regressor_pattern"]

KINDS = ("inertia", "armature", "viscous", "dry", "offset")
INERTIA = ("inertia",)
TITLES = {"viscous": "viscous friction", "dry": "dry friction", "offset": "offset"}


def chosen(columns) -> tuple[str, ...]:
    """Return the kinds of columns in their order.

    Raises
    ------
    ValueError
        If columns is empty, or names what is not a kind of column, or one twice.
    """
    return INERTIA if columns is INERTIA else _chosen(columns if type(columns) is tuple else _listed(columns))


def _listed(columns) -> tuple:
    """Return a sequence of names as a tuple."""
    if isinstance(columns, str):
        raise ValueError(f"columns must be a sequence of names, such as ({columns!r},); got {columns!r}")
    return tuple(columns)


@lru_cache
def _chosen(columns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the kinds of columns in their order, after a check."""
    if not columns or len(set(columns)) < len(columns) or not set(columns) <= set(KINDS):
        raise ValueError(f"columns must be one or more of {', '.join(KINDS)}, none twice; got {columns}")
    return tuple(kind for kind in KINDS if kind in columns)


def column_names(model: Model, columns=INERTIA) -> tuple[str, ...]:
    """Return the names of the columns of `treefactor.regressor`, in their order.

    Parameters
    ----------
    model : Model
    columns : sequence of str
        As for `treefactor.regressor`.

    Returns
    -------
    tuple of str
        ``"m of JOINT"``, ``"h_x of JOINT"``, ..., ``"I_zz of JOINT"`` for every joint; then ``"armature of
        JOINT"`` for every joint with one freedom; then ``"viscous friction of ..."``, ``"dry friction of
        ..."`` and ``"offset of ..."`` for every freedom, named as in ``model.tree.names``.

    Raises
    ------
    ValueError
        If there are no such columns.

    Examples
    --------
    >>> import treefactor as tf
    >>> from treefactor.identification import column_names
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0])])
    >>> column_names(model, ["inertia", "dry"])[-3:]
    ('I_yz of hinge', 'I_zz of hinge', 'dry friction of hinge')
    """
    require_model(model)
    names: list[str] = []
    for kind in chosen(columns):
        if kind == "inertia":
            names += [f"{parameter} of {joint.name}" for joint in model.joints for parameter in PARAMETERS]
        elif kind == "armature":
            names += [f"armature of {model.joints[j].name}" for j in _single(model)]
        else:
            names += [f"{TITLES[kind]} of {name}" for name in model.tree.names]
    return tuple(names)


def regressor_pattern(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Return the freedom and the joint of every block of ten entries of the packed `treefactor.regressor`.

    Parameters
    ----------
    model : Model

    Returns
    -------
    tuple of two ndarray of int, shape (pairs,)
        Rows of the dense regressor, and numbers of joints: joint after joint the freedoms that move its body,
        from the root on. Elsewhere the dense regressor is exactly zero.

    Examples
    --------
    >>> import treefactor as tf
    >>> from treefactor.identification import regressor_pattern
    >>> model = tf.Model([tf.Joint("a", "revolute", axis=[0, 0, 1]),
    ...                   tf.Joint("b", "revolute", axis=[0, 1, 0], parent=0)])
    >>> freedom, joint = regressor_pattern(model)
    >>> freedom, joint
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    require_model(model)
    freedom, joint = extended_pairs(model)
    if model.coupling is not None:
        pairs = np.unique(np.stack([joint, follows(model)[freedom]]), axis=1)
        joint, freedom = pairs[0], pairs[1]
    return freedom, joint


def extended_pairs(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Return freedoms of all joints, mimic joints included, and the joints whose bodies they move."""
    tree = model.extended
    last = np.cumsum([SIZES[joint.kind][1] for joint in model.joints]) - 1
    paths = [tree.columns[tree.row_start[k] : tree.row_start[k + 1]] for k in last]
    joint = np.repeat(np.arange(model.njoints), [len(path) for path in paths])
    return (np.concatenate(paths) if paths else np.zeros(0, np.intp)).astype(np.intp), joint.astype(np.intp)


def follows(model: Model) -> np.ndarray:
    """Return for every freedom of all joints the entry of v that it follows."""
    return np.argmax(model.coupling.G != 0, axis=1) if model.coupling else np.arange(model.nv)


def single_entries(model: Model, columns: tuple[str, ...]) -> list[tuple[str, int, float]]:
    """Return kind, freedom and factor of every column with one entry, in their order."""
    entries: list[tuple[str, int, float]] = []
    for kind in columns:
        if kind == "armature":
            for j in _single(model):
                mimic = model.joints[j].mimic
                entries.append((kind, model.idx_v[j], mimic.ratio**2 if mimic else 1.0))
        elif kind != "inertia":
            entries += [(kind, k, 1.0) for k in range(model.nv)]
    return entries


def _single(model: Model) -> list[int]:
    """Return the joints with one freedom, mimic joints included."""
    return [j for j, joint in enumerate(model.joints) if SIZES[joint.kind][1] == 1]
