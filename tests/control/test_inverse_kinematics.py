"""Compare steps of inverse kinematics with Pinocchio's, and answers with forward kinematics."""

import pickle

import numpy as np
import pytest
from helpers.bundled_robots import bundled_robot
from helpers.model_cases import in_pinocchio, random_model
from oracles import inverse_kinematics as oracle

import treefactor as tf
from treefactor import robots, se3, so3
from treefactor.control import (
    ComTask,
    FrameTask,
    IKResult,
    InverseKinematics,
    PostureTask,
    RelativeFrameTask,
    Status,
    inverse_kinematics,
)
from treefactor.exceptions import ConfigurationError, DtypeError, InvalidModelError, ShapeError

TOOL = "panda_hand_tcp"
TOLERANCE = 1e-4
ADD_UP = ("revolute", "prismatic", "helical", "universal", "translation")


@pytest.fixture(scope="module")
def panda():
    return tf.Model.from_urdf(robots.find("panda").path)


def reachable(model, frame, count, seed=0):
    """Return placements of a frame for random configurations."""
    return tf.frame_placement(model, tf.random_configuration(model, seed, size=count), frame)


def errors(model, q, frame, targets):
    """Return distances and angles of a frame from its targets."""
    apart = se3.between(tf.frame_placement(model, q, frame), targets)
    return np.linalg.norm(apart[..., 3], axis=-1), np.linalg.norm(so3.log(apart[..., :3]), axis=-1)


