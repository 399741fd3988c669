"""Couple the mimic joints of a URDF on Pinocchio's free model."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pinocchio as pin

from .._util.xml import as_path, numbers, parse, part_error
from ..exceptions import AdapterError
from ._pinocchio_arguments import require_model


def mimic_joints(path) -> dict[str, tuple[str, float, float]]:
    """Return joint followed, multiplier and offset of the mimic joints of a URDF, by name."""
    path, mimics = as_path(path, "pinocchio"), {}
    for joint in parse(path, "pinocchio").iterfind("joint[mimic]"):
        name, words = joint.get("name", ""), joint.find("mimic").attrib
        values = [numbers(words.get(key, default)) for key, default in (("multiplier", "1"), ("offset", "0"))]
        if not all(value and len(value) == 1 for value in values):
            reason = f"multiplier and offset of the mimic joint {name!r} must be numbers, got {words}"
            raise part_error(path, "pinocchio", reason, name)
        mimics[name] = words.get("joint", ""), values[0][0], values[1][0]
    return mimics


def leading(free: pin.Model, mimic: Mapping) -> tuple[np.ndarray, np.ndarray]:
    """Return masks, shape (nq,) and (nv,), of the entries of q and v of joints that follow no other.

    Those of Pinocchio's model with mimic joints, in its order.
    """
    require_model(free, "free")
    leads = [name not in mimic for name in list(free.names)[1:]]
    return np.repeat(leads, list(free.nqs)[1:]), np.repeat(leads, list(free.nvs)[1:])


def coupling(free: pin.Model, mimic: Mapping) -> np.ndarray:
    """Return G with v_free = G v for coupled mimic joints, shape (free.nv, m).

    Ratios along chains of mimic joints are multiplied; a joint that follows a fixed joint does not move.

    Parameters
    ----------
    free : pinocchio.Model
        Loaded from a URDF without its mimic joints.
    mimic : mapping
        As `mimic_joints` returns it.

    Raises
    ------
    AdapterError
        If mimic joints follow each other in a circle, or follow a joint that is absent or has several
        freedoms.
    """
    _, leads = leading(free, mimic)
    G = np.diag(leads.astype(float))
    for name in _following(free, mimic):
        leader, multiplier, _ = _followed(free, mimic, name)
        if free.existJointName(leader):
            G[_at_v(free, name), _at_v(free, leader)] = multiplier
    return G[:, leads]


def constraints(free: pin.Model, mimic: Mapping) -> np.ndarray:
    """Return A with A v_free = 0 for coupled mimic joints: one row v - multiplier v_followed each."""
    following = _following(free, mimic)
    A = np.zeros((len(following), free.nv))
    for row, name in zip(A, following, strict=True):
        leader, multiplier, _ = mimic[name]
        if free.existJointName(leader):
            row[_at_v(free, leader)] = -multiplier
        row[_at_v(free, name)] = 1.0
    return A


def coupled_configuration(free: pin.Model, mimic: Mapping, q) -> np.ndarray:
    """Return q with every mimic joint where the joint it follows requires it, shape (free.nq,)."""
    q = np.array(q, dtype=float)
    for name in _following(free, mimic):
        leader, multiplier, offset = _followed(free, mimic, name)
        angle = multiplier * _position(free, leader, q) + offset
        j = free.getJointId(name)
        at = slice(free.idx_qs[j], free.idx_qs[j] + free.nqs[j])
        q[at] = (np.cos(angle), np.sin(angle)) if free.nqs[j] == 2 else angle
    return q


def _following(free: pin.Model, mimic: Mapping) -> list[str]:
    """Return the mimic joints that are not fixed."""
    require_model(free, "free")
    return [name for name in list(free.names)[1:] if name in mimic]


def _followed(free: pin.Model, mimic: Mapping, name: str) -> tuple[str, float, float]:
    """Return the joint at the end of a chain of mimic joints, and x = multiplier x_end + offset."""
    multiplier, offset, chain = 1.0, 0.0, [name]
    while (name := chain[-1]) in mimic and free.existJointName(name):
        leader, factor, shift = mimic[name]
        multiplier, offset = multiplier * factor, multiplier * shift + offset
        if leader in chain:
            raise _mimic_error(f"mimic joints follow each other: {', '.join(chain)}", leader)
        chain.append(leader)
    if not free.existJointName(name) and not free.existFrame(name, pin.FrameType.FIXED_JOINT):
        raise _mimic_error(f"joint {chain[-2]!r} follows {name!r}, which does not exist", chain[-2])
    for joint in filter(free.existJointName, chain):
        if free.nvs[free.getJointId(joint)] != 1:
            raise _mimic_error(f"joint {joint!r} has several freedoms, and is or has a mimic joint", joint)
    return name, multiplier, offset


def _at_v(free: pin.Model, name: str) -> int:
    return free.idx_vs[free.getJointId(name)]


def _position(free: pin.Model, name: str, q: np.ndarray) -> float:
    """Return angle or distance of a joint with one freedom; zero if it is fixed."""
    if not free.existJointName(name):
        return 0.0
    j = free.getJointId(name)
    x = q[free.idx_qs[j] : free.idx_qs[j] + free.nqs[j]]
    return float(np.arctan2(x[1], x[0]) if x.size == 2 else x[0])


def _mimic_error(message: str, joint: str) -> AdapterError:
    return AdapterError(message, engine="pinocchio", joint=joint)
