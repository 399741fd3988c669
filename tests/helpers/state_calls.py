"""Every public function of states, configurations and poses, with one calling convention, and its arrays."""

from functools import partial

import numpy as np

import treefactor as tf
from helpers.dynamics_cases import arguments
from treefactor import se3, so3


def tip(model):
    """Return a frame on the last joint, or on the base."""
    return tf.Frame("tip", model.njoints - 1, p=[0.1, 0.2, 0.3])


def together(model, q, v, a, **options):
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
    if "out" in options:
        placements, velocities, accelerations, jacobian, center, rate = options["out"]
        options["out"] = placements, velocities, accelerations, (jacobian,), center, rate
    result = request(q, v, a, **options)
    return options["out"] if "out" in options else tuple(x[0] if isinstance(x, tuple) else x for x in result)


def at_tip(function, *others):
    """Return a function of the model and arrays, with the frame after them."""
    return lambda model, *arrays, **options: function(model, *arrays, tip(model), *others, **options)


def posed(function):
    """Return a function that needs no model, but takes one."""
    return lambda model, *arrays, **options: function(*arrays, **options)


def second(function):
    """Return a function of second derivatives whose last array has the external forces; w is the third."""

    def call(model, q, v, a, *others, **options):
        weights = others[:1] if len(others) == 2 else (a, *others[:-1])
        return function(model, q, v, a, *weights, fext=others[-1], **options)

    return call


MOVING = {  # functions of a model; by name: the function, and the names of its arrays
    "generalized_gravity": (tf.generalized_gravity, "q"),
    "static_torque": (tf.static_torque, "q f"),
    "kinetic_energy": (tf.kinetic_energy, "q v"),
    "potential_energy": (tf.potential_energy, "q"),
    "mechanical_energy": (tf.mechanical_energy, "q v"),
    "coriolis_matrix": (tf.coriolis_matrix, "q v"),
    "coriolis_matrix packed": (partial(tf.coriolis_matrix, layout="packed"), "q v"),
    "inverse_inertia": (tf.inverse_inertia, "q"),
    "rnea_derivatives": (lambda m, *x, **o: tf.rnea_derivatives(m, *x, "packed", True, **o), "q v a f"),
    "forward_dynamics_derivatives": (tf.forward_dynamics_derivatives, "q v a f"),
    "rnea_jvp": (lambda m, q, v, a, *d, **o: tf.rnea_jvp(m, q, v, a, *d, True, **o), "q v a dq dv da f df"),
    "rnea_vjp": (
        lambda m, q, v, a, w, f, **o: tf.rnea_vjp(m, q, v, a, w, f, True, True, True, **o),
        "q v a dq f",
    ),
    "rnea_hvp": (second(tf.rnea_hvp), "q v a dq dv da f"),
    "rnea_hessian": (second(tf.rnea_hessian), "q v a dq f"),
    "forward_dynamics_hvp": (second(tf.forward_dynamics_hvp), "q v a dq dv da f"),
    "forward_dynamics_hessian": (second(tf.forward_dynamics_hessian), "q v a dq f"),
    "forward_dynamics_jvp": (tf.forward_dynamics_jvp, "q v a dq dv da f df"),
    "forward_dynamics_vjp": (
        lambda m, q, v, a, w, f, **o: tf.forward_dynamics_vjp(m, q, v, a, w, f, True, True, True, **o),
        "q v a dq f",
    ),
    "regressor": (partial(tf.regressor, columns=("inertia", "armature", "dry", "offset")), "q v a"),
    "regressor packed": (partial(tf.regressor, layout="packed"), "q v a"),
    "regressor_transpose_times": (tf.regressor_transpose_times, "q v a dq"),
    "gravity_regressor": (tf.gravity_regressor, "q"),
    "momentum_regressor": (tf.momentum_regressor, "q v"),
    "center_of_mass_regressor": (tf.center_of_mass_regressor, "q"),
    "kinetic_energy_regressor": (tf.kinetic_energy_regressor, "q v"),
    "potential_energy_regressor": (tf.potential_energy_regressor, "q"),
    "step": (lambda m, q, v, a, **o: tf.step(m, q, v, a, 0.01, **o), "q v a"),
    "rollout": (lambda m, q, v, a, **o: tf.rollout(m, q, v, a, 0.01, 3, "rk4", **o), "q v a"),
    "operational_inertia": (
        at_tip(lambda m, q, f, **o: tf.operational_inertia(m, q, f, damping=1.0, **o)),
        "q",
    ),
    "task_bias": (at_tip(tf.task_bias), "q v"),
    "operational_bias": (
        at_tip(lambda m, q, v, f, **o: tf.operational_bias(m, q, v, f, damping=1.0, **o)),
        "q v",
    ),
    "frame_placement": (at_tip(tf.frame_placement), "q"),
    "joint_placements": (tf.joint_placements, "q"),
    "frame_velocity": (at_tip(tf.frame_velocity, "WORLD"), "q v"),
    "frame_acceleration": (at_tip(tf.frame_acceleration), "q v a"),
    "frame_jacobian": (at_tip(tf.frame_jacobian, "LOCAL_WORLD_ALIGNED"), "q"),
    "frame_jacobian pair": (at_tip(tf.frame_jacobian, "LOCAL", "packed", True), "q"),
    "joint_jacobian": (lambda m, q, **o: tf.joint_jacobian(m, q, m.njoints - 1, **o), "q"),
    "frame_jacobian_dot": (at_tip(tf.frame_jacobian_dot), "q v"),
    "frame_derivatives": (at_tip(tf.frame_derivatives, "WORLD", True), "q v a"),
    "com_derivatives": (tf.com_derivatives, "q v a"),
    "centroidal_derivatives": (tf.centroidal_derivatives, "q v a"),
    "center_of_mass": (tf.center_of_mass, "q v a"),
    "center_of_mass_jacobian": (tf.center_of_mass_jacobian, "q"),
    "centroidal_map": (tf.centroidal_map, "q"),
    "centroidal_map_dot": (tf.centroidal_map_dot, "q v"),
    "centroidal_momentum": (tf.centroidal_momentum, "q v"),
    "centroidal_momentum_rate": (tf.centroidal_momentum_rate, "q v a"),
    "centroidal_inertia": (tf.centroidal_inertia, "q"),
    "Kinematics": (together, "q v a"),
}
STEPPED = {  # of configurations alone, whose results are NaN throughout for a bad one in a batch
    "integrate": (tf.integrate, "q v"),
    "difference": (tf.difference, "q q1"),
    "interpolate": (tf.interpolate, "q q1 u"),
    "distance": (tf.distance, "q q1"),
    "squared_distance": (tf.squared_distance, "q q1"),
    "d_integrate": (partial(tf.d_integrate, argument=0), "q v"),
    "d_integrate by v": (partial(tf.d_integrate, argument="ARG1"), "q v"),
    "d_difference": (partial(tf.d_difference, argument=1), "q q1"),
    "d_difference by both": (tf.d_difference, "q q1"),
    "integrate_derivatives": (tf.integrate_derivatives, "q v"),
    "difference_derivatives": (tf.difference_derivatives, "q q1"),
}
POSED = {  # of poses and rotations
    **{
        f"se3.{f.__name__}": (posed(f), "M")
        for f in (se3.log, se3.jlog, se3.inverse, se3.action, se3.to_xyzquat)
    },
    **{f"se3.{f.__name__}": (posed(f), "w6") for f in (se3.exp, se3.jexp)},
    **{f"se3.{f.__name__}": (posed(f), "M M1") for f in (se3.compose, se3.between)},
    **{f"se3.{f.__name__}": (posed(f), "M x") for f in (se3.act, se3.act_inverse)},
    **{f"se3.{f.__name__} of motions": (posed(f), "M w6") for f in (se3.act, se3.act_inverse)},
    "se3.interpolate": (posed(se3.interpolate), "M M1 u"),
    "se3.from_xyzquat": (posed(se3.from_xyzquat), "xq"),
    "se3.from_rpy": (posed(se3.from_rpy), "x w"),
    **{
        f"so3.{f.__name__}": (posed(f), "R")
        for f in (so3.log, so3.jlog, so3.inverse, so3.to_quaternion, so3.to_rpy)
    },
    **{f"so3.{f.__name__}": (posed(f), "w") for f in (so3.exp, so3.jexp, so3.from_rpy)},
    **{f"so3.{f.__name__}": (posed(f), "R R1") for f in (so3.compose, so3.between)},
    **{f"so3.{f.__name__}": (posed(f), "R x") for f in (so3.act, so3.act_inverse)},
    "so3.interpolate": (posed(so3.interpolate), "R R1 u"),
    "so3.from_quaternion": (posed(so3.from_quaternion), "quaternion"),
}
CALLS = {
    **MOVING,
    **STEPPED,
    "normalize": (tf.normalize, "q"),
    "is_same_configuration": (tf.is_same_configuration, "q q1"),
    **POSED,
}
PAIRS = ("d_difference by both", "integrate_derivatives", "difference_derivatives")  # refuse such out
WITHOUT_OUT = ("is_same_configuration", "task_bias", "operational_bias", *PAIRS)


