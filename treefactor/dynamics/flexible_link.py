"""Define flexible links by integrals over their mass: rigid links, uniform beams, links of point masses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._util.validation import Array, ReadOnly, as_count, as_number, as_real, as_vector, require_finite
from ..exceptions import InvalidChainError, ShapeError, TreefactorError
from ..model.joints import Inertia, _rotation
from ..tolerances import ORTHONORMAL

__all__ = ["FlexibleLink"]

AXES = np.eye(3)
MOST_MODES = 7  # of a beam in each plane: monomials of 8 take the condition number of A beyond 1e12


def _unturned() -> Any:
    """Return the identity rotation."""
    return np.eye(3)


def _no_vectors() -> Any:
    """Return the vectors of no modes."""
    return np.zeros((0, 3))


def _no_tensors() -> Any:
    """Return the tensors of no modes."""
    return np.zeros((0, 3, 3))


def _no_pairs() -> Any:
    """Return the tensors of no pairs of modes."""
    return np.zeros((0, 0, 3, 3))


def _no_matrix() -> Any:
    """Return the matrix of no modes."""
    return np.zeros((0, 0))


@dataclass(frozen=True, eq=False)
class FlexibleLink(ReadOnly):
    """Link on one joint that deforms in S modes; `rigid`, `beam` and `of_points` compute the integrals.

    The frame of a link has its origin on the joint and moves with the link's root. Displacements are sums of
    amplitudes times shape functions phi.

    Parameters
    ----------
    name : str
    axis : array_like, shape (3,)
        Unit axis of the joint.
    end : array_like, shape (3,)
        Origin of the next link, without deformation, m.
    mass : float
        kg.
    first, second : array_like, shapes (3,) and (3, 3)
        Integrals of x dm and x x^T dm without deformation.
    momentum : array_like, shape (S, 3)
        Integrals of phi dm.
    mixed : array_like, shape (S, 3, 3)
        Integrals of phi x^T dm without deformation.
    modal : array_like, shape (S, S, 3, 3)
        Integrals of phi_s phi_t^T dm.
    tip, rotation : array_like, shape (S, 3)
        Displacement and rotation of the end per unit of amplitude.
    stiffness, damping : array_like, shape (S, S)
        Forces on the amplitudes per unit of amplitude and of rate; symmetric and positive semidefinite.
    R : array_like, shape (3, 3)
        Rotation of the link's frame in that of the end of the link before, at joint position 0.
    prismatic : bool
        Whether the joint slides along its axis.

    Raises
    ------
    InvalidChainError
        If an argument has an invalid value or shape; names the link.

    Notes
    -----
    Immutable.
    """

    name: str
    axis: Array
    end: Array
    mass: float
    first: Array
    second: Array
    momentum: Array = field(default_factory=_no_vectors)
    mixed: Array = field(default_factory=_no_tensors)
    modal: Array = field(default_factory=_no_pairs)
    tip: Array = field(default_factory=_no_vectors)
    rotation: Array = field(default_factory=_no_vectors)
    stiffness: Array = field(default_factory=_no_matrix)
    damping: Array = field(default_factory=_no_matrix)
    R: Array = field(default_factory=_unturned)
    prismatic: bool = False

    def __post_init__(self):
        try:
            self.__setstate__(self._checked())
        except TreefactorError as error:
            raise InvalidChainError(f"link {self.name!r}: {error}") from error

    def _checked(self) -> dict:
        """Return validated attributes; arrays are copies."""
        momentum = as_real(self.momentum, "momentum")
        S = len(momentum) if momentum.ndim else 0
        shapes = {"second": (3, 3), "momentum": (S, 3), "mixed": (S, 3, 3), "modal": (S, S, 3, 3)}
        shapes |= {"tip": (S, 3), "rotation": (S, 3), "stiffness": (S, S), "damping": (S, S)}
        matrices: dict[str, Any] = {}
        for name, shape in shapes.items():
            array = as_real(getattr(self, name), name)
            if name == "damping" and array.size == 0:
                array = np.zeros(shape)
            if array.shape != shape:
                raise ShapeError(f"{name} must have shape {shape}, got {array.shape}", array.shape, shape)
            require_finite(array, name)
            matrices[name] = array.copy()
        for name in ("stiffness", "damping", "second"):
            array = matrices[name]
            if np.abs(array - array.T).max(initial=0.0) > ORTHONORMAL * np.abs(array).max(initial=0.0):
                raise InvalidChainError(f"{name} is not symmetric")
        for name in ("stiffness", "damping"):
            sizes = np.linalg.eigvalsh(matrices[name])
            if sizes.min(initial=0.0) < -ORTHONORMAL * np.abs(sizes).max(initial=0.0):
                raise InvalidChainError(f"{name} must not have a negative eigenvalue, got {sizes.min():.6g}")
        vectors = {name: as_vector(getattr(self, name), 3, name).copy() for name in ("axis", "end", "first")}
        length = np.linalg.norm(vectors["axis"])
        if abs(length - 1.0) > ORTHONORMAL:
            raise InvalidChainError(f"axis must have unit length, it has {length}")
        mass = as_number(self.mass, "mass")
        if mass < 0.0:
            raise InvalidChainError(f"mass must not be negative, got {mass}")
        return (
            matrices
            | vectors
            | {"mass": mass, "R": _rotation(self.R, "R"), "prismatic": bool(self.prismatic)}
        )

    @property
    def modes(self) -> int:
        """Return the number of modes."""
        return len(np.asarray(self.momentum))

    @classmethod
    def rigid(cls, name: str, axis, end, inertia: Inertia, R=AXES, prismatic: bool = False) -> FlexibleLink:
        """Make a link without modes from its inertia in its own frame."""
        if not isinstance(inertia, Inertia):
            raise InvalidChainError(f"link {name!r}: expected an Inertia, got {type(inertia).__name__}")
        tensor, com = np.asarray(inertia.tensor), np.asarray(inertia.com)
        first: Any = inertia.mass * com
        second: Any = np.trace(tensor) / 2 * AXES - tensor + inertia.mass * np.outer(com, com)
        return cls(name, axis, end, inertia.mass, first, second, R=R, prismatic=prismatic)

    @classmethod
    def of_points(
        cls, name: str, axis, end, points, masses, shapes, tip, rotation, stiffness, R=AXES, prismatic=False
    ) -> FlexibleLink:
        """Make a link of point masses.

        Parameters
        ----------
        points : array_like, shape (P, 3)
            Without deformation, m.
        masses : array_like, shape (P,)
            kg, not negative.
        shapes : array_like, shape (S, P, 3)
            Displacements of the points per unit of amplitude.
        name, axis, end, tip, rotation, stiffness, R, prismatic
            As for `FlexibleLink`.

        Raises
        ------
        ShapeError, DtypeError, NonFiniteError
            If points, masses or shapes have the wrong shape or type, or are not finite; names the argument.
        InvalidChainError
            If a mass is negative, or FlexibleLink refuses the link; names it.
        """
        points = _of_shape(points, ("P", 3), "points")
        P = len(points)
        masses = _of_shape(masses, (P,), "masses")
        shapes = _of_shape(shapes, ("S", P, 3), "shapes")
        if (masses < 0.0).any():
            raise InvalidChainError(f"link {name!r}: masses must not be negative, got {masses.min()}")
        weighed = masses[:, None] * shapes
        return cls(
            *(name, axis, end, masses.sum(), masses @ points, (masses * points.T) @ points),
            momentum=weighed.sum(axis=1),
            mixed=np.einsum("spx,py->sxy", weighed, points),
            modal=np.einsum("spx,tpy->stxy", weighed, shapes),
            **{"tip": tip, "rotation": rotation, "stiffness": stiffness, "R": R, "prismatic": prismatic},
        )

    @classmethod
    def beam(
        cls,
        name: str,
        axis,
        length: float,
        mass: float,
        bending: float,
        torsion: float = 0.0,
        radius: float = 0.0,
        modes: int = 2,
        loss: float = 0.0,
        R=AXES,
    ) -> FlexibleLink:
        """Make a uniform round tube along x that bends in y and z, and twists.

        Parameters
        ----------
        length, mass : float
            m, kg; the length is positive.
        bending, torsion : float
            Stiffnesses E I and G J, N m^2; without torsion the tube does not twist. A beam with modes needs a
            positive E I.
        radius : float
            Of the thin wall, m; positive for a tube that twists.
        modes : int
            Shape functions (x / L)^2, (x / L)^3 ... in y, and as many in z: from 0 to 7. Each further one
            multiplies the condition number of the inertia matrix by about 30: it is 4e11 for 7 modes of a
            beam of 2 m and 3 kg on one joint, 1e13 for 8.
        loss : float
            Damping over stiffness, s.
        name, axis, R
            As for `FlexibleLink`.

        Raises
        ------
        InvalidChainError
            If a size is negative, or zero where it must be positive, there are too many modes, or
            FlexibleLink refuses the link; names the link.

        Notes
        -----
        Euler and Bernoulli's beam, clamped at its root; its cross-sections have no rotary inertia in bending.
        """
        sizes = {"length": length, "mass": mass, "bending": bending, "torsion": torsion}
        try:
            numbers, count = _beam_sizes(sizes | {"radius": radius, "loss": loss}, modes)
        except (TreefactorError, ValueError) as error:
            raise InvalidChainError(f"link {name!r}: {error}") from error
        L, m, bending, torsion, radius, loss = numbers
        wall = m * radius**2 / 2.0
        power = np.tile(np.arange(count) + 2.0, 2)
        side = np.repeat(AXES[1:], count, axis=0)
        twists = torsion > 0.0
        S = 2 * count + twists
        momentum, tip, rotation = np.zeros((3, S, 3))
        mixed, modal, K = np.zeros((S, 3, 3)), np.zeros((S, S, 3, 3)), np.zeros((S, S))
        bent = slice(0, 2 * count)
        momentum[bent], tip[bent] = m * side / (power[:, None] + 1), side
        rotation[bent] = np.cross(AXES[0], side) * power[:, None] / L
        mixed[bent, :, 0] = m * L * side / (power[:, None] + 2)
        total = power[:, None] + power
        modal[bent, bent] = m * np.einsum("sx,ty->stxy", side, side) / (total + 1)[..., None, None]
        curved = power * (power - 1)
        K[bent, bent] = bending * np.outer(curved, curved) * (side @ side.T) / (total - 3) / L**3
        if twists:
            rotation[-1] = AXES[0]
            mixed[-1, 1, 2], mixed[-1, 2, 1] = -wall / 2, wall / 2
            modal[-1, -1] = wall / 3 * np.diag([0.0, 1.0, 1.0])
            K[-1, -1] = torsion / L
        arrays: dict[str, Any] = {"momentum": momentum, "mixed": mixed, "modal": modal, "tip": tip}
        arrays |= {"rotation": rotation, "stiffness": K, "damping": loss * K, "end": L * AXES[0]}
        arrays |= {"first": m * L / 2 * AXES[0], "second": np.diag([m * L**2 / 3, wall, wall])}
        return cls(name, axis, mass=m, R=R, **arrays)


def _beam_sizes(sizes: dict, modes) -> tuple[list[float], int]:
    """Return the validated sizes of a beam, and its number of modes in each plane."""
    count = as_count(modes, "modes")
    if count > MOST_MODES:
        raise InvalidChainError(
            f"modes must be at most {MOST_MODES}, got {count}: with more, the condition number of the "
            "inertia matrix exceeds 1e12; join shorter beams"
        )
    numbers = {name: as_number(size, name) for name, size in sizes.items()}
    positive = {"length": "", "bending": " for a beam with modes" if count else None}
    positive["radius"] = " for a tube with torsion" if numbers["torsion"] > 0.0 else None
    for name, size in numbers.items():
        why = positive.get(name)
        if size < 0.0 or (size == 0.0 and why is not None):
            wanted = "not be negative" if why is None else f"be positive{why}"
            raise InvalidChainError(f"{name} must {wanted}, got {size}")
    return list(numbers.values()), count


def _of_shape(values, shape: tuple, name: str) -> np.ndarray:
    """Return a finite array of that shape; a letter stands for any size."""
    array = as_real(values, name)
    fits = zip(array.shape, shape, strict=False)
    if array.ndim != len(shape) or any(isinstance(n, int) and size != n for size, n in fits):
        wanted = f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})"
        raise ShapeError(f"{name} must have shape {wanted}, got {array.shape}", array.shape, shape)
    require_finite(array, name)
    return array
