"""Compile the terms of the equation of motion that `treefactor.all_terms` computes together."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from ..model.model import Model
from ._all_terms import Terms
from .masses import CENTER, CENTER_JACOBIAN, CENTER_VELOCITY, INERTIA, MAP, MAP_DOT, MOMENTUM
from .plans import item_of_joints, items_of_masses, request_of

OF_MASSES = (CENTER, CENTER_VELOCITY, CENTER_JACOBIAN, MAP, MAP_DOT, MOMENTUM, INERTIA)


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


def compiled(model: Model) -> Terms:
    """Return the compiled terms of a model, which must have mass."""
    items = [item_of_joints(model)]
    for kind in OF_MASSES:
        items += items_of_masses(model, kind, -1)
    return Terms(model, request_of(model, items), partial(tuple.__new__, AllTerms))
