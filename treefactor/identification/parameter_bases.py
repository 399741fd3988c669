"""Find the base parameters of a robot: the combinations of inertial parameters that its motion depends on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._util.validation import ReadOnly, as_real, as_size, as_tuple
from ..exceptions import InvalidModelError, ShapeError
from ..model.frames import body_number
from ..model.model import Model, require_model
from ..tolerances import SNAP
from ._combinations import EXACT, combination, echelon
from ._numeric_rank import directions_of_samples
from ._unfelt import Directions, directions_of_tree, weak_directions
from .columns import column_names

SENSITIVE = (1e-12, 1e-4)  # sizes of directions that are reported: rounded numbers of a file make such ones
SAMPLED = 1e-9  # coefficients from samples this close to an integer are this integer


@dataclass(frozen=True)
class Direction:
    """Change of parameters with almost no effect: whether it has one depends on rounded numbers.

    Attributes
    ----------
    size : float
        Effect on the forces of the joints, relative to that of other changes, lengths in units of the robot.
    name : str
        The change, as a combination of parameters.

    Notes
    -----
    Immutable.
    """

    size: float
    name: str


@dataclass(frozen=True, eq=False)
class BaseParameters(ReadOnly):
    """Combinations of p parameters that determine all forces of the joints; picklable.

    The regressor Y (..., nv, p) and parameters x (p,) fulfil ``Y @ x = Y[..., kept] @ (K @ x)``.

    Attributes
    ----------
    count : int
        Number of base parameters.
    columns : tuple of str, length p
        Names of all parameters, as `treefactor.identification.column_names` returns them.
    kept : ndarray of int, shape (count,)
        Columns of the regressor that belong to the base parameters.
    K : ndarray, shape (count, p)
        Map from all parameters to base parameters; ``K[:, kept]`` is the identity matrix.
    names : tuple of str, length count
        Base parameters as text: coefficient, then parameter. ``"h_z of shoulder + 0.425 m of elbow"`` is the
        first moment h_z of the body of joint shoulder (kg m) plus 0.425 times the mass of the body of joint
        elbow (kg). Coefficients have six digits, and SI units that make the terms fit; 1 is left out, and so
        are terms below the tolerance.
    null : ndarray, shape (p - count, p)
        Changes of the parameters that no motion shows: ``Y @ null.T = 0``.
    unfelt : tuple of str, length p - count
        The rows of ``null`` as text; the first term is a parameter that is not kept.
    sensitive : tuple of Direction
        Changes whose effect is between 1e-12 and 1e-4 of that of others: see `counts`. Empty where bodies are
        known.
    from_tree : bool
        Whether the parameters follow from the tree. With mimic joints they are the numeric rank of regressors
        at random states instead.
    tolerance : float
    snapped : float
        Largest change of a rotation entry, or of a length relative to the largest, by ``snap``.

    Notes
    -----
    Immutable.
    """

    count: int
    columns: tuple[str, ...]
    kept: np.ndarray
    K: np.ndarray
    names: tuple[str, ...]
    null: np.ndarray
    unfelt: tuple[str, ...]
    sensitive: tuple[Direction, ...]
    from_tree: bool
    tolerance: float
    snapped: float

    def __post_init__(self):
        self.__setstate__(dict(self.__dict__))

    def __repr__(self) -> str:
        return f"<BaseParameters: {self.count} of {len(self.columns)} parameters>"

    def values(self, x) -> np.ndarray:
        """Return the base parameters (..., count) of parameters x (..., p), or of a Model.

        Examples
        --------
        >>> import treefactor as tf
        >>> rod = tf.Inertia(1.0, [0, 0, -0.5])
        >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
        >>> tf.base_parameters(model).values(model)   # h_x, h_z, I_yy + armature
        array([ 0.  , -0.5 ,  0.25])
        """
        p = len(self.columns)
        x = self._columns_of(x) if isinstance(x, Model) else as_real(x, "x")
        if x.shape[-1:] != (p,):
            text = (
                f"x must have shape (..., {p}), one entry for each of `columns`, or be a Model; got {x.shape}"
            )
            raise ShapeError(text, x.shape, ("...", p))
        return x @ self.K.T

    def _columns_of(self, model: Model) -> np.ndarray:
        """Return the parameters of all bodies and the rotor inertias of a model."""
        rotors = {f"armature of {joint.name}": joint.armature[0] for joint in model.joints if joint.nv == 1}
        own = (*column_names(model), *rotors)
        if not set(self.columns) <= set(own):
            missing = next(name for name in self.columns if name not in own)
            raise InvalidModelError(f"expected a model with the joints of these parameters: no {missing}")
        known = dict(zip(own, (*model.parameters.ravel(), *rotors.values()), strict=True))
        return np.array([known[name] for name in self.columns])

    @property
    def counts(self) -> dict[float, int]:
        """Return the number of base parameters by tolerance, where it changes: ``{1e-9: 49, 1e-6: 48}``."""
        tolerances = sorted({self.tolerance, *(float(f"1e{k}") for k in range(-12, -3))})
        numbers = [
            self.count
            + sum(tolerance < direction.size <= self.tolerance for direction in self.sensitive)
            - sum(self.tolerance < direction.size <= tolerance for direction in self.sensitive)
            for tolerance in tolerances
        ]
        own = tolerances.index(self.tolerance)
        return {
            tolerance: number
            for k, (tolerance, number) in enumerate(zip(tolerances, numbers, strict=True))
            if k == own or number != numbers[k - 1 if k > own else k + 1]
        }

    def __str__(self) -> str:
        """Return the number of base parameters, what it depends on, and the names of all."""
        head = f"{self.count} base parameters of {len(self.columns)} parameters"
        if self.sensitive:
            counts = ", ".join(f"{number} at {tolerance:g}" for tolerance, number in self.counts.items())
            head += f" ({counts})"
        lines = [head, *(f"  {name}" for name in self.names)]
        if self.sensitive:
            lines += ["almost without effect, because of rounded angles (see snap) or nearly parallel axes"]
            lines += [f"  {direction.size:.1e}  {direction.name}" for direction in self.sensitive]
        return "\n".join(lines)


def base_parameters(
    model, armature: bool = True, tolerance: float = 1e-9, snap: float = SNAP, known: Sequence = ()
) -> BaseParameters:
    """Return the base parameters of a model, exactly from its tree, without samples.

    Parameters
    ----------
    model : Model
        Inertias and armatures are not used.
    armature : bool
        Include the rotor inertias of joints with one freedom, after the ten parameters of every body.
    tolerance : float
        Largest effect, relative to that of other changes, of a change of parameters that counts as unfelt;
        lengths are relative to the longest distance of successive joints. Angles in robot descriptions are
        rounded, which makes parallel axes almost parallel: see ``BaseParameters.sensitive``. At least 1e-12.
    snap : float
        Angles (rad) this close to multiples of 90 degrees become these, lengths this small relative to the
        longest become 0, as ``generate`` does it; 0 changes nothing. ``snap=1e-5`` mends 1.5708 in a URDF.
    known : str, or sequence of str, int or Frame
        Joints or bodies whose ten parameters are known, or that have no mass: their columns are not kept, and
        are 0 in ``K`` and ``null``. Subtract the forces of these bodies from measured ones.

    Returns
    -------
    BaseParameters

    Raises
    ------
    TypeError, ValueError
        If the model is not a Model, or a tolerance is negative.
    InvalidModelError, IndexError
        If a known body does not exist.

    Notes
    -----
    Parameters are those of `treefactor.regressor`: ten of every joint's body, in the axes of the joint, the
    tensor about the origin of the joint. A change of parameters is unfelt if no product of velocities in the
    kinetic energy and no slope of the potential energy depends on it; it moves to the parent as long as the
    joint does not show it. After Wensing, Niemeyer and Slotine (arXiv 1711.03896).

    Where mimic joints move two bodies by one coordinate the argument fails: the base parameters are then the
    numeric rank of regressors at random states, and ``BaseParameters.from_tree`` is False.

    Examples
    --------
    >>> import treefactor as tf
    >>> shoulder = tf.Joint("shoulder", "revolute", axis=[0, 1, 0])
    >>> elbow = tf.Joint("elbow", "revolute", 0, p=[0, 0, 0.5], axis=[0, 1, 0])
    >>> base = tf.base_parameters(tf.Model([shoulder, elbow]), armature=False)
    >>> base.count
    6
    >>> base.names[:2]
    ('h_x of shoulder', 'h_z of shoulder + 0.5 m of elbow')
    """
    require_model(model)
    tolerance, snap = max(as_size(tolerance, "tolerance"), SENSITIVE[0]), as_size(snap, "snap")
    largest = max(tolerance, SENSITIVE[1])
    columns = column_names(model, ("inertia", "armature") if armature else ("inertia",))
    if model.coupling is None:
        directions = directions_of_tree(model, bool(armature), snap, largest)
    else:
        directions = directions_of_samples(model, bool(armature), largest)
    known = (known,) if isinstance(known, str) else as_tuple(known, "known")
    joints = {body_number(model, body, "known") for body in known} - {-1}
    fixed = [10 * joint + k for joint in sorted(joints) for k in range(10)]
    if fixed:
        directions = _without(directions, fixed, tolerance)
    return _reduced(directions, columns, fixed, tolerance, model.coupling is None)


def _without(directions: Directions, fixed: list[int], tolerance: float) -> Directions:
    """Return the unfelt changes that do not change the fixed parameters."""
    rows = directions.rows[directions.sizes <= tolerance]
    if len(rows):
        combinations, _ = weak_directions(rows[:, fixed].T, tolerance, 1.0)  # rows have about unit length
        rows = combinations @ rows
        rows[:, fixed] = 0.0
    return directions._replace(rows=rows, sizes=np.zeros(len(rows)))


def _reduced(
    directions: Directions, columns: tuple[str, ...], fixed: list[int], tolerance: float, from_tree: bool
) -> BaseParameters:
    """Return the base parameters that the unfelt directions leave."""
    exact = EXACT if from_tree else SAMPLED
    rows, dropped = echelon(directions.rows[directions.sizes <= tolerance], directions.order, exact)
    at = np.argsort(dropped)
    rows, dropped, units = rows[at], dropped[at], directions.units
    kept = np.setdiff1d(np.arange(len(columns)), [*dropped, *fixed])
    scaled = np.zeros((len(kept), len(columns)))
    scaled[:, kept], scaled[:, dropped] = np.eye(len(kept)), -rows[:, kept].T
    K, null = scaled * (units[kept, None] / units), rows * (units / units[dropped, None])
    return BaseParameters(
        count=len(kept),
        columns=columns,
        kept=kept,
        K=K + 0.0,
        names=_texts(K, np.abs(scaled) > tolerance, kept, columns),
        null=null,
        unfelt=_texts(null, np.abs(rows) > tolerance, dropped, columns),
        sensitive=_sensitive(directions, columns, tolerance, exact),
        from_tree=from_tree,
        tolerance=tolerance,
        snapped=directions.snapped,
    )


def _sensitive(
    directions: Directions, columns: tuple[str, ...], tolerance: float, exact: float
) -> tuple[Direction, ...]:
    """Return the directions that are neither clearly felt nor clearly unfelt, the weakest first."""
    at = np.flatnonzero(directions.sizes > SENSITIVE[0])
    if not len(at):
        return ()
    unfelt, dropped = echelon(directions.rows[directions.sizes <= SENSITIVE[0]], directions.order, exact)
    rows, first = echelon(
        directions.rows[at] - directions.rows[at][:, dropped] @ unfelt, directions.order, exact
    )
    changes = rows * (directions.units / directions.units[first, None])
    names = _texts(changes, np.abs(rows) > tolerance, first, columns)
    return tuple(
        Direction(*entry) for entry in sorted(zip(directions.sizes[at].tolist(), names, strict=True))
    )


def _texts(
    rows: np.ndarray, shown: np.ndarray, first: np.ndarray, columns: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the shown terms of every row as text, one of them in front."""
    return tuple(
        combination(row, columns, k) for row, k in zip(np.where(shown, rows, 0.0), first, strict=True)
    )
