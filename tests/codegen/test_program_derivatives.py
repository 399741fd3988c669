"""Check derivatives in generated programs against complex steps: every joint kind, variant and backend."""

import shutil
from functools import cache

import numpy as np
import pytest
from helpers.codegen_models import KINDS, model, random_model, states
from oracles import derivatives as oracle

import treefactor as tf
from treefactor.codegen import generate, verify
from treefactor.codegen.backends.numpy_ import evaluate
from treefactor.codegen.program.names import ARGUMENTS, DERIVATIVES

EXACT = 1e-11  # relative to the entries of the same row and column
ROUNDING = 1e-14  # relative to the largest entry
SOLVED = 1e-9  # the same with solutions of H
SECOND = 1e-9  # relative to the largest entry
SIZE = 19
BACKENDS = [
    "interp",
    "llvm",
    pytest.param(
        "cc",
        marks=[pytest.mark.slow, pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")],
    ),
]


@cache
def case(name):
    """Return a model and its program of all derivatives."""
    rng = np.random.default_rng(7)
    made = {
        "every kind": lambda: random_model(rng, [*KINDS, "freeflyer", "revolute"], 0.2),
        "followers": lambda: random_model(
            rng, ["revolute", "spherical", "revolute", "prismatic", "helical", "revolute"], 0.1, {3: 0, 5: 2}
        ),
        "circle": lambda: circle(rng),
        "roots": lambda: tf.Model(
            [
                tf.Joint(
                    joint.name,
                    joint.kind,
                    [-1, 0, -1, 2][k],
                    joint.R,
                    joint.p,
                    joint.axis,
                    0.0,
                    joint.inertia,
                )
                for k, joint in enumerate(
                    random_model(rng, ["planar", "revolute", "freeflyer", "universal"]).joints
                )
            ],
            rng.normal(size=3),
        ),
    }
    robot = made[name]() if name in made else model(name)
    return robot, generate(robot, DERIVATIVES)


def circle(rng):
    """Return a model with followers of a continuous joint, whose q holds a cosine and a sine."""
    chain = random_model(rng, ["continuous", "revolute", "revolute", "spherical"], 0.1)
    mimics = [None, tf.Mimic(0, 2.0, 0.3), tf.Mimic(0, -1.0, 0.0), None]
    joints = [
        tf.Joint(
            joint.name, joint.kind, k - 1, joint.R, joint.p, joint.axis, 0.0, joint.inertia, 0.1, mimic=mimic
        )
        for k, (joint, mimic) in enumerate(zip(chain.joints, mimics, strict=True))
    ]
    return tf.Model(joints, chain.gravity)


MODELS = ("every kind", "followers", "circle", "roots", "ur5", "solo12")


def state(robot):
    """Return one random state, and weights and changes, by name of the argument."""
    rng = np.random.default_rng(3)
    vectors = dict(
        zip(("v", "a", "w", "dq", "dv", "da", "dtau"), rng.normal(size=(7, robot.nv)), strict=True)
    )
    return vectors | {"q": tf.random_configuration(robot, rng), "tau": vectors["a"]}


def taken(name, given):
    """Return the arguments of a function."""
    return [given[argument] for argument in ARGUMENTS[name]]


def assert_close(matrix, expected, tolerance):
    """Assert that the entries of a matrix agree, relative to those of the same row and column."""
    rows, columns = np.abs(expected).max(axis=1), np.abs(expected).max(axis=0)
    bound = tolerance * np.sqrt(np.outer(rows, columns)) + ROUNDING * rows.max()
    assert (np.abs(matrix - expected) <= bound).all()


@pytest.mark.parametrize("name", MODELS)
def test_matrices_are_those_of_complex_steps(name):
    robot, program = case(name)
    kernels, given = tf.compile(program), state(robot)
    q, v, a = (given[x] for x in "qva")
    for own, expected in zip(
        kernels.rnea_derivatives(q, v, a), oracle.rnea_derivatives(robot, q, v, a), strict=True
    ):
        assert_close(own, expected, EXACT)
    for own, expected in zip(
        kernels.forward_dynamics_derivatives(q, v, a),
        oracle.forward_dynamics_derivatives(robot, q, v, a),
        strict=True,
    ):
        assert_close(own, expected, SOLVED)


@pytest.mark.parametrize("name", MODELS)
def test_products_are_those_with_the_matrices(name):
    robot, program = case(name)
    kernels, given = tf.compile(program), state(robot)
    for function, last, tolerance in (("rnea", "da", EXACT), ("forward_dynamics", "dtau", SOLVED)):
        matrices = getattr(kernels, f"{function}_derivatives")(*taken(f"{function}_derivatives", given))
        products = [A @ given[x] for A, x in zip(matrices, ("dq", "dv", last), strict=True)]
        own = getattr(kernels, f"{function}_jvp")(*taken(f"{function}_jvp", given))
        np.testing.assert_allclose(own, sum(products), rtol=0, atol=tolerance * np.abs(products).max())
        slopes = getattr(kernels, f"{function}_vjp")(*taken(f"{function}_vjp", given))
        for A, slope in zip(matrices, slopes, strict=True):
            np.testing.assert_allclose(slope, given["w"] @ A, rtol=0, atol=tolerance * np.abs(A).max() * 10)
        change = [given[x] for x in ("dq", "dv", last)]
        assert given["w"] @ own == pytest.approx(np.vdot(slopes, change), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("name", MODELS)
def test_the_hessian_is_that_of_differences_with_50_digits(name):
    robot, program = case(name)
    kernels, given = tf.compile(program), state(robot)
    x = np.array([given[z] for z in ("dq", "dv", "da")])
    y = np.random.default_rng(5).normal(size=(3, *x.shape))
    curvature = np.tensordot(y, kernels.rnea_hvp(*taken("rnea_hvp", given)), 2)
    expected = oracle.hessian_differences(robot, *taken("rnea_vjp", given), x, y)
    np.testing.assert_allclose(curvature, expected, rtol=0, atol=SECOND * np.abs(expected).max())


@pytest.mark.parametrize("name", ["every kind", "followers", "ur5"])
def test_the_hessian_is_symmetric(name):
    robot, program = case(name)
    given = state(robot)
    units = np.zeros((3 * robot.nv, 3, robot.nv))
    units.reshape(-1, 3 * robot.nv)[...] = np.eye(3 * robot.nv)
    columns = tf.compile(program).rnea_hvp(*taken("rnea_vjp", given), *np.moveaxis(units, 1, 0))
    H = np.concatenate(columns, axis=-1)
    np.testing.assert_allclose(H, H.T, rtol=0, atol=1e-13 * np.abs(H).max())
    assert not H[-robot.nv :, robot.nv :].any()  # linear in a, and by v and a nothing


@pytest.mark.parametrize("name", ["followers"])
def test_every_variant_and_method_is_verified(name):
    robot, _ = case(name)
    for verdict in verify(robot, DERIVATIVES, samples=1):
        assert verdict.first is None, verdict


@pytest.mark.slow
@pytest.mark.parametrize("name", ["every kind", "circle", "roots", "solo12", "ur5", "panda9"])
def test_every_variant_and_method_of_more_models_is_verified(name):
    robot = model(name) if name == "panda9" else case(name)[0]
    for verdict in verify(robot, DERIVATIVES, samples=2):
        assert verdict.first is None, verdict


@pytest.mark.parametrize("backend", BACKENDS)
def test_backends_agree_and_nan_stays_in_its_configuration(backend, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if backend == "llvm":
        pytest.importorskip("llvmlite")
    robot, _ = case("followers")
    program = generate(robot, DERIVATIVES, variants="both")
    kernels = tf.compile(program, backend=backend)
    assert kernels.backend == backend
    rng = np.random.default_rng(0)
    given = {
        name: rng.normal(size=(SIZE, robot.nv)) for name in ("v", "a", "tau", "w", "dq", "dv", "da", "dtau")
    }
    given["q"] = tf.random_configuration(robot, rng, size=SIZE)
    given["v"][4, 1] = np.nan
    for name in DERIVATIVES:
        arguments = taken(name, given)
        expected = evaluate(program.functions[name], *arguments).reshape(SIZE, -1)
        layout = {"layout": "packed"} if name == "rnea_derivatives" else {}
        results = getattr(kernels, name)(*arguments, **layout)
        results = results if isinstance(results, tuple) else (results,)
        flat = np.concatenate([x.reshape(SIZE, -1) for x in results], axis=1)
        assert np.isnan(flat[4]).all()
        good = np.arange(SIZE) != 4
        scale = np.abs(expected[good]).max()
        np.testing.assert_allclose(flat[good], expected[good], rtol=0, atol=1e-10 * scale)
        one = getattr(kernels, name)(*(x[9] for x in arguments), **layout)
        for single, many in zip(one if isinstance(one, tuple) else (one,), results, strict=True):
            np.testing.assert_allclose(single, many[9], rtol=0, atol=1e-10 * scale)


@pytest.mark.parametrize("name", DERIVATIVES)
def test_outputs_are_filled_and_bound(name):
    robot, program = case("followers")
    kernels = tf.compile(program)
    arguments = taken(name, state(robot))
    expected = getattr(kernels, name)(*arguments)
    several = isinstance(expected, tuple)
    parts = expected if several else (expected,)
    for call in (getattr(kernels, name), lambda *x, out: kernels.bind(name, *x, out=out)()):
        out = tuple(np.full(x.shape, np.nan) for x in parts)
        given = out if several else out[0]
        assert call(*arguments, out=given) is given
        for own, wanted in zip(out, parts, strict=True):
            np.testing.assert_array_equal(own, wanted)
    batch = [np.tile(x, (70, 1)) for x in arguments]
    strided = tuple(np.empty((70, *x.shape, 2))[..., 0] for x in parts)
    for threads in (1, 2):
        getattr(kernels, name)(*batch, out=strided if several else strided[0], num_threads=threads)
        for own, wanted in zip(strided, parts, strict=True):
            np.testing.assert_allclose(own, np.broadcast_to(wanted, own.shape), rtol=1e-11, atol=1e-11)
    if several:
        with pytest.raises(tf.ShapeError, match="out must be a tuple of 3 arrays"):
            kernels.bind(name, *arguments, out=out[:2])
        with pytest.raises(tf.ShapeError, match="out must be a tuple of 3 arrays"):
            getattr(kernels, name)(*arguments, out=out[:2])


def test_packed_matrices_have_the_pattern_of_the_inertia_matrix():
    robot, program = case("solo12")
    kernels, given = tf.compile(program), state(robot)
    arguments, tree = taken("rnea_derivatives", given), robot.tree
    dense = kernels.rnea_derivatives(*arguments)
    packed = kernels.rnea_derivatives(*arguments, layout="packed")
    at, strict = (tree.rows, tree.columns), tree.rows != tree.columns
    for A, x in zip(dense[:2], packed[:2], strict=True):
        np.testing.assert_array_equal(x, np.append(A[at], A.T[at][strict]))
        assert not A[~tree.mask()].any()
    np.testing.assert_array_equal(packed[2], tree.pack(dense[2]))
    assert not dense[0][:, :3].any()  # translations of the root change nothing


@pytest.mark.parametrize("name", DERIVATIVES)
def test_kernels_return_what_the_functions_of_their_names_do(name):
    robot, program = case("followers")
    kernels, rng = tf.compile(program), np.random.default_rng(1)
    given = {x: rng.normal(size=(SIZE, robot.nv)) for x in ("v", "a", "tau", "w", "dq", "dv", "da", "dtau")}
    given["q"] = tf.random_configuration(robot, rng, size=SIZE)
    arguments = taken(name, given)
    own, theirs = getattr(kernels, name)(*arguments), getattr(tf, name)(robot, *arguments)
    if isinstance(theirs, tuple):
        assert own._fields == theirs._fields
        assert getattr(kernels, name)(*(x[0] for x in arguments))._fields == own._fields
    else:
        own, theirs = (own,), (theirs,)
    for result, expected in zip(own, theirs, strict=True):
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    if name == "rnea_derivatives":
        packed = kernels.rnea_derivatives(*arguments, layout="packed")
        others = tf.rnea_derivatives(robot, *arguments, layout="packed")
        for result, expected in zip(packed, others, strict=True):
            np.testing.assert_allclose(result, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


def test_the_part_of_velocities_is_homogeneous():
    """Euler: dtau/dv times v is twice what velocities add to the bias."""
    robot, program = case("every kind")
    kernels = tf.compile(program)
    q, v, _ = (x[0] for x in states(robot, 1))
    still = np.zeros(robot.nv)
    expected = 2.0 * (tf.bias(robot, q, v) - tf.bias(robot, q, still))
    forces = kernels.rnea_derivatives(q, v, still)[1] @ v
    np.testing.assert_allclose(forces, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_groups_share_what_values_and_derivatives_have_in_common():
    robot = model("panda9")
    group = ("forward_dynamics", "forward_dynamics_derivatives")
    program = generate(robot, [*group, group])
    counts = program.operations
    together = counts[" + ".join(group)].total
    assert together < counts[group[1]].total + 0.2 * counts[group[0]].total
    kernels = tf.compile(program)
    q, v, tau = (x[0] for x in states(robot, 1))
    a, *matrices = kernels.call(group, q, v, tau)
    np.testing.assert_allclose(a, kernels.forward_dynamics(q, v, tau), rtol=0, atol=1e-9 * np.abs(a).max())
    for own, wanted in zip(matrices, kernels.forward_dynamics_derivatives(q, v, tau), strict=True):
        np.testing.assert_allclose(own, wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())


def test_a_freedom_that_moves_no_mass_is_named():
    joints = [tf.Joint("slide", "prismatic", axis=[0, 0, 1.0], inertia=tf.Inertia(1.0))]
    joints.append(tf.Joint("empty", "revolute", 0, p=[1.0, 0, 0], axis=[0, 0, 1.0]))
    with pytest.raises(tf.CodegenError, match=r"freedom 1 \(empty\) moves no mass"):
        generate(tf.Model(joints), ["forward_dynamics_derivatives"])


def test_the_written_folder_checks_functions_of_many_arguments(tmp_path):
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    import subprocess

    from treefactor.codegen.folder import write

    robot, _ = case("circle")
    write(robot, generate(robot, ["rnea_hvp", "rnea_vjp", "bias"], variants="plain"), tmp_path / "folder")
    done = subprocess.run(["make", "check"], cwd=tmp_path / "folder", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("rnea_hvp") >= 2
