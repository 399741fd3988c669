"""Compute the dynamics of a chain of flexible links from positions of its joints and amplitudes of its modes.

Links are described once, in their own frames; the inertia matrix and the forces are those of ``flexible``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._util.messages import received
from .._util.validation import Sealed, as_tuple, as_vector
from ..exceptions import InvalidChainError
from ..model._states import states
from ..model.model import GRAVITY
from .flexible import ModeMoments, Modes, flexible_forces, flexible_inertia
from .flexible_link import FlexibleLink

__all__ = ["FlexibleChain", "FlexibleLink"]


class Frames(NamedTuple):
    """Rotations and origins of the links, and the rotations of their modes, in the axes of the base."""

    R: np.ndarray
    origin: np.ndarray
    bent: np.ndarray


class FlexibleChain(Sealed):
    """Chain of links, each on one joint, that deform in assumed modes.

    Parameters
    ----------
    links : sequence of FlexibleLink
    gravity : array_like, shape (3,)
        m/s^2, in the frame of the base.

    Attributes
    ----------
    n, nv : int
        Joints; joints and modes.
    modes : tuple of slice
        Entries of each link's amplitudes in q; the joints' positions come first.

    Raises
    ------
    InvalidChainError
        If there are no links or one is not a FlexibleLink.
    DtypeError
        If links is not a sequence.

    Notes
    -----
    Immutable.

    Displacements are linear in the amplitudes: a beam that bends does not become shorter, so that its
    stiffening under centrifugal loads is not modelled. Rotations at the tip are finite, one mode after the
    other.

    Examples
    --------
    The lowest frequency of a cantilever, in 1/s, which is 3.516 sqrt(E I / (m L^3)) in theory:

    >>> import numpy as np, treefactor as tf
    >>> from treefactor.dynamics.flexible_chain import FlexibleChain, FlexibleLink
    >>> beam = FlexibleLink.beam("beam", [0, 0, 1], length=2.0, mass=3.0, bending=100.0, modes=3)
    >>> chain = FlexibleChain([beam], gravity=[0, 0, 0])
    >>> A, K = chain.inertia(np.zeros(chain.nv)), chain.stiffness
    >>> bending = chain.modes[0]
    >>> lowest = np.linalg.eigvals(np.linalg.solve(A[bending, bending], K[bending, bending])).real.min()
    >>> round(float(np.sqrt(lowest)), 3), round(3.516 * (100 / (3 * 2**3)) ** 0.5, 3)
    (7.179, 7.177)
    """

    links: tuple[FlexibleLink, ...]
    gravity: np.ndarray
    n: int
    nv: int
    modes: tuple[slice, ...]
    stiffness: np.ndarray
    damping: np.ndarray
    _slides: np.ndarray
    _kept: np.ndarray
    _used: np.ndarray
    _padded: dict[str, np.ndarray]

    def __init__(self, links: Sequence[FlexibleLink], gravity=GRAVITY):
        links = as_tuple(links, "links")
        if not links:
            raise InvalidChainError("links must hold one FlexibleLink or more, got none")
        for k, link in enumerate(links):
            if not isinstance(link, FlexibleLink):
                raise InvalidChainError(f"links[{k}] is not a FlexibleLink but {received(link)}", k)
        n, counts = len(links), [link.modes for link in links]
        ends = n + np.cumsum([0, *counts])
        modes = tuple(slice(int(end) - count, int(end)) for end, count in zip(ends[1:], counts, strict=True))
        S, nv = max(counts), int(ends[-1])
        used = np.arange(S) < np.array(counts)[:, None]
        self._keep(links=links, gravity=as_vector(gravity, 3, "gravity").copy(), n=n, nv=nv, modes=modes)
        self._keep(_kept=np.concatenate([np.ones(n, bool), used.ravel()]), _used=used)
        self._keep(_slides=np.array([link.prismatic for link in links]))
        stiffness, damping = np.zeros((2, nv, nv))
        for link, at in zip(links, modes, strict=True):
            stiffness[at, at], damping[at, at] = link.stiffness, link.damping
        self._keep(stiffness=stiffness, damping=damping)
        fields: dict[str, Any] = {"momentum": (3,), "mixed": (3, 3), "tip": (3,), "rotation": (3,)}
        padded = {name: np.zeros((n, S, *tail)) for name, tail in fields.items()}
        padded["modal"] = np.zeros((n, S, S, 3, 3))
        for k, (link, count) in enumerate(zip(links, counts, strict=True)):
            for name in fields:
                padded[name][k, :count] = getattr(link, name)
            padded["modal"][k, :count, :count] = link.modal
        for name in ("axis", "R", "end", "mass", "first", "second"):
            padded[name] = np.array([getattr(link, name) for link in links])
        self._keep(_padded=padded)
        for array in [*padded.values(), *(x for x in vars(self).values() if isinstance(x, np.ndarray))]:
            array.flags.writeable = False

    def __reduce__(self):
        return FlexibleChain, (self.links, self.gravity)

    def __repr__(self) -> str:
        return f"<FlexibleChain: {self.n} joints, {self.nv - self.n} modes>"

    def inertia(self, q) -> np.ndarray:
        """Compute the inertia matrix A.

        Parameters
        ----------
        q : array_like, shape (..., nv)
            Positions of the joints, rad or m, then the amplitudes of the modes.

        Returns
        -------
        ndarray, shape (..., nv, nv)

        Raises
        ------
        ShapeError, NonFiniteError
        """
        q = self._arrays(q=q)["q"]
        arguments, _ = self._evaluated(q)
        return self._selected(self._matrix(arguments), 2)

    def forces(self, q, v, torque=None) -> np.ndarray:
        """Compute the generalized forces b of A v̇ = b: drives, elasticity, damping, gravity, inertia.

        Parameters
        ----------
        q, v : array_like, shape (..., nv)
            v is the derivative of q.
        torque : array_like, shape (..., n), optional
            Forces of the joints' drives, N m or N; zero by default.

        Returns
        -------
        ndarray, shape (..., nv)

        Raises
        ------
        ShapeError, NonFiniteError
        """
        x = self._arrays(q=q, v=v, torque=torque)
        return self._vector(*self._evaluated(x["q"]), x)

    def forward_dynamics(self, q, v, torque=None) -> np.ndarray:
        """Compute the accelerations of joints and amplitudes.

        Parameters
        ----------
        q, v, torque
            As for `forces`.

        Returns
        -------
        ndarray, shape (..., nv)

        Raises
        ------
        ShapeError, NonFiniteError
        numpy.linalg.LinAlgError
            If a coordinate moves no mass.
        """
        A, b = self.equations(q, v, torque)
        return np.linalg.solve(A, b[..., None])[..., 0]

    def equations(self, q, v, torque=None) -> tuple[np.ndarray, np.ndarray]:
        """Compute A and b of A v̇ = b, in less time than `inertia` and `forces` take.

        Parameters
        ----------
        q, v, torque
            As for `forces`.

        Returns
        -------
        A : ndarray, shape (..., nv, nv)
        b : ndarray, shape (..., nv)

        Raises
        ------
        ShapeError, NonFiniteError
        """
        x = self._arrays(q=q, v=v, torque=torque)
        arguments, slide = self._evaluated(x["q"])
        return self._selected(self._matrix(arguments), 2), self._vector(arguments, slide, x)

    def energy(self, q, v) -> tuple[np.ndarray, np.ndarray]:
        """Compute kinetic energy, and elastic and gravitational energy together, in J.

        Parameters
        ----------
        q, v
            As for `forces`.

        Returns
        -------
        kinetic, potential : ndarray, shape (...)
        """
        x = self._arrays(q=q, v=v)
        q, v = x["q"], x["v"]
        arguments, _ = self._evaluated(q)
        kinetic = 0.5 * np.einsum("...i,...ij,...j->...", v, self._selected(self._matrix(arguments), 2), v)
        moment = self._padded["mass"][:, None] * self.frames(q)[1][..., :-1, :] + arguments["c"]
        elastic = 0.5 * np.einsum("...i,ij,...j->...", q, self.stiffness, q)
        return kinetic, elastic - moment.sum(axis=-2) @ self.gravity

    def frames(self, q) -> tuple[np.ndarray, np.ndarray]:
        """Compute rotations and origins of the links' frames; the last is that at the tip of the last link.

        Parameters
        ----------
        q
            As for `inertia`.

        Returns
        -------
        R : ndarray, shape (..., n + 1, 3, 3)
        origin : ndarray, shape (..., n + 1, 3)
        """
        frames = self._frames(self._arrays(q=q)["q"])
        return frames.R, frames.origin

    # ------------------------------------------------------------------------------------ one or many states

    def _arrays(self, **given) -> dict[str, np.ndarray]:
        """Return validated arrays with the same leading axes."""
        tails = {"q": (self.nv,), "v": (self.nv,), "torque": (self.n,)}
        if "torque" in given and given["torque"] is None:
            given["torque"] = np.zeros(self.n)
        arrays, batch = states(given, tails, None)
        return {name: np.broadcast_to(x, (*batch, *tails[name])) for name, x in arrays.items()}

    def _amplitudes(self, q: np.ndarray) -> np.ndarray:
        """Return entries of q or v that belong to modes, (..., n, S), zeros where a link has fewer."""
        displacements = np.zeros((*q.shape[:-1], *self._used.shape))
        displacements[..., self._used] = q[..., self.n :]
        return displacements

    def _selected(self, padded: np.ndarray, axes: int) -> np.ndarray:
        """Return the rows, and of a matrix the columns, of modes that exist."""
        padded = padded[..., self._kept]
        return padded if axes == 1 else padded[..., self._kept, :]

    def _frames(self, q: np.ndarray) -> Frames:
        """Compute the frames of all links, one after the other."""
        x, eta = self._padded, self._amplitudes(q)
        lead, (n, S) = q.shape[:-1], self._used.shape
        R, origin = np.broadcast_to(np.eye(3), (*lead, 3, 3)), np.zeros((*lead, 3))
        bent = np.zeros((*lead, n, S, 3))
        rotations, origins = [], []
        for k in range(n):
            R = R @ x["R"][k]
            if self._slides[k]:
                origin = origin + q[..., k, None] * (R @ x["axis"][k])
            else:
                R = R @ _rotations(x["axis"][k], q[..., k])
            rotations.append(R)
            origins.append(origin)
            local = x["end"][k] + np.einsum("...s,sx->...x", eta[..., k, :], x["tip"][k])
            origin = origin + (R @ local[..., None])[..., 0]
            for s in range(S):
                bent[..., k, s, :] = R @ x["rotation"][k, s]
                R = R @ _rotations(x["rotation"][k, s], eta[..., k, s])
        return Frames(np.stack([*rotations, R], axis=-3), np.stack([*origins, origin], axis=-2), bent)

    def _evaluated(self, q: np.ndarray) -> tuple[dict[str, Any], np.ndarray]:
        """Return the arguments of `flexible_inertia` and the moments of the modes, and the joints' slides."""
        x, eta, frames = self._padded, self._amplitudes(q), self._frames(q)
        R = frames.R[..., :-1, :, :]
        axis = np.einsum("...kxy,ky->...kx", R, x["axis"])
        slide = np.where(self._slides, q[..., : self.n], 0.0)
        # integrals over the deformed links, in their own frames: of phi x^T, and of x x^T
        second = x["mixed"] + np.einsum("...kt,kstxy->...ksxy", eta, x["modal"])
        both = np.einsum("...ks,...ksxy->...kxy", eta, x["mixed"] + second)
        spread = x["second"] + (both + np.swapaxes(both, -1, -2)) / 2
        first = x["first"] + np.einsum("...ks,ksx->...kx", eta, x["momentum"])
        spread = R @ spread @ np.swapaxes(R, -1, -2)
        trace = np.trace(spread, axis1=-2, axis2=-1)[..., None, None]
        turned = R[..., None, :, :] @ second @ np.swapaxes(R, -1, -2)[..., None, :, :]
        tip = np.einsum("...kxy,ksy->...ksx", R, x["tip"])
        after = np.zeros_like(axis)  # slides of the next joints
        after[..., :-1, :] = (slide[..., None] * axis)[..., 1:, :]
        modes = Modes(
            momentum=np.einsum("...kxy,ksy->...ksx", R, x["momentum"]),
            moment=_axial(np.swapaxes(turned, -1, -2)),
            mass=np.trace(x["modal"], axis1=-2, axis2=-1),
            tip=tip + np.cross(frames.bent, after[..., None, :]),
            rotation=frames.bent,
        )
        gyroscopic = np.einsum("...kxy,ksty->...kstx", R, _axial(x["modal"]))
        shifted = np.zeros_like(axis)
        shifted[..., 1:, :] = np.diff(frames.origin[..., :-1, :], axis=-2)
        arguments = {"axis": axis, "r": shifted, "mass": x["mass"], "modes": modes}
        arguments |= {"c": _rotated(R, first)}
        arguments |= {"inertia": trace * np.eye(3) - spread, "moments": ModeMoments(turned, gyroscopic)}
        return arguments, slide

    def _matrix(self, x: dict[str, Any]) -> np.ndarray:
        """Return the padded inertia matrix."""
        names = ("axis", "r", "mass", "c", "inertia", "modes")
        return flexible_inertia(**{name: x[name] for name in names}, prismatic=self._slides)

    def _vector(self, arguments: dict[str, Any], slide: np.ndarray, x: dict[str, np.ndarray]) -> np.ndarray:
        """Return the forces on the joints and on the modes that exist."""
        q, v = x["q"], x["v"]
        elastic = -(q @ self.stiffness + v @ self.damping)
        b = flexible_forces(
            **arguments,
            rate=v[..., : self.n],
            mode_rate=self._amplitudes(v),
            mode_force=self._amplitudes(elastic),
            torque=x["torque"],
            gravity=self.gravity,
            slide=slide,
            prismatic=self._slides,
        )
        return self._selected(b, 1)


def _rotated(R: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return products of stacked rotations and vectors."""
    return (R @ x[..., None])[..., 0]


def _axial(X: np.ndarray) -> np.ndarray:
    """Return the integrals of a cross b from those of a b^T."""
    return np.stack(
        [X[..., 1, 2] - X[..., 2, 1], X[..., 2, 0] - X[..., 0, 2], X[..., 0, 1] - X[..., 1, 0]], axis=-1
    )


def _rotations(vector: np.ndarray, amount: np.ndarray) -> np.ndarray:
    """Return rotations by amount times a vector, by Rodrigues' formula."""
    size = np.linalg.norm(vector)
    x, y, z = vector / size if size else vector
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    angle = (size * np.asarray(amount))[..., None, None]
    return np.eye(3) + np.sin(angle) * K + 2.0 * np.sin(angle / 2) ** 2 * (K @ K)
