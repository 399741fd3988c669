"""Turn the comparison of one engine on one robot into cells: what agrees, is explained, or is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._util.protocol import UNEXPLAINED
from ..exceptions import AdapterError, NotPositiveDefiniteError
from .causes import cause_text
from .cells import AGREES, DISAGREES, EXCLUDED, EXPLAINED, NOT_OFFERED, REFUSED, Cause, Cell
from .examine import Changes, Examination, Trial, no_answer
from .files import all_edits, lines_of
from .quantities import QUANTITIES
from .reference import random_of
from .repair import Repair, repair
from .robots import Robot
from .tensors import tensor_causes, touched_links

SIMULATION = "simulation"  # what acts by default when a script simulates the file
ALL_QUANTITIES = (*QUANTITIES, SIMULATION)


def judge(examination: Examination, name: str, ordinary: bool = True) -> list[Cell]:
    """Return the cells of one engine on one robot.

    Parameters
    ----------
    examination : Examination
    name : str
        Engine, as reported.
    ordinary : bool
        Whether the file is loaded as it is first. Otherwise it is rewritten in all steps, with all options.
    """
    edits = all_edits(examination.robot)
    everything = Changes(frozenset(edits), frozenset(getattr(examination.engine, "OPTIONS", {})))
    first = examination.trial(Changes() if ordinary else everything)
    wrong = examination.bad(first, examination.offered)
    repaired = repair(examination, edits, wrong) if wrong and ordinary else Repair(Changes(), (), frozenset())
    last = examination.trial(repaired.changes) if repaired.parts else first
    left = examination.bad(last, examination.offered, examination.answered if repaired.parts else ())
    accounts = ()
    if left and repaired.steady and not last.refusal:
        accounts = tensor_causes(examination, repaired.changes, left)
    used = repaired.changes.options
    touched = {option: touched_links(examination, repaired.changes, option) for option in sorted(used)}
    judgement = Judgement(examination, name, first, last, repaired, wrong, left, accounts, touched)
    return [
        _simulated(examination, name) if quantity == SIMULATION else judgement.cell(quantity)
        for quantity in examination.quantities
    ]


def excluded(robot: Robot, name: str, quantities: Sequence[str], state: str, reason: str) -> list[Cell]:
    """Return cells of one state for all quantities of an engine on a robot."""
    return [Cell(robot.name, robot.base, name, quantity, state, reason=reason) for quantity in quantities]


def with_lines(robot: Robot, causes: Sequence[Cause]) -> tuple[Cause, ...]:
    """Return causes with the lines of their links and joints, as far as all of them are in the file."""
    if all(cause.lines or not cause.where for cause in causes):
        return tuple(causes)
    known, located = lines_of(robot), []
    for cause in causes:
        lines = [known.get(name.split(" with ")[0], 0) for name in cause.where]
        located.append(cause if cause.lines or not all(lines) else replace(cause, lines=tuple(lines)))
    return tuple(located)


@dataclass(frozen=True, eq=False)
class Judgement:
    """Trials of the unchanged and of the repaired file, and the quantities that are wrong in each.

    Attributes
    ----------
    examination : Examination
    name : str
        Engine, as reported.
    first, last : Trial
    repair : Repair
    wrong, left : frozenset of str
        Quantities that are wrong in the file as it is, and after the repair.
    others : tuple of Cause
        What explains the remaining differences: inertias of the engine, or parts of an MJCF that it ignores.
    touched : dict of str to tuple of str
        By option of the repair, the links whose inertias it changes.
    """

    examination: Examination
    name: str
    first: Trial
    last: Trial
    repair: Repair
    wrong: frozenset[str]
    left: frozenset[str]
    others: tuple[Cause, ...]
    touched: dict[str, tuple[str, ...]]

    def cell(self, quantity: str) -> Cell:
        """Return the cell of one quantity."""
        robot, without = self.examination.robot, self.examination.excluded
        cell = Cell(robot.name, robot.base, self.name, quantity, NOT_OFFERED)
        if quantity in without:
            return replace(cell, state=EXCLUDED, reason=without[quantity])
        if quantity not in self.examination.offered:
            return cell
        if quantity not in self.wrong:
            known = quantity in self.first.errors
            absent = replace(cell, reason=self.first.absent.get(quantity, ""))
            return self._measured(cell, self.first, AGREES) if known else absent
        cell = replace(cell, ordinary=self.first.errors.get(quantity))
        if quantity in self.left and not self.others:
            cell = self._measured(cell, self.last, REFUSED if self.last.refusal else DISAGREES)
            return replace(cell, reason=self._reason(cell))
        if quantity not in self.left and quantity not in self.last.errors:  # the file was refused at first
            return replace(cell, reason=self.last.absent.get(quantity, ""))
        causes = (*self._causes(quantity), *(self.others if quantity in self.left else ()))
        causes = with_lines(robot, causes)
        return replace(self._measured(cell, self.last, EXPLAINED), causes=causes, reason=self.first.refusal)

    def _measured(self, cell: Cell, trial: Trial, state: str) -> Cell:
        allowed = self.examination.allowed(cell.quantity)
        return replace(cell, state=state, error=trial.errors.get(cell.quantity), allowed=allowed)

    def _reason(self, cell: Cell) -> str:
        """Return why a quantity is wrong."""
        if self.last.refusal or cell.quantity in self.last.failures:
            return self.last.refusal or self.last.failures[cell.quantity]
        unsteady = (
            "" if self.repair.steady else "; the engine computes something else when it loads a file again"
        )
        return f"differs by {cell.error:.1e}, {cell.allowed:.1e} is rounding{unsteady}"

    def _causes(self, quantity: str) -> list[Cause]:
        """Return the parts of the repair without which a quantity is wrong, as causes."""
        parts = self.repair.parts
        options = getattr(self.examination.engine, "OPTIONS", {})
        causes = []
        for part in [part for part in parts if quantity in part.quantities] or parts:
            text, link = cause_text(self.name, part.step, options)
            lines = {edit.where: edit.line for edit in part.edits if edit.where}
            error = part.errors.get(quantity, np.nan)
            effect = float(error) if np.isfinite(error) else None
            where = tuple(lines) or self.touched.get(part.step, ())
            causes.append(Cause(part.step, text, where, effect, link, tuple(lines.values())))
        return causes


def _simulated(examination: Examination, name: str) -> Cell:
    """Return the cell of the quantity "simulation": what an engine adds to q̈ by default when it simulates."""
    robot, engine, reference = examination.robot, examination.engine, examination.reference
    cell = Cell(robot.name, robot.base, name, SIMULATION, NOT_OFFERED)
    if not hasattr(engine, "settings") or robot.format not in engine.READS or robot.mimic:
        return cell
    try:
        settings = engine.settings(
            robot.path, robot.floating, robot.gravity, random_of(robot.path, reference.seed)
        )
        causes = tuple(
            Cause("setting", text, tuple(where), float(effect)) for text, effect, where in settings
        )
    except (AdapterError, NotPositiveDefiniteError) as error:
        return replace(cell, reason=examination.message(error))
    except Exception as error:  # it must not cost the other cells
        return replace(cell, state=DISAGREES, reason=no_answer(error))
    causes = with_lines(robot, causes)
    if any(cause.text == UNEXPLAINED for cause in causes):
        return replace(cell, state=DISAGREES, causes=causes, reason="simulated q̈ unexplained")
    return replace(cell, state=EXPLAINED if causes else AGREES, causes=causes)
