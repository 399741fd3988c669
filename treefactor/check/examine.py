"""Compare one engine with the reference on one robot: errors of every quantity, for any rewriting."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from .._util.conventions import JointsDifferError, UndeclaredJointError, pairs, translate
from .._util.protocol import Engine
from ..exceptions import AdapterError
from ..tolerances import ROUNDINGS, WORST_ACCELERATION
from .engines import engine_module
from .files import file_for
from .quantities import QUANTITIES, Query
from .reference import Reference, compute_reference, opened
from .rewriting import Edit
from .rewriting.mjcf_causes import without_ignored
from .rewriting.mjcf_edits import IGNORED_STEP
from .robots import Robot

NO_ANSWER = "no answer"


def no_answer(error: Exception) -> str:
    """Return the reason for which an engine gave no value, on one line."""
    return f"{NO_ANSWER}: {type(error).__name__}: {' '.join(str(error).split())}"


NO_DIGIT = 0.1  # relative error of values that agree by chance only
NEEDED = ("tree", "H", "bias")  # quantities that every engine must compute


@dataclass(frozen=True)
class Trial:
    """What an engine computes for one rewriting of a file.

    Attributes
    ----------
    errors : dict of str to float
        By quantity; quantities that are not offered are missing.
    failures : dict of str to str
        By quantity, why the engine gave no value.
    absent : dict of str to str
        By quantity, why the engine does not offer it for this robot.
    refusal : str
        Why the engine refuses the file, "" if it loads it.
    """

    errors: dict[str, float] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    refusal: str = ""

    def of(self, quantities: Collection[str]) -> Trial:
        """Return the part of this trial that concerns some quantities."""
        parts = (self.errors, self.failures, self.absent)
        return Trial(
            *({name: part[name] for name in part if name in quantities} for part in parts), self.refusal
        )


@dataclass(frozen=True)
class Changes:
    """Rewriting of the file and options of the engine."""

    edits: frozenset[Edit] = frozenset()
    options: frozenset[str] = frozenset()


@dataclass(eq=False)
class Examination:
    """One engine, one robot, and its reference; trials are kept.

    Attributes
    ----------
    engine : module
    robot : Robot
    reference : Reference
        None only to ask for the `refusal`.
    quantities : tuple of str
    weight : {"light", "medium", "heavy"}
        How long a trial takes.
    options : frozenset of str
        Options of the engine that are always set.
    folder : pathlib.Path, optional
        Where rewritten files are written; by default every trial has a folder of its own.
    """

    engine: Engine
    robot: Robot
    reference: Reference | None
    quantities: tuple[str, ...]
    weight: str = "light"
    options: frozenset[str] = frozenset()
    folder: Path | None = None

    def __post_init__(self):
        self._trials: dict[tuple, list[tuple[frozenset[str], Trial]]] = {}  # by changes and samples
        self._references: dict[frozenset[Edit], Reference] = {}

    @cached_property
    def offered(self) -> tuple[str, ...]:
        """Quantities that the engine and the reference have, and that rounding leaves a digit of."""
        known = [QUANTITIES[name] for name in self.quantities if name in QUANTITIES]
        have = [quantity for quantity in known if quantity.name not in self.excluded]
        return tuple(
            quantity.name for quantity in have if all(hasattr(self.engine, need) for need in quantity.needs)
        )

    @cached_property
    def excluded(self) -> dict[str, str]:
        """Quantities that cannot be compared, with the reason."""
        reason = f"rounding of {self.engine.DTYPE} leaves no digit: "
        cancel = self.reference.cancellation
        lost = [name for name in self.quantities if self.allowed(name) > NO_DIGIT]
        reasons = {name: "its terms cancel" if name in cancel else "H is ill-conditioned" for name in lost}
        return {**{name: reason + why for name, why in reasons.items()}, **self.reference.excluded}

    @property
    def answered(self) -> frozenset[str]:
        """Quantities for which the engine returns a value for the unchanged file, right or wrong."""
        first = self.trial(Changes())
        return frozenset((*first.errors, *first.failures))

    @cached_property
    def epsilon(self) -> float:
        """Relative rounding of the engine."""
        return getattr(self.engine, "EPSILON", float(np.finfo(self.engine.DTYPE).eps))

    def allowed(self, quantity: str) -> float:
        """Return the largest error of a quantity that counts as rounding."""
        if quantity == "tree":
            return 0.0
        limit = ROUNDINGS * self.epsilon * self.reference.cancellation.get(quantity, 1.0)
        if quantity in ("q̈", "L and D"):
            limit *= self.reference.condition
            return min(limit, WORST_ACCELERATION) if self.engine.DTYPE == "float64" else limit
        return limit * max(1.0, self.reference.nv / ROUNDINGS) if quantity == "LᵀDL" else limit

    def bad(self, trial: Trial, quantities: Iterable[str], offered: Collection[str] = ()) -> frozenset[str]:
        """Return the quantities that are wrong in a trial, or missing although they are offered."""
        return frozenset(
            name
            for name in quantities
            if trial.refusal
            or name in trial.failures
            or (name in offered and name not in trial.errors)
            or (name in trial.errors and not trial.errors[name] <= self.allowed(name))
        )

    def trial(
        self, changes: Changes, quantities: Iterable[str] | None = None, samples: int | None = None
    ) -> Trial:
        """Return the errors of quantities, of all by default, at the first samples, all by default."""
        wanted = frozenset(self.offered if quantities is None else quantities)
        for known, trial in self._trials.get((changes, samples), ()):
            if wanted <= known or trial.refusal:
                return trial.of(wanted)
        try:
            first, trial = self._compared(changes, sorted(wanted), samples)
        except Exception as error:  # engines raise anything
            first = trial = Trial(refusal=self.reason(error))
        for count, compared in {1: first, samples: trial}.items():
            self._trials.setdefault((changes, count), []).append((wanted, compared))
        return trial

    def refusal(self) -> str:
        """Return the reason why the engine cannot load the unchanged file, or "" if it can."""
        try:
            with self.loaded(Changes()):
                return ""
        except Exception as error:  # engines raise anything
            return self.reason(error)

    def reason(self, error: Exception) -> str:
        """Return the message of an error, with its type unless the engine's module gives the reason."""
        kind = "" if isinstance(error, AdapterError) else f"{type(error).__name__}: "
        return f"{kind}{self.message(error)}"

    def message(self, error: Exception) -> str:
        """Return a message without the names of temporary files."""
        name, stem = self.robot.path.name, re.escape(self.robot.path.stem)
        text = re.sub(rf"\S*{stem}_\d+(?=\.)", self.robot.path.stem, " ".join(str(error).split()))
        text = text.removeprefix(f"{self.robot.path}: ") if name not in text else text.split(f"{name}: ")[-1]
        return re.sub(rf"[^\s'\"\[]*/(?={re.escape(name)})", "", text)

    def wrong(self, changes: Changes, quantities: frozenset[str]) -> frozenset[str]:
        """Return the quantities that are wrong for a rewriting."""
        return self.bad(self.trial(changes, quantities), quantities, self.answered)

    def anew(self) -> Examination:
        """Return the same comparison without its trials."""
        return replace(self)

    def with_reference(self, reference: Reference) -> Examination:
        """Return the comparison of the same engine and file with another reference."""
        return replace(self, reference=reference)

    @contextmanager
    def loaded(self, changes: Changes) -> Iterator[tuple]:
        """Load a rewriting; yield the robot in the engine, and where the links of the file are in it."""
        own = nullcontext(self.folder) if self.folder else tempfile.TemporaryDirectory()
        with own as folder:
            edits = [edit for edit in changes.edits if edit.step < IGNORED_STEP]
            path, carried = file_for(self.robot, self.engine.READS, edits, Path(folder))
            body = self.engine.load(
                path, self.robot.floating, self.robot.gravity, changes.options | self.options
            )
            with opened(body) as body:
                yield body, carried

    def _compared(self, changes: Changes, wanted: Sequence[str], samples: int | None) -> tuple[Trial, Trial]:
        """Return the trials of a rewriting at the first sample and at all."""
        examination = self
        if any(edit.step == IGNORED_STEP for edit in changes.edits):
            examination = self.with_reference(self._without(changes.edits))
        with self.loaded(changes) as (body, carried):
            return examination._errors(body, carried, wanted, examination.reference.samples[:samples])

    def _without(self, edits: frozenset[Edit]) -> Reference:
        """Return treefactor's values for an MJCF without what edits of the last step ignore."""
        if edits not in self._references:
            text, options = without_ignored(self.robot.path, edits)
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, self.robot.path.name)  # random states depend on the name
                path.write_text(text, encoding="utf-8")
                own, count, seed = (
                    engine_module("treefactor"),
                    len(self.reference.samples),
                    self.reference.seed,
                )
                robot, options = replace(self.robot, path=path), options | {"root_link"}
                reference = compute_reference(own, "treefactor", robot, count, seed, options)
            self._references[edits] = reference
        return self._references[edits]

    def _errors(self, body, carried: dict, wanted: Sequence[str], samples) -> tuple[Trial, Trial]:
        engine, reference = self.engine, self.reference
        first = trial = Trial()
        try:
            joints, base = tuple(engine.joints(body)), engine.base(body)
            joint_pairs = pairs(reference.joints, joints, base)
        except UndeclaredJointError as error:
            trial.absent.update(dict.fromkeys(wanted, str(error)))
            return trial, trial
        except JointsDifferError as error:
            trial.failures.update(dict.fromkeys(wanted, str(error)))
            return trial, trial
        nq = max((joint.q.stop for joint in joints), default=0)
        nv = max((joint.v.stop for joint in joints), default=0)
        for sample in samples:
            at = translate(joint_pairs, base, (nq, nv, reference.nv), sample.q, sample.v)
            query = Query(engine, body, at, sample, joints, carried)
            for name in wanted:
                self._ask(name, query, trial)
            if sample is samples[0]:
                first = trial.of(wanted)
        for name in trial.errors.keys() & trial.absent.keys():
            trial.failures[name] = f"{NO_ANSWER} at some states: {trial.absent.pop(name)}"
        return first, trial

    @staticmethod
    def _ask(name: str, query: Query, trial: Trial) -> None:
        """Add the error of one quantity at one sample to a trial."""
        quantity = QUANTITIES[name]
        try:
            value = quantity.ask(query)
            error = None if value is None else quantity.error(value, query.sample)
        except AdapterError as error:  # the engine has no such value of this robot
            kept = trial.failures if name in NEEDED else trial.absent
            kept[name] = " ".join(str(error).split())
            return
        except Exception as error:
            trial.failures[name] = no_answer(error)
            return
        if error is not None:
            trial.errors[name] = float(np.maximum(trial.errors.get(name, 0.0), error))