def assert_same(first: IKResult, second: IKResult):
    """Assert that two results have the same bits."""
    for name in ("q", "status", "position_error", "angle_error", "error", "iterations", "attempts"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes(), name


# ---- steps against Pinocchio's kinematics


def freedoms(model, joints=None, limits=True):
    """Return the entry in q of every freedom, or -1; its limits; and which may move."""
    places, lower, upper = np.full(model.nv, -1), np.full(model.nv, -np.inf), np.full(model.nv, np.inf)
    movable = np.zeros(model.nv, dtype=bool)
    for joint, q, v in zip(model.joints, model.idx_q, model.idx_v, strict=True):
        movable[v : v + joint.nv] |= joints is None or joint.name in joints
        if not joint.mimic and joint.kind in ADD_UP:
            for k in range(joint.nv):
                places[v + k] = q + k
                lower[v + k], upper[v + k] = model.lower[q + k], model.upper[q + k]
    return {"places": places, "lower": lower, "upper": upper, "movable": movable}


def assert_steps(model, theirs, own, tasks, q0, deviation=1e-9, joints=None, **posture):
    """Assert that the best of 1, 3 and 8 iterations is that of the oracle, with all bounds of q kept."""
    import pinocchio as pin

    sizes = freedoms(model, joints)
    for iterations in (1, 3, 8):
        options = {"restarts": 0, "iterations": iterations, "stall": 99, "tolerance": 1e-13, "joints": joints}
        result = inverse_kinematics(model, q0=q0, tasks=own, **options, **posture)
        expected = oracle.follow(pin, theirs, tasks, q0, iterations=iterations, **sizes, **posture)
        assert result.solved or (result.status == Status.ITERATIONS and result.iterations == iterations)
        np.testing.assert_allclose(result.q, expected, rtol=0.0, atol=deviation)


def test_steps_of_a_pose_within_limits(panda):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    from treefactor.adapters import pinocchio_

    theirs, rng = pinocchio_.load(robots.find("panda").path, False), np.random.default_rng(3)
    frame, held = theirs.getFrameId(TOOL), 0
    for target in reachable(panda, TOOL, 6, seed=5):
        q0 = rng.uniform(panda.lower, panda.upper)
        q0[[1, 3, 5]] = panda.lower[1], panda.upper[3], panda.upper[5]
        assert_steps(panda, theirs, [FrameTask(TOOL, target)], [oracle.Frame(pin, frame, target)], q0)
        q = inverse_kinematics(panda, target, TOOL, q0=q0, restarts=0, iterations=8).q
        held += int(((q == panda.lower) | (q == panda.upper))[:7].sum())
    assert held > 3, "limits must be active"


def test_steps_of_several_tasks():
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    from treefactor.adapters import pinocchio_

    path = robots.find("solo12").path
    model, theirs = tf.Model.from_urdf(path, floating=True), pinocchio_.load(path, True)
    q0, q = tf.random_configuration(model, 1, size=2)
    q0[:7], q[:7] = tf.neutral(model)[:7], [0.1, 0.05, -0.1, *so3.to_quaternion(so3.exp([0.2, 0.1, -0.3]))]
    posture = tf.random_configuration(model, 4)
    number = {name: theirs.getFrameId(name) for name in ("FL_FOOT", "FR_FOOT", "HL_FOOT")}
    left, right = (tf.frame_placement(model, q, name) for name in ("FL_FOOT", "FR_FOOT"))
    between, com = se3.between(left, right), tf.center_of_mass(model, q)
    some, hind = (1.0, 4.0, 2.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0, 0.0, 2.0)
    own = [
        FrameTask("FL_FOOT", left, some[:3], some[3:]),
        RelativeFrameTask("FR_FOOT", between, root="FL_FOOT"),
        FrameTask("HL_FOOT", tf.frame_placement(model, q, "HL_FOOT"), hind[:3], hind[3:]),
        ComTask(com, [3.0, 1.0, 0.0]),
    ]
    theirs_too = [
        oracle.Frame(pin, number["FL_FOOT"], left, some),
        oracle.Frame(pin, number["FR_FOOT"], between, root=number["FL_FOOT"]),
        oracle.Frame(pin, number["HL_FOOT"], tf.frame_placement(model, q, "HL_FOOT"), hind),
        oracle.Mass(pin, com, [3.0, 1.0, 0.0]),
    ]
    assert_steps(model, theirs, own, theirs_too, q0)
    assert_steps(model, theirs, own, theirs_too, q0, posture=posture)
    legs = [joint.name for joint in model.joints if joint.name[:2] in ("FL", "FR")]  # more rows than columns
    assert_steps(model, theirs, own, theirs_too, q0, joints=legs)
    kept = np.delete(np.arange(model.nq), np.r_[7:13])
    result = inverse_kinematics(model, q0=q0, tasks=own, joints=legs, iterations=20)
    assert (result.q[kept] == q0[kept]).all()
    assert (result.q[7:13] != q0[7:13]).all()


@pytest.mark.parametrize("first", [0, 3, 6])
def test_steps_of_each_kind_of_joint(first):
    """With ball joints, planar and free ones in the middle of a chain."""
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    kinds = ("spherical", "revolute", "helical", "prismatic", "continuous", "planar", "revolute", "universal")
    kinds = tuple(np.roll([*kinds, "freeflyer"], first)[:7])
    drawn = (random_model([-1, 0, 1, 2, 3, 4, 5], kinds, seed) for seed in range(999))
    model = next(one for one in drawn if not any(joint.mimic for joint in one.joints))
    theirs, last = in_pinocchio(model), model.joints[-1].name
    pose = pin.SE3.Identity()
    frame = theirs.addFrame(pin.Frame("end", theirs.njoints - 1, 0, pose, pin.FrameType.OP_FRAME))
    q0, q = tf.random_configuration(model, first, size=2)
    target = tf.frame_placement(model, q, last)
    assert_steps(model, theirs, [FrameTask(last, target)], [oracle.Frame(pin, frame, target)], q0, 1e-7)


# ---- answers


def test_a_thousand_targets_of_an_arm(panda):
    targets = reachable(panda, TOOL, 1000)
    result = inverse_kinematics(panda, targets, TOOL)
    assert result.solved.sum() >= 999
    assert result.iterations.mean() < 16
    for error, kept in zip(
        errors(panda, result.q, TOOL, targets), (result.position_error, result.angle_error), strict=True
    ):
        assert (error[result.solved] <= TOLERANCE + 1e-15).all()
        np.testing.assert_allclose(kept, error, rtol=1e-6, atol=1e-12)
    assert (result.q >= panda.lower).all()
    assert (result.q <= panda.upper).all()
    apart = inverse_kinematics(panda, targets[:100], TOOL, tolerance=(1e-2, 1e-6))
    assert apart.solved.all()
    assert (apart.angle_error <= 1e-6).all()
    positions = inverse_kinematics(panda, targets[..., 3], TOOL)
    assert positions.solved.all()
    assert (positions.angle_error == 0.0).all()
    assert (errors(panda, positions.q, TOOL, targets)[0] <= TOLERANCE).all()


ROBOTS = [  # of 6 and 7 freedoms, a quadruped's foot, a humanoid's arm with its torso
    ("ur10_robot", "tool0", False, None),
    ("xarm7", "link7", False, None),
    ("z1", "link06", False, None),
    ("kinova", "j2s6s200_end_effector", False, None),
    ("anymal_b_simple/anymal", "LF_FOOT", True, None),
    ("talos_reduced", "gripper_left_base_link", True, ("torso", "arm_left")),
]


def held_out(name, frame, floating, prefixes, count):
    """Return a model, reachable targets of a frame, the start, and the joints that may move."""
    model = tf.Model.from_urdf(bundled_robot(name), floating=floating)
    q, base, joints = tf.random_configuration(model, 7, size=count), tf.neutral(model), None
    if floating:
        movable = prefixes or tuple(joint.name for joint in model.joints[1:])
        joints = [joint.name for joint in model.joints if joint.name.startswith(movable)]
        for joint, at in zip(model.joints, model.idx_q, strict=True):
            if joint.name not in joints:
                q[:, at : at + joint.nq] = base[at : at + joint.nq]
    targets = tf.frame_placement(model, q, frame)
    few = len(model.support(frame)) - 6 * floating < 6
    return model, targets[..., 3] if few else targets, base if floating else None, joints


def assert_honest(model, frame, floating, result, targets):
    """Assert that what is solved meets its target, by placements computed again, and that limits hold."""
    if targets.shape[-1] == 3:
        apart = np.linalg.norm(tf.frame_placement(model, result.q, frame)[..., 3] - targets, axis=-1)
    else:
        apart = np.maximum(*errors(model, result.q, frame, targets))
    assert (apart[result.solved] <= TOLERANCE + 1e-12).all()
    own = slice(7 if floating else 0, None)
    assert (result.q[:, own] >= model.lower[own]).all()
    assert (result.q[:, own] <= model.upper[own]).all()


def assert_held_out(robot, count, iterations):
    """Assert that a robot reaches targets it can reach, and no others; each answer has bits of its own."""
    name, frame, floating, prefixes = robot
    model, targets, q0, joints = held_out(name, frame, floating, prefixes, count)
    solver = InverseKinematics(model, frame, joints=joints)
    result = solver(targets, q0)
    assert result.solved.mean() >= 0.99
    assert_honest(model, frame, floating, result, targets)
    order = np.random.default_rng(1).permutation(count)
    assert solver(targets[order], q0, num_threads=2).q.tobytes() == result.q[order].tobytes()
    assert solver(targets[-1], q0).q.tobytes() == result.q[-1].tobytes()
    far = targets.copy()
    points = far if far.ndim == 2 else far[..., 3]
    points *= (20.0 / np.linalg.norm(points, axis=-1))[:, None]
    lost = inverse_kinematics(model, far, frame, q0=q0, joints=joints, iterations=iterations)
    assert not lost.solved.any()
    assert_honest(model, frame, floating, lost, far)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot[0])
