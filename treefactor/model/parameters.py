"""Inertial parameters of bodies: ten numbers, in which dynamics are linear, and coordinates for them.

The ten numbers are those of Pinocchio's ``Inertia.toDynamicParameters``, in the axes of the body's joint and
with the tensor about the joint's origin, not about the centre of mass:

    pi = (m, h_x, h_y, h_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz)     h = m c,  I = I_c + m (c·c 1 - c cᵀ)

The pseudo-inertia holds the second moments, with S = tr(I)/2 1 - I and I = tr(S) 1 - S:

    J = [[S, h], [hᵀ, m]]

A body that is not flat can have the parameters if and only if J is positive definite. The log-Cholesky
coordinates theta = (alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3) reach exactly these (Rucker and Wensing,
"Smooth parameterization of rigid-body inertia", RA-L 7, 2022): J = U Uᵀ with

    U = e^alpha [[e^d1, s12, s13, t1], [0, e^d2, s23, t2], [0, 0, e^d3, t3], [0, 0, 0, 1]]

All functions take and return arrays with any leading axes. Sums of three products are written out, so that
results do not depend on the number of bodies in a call.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._util.validation import as_real, as_size, require_finite
from ..exceptions import InvalidModelError, ShapeError
from ._body_checks import PARAMETERS, TENSOR, as_rows, complement, fault_of, faults

__all__ = [
    "PARAMETERS",
    "fault_of",
    "faults",
    "from_log_cholesky",
    "from_pseudo_inertia",
    "log_cholesky_jacobian",
    "moved_parameters",
    "pseudo_inertia",
    "to_log_cholesky",
]

ROWS, COLUMNS = np.array([0, 0, 1, 0, 1, 2]), np.array([0, 1, 1, 2, 2, 2])  # entries 4 to 9 in the tensor
DIAGONAL = np.array([0, 2, 5])  # in entries 4 to 9
FACTOR_ROWS, FACTOR_COLUMNS = np.array([0, 1, 0, 0, 1, 2]), np.array([1, 2, 2, 3, 3, 3])  # of s and t in U


def pseudo_inertia(pi) -> np.ndarray:
    """Return the pseudo-inertias J of parameters.

    Parameters
    ----------
    pi : array_like, shape (..., 10)
        kg, kg m and kg m^2, in Pinocchio's order.

    Returns
    -------
    ndarray, shape (..., 4, 4)
        Second moments of mass, kg m^2; first moments, kg m, in the last row and column; mass in the corner.

    Raises
    ------
    ShapeError, DtypeError

    Examples
    --------
    >>> from treefactor.model import parameters
    >>> parameters.pseudo_inertia([2, 0, 0, 1, 3, 0, 3, 0, 0, 2]).tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 2.0, 1.0], [0.0, 0.0, 1.0, 2.0]]
    """
    pi = as_rows(pi, 10, "pi")
    J = np.empty((*pi.shape[:-1], 4, 4))
    J[..., :3, :3] = complement(pi[..., TENSOR], 0.5)
    J[..., :3, 3] = J[..., 3, :3] = pi[..., 1:4]
    J[..., 3, 3] = pi[..., 0]
    return J


def from_pseudo_inertia(J) -> np.ndarray:
    """Return the parameters of pseudo-inertias.

    Parameters
    ----------
    J : array_like, shape (..., 4, 4)
        Symmetric; only the upper triangle is read. See `pseudo_inertia`.

    Returns
    -------
    ndarray, shape (..., 10)
        In Pinocchio's order.

    Raises
    ------
    ShapeError, DtypeError

    Examples
    --------
    >>> from treefactor.model import parameters
    >>> parameters.from_pseudo_inertia([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 2, 1], [0, 0, 1, 2]]).tolist()
    [2.0, 0.0, 0.0, 1.0, 3.0, 0.0, 3.0, 0.0, 0.0, 2.0]
    """
    J = as_real(J, "J")
    if J.shape[-2:] != (4, 4):
        raise ShapeError(f"J must have shape (..., 4, 4), got {J.shape}", J.shape, (4, 4))
    return _parameters(J)


def _parameters(J: np.ndarray) -> np.ndarray:
    """Return the parameters of pseudo-inertias, or of derivatives of them."""
    pi = np.empty((*J.shape[:-2], 10), J.dtype)
    pi[..., 0], pi[..., 1:4] = J[..., 3, 3], J[..., :3, 3]
    pi[..., 4:] = complement(J[..., :3, :3], 1.0)[..., ROWS, COLUMNS]
    return pi


def from_log_cholesky(theta) -> np.ndarray:
    """Return the parameters of log-Cholesky coordinates: those of a body that can exist, for any theta.

    Parameters
    ----------
    theta : array_like, shape (..., 10)
        (alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3). The mass is e^(2 alpha), the centre of mass t, m.

    Returns
    -------
    ndarray, shape (..., 10)
        In Pinocchio's order; those of ``pinocchio.LogCholeskyParameters(theta).toDynamicParameters()``.

    Raises
    ------
    ShapeError, DtypeError

    Examples
    --------
    >>> import numpy as np
    >>> from treefactor.model import parameters
    >>> parameters.from_log_cholesky(np.zeros(10)).tolist()
    [1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 2.0, 0.0, 0.0, 2.0]
    """
    U = _factor(as_rows(theta, 10, "theta"))
    return _parameters(U @ np.swapaxes(U, -1, -2))


def _factor(theta: np.ndarray) -> np.ndarray:
    """Return the upper triangular factors U (..., 4, 4)."""
    U = np.zeros((*theta.shape[:-1], 4, 4), theta.dtype)
    U[..., [0, 1, 2], [0, 1, 2]] = np.exp(theta[..., 1:4])
    U[..., FACTOR_ROWS, FACTOR_COLUMNS] = theta[..., 4:]
    U[..., 3, 3] = 1.0
    return np.exp(theta[..., :1, None]) * U


def log_cholesky_jacobian(theta) -> np.ndarray:
    """Return the derivatives of the parameters by their log-Cholesky coordinates.

    Parameters
    ----------
    theta : array_like, shape (..., 10)
        See `from_log_cholesky`.

    Returns
    -------
    ndarray, shape (..., 10, 10)
        Entry (i, k) is the derivative of pi[i] by theta[k]; ``calculateJacobian`` of
        ``pinocchio.LogCholeskyParameters``. A gradient g by pi is ``jacobian.T @ g`` by theta.

    Raises
    ------
    ShapeError, DtypeError

    Examples
    --------
    >>> import numpy as np
    >>> from treefactor.model import parameters
    >>> parameters.log_cholesky_jacobian(np.zeros(10))[0].tolist()
    [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    theta = as_rows(theta, 10, "theta")
    U = _factor(theta)
    changes = np.zeros((*theta.shape[:-1], 10, 4, 4))
    changes[..., 0, :, :] = U
    for k in range(3):
        changes[..., 1 + k, k, k] = U[..., k, k]
    changes[..., np.arange(4, 10), FACTOR_ROWS, FACTOR_COLUMNS] = np.exp(theta[..., :1])
    half = changes @ np.swapaxes(U, -1, -2)[..., None, :, :]
    return np.swapaxes(_parameters(half + np.swapaxes(half, -1, -2)), -1, -2)


def to_log_cholesky(pi, floor: float = 0.0, names: Sequence[str] | None = None) -> np.ndarray:
    """Return the log-Cholesky coordinates of parameters.

    Parameters
    ----------
    pi : array_like, shape (..., 10)
        In Pinocchio's order.
    floor : float
        Flat bodies and point masses have no coordinates. Principal second moments about the centre of mass
        from -floor to floor, as shares of their sum, are raised to floor; 0 changes nothing.
    names : sequence of str, optional
        Names of the joints, along the axis before the last one, for the message of an error.

    Returns
    -------
    ndarray, shape (..., 10)

    Raises
    ------
    InvalidModelError
        If a pseudo-inertia is not positive definite; names the row and the joint.
    NonFiniteError, ShapeError, DtypeError

    Examples
    --------
    >>> import numpy as np
    >>> from treefactor.model import parameters
    >>> rod = [2.0, 0, 0, 1, 1, 0, 1, 0, 0, 0]
    >>> parameters.to_log_cholesky(rod, floor=1e-6)[7:].tolist()
    [0.0, 0.0, 0.5]
    >>> parameters.from_log_cholesky(parameters.to_log_cholesky(rod, floor=1e-6)).round(5).tolist()
    [2.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    """
    pi, floor = as_rows(pi, 10, "pi"), as_size(floor, "floor")
    require_finite(pi, "pi")
    mass = pi[..., 0]
    _require(mass > 0.0, "the mass must be positive, got", mass, names)
    com = pi[..., 1:4] / mass[..., None]
    S = complement(pi[..., TENSOR], 0.5) / mass[..., None, None] - com[..., :, None] * com[..., None, :]
    if floor > 0.0:
        S = _raised(S, floor, names)
    theta = np.empty(pi.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        c = np.sqrt(S[..., 2, 2])
        s13, s23 = S[..., 0, 2] / c, S[..., 1, 2] / c
        b = np.sqrt(S[..., 1, 1] - s23 * s23)
        s12 = (S[..., 0, 1] - s13 * s23) / b
        a = np.sqrt(S[..., 0, 0] - s12 * s12 - s13 * s13)
        sound = (a > 0.0) & (b > 0.0) & (c > 0.0)
        for k, value in enumerate((0.5 * np.log(mass), np.log(a), np.log(b), np.log(c), s12, s23, s13)):
            theta[..., k] = value
    if not sound.all():
        least = np.linalg.eigvalsh(S)[..., 0]
        reason = (
            "the pseudo-inertia must be positive definite (pass floor=1e-9 if the body is only flat); least"
        )
        _require(sound, f"{reason} second moment about the centre of mass, over the mass:", least, names)
    theta[..., 7:] = com
    return theta


def _raised(S: np.ndarray, floor: float, names) -> np.ndarray:
    """Return central second moments whose principal ones are at least the floor times their sum."""
    values, axes = np.linalg.eigh(S)
    total = values.sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = values[..., 0] / total
    text = f"second moments about the centre of mass must be at least -{floor:g} of their sum; least share:"
    _require((total > 0.0) & (share >= -floor), text, share, names)
    higher = np.maximum(values, floor * total[..., None])
    raised = (axes * higher[..., None, :]) @ np.swapaxes(axes, -1, -2)
    return np.where((share < floor)[..., None, None], raised, S)


def _require(sound: np.ndarray, text: str, values: np.ndarray, names) -> None:
    """Raise InvalidModelError for the first body that is not sound; name it and its value."""
    if sound.all():
        return
    at = tuple(np.argwhere(~sound)[0].tolist())
    joint = names[at[-1]] if names is not None and at else None
    raise InvalidModelError(f"{_place(at, joint)}: {text} {values[at]:.3g}", joint=joint)


def _place(at: tuple[int, ...], joint: str | None) -> str:
    """Return the place of a body in pi, and its joint if it is known."""
    place = f"pi[{', '.join(map(str, at))}]" if at else "pi"
    return place if joint is None else f"{place}, joint {joint!r}"


def moved_parameters(pi, R=None, p=None) -> np.ndarray:
    """Return parameters in another frame, in which their own frame has rotation R and origin p.

    Parameters
    ----------
    pi : array_like, shape (..., 10)
    R : array_like, shape (..., 3, 3), optional
    p : array_like, shape (..., 3), optional
        m. Leading axes of all arrays broadcast.

    Returns
    -------
    ndarray, shape (..., 10)
        Of the same bodies, as `treefactor.Inertia.moved`.

    Raises
    ------
    ShapeError, DtypeError

    Examples
    --------
    >>> from treefactor.model import parameters
    >>> parameters.moved_parameters([2.0, 0, 0, 0, 1, 0, 1, 0, 0, 1], p=[0, 0, 3]).tolist()
    [2.0, 0.0, 0.0, 6.0, 19.0, 0.0, 19.0, 0.0, 0.0, 1.0]
    """
    pi, R = as_rows(pi, 10, "pi"), None if R is None else as_real(R, "R")
    p = None if p is None else as_rows(p, 3, "p")
    if R is not None and R.shape[-2:] != (3, 3):
        raise ShapeError(f"R must have shape (..., 3, 3), got {R.shape}", R.shape, (3, 3))
    axes = max(pi.ndim - 1, 0 if R is None else R.ndim - 2, 0 if p is None else p.ndim - 1)
    x = np.ascontiguousarray(_numbers_first(pi, 1, axes))
    mass, h, tensor = x[0], x[1:4], x[4:]
    if R is not None:
        R, tensor = _numbers_first(R, 2, axes), x[TENSOR]
        h = R[:, 0] * h[0] + R[:, 1] * h[1] + R[:, 2] * h[2]
        half = R[:, 0, None] * tensor[0] + R[:, 1, None] * tensor[1] + R[:, 2, None] * tensor[2]
        half, R = half[ROWS], R[COLUMNS]
        tensor = half[:, 0] * R[:, 0] + half[:, 1] * R[:, 1] + half[:, 2] * R[:, 2]
    if p is not None:
        p = _numbers_first(p, 1, axes)
        moved = h + mass * p
        shift = p[ROWS] * h[COLUMNS] + moved[ROWS] * p[COLUMNS]
        shift[DIAGONAL] -= shift[0] + shift[2] + shift[5]
        h, tensor = moved, tensor - shift
    parameters = np.empty((*h.shape[1:], 10))
    parameters[..., 0] = mass
    parameters[..., 1:4] = np.moveaxis(h, 0, -1)
    parameters[..., 4:] = np.moveaxis(tensor, 0, -1)
    return parameters


def _numbers_first(array: np.ndarray, count: int, axes: int) -> np.ndarray:
    """Return an array with its last axes before leading ones, filled up to a number: long axes are fast."""
    lead = array.ndim - count
    array = array.reshape(*(1,) * (axes - lead), *array.shape)
    return np.moveaxis(array, range(-count, 0), range(count))


def parameters_of(mass, com: np.ndarray, tensor: np.ndarray) -> np.ndarray:
    """Return the parameters of masses (...), centres of mass (..., 3) and tensors about these (..., 3, 3)."""
    mass = np.asarray(mass)
    pi = np.zeros((*mass.shape, 10))
    pi[..., 0], pi[..., 4:] = mass, tensor[..., ROWS, COLUMNS]
    return moved_parameters(pi, p=com)
