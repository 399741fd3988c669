"""Check the conventions shared with Pinocchio, one row for each, on robots and trees of every joint."""

import re
from functools import cache

import numpy as np
import pytest
from helpers.body_frames import acceleration_bias
from helpers.dynamics_cases import arguments, error, free
from helpers.frame_cases import REFERENCES, ROBOTS, Expected, loaded, with_frames
from helpers.model_cases import in_pinocchio, random_model

import treefactor as tf
from treefactor import se3
from treefactor.model.joints import SIZES

pin = pytest.importorskip("pinocchio", reason="Pinocchio is the reference")

CLOSE = 1e-13  # relative to the size of the terms
STEP = 1e-5  # of central differences
SMOOTH = 1e-7  # their relative error
ZERO = np.zeros(3)


class Case:
    """A model of ours, Pinocchio's, frames of both, a random state, and Pinocchio's results in it."""

    def __init__(self, theirs, model, frames, robot=False):
        self.theirs, self.model, self.frames, self.robot = theirs, model, frames, robot
        self.q, self.v, self.a, self.f = arguments(model, 7)
        self.expected = Expected(theirs, self.q, self.v, self.a)
        self.data = theirs.createData()
        self.mimic = model.coupling is not None
        self.universal = any(joint.kind == "universal" for joint in model.joints)
        self.floating = any(joint.kind == "freeflyer" for joint in model.joints[:1])
        moved = 1.0 + np.square(self.v).sum() + np.abs(self.a).sum()
        self.scale = (1.0 + np.abs(tf.joint_placements(model, self.q)).max()) ** 2 * moved
        self.mass = model.mass

    def rate(self, function):
        """Return the change of a function of q per second at the velocity v."""
        ahead, behind = (tf.integrate(self.model, self.q, sign * STEP * self.v) for sign in (1.0, -1.0))
        return (function(ahead) - function(behind)) / (2 * STEP)

    def close(self, own, other, scale=1.0, within=CLOSE):
        assert error(np.asarray(own), np.asarray(other), self.scale * scale) < within


@cache
def case(name):
    """Return the case of a robot, or of a tree with joints of a kind."""
    if name in ROBOTS:
        theirs, model = loaded(*ROBOTS[name])
        return Case(theirs, model, list(enumerate(model.frames))[:: 1 if model.nv < 30 else 5], True)
    model = free(random_model([-1, 0, 1, 1], [name, "revolute", "spherical", name], 1))
    theirs = in_pinocchio(model)
    return Case(theirs, model, list(enumerate(with_frames(theirs, model))))


def k1_frames_are_fixed_to_joints(c):
    T = tf.joint_placements(c.model, c.q)
    c.close(T, c.expected.joints()) if not c.universal else None
    for i, frame in c.frames:
        own = tf.frame_placement(c.model, c.q, frame)
        c.close(own, c.expected.placement(i))
        at = se3.compose(T[frame.joint], frame.placement) if frame.joint >= 0 else frame.placement
        c.close(own, at)


def k2_references(c):
    if c.mimic:  # Pinocchio has no Jacobians of frames then; the velocities of K3 are compared
        return
    for i, frame in c.frames:
        local, world, aligned = (tf.frame_jacobian(c.model, c.q, frame, one) for one in REFERENCES)
        T = tf.frame_placement(c.model, c.q, frame)
        E = np.kron(np.eye(2), T[:, :3])
        c.close(world, se3.action(T) @ local)
        c.close(aligned, E @ local)
        for own, reference in zip((local, world, aligned), REFERENCES, strict=True):
            c.close(own, c.expected.jacobian(i, reference))
        turn = c.rate(lambda q, frame=frame: tf.frame_placement(c.model, q, frame))
        c.close((aligned @ c.v)[:3], turn[:, 3], within=SMOOTH)
        c.close(np.cross((aligned @ c.v)[3:], T[:, :3].T).T, turn[:, :3], within=SMOOTH)


def k3_velocities(c):
    for i, frame in c.frames:
        for reference in REFERENCES:
            own = tf.frame_velocity(c.model, c.q, c.v, frame, reference)
            c.close(own, c.expected.velocity(i, reference))
            c.close(own, tf.frame_jacobian(c.model, c.q, frame, reference) @ c.v)
        local = pin.getFrameVelocity(c.theirs, c.expected.data, i).vector
        c.close(tf.frame_velocity(c.model, c.q, c.v, frame), local)
        c.close(tf.frame_jacobian(c.model, c.q, frame) @ c.v, local)


