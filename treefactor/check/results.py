"""Define the results of `treefactor check`: one record for every engine and robot, with a verdict."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace

import numpy as np

from .differences import Cause

AGREES, EXPLAINED, DISAGREES, CANNOT_LOAD = "agrees", "explained", "disagrees", "cannot load"
GOOD = (AGREES, EXPLAINED)


@dataclass(frozen=True)
class Detail:
    """Arrays that the HTML page draws for a robot.

    Attributes
    ----------
    parent : tuple of int
    names : tuple of str
        Tree and joints in Pinocchio's order.
    delta, delta_plain : ndarray, shape (n, n), or None
        ``|H_ij - H_pin_ij| / sqrt(H_pin_ii H_pin_jj)`` of the last sample, through the adapter and the
        ordinary way.

    Notes
    -----
    Thread-compatible.
    """

    parent: tuple[int, ...]
    names: tuple[str, ...]
    delta: np.ndarray | None = None
    delta_plain: np.ndarray | None = None


@dataclass(frozen=True)
class Row:
    """Result of one engine on one robot, worst over the samples.

    Attributes
    ----------
    robot, base, engine : str
    n : int or None
        Freedoms.
    density : float or None
        Share of non-zeros in H.
    condition : float or None
        Largest condition number of H; freedoms that move no inertia are given an armature of 1.
    same_tree : bool or None
        Whether the engine's parent array is Pinocchio's, joints matched by name.
    error_h : float or None
        ``max|H - H_ref| / max|H_ref|``; the reference is Pinocchio's H, for Pinocchio itself the columns
        RNEA(e_k) - RNEA(0).
    error_bias : float or None
        Bias forces against Pinocchio's, over the largest force of the sample.
    error_factor : float or None
        ``max|L^T D L - H| / max|H|``.
    error_ld : float or None
        Our L and D against the engine's own factor (Pinocchio's U and D, MuJoCo's qLD), relative.
    error_qdd : float or None
        Our q̈ = H^-1 (tau - bias), from this engine's H and bias, against Pinocchio's ABA, relative.
    error_own : float or None
        The engine's own q̈ (of PyBullet the stepped velocity) against Pinocchio's ABA, relative.
    error_plain : float or None
        Largest ``|H_ij - H_pin_ij| / sqrt(H_pin_ii H_pin_jj)`` with the file loaded the ordinary way; light
        joints count as much as a heavy base.
    causes : tuple of Cause
        What explains error_plain.
    verdict : {"agrees", "explained", "disagrees", "cannot load"}
    reason : str
        Why, where the verdict is not "agrees".
    detail : Detail or None

    Notes
    -----
    Thread-compatible.
    """

    robot: str
    base: str
    engine: str
    n: int | None = None
    density: float | None = None
    condition: float | None = None
    same_tree: bool | None = None
    error_h: float | None = None
    error_bias: float | None = None
    error_factor: float | None = None
    error_ld: float | None = None
    error_qdd: float | None = None
    error_own: float | None = None
    error_plain: float | None = None
    causes: tuple[Cause, ...] = ()
    verdict: str = CANNOT_LOAD
    reason: str = ""
    detail: Detail | None = field(default=None, compare=False, repr=False)

    def as_dict(self) -> dict:
        """Return plain values without the matrices, for JSON."""
        return asdict(replace(self, detail=None))