def test_robots_that_no_page_lists(robot):
    assert_held_out(robot, 200, 20)


@pytest.mark.slow
def test_all_arms_of_six_and_seven_freedoms():
    """A thousand targets of every bundled arm, and of the robots above."""
    arms = []
    for name in robots.bundled():
        try:
            model = tf.Model.from_urdf(robots.find(name).path)
        except tf.TreefactorError:
            continue  # a file with loops, or of another format
        tip = max(model.frames, key=lambda frame: len(model.support(frame)))
        if len(model.support(tip)) in (6, 7) and not any(joint.mimic for joint in model.joints):
            arms.append((name, tip, False, None))
    assert len(arms) > 15
    for robot in [*ROBOTS, *arms]:
        assert_held_out(robot, 1000, 1000)


def test_targets_out_of_reach(panda):
    """Certified ones end after one attempt; the others cost the budget; none is reported as solved."""
    targets = reachable(panda, TOOL, 1000, seed=2)
    shoulder = tf.frame_placement(panda, tf.neutral(panda), "panda_link2")[:, 3]
    way = targets[..., 3] - shoulder
    far = np.linspace(0.96, 1.6, len(targets))  # the stretched arm reaches 0.94 m from its shoulder
    targets[..., 3] = shoulder + way * (far / np.linalg.norm(way, axis=1))[:, None]
    result = inverse_kinematics(panda, targets, TOOL, iterations=200)
    assert not result.solved.any()
    assert (result.position_error > 0.005).all()
    certified = result.status == Status.OUT_OF_REACH
    assert (result.attempts[certified] == 1).all()
    assert certified[far > 1.5].all()
    assert not certified[far < 1.0].any()
    assert (result.status[~certified] == Status.STALLED).all()
    assert (result.attempts[~certified] > 5).all()
    assert (result.q >= panda.lower).all()
    assert (result.q <= panda.upper).all()
    slides = tf.Model([tf.Joint("rail", "prismatic", axis=[1, 0, 0], lower=-0.5, upper=2.0)]).add_frame(
        "cart", "rail", p=[0, 0, 1]
    )
    for x, status in ((1.9, Status.SOLVED), (2.82, Status.STALLED), (2.84, Status.OUT_OF_REACH)):
        assert inverse_kinematics(slides, [x, 0.0, 1.0], "cart").status == status
    assert inverse_kinematics(slides, [3.5, 0.0, 1.0], "cart", limits=False).solved


