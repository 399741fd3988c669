"""Estimate base parameters and friction from samples of a robot's motion, one triangle for every freedom."""

from __future__ import annotations

import numpy as np

from .._util.validation import Sealed, as_array, as_vector
from ..exceptions import DtypeError, ShapeError
from ..model.model import Model, require_model
from ._column_sizes import enlarged, largest_of
from ._least_squares import Solution, require_samples, solve, triangle_of
from ._sample_rows import SampleRows, require_usable
from .columns import KINDS, chosen, column_names
from .estimate import Estimate, PhysicalEstimate, Residuals
from .excitation import ROUNDING
from .parameter_bases import BaseParameters, base_parameters
from .physical import fit_physical

TOLERANCE = 1e-9  # smallest singular value of independent columns, scaled to unit norm
NOISE_FREE = 1e-8  # smallest residual of a freedom that weighs it, as a share of the largest torque
ALIKE = 1e-12  # relative difference of equal combinations of parameters


class Identification(Sealed):
    """Collect samples of a robot's motion, and estimate its parameters from them.

    The equations of motion are linear in the parameters x: tau = Y(q, v, a) x. Of the inertial parameters
    only the combinations of `base_parameters` can be found; with them, every freedom can have a viscous
    friction (times v), a dry friction (times the sign of v) and an offset, and freedoms of one-freedom joints
    a rotor inertia (times a).

    Samples are not stored. The state is one triangle R_k for every freedom k, with
    ``R_k^T R_k = [Y_k, tau_k]^T [Y_k, tau_k]``, updated by Householder reflections: normal equations would
    lose half of the digits. The torque of a freedom depends on the bodies that it carries and on its own
    friction, so that these triangles together cost less than a common one (half of the operations for the
    base parameters of an arm with six joints, a quarter with friction), and any weights of the freedoms can
    be chosen when the problem is solved.

    Parameters
    ----------
    model : Model
        Its inertias are used for columns that are not estimated only: without "inertia" in columns, the
        torques of its bodies are known.
    columns : sequence of str
        Any of "inertia", "armature", "viscous", "dry", "offset".
    weights : array_like, shape (nv,), optional
        By which the rows of every freedom are multiplied: one over the standard deviation of its torque; 0
        leaves a freedom out. By default one over the root mean square of its residual in a first solution
        with equal weights.
    extra : sequence of str, optional
        Names of extra columns, such as couplings of motors; `add` takes their entries.
    base : BaseParameters, optional
        By default ``base_parameters(model, "armature" in columns)``. Angles in a URDF are rounded: 1.5708
        makes a parameter of what no torque shows, with a value and a standard deviation of hundreds. Pass
        ``base_parameters(model, snap=1e-5)`` then; ``sensitive`` of `BaseParameters` names such parameters.

    Attributes
    ----------
    base : BaseParameters or None
        None without "inertia" in columns.
    names : tuple of str, length p
        The base parameters, then "armature of JOINT", "viscous friction of JOINT", ..., then ``extra``.
    rows : ndarray of int, shape (nv,)
        Number of rows used so far.

    Notes
    -----
    Thread-compatible.
    Picklable. `add` changes the object: give every thread its own, and merge them.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> arm = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("shoulder", "revolute", axis=[0, 1, 0], inertia=arm)])
    >>> rng = np.random.default_rng(0)
    >>> q, v, a = rng.normal(size=(3, 100, 1))
    >>> tau = tf.rnea(model, q, v, a) + 0.3 * v + 0.01 * rng.normal(size=(100, 1))
    >>> fit = tf.Identification(model, columns=("inertia", "viscous"))
    >>> fit.add(q, v, a, tau)
    >>> estimate = fit.solve()
    >>> estimate.names
    ('h_x of shoulder', 'h_z of shoulder', 'I_yy of shoulder', 'viscous friction of shoulder')
    >>> bool(np.abs(estimate.values - [0, -0.5, 0.35, 0.3]).max() < 0.01)
    True
    """

    model: Model
    columns: tuple[str, ...]
    weights: np.ndarray | None
    extra: tuple[str, ...]
    base: BaseParameters | None
    names: tuple[str, ...]
    rows: np.ndarray
    _samples: SampleRows
    _triangles: np.ndarray
    _largest: np.ndarray

    def __init__(
        self, model: Model, columns=KINDS, weights=None, extra=(), base: BaseParameters | None = None
    ):
        require_model(model)
        columns, extra = chosen(columns), tuple(extra)
        weights = None if weights is None else _checked_weights(weights, model.nv)
        base = _checked_base(model, columns, base)
        samples = SampleRows(model, columns, base, extra)
        self._keep(
            model=model,
            columns=columns,
            weights=weights,
            extra=extra,
            base=base,
            names=samples.names,
            rows=np.zeros(model.nv, dtype=int),
            _samples=samples,
            _triangles=np.zeros(int((samples.counts**2).sum())),
            _largest=largest_of(model),
        )

    def __setstate__(self, state: dict) -> None:  # of copies, too: `add` changes the triangles in place
        self._keep(**state | {"_triangles": state["_triangles"].copy()})

    def __repr__(self) -> str:
        return (
            f"<Identification of {self.model.name!r}: {len(self.names)} parameters, {self.rows.sum()} rows>"
        )

    def add(self, q, v, a, tau, mask=None, extra=None) -> None:
        """Add samples of a motion.

        Parameters
        ----------
        q : array_like, shape (N, nq) or (nq,)
            Configurations, rad and m.
        v, a : array_like, shape (N, nv) or (nv,)
            Velocities and accelerations.
        tau : array_like, shape (N, nv) or (nv,)
            Torques measured at the joints, N m or N. For a floating base the force on the base is measured,
            too: zero in flight; otherwise leave its six rows out.
        mask : array_like of bool, shape (N, nv) or (nv,), optional
            Rows to use; with shape (nv,) of every sample. Leave out what is not measured, and rows whose
            velocity is so small that its sign is noise if there is dry friction: see
            `identification.slow_rows`.
        extra : array_like, shape (N, nv, count), optional
            Entries of the extra columns, in the order of their names.

        Raises
        ------
        ShapeError
            If an argument has another shape.
        NonFiniteError
            If an entry is NaN or infinite, other than torques that the mask leaves out.
        ConfigurationError
            If a quaternion or (cos, sin) of q does not have unit length.
        """
        given = {"q": q, "v": v, "a": a, "tau": tau}
        arrays, further = self._samples.validated(given, extra)
        mask = None if mask is None else _checked_mask(mask, arrays[3].shape)
        require_usable(dict(zip(given, arrays, strict=True)) | {"extra": further}, mask)
        self._samples.add(arrays, mask, further, self._triangles)
        used = len(arrays[3]) if mask is None else mask.sum(axis=0)
        motion = arrays[:3] if mask is None else [array[mask.any(axis=1)] for array in arrays[:3]]
        self._keep(rows=self.rows + used, _largest=enlarged(self._largest, motion))

    def merge(self, other: Identification) -> None:
        """Add the samples of another identification of the same parameters.

        The robot may stand otherwise: another direction of gravity shows more of it.

        Raises
        ------
        ValueError
            If it estimates other parameters, or other combinations of the parameters of bodies.
        """
        if not isinstance(other, Identification) or other.names != self.names:
            raise ValueError("expected an Identification of the same parameters: make both alike")
        if self.base and other.base:
            least = ALIKE * np.abs(self.base.K).max(initial=0.0)
            alike = self.base.columns == other.base.columns
            if not alike or not np.allclose(self.base.K, other.base.K, rtol=ALIKE, atol=least):
                raise ValueError("expected an Identification of a robot with equal distances of its joints")
        own = zip(self._split(), other._split(), strict=True)
        merged = np.concatenate([np.zeros(0), *(triangle_of(pair).ravel() for pair in own)])
        largest = np.maximum(self._largest, other._largest)
        self._keep(_triangles=merged, rows=self.rows + other.rows, _largest=largest)

    def _split(self) -> list[np.ndarray]:
        """Return the triangle of every freedom, its torque in the last column."""
        counts = self._samples.counts
        parts = np.split(self._triangles, np.cumsum(counts**2))[: len(counts)]
        return [part.reshape(count, count) for part, count in zip(parts, counts, strict=True)]

    def triangle(self, weights=None) -> np.ndarray:
        """Return the triangle of the whole problem.

        Parameters
        ----------
        weights : array_like, shape (nv,), optional
            By which the rows of every freedom are multiplied; by default 1.

        Returns
        -------
        ndarray, shape (p + 1, p + 1)
            Upper triangle R of the QR factorization of [Y, tau], its diagonal not negative.
        """
        p = len(self.names)
        weights = np.ones(self.model.nv) if weights is None else _checked_weights(weights, self.model.nv)
        rows, sizes = [], self._samples.sizes(self._largest, self.rows)
        for weight, felt, R, terms in zip(weights, self._samples.felt, self._split(), sizes, strict=True):
            part = np.zeros((len(R), p + 1))
            kept = np.linalg.norm(R[:, :-1], axis=0) > ROUNDING * terms[felt]
            part[:, felt] = weight * np.where(kept, R[:, :-1], 0.0)
            part[:, p] = weight * R[:, -1]
            rows.append(part)
        return triangle_of([np.zeros((1, p + 1)), *rows])

    def _solution(self, weights: np.ndarray, tolerance: float) -> Solution:
        """Return the solution of the problem with these weights of the freedoms."""
        sizes = weights[:, None] * self._samples.sizes(self._largest, self.rows)
        return solve(self.triangle(weights), tolerance, np.linalg.norm(sizes, axis=0))

    def solve(self, tolerance: float = TOLERANCE) -> Estimate:
        """Return the least-squares estimate of what the samples determine.

        Parameters
        ----------
        tolerance : float
            Columns, scaled to unit norm, are dependent where a singular value is below this share of the
            largest. Columns that are rounding beside the terms they are computed from are not excited.

        Returns
        -------
        Estimate
            Parameters that the samples do not determine have the value NaN, and are named.

        Raises
        ------
        TreefactorError
            If no samples have been added.
        """
        require_samples(self.rows)
        weights = self.weights
        if weights is None:
            weights = self._weights_of(self._solution(np.ones(self.model.nv), tolerance).values)
        return self._estimate(self._solution(weights, tolerance), weights)

    def physical(self, prior=None, strength: float = 10.0, floor: float = 1e-3) -> PhysicalEstimate:
        """Return physically consistent parameters, near a prior where the samples leave them open.

        Parameters
        ----------
        prior : Model, optional
            Its parameters are the start, and regularize the fit; by default the model.
        strength, floor : float
            As for `fit_physical`.

        Returns
        -------
        PhysicalEstimate

        Raises
        ------
        TreefactorError
            If no samples have been added.
        ValueError
            Without "inertia" in columns, or if the prior has other joints.
        """
        prior = self.model if prior is None else prior
        if self.base is None:
            raise ValueError('expected an Identification with "inertia" in columns, got ' + str(self.columns))
        if prior.tree.names != self.model.tree.names:
            raise ValueError("expected a prior with the joints of the model, in the same order")
        estimate = self.solve()
        others = self.names[self.base.count :]
        lower = [-np.inf if name.startswith("offset of ") or name in self.extra else 0.0 for name in others]
        freedoms = self._samples.rotors
        armature = prior.armature[freedoms] if "armature" in self.columns else np.zeros(0)
        triangle = self.triangle(estimate.weights)
        fit = fit_physical(triangle, self.base.K, prior.parameters, armature, lower, strength, floor)
        rotors = prior.armature.copy()
        rotors[freedoms] = fit.armature
        base = self.base.values(np.concatenate([fit.parameters.ravel(), fit.armature]))
        values = np.concatenate([base, fit.linear])
        return PhysicalEstimate(
            model=self.model.with_parameters(fit.parameters, rotors),
            names=self.names,
            values=values,
            residuals=self._residuals(values),
            parameters=fit.parameters,
            divergences=fit.divergences,
            iterations=fit.iterations,
            converged=fit.converged,
        )

    def residuals(self, estimate: Estimate | PhysicalEstimate) -> Residuals:
        """Compare the torques of the samples added so far with those that an estimate predicts.

        Parameters
        ----------
        estimate : Estimate or PhysicalEstimate
            Of the same parameters, from these samples or, as a test, from others.

        Returns
        -------
        Residuals
            NaN for freedoms where a torque depends on what the estimate leaves open.

        Raises
        ------
        TreefactorError
            If no samples have been added.
        ValueError
            If the estimate has other parameters.
        """
        require_samples(self.rows)
        if estimate.names != self.names:
            raise ValueError("expected an estimate of the same parameters: make both identifications alike")
        if isinstance(estimate, PhysicalEstimate):
            return self._residuals(estimate.values)
        unknown = np.zeros(self.model.nv, dtype=bool)
        if len(estimate.null):
            for k, (felt, R) in enumerate(zip(self._samples.felt, self._split(), strict=True)):
                rows = np.zeros((len(R), len(self.names)))
                rows[:, felt] = R[:, :-1]
                unknown[k] = estimate.leaves_open(rows).any()
        return self._residuals(estimate.solution, unknown)

    def _residuals(self, values: np.ndarray, unknown=False) -> Residuals:
        """Return the residuals at these values, NaN for freedoms where they are unknown."""
        norms = np.full((2, self.model.nv), np.nan)
        for k, (felt, R) in enumerate(zip(self._samples.felt, self._split(), strict=True)):
            if self.rows[k]:
                rest = R[:, -1] - R[:, :-1] @ values[felt]
                norms[:, k] = np.linalg.norm([rest, R[:, -1]], axis=1) / np.sqrt(self.rows[k])
        norms[0, unknown & np.ones(self.model.nv, dtype=bool)] = np.nan
        squares = (self.rows * norms**2)[:, self.rows > 0].sum(axis=1)
        relative = float(np.sqrt(squares[0] / squares[1])) if squares[1] else np.nan
        return Residuals(norms[0], norms[1], relative)

    def _weights_of(self, values: np.ndarray) -> np.ndarray:
        """Return one over the deviation of the residual of every freedom."""
        residuals = self._residuals(values)
        deviations = np.maximum(residuals.residuals, NOISE_FREE * np.nanmax(residuals.torques, initial=0.0))
        return np.divide(1.0, deviations, out=np.ones_like(deviations), where=deviations > 0)

    def _estimate(self, solution: Solution, weights: np.ndarray) -> Estimate:
        """Return the estimate of a solution of the weighted problem."""
        freedom = int(self.rows[weights > 0].sum()) - solution.rank
        deviation = solution.residual / np.sqrt(freedom) if freedom > 0 else np.nan
        return Estimate(
            names=self.names,
            values=np.where(solution.determined, solution.values, np.nan),
            standard_deviations=deviation * solution.deviations,
            rank=solution.rank,
            cond=solution.cond,
            null=solution.null,
            residuals=self._residuals(solution.values),
            rows=self.rows.copy(),
            weights=weights,
            solution=solution.values,
            scale=solution.scale,
            _rows=self._samples,
        )


