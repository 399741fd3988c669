"""Models with other parameters give the results of models that are built with these, from every function."""

import inspect
import pickle

import numpy as np
import pytest
from helpers.declared import cases
from helpers.dynamics_cases import MODELS, arguments
from helpers.model_cases import models
from helpers.reachable import REACHABLE
from helpers.undeclared import UNDECLARED, tip
from hypothesis import given
from hypothesis import strategies as st

import treefactor as tf
from treefactor import constraints, mechanisms, xla
from treefactor.model.joints import with_numbers
from treefactor.model.parameters import from_log_cholesky
from treefactor.quantities.functions import QUANTITIES

LINKAGE = mechanisms.five_bar()
CLOSED = LINKAGE.closed
OTHER = {  # functions of a model that the tables of calls leave out, with the arguments after the model
    "operational_space": lambda m, q, v, x, f: tf.operational_space(m, q, tip(m), damping=1.0).inertia,
    "random_configuration": lambda m, q, v, x, f: tf.random_configuration(m, 3, size=(2,)),
    "neutral": lambda m, q, v, x, f: tf.neutral(m),
    "bind": lambda m, q, v, x, f: bound(m, q, v, x),
    "generate": lambda m, q, v, x, f: generated(m, q, v, x),
    "mass": lambda m, q, v, x, f: np.array([m.mass, *m.subtree_masses, *m.armature]),
    "joints": lambda m, q, v, x, f: np.array([joint.inertia.parameters for joint in m.joints]),
}
CONSTRAINED = {
    "forward_dynamics": lambda m, q, v, x: tuple(constraints.forward_dynamics(m, q, v, x))[:2],
    "forward_dynamics_derivatives": lambda m, q, v, x: tuple(
        constraints.forward_dynamics_derivatives(m, q, v, x)
    )[:3],
    "loop_rows": lambda m, q, v, x: constraints.loop_rows(m, q, v).dense(),
    "close": lambda m, q, v, x: constraints.close(m, q + 0.01),
    "contacts_of": lambda m, q, v, x: contacts(m, q),
    "bounding_boxes": lambda m, q, v, x: constraints.bounding_boxes(m, balls_of(m), q),
    "shape_placements": lambda m, q, v, x: constraints.shape_placements(m, balls_of(m), q),
    "Stepper": lambda m, q, v, x: stepped(constraints.Stepper(m, h=1e-3), q, v, x),
    "MaximalCoordinates": lambda m, q, v, x: tuple(
        constraints.MaximalCoordinates.from_model(m).forward_dynamics(q, v, x)
    )[:1],
}


def balls_of(model):
    """Return a geometry of one ball on every body."""
    balls = [constraints.Sphere(k, [0, 0, 0], 0.1) for k in range(model.njoints)]
    return constraints.Geometry(balls, [str(k) for k in range(model.njoints)])


def contacts(model, q):
    """Return the bodies whose balls may touch, by pairs, but those that overlap at q."""
    shapes = balls_of(model)
    pairs = constraints.contacts_of(model, shapes, reference=q)
    return np.array([[pair.sphere.body, pair.against.body] for pair in pairs])


def bound(model, q, v, x):
    """Return results of bound calls of one state."""
    if q.ndim > 1:
        return np.zeros(0)
    H, tau = np.empty((model.nv, model.nv)), np.empty(model.nv)
    return tf.bind(tf.crba, model, q, out=H)(), tf.bind(tf.forward_dynamics, model, q, v, x, out=tau)()


def generated(model, q, v, x):
    """Return results of generated programs of a small model."""
    if not 0 < model.nv < 8 or model.coupling:
        return np.zeros(0)
    kernels = tf.compile(tf.generate(model, ["crba", "rnea"], variants=["plain"]))
    return kernels.crba(q), kernels.rnea(q, v, x)


def stepped(stepper, q, v, x):
    """Return the state after a step and its derivatives."""
    step = stepper.step(q, v, x)
    return step.q, step.v, *stepper.derivatives(q, v, x)[1:]


def refilled(model, seed):
    """Return a model like another one, built with other inertias and armature, and the same bits of the rest.

    The inertias are similar, so that the local origins stay where they are.
    """
    rng = np.random.default_rng(seed)
    joints = []
    for joint in model.joints:
        factor, old = rng.uniform(1.5, 2.0), joint.inertia
        armature = np.zeros_like(joint.armature) if joint.mimic else rng.random(joint.armature.size)
        joints.append(
            with_numbers(joint, factor * old.mass, 0.9 * old.com, 1.01 * factor * old.tensor, armature)
        )
    return tf.Model(joints, model.gravity, model.name, loops=model.loops)


def parts(result):
    """Return the arrays of a result."""
    return tuple(map(np.asarray, result)) if isinstance(result, tuple) else (np.asarray(result),)


