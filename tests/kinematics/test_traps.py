"""Test that no trap of Pinocchio's interface exists here; numbered as in the list of known traps."""

import numpy as np
import pytest
from helpers.dynamics_cases import MODELS, arguments
from helpers.frame_cases import loaded

import treefactor as tf

MODEL = MODELS["freeflyer"]
ONE = MODELS["one"]
HINGE = ONE.joints[0].name
Q, V, A, F = arguments(MODEL, 1)
OF_FRAMES = {  # functions of a frame, without it
    "frame_placement": lambda frame: tf.frame_placement(MODEL, Q, frame),
    "frame_velocity": lambda frame: tf.frame_velocity(MODEL, Q, V, frame),
    "frame_acceleration": lambda frame: tf.frame_acceleration(MODEL, Q, V, A, frame),
    "frame_jacobian": lambda frame: tf.frame_jacobian(MODEL, Q, frame),
    "frame_jacobian_dot": lambda frame: tf.frame_jacobian_dot(MODEL, Q, V, frame),
    "joint_jacobian": lambda frame: tf.joint_jacobian(MODEL, Q, frame),
    "center_of_mass": lambda frame: tf.center_of_mass(MODEL, Q, root=frame),
    "center_of_mass_jacobian": lambda frame: tf.center_of_mass_jacobian(MODEL, Q, frame),
    "operational_space": lambda frame: tf.operational_space(MODEL, Q, frame, damping=1.0),
    "Kinematics": lambda frame: tf.Kinematics(MODEL, placements=[frame]),
    "bind": lambda frame: tf.bind(tf.frame_placement, MODEL, Q, frame, out=np.empty((3, 4))),
    "support": lambda frame: MODEL.support(frame),
    "frame": lambda frame: MODEL.frame(frame),
}
BY_NUMBER = [name for name in OF_FRAMES if name != "frame"]


@pytest.mark.parametrize("name", OF_FRAMES)
def test_t1_unknown_names_raise_with_similar_ones(name):
    with pytest.raises(tf.InvalidModelError, match=r"'j00' is not .*'j0'"):
        OF_FRAMES[name]("j00")


@pytest.mark.parametrize("number", [7, 99, 2**40, 2**70, -9, -(2**70)])
@pytest.mark.parametrize("name", BY_NUMBER)
def test_t1_numbers_of_no_joint_raise(name, number):
    with pytest.raises((IndexError, ValueError, tf.DtypeError), match=f"(frame|joint|root).* {number}"):
        OF_FRAMES[name](number)


OF_JOINTS = ("joint_jacobian", "center_of_mass", "center_of_mass_jacobian")  # arguments that take a number
OF_LISTS = {
    "frame_derivatives": lambda frame: tf.frame_derivatives(MODEL, Q, V, A, frame),
    "frame_velocity of many": lambda frame: tf.frame_velocity(MODEL, Q[None], V[None], ["j0", frame]),
    "delassus": lambda frame: tf.delassus(MODEL, Q, ["j6", frame]),
    "operational_inertia": lambda frame: tf.operational_inertia(MODEL, Q, (frame, "j6"), damping=1.0),
    "task_bias": lambda frame: tf.task_bias(MODEL, Q, V, frame),
    "Kinematics": lambda frame: tf.Kinematics(MODEL, jacobians=["j1", (frame, "WORLD")]),
    "RigidContact": lambda frame: tf.constraints.forward_dynamics(
        MODEL, Q, V, A, contacts=[tf.constraints.RigidContact("j6", against=frame)]
    ),
    "add_frame": lambda frame: MODEL.add_frame("tool", frame),
}
FRAMED = {name: call for name, call in {**OF_FRAMES, **OF_LISTS}.items() if name not in OF_JOINTS}


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8])
@pytest.mark.parametrize("name", FRAMED)
def test_t1_a_number_is_never_a_frame(name, kind):
    """It could be a joint's or what ``getFrameId`` returns; earlier calls with its joint change nothing."""
    for number, joint in enumerate(MODEL.joints):
        for used in (joint.name, tf.Frame("at", number, p=[0.1, 0.0, 0.0])):
            OF_FRAMES["frame_jacobian"](used)
            if (name, number) != ("RigidContact", 6):  # which is held to joint 6
                FRAMED[name](used)
        with pytest.raises(tf.DtypeError, match=f"must be a name or a Frame, got {number}: ") as caught:
            FRAMED[name](kind(number))
        assert f"joint {number} is {joint.name!r}; frame {number}, as Pinocchio" in str(caught.value)
        assert f"model.frames[{number}], {MODEL.frames[number].name!r}" in str(caught.value)
    FRAMED[name](-1)  # the base