def _checked_base(model: Model, columns: tuple[str, ...], base) -> BaseParameters | None:
    """Return the base parameters of the columns, None without inertias, or raise TypeError or ValueError."""
    if "inertia" not in columns:
        return None
    if base is None:
        return base_parameters(model, "armature" in columns)
    if not isinstance(base, BaseParameters):
        raise TypeError(f"base must be BaseParameters, got {type(base).__name__}")
    kinds = tuple(kind for kind in columns if kind in ("inertia", "armature"))
    if base.columns != column_names(model, kinds):
        raise ValueError(
            f"expected the base parameters of this model with {' and '.join(kinds)}, got {base!r}"
        )
    return base


def _checked_weights(weights, nv: int) -> np.ndarray:
    """Return the weights of the freedoms, or raise ShapeError or ValueError."""
    weights = as_vector(weights, nv, "weights")
    if not (weights >= 0).all() or not np.isfinite(weights).all():
        raise ValueError(f"expected weights that are finite and not negative, got {weights}")
    return weights


def _checked_mask(mask, shape: tuple[int, ...]) -> np.ndarray:
    """Return the mask with axes (N, nv), or raise DtypeError or ShapeError."""
    mask = as_array(mask, "mask")
    if mask.dtype != bool:
        raise DtypeError(f"expected a mask of bool, True for rows to use, got {mask.dtype}", mask.dtype)
    if mask.shape not in (shape, shape[1:]):
        text = f"expected a mask of shape {shape} or {shape[1:]}, got {mask.shape}"
        raise ShapeError(text, mask.shape, shape)
    return np.broadcast_to(mask, shape)