def assert_same(result, expected, exact, name):
    """Assert that results are equal, to the last bit or within rounding."""
    for own, other in zip(parts(result), parts(expected), strict=True):
        if exact:
            np.testing.assert_array_equal(own, other, err_msg=name)
        else:
            scale = np.abs(other).max(initial=1.0)
            np.testing.assert_allclose(own, other, rtol=0, atol=1e-9 * scale, err_msg=name)


def results(model, size):
    """Return the results of every function of a model and its state."""
    moved = cases({"": model}, lambda case: case.configurations, undeclared=True)
    values = {name: case.call(case.arguments(1, size)) for case, name in zip(*moved.values(), strict=True)}
    return values | {name: call(model, *arguments(model, 1, size)) for name, call in OTHER.items()}


def test_every_function_of_a_model_is_tried():
    functions = {name: getattr(tf, name) for name in REACHABLE if inspect.isroutine(getattr(tf, name))}
    functions = {
        name
        for name, function in functions.items()
        if "model" in inspect.signature(function).parameters
        and not function.__module__.startswith("treefactor.identification")
    }
    assert functions - QUANTITIES.keys() - UNDECLARED.keys() - OTHER.keys() == set()
    functions = {
        name
        for name in constraints.__all__
        if next(iter(inspect.signature(getattr(constraints, name)).parameters), "") == "model"
    }
    assert functions - set(CONSTRAINED) == set()


@pytest.mark.parametrize("size", [(), (11,)], ids=["single", "batch"])
@pytest.mark.parametrize("key", [key for key, model in MODELS.items() if model.njoints])
def test_results_are_those_of_a_model_built_with_these_inertias(key, size):
    model, built = MODELS[key], refilled(MODELS[key], 4)
    before = results(model, size)
    changed = model.with_parameters(built.parameters, built.armature)
    exact = {name: name not in ("joints",) and "generate" not in name for name in before}
    expected = results(built, size)
    for after in (results(changed, size), results(pickle.loads(pickle.dumps(changed)), size)):
        for name in before:
            assert_same(after[name], expected[name], exact[name], name)
    assert not np.allclose(before["crba--dense"], expected["crba--dense"])
    for name, result in results(model, size).items():  # nothing of the changed model stays in the first one
        assert_same(result, before[name], True, name)


@pytest.mark.parametrize("name", CONSTRAINED)
def test_results_with_loops_are_those_of_a_model_built_with_these_inertias(name):
    model, built = LINKAGE.model, refilled(LINKAGE.model, 5)
    v, x = np.random.default_rng(6).normal(size=(2, model.nv))
    call, changed = CONSTRAINED[name], model.with_parameters(built.parameters, built.armature)
    before = call(model, CLOSED, v, x)
    for one in (changed, pickle.loads(pickle.dumps(changed)), changed.with_parameters(changed.parameters)):
        assert_same(call(one, CLOSED, v, x), call(built, CLOSED, v, x), False, name)
    assert_same(call(model, CLOSED, v, x), before, True, name)


@given(models(6), st.integers(0, 2**32 - 1))
def test_parameters_come_back_to_the_last_bit(model, seed):
    rng = np.random.default_rng(seed)
    pi = from_log_cholesky(rng.normal(size=(model.njoints, 10)))
    changed = model.with_parameters(pi)
    again = model.with_parameters(0 * pi).with_parameters(pi)
    for one in (changed, again, pickle.loads(pickle.dumps(changed))):
        assert np.array_equal(one.parameters, pi)
        assert np.array_equal(one.armature, model.armature)
        assert not one.parameters.flags.writeable
    q = tf.neutral(model)
    same = model.with_parameters(model.parameters)
    assert np.array_equal(tf.crba(same, q), tf.crba(model, q))
    scaled = tf.crba(model.with_parameters(2 * model.parameters, 2 * model.armature), q)
    assert np.allclose(scaled, 2 * tf.crba(model, q), rtol=1e-12, atol=0)


def far_away():
    """Return a model whose bodies have local origins of their own, and one whose bodies are too large."""
    small = tf.Inertia(1.0, [0, 0, 0.001], 1e-6 * np.eye(3))
    large = tf.Inertia(1.0, [0, 0, 0.5], 10.0 * np.eye(3))
    return [
        tf.Model(
            [
                tf.Joint("a", "revolute", axis=[0, 1, 0], inertia=inertia),
                tf.Joint("b", "revolute", 0, p=[1, 0, 0], axis=[0, 0, 1], inertia=inertia),
            ]
        )
        for inertia in (small, large)
    ]


def test_local_origins_are_those_of_the_first_model():
    small, large = far_away()
    q, v, a = np.random.default_rng(7).normal(size=(3, 2))
    changed = large.with_parameters(small.parameters)
    again = small.with_parameters(large.parameters).with_parameters(small.parameters)
    again = pickle.loads(pickle.dumps(again))
    assert np.array_equal(tf.rnea(again, q, v, a), tf.rnea(small, q, v, a))
    np.testing.assert_allclose(tf.rnea(changed, q, v, a), tf.rnea(small, q, v, a), rtol=1e-9)


