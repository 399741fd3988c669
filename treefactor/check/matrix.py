"""Run a comparison: every engine in a process of its own, every robot in every engine, all quantities.

The reference computes its values first; they are sent to the other engines as arrays. A URDF's reference is
Pinocchio, an MJCF's treefactor's dynamics of the model that MuJoCo compiles. The reference engine itself is
compared with another one.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from .._version import __version__
from ..exceptions import TreefactorError
from .cells import (
    CRASHED,
    DISAGREES,
    NOT_INSTALLED,
    SCHEMA,
    TIMED_OUT,
    Cell,
    CheckedRobot,
    Report,
    UsedEngine,
)
from .engines import LIMITS, ChosenEngine, engine_version, pip_of
from .files import digest, faults_of, with_coupled, with_own_base
from .judge import ALL_QUANTITIES, excluded
from .reference import Reference
from .robots import Robot
from .tasks import engine_task, reference_task, refusal_task, robot_task
from .workers import CrashedError, InProcess, TimedOutError, Worker, WorkerError, next_of

# by format of the file: the reference engine, and the engine that the reference is compared with
REFERENCES = {
    "urdf": ("pinocchio", "treefactor"),
    "sdf": ("pinocchio", "treefactor"),
    "mjcf": ("treefactor", "mujoco"),
}
FILE = "treefactor.toml"


@dataclass(frozen=True, eq=False)
class Task:
    """Call in an engine's process: ``robot`` is None for the question whether the engine is installed."""

    engine: ChosenEngine
    robot: int | None
    reference: bool = False

    @property
    def order(self) -> tuple:
        """Sort key: engines first, then references, heavy engines last; a robot before the next one."""
        heavy = self.engine.weight == "heavy"
        return (self.robot is not None, not self.reference and self.robot is not None, heavy, self.robot or 0)


