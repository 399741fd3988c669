"""Check the form for one configuration: equal limbs in the lanes of registers, order of statements."""

import itertools
import platform
import shutil

import numpy as np
import pytest
from helpers.generated_models import robot
from helpers.machine_code import arguments, deviation, one, states
from helpers.sweeps import examples, sweep
from hypothesis import given, settings
from hypothesis import strategies as st

import treefactor as tf
from treefactor.codegen import generate
from treefactor.codegen.backends import build
from treefactor.codegen.backends.numpy_ import evaluate
from treefactor.codegen.program import emit_c
from treefactor.codegen.program.expressions import ADD, CONST, INPUT, SUB, operands
from treefactor.codegen.program.limbs import limbs_of, pairs
from treefactor.codegen.program.units import Units

needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
FUNCTIONS = ("crba", "rnea", "forward_dynamics")


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path_factory):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "limbs"))


def walker(rng, limbs, size, mirrored, base="freeflyer"):
    """Return a robot with limbs of random revolute joints, which are equal or mirror images."""
    axis = [0.0, 0.0, 1.0] if base == "revolute" else None
    joints = [tf.Joint("base", base, axis=axis, inertia=inertia_of(rng))]
    parts = [(rng.normal(size=3), rng.normal(size=3), inertia_of(rng)) for _ in range(size)]
    for l in range(limbs):
        mirror = np.diag([1.0, -1.0 if mirrored and l % 2 else 1.0, -1.0 if mirrored and l // 2 % 2 else 1.0])
        for k, (axis, p, body) in enumerate(parts):
            tensor = mirror @ body.tensor @ mirror
            turned = np.linalg.det(mirror) * mirror @ axis
            joints.append(
                tf.Joint(
                    f"{l}.{k}", "revolute", len(joints) - 1 if k else 0,
                    p=mirror @ p + (0 if k else [l, 0, 0]), axis=turned / np.linalg.norm(turned),
                    inertia=tf.Inertia(body.mass, mirror @ body.com, tensor),
                )
            )  # fmt: skip
    return tf.Model(joints, name="walker")


def inertia_of(rng):
    S = rng.normal(size=(3, 3))
    return tf.Inertia(rng.uniform(0.5, 2), 0.1 * rng.normal(size=3), np.trace(S @ S.T) * np.eye(3) - S @ S.T)


def assert_single_form_agrees(model, program, tolerance=1e-12):
    """Compare the form for one configuration with NumPy, statement by statement."""
    given_states, compiled = states(model, 3), build.compiled(program)
    for name, function in program.functions.items():
        expected = evaluate(function, *arguments(function, given_states))
        assert deviation(one(compiled.one(name), function, given_states), expected) <= tolerance, name


def test_limbs_are_subtrees_of_one_shape_and_parent():
    assert limbs_of([-1, 0, 1, 2]) == []
    assert limbs_of([-1, 0, 0, 1, 2]) == [[[1, 3], [2, 4]]]
    assert limbs_of([-1, 0, 0, 0, 1, 2]) == [[[1, 4], [2, 5]]]
    assert limbs_of([-1, -1]) == [[[0], [1]]]
    assert limbs_of([-1, *[0] * 9]) == []  # more than fit into a register


def test_corresponding_freedoms_of_limbs_have_corresponding_subtrees():
    parent = [-1, 0, 0, 1, 1, 3, 2, 2, 7]  # the second limb has its longer branch last
    ((first, second),) = limbs_of(parent)
    place = dict(zip(first, second, strict=True))
    assert all(place[parent[k]] == parent[place[k]] for k in first if parent[k] in place)


@pytest.mark.parametrize("name", ["solo12", "g1_29dof_rev_1_0"])
def test_most_statements_of_a_legged_robot_are_in_packs(name):
    _, program = robot(name)
    function = program.functions["forward_dynamics"]
    (other,) = (other for other in function.alternatives if other.variant == function.variant)
    packs = pairs(other, limbs_of(program.parent.tolist()), program.nq - program.nv)
    paired = [row for pack in packs for row in pack]
    assert len(set(paired)) == len(paired)
    assert sum(other.op[row] > INPUT for row in paired) > 0.8 * (other.rows - other.first)


def test_arms_that_a_file_rounds_differently_become_equal_limbs_by_a_larger_snap():
    model, _ = robot("talos_reduced")
    q, v, tau = (states(model, 20)[name] for name in ("q", "v", "tau"))
    counts, accelerations = [], []
    for snap in (1e-12, 1e-11):
        program = generate(model, "forward_dynamics", variants="meeting", snap=snap)
        assert program.snapped < snap
        function = program.functions["forward_dynamics"]
        groups, shift = limbs_of(program.parent.tolist()), program.nq - program.nv
        counts.append(max(len(pairs(one, groups, shift)) for one in (function, *function.alternatives)))
        accelerations.append(tf.compile(program).forward_dynamics(q, v, tau))
    assert counts[1] > 1.5 * counts[0]
    apart, size = np.abs(np.diff(accelerations, axis=0)[0]).max(1), np.abs(accelerations[0]).max(1)
    assert (apart < 1e-10 * size).all()


def test_packs_are_of_one_kind_and_of_one_level():
    _, program = robot("solo12")
    function = program.functions["rnea"]
    op, a, b = (column.tolist() for column in (function.op, function.a, function.b))
    depth = [0] * len(op)
    for row in range(len(op)):
        depth[row] = max((1 + depth[x] for x in operands(op, a, b, row)), default=0)
    for pack in pairs(function, limbs_of(program.parent.tolist()), 1):
        assert len({ADD if op[row] == SUB else op[row] for row in pack}) == 1
        assert len({depth[row] for row in pack}) == 1
        assert CONST not in {op[row] for row in pack}


def test_units_come_after_what_they_use():
    _, program = robot("solo12")
    function = program.functions["forward_dynamics"]
    plan = Units(function, pairs(function, limbs_of(program.parent.tolist()), 1))
    order = plan.ordered()
    at = {k: place for place, k in enumerate(order)}
    assert len(order) == len(at) == len(plan.units) - len(plan.part_of)
    assert all(at[x] < at[k] for k in order for x in plan.units[k].before)


def test_legs_are_in_registers_of_four():
    _, program = robot("solo12")
    text = emit_c.sources(program, ["forward_dynamics"])["forward_dynamics.c"]
    single = text[text.index("#if LANES == 1 && WIDTH >= 4") : text.index("#else")]
    assert single.count("const four p") > 300
    assert single.count("sincos_eights") == 1


@needs_cc
@pytest.mark.skipif(platform.machine() != "x86_64", reason="registers of x86")
@pytest.mark.parametrize(
    ("isa", "limbs", "mirrored"),
    sweep(
        itertools.product(["-march=x86-64", "-march=haswell", "-march=native"], [4, 6], [True, False]),
        {("-march=x86-64", 4, True), ("-march=native", 6, False)}.__contains__,
    ),
)
def test_any_registers_compute_what_numpy_does(isa, limbs, mirrored, monkeypatch):
    monkeypatch.setattr(build, "NATIVE", isa)
    model = walker(np.random.default_rng(limbs), limbs, 2, mirrored)
    assert_single_form_agrees(model, generate(model, ("forward_dynamics",)))


@needs_cc
@settings(max_examples=examples(6), deadline=None)
@given(
    seed=st.integers(0, 10**6), limbs=st.sampled_from([2, 3, 4]), size=st.integers(1, 3),
    mirrored=st.booleans(), base=st.sampled_from(["freeflyer", "revolute"]),
)  # fmt: skip
def test_limbs_that_are_equal_or_mirrored(seed, limbs, size, mirrored, base):
    model = walker(np.random.default_rng(seed), limbs, size, mirrored, base)
    assert_single_form_agrees(model, generate(model, FUNCTIONS), 1e-11)


@needs_cc
def test_angles_of_any_size():
    model, program = robot("ur5_robot")
    function, given_states = program.functions["rnea"], states(model, 3)
    given_states["q"][0, 2], given_states["q"][1, 5] = 3e5, -1e9
    tau = one(build.compiled(program, ["rnea"]).one("rnea"), function, given_states)
    assert deviation(tau, evaluate(function, *arguments(function, given_states))) < 1e-12


@needs_cc
def test_a_bound_call_writes_what_other_calls_return_and_refuses_numbers_that_are_not_finite():
    model, program = robot("solo12")
    kernels = tf.compile(program, ["forward_dynamics"], backend="cc")
    q, v, _, tau = (x[0] for x in states(model, 1).values())
    out = np.empty(model.nv)
    bound = kernels.bind("forward_dynamics", q, v, tau, out=out)
    np.testing.assert_array_equal(bound(), kernels.forward_dynamics(q, v, tau))
    v[11] = np.inf
    with pytest.raises(ValueError, match="v"):
        bound()


@needs_cc
def test_results_may_replace_arguments():
    model, program = robot("solo12")
    kernels = tf.compile(program, ["forward_dynamics"], backend="cc")
    q, v, _, tau = (x[0] for x in states(model, 1).values())
    expected = kernels.forward_dynamics(q, v, tau)
    assert kernels.forward_dynamics(q, v, tau, out=tau) is tau
    np.testing.assert_array_equal(tau, expected)


@needs_cc
def test_limbs_whose_pivots_are_not_positive():
    model = walker(np.random.default_rng(1), 4, 1, False)
    q, v, _, tau = (x[0] for x in states(model, 1).values())
    kernels = tf.compile(generate(model, ("forward_dynamics",), parameters="base"), backend="cc")
    qdd = kernels.forward_dynamics(q, v, tau, kernels.program.parameters())
    assert deviation(qdd, tf.forward_dynamics(model, q, v, tau)) < 1e-11
    with pytest.raises(tf.exceptions.NotPositiveDefiniteError):
        kernels.forward_dynamics(q, v, tau, kernels.program.parameters(-model.parameters))