def test_a_stretched_arm(panda):
    """At the border of the reach: solved or stalled, and finite."""
    q = np.zeros(panda.nq)
    q[3] = -0.07
    target = tf.frame_placement(panda, q, TOOL)
    targets = np.tile(target, (21, 1, 1))
    targets[..., 3] *= np.linspace(0.99, 1.01, 21)[:, None]
    result = inverse_kinematics(panda, targets, TOOL, iterations=300)
    assert np.isfinite(result.q).all()
    assert np.isfinite(result.error).all()
    assert result.solved[10]


@pytest.mark.parametrize("less", [0.0, 1e-9, -1e-9])
def test_half_turns(panda, less):
    middle = 0.5 * (panda.lower + panda.upper)
    targets = np.tile(tf.frame_placement(panda, middle, TOOL), (3, 1, 1))
    targets[..., :3] = targets[..., :3] @ so3.exp(np.eye(3) * (np.pi - less))
    result = inverse_kinematics(panda, targets, TOOL)
    assert result.solved.all()
    assert np.isfinite(result.q).all()


def test_unlimited_joints_stay_near_the_start():
    """Revolute joints without limits come back by whole turns, but not those that others follow."""
    links = [tf.Joint("a", "revolute", axis=[0, 0, 1])]
    links += [tf.Joint(name, "revolute", k, p=[1, 0, 0], axis=[0, 0, 1]) for k, name in enumerate("bc")]
    model = tf.Model(links).add_frame("tip", "c", p=[1, 0, 0])
    q0 = np.array([40.0, -3.0, 70.0])
    targets = reachable(model, "tip", 200)
    result = inverse_kinematics(model, targets, "tip", q0=q0)
    assert result.solved.all()
    assert (np.abs(result.q - q0) <= np.pi + 1e-9).all()
    assert result.attempts.max() > 1
    follower = tf.Joint("c", "revolute", 1, p=[1, 0, 0], axis=[0, 0, 1], mimic=tf.Mimic("a", 0.5))
    coupled = tf.Model([*links[:2], follower]).add_frame("tip", "c", p=[1, 0, 0])
    goals = reachable(coupled, "tip", 50)[..., 3]
    result = inverse_kinematics(coupled, goals, "tip", q0=q0[:2])
    assert result.solved.mean() > 0.9
    assert (np.abs(result.q[:, 1] - q0[1]) <= np.pi + 1e-9).all()


