"""Compile a model for the recursions: bodies with one kind of motion each, about or along their z axis.

Moments about a point far from a rotating body lose digits: 2 log2(r) bits for a lever arm of r radii of
gyration. A body that can rotate farther from its parent's local origin than LONGEST_ARM radii of gyration
therefore gets its own local origin, at its joint.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..model.joints import ROTATIONS
from ..model.model import Model
from ..model.parameters import COLUMNS, ROWS, TENSOR, moved_parameters
from ..tree._pattern import Pattern
from ._recursions import BODY, KINDS, Bodies

SLIDING = (
    "prismatic",
    "helical",
    "planar",
    "translation",
    "freeflyer",
)  # kinds of unlimited displacement
TURNING = tuple(kind for kind in KINDS if kind not in ("prismatic", "translation"))
ABOUT_Z = ("revolute", "continuous", "prismatic")  # kinds whose kernels are faster with permuted axes
AXIS_ROUNDING = 1e-15  # difference between axes along each other, after products of rotations
X, Y, Z = np.eye(3)
TREE_TURNS = tuple(
    np.column_stack(axes) for axes in ((Y, Z, X), (Z, Y, -X), (Z, X, Y), (X, Z, -Y), (X, Y, Z), (Y, X, -Z))
)  # in the order of the enum TreeTurn of bodies.h, from 1
QUARTER_BACK = np.column_stack((-Y, X, Z))  # of a body's axes by a right angle about z
LONGEST_ARM = 16  # distance from a local origin, in radii of gyration


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
    return Bodies(
        structs_with(layout, model.parameters),
        model.gravity,
        model.extended,
        sets_of(layout, model.parameters, model._rotors),
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
    table = table_of(source)
    _choose_origins(table)
    massive = [i for i, body in enumerate(table) if body["joint"] >= 0]
    axes = np.array([table[i]["axes"] for i in massive]).reshape(-1, 3, 3)
    layout = Layout(
        _structs(table),
        [body["parent"] for body in table],
        np.array(massive, dtype=np.intp),
        axes,
        *_permutations(axes),
        Pattern(model.tree),
        units(source),
        coupling_of(model),
    )
    return model._shared.setdefault("layout", layout)


def _permutations(axes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sources and signs of parameters in permuted axes, and the numbers of all other rotations."""
    permuted = np.isin(axes, (-1.0, 0.0, 1.0)).all((1, 2))
    own = np.where(permuted[:, None, None], axes, np.eye(3))
    at, sign = np.abs(own).argmax(-1), own.sum(-1)
    source, signs = np.zeros((len(axes), 10), dtype=np.intp), np.ones((len(axes), 10))
    source[:, 1:4], signs[:, 1:4] = 1 + at, sign
    source[:, 4:] = TENSOR[at[:, ROWS], at[:, COLUMNS]]
    signs[:, 4:] = sign[:, ROWS] * sign[:, COLUMNS]
    return source + 10 * np.arange(len(axes))[:, None], signs, np.flatnonzero(~permuted)


def turned_parameters(layout: Layout, pi: np.ndarray) -> np.ndarray:
    """Return the parameters (..., njoints, 10) of bodies in their own axes."""
    turned = np.take(pi.reshape(*pi.shape[:-2], 10 * pi.shape[-2]), layout.source, axis=-1)
    turned *= layout.sign
    if layout.turned.size:
        turned[..., layout.turned, :] = moved_parameters(
            pi[..., layout.turned, :], layout.axes[layout.turned]
        )
    return turned


def structs_with(layout: Layout, pi: np.ndarray) -> np.ndarray:
    """Return the structs of a layout with the inertias of parameters (njoints, 10)."""
    structs, turned = layout.structs.copy(), turned_parameters(layout, pi)
    structs["mass"][layout.massive], structs["first"][layout.massive] = turned[:, 0], turned[:, 1:4]
    structs["tensor"][layout.massive] = turned[:, TENSOR.ravel()]
    structs["carried"] = _carried(structs["mass"].tolist(), layout.parents)
    return structs


