"""Time derivatives with contacts that hold in turns with Pinocchio's."""

from __future__ import annotations

from collections.abc import Iterator

import pinocchio as pin
from pinocchio_turns import BATCH, CALL, rows

from treefactor import bench, constraints
from treefactor.bench.case import Case

FEW = 64  # configurations


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
