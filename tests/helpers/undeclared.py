"""Public functions of arrays that have no declaration, described by the types of declarations."""

from typing import NamedTuple

import treefactor as tf
from treefactor.quantities.arrays import A, Q, V
from treefactor.quantities.declaration import Quantity


class Undeclared(NamedTuple):
    """A function, called with a model and with arrays by name, and what a declaration would say."""

    quantity: Quantity
    function: object


def tip(model):
    """Return a frame on the last joint, or on the base."""
    return tf.Frame("tip", model.njoints - 1, p=[0.1, 0.2, 0.3])


def kinematics(model, q, v, a, **options):
    """Return several results of one request, in a plain tuple."""
    request = tf.Kinematics(
        model,
        placements=[tip(model), -1],
        velocities=[(tip(model), "WORLD")],
        accelerations=[(tip(model), "LOCAL", "classical")],
        jacobians=[(tip(model), "LOCAL", "packed")],
        center_of_mass=True,
        centroidal_map_dot=True,
    )
    out = options.get("out")
    if out is not None:
        if not isinstance(out, tuple) or len(out) != 6:
            return request(q, v, a, **options)
        options["out"] = *out[:3], (out[3],), *out[4:]
    result = request(q, v, a, **options)
    return tuple(x[0] if isinstance(x, tuple) else x for x in result) if out is None else out


def of_model(function, *inputs, **further):
    """Return a function of a model and its state."""
    return Undeclared(Quantity(function.__name__, "", inputs, (), "", module="", **further), function)


FUNCTIONS = [
    of_model(
        kinematics,
        Q,
        V,
        A._replace(optional=True, needed=True),
        errors=(("InvalidModelError", "If the bodies have no mass."),),
    ),
]
UNDECLARED = {one.quantity.name: one for one in FUNCTIONS}
