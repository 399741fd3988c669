"""Evaluate loops and drives of a model: residuals, rows, assembly, and dynamics with closed loops."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from .._functions._entry import kept_function, run_kept
from .._functions.binding import bound
from .._util.bindable import register
from .._util.validation import as_number, as_size, as_vector
from ..exceptions import ConfigurationError, NonFiniteError
from ..kinematics.jacobians import BodyMotions
from ..model._unit_rotations import require_rotations
from ..model.configuration import random_configuration
from ..model.joints import PAIRS
from ..model.model import Model, require_model
from ..quantities.functions import integrate
from ..tolerances import DEPENDENT_ROWS as RANK
from ._constrained_dynamics import prepared_rows
from ._constrained_function import ConstrainedDynamics
from ._loop_rows import Loops, Rows, driven_loops, kernel_of, loops_of
from ._loops import LoopDynamics
from .drives import Drive, motions_at, require_finite_motions, states_with_motions

__all__ = [
    "ALIKE",
    "PAIRS",
    "RANK",
    "STEPS",
    "Loops",
    "Rows",
    "close",
    "forward_dynamics",
    "kernel_of",
    "loop_rows",
    "loops_of",
]

ALIKE = {
    "spherical": (),
    "universal": (),
    "revolute": (2,),
    "weld": (0, 1, 2),
}  # axes that must not be opposite
STEPS = 100  # most steps of Newton's method
NO_DRIVES: tuple[Drive, ...] = ()


def loop_rows(model: Model, q, v=None, drives=NO_DRIVES, t=0.0) -> Rows:
    """Compute residual, J and J-dot v of the loops and drives of a model, for one state or many.

    The residual of a loop is the origin of the second frame in the first one, in m, then the cosines of the
    angles that must be right angles; `treefactor.Kernels.loop_gap` computes the same.

    Parameters
    ----------
    model : Model
        With loops; their rows follow each other in its order.
    q, v : array_like, shapes (..., nq) and (..., nv)
        v by default zero.
    drives : sequence of Drive
        The rows of driven joints follow those of the loops: their positions less the prescribed ones, modulo
        a turn for continuous joints. Of a driven loop the residual is less what is prescribed.
    t : array_like, shape (...)
        Time of the drives, s; one for each state, or one for all.

    Returns
    -------
    Rows

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError, InvalidModelError
    """
    require_model(model)
    if drives is NO_DRIVES:
        return loops_of(model).rows(BodyMotions(model, q, v))
    drives, loops = driven_loops(model, drives)
    motion = motions_at(drives, t)
    given = {"q": q, "drives": motion} | ({} if v is None else {"v": v})
    tails = {"q": (model.nq,), "v": (model.nv,), "drives": motion.shape[-1:]}
    arrays, batch = states_with_motions(given, tails, model)
    q = np.broadcast_to(arrays["q"], (*batch, model.nq))
    return loops.rows(BodyMotions(model, q, arrays.get("v")), q, motion)


def forward_dynamics(
    model: Model,
    q,
    v,
    tau,
    fext=None,
    stabilization: float = 0.0,
    drives=NO_DRIVES,
    t=0.0,
    contacts=(),
    out=None,
    num_threads: int = 1,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the acceleration under tau with closed loops, drives and rigid contacts, and their forces.

    Parameters
    ----------
    model : Model
    q, v, tau, fext
        As for `treefactor.forward_dynamics`. q and v should close the loops.
    stabilization : float
        Rate at which errors of loops, drives and contacts decay, 1/s (Baumgarte, critically damped); 0: no
        correction.
    drives : sequence of Drive
        Motors whose accelerations are prescribed; q and v should be at theirs.
    t : array_like, shape (...)
        Time of the drives, s; one for each state, or one for all.
    contacts : sequence of RigidContact
        Contacts that hold, as the feet that stand.
    out : tuple of ndarray, optional
        Receives accelerations and forces.
    num_threads : int
        For batches; -1 uses all cores.

    Returns
    -------
    ndarray, shape (..., nv)
        m/s^2, rad/s^2.
    ndarray, shape (..., rows)
        Forces of the loops, those of one after those of another: N in the axes of the first frame, on the
        second body at the origin of the second frame; then N m for pairs of axes. Then for each driven joint
        the force of its motor along its freedom, in addition to tau; of a driven loop it is that of its row.
        Then of each contact the force, and the moment of a "6D" one, on the body of its frame.
        If rows depend on each other, as in planar loops of revolute joints, these are the forces of least
        norm. Drives that contradict each other or a loop are followed with the least sum of squared errors.

    Raises
    ------
    DtypeError, ShapeError
    NotPositiveDefiniteError, NonFiniteError, ConfigurationError
        For a single state, for instance if a freedom moves no mass. In a batch such results are NaN.
    InvalidModelError
        If a drive moves nothing of the model, or what another one moves; names the drive.
    ValueError
        If the stabilization is negative.

    Notes
    -----
    ``H a - J^T f = tau - bias``, ``J a = -bias_C - 2 s (J v + rate) - s^2 residual`` with the stabilization s
    and the `Rows` of `loop_rows`
    (Featherstone 2008, section 8.5): f by the orthogonal factor of D^-1/2 L^-T J^T (Golub and Van Loan 2013,
    section 5.2.8), for J H^-1 J^T squares its condition number.
    """
    require_model(model)
    drives, loops = (drives, loops_of(model)) if drives is NO_DRIVES else driven_loops(model, drives)
    kind = ConstrainedDynamics if contacts else LoopDynamics
    options = (prepared_rows(loops, contacts) if contacts else loops, decay_rate(stabilization))
    if not drives:
        return run_kept(model, kind, options, (q, v, tau, fext), out, num_threads)
    motion = motions_at(drives, t)
    try:
        return run_kept(model, kind, options, (q, v, tau, fext, motion), out, num_threads)
    except NonFiniteError:
        require_finite_motions(motion)
        raise


