"""Factorize MuJoCo's ``MjData.M`` in place; its packed rows are ordered as ours."""

from __future__ import annotations

import mujoco
import numpy as np

from .._util.engine_objects import require_object
from ..linalg.bound_factor import BoundFactor
from ..tree.tree import Tree, freedom_names
from ._mujoco_body import adapter_error, joint_names


class Accelerator(BoundFactor):
    """Factor of ``data.M``, read in place, for scripts that call MuJoCo.

    Parameters
    ----------
    model : mujoco.MjModel
    data : mujoco.MjData
        Only ``data.M`` is used; ``data.qLD`` stays as it is.

    Raises
    ------
    AdapterError
        If this version of MuJoCo stores H in another layout; 3.3.3 and later use this one.

    Notes
    -----
    Thread-compatible.

    Call ``factor`` after ``mujoco.mj_forward`` or ``mj_crb``, then any operation of `treefactor.Factor`. The
    rows of "simple" freedoms, which are free of others' inertia, hold nothing but their diagonal: they are
    roots of `tree`.

    Examples
    --------
    >>> import mujoco, numpy as np
    >>> from treefactor.adapters.mujoco_ import Accelerator
    >>> model = mujoco.MjModel.from_xml_string('''<mujoco><worldbody><body><joint/><geom size=".1"/>
    ...     <body pos="0 1 0"><joint/><geom size=".1"/></body></body></worldbody></mujoco>''')
    >>> data = mujoco.MjData(model)
    >>> accelerator = Accelerator(model, data)
    >>> mujoco.mj_forward(model, data)
    >>> x = accelerator.factor().solve(np.ones(2))
    >>> y = np.empty((1, 2))
    >>> mujoco.mj_solveM(model, data, y, np.ones((1, 2)))
    >>> np.allclose(x, y)
    True
    """

    ALL_ZERO = "data.M is all zero: call mujoco.mj_forward(model, data) before factor()"

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData):
        for name, value, kind in (("model", model, mujoco.MjModel), ("data", data, mujoco.MjData)):
            require_object(value, kind, name, f"a mujoco.{kind.__name__}")
        super().__init__(_rows(data), _tree(model), layout="packed")
        self._keep(_data=data)  # owns the memory of M


def _rows(data: mujoco.MjData) -> np.ndarray:
    if not hasattr(data, "M"):
        raise adapter_error(f"MuJoCo {mujoco.__version__} has no MjData.M")
    return data.M


def _tree(model: mujoco.MjModel) -> Tree:
    """Return the tree whose packed rows are those of M."""
    parent = np.where(model.M_rownnz > 1, model.dof_parentid, -1)
    names = joint_names(model)
    joints, counts = np.unique(model.dof_jntid, return_counts=True)
    tree = Tree(parent, freedom_names([names[j] for j in joints], counts))
    if not np.array_equal(tree.columns, model.M_colind):
        raise adapter_error(
            f"MuJoCo {mujoco.__version__} stores MjData.M in a way this adapter does not know"
        )
    return tree
