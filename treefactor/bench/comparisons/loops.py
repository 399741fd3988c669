"""Compare times of dynamics with closed loops with Pinocchio's, for `treefactor bench loops`.

Times are those of the processor, in one thread. Pinocchio is given the loops as its rigid constraints, and
has no function for batches: it is called once per state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from time import process_time

import numpy as np

from ...codegen import compile
from ...constraints import forward_dynamics, forward_dynamics_derivatives
from ...model.mechanisms import MECHANISMS, Mechanism
from ...model.model import Model
from ..case import program_backends
from ..timing import Call, Comparison

NAMES = ("four-bar", "stewart")
COUNT = 1000  # states in a batch
ONE, WAYS = "forward dynamics", ("", ", interpreter", ", cc")
SIZES = (ONE, f"{ONE} {COUNT}")
DERIVATIVES = (f"derivatives of {ONE}", f"derivatives of {ONE} {COUNT}")
DAMPING, ACCURACY, ITERATIONS = 1e-12, 1e-10, 10  # of Pinocchio's proximal steps


def closed_loops(name: str) -> Iterator[Comparison]:
    """Compare forward dynamics of a mechanism at rest and its derivatives, for one state and for many."""
    timed = cache(partial(TimedLoops, name))
    ways = WAYS[: 1 + len(program_backends())]
    quantities = [(what, how) for how in ways for what in SIZES] + [(what, "") for what in DERIVATIVES]
    for what, how in quantities:
        yield Comparison(
            *("closed loops", name, f"{what}{how}", "Pinocchio"),
            ours=lambda what=what, how=how: timed().ours(what, how),
            theirs=lambda what=what: timed().theirs(what),
            goal=1.0,
            note=lambda what=what, how=how: timed().note(what, how),
            clock=process_time,
        )


class TimedLoops:
    """A mechanism in random closed configurations at rest.

    Parameters
    ----------
    name : str
        Of a mechanism.
    """

    def __init__(self, name: str):
        mechanism = MECHANISMS[name]()
        self.model = mechanism.model
        q, tau = states(mechanism, COUNT)
        self.states = q, np.zeros_like(tau), tau
        self.first = [array[0] for array in self.states]
        self.function = cache(self.function)

    def function(self, what: str, how: str) -> Callable:
        """Return our function: loops over bodies, a generated program, or compiled C."""
        if what in DERIVATIVES:
            return partial(forward_dynamics_derivatives, self.model)
        if not how:
            return partial(forward_dynamics, self.model)
        return compile(self.model, "loops", program_backends()[how.removeprefix(", ")]).loops

    def peer(self, what: str) -> Callable[..., np.ndarray]:
        """Return Pinocchio's function."""
        return (derivatives_peer if what in DERIVATIVES else peer)(self.model)

    def ours(self, what: str, how: str) -> Call:
        """Return our function of one state, or of all."""
        many = what in (SIZES[1], DERIVATIVES[1])
        run = partial(self.function(what, how), *(self.states if many else self.first))
        return Call(run, COUNT if many else 1)

    def theirs(self, what: str) -> Call:
        """Return Pinocchio's function of one state; it has none for several."""
        return Call(partial(self.peer(what), *self.first))

    def note(self, what: str, how: str) -> str:
        """Return a text with the largest relative difference from Pinocchio's results."""
        result, theirs = self.function(what, how)(*self.states), self.peer(what)
        expected = np.array([theirs(*state) for state in zip(*self.states, strict=True)])
        if what in DERIVATIVES:
            return difference("derivatives", result.da_dtau, expected)
        return difference("accelerations", result[0] if isinstance(result, tuple) else result, expected)


def states(mechanism: Mechanism, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return random closed configurations and generalized forces."""
    rng = np.random.default_rng(0)
    q = np.array([mechanism.random(rng) for _ in range(count)])
    return q, rng.normal(size=(count, mechanism.model.nv))


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
    """Build Pinocchio's model of an arm or of a mechanism with the joints of `NAMES`."""
    import pinocchio as pin

    made = {
        "revolute": lambda joint: (
            pin.JointModelRZ() if joint.axis[2] == 1.0 else pin.JointModelRevoluteUnaligned(joint.axis)
        ),
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