def table_of(model) -> list[dict]:
    """Return the bodies of a `treefactor.Model`; a universal joint becomes two, the first without mass."""
    table: list[dict] = []
    last, axes = [], []  # body and axes in which the children of a joint are placed
    for i, joint in enumerate(model.joints):
        parent, A = (last[joint.parent], axes[joint.parent]) if joint.parent >= 0 else (-1, np.eye(3))
        R, p = A.T @ joint.R, A.T @ joint.p
        motions = [(joint.kind, joint.axis)]
        if joint.kind == "universal":
            motions = [("revolute", axis) for axis in joint.axis]
        for count, (kind, axis) in enumerate(motions):
            A = np.eye(3) if axis is None else _frame(axis)
            aligned, A, offset, turn = _aligned(kind, R @ A, A)
            table.append(_body(model, i, kind, parent, aligned, p, table))
            table[-1]["q"] += count
            table[-1]["offset"] += offset
            table[-1]["turn"] = turn
            parent, R, p = len(table) - 1, A.T, np.zeros(3)
        table[-1] |= {"joint": i, "axes": A.T}
        last.append(parent)
        axes.append(A)
    _number_angles(table)
    _name_children(table)
    _take_inertias(table, model)
    return table


def _body(model, i: int, kind: str, parent: int, R: np.ndarray, p: np.ndarray, table: list[dict]) -> dict:
    """Return a body without mass at R and p with the motion of a kind."""
    joint = model.joints[i]
    before = table[-1] if table else {"v": 0, "freedoms": 0}
    root = table[parent]["root"] if parent >= 0 else kind
    return {
        "kind": KINDS.index(kind),
        "parent": parent,
        "root": root,
        "q": model.idx_q[i],
        "v": before["v"] + before["freedoms"],
        "freedoms": {"spherical": 3, "planar": 3, "translation": 3, "freeflyer": 6}.get(kind, 1),
        "angle": -1,
        "joint": -1,
        "circle": bool(joint.mimic) and model.joints[joint.mimic.leader].kind == "continuous",
        "copied": 6 if root == "freeflyer" else 0,
        "ratio": joint.mimic.ratio if joint.mimic else 1.0,
        "offset": joint.mimic.offset if joint.mimic else 0.0,
        "turn": 0,
        "pitch": joint.pitch,
        "R": R,
        "p": p,
        "axes": np.eye(3),
        "mass": 0.0,
        "first": np.zeros(3),
        "tensor": np.zeros((3, 3)),
    }


def _aligned(kind: str, R: np.ndarray, A: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, int]:
    """Return a body's axes R in its parent and A in its joint, the offset of its angle and its `TreeTurn`.

    A body whose z axis lies along or against an axis of its parent gets one of `TREE_TURNS` for R: its own x
    and y axes are turned by right angles about z, or the angle of a revolute joint gets an offset.
    """
    if kind not in ABOUT_Z:
        return R, A, 0.0, 0
    for turn, C in enumerate(TREE_TURNS, start=1):
        if np.abs(C[:, 2] - R[:, 2]).max() < AXIS_ROUNDING:
            D = C.T @ R
            angle = math.atan2(D[1, 0], D[0, 0])
            quarters = round(angle / (math.pi / 2))
            if abs(angle - quarters * (math.pi / 2)) < AXIS_ROUNDING:
                return C, A @ np.linalg.matrix_power(QUARTER_BACK, quarters % 4), 0.0, turn
            if kind == "revolute":
                return C, A, angle, turn
    return R, A, 0.0, 0


def _frame(axis: np.ndarray) -> np.ndarray:
    """Return a rotation whose z column is the axis; a permutation for coordinate axes."""
    x = np.eye(3)[np.argmin(np.abs(axis))]
    x = x - (x @ axis) * axis
    x /= np.linalg.norm(x)
    (a, b, c), (d, e, f) = axis, x  # np.cross would take half the time of a body
    return np.array([x, [b * f - c * e, c * d - a * f, a * e - b * d], axis]).T