def decay_rate(stabilization) -> float:
    """Return the rate at which errors decay as a float; raise ValueError if it is negative."""
    rate = as_number(stabilization, "stabilization")
    if rate < 0.0:
        raise ValueError(f"stabilization must not be negative, got {rate}")
    return rate


def close(model: Model, q, tolerance: float = 1e-12, drives=NO_DRIVES, t: float = 0.0) -> np.ndarray:
    """Find a configuration near q in which the loops of a model are closed and its drives in their positions.

    Parameters
    ----------
    model : Model
    q : array_like, shape (nq,)
        First guess.
    tolerance : float
        Bound of every residual: m, rad, or cosine.
    drives : sequence of Drive
    t : float
        Time of the drives, s.

    Returns
    -------
    ndarray, shape (nq,)

    Raises
    ------
    ConfigurationError
        If loops cannot be closed from q; names the loop or driven joint with the largest residual.
    ShapeError, DtypeError, NonFiniteError, InvalidModelError
    ValueError
        If the tolerance is negative or NaN.

    Notes
    -----
    Levenberg's and Marquardt's damped Newton steps (Nocedal and Wright 2006, section 10.3), along the joints'
    manifolds; steps have least norm where they are not unique.
    """
    require_model(model)
    q, tolerance = as_vector(q, model.nq, "q").copy(), as_size(tolerance, "tolerance")
    require_rotations(model, q, "q")
    drives, loops = driven_loops(model, drives)
    motion = motions_at(drives, as_number(t, "t"))
    require_finite_motions(motion)
    rows, damping = loops.rows(BodyMotions(model, q), q, motion), 1e-3
    for _ in range(STEPS):
        error = np.abs(rows.residual).max(initial=0.0)
        if error <= tolerance:
            break
        nearer = integrate(model, q, _step(rows.dense(), rows.residual, damping * min(error, 1.0)))
        tried = loops.rows(BodyMotions(model, nearer), nearer, motion)
        if np.linalg.norm(tried.residual) < np.linalg.norm(rows.residual):
            q, rows, damping = nearer, tried, damping / 10.0
        else:
            damping = max(10.0 * damping, 1e-12)
    _require_closed(loops, BodyMotions(model, q), rows, tolerance)
    return q


def _step(J: np.ndarray, residual: np.ndarray, damping: float) -> np.ndarray:
    """Return the x that minimises |J x + residual|² + damping² |x|²."""
    U, size, V = np.linalg.svd(J, full_matrices=False)
    kept = size > RANK * size[0]
    return -((np.where(kept, size, 0.0) / (size**2 + damping**2 + ~kept)) * (residual @ U)) @ V


def _require_closed(loops: Loops, at: BodyMotions, rows: Rows, tolerance: float) -> None:
    """Raise ConfigurationError that names an open loop, or one whose frames have opposite axes."""
    error = np.abs(rows.residual)
    if error.max(initial=0.0) > tolerance:
        row = int(np.argmax(error))
        if row >= len(loops.of):
            name = loops.model.joints[loops.targets[int(np.flatnonzero(loops.driven == row)[0])].joint].name
            raise ConfigurationError(
                f"joint {name!r} cannot be driven to its position from here: it stays {error[row]:.3g} away",
                name,
            )
        name = loops.model.loops[loops.of[row]].name
        raise ConfigurationError(
            f"loop {name!r} cannot be closed from here: it stays {error[row]:.3g} open", name
        )
    for loop, end1, end2, R1, R2 in zip(loops.model.loops, *loops.ends, *loops.R, strict=True):
        turned = (at.R[end1] @ R1).T @ at.R[end2] @ R2
        if any(turned[axis, axis] < 0.0 for axis in ALIKE[loop.kind]):
            raise ConfigurationError(
                f"loop {loop.name!r} closes with its frames the wrong way round", loop.name
            )


def _bound(function, model: Model, given: dict[str, Any], out):
    """Return the bound call of `forward_dynamics`."""
    require_model(model)
    drives, loops = driven_loops(model, given["drives"])
    contacts, rate = given["contacts"], decay_rate(given["stabilization"])
    kind = ConstrainedDynamics if contacts else LoopDynamics
    options = (prepared_rows(loops, contacts) if contacts else loops, rate)
    arrays = {name: given[name] for name in ("q", "v", "tau", "fext")}
    if drives:
        arrays["drives"] = motions_at(drives, given["t"])
    validated = partial(function, model, **given, out=out)
    return bound(kept_function(model, kind, options), arrays, out, validated)


register(_bound, (forward_dynamics,))


def random_motions(model: Model, count: int) -> Iterator[BodyMotions]:
    """Yield kinematics at random configurations, except where loops cannot be closed."""
    rng = np.random.default_rng(0)
    for _ in range(count):
        q = random_configuration(model, rng)
        try:
            q = close(model, q) if model.loops else q
        except ConfigurationError:
            continue
        yield BodyMotions(model, q)
