"""Compile the terms of the equation of motion that `treefactor.all_terms` computes together."""

from __future__ import annotations

from collections import namedtuple

from ..model.model import Model
from ..quantities.kinematics import all_terms
from ._all_terms import Terms
from .masses import MASSES
from .plans import item_of_joints, items_of_masses, request_of

FIELDS = [one.name for one in all_terms.results]
AllTerms = namedtuple("AllTerms", FIELDS, module=__name__)  # type: ignore[misc]
AllTerms.__doc__ = (
    "Results of `treefactor.all_terms`, which has their shapes and units; leading axes are the batch."
)


def compiled(model: Model, name: str) -> Terms:
    """Return the compiled terms of a model, which must have mass."""
    items = [item_of_joints(model)]
    for kind in filter(MASSES.__contains__, FIELDS):
        items += items_of_masses(model, kind, -1)
    return Terms(model, request_of(model, items), AllTerms)