def _take_inertias(table: list[dict], model) -> None:
    """Store masses, first moments and tensors about the origins, in the bodies' axes; masses of subtrees."""
    massive = [body for body in table if body["joint"] >= 0]
    axes = np.array([body["axes"] for body in massive]).reshape(-1, 3, 3)
    turned = moved_parameters(model.parameters, axes)
    for body, pi in zip(massive, turned, strict=True):
        body |= {"mass": float(pi[0]), "first": pi[1:4], "tensor": pi[TENSOR]}
    carried = _carried([body["mass"] for body in table], [body["parent"] for body in table])
    for body, mass in zip(table, carried, strict=True):
        body["carried"] = mass


def _carried(mass: list[float], parents: list[int]) -> list[float]:
    """Return the mass of the subtree of every body."""
    carried = list(mass)
    for i in range(len(carried) - 1, -1, -1):
        if parents[i] >= 0:
            carried[parents[i]] += carried[i]
    return carried


def _number_angles(table: list[dict]) -> None:
    """Number the angles whose sine and cosine are computed."""
    turning = (body for body in table if KINDS[body["kind"]] in ("revolute", "helical"))
    for angle, body in enumerate(turning):
        body["angle"] = angle


def _name_children(table: list[dict]) -> None:
    """Store whether a body has children, and whether it is the last child of its parent."""
    parents: set[int] = set()
    for i in range(len(table) - 1, -1, -1):
        table[i]["leaf"] = i not in parents
        table[i]["last"] = table[i]["parent"] not in parents
        parents.add(table[i]["parent"])


def _choose_origins(table: list[dict]) -> None:
    """Store the body whose joint is each body's local origin, and the number of freedoms of its ancestors."""
    arms: list[float] = []
    for i, (body, radius) in enumerate(zip(table, _radii(table), strict=True)):
        kind, parent = KINDS[body["kind"]], body["parent"]
        body["local"], body["above"], arm = i, 0, 0.0
        if parent >= 0:
            carrier = table[parent]
            body["above"] = carrier["above"] + carrier["freedoms"]
            arm = arms[parent] + (math.inf if kind in SLIDING else math.hypot(*body["p"]))
            if kind in TURNING and arm > LONGEST_ARM * radius:
                arm = 0.0
            else:
                body["local"] = carrier["local"]
        arms.append(arm)


def _radii(table: list[dict]) -> list[float]:
    """Return each subtree's radius of gyration about the axis, or the shortest; infinite without mass."""
    first = [body["first"] for body in table]
    tensor = [body["tensor"] for body in table]
    radii = [math.inf] * len(table)
    for i in range(len(table) - 1, -1, -1):
        body = table[i]
        mass, parent, R, p = body["carried"], body["parent"], body["R"], body["p"]
        if mass > 0.0:
            spherical = KINDS[body["kind"]] in ("spherical", "freeflyer")
            moment = np.linalg.eigvalsh(tensor[i])[0] if spherical else tensor[i][2, 2]
            radii[i] = math.sqrt(max(moment, 0.0) / mass)
        if parent >= 0:
            h = R @ first[i]
            shift = np.outer(p, h) + np.outer(h + mass * p, p)
            first[parent] = first[parent] + h + mass * p
            tensor[parent] = tensor[parent] + R @ tensor[i] @ R.T + np.trace(shift) * np.eye(3) - shift
    return radii


def _structs(table: list[dict]) -> np.ndarray:
    """Return the bodies as an array of C structs, matrices column by column."""
    structs = np.zeros(len(table), dtype=BODY)
    for struct, body in zip(structs, table, strict=True):
        for name in BODY.names:
            value = body[name]
            struct[name] = value.T.ravel() if np.ndim(value) == 2 else value
    return structs


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
    inertias = np.zeros((*pi.shape[:-2], len(layout.structs), 10))
    inertias[..., layout.massive, :] = turned_parameters(layout, pi)
    return np.concatenate([inertias.reshape(*pi.shape[:-2], 10 * len(layout.structs)), rotors], axis=-1)


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