def arrays_of(name, model, seed=0, size=()):
    """Return the arrays of a call."""
    rng = np.random.default_rng(seed)
    q, v, a, f = arguments(model, seed, size)
    shape = q.shape[:-1]
    poses = [se3.exp(rng.normal(size=(*shape, 6))) for _ in range(2)]
    found = {"q": q, "v": v, "a": a, "f": f, "q1": arguments(model, seed + 1, size)[0]}
    found |= {"M": poses[0], "M1": poses[1], "R": poses[0][..., :3].copy(), "R1": poses[1][..., :3].copy()}
    found |= {"w": rng.normal(size=(*shape, 3)), "w6": rng.normal(size=(*shape, 6))}
    found |= {"u": rng.random(shape), "x": rng.normal(size=(*shape, 3)), "xq": se3.to_xyzquat(poses[0])}
    found |= dict(zip(("dq", "dv", "da"), rng.normal(size=(3, *v.shape)), strict=True))
    found["df"] = rng.normal(size=f.shape)
    found["quaternion"] = so3.to_quaternion(found["R"])
    return [found[array] for array in CALLS[name][1].split()]


def has(name, model):
    """Return whether a model has what a call computes: a joint, a centre of mass."""
    needing = ("joint_j", "com_d", "center", "centroid", "Kinem")
    return model.njoints > 0 or not any(word in name for word in needing)


def run(name, model, *arrays, **options):
    """Return the results as a tuple of arrays."""
    return parts(CALLS[name][0](model, *arrays, **options))


def parts(result):
    """Return the arrays of a result."""
    return tuple(map(np.asarray, result)) if isinstance(result, tuple) else (np.asarray(result),)
