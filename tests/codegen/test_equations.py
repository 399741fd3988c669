"""Check functions that the interpreter solves from H: its inverse, accelerations and their derivatives."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from helpers.codegen_models import model, random_model, states
from helpers.dynamics_cases import EXACT, PER_CONDITION, error
from helpers.sweeps import sweep

import treefactor as tf
from treefactor.codegen import Program, generate
from treefactor.codegen.backends._interp import Interpreter, Recursion
from treefactor.codegen.choices import MANY
from treefactor.codegen.kernels import Kernels
from treefactor.codegen.program.names import DERIVATIVES, EQUATIONS

pytestmark = pytest.mark.isa

KINDS = ("freeflyer", "revolute", "spherical", "prismatic", "revolute", "continuous", "revolute", "helical")
NAMES = ("solo12", "talos32", "random", "mimic")


@cache
def robot(name):
    if name in ("random", "mimic"):
        leaders = {4: 1, 6: 7} if name == "mimic" else None
        return random_model(np.random.default_rng(5), KINDS, 0.1, leaders)
    return model(name)


@cache
def kernels(name, parameters=None):
    return tf.compile(
        robot(name), [x for x in EQUATIONS if not (parameters and x in DERIVATIVES)], parameters=parameters
    )


@pytest.mark.parametrize("name", sweep(NAMES, lambda name: name != "talos32", NAMES))
def test_single_calls_equal_batches_and_the_recursions(name):
    q, v, tau = states(robot(name), 5)
    own, H = kernels(name), tf.crba(robot(name), q)
    allowed = max(EXACT, PER_CONDITION * np.linalg.cond(H).max())
    parts = {name: tuple(x.parts for x in one.equations) for name, one in own.program.functions.items()}
    assert parts == EQUATIONS
    inverses, accelerations = own.minv(q), own.forward_dynamics(q, v, tau)
    assert error(inverses, np.linalg.inv(H)) < allowed
    assert error(accelerations, tf.forward_dynamics(robot(name), q, v, tau)) < allowed
    out, a = np.empty_like(inverses[0]), np.empty_like(accelerations[0])
    for k in range(5):
        one = own.minv(q[k])
        assert error(one, inverses[k]) < allowed
        np.testing.assert_array_equal(one, own.bind("minv", q[k], out=out)())
        solved = own.forward_dynamics(q[k], v[k], tau[k])
        assert error(solved, accelerations[k]) < allowed
        np.testing.assert_array_equal(solved, own.bind("forward_dynamics", q[k], v[k], tau[k], out=a)())


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_equal_batches_and_those_of_the_recursions(name):
    q, v, tau = states(robot(name), 3)
    own, function = kernels(name), "forward_dynamics_derivatives"
    allowed = max(EXACT, PER_CONDITION * np.linalg.cond(tf.crba(robot(name), q)).max())
    expected = tf.forward_dynamics_derivatives(robot(name), q, v, tau)
    batch = own.forward_dynamics_derivatives(q, v, tau)
    for k in range(3):
        given = q[k], v[k], tau[k]
        fast_path, locations = own._fast[function, "dense"]
        single = fast_path(given, None, locations, 1)  # not by the general path
        for result, of_batch, own_expected in zip(single, batch, expected, strict=True):
            assert error(result, own_expected[k]) < allowed
            assert error(result, of_batch[k]) < allowed
        out = type(batch)(*map(np.empty_like, single))
        apart = tuple(np.empty((38, 38, 2))[: own.program.nv, : own.program.nv, 0] for _ in range(3))
        whole = np.empty(3 * own.program.nv**2)
        forms = (
            fast_path(given, out, locations, 1),
            own.forward_dynamics_derivatives(*given),
            own.forward_dynamics_derivatives(*given, out=apart),
            own.forward_dynamics_derivatives(*map(np.ndarray.tolist, given)),
            own.bind(function, *given, out=tuple(map(np.empty_like, single)))(),
            own.call(function, *given, out=whole),
            own.bind(function, *given, out=np.empty_like(whole))().reshape(np.shape(single)),
        )
        assert forms[0] is out
        for form in forms:
            np.testing.assert_array_equal(form, single)


@pytest.mark.parametrize("name", ["solo12", "mimic"])
def test_derivatives_of_inverse_dynamics_by_the_recursion(name):
    q, v, a = states(robot(name), 3)
    own = tf.compile(robot(name), ["rnea_derivatives"])
    batch, given = own.rnea_derivatives(q, v, a), (q[1], v[1], a[1])
    assert isinstance(own._find("rnea_derivatives", "dense")[0], Recursion)
    for layout in ("dense", "packed"):
        recursion = tf.rnea_derivatives(robot(name), *given, layout=layout)
        for result, expected in zip(own.rnea_derivatives(*given, layout=layout), recursion, strict=True):
            assert error(result, expected, 1.0) < 1e-15
    bound = own.bind("rnea_derivatives", *given, out=tuple(x[0].copy() for x in batch))()
    for result, expected in zip(bound, batch, strict=True):
        assert error(result, expected[1], np.abs(bound[2]).max()) < EXACT
    with pytest.raises(tf.ConfigurationError):
        own.rnea_derivatives(2.0 * q[1], v[1], a[1])


def test_programs_of_other_robots_do_not_use_the_recursion():
    ten = random_model(np.random.default_rng(1), ("revolute",) * MANY)
    nearly = replace(ten.joints[0], p=[1e-9, *ten.joints[0].p[1:]])
    turned = tf.Model([nearly, *ten.joints[1:]], ten.gravity)
    few = random_model(np.random.default_rng(1), ("revolute",) * (MANY - 1))
    names = ["rnea_derivatives"]
    for other in (
        tf.compile(replace(generate(ten, names), source=None)),
        Kernels(generate(turned, names, snap=1e-6), "interp", turned),
        tf.compile(few, names),
    ):
        assert type(other._find("rnea_derivatives", "dense")[0]) is Interpreter
    assert type(tf.compile(turned, names)._find("rnea_derivatives", "dense")[0]) is Recursion


def test_results_of_derivatives_may_overlap_the_arguments():
    own, nv = kernels("solo12"), 18
    q, v, tau = (x[0] for x in states(robot("solo12"), 1))
    expected = own.forward_dynamics_derivatives(q, v, tau)
    for argument in range(3):
        for result in range(3):
            given, out = [q, v, tau], [np.empty((nv, nv)) for _ in range(3)]
            out[result].ravel()[: given[argument].size] = given[argument]
            given[argument] = out[result].ravel()[: given[argument].size]
            np.testing.assert_array_equal(own.forward_dynamics_derivatives(*given, out=tuple(out)), expected)


def test_single_calls_with_inertial_parameters():
    q, v, tau = (x[0] for x in states(robot("solo12"), 1))
    own, other = kernels("solo12", "base"), robot("solo12").with_parameters(1.5 * robot("solo12").parameters)
    pi = own.program.parameters(other)
    H = tf.crba(other, q)
    allowed = max(EXACT, PER_CONDITION * np.linalg.cond(H))
    for computed in (own.minv(q, pi), own.minv(q[None], pi)[0]):
        assert error(computed, np.linalg.inv(H)) < allowed
    expected = tf.forward_dynamics(other, q, v, tau)
    assert error(own.forward_dynamics(q, v, tau, pi), expected) < allowed
    for name, given in (("minv", (q, pi)), ("forward_dynamics", (q, v, tau, pi))):  # not by the general path
        routine, results = own._find(name, "dense")
        assert routine.fast_path(given, None, results, 1) is not None


def test_statements_solve_for_few_freedoms():
    for count in (MANY - 1, MANY):
        robot = random_model(np.random.default_rng(1), ("revolute",) * count)
        functions = generate(robot, ["minv", "crba", "forward_dynamics_derivatives"]).functions
        assert list(functions) == ["minv", "crba", "forward_dynamics_derivatives"]
        equations = [len(function.equations) for function in functions.values()]
        assert equations == ([0, 0, 0] if count < MANY else [1, 0, 2])


def test_results_may_overlap_forces():
    q, v, tau = (x[0] for x in states(robot("solo12"), 1))
    own = kernels("solo12")
    expected = own.forward_dynamics(q, v, tau)
    memory = np.append(tau, 0.0)
    assert own.forward_dynamics(q, v, memory[:-1], out=memory[1:]) is not None
    np.testing.assert_array_equal(memory[1:], expected)


def test_numbers_that_are_not_finite():
    q, v, tau = (x[0] for x in states(robot("solo12"), 1))
    own, zeros = kernels("solo12"), np.zeros(18)
    for given in ((q * np.nan, v, tau), (q, np.where(zeros == v, v, np.inf), tau), (q, v, tau + np.nan)):
        for function in (own.forward_dynamics, own.forward_dynamics_derivatives):
            with pytest.raises(tf.NonFiniteError):
                function(*given)
    with pytest.raises(tf.NonFiniteError):
        own.minv(q * np.nan)
    with pytest.raises(tf.ConfigurationError):
        own.minv(2.0 * q)


def massless():
    """Return a chain that ends in an arm with all its mass at the tip: stretched, its shoulder moves none."""
    rod = tf.Inertia(1.0, [0.5, 0, 0], np.diag([0.1, 0.2, 0.3]))
    joints = [
        tf.Joint(f"joint{k}", "revolute", k - 1, p=[0.3, 0, 0], axis=np.eye(3)[k % 3], inertia=rod)
        for k in range(MANY)
    ]
    point = tf.Inertia(1.0, [1.0, 0, 0], np.zeros((3, 3)))
    joints.append(tf.Joint("shoulder", "revolute", MANY - 1, axis=[0, 0, 1.0]))
    joints.append(tf.Joint("elbow", "revolute", MANY, p=[1.0, 0, 0], axis=[0, 0, 1.0], inertia=point))
    return tf.Model(joints)


def test_errors_name_the_joint_without_mass():
    robot, q, rest = massless(), np.full(MANY + 2, 0.3), np.zeros(MANY + 2)
    own = tf.compile(robot, list(EQUATIONS))
    assert np.isfinite(own.minv(q)).all()
    q[-1] = 0.0  # stretched
    state = q, rest, rest
    for call in (
        lambda: own.minv(q),
        lambda: own.forward_dynamics(*state),
        lambda: own.forward_dynamics_derivatives(*state),
    ):
        with pytest.raises(tf.NotPositiveDefiniteError) as caught:
            call()
        assert caught.value.name == "shoulder"


def test_saved_loaded_and_altered(tmp_path):
    program, path = generate(robot("solo12"), ["crba", *EQUATIONS]), tmp_path / "solo12.npz"
    program.save(path)
    loaded = Program.load(path)
    q = states(robot("solo12"), 1)[0][0]
    np.testing.assert_array_equal(tf.compile(loaded).minv(q), tf.compile(program).minv(q))
    for name, function in program.functions.items():
        own, other = function.equations, loaded.functions[name].equations
        assert len(own) == len(EQUATIONS.get(name, ()))
        assert [(x.name, x.alternatives) for x in own] == [(x.name, x.alternatives) for x in other]
    functions = dict(program.functions)
    first, second = functions["forward_dynamics_derivatives"].equations
    wrong = {
        "minv": ((first,), (functions["minv"],), (*functions["minv"].equations, second)),
        "forward_dynamics_derivatives": ((first,), (second, first)),
    }
    for name, sources in wrong.items():
        for equations in sources:
            altered = functions | {name: replace(functions[name], equations=equations)}
            with pytest.raises(tf.CodegenError, match=f"{name}: it does not follow from"):
                replace(program, functions=altered).validate()
    broken = replace(second, output=np.full_like(second.output, -1))
    name = "forward_dynamics_derivatives"
    altered = functions | {name: replace(functions[name], equations=(first, broken))}
    with pytest.raises(tf.CodegenError, match="rnea_derivatives: an entry of the result is not a statement"):
        replace(program, functions=altered).validate()
