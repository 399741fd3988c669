"""Measure the page *From Pinocchio to treefactor*: `python docs/measure_from_pinocchio.py`.

Each function is timed in turns with the one of Pinocchio in one process, each called the fastest way that it
offers: for many configurations the batches of Pinocchio on one thread, or a loop in Python where it has none.
A generated program is compiled beforehand. No path and no name of the machine are stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import process_time

import numpy as np
import pinocchio as pin
from rich.progress import track

import treefactor as tf
from treefactor import bench, constraints, report, robots
from treefactor.adapters import pinocchio_
from treefactor.bench.comparisons import robot as robot_times

HERE = Path(__file__).parent
ROBOTS = {  # with the frames that touch the ground or hold a tool
    "panda": ("panda_hand_tcp",),
    "solo12": ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"),
    "talos_reduced": ("left_sole_link", "right_sole_link"),
}
CALL, BOUND, BATCH = "one call", "bound call", "batch of 1024"


def main() -> None:
    """Measure all robots and write from_pinocchio.json."""
    found = {name: [one.measure().as_dict() for one in of_robot(name)] for name in track(ROBOTS, "timing")}
    versions = {name: version(name) for name in ("pin", "numpy")}
    content = {"config": tf.show_config("dicts"), "versions": versions, "robots": found}
    report.write_json(HERE / "measured" / "from_pinocchio.json", content)


def of_robot(name: str) -> Iterator[bench.Comparison]:
    """Yield all comparisons for a robot."""
    case = robot_times.Case(robots.find(name))
    frames = [case.model.getFrameId(frame) for frame in ROBOTS[name]]
    for measured in (dynamics, linear_algebra, configurations):
        yield from measured(case)
    yield from kinematics(case, frames[0])
    yield from delassus(case, frames)
    yield turns(
        CALL, case, "buildModelFromUrdf", partial(tf.Model.from_urdf, case.path, case.floating), loader(case)
    )


def turns(
    how: str, case: robot_times.Case, theirs: str, ours: Callable, peer: Callable, count: int = 1
) -> bench.Comparison:
    """Compare a function with Pinocchio's, each called for `count` configurations."""
    calls = bench.Call(ours, count), bench.Call(peer, count)
    return bench.Comparison(how, case.name, theirs, "Pinocchio", *calls, clock=process_time)


def loop(function: Callable, *arrays: np.ndarray) -> Callable[[], None]:
    """Call a function in a Python loop over configurations."""

    def run() -> None:
        for state in zip(*arrays, strict=True):
            function(*state)

    return run


def dynamics(case: robot_times.Case) -> Iterator[bench.Comparison]:
    """Yield comparisons of functions of q, v and forces."""
    moving = case.moving
    robot, model, data = moving.ours, case.model, case.data
    q, qv = [moving.q], [moving.q, moving.v]
    fext = np.random.default_rng(0).normal(size=(len(moving.q), robot.njoints, 6))
    forces = [pin.StdVec_Force([pin.Force.Zero(), *map(pin.Force, each)]) for each in fext]
    for theirs, function, states, arguments in (
        ("aba", tf.forward_dynamics, moving.states("forward_dynamics"), None),
        ("rnea", tf.rnea, moving.states("rnea"), None),
        ("nle", tf.bias, moving.states("bias"), None),
        ("computeGeneralizedGravity", tf.generalized_gravity, q, None),
        ("computeStaticTorque", tf.static_torque, [moving.q, fext], [moving.q, forces]),
        ("crba", tf.crba, moving.states("crba"), None),
        ("computeCoriolisMatrix", tf.coriolis_matrix, qv, None),
        ("computeMinverse", tf.inverse_inertia, q, None),
        ("computeKineticEnergy", tf.kinetic_energy, qv, None),
        ("computePotentialEnergy", tf.potential_energy, q, None),
        ("computeMechanicalEnergy", tf.mechanical_energy, qv, None),
    ):
        arguments = arguments or states
        what = "inverse_inertia" if theirs == "computeMinverse" else theirs
        peer = partial(getattr(pin, theirs), model, data)
        first, one = [array[0] for array in states], partial(peer, *(array[0] for array in arguments))
        batch = function(robot, *states)
        yield turns(CALL, case, what, partial(function, robot, *first), one)
        yield turns(BOUND, case, what, tf.bind(function, robot, *first, out=np.array(batch[0])), one)
        whole = partial(function, robot, *states, out=batch)
        parallel = {"aba": "forward_dynamics", "rnea": "rnea"}.get(theirs)
        many = moving.peers(parallel).run if parallel else loop(peer, *arguments)
        yield turns(BATCH, case, what, whole, many, len(moving.q))
    yield from program(case)