def test_only_unlimited_joints_turn_wholly():
    """Near a limit, the angle that is nearest to the start may lie beyond it."""
    links = [tf.Joint("a", "revolute", axis=[0, 0, 1])]
    links += [tf.Joint(name, "revolute", k, p=[1, 0, 0], axis=[0, 0, 1]) for k, name in enumerate("bc")]
    model = tf.Model(links).add_frame("tip", "c", p=[1, 0, 0])
    targets = reachable(model, "tip", 100)
    for lower, upper, start in ((-20.0, 20.0, 19.9), (-np.inf, 20.0, 19.9), (-20.0, np.inf, -19.9)):
        limits = np.full(3, lower), np.full(3, upper)
        result = inverse_kinematics(model, targets, "tip", q0=np.full(3, start), limits=limits)
        assert result.solved.all()
        assert ((result.q >= lower) & (result.q <= upper)).all()
        assert (np.abs(result.q - start) > np.pi).any()
    joint = tf.Joint("u", "universal", axis=[[0, 0, 1], [0, 1, 0]])
    wrist = tf.Model([joint]).add_frame("tip", "u", p=[1, 0, 0])
    start = np.array([40.0, -70.0])
    result = inverse_kinematics(wrist, reachable(wrist, "tip", 50)[..., 3], "tip", q0=start)
    assert result.solved.all()
    assert (np.abs(result.q - start) <= np.pi + 1e-9).all()
    assert result.attempts.max() > 1


def test_limits_of_rotations_do_not_count():
    """Files give limits of -1 and 1 to quaternions: they bound joints of one freedom only."""
    arm = [tf.Joint("ball", "spherical"), tf.Joint("rail", "prismatic", 0, axis=[1, 0, 0])]
    model = tf.Model(arm).add_frame("tip", "rail", p=[1, 0, 0])
    limits = np.array([-0.1, -0.1, -0.1, -0.1, -0.5]), np.array([0.1, 0.1, 0.1, 0.1, 0.5])
    targets = reachable(model, "tip", 50)[..., 3]
    targets *= (1.2 / np.linalg.norm(targets, axis=1))[:, None]
    result = inverse_kinematics(model, targets, "tip", limits=limits)
    assert result.solved.all()
    assert (np.abs(result.q[:, 4]) <= 0.5).all()
    assert (np.abs(result.q[:, :4]).max(axis=1) > 0.1).all()


def test_contradictory_tasks_end_at_the_weighted_optimum(panda):
    middle = reachable(panda, TOOL, 1)[0, :, 3]
    targets = middle + np.array([[0.05, 0.02, 0.1], [-0.05, 0.03, 0.0]])
    tasks = [FrameTask(TOOL, targets[0], position_cost=3.0), FrameTask(TOOL, targets[1])]
    result = inverse_kinematics(panda, tasks=tasks, restarts=0, stall=60, tolerance=1e-9)
    assert result.status == Status.STALLED
    tip = tf.frame_placement(panda, result.q, TOOL)[:, 3]
    np.testing.assert_allclose(tip, (3.0 * targets[0] + targets[1]) / 4.0, atol=1e-6)
    np.testing.assert_allclose(result.error[:, 0], [np.linalg.norm(tip - one) for one in targets], atol=1e-12)
    assert result.position_error == result.error[:, 0].max()


def test_two_arms_and_the_mass_of_a_humanoid():
    model = tf.Model.from_urdf(robots.find("talos_reduced").path, floating=True)
    q0 = tf.neutral(model)
    hands = ("gripper_left_base_link", "gripper_right_base_link")
    feet = ("left_sole_link", "right_sole_link")
    q0[model.idx_q[model.numbers["leg_left_4_joint"]]] = q0[
        model.idx_q[model.numbers["leg_right_4_joint"]]
    ] = 0.8
    way = np.array([[0.15, 0.05, 0.1], [0.1, -0.1, 0.15]])
    tasks = [FrameTask(foot, tf.frame_placement(model, q0, foot)) for foot in feet]
    tasks += [
        FrameTask(hand, tf.frame_placement(model, q0, hand)[:, 3] + d)
        for hand, d in zip(hands, way, strict=True)
    ]
    tasks.append(ComTask(tf.center_of_mass(model, q0), cost=[1.0, 1.0, 0.0]))
    alone = inverse_kinematics(model, q0=q0, tasks=tasks, restarts=0)
    with_posture = inverse_kinematics(model, q0=q0, tasks=[*tasks, PostureTask(q0)], restarts=0)
    for result in (alone, with_posture):
        assert result.solved
        for task in tasks[:2]:
            assert max(errors(model, result.q, task.frame, task.target)) <= TOLERANCE
        assert np.linalg.norm((tf.center_of_mass(model, result.q) - tasks[-1].target)[:2]) <= TOLERANCE


