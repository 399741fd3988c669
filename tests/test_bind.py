"""Bound calls equal plain calls to the bit; other public functions are listed with the reason."""

import inspect

import numpy as np
import pytest
from helpers.dynamics_cases import MODELS, arguments
from helpers.reachable import REACHABLE

import treefactor as tf
from treefactor import constraints

MODEL = MODELS["all kinds"]
TIP = tf.Frame("tip", 5, p=[0.1, 0.2, 0.3])
BOUND = {  # arguments after the model, and the options to try
    "aba": ("q v tau", {}, {"fext": "fext"}),
    "all_terms": ("q v", {}),
    "base_force": ("q v a", {}, {"fext": "fext"}),
    "bias": ("q v", {}, {"fext": "fext"}),
    "center_of_mass": ("q", {}, {"root": "j2"}, {"v": "v"}, {"v": "v", "a": "a", "root": 1}),
    "center_of_mass_jacobian": ("q", {}, {"root": "j2"}),
    "centroidal_derivatives": ("q v a", {}),
    "centroidal_inertia": ("q", {}),
    "centroidal_map": ("q", {}),
    "centroidal_map_dot": ("q v", {}),
    "centroidal_momentum": ("q v", {}),
    "centroidal_momentum_rate": ("q v a", {}),
    "com_derivatives": ("q v", {}, {"a": "a", "root": "j2"}),
    "coriolis_matrix": ("q v", {}, {"layout": "packed"}),
    "crba": ("q", {}, {"layout": "packed"}),
    "d_difference": ("q q1", {}, {"argument": 0}, {"argument": "ARG1"}),
    "d_integrate": ("q v", {}, {"argument": 0}, {"argument": "ARG1"}),
    "difference": ("q q1", {}),
    "difference_derivatives": ("q q1", {}),
    "distance": ("q q1", {}),
    "forward_dynamics": ("q v tau", {}, {"method": "aba"}, {"fext": "fext"}),
    "forward_dynamics_hessian": ("q v tau w", {}, {"fext": "fext", "symmetric": False}),
    "forward_dynamics_hvp": ("q v tau w dq dv da", {}, {"fext": "fext", "symmetric": False}),
    "forward_dynamics_jvp": ("q v tau dq dv da", {}, {"fext": "fext", "with_value": True}),
    "forward_dynamics_vjp": ("q v tau w", {}, {"fext": "fext", "fext_gradient": True}),
    "forward_dynamics_derivatives": ("q v tau", {}, {"fext": "fext", "with_value": True}),
    "frame_acceleration": ("q v a tip", {}, {"reference": "WORLD", "classical": True}),
    "frame_derivatives": ("q v a tip", {}, {"reference": "WORLD", "classical": True}),
    "frame_jacobian": ("q tip", {}, {"layout": "packed"}, {"reference": "WORLD", "placement": True}),
    "frame_jacobian_dot": ("q v tip", {}, {"layout": "packed"}),
    "frame_placement": ("q tip", {}),
    "frame_velocity": ("q v tip", {}, {"reference": "WORLD"}),
    "generalized_gravity": ("q", {}),
    "gravity_regressor": ("q", {}),
    "h_times": ("q a", {}),
    "integrate": ("q v", {}),
    "integrate_derivatives": ("q v", {}),
    "interpolate": ("q q1 u", {}),
    "inverse_inertia": ("q", {}),
    "joint_forces": ("q v a", {}, {"fext": "fext"}),
    "joint_jacobian": ("q joint", {}, {"reference": "LOCAL_WORLD_ALIGNED"}),
    "joint_placements": ("q", {}),
    "kinetic_energy": ("q v", {}),
    "kinetic_energy_regressor": ("q v", {}),
    "mechanical_energy": ("q v", {}),
    "momentum_regressor": ("q v", {}),
    "normalize": ("long", {}),
    "potential_energy": ("q", {}),
    "potential_energy_regressor": ("q", {}),
    "center_of_mass_regressor": ("q", {}),
    "regressor": ("q v a", {}, {"layout": "packed"}, {"columns": ["inertia", "dry", "armature"]}),
    "regressor_transpose_times": ("q v a w", {}, {"columns": ["offset", "inertia"]}),
    "rnea": ("q v a", {}, {"fext": "fext"}),
    "rnea_hessian": ("q v a w", {}, {"fext": "fext", "layout": "packed"}, {"symmetric": False}),
    "rnea_hvp": ("q v a w dq dv da", {}, {"fext": "fext", "symmetric": False}),
    "rnea_jvp": ("q v a dq dv da", {}, {"fext": "fext", "with_value": True}),
    "rnea_vjp": ("q v a w", {}, {"fext": "fext", "inertia_gradient": True}, {"with_value": True}),
    "rnea_derivatives": ("q v a", {}, {"layout": "packed"}, {"fext": "fext", "with_value": True}),
    "rollout": ("q v forces h", {}, {"method": "rk4"}),
    "squared_distance": ("q q1", {}),
    "static_torque": ("q fext", {}),
    "step": ("q v tau h", {}, {"method": "rk4"}),
    "constraints.forward_dynamics": (
        *("q v tau", {"contacts": [constraints.RigidContact(TIP)]}),
        {"fext": "fext", "stabilization": 2.0, "contacts": (constraints.RigidContact(TIP),)},
    ),
    "constraints.forward_dynamics_derivatives": (
        *("q v tau", {}, {"fext": "fext", "with_value": True, "contacts": [constraints.RigidContact(TIP)]}),
        {"stabilization": 2.0, "contacts": (constraints.RigidContact(TIP),)},
    ),
}
NOT_BOUND = {  # and why
    **dict.fromkeys(["bind", "compile", "generate", "show_config", "stream"], "returns no array"),
    **dict.fromkeys(["chain_forces", "chain_inertia"], "takes chain parameters, not a model"),
    **dict.fromkeys(["factor", "multiply", "solve"], "takes a matrix; BoundFactor binds it"),
    "damped_least_squares": "takes arrays, not a model",
    **dict.fromkeys(["base_parameters", "neutral", "random_configuration"], "reads no array"),
    **dict.fromkeys(["delassus", "operational_inertia"], "allocates a workspace of the size of its task"),
    **dict.fromkeys(["operational_bias", "task_bias"], "composed of several calls"),
    "operational_space": "returns an object",
    "is_same_configuration": "returns a bool",
    **dict.fromkeys(["constraints.box", "constraints.contacts_between"], "describes contacts"),
    "constraints.close": "iterates",
    "constraints.loop_rows": "returns an object",
}


