"""Errors for invalid arguments of constraints, mlcp, fclib and mechanisms name the argument."""

import io
from concurrent.futures import Future

import numpy as np
import pytest
from helpers.dynamics_cases import MODELS
from helpers.mlcp_small import small
from scipy.sparse import csc_matrix, csr_array

import treefactor as tf
from treefactor import constraints, fclib, mechanisms, mlcp
from treefactor.codegen import verify
from treefactor.constraints import Contact, Plane, Sphere, Stepper, box, contacts_between
from treefactor.constraints.contacts import Contacts
from treefactor.exceptions import DtypeError, InvalidModelError, ShapeError, StepError
from treefactor.mlcp import families as mlcp_families
from treefactor.papers import kkt

FOUR_BAR = mechanisms.four_bar()
MODEL, Q = FOUR_BAR.model, FOUR_BAR.closed
V = np.zeros(3)
TREE = tf.Tree([-1, 0])
PROBLEM = mlcp.Problem(np.eye(2), TREE, [0.0, -1.0], D=[[0.0, 1.0]], d=[0.0])
K = {"tree": TREE, "H": np.array([2.0, 0.5, 2.0]), "J": csr_array([[1.0, 0.0], [0.0, 1.0]])}
STEP = {
    "M": csc_matrix(np.eye(3)),
    "H": csc_matrix(np.ones((3, 3))),
    "f": np.ones(3),
    "w": np.zeros(3),
    "mu": np.ones(1),
}

NUMBERS = [  # invalid values for an argument that must be one finite number
    ("a", DtypeError, "must hold real numbers"),
    (None, DtypeError, "must hold real numbers"),
    (1j, DtypeError, "must hold real numbers"),
    ([1.0, 2.0], ShapeError, "must be one number"),
    (np.nan, ValueError, "finite|negative"),
    (-1.0, ValueError, "negative|positive|from 0 to 1"),
]
SETTINGS = {  # functions of one number, by the name that errors give it
    "h": lambda x: Stepper(MODEL, h=x),
    "stabilization": lambda x: Stepper(MODEL, stabilization=x),
    "margin": lambda x: Stepper(MODEL, margin=x),
    "stabilization ": lambda x: constraints.forward_dynamics(MODEL, Q, V, V, stabilization=x),
    "tolerance": lambda x: constraints.close(MODEL, Q, tolerance=x),
    "tolerance ": lambda x: verify(MODEL, "rnea", variants="plain", tolerance=x),
    "snap": lambda x: verify(MODEL, "rnea", variants="plain", snap=x),
    "snap ": lambda x: tf.generate(MODEL, "rnea", variants="plain", snap=x),
    "mu": lambda x: Contact(Sphere(0), mu=x),
    "radius": lambda x: Sphere(0, radius=x),
    "delta": lambda x: kkt.KKT(**K, delta=x),
    "delta ": lambda x: kkt.Corner(**K, delta=x),
}


@pytest.mark.parametrize(("value", "error", "why"), NUMBERS, ids=lambda x: str(x)[:12])
@pytest.mark.parametrize("name", SETTINGS)
def test_settings_are_numbers(name, value, error, why):
    with pytest.raises(error, match=f"^{name.strip()} .*({why})"):
        SETTINGS[name](value)


COUNTS = {
    "max_iter": lambda x: mlcp.solve(PROBLEM, max_iter=x),
    "steps": lambda x: Stepper(MODEL).run(Q, V, x),
    "facets": lambda x: Stepper(MODEL, facets=x),
    "facets ": lambda x: fclib.Contacts(**STEP).problem(x),
    "samples": lambda x: verify(MODEL, "rnea", variants="plain", samples=x),
    "rows": lambda x: tf.stream("x.npy", np.negative, V, rows=x),
    "row": lambda x: kkt.Corner(**K).switch(x),
    "row ": lambda x: kkt.KKT(**K).switch(x),
    "joint": lambda x: tf.joint_jacobian(MODEL, Q, x),
    "m": lambda x: mlcp_families.spheres(x, 0),
    "m ": lambda x: mlcp_families.infeasR(x, 0),
    "m  ": mlcp_families.fathi,
}


