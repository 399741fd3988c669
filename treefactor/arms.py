"""Named arms: modified Denavit-Hartenberg rows and bodies, and their chains at given joint positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._arrays import ReadOnly, as_real
from .exceptions import ShapeError


@dataclass(frozen=True, eq=False)
class Arm(ReadOnly):
    """A serial arm of n joints in modified Denavit-Hartenberg form.

    Attributes
    ----------
    name : str
    rows : ndarray, shape (n, 3)
        alpha in rad, d and r in m: frame k is Rx(alpha) Tx(d) Rz(theta) Tz(r) from frame k-1. Joint k is
        about or along z of frame k: its position is theta, or, of a prismatic one, added to r.
    mass : ndarray, shape (n,)
        In kg.
    centre : ndarray, shape (n, 3)
        Centres of mass in the frames of the links, in m.
    inertia : ndarray, shape (n, 3, 3)
        Inertia tensors about the centres of mass in the frames of the links, in kg m^2.
    prismatic : ndarray of bool, shape (n,)

    Notes
    -----
    Khalil and Kleinfinger (1986).
    """

    name: str
    rows: np.ndarray
    mass: np.ndarray
    centre: np.ndarray
    inertia: np.ndarray
    prismatic: np.ndarray

    def __post_init__(self):
        fields = ("rows", "mass", "centre", "inertia", "prismatic")
        self.__setstate__({field: np.array(getattr(self, field)) for field in fields})

    def chain(self, q) -> tuple[np.ndarray, ...]:
        """Arrays that `chain_inertia` takes, at joint positions q.

        Parameters
        ----------
        q : array_like, shape (..., n)
            In rad or m.

        Returns
        -------
        axis, r, mass, c, inertia : ndarray
            In the base frame, see `chain_inertia`; the mass has no leading axes.
        """
        q, n = as_real(q, "q"), len(self.mass)
        if q.shape[-1:] != (n,):
            raise ShapeError(f"q must have shape (..., {n}), got {q.shape}", q.shape, ("...", n))
        axis, r, c = (np.empty((*q.shape, 3)) for _ in range(3))
        inertia = np.empty((*q.shape, 3, 3))
        R = np.eye(3)
        for k, (alpha, d, along) in enumerate(self.rows):
            turn, slide = (0.0, q[..., k]) if self.prismatic[k] else (q[..., k], 0.0)
            across = R @ _about(0, alpha)  # R the orientation of frame k-1
            R = across @ _about(2, turn)
            axis[..., k, :] = R[..., 2]
            r[..., k, :] = d * across[..., 0] + np.multiply(along + slide, R[..., 2].T).T
            c[..., k, :] = self.mass[k] * (R @ self.centre[k])
            inertia[..., k, :, :] = R @ self._about_origin(k) @ np.swapaxes(R, -1, -2)
        return axis, r, np.array(self.mass), c, inertia

    def _about_origin(self, k: int) -> np.ndarray:
        """Inertia tensor of link k about the origin of its frame, in that frame."""
        x = self.centre[k]
        return self.inertia[k] + self.mass[k] * (x @ x * np.eye(3) - np.outer(x, x))


def _about(which: int, angle) -> np.ndarray:
    """Rotation matrices (..., 3, 3) about axis x (0) or z (2)."""
    angle = np.asarray(angle)
    y, z = (which + 1) % 3, (which + 2) % 3
    R = np.zeros((*angle.shape, 3, 3))
    R[..., which, which] = 1.0
    R[..., y, y] = R[..., z, z] = np.cos(angle)
    R[..., z, y] = np.sin(angle)
    R[..., y, z] = -R[..., z, y]
    return R


def _tensor(xx, yy, zz, xz=0.0) -> list[list[float]]:
    return [[xx, 0.0, xz], [0.0, yy, 0.0], [xz, 0.0, zz]]


_H = np.pi / 2

# Masses and tensors: P. K. Nguyen and P. C. Hughes, "Teleoperation: from the space shuttle to the space
# station", Progress in Astronautics and Aeronautics 161 (1994), bodies 2 to 8, turned into the frames used
# here: z along the axes of the joints, x along the booms. Two things are assumptions: that the tensors are
# about the centres of mass (about the joints they cannot be: a boom's are below m (L/2)^2), and that
# the centres lie halfway between the ends of the links. The lengths of the rows are rounded.
SSRMS = Arm(
    "SSRMS",
    rows=[
        (0, 0, 0.65),
        (_H, 0, 0.38),
        (_H, 0, 0.38),
        (0, 6.85, 0.5),
        (0, 6.85, 0.5),
        (_H, 0, 0.38),
        (_H, 0, 0.65),
    ],
    mass=[105.98, 105.98, 314.88, 279.2, 105.98, 105.98, 243.66],
    centre=[
        (0, -0.19, 0),
        (0, -0.19, 0),
        (3.425, 0, 0.25),
        (3.425, 0, 0),
        (0, 0, -0.25),
        (0, 0, -0.19),
        (0, 0, -0.325),
    ],
    inertia=[
        _tensor(12.13, 3.061, 12.19),
        _tensor(8.088, 3.061, 8.446),
        _tensor(15.41, 2103.19, 2094.71, xz=-49.52),
        _tensor(9.522, 1966.28, 1966.28, xz=39.95),
        _tensor(8.305, 8.0386, 3.061),
        _tensor(12.13, 12.13, 3.061),
        _tensor(44.41, 44.41, 9.336),
    ],
    prismatic=[False] * 7,
)
