"""Compare times of dynamics with closed loops with Pinocchio's, for `treefactor bench loops`.

Times are those of the processor, in one thread. Pinocchio is given the loops as its rigid constraints, and
has no function for batches: it is called once per state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import process_time

import numpy as np

from ...codegen import compile
from ...constraints import forward_dynamics, forward_dynamics_derivatives
from ...model.mechanisms import MECHANISMS, Mechanism
from ...model.model import Model
from ..timing import Call, Comparison
from .programs import compile_c

NAMES = ("four-bar", "stewart")
COUNT = 1000  # states in a batch
ONE, WAYS = "forward dynamics", ("", ", interpreter", ", cc")
SIZES = (ONE, f"{ONE} {COUNT}")
DERIVATIVES = (f"derivatives of {ONE}", f"derivatives of {ONE} {COUNT}")
DAMPING, ACCURACY, ITERATIONS = 1e-12, 1e-10, 10  # of Pinocchio's proximal steps


def loop_comparisons() -> list[Comparison]:
    """Return all comparisons of `treefactor bench loops`."""
    return [found for name in NAMES for make in (closing, differentiating) for found in make(name)]


def closing(name: str, count: int = COUNT) -> Iterator[Comparison]:
    """Compare forward dynamics of a mechanism at rest, for one state and for many."""
    mechanism = MECHANISMS[name]()
    q, tau = states(mechanism, count)
    v = np.zeros_like(tau)
    theirs = peer(mechanism.model)
    expected = np.array([theirs(*state) for state in zip(q, v, tau, strict=True)])
    one = Call(partial(theirs, q[0], v[0], tau[0]))
    for how, ours in ways(mechanism.model):
        found = ours(q, v, tau)
        note = acceleration_difference(found[0] if isinstance(found, tuple) else found, expected)
        comparison = partial(
            Comparison, "closed loops", name, clock=process_time, goal=1.0, note=note, peer="Pinocchio"
        )
        yield comparison(f"{ONE}{how}", ours=Call(partial(ours, q[0], v[0], tau[0])), theirs=one)
        yield comparison(f"{ONE} {count}{how}", ours=Call(partial(ours, q, v, tau), count), theirs=one)


def differentiating(name: str, count: int = COUNT) -> Iterator[Comparison]:
    """Compare derivatives of the forward dynamics of a mechanism at rest, for one state and for many."""
    mechanism = MECHANISMS[name]()
    q, tau = states(mechanism, count)
    v, few = np.zeros_like(tau), slice(10)
    one, theirs = (q[0], v[0], tau[0]), derivatives_peer(mechanism.model)
    ours = partial(forward_dynamics_derivatives, mechanism.model)
    expected = np.array([theirs(*state) for state in zip(q[few], v[few], tau[few], strict=True)])
    note = difference("derivatives", ours(q[few], v[few], tau[few]).da_dtau, expected)
    comparison = partial(
        Comparison, "closed loops", name, clock=process_time, goal=1.0, note=note, peer="Pinocchio"
    )
    peers = Call(partial(theirs, *one))
    for what, given, items in zip(DERIVATIVES, (one, (q, v, tau)), (1, count), strict=True):
        yield comparison(what, ours=Call(partial(ours, *given), items), theirs=peers)


def ways(model: Model) -> Iterator[tuple[str, Callable]]:
    """Yield our forward dynamics: loops over bodies, a generated program, and compiled C where possible."""
    yield WAYS[0], partial(forward_dynamics, model)
    yield WAYS[1], compile(model, "loops").loops
    compiled = compile_c(model, ["loops"])
    if compiled is not None:
        yield WAYS[2], compiled.loops


def states(mechanism: Mechanism, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return random closed configurations and generalized forces."""
    rng = np.random.default_rng(0)
    q = np.array([mechanism.random(rng) for _ in range(count)])
    return q, rng.normal(size=(count, mechanism.model.nv))


def acceleration_difference(ours: np.ndarray, expected: np.ndarray) -> str:
    """Return a text with the largest relative difference of the accelerations."""
    return difference("accelerations", ours, expected)


def difference(what: str, ours: np.ndarray, expected: np.ndarray) -> str:
    """Return a text with the largest relative difference of two arrays."""
    return f"{what} differ by {np.abs(ours - expected).max() / np.abs(expected).max():.0e}"


def peer(model: Model) -> Callable[..., np.ndarray]:
    """Return Pinocchio's ``constraintDynamics`` of a model as a function of q, v and tau."""
    pin, theirs, data, *given = with_loops(model)

    def dynamics(q, v, tau):
        return pin.constraintDynamics(theirs, data, q, v, tau, *given).copy()

    return dynamics


def derivatives_peer(model: Model) -> Callable[..., np.ndarray]:
    """Return Pinocchio's ``computeConstraintDynamicsDerivatives``: da_dtau as a function of q, v and tau."""
    pin, theirs, data, *given = with_loops(model)

    def derivatives(q, v, tau):
        pin.constraintDynamics(theirs, data, q, v, tau, *given)
        pin.computeConstraintDynamicsDerivatives(theirs, data, *given)
        return data.ddq_dtau.copy()

    return derivatives


def with_loops(model: Model) -> tuple:
    """Return Pinocchio, its model and data, its constraints and their data, and settings."""
    from ...adapters.pinocchio_ import pin

    theirs = in_pinocchio(model)
    constraints, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for loop in model.loops:
        ends = (loop.first + 1, pin.SE3(loop.R1, loop.p1)), (loop.second + 1, pin.SE3(loop.R2, loop.p2))
        constraints.append(
            pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, theirs, *ends[0], *ends[1], pin.LOCAL)
        )
        datas.append(constraints[-1].createData())
    data, settings = theirs.createData(), pin.ProximalSettings(ACCURACY, DAMPING, ITERATIONS)
    pin.initConstraintDynamics(theirs, data, constraints, datas)
    return pin, theirs, data, constraints, datas, settings


def in_pinocchio(model: Model):
    """Build Pinocchio's model of a mechanism with the joints of `NAMES`."""
    import pinocchio as pin

    made = {
        "revolute": lambda joint: pin.JointModelRevoluteUnaligned(joint.axis),
        "prismatic": lambda joint: pin.JointModelPrismaticUnaligned(joint.axis),
        "universal": lambda joint: pin.JointModelUniversal(*joint.axis),
        "freeflyer": lambda joint: pin.JointModelFreeFlyer(),
    }
    theirs = pin.Model()
    for joint in model.joints:
        k = theirs.addJoint(joint.parent + 1, made[joint.kind](joint), pin.SE3(joint.R, joint.p), joint.name)
        inertia = pin.Inertia(joint.inertia.mass, joint.inertia.com, joint.inertia.tensor)
        theirs.appendBodyToJoint(k, inertia, pin.SE3.Identity())
    theirs.armature, theirs.gravity.linear = model.armature.copy(), model.gravity.copy()
    return theirs
