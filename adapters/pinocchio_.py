"""Read trees and inertia matrices of Pinocchio's models, and speed up linear algebra on its ``data``."""

from __future__ import annotations

from . import requires

with requires("Pinocchio", "pinocchio"):
    import pinocchio as pin

from pathlib import Path

import numpy as np

from .._util.validation import as_real, flatten
from .._util.xml import as_path, fault_of_xml, file_error
from ..exceptions import AdapterError, ShapeError
from ..linalg.bound_factor import BoundFactor
from . import _pinocchio_cholesky as cholesky
from ._pinocchio_arguments import require_data, require_model
from ._pinocchio_geometry import geometry
from ._pinocchio_mimic import constraints, coupled_configuration, coupling, leading, mimic_joints
from ._pinocchio_model import model
from ._pinocchio_tree import tree

__all__ = [
    "Accelerator",
    "cholesky",
    "constraints",
    "coupled_configuration",
    "coupling",
    "geometry",
    "leading",
    "load",
    "mass_matrix",
    "massless_joints",
    "mimic_joints",
    "model",
    "tree",
]

_crba = pin.crba


def load(path, floating: bool = False, mimic: bool = False) -> pin.Model:
    """Load a URDF, or an MJCF if the file's name ends in .xml.

    Parameters
    ----------
    path : path-like
    floating : bool
        Put a free-flyer named ``root_joint`` under the root link of a URDF; an MJCF is loaded unchanged.
    mimic : bool
        Couple mimic joints to the joint they follow, instead of leaving both free.

    Raises
    ------
    AdapterError
        If the file is missing, not a URDF, holds a number that is not finite, an incomplete
        ``<inertial>``, a negative mass or an axis that is not a direction, or is refused by Pinocchio; names
        the file and the reason.
    """
    from ._plain_urdf import require_complete

    path = as_path(path, "pinocchio")
    if path.is_file():
        require_complete(path, "pinocchio")
    return built(path, floating, mimic)


def built(path: Path, floating: bool, mimic: bool) -> pin.Model:
    """Return the model that Pinocchio builds of a file, also where it leaves out what it cannot read."""
    if not path.is_file():
        raise AdapterError(f"{path}: no such file", engine="pinocchio", file=path)
    try:
        if path.suffix == ".xml":
            return pin.buildModelFromMJCF(str(path))
        if floating:
            return pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer(), mimic=mimic)
        return pin.buildModelFromUrdf(str(path), mimic=mimic)
    except (ValueError, RuntimeError, TypeError) as error:
        reason = " ".join(str(error).split()).replace(str(path), path.name) or type(error).__name__
        fault = fault_of_xml(path)
        reason += f" ({fault})" if fault else ""
        raise file_error(path, "pinocchio", f"Pinocchio cannot load it: {reason}") from error


def mass_matrix(model: pin.Model, data: pin.Data, q) -> np.ndarray:
    """Compute the joint-space inertia matrix H by Pinocchio's CRBA, armature included.

    Parameters
    ----------
    q : array_like, shape (..., nq)
        Configurations, as Pinocchio lays them out.

    Returns
    -------
    ndarray, shape (..., nv, nv)
        Symmetric copies: Pinocchio's Python fills both triangles.
    """
    if type(q) is np.ndarray and q.ndim == 1:
        try:
            return _crba(model, data, q)
        except (TypeError, ValueError):  # below raises an error that names the argument
            pass
    require_model(model)
    require_data(data)
    q = as_real(q, "q")
    if q.shape[-1:] != (model.nq,):
        raise ShapeError(f"q must have shape (..., {model.nq}), got {q.shape}", q.shape, (model.nq,))
    H = np.empty((*q.shape[:-1], model.nv, model.nv))
    for configuration, to in zip(flatten(q, 1), flatten(H, 2), strict=True):
        to[...] = _crba(model, data, configuration)
    return H


def massless_joints(model: pin.Model) -> list[str]:
    """Return the joints that move no inertia: H is singular there. Armature counts as inertia."""
    require_model(model)
    moved = [np.zeros((6, 6)) for _ in range(model.njoints)]
    for j in range(model.njoints - 1, 0, -1):
        moved[j] += model.inertias[j].matrix()
        moved[model.parents[j]] += moved[j]
    armature = np.asarray(model.armature)
    return [
        model.names[j]
        for j in range(1, model.njoints)
        if model.nvs[j]
        and not moved[j].any()
        and not armature[model.idx_vs[j] : model.idx_vs[j] + model.nvs[j]].all()
    ]


class Accelerator(BoundFactor):
    """Factor of ``data.M``, read in place, for scripts that call Pinocchio's CRBA.

    Parameters
    ----------
    model : pinocchio.Model
    data : pinocchio.Data
        Only ``data.M`` is used, its upper triangle; ``data.U`` and ``data.D`` stay as they are.

    Notes
    -----
    Thread-compatible.

    Call ``factor`` after every `pinocchio.crba` or `pinocchio.computeAllTerms`, then any operation of
    `treefactor.Factor`.

    Examples
    --------
    >>> import numpy as np, pinocchio as pin
    >>> from treefactor.adapters.pinocchio_ import Accelerator
    >>> model = pin.buildSampleModelHumanoid()
    >>> data = model.createData()
    >>> accelerator = Accelerator(model, data)
    >>> q, v, tau = pin.neutral(model), np.zeros(model.nv), np.ones(model.nv)
    >>> _, bias = pin.crba(model, data, q), pin.nle(model, data, q, v)
    >>> a = accelerator.factor().solve(tau - bias)
    >>> np.allclose(a, pin.aba(model, data, q, v, tau))
    True
    """

    ALL_ZERO = "data.M is all zero: call pinocchio.crba(model, data, q) before factor()"

    def __init__(self, model: pin.Model, data: pin.Data):
        require_model(model)
        require_data(data)
        if data.M.shape != (model.nv, model.nv):
            expected, got = (model.nv, model.nv), data.M.shape
            message = f"data.M must have shape {expected}, got {got}: data is of another model"
            raise ShapeError(message, got, expected)
        super().__init__(data.M, tree(model), triangle="upper")
        self._keep(_data=data)  # owns the memory of M
