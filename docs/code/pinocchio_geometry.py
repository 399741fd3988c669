"""Time configurations, rotations and poses in turns with Pinocchio."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pinocchio as pin
from pinocchio_turns import BATCH, CALL, rows

from treefactor import bench, se3, so3
from treefactor.bench.case import Case

TWO = CALL, BATCH
POSES = (  # A and B are Pinocchio's objects of M and N, u that of the motion v
    ("exp6", "se3.exp(v)", "pin.exp6(v)"),
    ("log6", "se3.log(M)", "pin.log6(A)"),
    ("Jexp6", "se3.jexp(v)", "pin.Jexp6(v)"),
    ("Jlog6", "se3.jlog(M)", "pin.Jlog6(A)"),
    ("SE3 * SE3", "se3.compose(M, N)", "A * B"),
    ("SE3.inverse", "se3.inverse(M)", "A.inverse()"),
    ("SE3.actInv of SE3", "se3.between(M, N)", "A.actInv(B)"),
    ("SE3.act", "se3.act(M, x)", "A.act(x)"),
    ("SE3.act of Motion", "se3.act(M, v)", "A.act(u)"),
    ("SE3.actInv", "se3.act_inverse(M, x)", "A.actInv(x)"),
    ("SE3.actInv of Motion", "se3.act_inverse(M, v)", "A.actInv(u)"),
    ("SE3.action", "se3.action(M)", "A.action"),
    ("SE3.Interpolate", "se3.interpolate(M, N, 0.25)", "pin.SE3.Interpolate(A, B, 0.25)"),
    ("SE3 of rpy", "se3.from_rpy(x, y)", "pin.SE3(pin.rpy.rpyToMatrix(y), x)"),
    ("XYZQUATToSE3", "se3.from_xyzquat(z)", "pin.XYZQUATToSE3(z)"),
    ("SE3ToXYZQUAT", "se3.to_xyzquat(M)", "pin.SE3ToXYZQUAT(A)"),
)
ROTATIONS = (  # R and S are matrices, z a quaternion
    ("exp3", "so3.exp(x)", "pin.exp3(x)"),
    ("log3", "so3.log(R)", "pin.log3(R)"),
    ("Jexp3", "so3.jexp(x)", "pin.Jexp3(x)"),
    ("Jlog3", "so3.jlog(R)", "pin.Jlog3(R)"),
    ("rpy.rpyToMatrix", "so3.from_rpy(x)", "pin.rpy.rpyToMatrix(x)"),
    ("rpy.matrixToRpy", "so3.to_rpy(R)", "pin.rpy.matrixToRpy(R)"),
    ("Quaternion.matrix", "so3.from_quaternion(z)", "pin.Quaternion(z).matrix()"),
    ("Quaternion.coeffs", "so3.to_quaternion(R)", "pin.Quaternion(R).coeffs()"),
    (
        "Quaternion.slerp",
        "so3.interpolate(R, S, 0.25)",
        "pin.Quaternion(R).slerp(0.25, pin.Quaternion(S)).matrix()",
    ),
)


def configurations(case: Case) -> Iterator[bench.Comparison]:
    """Yield comparisons of new configurations."""
    model, q = case.model, case.q
    arrays = {"q": q}
    yield from rows(case, "neutral", "tf.neutral(robot)", "pin.neutral(model)", arrays, (CALL,), out=False)
    names = {"rng": np.random.default_rng(0), "count": len(q)}
    for name, limit in (("low", model.lowerPositionLimit), ("high", model.upperPositionLimit)):
        names[name] = np.clip(limit, -9.0, 9.0)
    what, theirs = "randomConfiguration", "pin.randomConfiguration(model, low, high)"
    ours = "tf.random_configuration(robot, rng, low, high)"
    yield from rows(case, what, ours, theirs, {"q": q}, (CALL,), out=False, **names)
    ours, theirs = f"{ours[:-1]}, count)", f"q; {theirs}"
    yield from rows(case, what, ours, theirs, {"q": q}, (BATCH,), out=False, **names)
    if np.isfinite([model.lowerPositionLimit, model.upperPositionLimit]).all():
        ours, theirs = "tf.random_configuration(robot, rng)", "pin.randomConfiguration(model)"
        yield from rows(case, f"{what} of the model", ours, theirs, {"q": q}, (CALL,), out=False, **names)


def poses(case: Case) -> Iterator[bench.Comparison]:
    """Yield comparisons of `treefactor.se3` and `treefactor.so3`."""
    rng, count = np.random.default_rng(0), len(case.q)
    v, x, y = rng.normal(size=(count, 6)), *rng.normal(size=(2, count, 3))
    M, N = se3.exp(v), se3.exp(v[::-1])
    A, B = ([pin.SE3(one[:, :3], one[:, 3]) for one in many] for many in (M, N))
    u = [pin.Motion(one) for one in v]
    arrays = {"v": v, "x": x, "y": y, "z": se3.to_xyzquat(M), "M": M, "N": N, "A": A, "B": B, "u": u}
    for what, ours, theirs in POSES:
        yield from rows(case, what, ours, theirs, arrays, TWO, se3=se3)
    R, S = so3.exp(x), so3.exp(y)
    arrays = {"x": x, "R": R, "S": S, "z": so3.to_quaternion(R)}
    for what, ours, theirs in ROTATIONS:
        yield from rows(case, what, ours, theirs, arrays, TWO, so3=so3)