def test_a_posture_moves_what_the_tasks_leave_open(panda):
    targets, posture = reachable(panda, TOOL, 100), 0.5 * (panda.lower + panda.upper)
    left = []
    for options in ({}, {"posture": posture}):
        result = inverse_kinematics(panda, targets, TOOL, **options)
        assert result.solved.all()
        J, way = tf.frame_jacobian(panda, result.q, TOOL), posture - result.q
        free = ((result.q > panda.lower) & (result.q < panda.upper))[:, :7]
        rest = [
            np.linalg.svd(one[:, :7][:, f])[2][6:] @ w[:7][f]
            for one, f, w in zip(J, free, way, strict=True)
            if f.all()
        ]
        left.append(np.median(np.abs(rest)))
    assert left[1] < 0.15 * left[0]


# ---- batches


def test_answers_depend_on_target_and_seed_only(panda):
    targets = reachable(panda, TOOL, 70, seed=11)
    for starts in (1, 3, 8):
        solver = InverseKinematics(panda, TOOL, starts=starts, stall=3)
        result = solver(targets)
        assert result.attempts.max() > starts
        order = np.random.default_rng(0).permutation(len(targets))
        again = solver(targets[order])
        back = IKResult(*(getattr(again, name)[np.argsort(order)] for name in IKResult.__dataclass_fields__))
        assert_same(back, result)
        assert_same(solver(targets, num_threads=3), result)
        assert_same(pickle.loads(pickle.dumps(solver))(targets), result)
        assert_same(solver(targets, callback=lambda progress: None), result)
        for k in (0, 5, 69):
            assert solver(targets[k]).q.tobytes() == result.q[k].tobytes()
        for size in (0, 7, 8, 9):
            assert solver(targets[:size]).q.tobytes() == result.q[:size].tobytes()
    other = inverse_kinematics(panda, targets, TOOL, stall=3, starts=8, seed=1)
    moved = (other.q != result.q).any(axis=1)
    assert moved[result.attempts > 8].mean() > 0.5  # others were solved by the first attempt


def test_starts_side_by_side_and_random_ones(panda):
    """Of attempts that arrive together the first counts; random starts belong to a target, not to its row."""
    targets = reachable(panda, TOOL, 200, seed=3)
    alone, several = (InverseKinematics(panda, TOOL, starts=s, restarts=0)(targets) for s in (1, 8))
    together = alone.solved & (several.iterations == 8 * alone.iterations)
    assert together.sum() > 20
    assert (several.q[together] == alone.q[together]).all()
    ended = inverse_kinematics(panda, targets, TOOL, starts=8, restarts=0, stall=1)
    within = (ended.position_error < TOLERANCE) & (ended.angle_error < TOLERANCE)
    assert (ended.solved == within).all()  # attempts that have ended go no further
    assert not within.all()
    result = inverse_kinematics(panda, targets, TOOL)
    again = result.attempts > 1
    targets[..., 3] += 1e-10
    near = inverse_kinematics(panda, targets, TOOL)
    apart = np.abs(near.q - result.q).max(axis=1)
    assert (apart[~again] < 1e-3).mean() > 0.9
    assert (apart[again] > 1e-2).mean() > 0.5


def test_a_bad_row_changes_no_bit_of_its_neighbours(panda):
    targets, q0 = reachable(panda, TOOL, 20), np.tile(0.5 * (panda.lower + panda.upper), (20, 1))
    clean = inverse_kinematics(panda, targets, TOOL, q0=q0)
    bad, start = targets.copy(), q0.copy()
    bad[3, 1, 1], bad[8, 0, 3], start[12, 4] = np.nan, np.inf, np.nan
    result = inverse_kinematics(panda, bad, TOOL, q0=start)
    hostile = np.isin(np.arange(20), (3, 8, 12))
    assert (result.status[hostile] == Status.NON_FINITE).all()
    assert np.isnan(result.q[hostile]).all()
    assert result.q[~hostile].tobytes() == clean.q[~hostile].tobytes()
    assert inverse_kinematics(panda, bad[3], TOOL).status == Status.NON_FINITE