def program(case: robot_times.Case) -> Iterator[bench.Comparison]:
    """Yield comparisons of a generated program of the inverse of H."""
    moving = case.moving
    robot, model, data = moving.ours, case.model, case.data
    kernels = tf.compile(robot, ["minv"])
    peer, out = partial(pin.computeMinverse, model, data), kernels.minv(moving.q)
    one = partial(peer, moving.q[0])
    yield turns(CALL, case, "computeMinverse", partial(kernels.minv, moving.q[0]), one)
    yield turns(BOUND, case, "computeMinverse", kernels.bind("minv", moving.q[0], out=out[0].copy()), one)
    whole = partial(kernels.minv, moving.q, out=out)
    yield turns(BATCH, case, "computeMinverse", whole, loop(peer, moving.q), len(moving.q))


def linear_algebra(case: robot_times.Case) -> Iterator[bench.Comparison]:
    """Yield comparisons of the factor of ``data.M`` and of solutions."""
    model, data, b = case.model, case.data, case.b[0]
    np.copyto(data.M, case.H[0])
    H, out = data.M.copy(), np.empty_like(b)
    accelerator = pinocchio_.Accelerator(model, data).factor()
    decompose = partial(pin.cholesky.decompose, model, data)
    decompose()
    yield turns(CALL, case, "cholesky.decompose", accelerator.factor, decompose)
    solve = partial(pin.cholesky.solve, model, data, b)
    yield turns(CALL, case, "cholesky.solve", partial(accelerator.solve, b, out), solve)
    for name, arguments in (("decompose", ()), ("solve", (b,)), ("computeMinv", ())):
        peer = partial(getattr(pin.cholesky, name), model, data, *arguments)
        drop_in = partial(getattr(pinocchio_.cholesky, name), model, data, *arguments)
        yield turns(CALL, case, f"drop-in {name}", drop_in, peer)
    yield turns(CALL, case, "new factor", partial(tf.factor, H, case.tree), decompose)
    batch = case.H[: len(case.moving.q)]
    factor, M = tf.factor(batch, case.tree), data.M

    def every() -> None:
        for matrix in batch:
            np.copyto(M, matrix)
            pin.cholesky.decompose(model, data)

    yield turns(BATCH, case, "new factor", partial(factor.refactor, batch), every, len(batch))


def configurations(case: robot_times.Case) -> Iterator[bench.Comparison]:
    """Yield comparisons of steps between configurations and of new configurations."""
    moving, model = case.moving, case.model
    robot, q, v = moving.ours, moving.q, moving.v
    q1 = tf.integrate(robot, q, 0.3 * v)
    for name, other, function in (("integrate", v, tf.integrate), ("difference", q1, tf.difference)):
        peer, out = partial(getattr(pin, name), model), function(robot, q, other)
        yield turns(CALL, case, name, partial(function, robot, q[0], other[0]), partial(peer, q[0], other[0]))
        whole = partial(function, robot, q, other, out=out)
        yield turns(BATCH, case, name, whole, loop(peer, q, other), len(q))
    yield turns(CALL, case, "neutral", partial(tf.neutral, robot), partial(pin.neutral, model))
    rng = np.random.default_rng(0)
    ends = [np.clip(limit, -9.0, 9.0) for limit in (model.lowerPositionLimit, model.upperPositionLimit)]
    peer = partial(pin.randomConfiguration, model, *ends)
    ours = partial(tf.random_configuration, robot, rng, *ends)
    yield turns(CALL, case, "randomConfiguration", ours, peer)

    def every() -> None:
        for _ in q:
            peer()

    yield turns(BATCH, case, "randomConfiguration", partial(ours, size=len(q)), every, len(q))


