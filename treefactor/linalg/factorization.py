"""Factorize the joint-space inertia matrix: H = L^T D L (LTDL) or H = L^T L (LTL), without fill.

L has the pattern of the lower triangle of H. Pinocchio's U is L^T, MuJoCo's qLD is this L, and the U D U^T
of Shimanovsky is the same factorization; D is the same in all of them.
"""

from __future__ import annotations

import numpy as np

from .._util.validation import as_float, as_real, check_choice
from ..tree.packing import LAYOUTS
from ..tree.tree import Tree, require_tree
from ._single_calls import new_factor  # type: ignore[import-not-found]  # compiled
from .factors import FACTORIZED as FACTORIZED
from .factors import UNTOUCHED as UNTOUCHED
from .factors import Factor
from .factors import _restored as _restored  # pickles name it here
from .pattern_check import check_pattern as check_pattern


def factor(
    H,
    tree: Tree,
    kind: str = "LTDL",
    layout: str = "dense",
    shift=None,
    triangle: str = "lower",
    num_threads: int = 1,
    check: bool = False,
    dtype=np.float64,
) -> Factor:
    """Factorize H + diag(shift) along its tree.

    Parameters
    ----------
    H : array_like
        Symmetric positive definite: ``(..., n, n)``, or ``(..., nnz)`` with ``layout="packed"``, or
        ``(blocks, nnz, 8)`` (16 for float32) with ``layout="lanes"`` as `Tree.pack` returns it. Only the
        pattern's entries in the declared triangle are read. Units are those of the joints: kg m^2, kg.
    tree : Tree
    kind : {"LTDL", "LTL"}
        H = L^T D L with a unit diagonal in L, or H = L^T L.
    layout : {"dense", "packed", "lanes"}
    shift : float or array_like, shape (n,) or (..., n), optional
        Added to the diagonal: armature, implicit damping, a proximal term.
    triangle : {"lower", "upper"}
        The triangle of a dense H to read.
    num_threads : int
        Threads over a batch or over the subtrees of a large tree, for this and all later calls of the
        factor; -1 for all cores. The results do not depend on it.
    check : bool
        Raise if a dense H has entries outside the pattern or is not symmetric.
    dtype : {float64, float32}
        Of the factor and of all results; float32 for batches only. Its errors are those of float64 times
        5e8: about 1e-7 times the condition number of H.

    Returns
    -------
    Factor

    Raises
    ------
    ShapeError, DtypeError
        If an argument has the wrong type or shape.
    NotPositiveDefiniteError
        If a single H is not positive definite or not finite; names the row and joint. In a batch the other
        matrices are factorized, and `Factor.status` names the row.
    PatternError
        With ``check=True``, if H is not symmetric or has entries outside the pattern.

    Notes
    -----
    Featherstone (2008), table 6.3; Shimanovsky, algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> import treefactor as tf
    >>> tree = tf.Tree([-1, 0, 0])
    >>> H = np.array([[4.0, 1.0, 2.0], [1.0, 2.0, 0.0], [2.0, 0.0, 5.0]])
    >>> f = tf.factor(H, tree)
    >>> L, D = f.L(), f.D()
    >>> np.allclose(L.T @ np.diag(D) @ L, H)
    True
    >>> f.solve([7.0, 3.0, 7.0])
    array([1., 1., 1.])
    """
    if shift is None and not check:
        fast = new_factor(Factor, H, tree, kind, layout, triangle, num_threads, dtype)
        if fast is not None:
            return fast
    require_tree(tree)
    check_choice("layout", layout, LAYOUTS)
    H = as_real(H, "H", as_float(dtype))
    batch = tree.batch_of(H, layout)
    if check and layout == "dense":
        check_pattern(H, tree)
    result = Factor(tree, batch, kind, layout, triangle, num_threads, dtype)
    return result.refactor(H, shift)