def test_arrays_of_other_layouts_and_batches(panda):
    q = tf.random_configuration(panda, 3, size=(2, 3))
    targets = tf.frame_placement(panda, q, TOOL)
    result = inverse_kinematics(panda, targets, TOOL)
    assert result.q.shape == (2, 3, panda.nq)
    assert result.status.shape == (2, 3)
    wide = np.zeros((2, 3, 4, 4))
    wide[..., :3, :], wide[..., 3, 3] = targets, 1.0
    assert_same(inverse_kinematics(panda, wide, TOOL), result)
    assert_same(inverse_kinematics(panda, np.asfortranarray(targets), TOOL), result)
    spread = inverse_kinematics(panda, targets[:, :1], TOOL, q0=np.zeros((3, panda.nq)))
    assert spread.q.shape == (2, 3, panda.nq)
    assert spread.solved.all()
    one = inverse_kinematics(panda, targets[0, 0], TOOL)
    assert one.q.shape == (panda.nq,)
    assert one.status.shape == ()
    assert "1 SOLVED" in repr(one)
    out = inverse_kinematics(panda, targets[::-1], TOOL)
    solver = InverseKinematics(panda, TOOL)
    assert solver(targets, out=out) is out
    assert_same(out, result)
    with pytest.raises(ValueError, match="shares memory with q0"):
        solver(targets, q0=out.q, out=out)
    square = inverse_kinematics(panda, np.full((3, 3), 0.4), TOOL)  # three positions
    assert square.q.shape == (3, panda.nq)
    assert square.solved.all()


def test_progress_and_stop(panda):
    targets, seen = reachable(panda, TOOL, 30), []

    def look(progress):
        seen.append(progress)
        return progress.iteration == 12

    result = inverse_kinematics(panda, targets, TOOL, callback=look)
    assert [one.iteration for one in seen] == list(range(1, 13))
    stopped = result.status == Status.STOPPED
    assert (stopped == seen[-1].active).all()
    assert stopped.any()
    assert result.solved.any()
    assert (seen[-1].error <= seen[0].error).all()
    assert (seen[-1].error[stopped] > 1.0).all()
    assert np.isfinite(result.q).all()


# ---- starts and limits


def test_starts_are_put_within_limits_and_scaled(panda):
    target = reachable(panda, TOOL, 1)[0]
    result = inverse_kinematics(panda, target, TOOL, q0=panda.upper + 1.0, iterations=1, restarts=0)
    assert (result.q <= panda.upper).all()
    assert inverse_kinematics(panda, target, TOOL, q0=panda.upper + 1.0).solved
    ball = tf.Model([tf.Joint("ball", "spherical")]).add_frame("tip", "ball", p=[0, 0, 1])
    result = inverse_kinematics(ball, [0.6, 0.0, 0.8], "tip", q0=[0.0, 0.0, 0.0, 3.0])
    assert result.solved
    assert abs(np.linalg.norm(result.q) - 1.0) < 1e-12
    assert inverse_kinematics(ball, [0.6, 0.0, 0.8], "tip", q0=np.zeros(4)).status == Status.NON_FINITE
    q = tf.random_configuration(ball, 0, size=100)
    turned = inverse_kinematics(ball, tf.frame_placement(ball, q, "tip"), "tip")
    assert turned.solved.all()
    assert np.abs(np.linalg.norm(turned.q, axis=1) - 1.0).max() < 1e-14


def test_limits_given_and_left_out(panda):
    targets = reachable(panda, TOOL, 60)
    middle, half = 0.5 * (panda.lower + panda.upper), 0.5 * (panda.upper - panda.lower)
    narrow = (middle - 0.6 * half, middle + 0.6 * half)
    result = inverse_kinematics(panda, targets, TOOL, limits=narrow)
    assert (result.q >= narrow[0]).all()
    assert (result.q <= narrow[1]).all()
    assert not result.solved.all()
    free = inverse_kinematics(panda, targets, TOOL, limits=False)
    assert free.solved.all()
    assert ((free.q < panda.lower) | (free.q > panda.upper)).any()