def kinematics(case: robot_times.Case, frame: int) -> Iterator[bench.Comparison]:
    """Yield comparisons of placement, Jacobian and acceleration of one frame."""
    moving, model, data = case.moving, case.model, case.data
    robot, q, v, still = moving.ours, moving.q, moving.v, np.zeros(model.nv)
    found = model.frames[frame]
    of = (int(found.parentJoint) - 1, found.placement.rotation, found.placement.translation)

    def placement(q: np.ndarray) -> pin.SE3:
        pin.framesForwardKinematics(model, data, q)
        return data.oMf[frame]

    def jacobian(q: np.ndarray) -> np.ndarray:
        return pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL)

    def acceleration(q: np.ndarray, v: np.ndarray) -> pin.Motion:
        pin.forwardKinematics(model, data, q, v, still)
        return pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL)

    for theirs, peer, function, states in (
        ("framesForwardKinematics", placement, constraints.placement, (q,)),
        ("computeFrameJacobian", jacobian, constraints.jacobian, (q,)),
        ("getFrameClassicalAcceleration", acceleration, constraints.acceleration_bias, (q, v)),
    ):
        first = [array[0] for array in states]
        yield turns(CALL, case, theirs, partial(function, robot, *first, *of), partial(peer, *first))
        yield turns(BATCH, case, theirs, partial(function, robot, *states, *of), loop(peer, *states), len(q))


def delassus(case: robot_times.Case, frames: list[int]) -> Iterator[bench.Comparison]:
    """Yield comparisons of J H^-1 J^T of all frames that touch something: from q, and from a given J."""
    model, data, q = case.model, case.data, case.moving.q[0]
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for frame in frames:
        found = model.frames[frame]
        at = found.parentJoint, found.placement
        models.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, model, *at, pin.LOCAL))
        datas.append(models[-1].createData())
    pin.initConstraintDynamics(model, data, models, datas)
    accelerator = pinocchio_.Accelerator(model, data)
    J = np.empty((6 * len(frames), model.nv))

    def ours() -> np.ndarray:
        pin.crba(model, data, q)
        for k, frame in enumerate(frames):
            J[6 * k : 6 * k + 6] = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL)
        return accelerator.factor().delassus(J)

    def peer() -> np.ndarray:
        return pin.computeDelassusMatrix(model, data, q, models, datas)

    np.testing.assert_allclose(ours(), peer(), rtol=1e-6, atol=1e-9)
    yield turns(CALL, case, "computeDelassusMatrix", ours, peer)
    own, names, many = pinocchio_.model(model), [model.frames[frame].name for frame in frames], case.moving.q
    out = np.empty((len(J), len(J)))
    yield turns(CALL, case, "delassus", partial(tf.delassus, own, q, names, out=out), peer)
    every = loop(lambda q: pin.computeDelassusMatrix(model, data, q, models, datas), many)
    yield turns(BATCH, case, "delassus", partial(tf.delassus, own, many, names), every, len(many))
    yield turns(CALL, case, "delassus of J", partial(accelerator.delassus, J), peer)
    mass_matrix = partial(pinocchio_.mass_matrix, model, data, q)
    yield turns(CALL, case, "mass_matrix", mass_matrix, partial(pin.crba, model, data, q))


def loader(case: robot_times.Case) -> Callable[[], pin.Model]:
    """Return Pinocchio's reader of URDF files."""
    base: Mapping = {"root_joint": pin.JointModelFreeFlyer()} if case.floating else {}
    return partial(pin.buildModelFromUrdf, str(case.path), *base.values())


if __name__ == "__main__":
    main()