def k4_accelerations(c):
    for i, frame in c.frames:
        for reference in REFERENCES:
            spatial, classical = (
                tf.frame_acceleration(c.model, c.q, c.v, c.a, frame, reference, x) for x in (False, True)
            )
            V = tf.frame_velocity(c.model, c.q, c.v, frame, reference)
            c.close(classical - spatial, np.append(np.cross(V[3:], V[:3]), ZERO))
            c.close(spatial, c.expected.acceleration(i, reference, False))
            c.close(classical, c.expected.acceleration(i, reference, True))
        path = [
            tf.frame_velocity(
                c.model,
                tf.integrate(c.model, c.q, h * c.v),
                c.v + h * c.a,
                frame,
                "LOCAL_WORLD_ALIGNED",
            )
            for h in (STEP, -STEP)
        ]
        c.close(classical[:3], ((path[0] - path[1]) / (2 * STEP))[:3], within=SMOOTH)
        weightless = tf.Model(c.model.joints, ZERO)
        own = tf.frame_acceleration(weightless, c.q, c.v, c.a, frame, reference, True)
        assert (own == classical).all()


def k5_rates_of_jacobians(c):
    for i, frame in c.frames:
        for reference in REFERENCES:
            J = tf.frame_jacobian(c.model, c.q, frame, reference)
            dJ = tf.frame_jacobian_dot(c.model, c.q, c.v, frame, reference)
            c.close(
                dJ, c.rate(lambda q, f=frame, r=reference: tf.frame_jacobian(c.model, q, f, r)), 1.0, SMOOTH
            )
            if not (c.mimic or c.universal):  # Pinocchio leaves out that the first axis of a universal turns
                c.close(dJ, c.expected.jacobian_dot(i, reference))
            true = reference == "LOCAL_WORLD_ALIGNED"
            c.close(dJ @ c.v + J @ c.a, c.expected.acceleration(i, reference, true))


def k6_acceleration_bias_is_classical(c):
    still = Expected(c.theirs, c.q, c.v, 0.0 * c.a)
    differs = 0.0
    for i, frame in c.frames:
        if frame.joint < 0:
            continue
        R, p = frame.placement[:, :3], frame.placement[:, 3]
        own = acceleration_bias(c.model, c.q, c.v, frame.joint, R, p)
        c.close(own, still.acceleration(i, "LOCAL", True))
        dJ = tf.frame_jacobian_dot(c.model, c.q, c.v, frame, "LOCAL")
        differs = max(differs, np.abs(own - dJ @ c.v).max())
    assert differs > 1e-3 or (tf.joint_jacobian(c.model, c.q, c.model.njoints - 1)[3:] == 0).all()


def k7_free_joints(c):
    c.close(tf.integrate(c.model, c.q, c.v), pin.integrate(c.theirs, c.q, c.v))
    if not c.floating:
        return
    M = se3.from_xyzquat(c.q[:7])
    moved = se3.from_xyzquat(tf.integrate(c.model, c.q, c.v)[:7])
    c.close(moved, se3.compose(M, se3.exp(c.v[:6])))
    J, R = tf.center_of_mass_jacobian(c.model, c.q), tf.joint_placements(c.model, c.q)[0]
    lever = se3.act_inverse(R, tf.center_of_mass(c.model, c.q, root=0))
    part = c.model.subtree_masses[0] / c.mass
    c.close(J[:, :3], part * R[:, :3])
    c.close(J[:, 3:6], -part * R[:, :3] @ np.cross(np.eye(3), lever))


def k8_jacobians_of_centres_of_mass(c):
    J = tf.center_of_mass_jacobian(c.model, c.q)
    c.close(J @ c.v, tf.center_of_mass(c.model, c.q, c.v)[1])
    c.close(tf.centroidal_map(c.model, c.q)[:3], c.mass * J, c.mass)
    if not c.mimic:
        c.close(J, pin.jacobianCenterOfMass(c.theirs, c.data, c.q).reshape(3, -1))
    for k in range(c.model.njoints):
        own = tf.center_of_mass_jacobian(c.model, c.q, k)
        rate = c.rate(lambda q, k=k: tf.center_of_mass(c.model, q, root=k))
        c.close(own @ c.v, rate, within=SMOOTH)
        if not (c.mimic or c.universal):
            theirs = pin.jacobianSubtreeCenterOfMass(c.theirs, c.data, c.q, k + 1)
            c.close(own, theirs.reshape(3, -1))


