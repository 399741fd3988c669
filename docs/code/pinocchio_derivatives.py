"""Measure the times of derivatives in turns with Pinocchio's, and with products and differences of those."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pinocchio as pin
from pinocchio_turns import BATCH, CALL, WAYS, rows

from treefactor import bench, constraints
from treefactor.bench.case import Case
from treefactor.bench.comparisons.derivative_peers import Peers

INVERSE = "pin.computeRNEADerivatives(model, data, q, v, a)"
FORWARD = "pin.computeABADerivatives(model, data, q, v, tau)"
LEFT = "w @ matrices[0], w @ matrices[1], w @ matrices[2]"
RIGHT = "matrices[0] @ dq + matrices[1] @ dv + matrices[2] @"
MOTIONS = "pin.computeForwardKinematicsDerivatives(model, data, q, v, a); "
FEW = 64  # configurations, where Pinocchio computes central differences
MATRICES = (  # name of the row, ours, Pinocchio's
    ("computeRNEADerivatives", "tf.rnea_derivatives(robot, q, v, a)", INVERSE),
    ("computeABADerivatives", "tf.forward_dynamics_derivatives(robot, q, v, tau)", FORWARD),
    (
        "getFrameAccelerationDerivatives",
        "tf.frame_derivatives(robot, q, v, a, name)",
        f"{MOTIONS}pin.getFrameAccelerationDerivatives(model, data, frame, pin.LOCAL)",
    ),
    (
        "getCenterOfMassVelocityDerivatives",
        "tf.com_derivatives(robot, q, v, a)",
        f"{MOTIONS}pin.centerOfMass(model, data, q, v); pin.getCenterOfMassVelocityDerivatives(model, data)",
    ),
    (
        "computeCentroidalDynamicsDerivatives",
        "tf.centroidal_derivatives(robot, q, v, a)",
        "pin.computeCentroidalDynamicsDerivatives(model, data, q, v, a)",
    ),
    ("integrate_derivatives", "tf.integrate_derivatives(robot, q, v)", "pin.dIntegrate(model, q, v)"),
    ("difference_derivatives", "tf.difference_derivatives(robot, q, r)", "pin.dDifference(model, q, r)"),
    ("rnea_vjp", "tf.rnea_vjp(robot, q, v, a, w)", f"matrices = {INVERSE}; {LEFT}"),
    ("forward_dynamics_vjp", "tf.forward_dynamics_vjp(robot, q, v, tau, w)", f"matrices = {FORWARD}; {LEFT}"),
    ("rnea_jvp", "tf.rnea_jvp(robot, q, v, a, dq, dv, da)", f"matrices = {INVERSE}; {RIGHT} da"),
    (
        "forward_dynamics_jvp",
        "tf.forward_dynamics_jvp(robot, q, v, tau, dq, dv, dtau)",
        f"matrices = {FORWARD}; {RIGHT} dtau",
    ),
)
SECOND = {  # arguments of functions that Pinocchio's Python does not have
    "rnea_hvp": "q, v, a, w, dq, dv, da",
    "forward_dynamics_hvp": "q, v, tau, w, dq, dv, dtau",
    "rnea_hessian": "q, v, a, w",
    "forward_dynamics_hessian": "q, v, tau, w",
}


def derivatives(case: Case, frame: int) -> Iterator[bench.Comparison]:
    """Yield comparisons of matrices and products, and of second derivatives with central differences."""
    moving, rng = case, np.random.default_rng(1)
    names = ("q", "v", "a", "tau")
    arrays = {name: getattr(moving, name) for name in names} | {"r": np.roll(moving.q, 1, axis=0)}
    arrays |= {name: rng.normal(size=moving.v.shape) for name in ("w", "dq", "dv", "da", "dtau")}
    named = {"frame": frame, "name": case.model.frames[frame].name}
    for what, ours, theirs in MATRICES:
        read = {name: x for name, x in arrays.items() if name in arguments(ours)}
        yield from rows(case, what, ours, theirs, read, WAYS, **named)
    peers = Peers(case.model, frame)
    for what, given in SECOND.items():
        read = {name: arrays[name][:FEW] for name in given.split(", ")}
        ours, theirs = f"tf.{what}(robot, {given})", f"peers.{what}({given})"
        yield from rows(case, what, ours, theirs, read, (CALL, BATCH), peers=peers)


def constrained(case: Case, frames: list[int]) -> Iterator[bench.Comparison]:
    """Yield comparisons of derivatives with the points of these frames held."""
    model, data, moving = case.model, case.data, case
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for frame in frames:
        contact = model.frames[frame]
        at = contact.parentJoint, contact.placement
        models.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, *at, pin.LOCAL))
        datas.append(models[-1].createData())
    pin.initConstraintDynamics(model, data, models, datas)
    names = {"models": models, "datas": datas, "constraints": constraints}
    names["contacts"] = [constraints.RigidContact(model.frames[frame].name) for frame in frames]
    what, ours = "computeConstraintDynamicsDerivatives", "constraints.forward_dynamics_derivatives"
    theirs = (
        "pin.constraintDynamics(model, data, q, v, tau, models, datas); "
        "pin.computeConstraintDynamicsDerivatives(model, data, models, datas)"
    )
    arrays = {"q": moving.q[:FEW], "v": moving.v[:FEW], "tau": moving.tau[:FEW]}
    ours = f"{ours}(robot, q, v, tau, contacts=contacts)"
    yield from rows(case, what, ours, theirs, arrays, (CALL, BATCH), out=False, **names)


def arguments(source: str) -> list[str]:
    """Return the arguments in the source of a call."""
    return source.partition("(")[2].removesuffix(")").split(", ")
