"""What `treefactor bench` measures of a robot's dynamics: S6 and the single calls beside it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from .bench import Call, Duel
from .dynamics import aba, bias, bind, crba, forward_dynamics, rnea
from .exceptions import TreefactorError

if TYPE_CHECKING:
    from .duels import Case

COUNT = 1024  # configurations in a batch


class Moving:
    """A robot as Pinocchio's model and ours, with states at random."""

    def __init__(self, case: Case):
        import pinocchio as pin

        from .adapters import pinocchio_

        self.pin, self.name, self.goal = pin, case.name, case.goal
        self.theirs, self.data = case.model, case.data
        self.ours = pinocchio_.model(case.model)
        rng, n = np.random.default_rng(0), case.model.nv
        rest = pin.neutral(case.model)
        self.q = np.array([pin.integrate(case.model, rest, move) for move in rng.normal(size=(COUNT, n))])
        self.v, self.a, self.tau = rng.normal(size=(3, COUNT, n))

    @cached_property
    def pool(self):
        """What Pinocchio's parallel functions take."""
        return self.pin.ModelPool(self.theirs)


def dynamics(case: Case) -> Iterator[Duel]:
    """S6: single calls on bound arrays, and batches on one thread; against Pinocchio and MuJoCo."""
    moving = Moving(case)
    yield from _single(moving)
    yield from _batches(moving)
    if find_spec("mujoco"):
        yield from _mujoco(moving, case)


def _single(moving: Moving) -> Iterator[Duel]:
    """One configuration, into arrays that are kept."""
    pin, model, data = moving.pin, moving.theirs, moving.data
    q, v, a, tau = (x[0] for x in (moving.q, moving.v, moving.a, moving.tau))
    H, out = np.empty((model.nv, model.nv)), np.empty(model.nv)
    for what, ours, theirs in (
        ("crba", bind(crba, moving.ours, q, out=H), partial(pin.crba, model, data, q)),
        ("bias", bind(bias, moving.ours, q, v, out=out), partial(pin.nle, model, data, q, v)),
        ("rnea", bind(rnea, moving.ours, q, v, a, out=out), partial(pin.rnea, model, data, q, v, a)),
        ("aba", bind(aba, moving.ours, q, v, tau, out=out), partial(pin.aba, model, data, q, v, tau)),
        (
            "forward dynamics",
            bind(forward_dynamics, moving.ours, q, v, tau, out=out),
            partial(pin.aba, model, data, q, v, tau),
        ),
    ):
        yield Duel("S6", moving.name, what, "Pinocchio", Call(ours), Call(theirs), 1.0)


def _batches(moving: Moving) -> Iterator[Duel]:
    """Many configurations on one thread, against what loops over them in C++ (CRBA: from Python)."""
    pin, model, out = moving.pin, moving.theirs, np.empty((COUNT, moving.theirs.nv))
    q, v, a, tau = moving.q, moving.v, moving.a, moving.tau
    columns = [np.asfortranarray(x.T) for x in (q, v, a, tau)]
    lanes = np.empty((COUNT // 8, moving.ours.tree.nnz, 8))
    inverse = Call(partial(pin.rneaInParallel, 1, moving.pool, *columns[:3]), COUNT)
    forward = Call(partial(pin.abaInParallel, 1, moving.pool, *columns[:2], columns[3]), COUNT)
    single = Call(partial(pin.crba, model, moving.data, q[0]))
    for what, ours, theirs in (
        ("crba", partial(crba, moving.ours, q, lanes, "lanes"), single),
        ("rnea", partial(rnea, moving.ours, q, v, a, out=out), inverse),
        ("aba", partial(aba, moving.ours, q, v, tau, out=out), forward),
        ("forward dynamics", partial(forward_dynamics, moving.ours, q, v, tau, out=out), forward),
    ):
        yield Duel("S6", moving.name, f"{what} {COUNT}", "Pinocchio", Call(ours, COUNT), theirs, 9.0)


def _mujoco(moving: Moving, case: Case) -> Iterator[Duel]:
    """CRBA, against MuJoCo's with the poses it needs; left out where MuJoCo cannot load the robot."""
    import mujoco

    from .adapters import mujoco_

    try:
        body = mujoco_.load(case.path, case.floating)
    except TreefactorError:
        return

    def theirs() -> None:
        mujoco.mj_kinematics(body.model, body.data)
        mujoco.mj_comPos(body.model, body.data)
        mujoco.mj_crb(body.model, body.data)

    ours = bind(crba, moving.ours, moving.q[0], out=np.empty((moving.ours.nv, moving.ours.nv)))
    yield Duel("S6", moving.name, "crba", "MuJoCo", Call(ours), Call(theirs), 1.0)
