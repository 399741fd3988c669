"""Compute H, bias, gravity, energies, joint placements and centroidal quantities of a state together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._util.bindable import register
from .._util.messages import received
from .._util.validation import as_output, flatten, require_apart, require_bindable, thread_count
from ..exceptions import ShapeError
from ..model._states import states
from ..model.model import Model, require_model
from ..quantities.functions import equation_of_motion
from ._all_terms import BoundTerms, Terms
from ._general_path import run
from .kept_requests import keep_request
from .masses import CENTER, CENTER_JACOBIAN, CENTER_VELOCITY, INERTIA, MAP, MAP_DOT, MOMENTUM
from .plans import item_of_joints, items_of_masses, request_of

OF_MASSES = (CENTER, CENTER_VELOCITY, CENTER_JACOBIAN, MAP, MAP_DOT, MOMENTUM, INERTIA)
KEY = "all terms", None  # of what models keep


class AllTerms(NamedTuple):
    """Results of `all_terms`; leading axes are the batch.

    Attributes
    ----------
    H : ndarray, shape (..., nv, nv)
        Inertia matrix, armature included, kg, kg m, kg m^2.
    bias, generalized_gravity : ndarray, shape (..., nv)
        N, N m.
    kinetic_energy, potential_energy : ndarray, shape (...)
        J.
    joint_placements : ndarray, shape (..., njoints, 3, 4)
        [R | p] in the world, m.
    center_of_mass, center_of_mass_velocity : ndarray, shape (..., 3)
        World axes, m and m/s.
    center_of_mass_jacobian : ndarray, shape (..., 3, nv)
        World axes.
    centroidal_map, centroidal_map_dot : ndarray, shape (..., 6, nv)
        Linear before angular, about the centre of mass, world axes.
    centroidal_momentum : ndarray, shape (..., 6)
        kg m/s, then kg m^2/s.
    centroidal_inertia : ndarray, shape (..., 3, 3)
        About the centre of mass, world axes, kg m^2.
    """

    H: np.ndarray
    bias: np.ndarray
    generalized_gravity: np.ndarray
    kinetic_energy: np.ndarray
    potential_energy: np.ndarray
    joint_placements: np.ndarray
    center_of_mass: np.ndarray
    center_of_mass_velocity: np.ndarray
    center_of_mass_jacobian: np.ndarray
    centroidal_map: np.ndarray
    centroidal_map_dot: np.ndarray
    centroidal_momentum: np.ndarray
    centroidal_inertia: np.ndarray


_named: Callable[..., Any] = tuple.__new__  # makes a named tuple of a list


def all_terms(model: Model, q, v, out: AllTerms | None = None, num_threads: int = 1) -> AllTerms:
    """Compute H, bias, gravity, energies, joint placements and centroidal quantities of a state.

    Parameters
    ----------
    model : Model
        With mass; mimic joints are allowed.
    q, v : array_like, shapes (..., nq), (..., nv)
        Leading axes are a batch; an array without them applies to every configuration.
    out : AllTerms, optional
        Result of an earlier call of these shapes, to be overwritten.
    num_threads : int
        For batches; -1 uses all cores.

    Returns
    -------
    named tuple of ndarray
        ``H``, ``bias``, ``generalized_gravity``, ``kinetic_energy``, ``potential_energy``,
        ``joint_placements``, ``center_of_mass``, ``center_of_mass_velocity``, ``center_of_mass_jacobian``,
        ``centroidal_map``, ``centroidal_map_dot``, ``centroidal_momentum``, ``centroidal_inertia``: what
        the functions of these names and `crba` return, but for rounding; energies are arrays of shape (...).
        In a batch, configurations that are not finite give NaN.

    Raises
    ------
    InvalidModelError
        If the model has no mass.
    ShapeError, DtypeError, NonFiniteError, ConfigurationError

    Notes
    -----
    Pinocchio's ``computeAllTerms``, but for Jacobians of joints: `treefactor.Kinematics` computes those that
    are wanted. One pass over the bodies gives H and the bias, another the rest; the kinetic energy is
    v^T H v / 2, and gravity acts on the centre of mass.

    Examples
    --------
    >>> import treefactor as tf
    >>> slide = tf.Model([tf.Joint("slide", "prismatic", axis=[0, 0, 1], inertia=tf.Inertia(2.0))])
    >>> found = tf.all_terms(slide, [1.0], [3.0])
    >>> found.H, found.kinetic_energy.item(), found.potential_energy.item()
    (array([[2.]]), 9.0, 19.62)
    """
    try:
        terms = model._requests[KEY]
    except (AttributeError, KeyError):
        terms = _terms(model)
    if out is None or type(out) is AllTerms:
        found = terms.run(q, v, out, num_threads)
        if found is not None:
            return _named(AllTerms, found) if out is None else out
    return _general_path(model, terms, q, v, out, num_threads)


def _terms(model: Model) -> Terms:
    """Return the compiled terms of a model, which keeps them."""
    require_model(model)
    items = [item_of_joints(model)]
    for kind in OF_MASSES:
        items += items_of_masses(model, kind, -1)
    terms = Terms(model, request_of(model, items))
    keep_request(model, KEY, terms)
    return terms


def _general_path(model: Model, terms: Terms, q, v, out, num_threads: int) -> AllTerms:
    """Validate arrays of any form, compute a batch or one configuration, and copy it to out."""
    threads = thread_count(num_threads)
    arrays, batch = states({"q": q, "v": v}, {"q": (model.nq,), "v": (model.nv,)}, model)
    q, v = (np.ascontiguousarray(arrays[name]) for name in "qv")
    given = None if out is None else _outputs(terms, model, out, batch)
    if not batch:
        results = terms.run(q, v, None)
    else:
        q, v = (np.broadcast_to(x, (*batch, x.shape[-1])) for x in (q, v))
        q, v = (np.ascontiguousarray(flatten(x, 1)) for x in (q, v))
        results = _batch(model, terms, q, v, threads)
    shapes = _shapes(model, terms)
    results = AllTerms(*(x.reshape(batch + shape) for x, shape in zip(results, shapes, strict=True)))
    if given is None:
        return results
    for to, result in zip(given, results, strict=True):
        to[...] = result
    return out


def _batch(model: Model, terms: Terms, q: np.ndarray, v: np.ndarray, threads: int) -> tuple:
    """Return the results of configurations (count, nq) and velocities (count, nv)."""
    moved = equation_of_motion(model, q, v, np.zeros(model.nv), num_threads=threads)
    found = run(model, terms.request, q, v, num_threads=threads)
    own = [np.empty((len(q), *shape)) for shape in _shapes(model, terms)[:5]]
    results = (*own, *found)
    terms.derive_batch(moved, v, results)
    return results


def _shapes(model: Model, terms: Terms) -> list[tuple[int, ...]]:
    """Return the shapes of the results of one configuration."""
    nv = model.nv
    return [(nv, nv), (nv,), (nv,), (), (), *terms.request.shapes]


def _outputs(terms: Terms, model: Model, out, batch: tuple[int, ...]) -> list[np.ndarray]:
    """Return the validated arrays of out."""
    if not isinstance(out, tuple) or len(out) != len(AllTerms._fields):
        raise ShapeError(f"out must be a result of all_terms, got {received(out)}", None, None)
    return [as_output(to, batch + shape) for to, shape in zip(out, _shapes(model, terms), strict=True)]


def _bound(function, model: Model, given: dict, out) -> BoundTerms:
    """Return the bound call of `all_terms`."""
    terms = _terms(model)
    for name, size in (("q", model.nq), ("v", model.nv)):
        require_bindable(given[name], (size,), name)
    for to, shape in zip(_outputs(terms, model, out, ()), _shapes(model, terms), strict=True):
        require_bindable(to, shape, "out")
        require_apart(to, given)
    return BoundTerms(terms, given["q"], given["v"], out, partial(function, model, **given, out=out))


register(_bound, [all_terms])
