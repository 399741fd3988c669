"""Measure the page *From Pinocchio to treefactor*.

Each function is timed in turns with the one of Pinocchio in one process, each called the fastest way that it
offers: for many configurations the batches of Pinocchio on one thread, or a loop in Python where it has none.
A generated program is compiled beforehand. `python docs/code/measure_from_pinocchio.py ROBOT ...` prints what
takes longer than Pinocchio's on some robots, and stores nothing. What needs the factor of H is left out where
there is none because a joint moves no mass.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
import pinocchio as pin
from pinocchio_constrained import constrained
from pinocchio_declared import declared
from pinocchio_geometry import configurations
from pinocchio_tasks import simulation, tasks
from pinocchio_turns import BATCH, BOUND, CALL, rows, turns
from rich.progress import track

import treefactor as tf
from treefactor import bench, robots
from treefactor.adapters import pinocchio_
from treefactor.bench.case import Case
from treefactor.exceptions import CodegenError, NotPositiveDefiniteError

ROBOTS = {  # with the frames that touch the ground or hold a tool
    "panda": ("panda_hand_tcp",),
    "solo12": ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"),
    "talos_reduced": ("left_sole_link", "right_sole_link"),
}


def measured(_: dict) -> dict:
    """Return the results of all comparisons, robot by robot."""
    return {
        "robots": {
            name: [one.measure().as_dict() for one in of_robot(name)] for name in track(ROBOTS, "timing")
        }
    }


def print_slower(name: str) -> None:
    """Print the comparisons of a robot whose ratio is below 1."""
    results = []
    for one in of_robot(name):
        try:
            results.append(one.measure())
        except np.linalg.LinAlgError as error:  # of NumPy, or ours
            print(f"  left out {one.what}, {one.target}: {error}")
    print(f"{name}: {len(results)} comparisons")
    for one in sorted((one for one in results if one.ratio < 1.0), key=lambda one: one.ratio):
        print(
            f"  {one.ratio:5.2f}  {one.what}, {one.target}: {1e6 * one.ours:.2f}, {1e6 * one.theirs:.2f} us"
        )


def of_robot(name: str) -> Iterator[bench.Comparison]:
    """Yield all comparisons for a robot."""
    case = Case(robots.find(name))
    contacts = [case.model.getFrameId(frame) for frame in ROBOTS.get(name, ())]
    model = case.model
    depths = [len(model.supports[frame.parentJoint]) for frame in model.frames]
    frame = contacts[0] if contacts else int(np.argmax(depths))
    for comparisons in (
        declared(case, frame),
        *(group(case) for group in (programs, simulation, linear_algebra, configurations)),
        tasks(case, frame),
        constrained(case, contacts or [frame]),
        delassus(case, contacts or [frame]),
    ):
        try:
            yield from comparisons
        except (NotPositiveDefiniteError, CodegenError) as error:  # H has no factor
            print(f"  left out the rest of {comparisons.__name__}: {error}")
    yield turns(
        CALL, case, "buildModelFromUrdf", partial(tf.Model.from_urdf, case.path, case.floating), loader(case)
    )


def programs(case: Case) -> Iterator[bench.Comparison]:
    """Yield comparisons of generated programs."""
    kernels, q = tf.compile(case.ours, ["minv", "bias"]), case.q
    theirs = "pin.computeMinverse(model, data, q)"
    yield from rows(
        case, "computeMinverse", "kernels.minv(q)", theirs, {"q": q}, (CALL, BATCH), kernels=kernels
    )
    bound = kernels.bind("minv", q[0], out=kernels.minv(q[0]))
    peer = partial(pin.computeMinverse, case.model, case.data, q[0])
    yield turns(BOUND, case, "computeMinverse", bound, peer)
    arrays, theirs = {"q": q, "v": case.v}, "pin.nle(model, data, q, v)"
    yield from rows(
        case, "nle of a program", "kernels.bias(q, v)", theirs, arrays, (CALL, BATCH), kernels=kernels
    )


def linear_algebra(case: Case) -> Iterator[bench.Comparison]:
    """Yield comparisons of the factor of ``data.M`` and of solutions."""
    model, data, b = case.model, case.data, case.b[0]
    np.copyto(data.M, case.H[0])
    names = {
        "H": data.M.copy(),
        "tree": case.tree,
        "x": np.empty_like(b),
        "accelerator": pinocchio_.Accelerator(model, data).factor(),
        "drop_in": pinocchio_.cholesky,
    }
    decompose, solve = "pin.cholesky.decompose(model, data)", "pin.cholesky.solve(model, data, b)"
    pin.cholesky.decompose(model, data)
    for what, ours, theirs in (
        ("cholesky.decompose", "accelerator.factor()", decompose),
        ("cholesky.solve", "accelerator.solve(b, x)", solve),
        ("drop-in decompose", "drop_in.decompose(model, data)", decompose),
        ("drop-in solve", "drop_in.solve(model, data, b)", solve),
        ("drop-in computeMinv", "drop_in.computeMinv(model, data)", "pin.cholesky.computeMinv(model, data)"),
        ("new factor", "tf.factor(H, tree)", decompose),
        ("solve", "tf.solve(H, tree, b)", f"{decompose}; {solve}"),
    ):
        yield from rows(case, what, ours, theirs, {"b": [b]}, (CALL,), out=False, **names)
    batch = case.H[: len(case.q)]
    every = f"data.M[:] = H; {decompose}"
    names["factor"] = tf.factor(batch, case.tree)
    del names["H"]
    ours = "factor.refactor(H)"
    yield from rows(case, "new factor", ours, every, {"H": batch}, (BATCH,), out=False, **names)
    arrays = {"H": batch, "b": case.b[: len(batch)]}
    ours, every = "tf.solve(H, tree, b)", f"{every}; {solve}"
    yield from rows(case, "solve", ours, every, arrays, (BATCH,), out=False, **names)


def delassus(case: Case, frames: list[int]) -> Iterator[bench.Comparison]:
    """Yield comparisons of J H^-1 J^T of all frames that touch something: from q, and from a given J."""
    model, data, q = case.model, case.data, case.q[0]
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for frame in frames:
        at = model.frames[frame].parentJoint, model.frames[frame].placement
        models.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, model, *at, pin.LOCAL))
        datas.append(models[-1].createData())
    pin.initConstraintDynamics(model, data, models, datas)
    robot, f_names = case.ours, [model.frames[frame].name for frame in frames]
    names = {"models": models, "datas": datas, "frames": f_names}
    names["J"] = tf.frame_jacobian(robot, q, f_names).reshape(-1, model.nv)
    pin.crba(model, data, q)
    names["accelerator"] = pinocchio_.Accelerator(model, data).factor()
    peer = "pin.computeDelassusMatrix(model, data, q, models, datas)"
    ours = "tf.delassus(robot, q, frames)"
    np.testing.assert_allclose(
        eval(ours, {"tf": tf, "robot": robot, "q": q, **names}),
        pin.computeDelassusMatrix(model, data, q, models, datas),
        rtol=1e-6,
        atol=1e-9,
    )
    yield from rows(case, "computeDelassusMatrix", ours, peer, {"q": [q]}, (CALL,), out=False, **names)
    ours = "accelerator.delassus(J)"
    yield from rows(case, "delassus of J", ours, peer, {"q": [q]}, (CALL,), out=False, **names)
    ours, theirs = "adapter.mass_matrix(model, data, q)", "pin.crba(model, data, q)"
    yield from rows(case, "mass_matrix", ours, theirs, {"q": [q]}, (CALL,), out=False, adapter=pinocchio_)


def loader(case: Case) -> Callable[[], pin.Model]:
    """Return Pinocchio's reader of URDF files."""
    base: Mapping = {"root_joint": pin.JointModelFreeFlyer()} if case.floating else {}
    return partial(pin.buildModelFromUrdf, str(case.path), *base.values())


if __name__ == "__main__":
    for robot in sys.argv[1:]:
        print_slower(robot)
