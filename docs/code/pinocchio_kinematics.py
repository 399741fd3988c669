"""Time dynamics, kinematics, momentum, operational space and simulation in turns with Pinocchio."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
import pinocchio as pin
from pinocchio_turns import BATCH, CALL, WAYS, rows

import treefactor as tf
from treefactor import bench
from treefactor.bench.case import Case

TWO = CALL, BATCH
FORWARD = "pin.forwardKinematics(model, data, q)"
SECOND = "pin.forwardKinematics(model, data, q, v, a)"
DYNAMICS = (  # name of the row, ours, Pinocchio's
    ("aba", "tf.forward_dynamics(robot, q, v, tau)", "pin.aba(model, data, q, v, tau)"),
    ("aba of bodies", "tf.aba(robot, q, v, tau)", "pin.aba(model, data, q, v, tau)"),
    ("rnea", "tf.rnea(robot, q, v, a)", "pin.rnea(model, data, q, v, a)"),
    ("Data.f", "tf.joint_forces(robot, q, v, a)", "pin.rnea(model, data, q, v, a); data.f"),
    ("Data.f[1]", "tf.base_force(robot, q, v, a)", "pin.rnea(model, data, q, v, a); data.f[1].vector"),
    ("nle", "tf.bias(robot, q, v)", "pin.nle(model, data, q, v)"),
    (
        "computeGeneralizedGravity",
        "tf.generalized_gravity(robot, q)",
        "pin.computeGeneralizedGravity(model, data, q)",
    ),
    ("crba", "tf.crba(robot, q)", "pin.crba(model, data, q)"),
    ("crba @ a", "tf.h_times(robot, q, a)", "pin.crba(model, data, q) @ a"),
    (
        "computeCoriolisMatrix",
        "tf.coriolis_matrix(robot, q, v)",
        "pin.computeCoriolisMatrix(model, data, q, v)",
    ),
    ("inverse_inertia", "tf.inverse_inertia(robot, q)", "pin.computeMinverse(model, data, q)"),
    ("computeKineticEnergy", "tf.kinetic_energy(robot, q, v)", "pin.computeKineticEnergy(model, data, q, v)"),
    ("computePotentialEnergy", "tf.potential_energy(robot, q)", "pin.computePotentialEnergy(model, data, q)"),
    (
        "computeMechanicalEnergy",
        "tf.mechanical_energy(robot, q, v)",
        "pin.computeMechanicalEnergy(model, data, q, v)",
    ),
)
FRAMES = (
    (
        "framesForwardKinematics",
        "tf.frame_placement(robot, q, name)",
        "pin.framesForwardKinematics(model, data, q); data.oMf[frame]",
    ),
    ("forwardKinematics", "tf.joint_placements(robot, q)", FORWARD),
    (
        "getFrameVelocity",
        "tf.frame_velocity(robot, q, v, name)",
        "pin.forwardKinematics(model, data, q, v); pin.getFrameVelocity(model, data, frame, pin.LOCAL)",
    ),
    (
        "getFrameAcceleration",
        "tf.frame_acceleration(robot, q, v, a, name)",
        f"{SECOND}; pin.getFrameAcceleration(model, data, frame, pin.LOCAL)",
    ),
    (
        "computeFrameJacobian",
        "tf.frame_jacobian(robot, q, name)",
        "pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL)",
    ),
    (
        "getFrameJacobianTimeVariation",
        "tf.frame_jacobian_dot(robot, q, v, name)",
        "pin.computeJointJacobiansTimeVariation(model, data, q, v); "
        "pin.getFrameJacobianTimeVariation(model, data, frame, pin.LOCAL)",
    ),
)
FRAMES_UNBOUND = (
    (
        "getFrameClassicalAcceleration",
        "tf.frame_acceleration(robot, q, v, a, name, 'LOCAL', True)",
        f"{SECOND}; pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL)",
    ),
    (
        "computeJointJacobian",
        "tf.joint_jacobian(robot, q, joint)",
        "pin.computeJointJacobian(model, data, q, joint + 1)",
    ),
)
FUSED = (
    (
        "Kinematics",
        "request(q)",
        "pin.computeJointJacobians(model, data, q); pin.updateFramePlacement(model, data, frame); "
        "pin.getFrameJacobian(model, data, frame, pin.LOCAL); data.oMf[frame]; "
        "pin.centerOfMass(model, data, q, False)",
    ),
)
MASSES = (
    ("centerOfMass", "tf.center_of_mass(robot, q)", "pin.centerOfMass(model, data, q)"),
    (
        "jacobianCenterOfMass",
        "tf.center_of_mass_jacobian(robot, q)",
        "pin.jacobianCenterOfMass(model, data, q)",
    ),
    ("computeCentroidalMap", "tf.centroidal_map(robot, q)", "pin.computeCentroidalMap(model, data, q)"),
    ("dccrba", "tf.centroidal_map_dot(robot, q, v)", "pin.dccrba(model, data, q, v)"),
    (
        "computeCentroidalMomentum",
        "tf.centroidal_momentum(robot, q, v)",
        "pin.computeCentroidalMomentum(model, data, q, v)",
    ),
    (
        "computeCentroidalMomentumTimeVariation",
        "tf.centroidal_momentum_rate(robot, q, v, a)",
        "pin.computeCentroidalMomentumTimeVariation(model, data, q, v, a)",
    ),
    ("Data.Ig", "tf.centroidal_inertia(robot, q)", "pin.ccrba(model, data, q, v); data.Ig.inertia"),
)
PARTS = "J = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL); "
SPACE = (
    f"{PARTS}K = pin.computeMinverse(model, data, q) @ J.T; inertia = np.linalg.inv(J @ K); "
    "inverse = K @ inertia; "
)
TASK_BIAS = (
    "pin.forwardKinematics(model, data, q, v, zero); "
    "rate = pin.getFrameAcceleration(model, data, frame, pin.LOCAL)"
)
TASKS = (  # Pinocchio computes the parts, NumPy composes them
    ("task_bias", "tf.task_bias(robot, q, v, name)", TASK_BIAS),
    (
        "operational_inertia",
        "tf.operational_inertia(robot, q, name)",
        f"{PARTS}np.linalg.inv(J @ pin.computeMinverse(model, data, q) @ J.T)",
    ),
    ("operational_space", "everything(tf.operational_space(robot, q, name))", f"{SPACE}one - inverse @ J"),
    (
        "operational_bias",
        "tf.operational_bias(robot, q, v, name)",
        f"{SPACE}{TASK_BIAS}; inverse.T @ pin.nle(model, data, q, v) - inertia @ rate.vector",
    ),
)
ROLLED = 20  # steps
SIMULATED = "v = v + h * pin.aba(model, data, q, v, tau); q = pin.integrate(model, q, h * v)"


def dynamics(case: Case) -> Iterator[bench.Comparison]:
    """Yield comparisons of functions of q, v and forces."""
    moving, robot = case, case.ours
    arrays = {"q": moving.q, "v": moving.v, "a": moving.a, "tau": moving.tau}
    for what, ours, theirs in DYNAMICS:
        parallel = {"aba": "forward_dynamics", "rnea": "rnea"}.get(what)
        many = moving.peers(parallel).run if parallel else None
        yield from rows(case, what, ours, theirs, arrays, parallel=many)
    ours, theirs = "tf.all_terms(robot, q, v)", "pin.computeAllTerms(model, data, q, v)"
    yield from rows(case, "computeAllTerms", ours, theirs, arrays, TWO, out=False)
    fext = np.random.default_rng(0).normal(size=(len(moving.q), robot.njoints, 6))
    forces = [pin.StdVec_Force([pin.Force.Zero(), *map(pin.Force, each)]) for each in fext]
    ours, theirs = "tf.static_torque(robot, q, fext)", "pin.computeStaticTorque(model, data, q, forces)"
    arrays = {"q": moving.q, "fext": fext, "forces": forces}
    yield from rows(case, "computeStaticTorque", ours, theirs, arrays)


def kinematics(case: Case, frame: int) -> Iterator[bench.Comparison]:
    """Yield comparisons of one frame, of centres of mass and momentum, and of tasks."""
    moving, robot, chosen = case, case.ours, case.model.frames[frame]
    arrays = {"q": moving.q, "v": moving.v, "a": moving.a}
    names = {
        "frame": frame,
        "name": chosen.name,
        "joint": int(chosen.parentJoint) - 1,
        "zero": np.zeros(robot.nv),
        "one": np.eye(robot.nv),
        "request": tf.Kinematics(robot, [chosen.name], jacobians=[chosen.name], center_of_mass=True),
        "everything": lambda task: (task.inertia, task.inverse, task.nullspace),
    }
    for what, ours, theirs in chain(FRAMES, MASSES):
        yield from rows(case, what, ours, theirs, arrays, WAYS, **names)
    for what, ours, theirs in FRAMES_UNBOUND:
        yield from rows(case, what, ours, theirs, arrays, TWO, **names)
    ours, theirs = "tf.center_of_mass(robot, q, v, a)", "pin.centerOfMass(model, data, q, v, a)"
    yield from rows(case, "centerOfMass of q, v, a", ours, theirs, arrays)
    regular = robot.nv >= 6  # else the task is singular
    for what, ours, theirs in chain(FUSED, TASKS if regular else TASKS[:1]):
        yield from rows(case, what, ours, theirs, arrays, TWO, out=False, **names)


def simulation(case: Case) -> Iterator[bench.Comparison]:
    """Yield comparisons of time steps and trajectories with `aba` and `integrate`."""
    moving = case
    arrays = {"q": moving.q, "v": moving.v, "tau": moving.tau}
    yield from rows(case, "step", "tf.step(robot, q, v, tau, h)", SIMULATED, arrays, TWO, h=1e-3)

    def steps(q, v, tau, h=1e-3) -> None:
        for _ in range(ROLLED):
            v = v + h * pin.aba(case.model, case.data, q, v, tau)
            q = pin.integrate(case.model, q, h * v)

    few = {name: array[:64] for name, array in arrays.items()}
    names = {"h": 1e-3, "steps": steps, "ROLLED": ROLLED}
    ours = "tf.rollout(robot, q, v, tau, h, ROLLED)"
    yield from rows(case, "rollout", ours, "steps(q, v, tau)", few, TWO, **names)
