"""Identify what a joint carries beyond its model, from torques measured at rest or in motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._util.validation import Array, ReadOnly, Sealed, as_real, as_vector, require_finite
from ..dynamics import rnea
from ..exceptions import InvalidModelError, ShapeError
from ..model.frames import body_number
from ..model.inertia import Inertia
from ..model.model import Model, require_model
from ..model.parameters import PARAMETERS
from ..quantities.functions import regressor
from ._column_sizes import column_sizes, enlarged, largest_of
from ._least_squares import require_samples, solve, triangle_of
from .columns import regressor_pattern

TOLERANCE = 1e-9  # smallest singular value of independent columns, scaled to unit norm
SAMPLES = 1024  # most samples whose regressor is in memory at a time
CERTAIN = 3.0  # standard deviations of a mass that is not 0 by chance
FELT_AT_REST = 4  # m and h: gravity does not act on the tensor


@dataclass(frozen=True, eq=False)
class Payload(ReadOnly):
    """Parameters of what a joint carries beyond its model; picklable.

    Attributes
    ----------
    joint : str
        Name of the joint, in whose axes and about whose origin all parameters are.
    parameters : ndarray, shape (10,)
        m, h_x, h_y, h_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz in kg, kg m, kg m^2: what
        ``Inertia.from_parameters`` takes. NaN for those that the samples do not determine. The mass is
        negative where the joint carries less than in the model.
    standard_deviations : ndarray, shape (10,)
        Of the parameters, from the residual; NaN where they are NaN.
    not_excited : tuple of str
        Names of the parameters that are NaN, such as ``"I_xx of wrist"``.
    rank : int
        Number of combinations of the ten that the samples determine.
    cond : float
        Condition number of their columns, scaled to unit norm.
    residual : float
        Root mean square of the weighted residual.

    Notes
    -----
    Immutable.

    The sum of these parameters and ``model.parameters[model.numbers[joint]]`` is that of the robot as it is.
    `Inertias.add` takes a payload: ``inertias.add(None, payload.joint, payload)``.
    """

    joint: str
    parameters: Array
    standard_deviations: Array
    not_excited: tuple[str, ...]
    rank: int
    cond: float
    residual: float

    def __post_init__(self):
        self.__setstate__(dict(self.__dict__))

    @property
    def inertia(self) -> Inertia:
        """Return the payload as a body in the axes of its joint; without a known tensor as a point mass.

        Raises
        ------
        InvalidModelError
            If its mass or its centre of mass is not known, or its mass is not positive: the joint then
            carries less than the model says.
        """
        mass, *first = self.parameters[:FELT_AT_REST]
        if np.isnan([mass, *first]).any():
            raise InvalidModelError(f"the samples do not determine {', '.join(self.not_excited)}", self.joint)
        if mass <= 0.0:
            deviation = self.standard_deviations[0]
            if -mass <= CERTAIN * deviation:
                reason = f"the samples do not show that joint {self.joint!r} carries a payload"
                raise InvalidModelError(f"{reason}: its mass is {mass:.2g} ± {deviation:.2g} kg", self.joint)
            reason = f"joint {self.joint!r} carries {-mass:.3g} kg less than in its model"
            raise InvalidModelError(f"{reason}: add the parameters to those of the model", self.joint)
        if np.isnan(self.parameters).any():
            return Inertia(mass, np.array(first) / mass)
        return Inertia.from_parameters(self.parameters)


class PayloadIdentification(Sealed):
    """Collect samples of a robot with a payload, and estimate what one joint carries.

    All else must be known: subtract friction from the torques, and identify the robot without payload first.
    The state is one triangle of 11 columns, so that samples can be added while the robot moves.

    Parameters
    ----------
    model : Model
        The robot with what is known of the joint's body: without payload, or with a former one, of which the
        result is then the difference.
    joint : str or int
        A joint, or the name of its body; all results are in the axes of the joint.
    static : bool
        Whether the robot rests in every sample: then gravity shows the mass and the first moment only.
    weights : array_like, shape (nv,), optional
        One over the standard deviation of the torque of every freedom, equal by default; 0 leaves a freedom
        out, such as those of a base whose force is not measured.

    Raises
    ------
    InvalidModelError, IndexError, DtypeError
        If there is no such joint.
    ValueError
        If a weight is negative.

    Notes
    -----
    Thread-compatible.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> from treefactor.identification import PayloadIdentification
    >>> arm = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=arm)])
    >>> payload = PayloadIdentification(model, "hinge", static=True)
    >>> for q in ([0.3], [0.9], [1.5]):  # torques of 2 kg, 0.7 m below the hinge
    ...     payload.add(q, [0.0], [0.0], tf.rnea(model, q, [0.0], [0.0]) + 2 * 0.7 * 9.81 * np.sin(q))
    >>> payload.solve().parameters[[1, 3]].round(6).tolist()
    [0.0, -1.4]
    >>> payload.solve().not_excited[:2]
    ('m of hinge', 'h_y of hinge')
    """

    def __init__(self, model: Model, joint: str | int, static: bool = False, weights=None):
        require_model(model)
        number = body_number(model, joint, "joint")
        if number < 0:
            raise InvalidModelError(
                f"expected a joint that moves, got {joint!r}: no torque shows what the base carries"
            )
        nv, static = model.nv, bool(static)
        weights = np.ones(nv) if weights is None else as_vector(weights, nv, "weights")
        if (weights < 0.0).any():
            raise ValueError(f"weights must not be negative, got {weights.min():g}")
        freedoms, joints = regressor_pattern(model)
        pairs = np.flatnonzero((joints == number) & (weights[freedoms] > 0.0))
        columns = FELT_AT_REST if static else len(PARAMETERS)
        self._keep(model=model, joint=model.joints[number].name, static=static, _number=number)
        self._keep(_pairs=pairs, _rows=freedoms[pairs], _weights=weights[freedoms[pairs]], _columns=columns)
        self._keep(_triangle=np.zeros((columns + 1, columns + 1)), _samples=0)
        self._keep(_largest=largest_of(model))

    def __repr__(self) -> str:
        return f"<PayloadIdentification of joint {self.joint!r}: {self._count} rows>"

    @property
    def _count(self) -> int:
        """Return the number of rows: torques of the freedoms that move the joint's body."""
        return self._samples * len(self._rows)

    def add(self, q, v, a, tau) -> None:
        """Add samples.

        Parameters
        ----------
        q : array_like, shape (N, nq) or (nq,)
            Configurations, rad and m.
        v, a : array_like, shape (N, nv) or (nv,)
            Velocities and accelerations; zero for a robot at rest.
        tau : array_like, shape (N, nv) or (nv,)
            Torques of the joints without friction, N m or N.

        Raises
        ------
        ShapeError, NonFiniteError, ConfigurationError
        """
        nq, nv = self.model.nq, self.model.nv
        given = (("q", q, nq), ("v", v, nv), ("a", a, nv), ("tau", tau, nv))
        arrays = [_checked(values, width, name) for name, values, width in given]
        if len({len(array) for array in arrays}) > 1:
            counts = ", ".join(str(len(array)) for array in arrays)
            raise ShapeError(f"expected as many samples of q, v, a and tau, got {counts}")
        for start in range(0, len(arrays[0]), SAMPLES):
            q, v, a, tau = (array[start : start + SAMPLES] for array in arrays)
            Y = regressor(self.model, q, v, a, layout="packed")[:, self._pairs, : self._columns]
            rest = (tau - rnea(self.model, q, v, a))[:, self._rows]
            rows = self._weights[:, None] * np.concatenate([Y, rest[..., None]], axis=-1)
            triangle = triangle_of([self._triangle, rows.reshape(-1, self._columns + 1)])
            largest = enlarged(self._largest, (q, v, a))
            self._keep(_triangle=triangle, _largest=largest, _samples=self._samples + len(q))

    def solve(self) -> Payload:
        """Return the payload that fits the samples so far best.

        Raises
        ------
        TreefactorError
            If no samples have been added.
        """
        require_samples(np.array([self._samples]))
        solution = solve(self._triangle, TOLERANCE, self._sizes())
        free = self._count - solution.rank
        deviation = solution.residual / np.sqrt(free) if free > 0 else np.nan
        parameters, deviations = np.full((2, len(PARAMETERS)), np.nan)
        parameters[: self._columns] = np.where(solution.determined, solution.values, np.nan)
        deviations[: self._columns] = deviation * solution.deviations
        unknown = zip(PARAMETERS, np.isnan(parameters), strict=True)
        return Payload(
            self.joint,
            parameters,
            deviations,
            tuple(f"{name} of {self.joint}" for name, is_unknown in unknown if is_unknown),
            solution.rank,
            solution.cond,
            float(solution.residual / np.sqrt(max(self._count, 1))),
        )

    def _sizes(self) -> np.ndarray:
        """Return the norms of the terms that the columns were computed from."""
        first = 10 * self._number
        terms = column_sizes(self.model, self._largest)[self._rows, first : first + self._columns]
        return np.sqrt(self._samples) * np.linalg.norm(self._weights[:, None] * terms, axis=0)