@dataclass(frozen=True, eq=False)
class Matrix:
    """Comparison of engines on robots.

    Parameters
    ----------
    robots : sequence of Robot
    engines : sequence of ChosenEngine
    quantities : sequence of str
    samples : int
        Random states for each robot.
    seed : int
        The states depend on it and on the name of the robot's file alone.
    ordinary : bool
        Whether the files are first loaded as they are.
    processes : bool
        Whether every engine runs in a process of its own, with a limit of time.

    Notes
    -----
    Thread-compatible.
    """

    robots: Sequence[Robot]
    engines: Sequence[ChosenEngine]
    quantities: Sequence[str] = ALL_QUANTITIES
    samples: int = 3
    seed: int = 0
    ordinary: bool = True
    processes: bool = True
    used: dict[str, UsedEngine] = field(default_factory=dict, init=False)
    _missing: dict[str, tuple[str, str]] = field(default_factory=dict, init=False, repr=False)
    _references: dict[int, dict[str, Reference | str]] = field(default_factory=dict, init=False, repr=False)
    _cells: dict[int, dict[str, list[Cell]]] = field(default_factory=dict, init=False, repr=False)
    _workers: dict[str, Worker | InProcess] = field(default_factory=dict, init=False, repr=False)
    _digests: dict[Path, str] = field(default_factory=dict, init=False, repr=False)
    _waiting: list[Task] = field(default_factory=list, init=False, repr=False)
    _running: dict[str, Task] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self):
        titles = [engine.title for engine in self.engines]
        if twice := sorted({title for title in titles if titles.count(title) > 1}):
            hint = f"give one another name, as [engines.NAME] with file in {FILE}"
            raise TreefactorError(f"several engines are called {twice[0]}: {hint}")
        for robot in self.robots:
            self._digests[robot.path] = digest(robot.path)
        robots = [with_own_base(robot) for robot in self.robots]
        if not {"pinocchio", "treefactor"}.isdisjoint(titles):  # they couple mimic joints
            robots = with_coupled(robots)
        object.__setattr__(self, "robots", robots)
        for k in range(len(robots)):
            self._references[k], self._cells[k] = {}, {}
        self._waiting.extend(Task(engine, None) for engine in self.engines)

    def __iter__(self) -> Iterator[tuple[CheckedRobot, list[Cell]]]:
        """Yield every robot with its cells, in the order given."""
        for k, robot in enumerate(self.robots):
            self._waiting.extend(Task(self._chosen(name), k, True) for name in REFERENCES[robot.format])
            self._waiting.extend(Task(engine, k) for engine in self.engines)
        done = 0
        try:
            while done < len(self.robots):
                self._start()
                self._collect()
                while done < len(self.robots) and len(self._cells[done]) == len(self.engines):
                    own = self._cells[done]
                    yield self._checked(done), [cell for engine in self.engines for cell in own[engine.title]]
                    done += 1
        finally:
            for worker in self._workers.values():
                worker.close()

    def _checked(self, k: int) -> CheckedRobot:
        robot, references = self.robots[k], self._references[k].values()
        freedoms = next((reference.nv for reference in references if isinstance(reference, Reference)), None)
        sha256 = self._digests[robot.path]
        if digest(robot.path) != sha256:
            raise TreefactorError(f"{robot.path} changed while it was compared: compare it again")
        return CheckedRobot(
            robot.name, robot.base, str(robot.name), robot.format, sha256, freedoms, faults_of(robot)
        )

    def _start(self) -> None:
        """Start as many waiting tasks as there are processors, one at a time for every engine."""
        self._waiting.sort(key=lambda task: task.order)
        for task in list(self._waiting):
            if len(self._running) >= (os.cpu_count() or 1):
                return
            if task.engine.title in self._running or not self._is_ready(task):
                continue
            self._waiting.remove(task)
            if task.robot is None or task.reference or not self._without_call(task):
                self._submit(task)

    def _is_ready(self, task: Task) -> bool:
        """Return whether the references that a task needs are there."""
        if task.robot is None or task.reference:
            return True
        name, expected = task.engine.title, REFERENCES[self.robots[task.robot].format]
        known = name in self.used or name in self._missing
        return known and len(self._references[task.robot]) == len(expected)

    def _submit(self, task: Task) -> None:
        engine = task.engine
        if engine.title not in self._workers:
            self._workers[engine.title] = Worker(engine.python) if self.processes else InProcess()
        if task.robot is None:
            call = engine_task, (engine,)
        elif task.reference:
            call = reference_task, (engine.name, self.robots[task.robot], self.samples, self.seed)
        else:
            reference = self._reference_of(task)
            robot = self.robots[task.robot]
            wanted = tuple(self.quantities)
            call = robot_task, (engine, robot, reference, wanted, self.ordinary)
            if reference is None:
                call = refusal_task, (engine, robot, wanted, self._refusals(task))
        is_own = task.robot is not None and not task.reference
        seconds = engine.seconds if is_own else max(engine.seconds, LIMITS["light"])
        try:
            self._workers[engine.title].submit(*call, seconds)
        except CrashedError as error:  # its interpreter cannot be started
            self._keep_failure(task, error, "")
        else:
            self._running[engine.title] = task

    def _reference_of(self, task: Task) -> Reference | None:
        """Return the reference that an engine is compared with: the first that another engine computed.

        None where there is none, or treefactor refuses a URDF: what it states is not defined then.
        """
        order, references = REFERENCES[self.robots[task.robot].format], self._references[task.robot]
        if order[0] != "treefactor" and isinstance(references["treefactor"], str):
            return None
        others = [references[name] for name in order if name != task.engine.title]
        return next((reference for reference in others if isinstance(reference, Reference)), None)

    def _without_call(self, task: Task) -> bool:
        """Fill the cells of a task that needs no call: the engine is missing."""
        if task.engine.title not in self._missing:
            return False
        cells = excluded(
            self.robots[task.robot], task.engine.title, self.quantities, *self._missing[task.engine.title]
        )
        self._cells[task.robot][task.engine.title] = cells
        return True

    def _refusals(self, task: Task) -> dict[str, str]:
        """Map each reference that has no values of a robot to the reason."""
        robot, references = self.robots[task.robot], self._references[task.robot]
        by_name = {name: references[name] for name in REFERENCES[robot.format]}
        return {
            name: why.replace(f"{robot.path}: ", "") for name, why in by_name.items() if isinstance(why, str)
        }

    def _chosen(self, name: str) -> ChosenEngine:
        """Return an engine as the user chose it, or with the defaults."""
        return next((engine for engine in self.engines if engine.title == name), ChosenEngine(name))

    def _collect(self) -> None:
        """Wait for the next results, and keep them."""
        names = {id(self._workers[name]): name for name in self._running}
        for worker in next_of([self._workers[name] for name in self._running]):
            task = self._running.pop(names[id(worker)])
            try:
                self._keep(task, worker.result())
            except CrashedError as error:
                if worker.used and task.robot is not None:  # what the process did before may have caused it
                    self._waiting.append(task)
                else:
                    self._keep_failure(task, error, worker.output)
            except WorkerError as error:
                self._keep_failure(task, error, worker.output)

    def _keep(self, task: Task, answer) -> None:
        """Keep the result of a call."""
        name = task.engine.title
        if task.robot is None:
            if isinstance(answer, UsedEngine):
                self.used[name] = answer
            else:
                self._missing[name] = NOT_INSTALLED, answer
        elif task.reference:
            self._references[task.robot][name] = answer
        else:
            self._cells[task.robot][name] = answer

    def _keep_failure(self, task: Task, error: WorkerError, output: str) -> None:
        """Keep the failure of a call: it costs the cells of one engine on one robot."""
        state = {TimedOutError: TIMED_OUT, CrashedError: CRASHED}.get(type(error), DISAGREES)
        reason = ". ".join(filter(None, [str(error).strip(), output.strip()]))
        if task.robot is None:
            state = TIMED_OUT if isinstance(error, TimedOutError) else CRASHED
            engine, number, python = task.engine, engine_version(task.engine.name), platform.python_version()
            if engine.python:  # the versions of another environment are not known
                number, python = "", "unknown"
            self.used[engine.title] = UsedEngine(engine.title, number, "", python, pip_of(engine.name))
            lines = [text.strip().splitlines()[-1:] for text in (str(error), output)]
            self._missing[task.engine.title] = state, ". ".join(line for some in lines for line in some)
        elif task.reference:
            self._references[task.robot][task.engine.title] = reason
        else:
            cells = excluded(self.robots[task.robot], task.engine.title, self.quantities, state, reason)
            self._cells[task.robot][task.engine.title] = cells