def k9_centres_of_mass_are_in_world_axes(c):
    pin.centerOfMass(c.theirs, c.data, c.q, c.v, c.a)
    whole = tf.center_of_mass(c.model, c.q, c.v, c.a)
    for own, theirs in zip(whole, (c.data.com[0], c.data.vcom[0], c.data.acom[0]), strict=True):
        c.close(own, theirs)
    weightless = tf.Model(c.model.joints, ZERO)
    assert (tf.center_of_mass(weightless, c.q, c.v, c.a)[2] == whole[2]).all()
    if c.mimic or c.universal:
        return
    world = c.theirs.createData()
    pin.jacobianCenterOfMass(c.theirs, world, c.q)
    for k in range(c.model.njoints):
        own = tf.center_of_mass(c.model, c.q, root=k)
        c.close(own, c.data.oMi[k + 1].act(c.data.com[k + 1]))
        c.close(own, world.com[k + 1])


def k10_centroidal_quantities(c):
    A, dA = tf.centroidal_map(c.model, c.q), tf.centroidal_map_dot(c.model, c.q, c.v)
    h, rate = (
        tf.centroidal_momentum(c.model, c.q, c.v),
        tf.centroidal_momentum_rate(c.model, c.q, c.v, c.a),
    )
    c.close(h, A @ c.v, c.mass)
    c.close(rate, A @ c.a + dA @ c.v, c.mass)
    c.close(rate[:3], c.mass * tf.center_of_mass(c.model, c.q, c.v, c.a)[2], c.mass)
    c.close(dA, c.rate(lambda q: tf.centroidal_map(c.model, q)), c.mass, SMOOTH)
    pin.computeCentroidalMomentumTimeVariation(c.theirs, c.data, c.q, c.v, c.a)
    c.close(h, c.data.hg.vector, c.mass)
    c.close(rate, c.data.dhg.vector, c.mass)
    if c.mimic:
        return
    pin.ccrba(c.theirs, c.data, c.q, c.v)
    c.close(A, c.data.Ag.reshape(6, -1), c.mass)
    c.close(tf.centroidal_inertia(c.model, c.q), c.data.Ig.inertia, c.mass)
    assert np.abs(c.data.Ig.lever).max() < 1e-12


def k11_energies(c):
    H = tf.crba(c.model, c.q)
    kinetic, potential = tf.kinetic_energy(c.model, c.q, c.v), tf.potential_energy(c.model, c.q)
    c.close(kinetic, c.v @ H @ c.v / 2, c.mass)
    c.close(potential, -c.mass * c.model.gravity @ tf.center_of_mass(c.model, c.q), 10 * c.mass)
    c.close(potential, pin.computePotentialEnergy(c.theirs, c.data, c.q), 10 * c.mass)
    if c.robot and not c.mimic:  # of joints about any axis Pinocchio leaves out the armature
        c.close(kinetic, pin.computeKineticEnergy(c.theirs, c.data, c.q, c.v), c.mass)
    elif not c.mimic:
        upper = np.triu(pin.crba(c.theirs, c.data, c.q))
        c.close(kinetic, c.v @ upper @ c.v - c.v**2 @ upper.diagonal() / 2, c.mass)


def k12_gravity_and_static_torque(c):
    g, size = tf.generalized_gravity(c.model, c.q), 10 * c.mass
    c.close(g, tf.rnea(c.model, c.q, 0 * c.v, 0 * c.v), size)
    c.close(g @ c.v, c.rate(lambda q: tf.potential_energy(c.model, q)), size, SMOOTH)
    held = g - sum(tf.joint_jacobian(c.model, c.q, k).T @ c.f[k] for k in range(c.model.njoints))
    own = tf.static_torque(c.model, c.q, c.f)
    c.close(own, held, size)
    if not c.mimic:
        c.close(g, pin.computeGeneralizedGravity(c.theirs, c.data, c.q), size)
    if not (c.mimic or c.universal):
        forces = pin.StdVec_Force()
        for force in [np.zeros(6), *c.f]:
            forces.append(pin.Force(force))
        c.close(own, pin.computeStaticTorque(c.theirs, c.data, c.q, forces), size)


def k13_coriolis_matrix(c):
    C, size = tf.coriolis_matrix(c.model, c.q, c.v), 10 * c.mass
    c.close(C @ c.v, tf.bias(c.model, c.q, c.v) - tf.generalized_gravity(c.model, c.q), size)
    c.close(C + C.T, c.rate(lambda q: tf.crba(c.model, q)), size, SMOOTH)
    if not c.mimic:
        theirs = pin.nonLinearEffects(c.theirs, c.data, c.q, c.v)
        theirs = theirs - pin.computeGeneralizedGravity(c.theirs, c.theirs.createData(), c.q)
        c.close(C @ c.v, theirs, size)