def test_tracking_follows_the_solution_nearest_to_the_start(panda):
    solver, q = (
        InverseKinematics(panda, TOOL, restarts=0, iterations=20),
        np.array([0, 0, 0, -1.5, 0, 1.5, 0, 0, 0.0]),
    )
    target, largest = tf.frame_placement(panda, q, TOOL), 0.0
    for k in range(50):
        target[:2, 3] += 0.004 * np.array([np.cos(0.2 * k), np.sin(0.2 * k)])
        result = solver(target, q0=q)
        assert result.solved
        assert result.attempts == 1
        largest, q = max(largest, np.abs(result.q - q).max()), result.q
    assert largest < 0.05


# ---- errors


def test_errors_name_what_is_wrong(panda):
    target = reachable(panda, TOOL, 1)[0]
    cases = [
        (InvalidModelError, "did you mean 'panda_hand_tcp'", {"frame": "panda_hand_tpc"}),
        (InvalidModelError, "did you mean", {"joints": ["panda_joint"]}),
        (InvalidModelError, "no joint that may move", {"joints": ["panda_finger_joint1"]}),
        (DtypeError, r"pass \['panda_joint1'\]", {"joints": "panda_joint1"}),
        (ConfigurationError, "panda_joint1", {"limits": (panda.upper, panda.lower)}),
        (ShapeError, "9 numbers", {"limits": (np.zeros(3), np.ones(3))}),
        (DtypeError, "pair", {"limits": 3}),
        (ShapeError, "q0 must have shape", {"q0": np.zeros(8)}),
        (ShapeError, r"\(\.\.\., 3, 4\)", {"targets": np.zeros((4, 2))}),
        (ShapeError, "do not match", {"targets": np.tile(target, (2, 1, 1)), "q0": np.zeros((3, 9))}),
        (ValueError, "no rotation", {"targets": 1.01 * target}),
        (ValueError, "reflection", {"targets": target * [-1, 1, 1, 1]}),
        (ValueError, "tolerance must be positive", {"tolerance": 0.0}),
        (ValueError, "tolerance must be positive", {"tolerance": (1e-4, -1.0)}),
        (ValueError, "at most 8", {"starts": 9}),
        (ValueError, "stall must be positive", {"stall": 0}),
        (ValueError, "iterations must be at least 4", {"iterations": 3, "starts": 4}),
        (DtypeError, "out must be an IKResult", {"out": np.zeros(9)}),
        (TypeError, "either targets and their frame, or tasks", {"tasks": [FrameTask(TOOL, target)]}),
        (TypeError, "target of frame 'panda_hand_tcp' is missing", {"targets": None}),
    ]
    for kind, text, changes in cases:
        arguments = {"targets": target, "frame": TOOL} | changes
        with pytest.raises(kind, match=text):
            inverse_kinematics(panda, **arguments)
    for kind, text, make in [
        (ValueError, "must not be negative", lambda: FrameTask(TOOL, target, -1.0)),
        (ValueError, "both 0", lambda: FrameTask(TOOL, target, 0.0, 0.0)),
        (ValueError, "cost of the posture", lambda: PostureTask(np.zeros(9), 0.0)),
        (ValueError, "centre of mass is 0", lambda: ComTask(np.zeros(3), 0.0)),
        (ShapeError, "one number or 3", lambda: ComTask(np.zeros(3), [1.0, 2.0])),
        (DtypeError, r"pass \[task\]", lambda: InverseKinematics(panda, tasks=FrameTask(TOOL))),
        (DtypeError, "a task must be", lambda: InverseKinematics(panda, tasks=[target])),
        (ValueError, "got none", lambda: InverseKinematics(panda, tasks=[PostureTask(np.zeros(9))])),
        (
            ShapeError,
            "list of 2",
            lambda: InverseKinematics(panda, tasks=[FrameTask(TOOL), ComTask()])([target]),
        ),
        (ValueError, "position_cost is 0", lambda: FrameTaskOfPositions(panda)),
    ]:
        with pytest.raises(kind, match=text):
            make()


def FrameTaskOfPositions(panda):
    """Solve for an orientation, given a position."""
    return inverse_kinematics(panda, tasks=[FrameTask(TOOL, np.zeros(3), position_cost=0.0)])
