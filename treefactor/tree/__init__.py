"""Kinematic trees: the parent array, the layouts of H along it, and operation counts.

`tree` has the class `Tree`, `operation_count` and `packing` the bodies of its methods; `sparse` converts to
and from SciPy's matrices; `_pattern` analyses a tree for the kernels and chooses those of this processor.
"""

from .operation_count import CostKind, OperationCount
from .packing import LAYOUTS
from .tree import FREEDOMS, Tree, freedom_names, require_tree

__all__ = [
    "FREEDOMS",
    "LAYOUTS",
    "CostKind",
    "OperationCount",
    "Tree",
    "freedom_names",
    "require_tree",
]
