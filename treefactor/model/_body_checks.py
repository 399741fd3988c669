"""Check whether bodies can have given parameters, and convert these to the centre of mass."""

from __future__ import annotations

import numpy as np

from .._util.validation import as_real
from ..exceptions import ShapeError
from ..tolerances import ORTHONORMAL

PARAMETERS = ("m", "h_x", "h_y", "h_z", "I_xx", "I_xy", "I_yy", "I_xz", "I_yz", "I_zz")
TENSOR = np.array([[4, 5, 7], [5, 6, 8], [7, 8, 9]])  # entries of the tensor in the ten numbers
ROUNDING = 16 * np.finfo(float).eps  # relative, of the change from the origin to the centre of mass


def as_rows(values, size: int, name: str) -> np.ndarray:
    """Return an array of real numbers with rows of that size."""
    array = as_real(values, name)
    if array.shape[-1:] != (size,):
        raise ShapeError(f"{name} must have shape (..., {size}), got {array.shape}", array.shape, (size,))
    return array


def complement(A: np.ndarray, share: float) -> np.ndarray:
    """Return share tr(A) 1 - A of matrices (..., 3, 3)."""
    trace = share * (A[..., 0, 0] + A[..., 1, 1] + A[..., 2, 2])
    return trace[..., None, None] * np.eye(3) - A


def central(pi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return centres of mass (..., 3) and tensors about these (..., 3, 3); without mass about the origin.

    The centre of mass is NaN where the mass is zero and the first moment is not.
    """
    mass, h = pi[..., :1], pi[..., 1:4]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        com = np.where((mass == 0.0) & (h == 0.0).all(-1, keepdims=True), 0.0, h / mass)
        com = np.where(np.isfinite(com), com, np.nan)
        shift = complement(com[..., :, None] * h[..., None, :], 1.0)
        tensor = pi[..., TENSOR] - 0.5 * (shift + np.swapaxes(shift, -1, -2))
    return com, tensor


def faults(pi) -> list[tuple[tuple[int, ...], str]]:
    """Return indices and reasons of parameters that no body can have; flat bodies are sound.

    Parameters
    ----------
    pi : array_like, shape (..., 10)

    Returns
    -------
    list of (tuple of int, str)
        Index into the leading axes, and the reason.

    Raises
    ------
    ShapeError, DtypeError

    Examples
    --------
    >>> from treefactor.model import parameters
    >>> parameters.faults([[1.0, 0, 0, 0, 1, 0, 1, 0, 0, 1], [1.0, 0, 0, 0, 3, 0, 1, 0, 0, 1]])
    [((1,), 'principal moments 1, 1, 3 break the triangle inequality: 3 > 1 + 1')]
    """
    pi = as_rows(pi, 10, "pi")
    finite = np.isfinite(pi).all(-1)
    _, tensor = central(np.where(finite[..., None], pi, 0.0))
    known = np.isfinite(tensor).all((-2, -1))
    moments = np.linalg.eigvalsh(np.where(known[..., None, None], tensor, 0.0))
    least = ORTHONORMAL * np.abs(moments).max(-1) + ROUNDING * np.abs(pi[..., 4:]).max(-1)
    with np.errstate(invalid="ignore"):
        excess = moments[..., 2] - moments[..., 0] - moments[..., 1]
        sound = finite & known & (moments[..., 0] >= -least) & (excess <= least)
        sound &= (pi[..., 0] > 0.0) | (pi == 0.0).all(-1)
    reasons = []
    for place in np.argwhere(~sound):
        at = tuple(place.tolist())
        reasons.append((at, _reason(pi[at], finite[at], moments[at], least[at])))
    return reasons


def _reason(pi: np.ndarray, finite: bool, moments: np.ndarray, tolerance: float) -> str:
    """Return why no body has parameters, one of which is wrong."""
    if not finite:
        return f"{PARAMETERS[np.argmin(np.isfinite(pi))]} is not finite"
    if pi[0] < 0.0:
        return f"mass {pi[0]:.3g} is negative"
    if pi[0] == 0.0 and pi[1:4].any():
        return "a first moment without mass"
    return fault_of_moments(pi[0], moments, tolerance) or "the tensor about the centre of mass is not finite"


def fault_of_moments(mass: float, moments: np.ndarray, tolerance: float) -> str | None:
    """Return why no body has these principal moments about its centre of mass, ascending, or None."""
    broken = moments[2] > moments[0] + moments[1] + tolerance
    if moments[0] < -tolerance or (broken and moments[0] < -ROUNDING * moments[2]):
        return f"principal moment {moments[0]:.3g} of the inertia tensor is negative"
    if broken:
        a, b, c = _shown(np.maximum(moments, 0.0))
        return f"principal moments {a}, {b}, {c} break the triangle inequality: {c} > {a} + {b}"
    return None if mass else "an inertia tensor without mass"


def _shown(moments: np.ndarray) -> list[str]:
    """Return moments that break the triangle inequality, with digits enough to see it."""
    for digits in range(3, 18):
        texts = [f"{moment:.{digits}g}" for moment in moments]
        least, middle, largest = map(float, texts)
        if largest > least + middle:
            break
    return texts


def fault_of(pi) -> str | None:
    """Return why no body can have ten parameters, or None.

    Parameters
    ----------
    pi : array_like, shape (10,)

    Returns
    -------
    str or None

    Raises
    ------
    ShapeError, DtypeError

    Examples
    --------
    >>> from treefactor.model import parameters
    >>> parameters.fault_of([-1.0, 0, 0, 0, 1, 0, 1, 0, 0, 1])
    'mass -1 is negative'
    """
    pi = as_rows(pi, 10, "pi")
    if pi.ndim > 1:
        text = f"pi must have shape (10,), got {pi.shape}: `faults` checks many bodies"
        raise ShapeError(text, pi.shape, (10,))
    reasons = faults(pi)
    return reasons[0][1] if reasons else None
