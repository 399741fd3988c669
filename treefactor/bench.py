"""Times taken in turns with a peer's, and what `treefactor bench` measures of a robot.

Machines drift by tens of per cent while something is timed, so only ratios of neighbouring runs count: of
each duel the median ratio is reported, and its quartiles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from timeit import Timer

import numpy as np

from . import _peak
from ._threads import spread
from .direct import solve
from .exceptions import TreefactorError
from .ltdl import Factor
from .robots import Robot

RUN = 1e-3  # seconds of one run, or one call; shorter than what a scheduler gives to others
TURNS = 25
PATIENCE = 4.0  # seconds; what takes longer gets fewer turns, but FEWEST
FEWEST = 5

SMALL, LARGE = 512, 4096  # matrices in a batch
CACHED = 256  # matrices whose factors stay in the caches
WHOLE_BODY = 18  # freedoms from which a target for legged robots and humanoids holds
ROUNDS = 20_000  # of the peak in one call
PEAK_ROUNDS = 200  # of the peak in place of a matrix


@dataclass(frozen=True)
class Call:
    """A function, and how many items one call of it deals with."""

    run: Callable[[], object]
    items: float = 1.0


@dataclass(frozen=True)
class Duel:
    """Something to be timed in turns with a peer.

    Attributes
    ----------
    target : str
        Name of the target, such as "S1".
    model, what, peer : str
    ours, theirs : Call
    goal : float or None
        How many times faster it should be than the peer.
    """

    target: str
    model: str
    what: str
    peer: str
    ours: Call
    theirs: Call
    goal: float | None = None

    def fight(self) -> Result:
        """Time both."""
        ours, theirs = times_in_turns((self.ours, self.theirs)).T
        return outcome(self.target, self.model, self.what, self.peer, ours, theirs, self.goal)


@dataclass(frozen=True)
class Result:
    """The outcome of a duel.

    Attributes
    ----------
    target, model, what, peer : str
    ours, theirs : float
        Median seconds per item.
    ratio, low, high : float
        Median and quartiles of how many times faster than the peer.
    goal : float or None
    """

    target: str
    model: str
    what: str
    peer: str
    ours: float
    theirs: float
    ratio: float
    low: float
    high: float
    goal: float | None = None

    @property
    def reached(self) -> bool | None:
        """Whether the goal is reached; None without a goal."""
        return None if self.goal is None else self.ratio >= self.goal

    def as_dict(self) -> dict:
        """Everything, for JSON."""
        return {**asdict(self), "reached": self.reached}


def outcome(
    target: str, model: str, what: str, peer: str, ours: np.ndarray, theirs: np.ndarray, goal: float | None
) -> Result:
    """Medians and quartiles of times taken in turns."""
    low, ratio, high = map(float, np.quantile(theirs / ours, (0.25, 0.5, 0.75)))
    times = float(np.median(ours)), float(np.median(theirs))
    return Result(target, model, what, peer, *times, ratio, low, high, goal)


def times_in_turns(calls: Sequence[Call]) -> np.ndarray:
    """Seconds per item of every call, taken in turns: an array (turns, calls)."""
    timers = [Timer(call.run) for call in calls]
    for timer in timers:
        timer.timeit(1)  # what is done once only
    once = [timer.timeit(1) for timer in timers]
    counts = [max(1, int(RUN / seconds)) for seconds in once]
    turn = sum(count * seconds for count, seconds in zip(counts, once, strict=True))
    turns = min(TURNS, max(FEWEST, int(PATIENCE / turn)))
    return np.array(
        [
            [
                timer.timeit(count) / (count * call.items)
                for timer, count, call in zip(timers, counts, calls, strict=True)
            ]
            for _ in range(turns)
        ]
    )


def robot_duels(robot: Robot, threads: int = 2) -> list[Duel]:
    """Everything that `treefactor bench` measures of a robot.

    Parameters
    ----------
    robot : Robot
    threads : int
        Threads to compare with one.

    Raises
    ------
    AdapterError
        Where Pinocchio is missing, or cannot load the robot.
    """
    return case_duels(Case(robot), threads)


def case_duels(case: Case, threads: int = 2) -> list[Duel]:
    """Everything that is measured of a robot."""
    return [*single(case), *batches(case), *cached(case), *parallel(case, threads)]


class Case:
    """A robot, and a batch of its inertia matrices at random configurations."""

    def __init__(self, robot: Robot):
        from .adapters import pinocchio_

        self.name, self.path, self.floating = robot.name, robot.path, robot.floating
        self.model = pinocchio_.load(robot.path, robot.floating)
        if not self.model.nv:
            raise TreefactorError(f"{robot.name}: no joint moves, there is nothing to factorize")
        self.data = self.model.createData()
        self.tree = pinocchio_.tree(self.model)
        self.rng = np.random.default_rng(0)

    @cached_property
    def H(self) -> np.ndarray:
        """(LARGE, n, n) inertia matrices."""
        import pinocchio as pin

        from .adapters import pinocchio_

        rest, moves = pin.neutral(self.model), self.rng.normal(size=(LARGE, self.model.nv))
        q = np.array([pin.integrate(self.model, rest, v) for v in moves])
        return pinocchio_.mass_matrix(self.model, self.data, q)

    @cached_property
    def b(self) -> np.ndarray:
        """(LARGE, n) right-hand sides."""
        return self.rng.normal(size=(LARGE, self.model.nv))

    def goal(self, ratio: float, below: float | None = None) -> float | None:
        """The goal for robots like this one: another one below WHOLE_BODY freedoms."""
        return ratio if self.model.nv >= WHOLE_BODY else below

    def decompose(self) -> Call:
        """Pinocchio's factorization of one matrix."""
        import pinocchio as pin

        return Call(partial(pin.cholesky.decompose, self.model, self.data))


