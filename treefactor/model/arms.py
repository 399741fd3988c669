"""Define named serial arms by modified Denavit-Hartenberg parameters, as models and as chains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._util.rotations import about
from .._util.validation import ReadOnly, as_array, as_real
from ..exceptions import ShapeError
from .joints import Inertia, Joint
from .model import Model

__all__ = [
    "GENERAL",
    "GENERAL_6R",
    "GENERAL_7R",
    "PUMA_560",
    "RX_90",
    "SSRMS",
    "SSRMS_6R",
    "SSRMS_7R",
    "STANFORD",
    "WAM",
    "Arm",
    "general_inertia",
]


@dataclass(frozen=True, eq=False)
class Arm(ReadOnly):
    """Serial arm of n joints in modified Denavit-Hartenberg form.

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
    Immutable.

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
        self.__setstate__({field: as_array(getattr(self, field), field).copy() for field in fields})

    def chain(self, q) -> tuple[np.ndarray, ...]:
        """Return the arguments of `treefactor.chain_inertia` at joint positions q.

        Parameters
        ----------
        q : array_like, shape (..., n)
            In rad or m.

        Returns
        -------
        axis, r, mass, c, inertia : ndarray
            In the base frame, see `treefactor.chain_inertia`; the mass has no leading axes.
        """
        q, n = as_real(q, "q"), len(self.mass)
        if q.shape[-1:] != (n,):
            raise ShapeError(f"q must have shape (..., {n}), got {q.shape}", q.shape, ("...", n))
        axis, r, c = (np.empty((*q.shape, 3)) for _ in range(3))
        inertia = np.empty((*q.shape, 3, 3))
        R = np.eye(3)
        for k, (alpha, d, along) in enumerate(self.rows):
            turn, slide = (0.0, q[..., k]) if self.prismatic[k] else (q[..., k], 0.0)
            across = R @ about(0, alpha)  # R the orientation of frame k-1
            R = across @ about(2, turn)
            axis[..., k, :] = R[..., 2]
            r[..., k, :] = d * across[..., 0] + np.multiply(along + slide, R[..., 2].T).T
            c[..., k, :] = self.mass[k] * (R @ self.centre[k])
            inertia[..., k, :, :] = R @ self._about_origin(k) @ np.swapaxes(R, -1, -2)
        return axis, r, np.array(self.mass), c, inertia

    def model(self) -> Model:
        """Return a model whose q and v are the arm's joint positions and velocities."""
        joints = []
        for k, (alpha, d, along) in enumerate(self.rows):
            R = about(0, alpha)
            rounded = R.round(15)  # the cosine of a quarter is 0
            R, p = rounded if np.isin(rounded, (-1, 0, 1)).all() else R, rounded @ (d, 0, along)
            kind = "prismatic" if self.prismatic[k] else "revolute"
            inertia = Inertia(self.mass[k], self.centre[k], self.inertia[k])
            joints.append(Joint(f"joint{k}", kind, k - 1, R, p, (0, 0, 1), inertia=inertia))
        return Model(joints, name=self.name)

    def _about_origin(self, k: int) -> np.ndarray:
        """Return the inertia tensor of link k about the origin of its frame, in that frame."""
        x = self.centre[k]
        return self.inertia[k] + self.mass[k] * (x @ x * np.eye(3) - np.outer(x, x))


def _tensor(xx, yy, zz, xz=0.0) -> list[list[float]]:
    """Return an inertia tensor."""
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


def general_inertia(rng: np.random.Generator) -> Inertia:
    """Return a random inertia without any symmetry."""
    points = rng.normal(size=(8, 3))
    tensor = sum(x @ x * np.eye(3) - np.outer(x, x) for x in points)
    return Inertia(rng.uniform(0.5, 2), rng.normal(size=3), tensor)


def _general(name: str, rows, prismatic: int | None = None) -> Arm:
    """Return an arm with general inertias; at most one joint is prismatic."""
    rng = np.random.default_rng(0)
    bodies = [general_inertia(rng) for _ in rows]
    return Arm(
        name,
        rows,
        mass=[body.mass for body in bodies],
        centre=[body.com for body in bodies],
        inertia=[body.tensor for body in bodies],
        prismatic=[k == prismatic for k in range(len(rows))],
    )


# Arms that the literature uses to compare generated programs. Their inertias are general, so operation counts
# depend on the geometry only.
PUMA_560 = _general(
    "PUMA 560",
    [(0, 0, 0), (-_H, 0, 0.2435), (0, 0.4318, -0.0934), (-_H, -0.0203, 0.4331), (_H, 0, 0), (-_H, 0, 0)],
)
RX_90 = _general("RX-90", [(0, 0, 0), (_H, 0, 0), (0, 0.45, 0), (-_H, 0, 0.45), (_H, 0, 0), (-_H, 0, 0)])
STANFORD = _general(
    "Stanford", [(0, 0, 0), (-_H, 0, 0.15), (_H, 0, 0.3), (0, 0, 0), (-_H, 0, 0), (_H, 0, 0)], prismatic=2
)
WAM = _general(
    "LWR, WAM",
    [(0, 0, 0), (_H, 0, 0), (-_H, 0, 0.4), (-_H, 0, 0), (_H, 0, 0.39), (_H, 0, 0), (-_H, 0, 0)],
)
SSRMS_6R = _general("SSRMS, six moving", SSRMS.rows[:6])
SSRMS_7R = _general("SSRMS, 7R", SSRMS.rows)
GENERAL_7R = _general(
    "general 7R",
    [
        (0.3, 0.2, 0.1),
        (0.7, 0.3, 0.2),
        (-0.5, 0.1, 0.3),
        (0.9, 0.2, 0.2),
        (-1.1, 0.15, 0.1),
        (0.4, 0.3, 0.2),
        (0.8, 0.2, 0.3),
    ],
)
GENERAL_6R = _general("general 6R", GENERAL_7R.rows[:6])
GENERAL = (PUMA_560, RX_90, STANFORD, WAM, SSRMS_6R, SSRMS_7R, GENERAL_6R, GENERAL_7R)
