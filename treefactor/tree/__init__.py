"""Kinematic trees: the parent array, the packed layout of H along it, and operation counts.

`tree` has the class `Tree`; `sparse` converts to and from SciPy's matrices; `_pattern` holds the tree as
the kernels take it and chooses the kernels for this processor.
"""

from .tree import (
    FREEDOMS,
    LAYOUTS,
    CostKind,
    OperationCount,
    Tree,
    freedom_names,
    require_tree,
)

__all__ = [
    "FREEDOMS",
    "LAYOUTS",
    "CostKind",
    "OperationCount",
    "Tree",
    "freedom_names",
    "require_tree",
]