@pytest.mark.parametrize("value", ["a", None, 1.5, np.nan, 1j])
@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_whole_numbers(name, value):
    if value == "a" and name == "joint":
        with pytest.raises(InvalidModelError, match=r"^joint 'a' is not a frame, joint or body of four-bar"):
            COUNTS[name](value)
        return
    wanted = "a name, a Frame or the number of a joint" if name == "joint" else "a whole number"
    with pytest.raises(DtypeError, match=f"^{name.strip()} must be {wanted}"):
        COUNTS[name](value)


@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_not_negative(name):
    with pytest.raises(ValueError, match=f"^{name.strip()} must "):
        COUNTS[name](-2)


@pytest.mark.parametrize(
    "function",
    [
        lambda model: Stepper(model),
        lambda model: Contacts(model, ()),
        lambda model: constraints.close(model, Q),
        lambda model: constraints.loop_rows(model, Q),
        lambda model: constraints.forward_dynamics(model, Q, V, V),
        lambda model: verify(model),
    ],
)
@pytest.mark.parametrize("model", [None, [], "arm", FOUR_BAR])
def test_models_are_models(function, model):
    with pytest.raises(TypeError, match=r"^model must be a treefactor\.Model, got"):
        function(model)


VECTORS = {  # functions of three numbers, by the name that errors give them
    "q": lambda x: constraints.close(MODEL, x),
    "q ": lambda x: Stepper(MODEL).step(x, V),
    "q  ": lambda x: constraints.loop_rows(MODEL, x),
    "v": lambda x: Stepper(MODEL).step(Q, x),
    "v ": lambda x: constraints.loop_rows(MODEL, Q, x),
    "tau": lambda x: Stepper(MODEL).step(Q, V, x),
    "tau ": lambda x: Stepper(MODEL).run(Q, V, 1, lambda *state: x),
    "tau  ": lambda x: constraints.forward_dynamics(MODEL, Q, V, x),
    "center": lambda x: Sphere(0, x),
    "normal": lambda x: Plane(0, x),
    "point": lambda x: Plane(0, point=x),
    "size": lambda x: box(0, x),
    "H": lambda x: kkt.KKT(TREE, x, K["J"]),
    "H ": lambda x: kkt.Corner(TREE, x, K["J"]),
    "f": lambda x: fclib.Contacts(**{**STEP, "f": x}).problem(),
    "w": lambda x: fclib.Contacts(**{**STEP, "w": x}).problem(),
}


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (["a", "b", "c"], DtypeError),
        (np.array([1, 2, object()]), DtypeError),
        (np.array([1j, 0, 0]), DtypeError),
        ([[1.0], [2.0, 3.0]], ShapeError),
        ([np.nan, 0, 0], tf.NonFiniteError),
        ([0, np.inf, 0], tf.NonFiniteError),
    ],
    ids=["text", "object", "complex", "ragged", "nan", "inf"],
)
@pytest.mark.parametrize("name", VECTORS)
def test_vectors_are_of_finite_numbers(name, value, error):
    with pytest.raises(error, match=rf"^{name.strip()}\b"):
        VECTORS[name](value)


@pytest.mark.parametrize("name", [name for name in VECTORS if name != "f"])
@pytest.mark.parametrize("shape", [(4,), (3, 2, 1), ()])
def test_vectors_have_their_shape(name, shape):
    with pytest.raises(ShapeError, match=rf"^{name.strip()}\b"):
        VECTORS[name](np.zeros(shape))


@pytest.mark.parametrize("dtype", [np.float32, np.int8, bool])
def test_any_real_numbers_will_do(dtype):
    strided = np.zeros(6, dtype)[::2]
    strided.flags.writeable = False
    one, other = (Stepper(MODEL, h=np.float32(0.5), stabilization=0) for _ in range(2))
    assert np.array_equal(one.step(Q, strided, strided).v, other.step(Q, V, V).v)
    a, _ = constraints.forward_dynamics(MODEL, Q, strided, strided)
    assert np.array_equal(a, constraints.forward_dynamics(MODEL, Q, V, V)[0])