def test_models_that_are_made_of_a_changed_one_keep_its_parameters():
    model = MODELS["freeflyer"]
    changed = model.with_parameters(1.7 * model.parameters, 2 * model.armature)
    framed = changed.add_frame("tool", "j2", p=[0.1, 0, 0])
    weightless = changed._replaced(gravity=np.zeros(3))
    q, *_ = arguments(model)
    for one in (framed, weightless):
        assert np.array_equal(one.parameters, changed.parameters)
        assert np.array_equal(one.armature, changed.armature)
        assert np.array_equal(tf.crba(one, q), tf.crba(changed, q))
    assert framed.frame("tool").joint == 2
    assert np.array_equal(tf.frame_placement(framed, q, "j2"), tf.frame_placement(model, q, "j2"))
    assert not tf.rnea(weightless, q, *np.zeros((2, model.nv))).any()


def test_changed_models_share_what_does_not_depend_on_inertias():
    model = MODELS["followers"]
    changed = model.with_parameters(model.parameters)
    for name in ("tree", "coupling", "configurations", "frames", "numbers", "loops", "extended"):
        assert getattr(changed, name) is getattr(model, name)
    assert vars(changed).keys() | {"joints", "_rotors", "parameters"} >= vars(tf.Model(model.joints)).keys()


def unphysical(model):
    """Return parameters that no body can have, and the reasons by joint."""
    pi = np.array(model.parameters)
    pi[0, 0] *= -1
    pi[1, 0] = 0.0
    pi[2, 9] = 1e3
    return pi, {
        "j0": "is negative",
        "j1": "a first moment without mass",
        "j2": "break the triangle inequality",
    }


def test_parameters_of_no_body_are_kept_and_named():
    model = MODELS["freeflyer"]
    pi, reasons = unphysical(model)
    changed = model.with_parameters(pi)
    for one in (changed, pickle.loads(pickle.dumps(changed))):
        faults = one.faults()
        assert faults.keys() == reasons.keys()
        assert all(reason in faults[joint] for joint, reason in reasons.items())
        assert one.joints[0].inertia.mass == pi[0, 0]
        assert np.isnan(one.joints[1].inertia.com).all()
    q, v, a, f = arguments(model)
    step = 1e3 * (pi - model.parameters)  # inverse dynamics are linear in the parameters
    third = tf.rnea(model.with_parameters(model.parameters + step), q, v, a, f)
    first, second = tf.rnea(model, q, v, a, f), tf.rnea(changed, q, v, a, f)
    np.testing.assert_allclose(first + 1e3 * (second - first), third, rtol=1e-8)
    with pytest.raises(tf.InvalidModelError, match=r"joint 'j0': mass .* negative") as caught:
        model.with_parameters(pi, strict=True)
    assert caught.value.joint == "j0"
    assert MODELS["followers"].with_parameters(MODELS["followers"].parameters, strict=True).faults() == {}


def test_negative_armature_is_kept_and_named():
    model = MODELS["one"]
    changed = model.with_parameters(model.parameters, [-0.5])
    assert changed.faults() == {"j0": "armature -0.5 is negative"}
    q = tf.neutral(model)
    expected = tf.crba(model, q) - model.armature - 0.5
    np.testing.assert_allclose(tf.crba(changed, q), expected, rtol=1e-12)
    with pytest.raises(tf.InvalidModelError, match="armature"):
        model.with_parameters(model.parameters, [-0.5], strict=True)


def test_wrong_parameters_are_named():
    model = MODELS["freeflyer"]
    with pytest.raises(tf.ShapeError, match=r"expected pi of shape \(7, 10\), got \(7, 9\)"):
        model.with_parameters(model.parameters[:, 1:])
    with pytest.raises(tf.ShapeError, match=r"armature must have shape \(12,\)"):
        model.with_parameters(model.parameters, np.zeros(7))
    pi = np.array(model.parameters)
    pi[3, 5] = np.inf
    with pytest.raises(tf.NonFiniteError, match="I_xy of joint 'j3'") as caught:
        model.with_parameters(pi)
    assert caught.value.row == 3
    with pytest.raises(tf.DtypeError, match="masked"):
        model.with_parameters(np.ma.masked_invalid(pi))


def test_a_changed_model_does_not_see_later_changes_of_the_arrays():
    model = MODELS["one"]
    pi, armature = np.array(model.parameters), np.array(model.armature)
    changed = model.with_parameters(pi, armature)
    pi[:], armature[:] = 0, 0
    assert np.array_equal(changed.parameters, model.parameters)
    assert np.array_equal(changed.armature, model.armature)


def test_digests_tell_changed_models_apart():
    model = MODELS["one"]
    pi = np.nextafter(model.parameters, np.inf)
    changed = [model.with_parameters(one) for one in (model.parameters, pi)]
    changed += [model.with_parameters(pi, model.armature + 1.0)]
    numbers = [xla.digest(one) for one in changed]
    assert len({xla.digest(model), *numbers}) == 4
    assert [xla.digest(pickle.loads(pickle.dumps(one))) for one in changed] == numbers