def test_t1_numbers_of_pinocchios_frames_are_refused():
    theirs, model = loaded("panda")
    q = tf.neutral(model)
    for name in ("panda_hand", "panda_link3", "panda_joint5"):
        number = theirs.getFrameId(name)
        with pytest.raises(tf.DtypeError, match=rf"model\.frames\[{number}\], '{name}'"):
            tf.frame_placement(model, q, number)
        np.testing.assert_array_equal(
            tf.frame_placement(model, q, model.frames[number]), tf.frame_placement(model, q, name)
        )


@pytest.mark.parametrize("wrong", [None, 0.0, b"j0", np.zeros(2), {}], ids=repr)
@pytest.mark.parametrize("name", BY_NUMBER)
def test_t1_what_is_not_a_frame_raises(name, wrong):
    if wrong is None and name.startswith("center"):
        return  # the whole model
    with pytest.raises((tf.DtypeError, TypeError, tf.InvalidModelError, ValueError)):
        OF_FRAMES[name](wrong)


def test_t2_pose_and_jacobian_are_of_one_configuration():
    other = arguments(MODEL, 2)[0]
    for q in (Q, other, Q):
        J, T = tf.frame_jacobian(MODEL, q, "j6", "WORLD", placement=True)
        assert (T == tf.frame_placement(MODEL, q, "j6")).all()
        assert (J == tf.frame_jacobian(MODEL, q, "j6", "WORLD")).all()


def test_t3_and_t4_the_order_of_calls_changes_nothing():
    """Call all functions in every state in turns, forwards and backwards."""
    states = [arguments(MODEL, seed)[:3] for seed in (1, 2, 3)]

    def everything(q, v, a):
        return [
            tf.frame_velocity(MODEL, q, v, "j6"),
            tf.frame_placement(MODEL, q, "j6"),
            tf.frame_acceleration(MODEL, q, v, a, "j6"),
            tf.frame_acceleration(MODEL, q, v, None, "j6"),
            tf.frame_jacobian(MODEL, q, "j6"),
            tf.center_of_mass(MODEL, q),
            *tf.center_of_mass(MODEL, q, v, a),
            tf.centroidal_map(MODEL, q),
            tf.rnea(MODEL, q, v, a),
        ]

    first = [everything(*state) for state in states]
    for state, expected in reversed(list(zip(states, first, strict=True))):
        assert all((x == y).all() for x, y in zip(everything(*state), expected, strict=True))


def test_t5_results_are_the_callers():
    """No later call changes a result, and no change of a result changes a later one."""
    for function in [
        lambda q: tf.frame_placement(MODEL, q, "j6"),
        lambda q: tf.joint_placements(MODEL, q),
        lambda q: tf.centroidal_map(MODEL, q),
        lambda q: tf.center_of_mass(MODEL, q),
        lambda q: tf.neutral(MODEL),
    ]:
        result = function(Q)
        kept = result.copy()
        function(arguments(MODEL, 2)[0])
        assert (result == kept).all()
        result[...] = 7.0
        assert (function(Q) == kept).all()


def test_t6_one_freedom_keeps_its_axes():
    """Generic tests check the shapes of all other results of this model."""
    q = arguments(ONE, 1)[0]
    for x, size in [
        (tf.frame_jacobian(ONE, q, HINGE, layout="packed"), (6, 1)),
        (tf.frame_jacobian(ONE, q, -1, layout="packed"), (6, 0)),
        (tf.frame_jacobian(ONE, q, [HINGE]), (1, 6, 1)),
        (tf.operational_inertia(ONE, q, HINGE, damping=1.0), (6, 6)),
    ]:
        assert x.shape == size


def test_t7_random_configurations_are_finite_whatever_the_limits():
    for limit in (np.inf, 1.0):
        q = tf.random_configuration(MODEL, 0, np.full(MODEL.nq, -limit), np.full(MODEL.nq, limit), 50)
        assert np.isfinite(q).all()
        np.testing.assert_allclose((q[:, 3:7] ** 2).sum(1), 1.0, rtol=1e-15)
        assert (q[:, 3:7].min(0) < -0.5).all()
        assert (q[:, 3:7].max(0) > 0.5).all()


