"""Time stepping with impulses: joints that close loops, contacts with friction and limits in one problem.

Tasora, Manconi, Silvestri (2.5), h the step and K the stabilization:

    M (v_new - v) - C_q^T gamma_C - D_q^T gamma_D = h Q
    C_q v_new + (K/h) C = 0,   D_q v_new + (K/h) D >= 0  _|_  gamma_D >= 0,   q_new = q + h v_new

A gap that is open may close within the step, K = 1 there. Friction is the convex relaxation of Anitescu and
Tasora (2010) with a polyhedral cone: the rows of a normal n and tangents t_j are n + mu t_j. It
lifts what slides at the velocity v by h mu v, and what begins to slide at once hops with mu v.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .. import _rotations as rotations
from .. import mlcp
from .._arrays import as_real, as_vector
from ..configuration import integrate
from ..dynamics import bias, crba
from ..exceptions import ShapeError, StepError
from ..model import Model
from .contacts import Contacts, Touch, limits_of
from .kinematics import Kinematics
from .loops import loops_of

FACETS = (4, 8)


@dataclass(frozen=True)
class Step:
    """State after a step, and what acted during it.

    Attributes
    ----------
    q, v : ndarray, shape (nq,) and (nv,)
    gap : ndarray, shape (contacts,)
        At the beginning, m; inf of contacts that were farther than the margin.
    impulse : ndarray, shape (contacts, 3)
        On the bodies of the spheres, in the axes of the base, N s.
    loop_impulse : ndarray, shape (rows,)
        N s and N m s, in the order of `loop_rows`.
    solution : mlcp.Solution
    """

    q: np.ndarray
    v: np.ndarray
    gap: np.ndarray
    impulse: np.ndarray
    loop_impulse: np.ndarray
    solution: mlcp.Solution


@dataclass(frozen=True)
class Trajectory:
    """States that follow each other.

    Attributes
    ----------
    t : ndarray, shape (steps + 1,)
        s.
    q, v : ndarray, shape (steps + 1, nq) and (steps + 1, nv)
    steps : list of Step
    """

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    steps: list[Step]


class Stepper:
    """Steps a model through time; it remembers the impulses of its last step as a first guess.

    Parameters
    ----------
    model : Model
        Its loops stay closed.
    contacts : sequence of Contact
    h : float
        Step, s.
    limits : bool
        Keep joints within their limits: those of joints with one velocity for each of their positions, which
        do not follow others.
    stabilization : float
        K, from 0 to 1: the share of an error of loops, of an overlap, and of a limit passed, that a step is
        to take away.
    facets : {4, 8}
        Of the cones of friction, which are inside the round ones: a contact holds mu times its normal force
        along their edges, between them down to cos(pi / facets) times that.
    margin : float
        Contacts farther apart than that, in m, are left out; it must be more than anything moves in a step.

    Raises
    ------
    InvalidModelError
        Where a contact is on a body that the model does not have.
    ValueError
        Where a number is out of range.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> from treefactor.constraints import Contact, Sphere, Stepper
    >>> ball = tf.Joint("ball", "freeflyer", inertia=tf.Inertia(1.0, tensor=0.004 * np.eye(3)))
    >>> stepper = Stepper(tf.Model([ball]), [Contact(Sphere(0, radius=0.1), mu=0.5)], h=0.01)
    >>> fall = stepper.run([0, 0, 1.0, 0, 0, 0, 1], np.zeros(6), 100)
    >>> fall.q[-1, 2].round(6)
    0.1
    """

    def __init__(
        self,
        model: Model,
        contacts=(),
        h: float = 1e-3,
        limits: bool = True,
        stabilization: float = 0.2,
        facets: int = 4,
        margin: float = np.inf,
    ):
        if not 0.0 < h < np.inf:
            raise ValueError(f"h must be positive, got {h}")
        if not 0.0 <= stabilization <= 1.0:
            raise ValueError(f"stabilization must be from 0 to 1, got {stabilization}")
        if not margin >= 0.0:
            raise ValueError(f"margin must not be negative, got {margin}")
        if facets not in FACETS:
            raise ValueError(f"facets must be one of {FACETS}, got {facets}")
        self.model, self.h, self.stabilization, self.margin = model, float(h), float(stabilization), margin
        self._contacts, self._loops = Contacts(model, tuple(contacts)), loops_of(model)
        self._limits = limits_of(model) if limits else tuple(x[:0] for x in limits_of(model))
        angle = 2.0 * np.pi * np.arange(facets) / facets
        self._edges = np.stack([np.cos(angle), np.sin(angle)], axis=1).round(15)
        self._last: tuple[mlcp.Solution, np.ndarray] | None = None

    def step(self, q, v, tau=None) -> Step:
        """One step.

        Parameters
        ----------
        q, v : array_like, shape (nq,) and (nv,)
        tau : array_like, shape (nv,), optional
            Forces of the joints, N, N m; by default none.

        Returns
        -------
        Step

        Raises
        ------
        StepError
            Where no velocities fulfil the constraints, or none were found; nothing has changed then.
        NotPositiveDefiniteError, ShapeError, NonFiniteError, ConfigurationError
        """
        model, h = self.model, self.h
        q, v = as_vector(q, model.nq, "q"), as_vector(v, model.nv, "v")
        force = -bias(model, q, v) if tau is None else as_vector(tau, model.nv, "tau") - bias(model, q, v)
        H = crba(model, q)
        at = Kinematics(model, q, v)
        loops, touch = self._loops.rows(at), self._contacts.near(at, self.margin)
        rows = self._unilateral(q, touch)
        g = H @ (v + h * _turning(model, v)) + h * force
        c = -self.stabilization / h * loops.residual
        problem = mlcp.Problem(H, model.tree, g, loops.csr(), c, rows.D, rows.d)
        solution = mlcp.solve(problem, warm_start=self._guess(rows.key, problem))
        if solution.status is not mlcp.Status.SOLVED:
            raise StepError(f"no step from here: the problem is {solution.status.name}", solution)
        q_new, v_new = _moved(model, q, solution.v, h)
        if not np.isfinite(np.append(q_new, v_new)).all():
            raise StepError("no step from here: it overflows", solution)
        self._last = solution, rows.key
        gap = np.full(len(self._contacts.mu), np.inf)
        gap[touch.which] = touch.gap
        impulse = self._impulses(touch, rows, solution.gamma)
        return Step(q_new, v_new, gap, impulse, solution.gamma_c, solution)

    def run(self, q, v, steps: int, tau: Callable | np.ndarray | None = None) -> Trajectory:
        """Many steps.

        Parameters
        ----------
        q, v : array_like, shape (nq,) and (nv,)
        steps : int
        tau : callable or array_like, optional
            ``tau(t, q, v)``, or one force for all steps, (nv,), or one for each, (steps, nv).

        Returns
        -------
        Trajectory

        Raises
        ------
        ValueError
            Where steps are negative.
        StepError
            Carries the time.
        NotPositiveDefiniteError, ShapeError, NonFiniteError, ConfigurationError
        """
        q, v = as_vector(q, self.model.nq, "q").copy(), as_vector(v, self.model.nv, "v").copy()
        if steps < 0:
            raise ValueError(f"steps must not be negative, got {steps}")
        control = tau if callable(tau) else _open_loop(tau, steps, self.model.nv)
        t, made = self.h * np.arange(steps + 1), []
        states = [(q, v)]
        for k in range(steps):
            try:
                made.append(self.step(*states[-1], control(t[k], *states[-1])))
            except StepError as error:
                raise StepError(f"{error}, at t = {t[k]:.6g} s", error.solution, float(t[k])) from None
            states.append((made[-1].q, made[-1].v))
        return Trajectory(t, *map(np.array, zip(*states, strict=True)), made)

    def _unilateral(self, q: np.ndarray, touch: Touch) -> _Unilateral:
        """Rows of contacts that are near, then of limits."""
        from scipy.sparse import csr_array

        mu, pattern, edges = self._contacts.mu[touch.which], touch.pattern, len(self._edges)
        counts = np.where(mu > 0, edges, 1)
        of, edge = np.repeat(np.arange(len(mu)), counts), _ranges(counts)
        slope = mu[of, None] * self._edges[edge]
        sizes = np.diff(pattern.indptr)[of]
        entry = np.repeat(pattern.indptr[of], sizes) + _ranges(sizes)
        x, y = np.repeat(slope, sizes, axis=0).T
        data = touch.data[0, entry] + x * touch.data[1, entry] + y * touch.data[2, entry]
        i, k, sign, bound = self._limits
        indptr = np.concatenate([[0], np.cumsum(np.concatenate([sizes, np.ones(len(k), dtype=np.intp)]))])
        columns = np.concatenate([pattern.indices[entry], k])
        D = csr_array((np.concatenate([data, sign]), columns, indptr), shape=(len(indptr) - 1, self.model.nv))
        gap = np.concatenate([touch.gap[of], sign * (q[i] - bound)])
        d = -np.where(gap > 0, 1.0, self.stabilization) / self.h * gap
        limits = len(self._contacts.mu) * edges + np.arange(len(k))
        key = np.concatenate([touch.which[of] * edges + edge, limits])
        return _Unilateral(D, d, key, of, slope)

    def _guess(self, key: np.ndarray, problem: mlcp.Problem) -> mlcp.Solution | None:
        """The last solution, its rows where they are now."""
        if self._last is None:
            return None
        last, before = self._last
        _, now, then = np.intersect1d(key, before, assume_unique=True, return_indices=True)
        gamma, active = np.zeros(len(key)), np.zeros(len(key), dtype=bool)
        gamma[now], active[now] = last.gamma[then], last.active[then]
        return replace(last, gamma=gamma, active=active, problem=problem)

    def _impulses(self, touch: Touch, rows: _Unilateral, gamma: np.ndarray) -> np.ndarray:
        """Impulses of all contacts in the base."""
        gamma = gamma[: len(rows.of)]
        along = gamma[:, None] * np.column_stack([np.ones(len(gamma)), rows.slope])
        local = np.zeros((len(touch.which), 3))
        np.add.at(local, rows.of, along)
        impulse = np.zeros((len(self._contacts.mu), 3))
        impulse[touch.which] = (local[:, None] @ touch.axes)[:, 0]
        return impulse


@dataclass(frozen=True)
class _Unilateral:
    """D v >= d; which row is which, and of rows of contacts which contact, and mu t_j along its tangents."""

    D: object  # scipy.sparse.csr_array
    d: np.ndarray
    key: np.ndarray
    of: np.ndarray
    slope: np.ndarray


def _ranges(counts: np.ndarray) -> np.ndarray:
    """0 .. count-1 for every count."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def _open_loop(tau, steps: int, nv: int) -> Callable:
    """Forces that are known beforehand as a function of time."""
    if tau is None:
        return lambda t, q, v: None
    forces = as_real(tau, "tau")
    if forces.shape not in ((nv,), (steps, nv)):
        raise ShapeError(
            f"tau must have shape ({nv},) or {(steps, nv)}, got {forces.shape}", forces.shape, (nv,)
        )
    rows = iter(np.broadcast_to(forces, (steps, nv)))
    return lambda t, q, v: next(rows)