def compare(matrix: Matrix) -> Report:
    """Run a whole comparison and return its report."""
    with closing(iter(matrix)) as results:
        checked = list(results)
    return report_of(matrix, checked)


def report_of(matrix: Matrix, checked: Sequence[tuple[CheckedRobot, list[Cell]]]) -> Report:
    """Return the report of a comparison's results."""
    meta = {
        "schema": SCHEMA,
        "treefactor": __version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "seed": matrix.seed,
        "samples": matrix.samples,
        **({} if matrix.ordinary else {"files": "rewritten"}),
    }
    engines = [
        matrix.used.get(engine.title, UsedEngine(engine.title, pip=pip_of(engine.name)))
        for engine in matrix.engines
    ]
    cells = [cell for _, own in checked for cell in own]
    return Report(meta, engines, [robot for robot, _ in checked], list(matrix.quantities), cells)


def check(
    robots: Sequence[Robot],
    engines: Sequence[str],
    quantities: Sequence[str] = ALL_QUANTITIES,
    samples: int = 3,
    seed: int = 0,
) -> Iterator[list[Cell]]:
    """Compare engines on robots in this process, without limits of time.

    Parameters
    ----------
    robots : sequence of Robot
    engines : sequence of str
        Among ``ENGINES``, or paths of a user's own files.
    quantities : sequence of str
    samples : int
        Random states for each robot.
    seed : int

    Yields
    ------
    list of Cell
        For one robot after another: a cell for every engine and quantity.

    Raises
    ------
    AdapterError
        If an engine is not known.
    """
    chosen = [ChosenEngine(name) for name in engines]
    for _, cells in Matrix(list(robots), chosen, quantities, samples, seed, processes=False):
        yield cells
