"""Design motions of an arm from which its parameters can be found: Fourier series, at rest at both ends."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._util.validation import Array, ReadOnly, as_count, as_number, as_real, require_finite
from ..exceptions import InvalidModelError, ShapeError
from ..model.configuration import neutral
from ..model.model import Model, require_model
from ..quantities.functions import integrate, regressor

SAMPLES = 16  # samples of the motion for every harmonic
STARTS = 50  # random motions, of which the best are improved
IMPROVED = 3
LARGE = 2.0  # mean logit of their share of the largest amplitude
STEP = 1e-6  # step of finite differences
CONDITION = 1e16  # counts for motions that leave a parameter out


@dataclass(frozen=True, eq=False)
class ExcitingMotion(ReadOnly):
    """Periodic motion of an arm that starts and ends at rest; picklable.

    Attributes
    ----------
    model : Model
    coefficients : ndarray, shape (nv, 2 harmonics + 1)
        Of every freedom, rad or m: the constant, then the factors of sin(k w t), then those of cos(k w t), k
        from 1 on, w = 2 pi / duration.
    duration : float
        s.
    cond : float
        Condition number of the regressor of the base parameters, its columns scaled to unit norm.

    Notes
    -----
    Immutable.
    """

    model: Model
    coefficients: Array
    duration: float
    cond: float

    def __post_init__(self):
        self.__setstate__(dict(self.__dict__))

    def at(self, t) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return q, v and a at times.

        Parameters
        ----------
        t : array_like, shape (...)
            s. The motion repeats itself before 0 and after the duration.

        Returns
        -------
        q : ndarray, shape (..., nq)
        v, a : ndarray, shape (..., nv)
        """
        t = as_real(t, "t")
        require_finite(t, "t")
        x, v, a = _series(self.coefficients, 2.0 * np.pi / self.duration, t)
        start = neutral(self.model)
        return integrate(self.model, np.broadcast_to(start, (*t.shape, start.size)), x), v, a


