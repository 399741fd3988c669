"""Compare mechanisms in maximal coordinates to joint-space dynamics, Pinocchio and SciPy's sparse solver."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from helpers.body_frames import jacobian
from helpers.dynamics_cases import arguments, error, free
from helpers.loop_cases import closed_velocity
from helpers.model_cases import in_pinocchio, models, random_inertia, random_model
from hypothesis import given
from hypothesis import strategies as st
from oracles import maximal as oracle
from scipy.spatial.transform import Rotation

import treefactor as tf
from treefactor import constraints, mechanisms
from treefactor.constraints import BodyJoint, BodyStates, MaximalCoordinates

DYNAMICS = 1e-9  # relative; condition numbers of random models reach 1e5


def solved(model, q, v, tau, fext=None, **options):
    return MaximalCoordinates.from_model(model, **options).forward_dynamics(q, v, tau, fext)


@given(models(), st.integers(0, 2**32 - 1))
def test_accelerations_of_a_model(model, seed):
    model = free(model)
    given = arguments(model, seed)
    assert error(solved(model, *given).joints, tf.forward_dynamics(model, *given), 1.0) < DYNAMICS


@given(models(depth_first=True), st.integers(0, 2**32 - 1))
def test_joint_forces_are_those_of_pinocchio(model, seed):
    pin = pytest.importorskip("pinocchio")
    model = free(model)
    q, v, tau, fext = arguments(model, seed)
    solution, twin = solved(model, q, v, tau, fext), in_pinocchio(model)
    data = twin.createData()
    pin.rnea(twin, data, q, v, solution.joints, [pin.Force(np.zeros(6)), *map(pin.Force, fext)])
    expected = np.array([f.vector for f in list(data.f)[1:]])
    assert error(solution.forces, expected, 1.0) < DYNAMICS


def random_mechanism(n, seed, loops=0):
    """Return bodies and joints in random order and direction, and states with any velocities."""
    rng = np.random.default_rng(seed)
    motions = constraints.body_joints.MOTIONS
    joints = []
    for k in range(n + loops):
        ends = [int(rng.integers(-1, k)), k] if k < n else rng.choice(n, 2, replace=False).tolist()
        frames = Rotation.random(2, random_state=int(rng.integers(2**32))).as_matrix()
        count = int(rng.integers(1, 6)) if k < n else 5
        joints.append(
            BodyJoint(
                f"j{k}",
                *(ends if rng.random() < 0.5 else ends[::-1]),
                [motions[i] for i in rng.choice(6, count, replace=False)],
                *(frames[0], rng.normal(size=3), frames[1], rng.normal(size=3)),
                armature=rng.uniform(0, 1, count) * (rng.random(count) < 0.3) * (k < n),
            )
        )
    joints = [joints[i] for i in rng.permutation(n)] + joints[n:]
    R = Rotation.random(n, random_state=int(rng.integers(2**32))).as_matrix()
    states = BodyStates(R, rng.normal(size=(n, 3)), rng.normal(size=(n, 6)))
    return [random_inertia(rng) for _ in range(n)], joints, states


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("loops", [0, 2])
@pytest.mark.parametrize("order", ["tree", "bodies first"])
def test_a_mechanism_given_directly_against_a_sparse_solver(seed, loops, order):
    bodies, joints, (R, p, _) = random_mechanism(7, seed, loops)
    rng = np.random.default_rng(seed)
    made = MaximalCoordinates(bodies, joints, [1.0, 2.0, 3.0], order)
    tau, wrench = rng.normal(size=made.freedoms.sum()), rng.normal(size=(7, 6))
    velocity = np.zeros((7, 6))  # the oracle's rates need velocities that the joints permit
    solution = made.accelerations(BodyStates(R, p, velocity), tau, wrench)
    a, forces = oracle.solve(bodies, joints, np.array([1.0, 2.0, 3.0]), R, p, velocity, tau, wrench)
    assert error(solution.bodies, a) < DYNAMICS
    assert error(solution.forces, forces) < DYNAMICS


@given(models(max_joints=6), st.integers(0, 2**32 - 1))
def test_a_moving_model_against_a_sparse_solver(model, seed):
    model = free(model)
    q, v, tau, _ = arguments(model, seed)
    made = MaximalCoordinates.from_model(model)
    solution, states = made.forward_dynamics(q, v, tau), made.states(q, v)
    a, forces = oracle.solve(
        made.bodies, made.joints, model.gravity, *states, tau, np.zeros((model.njoints, 6))
    )
    assert error(solution.bodies, a, 1.0) < DYNAMICS
    assert error(solution.forces, forces, 1.0) < DYNAMICS


def test_joints_in_any_order_make_the_same_motion():
    bodies, joints, states = random_mechanism(9, 3)
    joints = [replace(joint, free=["rz"], armature=0.0) for joint in joints]
    tau, order = np.random.default_rng(0).normal(size=9), np.random.default_rng(1).permutation(9)
    expected = MaximalCoordinates(bodies, joints).accelerations(states, tau)
    solution = MaximalCoordinates(bodies, [joints[k] for k in order]).accelerations(states, tau[order])
    assert error(solution.bodies, expected.bodies) < DYNAMICS
    assert error(solution.forces, expected.forces[order]) < DYNAMICS


@pytest.mark.parametrize("name", mechanisms.MECHANISMS)
def test_loops_close_as_in_joint_space(name):
    mechanism = mechanisms.MECHANISMS[name]()
    model, rng = mechanism.model, np.random.default_rng(0)
    q = mechanism.random(1)
    v, tau = closed_velocity(model, q, rng), rng.normal(size=model.nv)
    a, _ = constraints.forward_dynamics(model, q, v, tau)
    made = MaximalCoordinates.from_model(model)
    assert error(made.forward_dynamics(q, v, tau).joints, a) < DYNAMICS
    assert [made.joints[j].name for j in made.loops] == [loop.name for loop in model.loops]


def revolute(parent):
    """Return a model of hinges without armature."""
    model = free(random_model(parent, ["revolute"] * len(parent), 0))
    return tf.Model([replace(joint, armature=0.0) for joint in model.joints], model.gravity)


def counted(parent, order="tree"):
    return MaximalCoordinates.from_model(revolute(parent), order).nnz


@pytest.mark.parametrize("parents", [lambda n: np.arange(n) - 1, lambda n: (np.arange(n) - 1) // 2])
def test_entries_of_the_tree_order_grow_with_the_bodies(parents):
    sizes = [counted(parents(n)) for n in (20, 40, 60, 80)]
    assert len(set(np.diff(sizes))) == 1
    # per body and hinge: columns of 11, 10 ... 6 entries, then of 11, 10 ... 7
    assert sizes[1] - sizes[0] == 20 * (sum(range(6, 12)) + sum(range(7, 12)))


def test_bodies_first_couples_all_joints_of_one_body():
    star = [-1, *[0] * 40]
    fill = counted(star, "bodies first") / counted(star)
    assert fill > 5
    parent = np.arange(40) - 1
    assert 1.0 < counted(parent, "bodies first") / counted(parent) < 2.0


def test_entries_are_those_of_the_factor():
    made = MaximalCoordinates.from_model(revolute([-1, 0, 0, 2, 1]))
    q, v, tau, _ = arguments(made.model)
    made.forward_dynamics(q, v, tau)
    L, D, _ = made._kkt.kernel.dense()
    assert np.count_nonzero(L) <= made.nnz <= made.touched
    rows = made._kkt.layout.row
    assert (D[rows] < 0).all()
    assert (np.delete(D, rows) > 0).all()


@pytest.mark.parametrize("inertia", [tf.Inertia(), tf.Inertia(1.0, [0.3, 0, 0], np.diag([0.0, 0.1, 0.1]))])
def test_bodies_without_mass_or_moment(inertia):
    model = revolute([-1, 0, 1, 1, 3, -1])
    light = [replace(joint, inertia=inertia) for joint in model.joints[:2]]
    model = tf.Model([*light, *model.joints[2:]], model.gravity)
    given = arguments(model, 1)
    assert error(solved(model, *given).joints, tf.forward_dynamics(model, *given)) < DYNAMICS


def test_a_joint_that_moves_no_mass_is_named():
    model = revolute([-1, 0])
    last = replace(model.joints[1], inertia=tf.Inertia())
    model = tf.Model([model.joints[0], last], model.gravity)
    for seed in range(20):  # the pivot is zero or a rounding error
        with pytest.raises(tf.NotPositiveDefiniteError, match="'j1' moves no mass"):
            solved(model, *arguments(model, seed))


def test_mimic_joints_are_named():
    joints = [tf.Joint(name, "revolute", axis=[0, 0, 1]) for name in ("leader", "other")]
    joints.append(tf.Joint("gear", "revolute", 1, axis=[0, 0, 1], mimic=tf.Mimic(0, 2.0)))
    with pytest.raises(tf.exceptions.InvalidModelError, match="'gear' follows joint 'leader'") as caught:
        MaximalCoordinates.from_model(tf.Model(joints))
    assert caught.value.joint == "gear"


BODY = tf.Inertia(1.0, [0, 0, 0], np.eye(3))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"free": ["rw"]}, "'rw' is not a motion"),
        ({"free": [[1, 0, 0, 0, 0, 0], [2, 0, 0, 0, 0, 0]]}, "independent"),
        ({"free": [[0, 0, 0, 0, 0, 0]]}, "independent"),
        ({"free": ["x"], "turn": [0, 0, 1]}, "one rotation"),
        ({"free": ["rz"], "turn": [0, 0, 2]}, "parallel"),
        ({"free": [[1, 2, 3]]}, "shape"),
        ({"second": -1}, "both ends"),
        ({"second": 0.5}, "number of a body"),
        ({"second": True}, "number of a body, or -1 for the base, got True"),
        ({"free": 3}, "free must be a sequence, got 3"),
        ({"free": None}, "free must be a sequence, got None"),
        ({"free": np.array(3.0)}, "free must be a sequence"),
        ({"free": ["x", 3]}, "free must hold real numbers"),
        ({"R1": np.zeros((3, 3))}, "rotation"),
        ({"free": ["rz"], "armature": -1.0}, "negative"),
        ({"free": ["rz"], "armature": [1.0, 2.0]}, "shape"),
    ],
)
def test_invalid_joints_are_named(arguments, message):
    with pytest.raises(tf.exceptions.InvalidModelError, match=message) as caught:
        BodyJoint(**{"name": "hinge", "first": -1, "second": 0, **arguments})
    assert caught.value.joint == "hinge"


def test_invalid_mechanisms_and_states():
    hinge = BodyJoint("hinge", -1, 1, ["rz"])
    with pytest.raises(tf.exceptions.InvalidModelError, match="'hinge' ends on body 1"):
        MaximalCoordinates([BODY], [hinge])
    with pytest.raises(tf.exceptions.InvalidModelError, match=r"joints\[0\] is not a BodyJoint"):
        MaximalCoordinates([BODY], [tf.Joint("hinge", "spherical")])
    with pytest.raises(tf.exceptions.InvalidModelError, match="body 0 has no joint"):
        MaximalCoordinates([tf.Inertia()], [])
    with pytest.raises(ValueError, match="order"):
        MaximalCoordinates([BODY], [], order="best")
    alone, still = MaximalCoordinates([BODY], []), BodyStates([np.eye(3)], np.zeros((1, 3)), np.zeros((1, 6)))
    with pytest.raises(tf.exceptions.ConfigurationError, match=r"states\.R\[0\] is not a rotation"):
        alone.accelerations(still._replace(R=2 * np.ones((1, 3, 3))))
    with pytest.raises(tf.ShapeError, match=r"states\.p"):
        alone.accelerations(BodyStates([np.eye(3)], [0, 0, 0], np.zeros((1, 6))))
    with pytest.raises(tf.NonFiniteError, match="wrench"):
        alone.accelerations(still, wrench=[[np.nan] * 6])
    with pytest.raises(ValueError, match="from_model"):
        alone.forward_dynamics([], [], [])


HINGED = MaximalCoordinates([BODY], [BodyJoint("hinge", -1, 0, ["rz"])])
STILL = BodyStates([np.eye(3)], np.zeros((1, 3)), np.zeros((1, 6)))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: MaximalCoordinates(None, []), tf.DtypeError, "^bodies must be a sequence, got None"),
        (lambda: MaximalCoordinates(BODY, []), tf.DtypeError, "^bodies must be a sequence, got Inertia"),
        (lambda: MaximalCoordinates([BODY], None), tf.DtypeError, "^joints must be a sequence, got None"),
        (lambda: HINGED.accelerations(None), tf.DtypeError, "^states must be a BodyStates .* got NoneType"),
        (lambda: HINGED.accelerations(STILL[:2]), tf.DtypeError, "^states must be .* got a tuple of 2"),
        (lambda: HINGED.problem(np.eye(3), 1e-3), tf.DtypeError, "^states must be a BodyStates .* ndarray"),
        (lambda: HINGED.problem(STILL, h=-1.0), ValueError, "^h must be positive, got -1.0"),
        (lambda: HINGED.problem(STILL, h=0), ValueError, "^h must be positive, got 0"),
        (
            lambda: HINGED.accelerations(STILL._replace(R=[-np.eye(3)])),
            tf.exceptions.ConfigurationError,
            r"states\.R\[0\] is not a rotation: .* det R = 1",
        ),
    ],
)
def test_arguments_of_a_mechanism_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_nothing_moves_nothing():
    solution = solved(tf.Model([]), [], [], [])
    assert (solution.bodies.shape, solution.joints.shape, solution.forces.shape) == ((0, 6), (0,), (0, 6))


def test_a_free_body_falls():
    solution = MaximalCoordinates([BODY], []).accelerations(
        BodyStates([np.eye(3)], np.zeros((1, 3)), np.zeros((1, 6)))
    )
    np.testing.assert_array_equal(solution.bodies, [[0, 0, -9.81, 0, 0, 0]])


def test_pickled_mechanisms_are_the_same():
    model = revolute([-1, 0, 0])
    q, v, tau, _ = arguments(model)
    made = MaximalCoordinates.from_model(model)
    accelerations = [
        one.forward_dynamics(q, v, tau).bodies for one in (made, pickle.loads(pickle.dumps(made)))
    ]
    np.testing.assert_array_equal(*accelerations)


def test_contacts_of_a_time_step_are_those_of_joint_space():
    model = revolute([-1, 0, 1, 1, 3])
    q, v, tau, _ = arguments(model, 2)
    h, rng = 0.01, np.random.default_rng(0)
    made = MaximalCoordinates.from_model(model)
    states = made.states(q, v)
    D, d = rng.normal(size=(8, 30)), rng.uniform(-2.0, 0.0, 8)
    problem = made.problem(states, h, tau, D=D, d=d)
    solution = tf.mlcp.solve(problem, polish=True)
    assert solution.status is tf.mlcp.Status.SOLVED
    assert solution.active.any()
    S = np.concatenate([jacobian(model, q, i) for i in range(5)])
    assert np.abs(problem.C @ S).max() < 1e-12
    small = tf.mlcp.Problem(tf.crba(model, q), model.tree, S.T @ problem.g, D=D @ S, d=d)
    np.testing.assert_allclose(S.T @ problem.H @ S, tf.crba(model, q), rtol=1e-9, atol=1e-9)
    assert error(solution.v, S @ tf.mlcp.solve(small, polish=True).v) < DYNAMICS
    geared = MaximalCoordinates([BODY], [BodyJoint("geared", -1, 0, ["rz"], armature=1.0)])
    with pytest.raises(ValueError, match="'geared' has armature"):
        geared.problem(BodyStates([np.eye(3)], np.zeros((1, 3)), np.zeros((1, 6))), h)


@pytest.mark.slow
def test_a_hundred_thousand_bodies():
    rng, rod = np.random.default_rng(0), tf.Inertia(1.0, [0.05, 0, 0], np.diag([1e-3, 2e-3, 3e-3]))
    joints = [
        tf.Joint(str(i), "revolute", (i - 1) // 2, p=[0.1, 0, 0], axis=np.eye(3)[i % 3], inertia=rod)
        for i in range(100_000)
    ]
    model = tf.Model(joints)
    q, v, tau = 0.3 * rng.normal(size=(3, model.nv))
    assert error(solved(model, q, v, tau).joints, tf.aba(model, q, v, tau)) < 1e-12