def test_contacts_are_contacts():
    with pytest.raises(InvalidModelError, match="contact 1 is not a Contact, but 'ground'"):
        Stepper(MODEL, [Contact(Sphere(0)), "ground"])
    with pytest.raises(InvalidModelError, match=r"but Sphere.*; Contact\(shape\) is that of"):
        Stepper(MODEL, [Sphere(0)])
    with pytest.raises(DtypeError, match="contacts must be a sequence, got 3"):
        Stepper(MODEL, 3)
    with pytest.raises(InvalidModelError, match=r"spheres\[0\] is not a Sphere"):
        contacts_between([Plane()])
    with pytest.raises(InvalidModelError, match=r"others\[1\] is not a"):
        contacts_between([Sphere(0)], [Plane(), None])
    with pytest.raises(DtypeError, match="others must be a sequence"):
        contacts_between([], 1)


def test_choices_are_words():
    with pytest.raises(ValueError, match="friction must be one of"):
        Stepper(MODEL, friction=np.array(["box", "pyramid"]))
    with pytest.raises(ValueError, match="method must be one of"):
        mlcp.solve(PROBLEM, method=["auto"])
    with pytest.raises(tf.CodegenError, match="3 is not a function"):
        verify(MODEL, [3])
    with pytest.raises(DtypeError, match="variants must be a sequence"):
        verify(MODEL, variants=None)


BALL = tf.Model([tf.Joint("ball", "freeflyer", inertia=tf.Inertia(1.0, tensor=np.eye(3)))])


@pytest.mark.parametrize(
    ("model", "q"), [(MODEL, Q), (BALL, tf.neutral(BALL))], ids=["loops", "turning axes"]
)
def test_a_step_that_overflows_before_it_is_solved(model, q):
    with pytest.raises(StepError, match="numbers overflow") as caught, np.errstate(all="ignore"):
        Stepper(model, gyroscopic="explicit").step(q, np.full(model.nv, 1e200))
    assert caught.value.solution is None


def test_models_without_joints_have_nothing_to_close():
    empty = tf.Model([])
    assert constraints.close(empty, []).shape == (0,)
    assert constraints.loop_rows(empty, []).residual.shape == (0,)
    assert constraints.forward_dynamics(empty, [], [], [])[0].shape == (0,)
    assert Stepper(empty).step([], []).q.shape == (0,)


def test_ratios_of_followers_may_have_any_size():
    joints = [tf.Joint(name, "revolute", axis=[0, 0, 1.0], inertia=tf.Inertia(1.0)) for name in "ab"]
    follower = tf.Joint("c", "revolute", 0, axis=[0, 0, 1.0], mimic=tf.Mimic(0, 1e150))
    assert tf.Model([*joints, follower]).nv == tf.Model([*joints, follower]).coupling.G.shape[1] == 2
    with pytest.raises(InvalidModelError, match=r"ratio 1e[+]160 is too large"):
        tf.Joint("c", "revolute", 0, axis=[0, 0, 1.0], mimic=tf.Mimic(0, 1e160))


@pytest.mark.parametrize(
    ("J", "error"),
    [
        ("J", DtypeError),
        ([1.0, 2.0], ShapeError),
        (np.ones((2, 3)), ShapeError),
        (csr_array(([1.0], [1], [0, 1]), shape=(1, 3)), ShapeError),
        ([[np.nan, 0.0]], tf.NonFiniteError),
        (csr_array([[1j, 0.0]]), DtypeError),
    ],
)
@pytest.mark.parametrize("kind", [kkt.KKT, kkt.Corner])
def test_rows_of_a_kkt_matrix(kind, J, error):
    with pytest.raises(error, match=r"^J "):
        kind(TREE, K["H"], J)


@pytest.mark.parametrize("kind", [kkt.KKT, kkt.Corner])
def test_rows_that_are_not_there_are_not_switched(kind):
    with pytest.raises(IndexError, match="there are 2 rows, got 2"):
        kind(**K).switch(2)
    with pytest.raises(TypeError, match="tree must be"):
        kind(None, K["H"], K["J"])


def test_right_sides_of_a_kkt_matrix():
    factor = kkt.KKT(**K).switch([0])
    for f, b, name in ((np.ones(3), np.ones(2), "f"), (np.ones(2), np.ones(1), "b"), ("a", [1, 2], "f")):
        with pytest.raises((ShapeError, DtypeError), match=f"^{name} must"):
            factor.solve(f, b)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"M": np.eye(2)}, "M must have shape"),
        ({"H": np.ones((3, 4))}, "H must have shape"),
        ({"mu": []}, "w must have 2 or 3 entries"),
        ({"mu": [-1.0]}, "mu must not be negative"),
        ({"G": np.eye(3)}, "G and b come together"),
        ({"G": np.eye(3), "b": [1.0]}, "G must have shape"),
        ({"M": csc_matrix(([1.0, np.nan], [0, 1], [0, 1, 2, 2]))}, "M"),
    ],
)
def test_contacts_of_a_file_fit_each_other(changed, why):
    with pytest.raises(ValueError, match=why):
        fclib.Contacts(**(STEP | changed))


