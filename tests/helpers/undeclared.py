"""Public functions of arrays that have no declaration, described by the types of declarations."""

from typing import NamedTuple

import treefactor as tf
from treefactor import se3, so3
from treefactor.quantities.arrays import A, Q, V
from treefactor.quantities.declaration import Array, Quantity

TAU = A._replace(name="tau")
NO_TAU = TAU._replace(optional=True, needed=True)
FORMS = {  # of poses and rotations: by the names of arguments in the tables below, their shape and role
    "M": ((3, 4), "pose"),
    "R": ((3, 3), "rotation"),
    "xyzquat": ((7,), "pose"),
    "quaternion": ((4,), "rotation"),
    "vector": ((3,), "vector"),
    "twist": ((6,), "vector"),
    "u": ((), "vector"),
}
POSES = {  # by the function: what its arguments are
    se3.act: "M vector",
    se3.act_inverse: "M twist",
    se3.action: "M",
    se3.between: "M M",
    se3.compose: "M M",
    se3.exp: "twist",
    se3.from_rpy: "vector vector",
    se3.from_xyzquat: "xyzquat",
    se3.interpolate: "M M u",
    se3.inverse: "M",
    se3.jexp: "twist",
    se3.jlog: "M",
    se3.log: "M",
    se3.to_xyzquat: "M",
    so3.act: "R vector",
    so3.act_inverse: "R vector",
    so3.between: "R R",
    so3.compose: "R R",
    so3.exp: "vector",
    so3.from_quaternion: "quaternion",
    so3.from_rpy: "vector",
    so3.interpolate: "R R u",
    so3.inverse: "R",
    so3.jexp: "vector",
    so3.jlog: "R",
    so3.log: "R",
    so3.to_quaternion: "R",
    so3.to_rpy: "R",
}
OF_OTHER_SHAPES = {
    "se3.act of twists": (se3.act, "M twist"),
    "se3.act_inverse of points": (se3.act_inverse, "M vector"),
}


class Undeclared(NamedTuple):
    """A function, called with a model and with arrays by name, and what a declaration would say."""

    quantity: Quantity
    function: object


def tip(model):
    """Return a frame on the last joint, or on the base."""
    return tf.Frame("tip", model.njoints - 1, p=[0.1, 0.2, 0.3])


def step(model, q, v, tau, **options):
    return tf.step(model, q, v, tau, 0.01, **options)


def rollout(model, q0, v0, tau, **options):
    return tf.rollout(model, q0, v0, tau, 0.01, 3, "rk4", **options)


def operational_inertia(model, q, **options):
    return tf.operational_inertia(model, q, tip(model), damping=1.0, **options)


def operational_bias(model, q, v, **options):
    return tf.operational_bias(model, q, v, tip(model), damping=1.0, **options)


def task_bias(model, q, v, **options):
    return tf.task_bias(model, q, v, tip(model), **options)


def delassus(model, q, **options):
    return tf.delassus(model, q, tip(model), **options)


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


def posed(function):
    """Return a function that needs no model, but takes one."""
    return lambda model, **arguments: function(**arguments)


def of_model(function, *inputs, **further):
    """Return a function of a model and its state."""
    return Undeclared(Quantity(function.__name__, "", inputs, (), "", module="", **further), function)


def of_poses(name, function, forms):
    """Return a function of poses or rotations."""
    names = function.__code__.co_varnames[: len(forms.split())]
    inputs = [
        Array(name, FORMS[form][0], form, role=FORMS[form][1])
        for name, form in zip(names, forms.split(), strict=True)
    ]
    return Undeclared(Quantity(name, "", tuple(inputs), (), "", module=""), posed(function))


MOVED = [
    of_model(step, Q, V, TAU, inertias=True, fails="singular H"),
    of_model(
        rollout, Q._replace(name="q0"), V._replace(name="v0"), NO_TAU, inertias=True, fails="singular H"
    ),
    of_model(operational_inertia, Q),
    of_model(delassus, Q, fails="singular H"),
    of_model(operational_bias, Q, V, has_out=False),
    of_model(task_bias, Q, V, has_out=False),
    of_model(
        kinematics,
        Q,
        V,
        A._replace(optional=True, needed=True),
        errors=(("InvalidModelError", "If the bodies have no mass."),),
    ),
]
PLACED = [
    *(
        of_poses(f"{function.__module__.rpartition('.')[2]}.{function.__name__}", function, forms)
        for function, forms in POSES.items()
    ),
    *(of_poses(name, *case) for name, case in OF_OTHER_SHAPES.items()),
]
UNDECLARED = {one.quantity.name: one for one in (*MOVED, *PLACED)}
