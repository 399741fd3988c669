"""Maps with a plan give the results of their Python form to the bit, alone, in batches and in float32."""

import threading
import time
from itertools import product

import numpy as np
import pytest
from helpers.bundled_robots import bundled_robot
from helpers.jax_cases import jax, precision
from helpers.xla_cases import caller

import treefactor as tf
from treefactor import xla
from treefactor.adapters._maps import array_function
from treefactor.quantities.frameworks import DIFFERENTIABLE, is_extra
from treefactor.quantities.motions import RULE
from treefactor.xla.plans import plan_of

ROBOTS = [pytest.param("panda", marks=pytest.mark.slow), "solo12", "mimic"]


@pytest.fixture(autouse=True, scope="module")
def _float64():
    with precision(True):
        yield


@pytest.fixture(scope="module")
def robots():
    arm = {"axis": [0, 1, 0], "p": [0, 0, 1], "inertia": tf.Inertia(1.0, [0.1, 0, 0.5], 0.1 * np.eye(3))}
    mimic = tf.Joint("tip", "revolute", 1, **arm, mimic=tf.Mimic(0, 0.5, 0.1))
    joints = [tf.Joint(f"{k}", "revolute", k - 1, **arm) for k in range(2)]
    return {
        "panda": tf.Model.from_urdf(bundled_robot("panda")),
        "solo12": tf.Model.from_urdf(bundled_robot("solo12"), floating=True),
        "mimic": tf.Model([*joints, mimic]),
    }


def functions(model):
    """Yield array functions of every name, with all options that matter."""
    names = tuple(frame.name for frame in model.frames[-2:])
    choices = {"frame": (names[-1], names, model.frames[-1]), "reference": ("LOCAL", "WORLD")}
    choices |= {"method": ("factor", "aba"), "h": (1e-3,), "steps": (3,), "fext": (False, True)}
    for name, quantity in DIFFERENTIABLE.items():
        methods = {"method": quantity.options[-1].choices} if quantity.derivative.rule == RULE else {}
        extras = ["fext"] * any(one.name == "fext" and is_extra(one) for one in quantity.inputs)
        keys = [*quantity.derivative.options, *extras]
        for values in product(*((choices | methods)[key] for key in keys)):
            options = dict(zip(keys, values, strict=True))
            if model.coupling is None or "aba" not in (name, options.get("method")):  # which raise an error
                yield array_function(name, model, **options)


def remembered(model, one, name):
    """Return the function that calls a map through XLA."""
    number = xla.number_of(xla.digest(model), name)
    xla.remember(number, one)
    return caller(number, one.inputs, one.outputs)


def in_python(one, arrays):
    batch = len(arrays[0])
    outputs = tuple(np.empty((batch, *shape)) for shape in one.outputs)
    one.run(tuple(arrays), outputs)
    return outputs


def states(model, one, lead, rng):
    arrays = [rng.normal(size=(*lead, *shape)) for shape in one.inputs]
    arrays[0] = tf.normalize(model, arrays[0])
    return arrays


@pytest.mark.parametrize("robot", ROBOTS)
def test_plans_give_the_results_of_python_to_the_bit(robots, robot):
    rng, model, planned = np.random.default_rng(3), robots[robot], 0
    for count, function in enumerate(functions(model)):
        for kind, one in function.maps.items():
            if plan_of(one) is None:
                continue
            planned += 1
            call = remembered(model, one, f"plan {count} {kind}")
            arrays = states(model, one, (11,), rng)
            arrays[-1][3] = np.nan
            arrays[0][9] *= 2.0  # rotations without unit length
            expected = in_python(one, arrays)
            for result, wanted in zip(call(*arrays), expected, strict=True):
                np.testing.assert_array_equal(result, wanted, err_msg=f"{one!r} {function.options}")
            assert np.isnan(expected[0][3]).any()
    assert planned >= 40