def single(case: Case) -> Iterator[Duel]:
    """S1 and S2: one matrix in Pinocchio's ``data.M``, against Pinocchio."""
    import pinocchio as pin

    from .adapters.pinocchio_ import Accelerator

    b, out = case.b[0], np.empty(case.model.nv)
    np.copyto(case.data.M, case.H[0])
    accelerator = Accelerator(case.model, case.data).factor()
    pin.cholesky.decompose(case.model, case.data)
    solve = partial(pin.cholesky.solve, case.model, case.data, b)
    for target, what, ours, theirs in (
        ("S1", "factor", Call(accelerator.factor), case.decompose()),
        ("S2", "solve", Call(partial(accelerator.solve, b, out)), Call(solve)),
    ):
        yield Duel(target, case.name, what, "Pinocchio", ours, theirs, case.goal(2.0, 1.0))


def batches(case: Case) -> Iterator[Duel]:
    """S4: solutions for batches of dense matrices, against NumPy's."""
    for dtype in (np.float64, np.float32):
        for count in (SMALL, LARGE):
            H, b = (array[:count].astype(dtype, copy=False) for array in (case.H, case.b))
            peer = Call(partial(np.linalg.solve, H, b[..., None]), count)
            ours = Call(partial(solve, H, case.tree, b, dtype=dtype, out=np.empty_like(b)), count)
            what = f"solve {count} {dtype.__name__}"
            yield Duel("S4", case.name, what, "NumPy", ours, peer, case.goal(10.0))


def cached(case: Case) -> Iterator[Duel]:
    """S5: factorization of batches that stay in the caches, against Pinocchio and the processor's peak."""
    flops = case.tree.cost("LTDL").total
    peak = Call(partial(_peak.multiply_adds, ROUNDS), _peak.multiply_adds(ROUNDS) / flops)
    for dtype in (np.float64, np.float32):
        for layout, goal in (("lanes", 12.0), ("packed", 8.0)):
            H = case.tree.pack(case.H[:CACHED], layout, dtype=dtype)
            f = Factor(case.tree, (CACHED,), layout=layout, dtype=dtype)
            ours = Call(partial(f.refactor, H), CACHED)
            what = f"factor {CACHED} {dtype.__name__}, {layout}"
            yield Duel("S5", case.name, what, "Pinocchio", ours, case.decompose(), case.goal(goal))
            if (dtype, layout) == (np.float64, "lanes"):
                yield Duel("S5", case.name, what, "FMA peak", ours, peak, case.goal(0.4))


def parallel(case: Case, threads: int) -> Iterator[Duel]:
    """S8: several threads against one; and what the machine gives them where nothing else counts."""
    H, b, out = case.H, case.b, np.empty_like(case.b)

    def shared(work: Callable[[int, int], object]) -> Callable[[int], Callable]:
        return lambda count: partial(spread, work, LARGE, count, H.size)

    for what, goal, work in (
        ("solve", 0.9 * threads, lambda count: partial(solve, H, case.tree, b, num_threads=count, out=out)),
        ("factor and solve", 0.9 * threads, lambda count: solver(case, H, b, count)),
        ("compute", None, shared(lambda first, stop: _peak.multiply_adds((stop - first) * PEAK_ROUNDS))),
        ("read", None, shared(lambda first, stop: H[first:stop].max())),
    ):
        ours, one = (Call(work(count), LARGE) for count in (threads, 1))
        yield Duel(
            "S8", case.name, f"{what} {LARGE} float64, {threads} threads", "one thread", ours, one, goal
        )


def solver(case: Case, H: np.ndarray, b: np.ndarray, threads: int = 1) -> Callable[[], object]:
    """Factorize a batch and solve, in memory that is kept."""
    f, out = Factor(case.tree, (len(H),), num_threads=threads, dtype=H.dtype), np.empty_like(b)
    return lambda: f.refactor(H).solve(b, out)
