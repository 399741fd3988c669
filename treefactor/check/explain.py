"""Explain why an engine reads a file differently from Pinocchio when no adapter guides it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from .. import tolerances
from .._util.engine import Engine
from ..exceptions import AdapterError
from .compare import Reference, Sample, answering, largest_force, relative, translated, worst
from .differences import FIXED_BASE, FREE_ARMATURE, REFUSED, TENDONS, Cause, explain, inertial_changes


@dataclass(frozen=True)
class Plain:
    """One ordinary way of loading: causes, error of H, unexplained remainder, and |ΔH|."""

    causes: list[Cause]
    error: float | None = None
    unexplained: float = 0.0
    delta: np.ndarray | None = None


def plain_way(adapter: Engine, way: str, reference: Reference) -> Plain:
    """Load the file in one ordinary way, and explain what differs."""
    try:
        return _compared(adapter, way, reference)
    except AdapterError as error:
        reason = str(error).removeprefix(f"{reference.robot.path}: ")
        return Plain([Cause(f"{REFUSED}: {reason}")])


def _compared(adapter: Engine, way: str, reference: Reference) -> Plain:
    """Return the comparison for one way of loading that the engine accepts."""
    robot, gravity = reference.robot, reference.model.gravity.linear
    first = []
    with closing(adapter.load_plain(robot.path, robot.floating, gravity, way)) as body, answering():
        if robot.floating and not body.floating:
            first, reference = [Cause(FIXED_BASE)], reference.on_fixed_base()
            if not reference.model.nv:
                return Plain(first)
        theirs = [translated(adapter, body, reference.model, s) for s in reference.states]
        file, engine = adapter.file_inertials(robot.path, body.floating), adapter.inertials(body)
        groups = inertial_changes(file, engine, adapter.TENSOR_CAUSE[way])
        if hasattr(adapter, "model_changes"):  # PyBullet does not support rotors
            groups |= adapter.model_changes(body, reference.model)
        causes, unexplained = _explained(reference, theirs, file, groups)
    deltas = [s.delta(H) for s, (H, _) in zip(reference.states, theirs, strict=True)]
    error = float(np.max(deltas))
    return Plain([*first, *causes], error, unexplained, None if first else deltas[-1])


def mjcf_reader(adapter, reference: Reference) -> Plain:
    """Find what Pinocchio reads from an MJCF differently from MuJoCo, which defines the format."""
    with closing(adapter.load(reference.robot.path, gravity=None)) as body, answering():
        own, other = reference.adapter.carried(reference.model, adapter.inertials(body))
        theirs = [translated(adapter, body, reference.model, s) for s in reference.states]
        loose, tendons = adapter.without_tendon_armature(body)
        without = [in_body_axes(adapter, loose, reference, s) for s in reference.states]
        turned = [translated(adapter, loose, reference.model, s) for s in reference.states]
        geared = tuple(joint.name for joint in body.joints if joint.free and body.armature[joint.v][:3].any())
        groups = inertial_changes(own, other, "another inertia tensor")
        groups |= adapter.model_changes(body, reference.model)
        groups |= reference.adapter.placement_changes(reference.model, body)
    causes, left = _explained(reference, without, own, groups)
    if tendons:
        samples = zip(reference.states, theirs, turned, strict=True)
        effect = max(float(s.delta(s.H + t[0] - w[0]).max()) for s, t, w in samples)
        causes.append(Cause(TENDONS, effect, tendons))
    if geared:
        pairs = zip(reference.states, turned, without, strict=True)
        effect = max(float(np.abs(t[1] - w[1]).max() / largest_force(*t, s.v)) for s, t, w in pairs)
        causes.append(Cause(FREE_ARMATURE, effect, geared, quantity="bias"))
    causes = [replace(cause, way="Pinocchio's reader of MJCF") for cause in causes]
    error = worst(*(s.delta(H).max() for s, (H, _) in zip(reference.states, theirs, strict=True)))
    return Plain(causes, error, left)


def in_body_axes(adapter, body, reference: Reference, s: Sample) -> tuple[np.ndarray, np.ndarray]:
    """Return H and bias as `translated` does, with the armature of free joints along the axes of the body."""
    model = reference.model
    H, bias = translated(adapter, body, model, s)
    unturned = reference.adapter.pin.neutral(model)
    there, here = (
        T @ np.diag(body.armature) @ T.T for T in (adapter.transform(body, model, q) for q in (s.q, unturned))
    )
    return H - there + here, bias + there @ adapter.acceleration_offset(body, model, s.q, s.v)


def _explained(reference: Reference, theirs: list, file: dict, groups: dict) -> tuple[list[Cause], float]:
    """Find the causes for which an engine has other H and bias, and what they leave unexplained."""

    def left(changes: list) -> float:
        mine = (reference.changed(s, file, changes) for s in reference.states)
        return worst(*(
            worst(relative(t[0], m[0]), float(np.abs(t[1] - m[1]).max() / largest_force(*t, s.v)))
            for t, m, s in zip(theirs, mine, reference.states, strict=True)
        ))  # fmt: skip

    def effect(changes: list) -> float:
        return max(float(s.delta(reference.changed(s, file, changes)[0]).max()) for s in reference.states)

    return explain(groups, left, effect, tolerances.PLAIN_H)


def listed(causes: Iterable[Cause]) -> str:
    """Format the causes as text, one way of loading after another."""
    causes = list(causes)
    ways = dict.fromkeys(cause.way for cause in causes)
    return ". ".join(
        f"{way}: " + "; ".join(str(cause) for cause in causes if cause.way == way) for way in ways
    )