def k14_inverse_inertia(c):
    own, H = tf.inverse_inertia(c.model, c.q), tf.crba(c.model, c.q)
    assert (own == own.T).all()
    assert np.abs(own @ H - np.eye(c.model.nv)).max() < 1e-14 * np.linalg.cond(H) * c.model.nv
    if not c.mimic:
        theirs = pin.computeMinverse(c.theirs, c.data, c.q)
        assert error(own, np.asarray(theirs)) < max(CLOSE, 1e-15 * np.linalg.cond(H))


def k15_jacobians_have_nv_columns(c):
    for joint in range(c.model.njoints if not c.universal else 0):
        for reference in REFERENCES:
            own = tf.joint_jacobian(c.model, c.q, joint, reference)
            assert own.shape == (6, c.model.nv)
            c.close(own, c.expected.joint_jacobian(joint, reference))
        turn = c.rate(lambda q, joint=joint: tf.joint_placements(c.model, q)[joint])
        c.close((own @ c.v)[:3], turn[:, 3], within=SMOOTH)


def k16_distances(c):
    q1 = arguments(c.model, 8)[0]
    d = tf.difference(c.model, c.q, q1)
    c.close(d, pin.difference(c.theirs, c.q, q1))
    c.close(tf.distance(c.model, c.q, q1), np.linalg.norm(d))
    c.close(tf.interpolate(c.model, c.q, q1, 0.3), tf.integrate(c.model, c.q, 0.3 * d))
    own = tf.squared_distance(c.model, c.q, q1)
    assert own.shape == (sum(not joint.mimic for joint in c.model.joints),)
    c.close(own.sum(), d @ d)
    if not (c.mimic or c.universal):
        c.close(own, pin.squaredDistance(c.theirs, c.q, q1))
    other = c.q.copy()
    for kind, at in (("spherical", slice(0, 4)), ("freeflyer", slice(3, 7))):
        for entries in c.model.entries[kind][0] if kind in c.model.entries else ():
            other[entries[at]] *= -1.0
    assert np.abs(tf.difference(c.model, c.q, other)).max() < 1e-15
    assert tf.is_same_configuration(c.model, c.q, other)


def k17_logarithms(c):
    rng = np.random.default_rng(0)
    for M in tf.joint_placements(c.model, c.q):
        d = 1e-6 * rng.normal(size=6)
        change = se3.log(se3.compose(M, se3.exp(d))) - se3.log(M)
        assert np.abs(change - se3.jlog(M) @ d).max() < 1e-9 * (1 + np.abs(M).max()) ** 2
        theirs = pin.SE3(M[:, :3].copy(), M[:, 3].copy())
        assert np.abs(se3.log(M) - pin.log6(theirs).vector).max() < 1e-11 * (1 + np.abs(M).max())
    half = np.column_stack([np.diag([1.0, -1.0, -1.0]), ZERO])
    np.testing.assert_allclose(se3.log(half), [0, 0, 0, np.pi, 0, 0], atol=1e-15)


def k18_no_state_is_left(c):
    """Results are those of q, v and a alone; Pinocchio's crba in world axes fills the same."""
    before = tf.joint_placements(c.model, c.q), tf.centroidal_map(c.model, c.q)
    H = tf.crba(c.model, c.q)
    other = tf.integrate(c.model, c.q, c.v)
    tf.crba(c.model, other), tf.rnea(c.model, other, c.v, c.a), tf.forward_dynamics(c.model, other, c.v, c.a)
    after = tf.joint_placements(c.model, c.q), tf.centroidal_map(c.model, c.q)
    assert all((x == y).all() for x, y in zip(before, after, strict=True))
    if c.mimic:
        return
    theirs = pin.crba(c.theirs, c.data, c.q, pin.Convention.WORLD)
    c.close(H, np.triu(theirs) + np.triu(theirs, 1).T, c.mass)
    c.close(after[1], c.data.Ag.reshape(6, -1), c.mass)
    if not c.universal:
        c.close(after[0], np.array([M.homogeneous[:3] for M in c.data.oMi[1:]]))


ROWS = {name.split("_")[0].upper(): x for name, x in list(globals().items()) if re.match(r"k\d+_", name)}


def test_every_convention_has_a_row():
    assert list(ROWS) == [f"K{k}" for k in range(1, 19)]


@pytest.mark.parametrize("name", [*ROBOTS, *SIZES])
@pytest.mark.parametrize("row", ROWS)
def test_convention(row, name):
    ROWS[row](case(name))