def _series(coefficients: np.ndarray, w: float, t: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the positions, velocities and accelerations (..., nv) of Fourier series at times."""
    k = np.arange(1, (coefficients.shape[1] + 1) // 2)
    sine, cosine = np.split(coefficients[:, 1:], 2, axis=1)
    phase = w * np.asarray(t)[..., None] * k
    s, c, k = np.sin(phase), np.cos(phase), w * k
    x = coefficients[:, 0] + s @ sine.T + c @ cosine.T
    return x, (k * c) @ sine.T - (k * s) @ cosine.T, -(k**2 * s) @ sine.T - (k**2 * c) @ cosine.T


class _Limits(NamedTuple):
    """Limits of every freedom, shape (nv,)."""

    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


class _Family:
    """Motions within limits as functions of unbounded numbers z: (motions, nv, 2 harmonics).

    A freedom has 2 harmonics - 2 numbers for its shape, then the share of the largest amplitude, then that of
    the free space on both sides.
    """

    def __init__(self, model: Model, base, duration: float, harmonics: int, limits: _Limits):
        from scipy.linalg import null_space

        self.model, self.base, self.limits, self.duration = model, base, limits, duration
        self.columns = ("inertia", "armature") if len(base.columns) > 10 * model.njoints else ("inertia",)
        k = np.arange(1, harmonics + 1)
        at_rest = np.zeros((2, 2 * harmonics))
        at_rest[0, :harmonics], at_rest[1, harmonics:] = k, k**2
        self.basis = null_space(at_rest).T
        count = SAMPLES * harmonics
        t = np.arange(count) / count * duration
        self.parts = _series(np.pad(self.basis, ((0, 0), (1, 0))), 2.0 * np.pi / duration, t)
        # a series is at most so much larger between samples (Ehlich and Zeller 1964)
        self.between = 1.0 / np.cos(np.pi * harmonics / count)
        self.shape = (model.nv, len(self.basis) + 2)

    def scaled(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the factors of the basis (motions, nv, 2 harmonics - 2) and the constants (motions, nv)."""
        shape, (lower, upper, velocity, acceleration) = z[..., :-2], self.limits
        x, v, a = (np.einsum("tb,mjb->mtj", part, shape) for part in self.parts)
        high, low = x.max(axis=1), x.min(axis=1)
        half = self.between * (high - low) / 2.0
        peaks = (self.between * np.abs(part).max(axis=1) for part in (v, a))
        speed, push = peaks
        with np.errstate(divide="ignore"):
            largest = np.minimum(
                (upper - lower) / (2.0 * half), np.minimum(velocity / speed, acceleration / push)
            )
        amplitude = largest * (1.0 + np.tanh(z[..., -2] / 2.0)) / 2.0
        space = (upper - lower) / 2.0 - amplitude * half
        middle = amplitude * (high + low) / 2.0
        return amplitude[..., None] * shape, (lower + upper) / 2.0 - middle + space * np.tanh(z[..., -1])

    def regressors(self, z: np.ndarray) -> np.ndarray:
        """Return the regressors of the base parameters of motions, their columns scaled to unit norm."""
        shape, constant = self.scaled(z.reshape(-1, *self.shape))
        x, v, a = (np.einsum("tb,mjb->mtj", part, shape) for part in self.parts)
        x = x + constant[:, None]
        q = integrate(self.model, np.broadcast_to(neutral(self.model), (*x.shape[:2], self.model.nq)), x)
        Y = regressor(self.model, q, v, a, columns=self.columns)[..., self.base.kept]
        Y = Y.reshape(len(shape), -1, len(self.base.kept))
        norms = np.linalg.norm(Y, axis=1)
        return Y / np.where(norms > 0.0, norms, 1.0)[:, None]

    def conditions(self, z: np.ndarray) -> np.ndarray:
        """Return the logarithms of the condition numbers of motions."""
        Y = self.regressors(z)
        values = np.linalg.eigvalsh(Y.swapaxes(1, 2) @ Y)
        return 0.5 * np.log(values[:, -1] / np.maximum(values[:, 0], values[:, -1] / CONDITION))

    def with_slope(self, z: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the logarithm of the condition number of a motion, and its slope by finite differences."""
        values = self.conditions(np.concatenate([z[None], z + STEP * np.eye(len(z))]))
        return values[0], (values[1:] - values[0]) / STEP

    def coefficients(self, z: np.ndarray) -> np.ndarray:
        """Return the coefficients of a motion, (nv, 2 harmonics + 1)."""
        shape, constant = self.scaled(z.reshape(1, *self.shape))
        return np.column_stack([constant[0], shape[0] @ self.basis])


def exciting_motion(
    model: Model,
    base,
    duration: float,
    harmonics: int = 5,
    lower=None,
    upper=None,
    velocity_limits=None,
    acceleration_limits=np.inf,
    seed: int = 0,
    iterations: int = 50,
    progress: bool = False,
) -> ExcitingMotion:
    """Find the motion of an arm within limits that determines its base parameters best.

    Parameters
    ----------
    model : Model
        On a fixed base, with joints of one freedom.
    base : BaseParameters
        Of this model, from `treefactor.base_parameters`: with ``snap=1e-5`` if the angles of its file are
        rounded.
    duration : float
        s; velocity and acceleration are zero at both ends.
    harmonics : int
        At least 2. The fastest has ``harmonics / duration`` Hz.
    lower, upper : float or array_like, shape (nv,), optional
        Limits of the positions, rad or m; by default those of the model, of continuous joints -pi and pi.
    velocity_limits, acceleration_limits : float or array_like, shape (nv,)
        Largest sizes, per s and per s^2; those of velocities by default ``model.velocity_limit``. All limits
        hold at every time, not only at samples.
    seed : int
        Of the random first motions; equal seeds give equal motions.
    iterations : int
        For each of the three best of them.
    progress : bool
        Show a progress bar on stderr.

    Returns
    -------
    ExcitingMotion

    Raises
    ------
    InvalidModelError
        If a joint has more freedoms than one, or no limits; names it.
    ShapeError, ValueError

    Notes
    -----
    Least condition number of the regressor, columns scaled to unit norm, at 16 times for every harmonic, by
    L-BFGS with finite differences in a batch: about 4 s for 6 joints, 15 s for 9. Fourier series: Swevers et
    al. (1997), Optimal robot excitation and identification. Self-collisions are not checked.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> from treefactor.identification import exciting_motion
    >>> arm = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=arm)])
    >>> base = tf.base_parameters(model)
    >>> motion = exciting_motion(model, base, 5.0, 3, lower=-1.5, upper=1.5, velocity_limits=2.0)
    >>> q, v, a = motion.at([0.0, 2.0, 5.0])
    >>> q.shape, v.shape, motion.cond < 3
    ((3, 1), (3, 1), True)
    """
    from scipy.optimize import minimize

    limits = _limits(model, lower, upper, velocity_limits, acceleration_limits)
    duration = as_number(duration, "duration")
    if not duration > 0.0:
        raise ValueError(f"duration must be positive, got {duration}")
    _require_base(model, base)
    family = _Family(model, base, duration, as_count(harmonics, "harmonics", 2), limits)
    rng = np.random.default_rng(seed)
    first = rng.normal(size=(STARTS, *family.shape))
    first[..., -2] += LARGE
    first = first.reshape(STARTS, -1)
    order = np.argsort(family.conditions(first))[:IMPROVED]
    options = {"maxiter": as_count(iterations, "iterations")}
    minima = [
        minimize(family.with_slope, z, jac=True, method="L-BFGS-B", options=options)
        for z in _shown(first[order], progress)
    ]
    best = min(minima, key=lambda minimum: minimum.fun)
    cond = float(np.linalg.cond(family.regressors(best.x)[0]))
    return ExcitingMotion(model, family.coefficients(best.x), duration, cond)


def _shown(starts: np.ndarray, progress: bool) -> Iterable[np.ndarray]:
    """Return the starts, with a progress bar if wanted."""
    if not progress:
        return starts
    from rich.console import Console
    from rich.progress import track

    return track(starts, "searching", console=Console(stderr=True))


def _require_base(model: Model, base) -> None:
    """Raise ShapeError unless base parameters are those of the model."""
    sizes = (10 * model.njoints, 10 * model.njoints + sum(_is_single(joint) for joint in model.joints))
    if len(base.columns) not in sizes:
        text = f"expected base parameters of {sizes[0]} or {sizes[1]} parameters, got {len(base.columns)}"
        raise ShapeError(f"{text}: call base_parameters with this model")


def _is_single(joint) -> bool:
    """Return whether a joint has one freedom of its own."""
    return joint.nv == 1 and not joint.mimic


def _limits(model: Model, lower, upper, velocity, acceleration) -> _Limits:
    """Return the limits of every freedom, or raise."""
    require_model(model)
    free = [joint for joint in model.joints if not joint.mimic]
    if not free:
        raise InvalidModelError("the model has no joint that moves")
    for joint in free:
        if joint.nv != 1:
            reason = f"joint {joint.name!r} is a {joint.kind} joint with {joint.nv} freedoms"
            raise InvalidModelError(f"{reason}: exciting motions are for joints of one freedom", joint.name)
    own = [
        (-np.pi, np.pi) if joint.kind == "continuous" else (joint.lower[0], joint.upper[0]) for joint in free
    ]
    defaults = np.array(own).T
    given = ((lower, "lower", defaults[0]), (upper, "upper", defaults[1]))
    low, high = (
        _of_freedoms(default if limit is None else limit, len(free), name) for limit, name, default in given
    )
    for joint, least, most in zip(free, low, high, strict=True):
        if not np.isfinite([least, most]).all():
            reason = f"joint {joint.name!r} has no limits"
            raise InvalidModelError(f"{reason}: pass lower and upper", joint.name)
        if not least < most:
            raise ValueError(f"lower must be below upper, got {least} and {most} for joint {joint.name!r}")
    is_own = velocity is None
    velocity = model.velocity_limit if is_own else velocity
    speed = _of_freedoms(velocity, len(free), "velocity_limits")
    push = _of_freedoms(acceleration, len(free), "acceleration_limits")
    for limits, name in ((speed, "velocity_limits"), (push, "acceleration_limits")):
        for joint, limit in zip(free, limits, strict=True):
            if not limit > 0.0:
                own = " in the model: pass others" if name == "velocity_limits" and is_own else ""
                raise ValueError(f"{name} must be positive, got {limit:.9g} for joint {joint.name!r}{own}")
    return _Limits(low, high, speed, push)


def _of_freedoms(values, nv: int, name: str) -> np.ndarray:
    """Return one number for every freedom."""
    array = as_real(values, name)
    if array.shape not in ((), (nv,)):
        raise ShapeError(f"{name} must have shape () or ({nv},), got {array.shape}", array.shape, (nv,))
    return np.broadcast_to(array, (nv,))
