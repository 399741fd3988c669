"""Define the inertia of a body."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._util.validation import Array, ReadOnly, as_number, as_real, as_vector, require_finite
from ..exceptions import InvalidModelError, ShapeError
from ..tolerances import ORTHONORMAL
from ._body_checks import central, fault_of_moments
from .parameters import parameters_of

IDENTITY = np.eye(3)


def no_vector() -> Any:
    """Return the zero vector."""
    return np.zeros(3)


def _nothing() -> Any:
    """Return the zero tensor."""
    return np.zeros((3, 3))


@dataclass(frozen=True, eq=False)
class Inertia(ReadOnly):
    """Mass, centre of mass, and inertia tensor about the centre of mass, in the axes of one frame.

    Parameters
    ----------
    mass : float
        kg, not negative.
    com : array_like, shape (3,)
        m, measured from the origin of the frame.
    tensor : array_like, shape (3, 3)
        kg m^2, about the centre of mass; symmetric.

    Raises
    ------
    InvalidModelError, ShapeError, NonFiniteError
        If an argument has the wrong type or shape, or a value is impossible. `Inertia.fault` checks whether a
        body can have the tensor.

    Notes
    -----
    Immutable.
    """

    mass: float = 0.0
    com: Array = field(default_factory=no_vector)
    tensor: Array = field(default_factory=_nothing)

    def __post_init__(self):
        mass = as_number(self.mass, "mass")
        com, tensor = as_vector(self.com, 3, "com").copy(), as_matrix(self.tensor, "inertia tensor")
        if mass < 0:
            raise InvalidModelError(f"mass must not be negative, got {mass}")
        if np.abs(tensor - tensor.T).max() > ORTHONORMAL * np.abs(tensor).max():
            raise InvalidModelError("the inertia tensor is not symmetric")
        self.__setstate__({"mass": mass, "com": com, "tensor": (tensor + tensor.T) / 2})

    def fault(self) -> str | None:
        """Return why no body has this inertia, or None: checks principal moments and their sums."""
        if not self.mass and not self.tensor.any():
            return None
        moments = np.linalg.eigvalsh(self.tensor)
        return fault_of_moments(self.mass, moments, ORTHONORMAL * np.abs(moments).max())

    @property
    def parameters(self) -> np.ndarray:
        """Return the ten parameters (m, h, I), h = m c and I about the origin, in the axes of the frame.

        The order is that of Pinocchio's ``Inertia.toDynamicParameters``: m, h_x, h_y, h_z, I_xx, I_xy, I_yy,
        I_xz, I_yz, I_zz, in kg, kg m and kg m^2. See ``treefactor.model.parameters``.

        Examples
        --------
        >>> import treefactor as tf
        >>> tf.Inertia(2.0, [0, 0, 0.5]).parameters.tolist()
        [2.0, 0.0, 0.0, 1.0, 0.5, 0.0, 0.5, 0.0, 0.0, 0.0]
        """
        return parameters_of(self.mass, self.com, self.tensor)

    @classmethod
    def from_parameters(cls, pi) -> Inertia:
        """Return the inertia with ten parameters; `parameters` of it are the same within rounding.

        Parameters
        ----------
        pi : array_like, shape (10,)
            (m, h_x, h_y, h_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz), h = m c and I about the origin.

        Raises
        ------
        InvalidModelError, ShapeError, NonFiniteError
            If the shape is wrong, a number is not finite, the mass is negative, or zero with a first moment.

        Examples
        --------
        >>> import treefactor as tf
        >>> tf.Inertia.from_parameters([2, 0, 0, 1, 0.5, 0, 0.5, 0, 0, 0]).com.tolist()
        [0.0, 0.0, 0.5]
        """
        pi = as_vector(pi, 10, "pi")
        if pi[0] == 0.0 and pi[1:4].any():
            raise InvalidModelError(
                f"expected h = 0 of a body without mass, got h = {pi[1:4]}: it has no centre of mass"
            )
        return cls(pi[0], *central(pi))

    @staticmethod
    def _made(mass: float, com: np.ndarray, tensor: np.ndarray) -> Inertia:
        """Return an inertia of numbers that were computed; `_building` replaces it by checks in C."""
        return Inertia(mass, com, tensor)

    def moved(self, R: np.ndarray, p: np.ndarray) -> Inertia:
        """Return the inertia in another frame, in which this one has rotation R and origin p."""
        return self._made(self.mass, p + R @ self.com, R @ self.tensor @ R.T)

    def __add__(self, other: Inertia) -> Inertia:
        """Return the inertia of both bodies together."""
        mass = self.mass + other.mass
        com = (self.mass * self.com + other.mass * other.com) / mass if mass else np.zeros(3)
        tensor = np.zeros((3, 3))
        for part in (self, other):  # parallel axes: I + m (d'd 1 - d d')
            d = part.com - com
            tensor += part.tensor + part.mass * (d @ d * IDENTITY - d[:, None] * d)
        return self._made(mass, com, tensor)


def as_matrix(values, name: str) -> np.ndarray:
    """Return a copy of a finite 3 x 3 matrix."""
    array = as_real(values, name)
    if array.shape != (3, 3):
        raise ShapeError(f"{name} must have shape (3, 3), got {array.shape}", array.shape, (3, 3))
    require_finite(array, name)
    return array.copy()
