"""Explain differences: find a minimal set of edits and options after which an engine agrees.

The file is rewritten in six steps (``treefactor.check.rewriting``), and an engine may have options. First as
many steps as needed are taken; then every step, kind of edit and single edit without which the engine still
agrees is taken back. What is left are the causes, and the links and joints that the edits concern.

An edit may change more than it is named after, such as the spelling of numbers that it writes anew. It is a
cause only of what it changes beyond the smaller edits that it implies (``IMPLIED``). The same holds for
options with which an engine's module writes the file anew (``REWRITES``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from .examine import Changes, Examination, Trial
from .rewriting import Edit
from .rewriting.mjcf_edits import IGNORED_STEP
from .rewriting.urdf_edits import IMPLIED, PATHS, SPELLING

SHAPES = ("visual", "collision", "material")  # kinds of edits that remove shapes
FIRST = ("tree", "H", "bias", "q̈")  # quantities that show most causes
MOST_IGNORED = 2  # kinds of what an engine ignores at once
REPEATED = {"light": 1, "medium": 1, "heavy": 0}  # loads that must give the same again
SINGLE = {"light": 24, "medium": 8, "heavy": 0}  # trials to find the single links and joints that matter


@dataclass(frozen=True)
class Part:
    """One cause: an option of the engine, or all chosen edits of one kind.

    Attributes
    ----------
    step : str
        Name of the option, or kind of the edits.
    changes : Changes
    quantities : frozenset of str
        What is wrong without it.
    errors : dict of str to float
        By quantity, the error without it.
    """

    step: str
    changes: Changes
    quantities: frozenset[str]
    errors: dict[str, float]

    @property
    def edits(self) -> list[Edit]:
        """Return the edits in the order of the file."""
        return sorted(self.changes.edits, key=lambda edit: (edit.line, edit.where))


@dataclass(frozen=True)
class Repair:
    """Smallest rewriting after which the engine agrees: without any of its parts it would not.

    Attributes
    ----------
    changes : Changes
    parts : tuple of Part
    left : frozenset of str
        Quantities that no rewriting repairs.
    steady : bool
        Whether the engine computes the same when a file is loaded again.
    """

    changes: Changes
    parts: tuple[Part, ...]
    left: frozenset[str]
    steady: bool = True


def repair(examination: Examination, edits: Sequence[Edit], wrong: frozenset[str]) -> Repair:
    """Find a smallest rewriting of the file after which the wrong quantities agree.

    It is looked for at the first sample, and without shapes if the engine is as wrong without them: they take
    most of the time of loading. If the result does not hold at all samples and with the shapes, it is
    looked for again in that way.

    An engine that computes something else when a file is loaded again has no cause in the file.

    Parameters
    ----------
    examination : Examination
    edits : sequence of Edit
        All that would change something in the file.
    wrong : frozenset of str
        Quantities that are wrong in the file as it is.
    """
    shapes = frozenset(edit for edit in edits if edit.kind in SHAPES)
    fast = Search(examination, wrong, 1)
    if shapes and fast.bad(Changes(shapes)) == fast.bad(Changes()):
        fast = Search(examination, wrong, 1, shapes)
    repaired = _needed_rewriting(fast, [edit for edit in edits if edit not in fast.shapes])
    if not fast.is_good(repaired.changes, repaired.left):
        repaired = _needed_rewriting(Search(examination, wrong, None), edits)
    return (
        repaired if _is_steady(examination, repaired, wrong) else Repair(Changes(), (), wrong, steady=False)
    )


def _is_steady(examination: Examination, repaired: Repair, wrong: frozenset[str]) -> bool:
    """Return whether loading the unchanged and the repaired file again gives the same wrong quantities."""
    if not repaired.parts:
        return repaired.left == wrong
    return all(_is_repeated(examination, repaired, wrong) for _ in range(REPEATED[examination.weight]))


def _is_repeated(examination: Examination, repaired: Repair, wrong: frozenset[str]) -> bool:
    """Return whether another loading of both files gives the same at the first sample."""
    again, answered = examination.anew(), examination.answered
    return all(
        again.bad(again.trial(changes, wrong, 1), wrong, answered)
        == examination.bad(examination.trial(changes, wrong, 1), wrong, answered)
        for changes in (Changes(), repaired.changes)
    )


@dataclass(frozen=True)
class Search:
    """Trials of rewritings: which quantities are looked at, at how many samples, without which shapes."""

    examination: Examination
    wrong: frozenset[str]
    samples: int | None
    shapes: frozenset[Edit] = frozenset()

    def trial(self, changes: Changes) -> Trial:
        """Return the errors of a rewriting."""
        bare = Changes(changes.edits | self.shapes, changes.options)
        return self.examination.trial(bare, self.wrong, self.samples)

    def bad(self, changes: Changes) -> frozenset[str]:
        """Return what is wrong for a rewriting."""
        return self.examination.bad(self.trial(changes), self.wrong, self.examination.answered)

    def is_good(self, changes: Changes, left: frozenset[str]) -> bool:
        """Return whether no more than `left` is wrong for a rewriting, at all samples and with the shapes."""
        trial = self.examination.trial(changes)
        return self.examination.bad(trial, self.wrong, self.examination.answered) <= left


def _needed_rewriting(search: Search, edits: Sequence[Edit]) -> Repair:
    """Return the rewriting that a search finds, reduced to what is needed.

    Where an engine refuses the file, it is looked for by a few quantities, as long as the others agree, too.
    """
    examination = search.examination
    candidates = _candidates(examination.engine, edits)
    accepted = None
    if examination.trial(Changes()).refusal:
        changes, left = _reduced_candidate(replace(search, wrong=frozenset(FIRST) & search.wrong), candidates)
        accepted = (changes, left) if not left and search.is_good(changes, left) else None
    changes, left = accepted or _reduced_candidate(search, candidates)
    parts = [_part(search, step, part, changes, left) for step, part in _parts(changes)]
    return Repair(changes, tuple(part for part in parts if part.quantities), left)


def _part(search: Search, step: str, part: Changes, changes: Changes, left: frozenset[str]) -> Part:
    """Return one part of a rewriting, with the quantities that are wrong without it.

    What implies it is taken out first. The part is then a cause of all that it changes in the engine: the
    dynamics that the file states are the same.
    """
    others = _without(changes, _implying(search.examination.engine, step, changes))
    rest = _without(others, part)
    without, with_it = search.trial(rest), search.trial(others)
    quantities = search.bad(rest) - (left if others == changes else search.bad(others))
    if others != changes:
        both = (search.wrong - left) & without.errors.keys() & with_it.errors.keys()
        allowed = search.examination.allowed
        quantities |= {q for q in both if abs(without.errors[q] - with_it.errors[q]) > allowed(q)}
    return Part(step, part, quantities, without.errors)


def _implying(engine, kind: str, changes: Changes) -> Changes:
    """Return the edits that make the change of a kind of edit besides their own, and such options."""
    edits = frozenset(edit for edit in changes.edits if edit.kind in IMPLIED.get(kind, ()))
    options = frozenset(getattr(engine, "REWRITES", ())) if kind in SPELLING else frozenset()
    return Changes(edits, changes.options & options)


def _reduced_candidate(search: Search, candidates: Sequence[Changes]) -> tuple[Changes, frozenset[str]]:
    """Return the candidate that leaves least wrong, reduced to what is needed, and what it leaves wrong."""
    examination, bad = search.examination, search.bad
    changes, left = _enough(candidates, bad, search.wrong)
    if left == search.wrong:
        return Changes(), left
    trials = SINGLE[examination.weight] // max(1, examination.reference.nv // 16)
    return _reduced(examination.engine, changes, lambda fewer: bad(fewer) <= left, trials), left


def _candidates(engine, edits: Sequence[Edit]) -> list[Changes]:
    """Return ever longer rewritings: the first steps, each without and with the options of the engine."""
    options = frozenset(getattr(engine, "OPTIONS", {}))
    kept = [edit for edit in edits if edit.step < IGNORED_STEP]
    steps = [0, *sorted({edit.step for edit in kept})]
    prefixes = [frozenset(edit for edit in kept if edit.step <= step) for step in steps]
    spelling = frozenset(edit for edit in kept if edit.kind in SPELLING)
    paths = frozenset(edit for edit in kept if edit.kind == PATHS)
    prefixes = list(dict.fromkeys(prefix | spelling for prefix in (frozenset(), paths, *prefixes)))
    own = list(dict.fromkeys((frozenset(), options)))
    tried = [
        Changes(prefix | part, chosen) for part in _ignored(edits) for prefix in prefixes for chosen in own
    ]
    # together, options may be refused
    single = [Changes(spelling, frozenset({chosen})) for chosen in sorted(options)]
    return [changes for changes in dict.fromkeys([*tried, *single]) if changes != Changes()]


def _ignored(edits: Sequence[Edit]) -> list[frozenset[Edit]]:
    """Return what an engine may ignore in an MJCF: nothing, or up to MOST_IGNORED kinds."""
    kinds = list(dict.fromkeys(edit.kind for edit in edits if edit.step == IGNORED_STEP))
    sets = [some for size in range(MOST_IGNORED + 1) for some in combinations(kinds, size)]
    return [frozenset(edit for edit in edits if edit.kind in some) for some in sets]


def _enough(
    candidates: Iterable[Changes], bad: Callable[[Changes], frozenset[str]], wrong: frozenset[str]
) -> tuple[Changes, frozenset[str]]:
    """Return the first candidate that leaves nothing wrong, or the one that leaves least."""
    best, left = Changes(), wrong
    for changes in candidates:
        remaining = bad(changes)
        if len(remaining) < len(left):
            best, left = changes, remaining
        if not left:
            break
    return best, left


def _reduced(engine, changes: Changes, good: Callable[[Changes], bool], trials: int) -> Changes:
    """Take back options, steps, kinds of edits and single edits as long as the rest is good."""
    for option in sorted(changes.options):
        fewer = Changes(changes.edits, changes.options - {option})
        changes = fewer if good(fewer) else changes
    without = Changes(frozenset(edit for edit in changes.edits if edit.kind != PATHS), changes.options)
    changes = without if without.edits != changes.edits and good(without) else changes
    for key in (lambda edit: edit.step, lambda edit: (edit.step, edit.kind)):
        for group in sorted({key(edit) for edit in changes.edits}, reverse=True):  # the gentlest stay
            fewer = Changes(frozenset(edit for edit in changes.edits if key(edit) != group), changes.options)
            changes = fewer if not _is_implied(engine, changes, fewer) and good(fewer) else changes
    return _single_edits(engine, changes, good, trials)


def _is_implied(engine, changes: Changes, fewer: Changes) -> bool:
    """Return whether other changes still make an edit that they lack."""
    kinds = {edit.kind for edit in changes.edits - fewer.edits}
    return any(_implying(engine, kind, fewer) != Changes() for kind in kinds)


def _single_edits(engine, changes: Changes, good: Callable[[Changes], bool], trials: int) -> Changes:
    """Take back halves, quarters ... of the edits of every kind, in so many trials at most."""
    for kind in sorted({edit.kind for edit in changes.edits}):
        waiting = [sorted((e for e in changes.edits if e.kind == kind), key=lambda e: (e.line, e.where))]
        while waiting:
            some, trials = waiting.pop(), trials - 1
            if trials < 0:
                return changes
            fewer = Changes(changes.edits - frozenset(some), changes.options)
            if not _is_implied(engine, changes, fewer) and good(fewer):
                changes = fewer
            elif len(some) > 1:
                waiting += [some[len(some) // 2 :], some[: len(some) // 2]]
    return changes


def _parts(changes: Changes) -> list[tuple[str, Changes]]:
    """Return the options and the kinds of edits one by one."""
    kinds = sorted({(edit.step, edit.kind) for edit in changes.edits})
    parts = [(option, Changes(options=frozenset({option}))) for option in sorted(changes.options)]
    return parts + [
        (kind, Changes(frozenset(edit for edit in changes.edits if edit.kind == kind))) for _, kind in kinds
    ]


def _without(changes: Changes, part: Changes) -> Changes:
    return Changes(changes.edits - part.edits, changes.options - part.options)