def _turning(model: Model, v: np.ndarray) -> np.ndarray:
    """ω × v of joints whose linear velocities are in axes that turn: these do not turn during a step."""
    found = np.zeros_like(v)
    if "freeflyer" in model.entries:
        at = model.entries["freeflyer"][1]
        found[at[:, :3]] = np.cross(v[at[:, 3:]], v[at[:, :3]])
    if "planar" in model.entries:
        at = model.entries["planar"][1]
        found[at[:, 0]], found[at[:, 1]] = -v[at[:, 2]] * v[at[:, 1]], v[at[:, 2]] * v[at[:, 0]]
    return found


def _moved(model: Model, q: np.ndarray, v: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    """State after h at velocities v, linear ones along straight lines and kept in axes that do not turn."""
    new_q, new_v = integrate(model, q, h * v), v.copy()
    for kind, count, turn, inverse in (
        ("freeflyer", 3, rotations.rotate, rotations.conjugate),
        ("planar", 2, rotations.turn, lambda circle: (circle[0], -circle[1])),
    ):
        if kind in model.entries:
            at_q, at_v = model.entries[kind]
            places, rates = at_q[:, :count], at_v[:, :count]
            way = turn(q[at_q[:, count:]].T, v[rates].T)
            new_q[places] = q[places] + h * np.stack(way, axis=1)
            new_v[rates] = np.stack(turn(inverse(new_q[at_q[:, count:]].T), way), axis=1)
    return new_q, new_v