def public_functions():
    """Return all public functions of the package and of its constraints by name."""
    found = {name: getattr(tf, name) for name in REACHABLE}
    found |= {f"constraints.{name}": getattr(constraints, name) for name in constraints.__all__}
    return {name: one for name, one in found.items() if not inspect.isclass(one) and callable(one)}


def named_arguments():
    q, v, x, fext = arguments(MODEL)
    generator = np.random.default_rng(5)
    w, dq, dv, da = generator.standard_normal((4, MODEL.nv))
    return {
        "w": w, "dq": dq, "dv": dv, "da": da,
        "q": q, "v": v, "a": x, "tau": x.copy(), "fext": fext, "q1": arguments(MODEL, 1, ())[0],
        "u": np.array(0.3), "tip": TIP, "joint": 5, "long": 2.0 * q, "h": 1e-3,
        "forces": generator.standard_normal((3, MODEL.nv)),
    }  # fmt: skip


def empty_like(result):
    """Return arrays of the shapes of a result."""
    if isinstance(result, tuple):
        made = [empty_like(one) for one in result]
        return type(result)(*made) if hasattr(result, "_fields") else tuple(made)
    return np.full(np.shape(result), 7.0)


def same(found, expected):
    """Return whether results are equal to the bit, also of tuples."""
    if isinstance(expected, tuple):
        return len(found) == len(expected) and all(map(same, found, expected))
    return np.array_equal(found, expected)


def test_every_public_function_is_bound_or_has_a_reason():
    names = public_functions().keys()
    assert not BOUND.keys() & NOT_BOUND.keys()
    assert sorted(names) == sorted(BOUND.keys() | NOT_BOUND.keys())


@pytest.mark.parametrize(("name", "options"), [(k, o) for k, (_, *given) in BOUND.items() for o in given])
def test_bound_calls_equal_plain_ones(name, options):
    function, known = public_functions()[name], named_arguments()
    taken = [known[one] for one in BOUND[name][0].split()]
    options = {key: known[key] if key in ("v", "a", "fext") else given for key, given in options.items()}
    expected = function(MODEL, *taken, **options)
    out = empty_like(expected)
    call = tf.bind(function, MODEL, *taken, out=out, **options)
    found = call()
    assert found is out
    assert same(found, expected)
    taken[0][:] = known["q1"]
    assert same(call(), function(MODEL, *taken, **options))
    taken[0][1] = np.nan
    with pytest.raises(tf.NonFiniteError):
        call()


@pytest.mark.parametrize("name", BOUND)
def test_unknown_and_missing_arguments_are_named(name):
    function, known = public_functions()[name], named_arguments()
    taken = [known[one] for one in BOUND[name][0].split()]
    out = np.empty(1)
    for option in ({"foo": 1}, {"num_threads": 2}):
        with pytest.raises(ValueError, match=rf"takes no {next(iter(option))} to be bound, only q.* and out"):
            tf.bind(function, MODEL, *taken, out=out, **option)
    first = next(iter(inspect.signature(function).parameters.keys() - {"model"} & {"q", "q0"}))
    with pytest.raises(ValueError, match=f"received {first} twice"):
        tf.bind(function, MODEL, *taken, out=out, **{first: taken[0]})
    with pytest.raises(ValueError, match=r"takes \d arguments? after the model: q.*; got 0"):
        tf.bind(function, MODEL, out=out)


@pytest.mark.parametrize("name", NOT_BOUND)
def test_other_functions_are_refused(name):
    with pytest.raises(ValueError, match=r"function must be one of aba, all_terms, .* to be bound"):
        tf.bind(public_functions()[name], MODEL, out=np.empty(1))


def test_wrong_options_are_named():
    q, v, x, _ = arguments(MODEL)
    H, nv = np.empty((MODEL.nv, MODEL.nv)), MODEL.nv
    with pytest.raises(ValueError, match=r"layout must be .*'lanes'"):
        tf.bind(tf.crba, MODEL, q, layout="lanes", out=H)
    with pytest.raises(ValueError, match="method must be"):
        tf.bind(tf.forward_dynamics, MODEL, q, v, x, method="newton", out=np.empty(nv))
    with pytest.raises(ValueError, match="out must be a tuple of 2 arrays, got ndarray"):
        tf.bind(tf.d_integrate, MODEL, q, v, out=H)
    with pytest.raises(ValueError, match="argument must be one of 'ARG0', 'ARG1', 0, 1; got 2"):
        tf.bind(tf.d_difference, MODEL, q, q.copy(), 2, out=H)
    with pytest.raises(ValueError, match="out must be a tuple of 2 arrays, got ndarray"):
        tf.bind(tf.frame_jacobian, MODEL, q, TIP, placement=True, out=np.empty((6, nv)))
    with pytest.raises(ValueError, match="rollout takes no steps to be bound"):
        tf.bind(tf.rollout, MODEL, q, v, x[None], 0.1, steps=1, out=(q, v))