@pytest.mark.parametrize("robot", ROBOTS)
def test_single_states_and_float32(robots, robot):
    rng, model = np.random.default_rng(4), robots[robot]
    for count, function in enumerate(functions(model)):
        for kind, one in function.maps.items():
            if plan_of(one) is None:
                continue
            call = remembered(model, one, f"plan {count} {kind}")
            arrays = states(model, one, (300,), rng)
            narrow = [x.astype(np.float32) for x in arrays]
            arrays[0][0] = tf.normalize(model, arrays[0][0])
            single = call(*(x[0] for x in arrays))
            for result, wanted in zip(single, in_python(one, [x[:1] for x in arrays]), strict=True):
                largest = np.abs(wanted).max()
                np.testing.assert_allclose(result, wanted[0], rtol=1e-9, atol=1e-10 * largest)
            if robot == "solo12":
                continue  # float32 quaternions are not of unit length to the tolerance of states
            expected = in_python(one, [x.astype(float) for x in narrow])
            for result, wanted in zip(call(*narrow), expected, strict=True):
                np.testing.assert_array_equal(result, wanted.astype(np.float32))


def test_a_single_state_equals_the_function_to_the_bit(robots):
    rng, model = np.random.default_rng(5), robots["panda"]
    one = array_function("forward_dynamics", model).map("value")
    arrays = states(model, one, (), rng)
    qdd = remembered(model, one, "single")(*arrays)[0]
    np.testing.assert_array_equal(qdd, tf.forward_dynamics(model, *arrays))


@pytest.mark.parametrize("lead", [(), (1,)])
def test_a_bad_single_state_gives_nan(robots, lead):
    rng, model = np.random.default_rng(6), robots["solo12"]
    for name in ("forward_dynamics", "aba", "rnea", "center_of_mass"):
        for kind in ("value", "vjp"):
            one = array_function(name, model).map(kind)
            call = remembered(model, one, f"bad {name} {kind}")
            for entry, value in ((0, np.nan), (3, 5.0)):  # not finite; a quaternion without unit length
                arrays = states(model, one, lead, rng)
                arrays[0][..., entry] = value
                assert all(np.isnan(y).all() for y in call(*arrays))


def test_a_robot_whose_h_has_no_factor_gives_nan():
    model = tf.Model([tf.Joint("free", "revolute", axis=[0, 0, 1])])
    one = array_function("forward_dynamics", model).map("value")
    call = remembered(model, one, "no factor")
    for lead in ((), (3,)):
        assert np.isnan(call(*[np.ones((*lead, 1))] * 3)[0]).all()


def test_plans_do_not_hold_the_lock_of_the_interpreter(robots):
    model, rng = robots["solo12"], np.random.default_rng(7)
    one = array_function("forward_dynamics", model).map("vjp")
    call = jax.jit(remembered(model, one, "lock"))
    arrays = states(model, one, (20000,), rng)
    expected = [np.asarray(y) for y in call(*arrays)]
    gradients, waits = [], []
    worker = threading.Thread(target=lambda: gradients.extend(np.asarray(y) for y in call(*arrays)))
    start = last = time.perf_counter()
    worker.start()
    while worker.is_alive():
        now = time.perf_counter()
        waits.append(now - last)
        last = now
    assert max(waits) < (last - start) / 2 or last - start < 0.02
    for gradient, wanted in zip(gradients, expected, strict=True):
        np.testing.assert_array_equal(gradient, wanted)


def test_the_aba_of_mimic_joints_raises_the_error_of_python(robots):
    one = array_function("aba", robots["mimic"]).map("value")
    call = remembered(robots["mimic"], one, "aba of mimic joints")
    with pytest.raises(Exception, match=r"INTERNAL: treefactor: .* use forward_dynamics"):
        call(*[np.zeros((4, 2))] * 3)


def test_errors_name_the_function_and_the_kind_of_its_map(robots):
    model = robots["panda"]
    for kind, name in (("value", "rnea"), ("jvp", "the jvp of rnea")):
        one = array_function("rnea", model).map(kind)
        call = remembered(model, one, f"name of {kind}")
        with pytest.raises(Exception, match=rf"argument 1 of {name} to have shape \(\.\.\., 9\)"):
            call(*(np.zeros((4, k)) for k in (9, 8, *[9] * (len(one.inputs) - 2))))


def test_functions_without_a_compiled_form_run_in_python(robots):
    model, rng = robots["panda"], np.random.default_rng(8)
    one = array_function("crba", model).map("vjp")
    assert plan_of(one) is None
    arrays = states(model, one, (5,), rng)
    results = remembered(model, one, "python")(*arrays)
    np.testing.assert_array_equal(results[0], in_python(one, arrays)[0])
