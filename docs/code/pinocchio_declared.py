"""Time all declared quantities in turns with the calls of Pinocchio that their declarations have."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pinocchio as pin
from pinocchio_turns import BATCH, CALL, WAYS, rows

import treefactor as tf
from treefactor import bench
from treefactor.bench.case import Case
from treefactor.bench.comparisons.derivative_peers import Peers
from treefactor.quantities.declaration import NEEDED, Quantity
from treefactor.quantities.replacements import row
from treefactor.quantities.table import QUANTITIES

FEW = 64  # configurations, where Pinocchio computes central differences
VARIABLES = {
    "model": "robot",
    "q0": "q",
    "q1": "r",
    "x": "a",
    "frame": "name",
}  # of arguments


def declared(case: Case, frame: int) -> Iterator[bench.Comparison]:
    """Yield the comparisons of all quantities with a call of Pinocchio; of frames with one frame."""
    of_model, names, of_poses = arrays_of(case), names_of(case, frame), arrays_of_poses(len(case.q))
    for quantity in QUANTITIES.values():
        arrays = of_model if quantity.has_model else of_poses
        for line in filter(lambda line: line.call, quantity.timed):
            ours = line.ours or call_of(quantity)
            differences = line.call.startswith("peers.")
            read = {
                name: array[:FEW] if differences else array
                for name, array in arrays.items()
                if re.search(rf"\b{name}\b", f"{ours}; {line.call}")
            }
            what, ways = row(quantity, line).measured, (CALL, BATCH) if differences else WAYS
            parallel = case.peers(quantity.name).run if "InParallel" in line.names else None
            ways = ways if quantity.bound else (CALL, BATCH)
            yield from rows(case, what, ours, line.call, read, ways, quantity.has_out, parallel, **names)


def call_of(quantity: Quantity) -> str:
    """Return the call of a quantity with the arguments that it needs."""
    needed = [name for name, value in quantity.arguments.items() if value is NEEDED]
    renamed = VARIABLES if quantity.has_model else {}
    return f"tf.{quantity.key}({', '.join(renamed.get(name, name) for name in needed)})"


def arrays_of(case: Case) -> dict[str, object]:
    """Return what differs between the configurations of a batch."""
    rng = np.random.default_rng(1)
    fext = np.random.default_rng(0).normal(size=(len(case.q), case.ours.njoints, 6))
    return {
        **{name: getattr(case, name) for name in ("q", "v", "a", "tau")},
        **{name: rng.normal(size=case.v.shape) for name in ("w", "dq", "dv", "da", "dtau")},
        **{"r": tf.integrate(case.ours, case.q, 0.3 * case.v), "s": case.q.copy(), "fext": fext},
        "forces": [pin.StdVec_Force([pin.Force.Zero(), *map(pin.Force, each)]) for each in fext],
    }


def arrays_of_poses(count: int) -> dict[str, object]:
    """Return poses, rotations and vectors: A and B are Pinocchio's objects of M and M1, u that of v."""
    rng = np.random.default_rng(0)
    v, x, w, rpy = rng.normal(size=(count, 6)), *rng.normal(size=(3, count, 3))
    M, M1, R, R1 = tf.se3.exp(v), tf.se3.exp(v[::-1]), tf.so3.exp(x), tf.so3.exp(w)
    A, B = ([pin.SE3(one[:, :3], one[:, 3]) for one in many] for many in (M, M1))
    return {
        **{
            "v": v,
            "w": w,
            "x": x,
            "xyz": x,
            "rpy": rpy,
            "M": M,
            "M0": M,
            "M1": M1,
            "R": R,
            "R0": R,
            "R1": R1,
        },
        **{"z": tf.se3.to_xyzquat(M), "q": tf.so3.to_quaternion(R)},
        **{"A": A, "B": B, "u": [pin.Motion(one) for one in v]},
    }


def names_of(case: Case, frame: int) -> dict[str, object]:
    """Return the other variables of the calls."""
    chosen, weightless = case.model.frames[frame], case.model.copy()
    weightless.gravity.linear = np.zeros(3)
    return {
        **{"frame": frame, "name": chosen.name, "joint": int(chosen.parentJoint) - 1},
        **{"u": np.array(0.25), "still": np.zeros(case.model.nv), "peers": Peers(case.model, frame)},
        **{"weightless": weightless, "weightless_data": weightless.createData()},
    }
