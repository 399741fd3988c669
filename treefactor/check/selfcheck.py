"""Check properties that every inertia matrix must have, whatever engine computed it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._util.validation import as_real
from ..exceptions import NotPositiveDefiniteError, ShapeError
from ..linalg.factorization import factor
from ..tolerances import SELF_CHECK, SYMMETRY
from ..tree.tree import Tree


@dataclass(frozen=True)
class SelfCheck:
    """Deviations of one H, relative to its largest entry; None for checks that were not requested.

    Attributes
    ----------
    asymmetry : float
        ``max|H - H^T|``.
    outside : float
        Largest entry where the tree has none.
    columns : float or None
        Largest deviation of column k from ``rnea(e_k) - rnea(0)``; relative to the largest entry of
        ``rnea(0)`` where that is more, for the difference is rounded as it is.
    mass : float or None
        Deviation of the base's linear block from ``mass * identity``, relative to the mass.
    failing_row : int or None
        Row whose pivot is not positive.
    failing_name : str or None
        Its joint.
    findings : tuple of str
        Descriptions of what is wrong; empty if the matrix passes.

    Notes
    -----
    Immutable.
    """

    asymmetry: float
    outside: float
    columns: float | None
    mass: float | None
    failing_row: int | None
    failing_name: str | None
    findings: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether there are no findings."""
        return not self.findings


def self_check(
    H,
    tree: Tree,
    rnea: Callable[[np.ndarray], np.ndarray] | None = None,
    mass: float | None = None,
    base: slice = slice(0, 3),
    allowed: float = SELF_CHECK,
) -> SelfCheck:
    """Check an inertia matrix without any reference engine.

    Parameters
    ----------
    H : array_like, shape (n, n)
        Both triangles are read.
    tree : Tree
        Named, so that findings name joints.
    rnea : callable, optional
        ``rnea(a)`` are the generalized forces for an acceleration a, at any fixed configuration and velocity.
    mass : float, optional
        Total mass (kg) of a robot with a floating base.
    base : slice
        Rows of the base's linear velocity.
    allowed : float
        Relative deviation that counts as none.

    Returns
    -------
    SelfCheck

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> from treefactor.check import self_check
    >>> tree = tf.Tree([-1, 0, 0], names=["hip", "left", "right"])
    >>> self_check(np.diag([1.0, 0.0, 2.0]), tree).findings
    ('H is not positive definite: the pivot of row 1 (left) is not positive',)
    """
    H = as_real(H, "H")
    if H.shape != (tree.n, tree.n):
        raise ShapeError(f"H must have shape {(tree.n, tree.n)}, got {H.shape}", H.shape, (tree.n, tree.n))
    scale = np.abs(H).max(initial=0.0) or 1.0
    findings = []

    def judge(deviation: np.ndarray, limit: float, complaint: str) -> float:
        worst = float(np.abs(deviation).max(initial=0.0))
        if not worst <= limit:  # NaN counts as wrong
            row, column = np.unravel_index(np.abs(deviation).argmax(), deviation.shape)
            place = ", ".join(f"{k} ({tree.name(k)})" if tree.names else str(k) for k in (row, column))
            findings.append(f"{complaint}: {worst:.1e} at row and column {place}")
        return worst

    asymmetry = judge((H - H.T) / scale, SYMMETRY, "H is not symmetric")
    outside = judge(np.where(tree.mask(), 0.0, H) / scale, 0.0, "H has entries outside the tree's pattern")
    columns = at_base = failing = name = None
    if rnea is not None:
        still = np.array(rnea(np.zeros(tree.n)))
        expected = np.array([np.array(rnea(e)) - still for e in np.eye(tree.n)]).reshape(H.shape).T
        size = np.maximum(scale, np.abs(still).max(initial=0.0))
        columns = judge((H - expected) / size, allowed, "a column k of H is not rnea(e_k) - rnea(0)")
    if mass is not None:
        block = H[base, base] / mass - np.eye(len(H[base, base]))
        at_base = judge(block, allowed, f"the base does not carry the total mass of {mass:g} kg")
    try:
        factor(H, tree)
    except NotPositiveDefiniteError as error:
        findings.append(str(error))
        failing, name = error.row, error.name
    return SelfCheck(asymmetry, outside, columns, at_base, failing, name, tuple(findings))