def test_indices_that_point_nowhere():
    broken = csc_matrix(np.eye(3))
    broken.indices[1] = 7
    with pytest.raises(ShapeError, match="M is not a sparse matrix"):
        fclib.Contacts(**(STEP | {"M": broken}))


def test_a_warm_start_of_impulses_too_large_to_compute_with():
    """Two equal rows share an impulse; the difference of a guess would otherwise stay in the result."""
    from dataclasses import replace

    problem = mlcp.Problem(np.eye(2), TREE, [1.0, 0.0], C=[[1.0, 0.0], [1.0, 0.0]], c=[3.0, 3.0])
    cold = mlcp.solve(problem)
    for much in (1e9, 1e300, np.inf):
        guess = replace(cold, gamma_c=np.array([much, -much]))
        solution = mlcp.solve(problem, warm_start=guess)
        np.testing.assert_allclose(solution.gamma_c, [1.0, 1.0], atol=1e-9)
        assert solution.residual() < 1e-10


@pytest.mark.parametrize("name", ["gamma", "gamma_c", "active"])
def test_warm_starts_hold_numbers(name):
    from dataclasses import replace

    problem = small(3)
    guess = replace(mlcp.solve(problem), **{name: np.full(4, "a")})
    with pytest.raises(DtypeError, match=rf"warm_start\.{name} must hold real numbers"):
        mlcp.solve(problem, guess)


def test_mechanisms_close_where_they_can():
    with pytest.raises(tf.ConfigurationError, match="no configuration closes the loops"):
        mechanisms.five_bar().close([np.pi, 0.0])
    with pytest.raises(ShapeError, match="x must have shape"):
        FOUR_BAR.close([0.0, 1.0])
    with pytest.raises(tf.NonFiniteError, match="x is not finite"):
        FOUR_BAR.close([np.nan])
    np.testing.assert_array_equal(FOUR_BAR.random(3), FOUR_BAR.random(np.random.default_rng(3)))


@pytest.mark.parametrize(
    ("given", "error", "why"),
    [
        ({"function": "rnea"}, TypeError, "function must be callable"),
        ({"arguments": [1.0]}, ShapeError, "argument 0 has no leading axis"),
        ({"arguments": [V, V[:2]]}, ShapeError, "differ in length"),
        ({"executor": Future()}, TypeError, "executor must be"),
        ({"function": lambda x: x.astype(object)}, DtypeError, "which no file holds"),
    ],
)
def test_streams(given, error, why, tmp_path):
    arguments = given.pop("arguments", [V])
    given = {"function": np.negative, **given}
    with pytest.raises(error, match=why):
        tf.stream(tmp_path / "x.npy", given.pop("function"), *arguments, **given)
    assert not list(tmp_path.iterdir())


def test_arrays_spread_by_dask_hold_numbers():
    pytest.importorskip("dask.array", reason="dask is not installed")
    from treefactor.adapters.dask_ import map_dynamics

    model = MODELS["freeflyer"]
    q, v = np.tile(tf.neutral(model), (4, 1)), np.zeros((4, model.nv))
    for wrong in (1j * v, v.astype(object), v.astype(str)):
        with pytest.raises(DtypeError, match=r"^tau must hold real numbers"):
            map_dynamics(model, q, v, wrong)
    with pytest.raises(ShapeError, match=r"^v must have shape"):
        map_dynamics(model, q, v[:, 1:], v)
    single = map_dynamics(model, q.astype(np.float32), v.astype(int), v).compute()
    np.testing.assert_array_equal(single, map_dynamics(model, q, v, v).compute())


def test_other_files_are_refused():
    pytest.importorskip("h5py", reason="FCLIB's files are HDF5")
    for file in ("there is none.hdf5", io.BytesIO(b"no HDF5 at all"), 3, None):
        with pytest.raises(tf.TreefactorError, match=r"^cannot read "):
            fclib.read(file)
