"""Inertial parameters for every element of a batch, sets that elements share, or one set for all."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._util.validation import Sealed, aligned, as_real
from ..exceptions import InvalidModelError, NonFiniteError, ShapeError
from ..model._model_parameters import rotors_of
from ..model.frames import body_number
from ..model.model import Model, require_model
from ..model.parameters import PARAMETERS, faults, moved_parameters
from ._inertia_arguments import LANES, armature_of, checked_which, index_of, padded, same_motions
from .bodies import layout_of, sets_of, turned_parameters


class Inertias(Sealed):
    """Inertial parameters of a model's bodies that take the place of its own.

    Functions of dynamics and derivatives take them as ``inertias``; they check and lay out an array anew in
    every call. One set serves calls of any shape; a set for every element gives each its own robot; with
    ``which`` elements choose among K sets, which costs least where elements of one set are neighbours.

    Parameters
    ----------
    model : Model
    pi : array_like, shape (njoints, 10), (..., njoints, 10) or (K, njoints, 10)
        Parameters of every joint's body, see `Model.with_parameters`: one set, one for every element of a
        batch, or with ``which`` K sets. Copied. They need not be those of bodies: see `faults`.
    armature : array_like, shape (nv,) or with the leading axes of pi, optional
        As ``Model.armature``; by default the model's.
    which : array_like of int, shape (...), optional
        Number of the set of every element of a batch.

    Attributes
    ----------
    model : Model
    batch, shape : tuple of int
        Leading axes of a batch whose elements have parameters of their own; () for one set.
    sets : tuple of int
        Leading axes of the sets: of `parameters`, and of ``rows`` in `set`, `scale` and `add`.

    Raises
    ------
    ShapeError, DtypeError, NonFiniteError, IndexError
        If a shape does not fit, a number is not finite, or a set does not exist; names row and joint.

    Notes
    -----
    Thread-compatible.

    `set`, `scale` and `add` change the sets in place; calls that are bound to these inertias compute with the
    new ones.

    Functions of dynamics and their derivatives, `bind`, `step`, `rollout`, `stream` and the adapter for Dask
    take inertias of any form; `constraints.Stepper` copies one set. The other functions compute with their
    model's, and take one set as the model ``model.with_parameters(pi)``: centres of mass, momentum,
    `Kinematics`, `all_terms`, `delassus`, operational space, and the other functions of constraints.
    Programs take parameters as inputs, see `generate`; regressors depend on none.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> model = tf.Model([tf.Joint("slide", "prismatic", axis=[0, 0, 1], inertia=tf.Inertia(2.0))])
    >>> inertias = tf.Inertias(model, np.stack([model.parameters] * 3))
    >>> inertias.scale(0, "slide", 1.5)
    >>> inertias.add([1, 2], "slide", tf.Inertia(0.5))
    >>> tf.crba(model, [0.0], inertias=inertias).ravel()
    array([3. , 2.5, 2.5])
    """

    model: Model
    variant: Model  # for compiled functions
    batch: tuple[int, ...]
    sets: tuple[int, ...]
    _pi: np.ndarray  # (number of sets, njoints, 10)
    _base: np.ndarray | None  # pi is _factor * _base + _payload; None before `scale` and `add`
    _factor: np.ndarray  # (number of sets, njoints, 1)
    _payload: np.ndarray
    _armature: np.ndarray | None  # (nv,) or (number of sets, nv)
    _which: np.ndarray | None
    _constants: np.ndarray  # what compiled functions read

    def __init__(self, model: Model, pi, armature=None, which=None):
        self._take(model, pi, armature, which, "pi")

    def _take(self, model: Model, pi, armature, which, name: str) -> None:
        """Validate and store the arguments; errors call the parameters by the name of the user's argument."""
        require_model(model)
        pi = as_real(pi, name)
        if pi.shape[-2:] != (model.njoints, 10):
            text = (
                f"{name} must have shape (..., {model.njoints}, 10), got {pi.shape}: 10 numbers for each of "
            )
            text += f"{model.njoints} joints, as in model.parameters"
            raise ShapeError(text, pi.shape, (model.njoints, 10))
        sets = pi.shape[:-2]
        own = np.array(pi, order="C").reshape(math.prod(sets), model.njoints, 10)
        self._keep(model=model, sets=sets, _pi=own, _base=None)
        self._require_finite(own, (np.arange(len(own))[:, None], np.arange(model.njoints)), name)
        self._keep(_armature=armature_of(model, armature, sets), _which=checked_which(which, sets))
        self._compile()

    def _compile(self) -> None:
        """Lay the parameters out for compiled functions, and make the model that has them."""
        model, which = self.model, self._which
        rotors = model._rotors if self._armature is None else rotors_of(model, self._armature)
        rotors = np.broadcast_to(rotors, (len(self._pi), model.extended.n))
        rows = np.ascontiguousarray(sets_of(layout_of(model), self._pi, rotors))
        if which is not None:
            batch, arguments = which.shape, (which.size, padded(which.ravel()), which.ndim == 1)
        elif self.sets:
            batch, arguments = self.sets, (len(rows), None, len(self.sets) == 1)
            blocks = -(-len(rows) // LANES)
            numbers = np.minimum(np.arange(blocks * LANES), len(rows) - 1)  # the last one fills the block
            lanes = aligned((blocks, rows.shape[1], LANES))
            lanes[...] = rows[numbers].reshape(blocks, LANES, rows.shape[1]).swapaxes(1, 2)
            rows = lanes
        else:
            batch, arguments = (), ()
        variant = _variant(model, model.bodies.with_sets(rows, *arguments), batch)
        self._keep(batch=batch, variant=variant, _constants=rows)

    def __getstate__(self) -> dict:
        return {name: x for name, x in self.__dict__.items() if name not in ("variant", "_constants")}

    def __setstate__(self, state: dict) -> None:
        self._keep(**{name: x.copy() if isinstance(x, np.ndarray) else x for name, x in state.items()})
        self._compile()

    def __repr__(self) -> str:
        count = "one set" if not self.sets else f"{'x'.join(map(str, self.sets))} sets"
        chosen = "" if self._which is None else f", chosen by a batch of {'x'.join(map(str, self.batch))}"
        return f"<Inertias of {self.model.name!r}: {count} for {self.model.njoints} joints{chosen}>"

    def __len__(self) -> int:
        if not self.batch:
            raise TypeError("one set of inertias for any batch has no length")
        return self.batch[0]

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the leading axes of a batch whose elements have parameters of their own."""
        return self.batch

    @property
    def parameters(self) -> np.ndarray:
        """Return a copy of the parameters, shape (..., njoints, 10), with the axes of ``sets``."""
        return self._pi.reshape(*self.sets, self.model.njoints, 10).copy()

    @property
    def armature(self) -> np.ndarray:
        """Return a copy of the armature, shape (..., nv), with the axes of ``sets``."""
        armature = self.model.armature if self._armature is None else self._armature
        armature = np.broadcast_to(armature, (len(self._pi), self.model.nv))
        return armature.reshape(*self.sets, self.model.nv).copy()

    def arguments(self) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
        """Return copies of pi, armature and which, with which the constructor makes the same inertias."""
        pi, which = self.parameters, self._which
        armature = self.armature if self._armature is not None and self._armature.ndim > 1 else self._armature
        return pi, None if armature is None else armature.copy(), None if which is None else which.copy()

    def part(self, rows) -> Inertias:
        """Return a copy of the inertias of some elements of the batch.

        Parameters
        ----------
        rows : int, slice, array_like of int or bool, or tuple of these
            An index into the axes of ``batch``. An index of one element gives one set.

        Raises
        ------
        IndexError
            If there are no such elements, or the inertias are one set.
        """
        which = self._which
        numbers = np.arange(len(self._pi)).reshape(self.sets) if which is None else which
        try:
            kept = numbers[index_of(rows)]
        except IndexError as error:
            raise IndexError(f"rows do not fit elements of shape {self.batch}: {error}") from None
        if which is not None and np.ndim(kept):
            kept, which = np.unique(kept), kept
            which = np.searchsorted(kept, which)
        else:
            which = None
        armature = self._armature
        if armature is not None and armature.ndim > 1:
            armature = armature[kept]
        return Inertias(self.model, self._pi[kept], armature, which)

    def set(self, rows, joint, pi) -> None:
        """Replace parameters, scaled ones and payloads included; `scale` and `add` start from the new ones.

        Parameters
        ----------
        rows : int, slice, array_like of int or bool, tuple of these, or None
            Sets to change, as an index into the axes of ``sets``; None: all.
        joint : str, int, sequence of these, or None
            A joint or its body, by name or number, or several; None: all joints.
        pi : Inertia or array_like, shape (..., 10)
            In the axes of the joint. The leading axes broadcast to the chosen sets, then several joints.

        Raises
        ------
        InvalidModelError, IndexError, ShapeError, NonFiniteError, DtypeError
            If there is no such joint or row, or a number is not finite; names row and joint.
        """
        at = self._places(rows, joint)
        pi = self._broadcast(pi, at, "pi", (10,))
        self._require_finite(pi, at, "pi")
        if self._base is not None:
            self._base[at], self._factor[at], self._payload[at] = pi, 1.0, 0.0
        self._store(at, pi)

    def scale(self, rows, joint, factor) -> None:
        """Make all ten parameters a multiple of the original ones; a payload is not scaled.

        The original ones are those that the Inertias was made with, or those of the last `set`. Repeated
        calls do not compound: the last factor counts.

        Parameters
        ----------
        rows, joint
            As for `set`.
        factor : float or array_like
            Broadcasts to the chosen sets, then several joints: one for every set has shape (sets, 1) there.

        Raises
        ------
        InvalidModelError, IndexError, ShapeError, NonFiniteError, DtypeError
            As for `set`.
        """
        at = self._places(rows, joint)
        factor = self._broadcast(factor, at, "factor", ())[..., None]
        self._change(at, factor, None)

    def add(self, rows, joint, payload) -> None:
        """Add a payload to the original parameters, or their multiple, in place of an earlier payload.

        Parameters
        ----------
        rows, joint
            As for `set`.
        payload : Inertia, Payload or array_like, shape (..., 10)
            In the axes of the joint, about its origin: see `identification.moved_parameters`. ``Inertia()``
            removes a payload. The leading axes broadcast as those of ``pi`` of `set`.

        Raises
        ------
        InvalidModelError, IndexError, ShapeError, NonFiniteError, DtypeError
            As for `set`.
        """
        at = self._places(rows, joint)
        self._change(at, None, self._broadcast(payload, at, "payload", (10,)))

    def faults(self) -> list[tuple[Any, str, str]]:
        """Return (row, joint, reason) for parameters that no body can have, and for negative armature.

        A row is a number, a tuple if the sets have several axes, or None if there is one set.
        """
        joints = self.model.joints
        faulty = [(at[0], joints[at[1]].name, reason) for at, reason in faults(self._pi)]
        armature = self.armature.reshape(len(self._pi), self.model.nv)
        for row, freedom in np.argwhere(armature < 0.0).tolist():
            value = armature[row, freedom]
            faulty.append((row, self.model.tree.names[freedom], f"armature {value:.3g} is negative"))
        return [(self._row(row), name, reason) for row, name, reason in faulty]

    def _row(self, number: int) -> Any:
        """Return the index of a set: a number, a tuple, or None for one set."""
        at = tuple(int(k) for k in np.unravel_index(number, self.sets)) if self.sets else ()
        return at if len(at) > 1 else at[0] if at else None

    def _places(self, rows, joint) -> tuple[Any, Any]:
        """Return the numbers of sets and of joints that are to be changed; they broadcast."""
        numbers = np.arange(len(self._pi)).reshape(self.sets or (1,))
        if rows is not None:
            try:
                numbers = numbers[index_of(rows)]
            except IndexError as error:
                raise IndexError(f"rows do not fit sets of shape {numbers.shape}: {error}") from None
        if joint is None or isinstance(joint, list | tuple | np.ndarray):
            own = range(self.model.njoints) if joint is None else map(self._number, joint)
            return np.asarray(numbers)[..., None], np.array([*own], dtype=int)
        return np.asarray(numbers), self._number(joint)

    def _number(self, joint) -> int:
        """Return the number of a joint."""
        number = body_number(self.model, joint, "joint")
        if number < 0:
            raise InvalidModelError(f"expected a joint, got {joint!r}: the base has no parameters")
        return number

    def _broadcast(self, values, at: tuple, name: str, tail: tuple[int, ...]) -> np.ndarray:
        """Return numbers for the chosen sets and joints."""
        values = as_real(getattr(values, "parameters", values), name)
        shape = (*np.broadcast_shapes(*map(np.shape, at)), *tail)
        try:
            if values.shape[values.ndim - len(tail) :] == tail:
                return np.broadcast_to(values, shape)
        except ValueError:
            pass
        axes = "chosen sets, joints" if np.ndim(at[1]) else "chosen sets"
        text = f"{name} must broadcast to shape {shape} ({axes}, ...), got {values.shape}"
        raise ShapeError(text, values.shape, shape)

    def _change(self, at: tuple, factor: np.ndarray | None, payload: np.ndarray | None) -> None:
        """Store multiples of the original parameters and payloads; None: those of before."""
        if self._base is None:
            sizes = np.ones((*self._pi.shape[:2], 1))
            self._keep(_base=self._pi.copy(), _factor=sizes, _payload=np.zeros(self._pi.shape))
        factor = self._factor[at] if factor is None else factor
        payload = self._payload[at] if payload is None else payload
        with np.errstate(over="ignore", invalid="ignore"):
            pi = factor * self._base[at] + payload
        self._require_finite(pi, at, "the result")
        self._factor[at], self._payload[at] = factor, payload
        self._store(at, pi)

    def _store(self, at: tuple, pi: np.ndarray) -> None:
        """Store parameters of sets and joints, for compiled functions in the axes of their bodies."""
        self._pi[at] = pi
        rows, joints = at[0][..., None], at[1]
        layout = layout_of(self.model)
        columns = 10 * layout.massive[joints][..., None] + np.arange(10)
        whole = np.array_equal(joints, np.arange(self.model.njoints))
        turned = turned_parameters(layout, pi) if whole else moved_parameters(pi, layout.axes[joints])
        if self._constants.ndim == 3:
            self._constants[rows // LANES, columns, rows % LANES] = turned
        else:
            self._constants[rows, columns] = turned

    def _require_finite(self, pi: np.ndarray, at: tuple, name: str) -> None:
        """Raise NonFiniteError if a number of a set and joint is not finite."""
        finite = np.isfinite(pi)
        if finite.all():
            return
        *place, k = np.argwhere(~finite)[0].tolist()
        rows, joints = (np.broadcast_to(x, finite.shape[:-1])[tuple(place)] for x in at)
        row, joint = self._row(rows), self.model.joints[joints].name
        where = f"{PARAMETERS[k]} of joint {joint!r}" + ("" if row is None else f" in row {row}")
        raise NonFiniteError(f"{name} is not finite: {where}", row=int(rows))


def _variant(model: Model, bodies, batch: tuple[int, ...]) -> Model:
    """Return a model for compiled functions: the same but for the constants of the compiled bodies."""
    variant = Model.__new__(Model)
    variant.__dict__.update(model.__dict__, bodies=bodies, _elements=batch, _requests={})
    variant.__dict__.pop("_without_gravity", None)
    return variant


def inertias_of(model: Model, parameters) -> Inertias:
    """Return the Inertias of parameters that a user has passed as the argument ``inertias``."""
    inertias = Inertias.__new__(Inertias)
    inertias._take(model, parameters, None, None, "inertias")
    return inertias


def checked_inertias(model: Model, inertias) -> Inertias:
    """Return an Inertias, or parameters as one; raise ValueError if it belongs to other joints."""
    if not isinstance(inertias, Inertias):
        return inertias_of(model, inertias)
    if not same_motions(inertias.model, model):
        raise ValueError(f"the inertias belong to {inertias.model!r} of other joints, not to {model!r}")
    return inertias


def with_inertias(model: Model, inertias) -> Model:
    """Return the model whose compiled functions have these inertias: an Inertias, or parameters."""
    if inertias is None:
        return model
    require_model(model)
    return checked_inertias(model, inertias).variant


def bindable_model(model: Model, inertias) -> Model:
    """Return the model to which a call with these inertias, one set or None, can be bound."""
    variant = with_inertias(model, inertias)
    if variant._elements:
        raise ValueError(
            f"inertias for a batch of shape {variant._elements} cannot be bound: a bound call has one "
            "configuration"
        )
    return variant


def changed_model(model: Model, inertias) -> Model:
    """Return the model with a copy of one set of inertias, an Inertias or parameters; None: the model."""
    if inertias is None:
        return model
    elements = with_inertias(model, inertias)._elements
    if elements:
        raise ValueError(
            f"expected one set of inertias, of shape ({model.njoints}, 10), got those of a batch of shape "
            f"{elements}: take one of its sets, inertias.parameters[k]"
        )
    if not isinstance(inertias, Inertias):
        return model.with_parameters(inertias)
    return model.with_parameters(inertias.parameters, inertias._armature)