@pytest.mark.parametrize("bad", [1.1, 0.0, np.nan, 1e200])
def test_t8_quaternions_of_other_lengths_are_refused_or_nan(bad):
    """Generic tests call all declared quantities with these."""
    longer = Q.copy()
    longer[3:7] *= bad
    error = tf.ConfigurationError if np.isfinite(bad) else tf.NonFiniteError
    with pytest.raises(error, match="j0" if np.isfinite(bad) else "q is not finite"):
        tf.operational_inertia(MODEL, longer, "j6")
    both = tf.operational_inertia(MODEL, np.stack([Q, longer, Q]), "j6")
    assert np.isnan(both[1]).any()  # blocks that are always zero may stay so
    expected = np.stack([tf.operational_inertia(MODEL, Q, "j6")] * 2)
    np.testing.assert_allclose(both[[0, 2]], expected, rtol=1e-9, atol=1e-12)


def test_t9_packed_jacobians_leave_out_columns_of_zeros():
    theirs = pytest.importorskip("pinocchio", reason="loads the robots")
    for robot, frame, columns in [
        (("panda",), "panda_hand_tcp", 7),
        (("solo12", True), "FL_FOOT", 9),
        (("talos_reduced", True), "left_sole_link", 12),
    ]:
        _, model = loaded(*robot)
        q = tf.random_configuration(model, 0)
        J = tf.frame_jacobian(model, q, frame)
        assert np.flatnonzero(np.abs(J).max(0) > 1e-15).tolist() == model.support(frame).tolist()
        assert tf.frame_jacobian(model, q, frame, layout="packed").shape == (6, columns)
    assert theirs


@pytest.mark.parametrize("name", ["panda", "solo12", "talos_reduced"])
def test_t10_frames_of_fixed_links_survive_loading(name):
    pin = pytest.importorskip("pinocchio", reason="loads the robots")
    theirs, model = loaded(name)
    data, q = theirs.createData(), tf.random_configuration(model, 0)
    pin.framesForwardKinematics(theirs, data, q)
    urdf = tf.Model.from_urdf(tf.robots.find(name).path)
    for own in (model, urdf):
        known = {frame.name for frame in own.frames}
        for k, frame in enumerate(theirs.frames):
            if frame.name == "universe":
                continue
            assert frame.name in known
            kinds = [one.type for one in own.frames if one.name == frame.name]
            own_frame = own.frame(frame.name) if len(kinds) == 1 else own.frame(frame.name, frame.type.name)
            T = tf.frame_placement(own, q, own_frame)
            np.testing.assert_allclose(T, data.oMf[k].homogeneous[:3], rtol=0, atol=1e-13)


@pytest.mark.parametrize("size", [(), (9,)])
def test_results_that_share_memory_are_refused(size):
    q, v, _, _ = arguments(MODEL, 1, size)
    n = MODEL.nv
    room = np.full((*size, 6 * n + 12), 7.0)
    J, T = (x.reshape(*size, *shape) for x, shape in ((room[..., : 6 * n], (6, n)), (room[..., :12], (3, 4))))
    both, request = np.full((*size, 3), 7.0), tf.Kinematics(MODEL, velocities=["j6"], accelerations=["j6"])
    six = np.full((*size, 1, 6), 7.0)
    for call in [
        lambda: tf.frame_jacobian(MODEL, q, "j6", placement=True, out=(J, T)),
        lambda: tf.center_of_mass(MODEL, q, v, out=(both, both)),
        lambda: request(q, v, out=(six, six)),
        lambda: request.bind(*arguments(MODEL, 1)[:2], out=(six.reshape(-1, 6)[:1],) * 2),
        lambda: tf.bind(tf.center_of_mass, MODEL, *arguments(MODEL, 1)[:2], out=(both.ravel()[:3],) * 2),
    ]:
        with pytest.raises(tf.ShapeError, match="share memory"):
            call()
    assert all((x == 7.0).all() for x in (room, both, six))
    T = room[..., 6 * n :].reshape(*size, 3, 4)  # side by side in one array
    tf.frame_jacobian(MODEL, q, "j6", placement=True, out=(room[..., : 6 * n].reshape(*size, 6, n), T))


def test_bound_results_that_are_missing_are_named():
    for function, arrays, options, out in [
        (tf.frame_jacobian, (Q, "j0"), {"placement": True}, np.empty((6, MODEL.nv))),
        (tf.center_of_mass, (Q, V), {}, np.empty(3)),
        (tf.center_of_mass, (Q, V, A), {}, (np.empty(3), np.empty(3))),
    ]:
        with pytest.raises(tf.ShapeError, match=r"out must be a tuple of \d arrays"):
            tf.bind(function, MODEL, *arrays, **options, out=out)
    with pytest.raises(TypeError, match="v is needed"):
        tf.bind(tf.center_of_mass, MODEL, Q, None, A, out=(np.empty(3),) * 3)