def _checked(values, width: int, name: str) -> np.ndarray:
    """Return samples as a finite array of shape (N, width)."""
    array = np.atleast_2d(as_real(values, name))
    if array.ndim != 2 or array.shape[1] != width:
        raise ShapeError(f"{name} must have shape (N, {width}), got {np.shape(values)}", np.shape(values))
    require_finite(array, name)
    return array


def identify_payload(
    model: Model, joint: str | int, q, v, a, tau, static: bool = False, weights=None
) -> Payload:
    """Identify what a joint carries beyond its model.

    Parameters
    ----------
    model, joint, static, weights
        As for `PayloadIdentification`.
    q, v, a, tau
        As for `PayloadIdentification.add`.

    Returns
    -------
    Payload
        In the axes of the joint, about its origin.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError
    InvalidModelError, IndexError, DtypeError
        If there is no such joint.

    Notes
    -----
    Least squares for ten parameters, 4 at rest, by a QR factorization of their columns of the regressor.
    Atkeson, An and Hollerbach (1986), Estimation of inertial parameters of manipulator loads and links.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> from treefactor.identification import identify_payload
    >>> arm = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("ball", "spherical", inertia=arm)])
    >>> loaded = tf.Model([tf.Joint("ball", "spherical", inertia=arm + tf.Inertia(2.0, [0, 0.1, -0.9]))])
    >>> rng = np.random.default_rng(0)
    >>> q = tf.random_configuration(model, rng, size=(20,))
    >>> v, a = rng.normal(size=(2, 20, 3))
    >>> payload = identify_payload(model, "ball", q, v, a, tf.rnea(loaded, q, v, a))
    >>> payload.rank, payload.not_excited
    (9, ('m of ball',))
    >>> payload.parameters[1:4].round(6).tolist()
    [0.0, 0.2, -1.8]
    """
    fit = PayloadIdentification(model, joint, static, weights)
    fit.add(q, v, a, tau)
    return fit.solve()
