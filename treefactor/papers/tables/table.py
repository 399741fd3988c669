"""Define tables that show a paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np

from ...bench.timing import Result
from ...check.cells import EXPLAINED
from ...tree.tree import OperationCount, Tree

# verdicts, besides EXPLAINED
EQUAL, ABOUT, DIFFERS, NOT_IN_PAPER = "equal", "about", "differs", "not in paper"
NOT_ABOVE, NOT_BELOW = "not above", "not below"
HOLDS, DERIVED = "holds", "derived"  # an equation that was executed; a figure from another one of the paper

TIMED = ("peer", "ours", "theirs", "ratio", "low", "high")  # attributes of a Result that are written to JSON
CLOSE = 1.5  # factor within which a rule of thumb holds


@dataclass(frozen=True)
class Rule:
    """Prediction of a rule of thumb."""

    value: float


@dataclass(frozen=True)
class AtMost:
    """Upper limits on operations by kind; div is None where divisions count as products."""

    mul: int
    add: int
    div: int | None = 0

    def admits(self, ours: OperationCount) -> bool:
        """Return whether no count is above its limit."""
        return all(getattr(ours, kind) <= number for kind, number in self.stated.items())

    @property
    def stated(self) -> dict[str, int]:
        """Return the numbers by kind."""
        return {kind: number for kind, number in vars(self).items() if number is not None}


@dataclass(frozen=True)
class AtLeast:
    """Lower limit."""

    value: float


@dataclass(frozen=True)
class Between:
    """Range."""

    low: float
    high: float


@dataclass(frozen=True)
class Limit:
    """Upper limit of one number."""

    value: float


@dataclass(frozen=True)
class Identity:
    """Equation of the paper, which states no figure: ours is the residual, at most this tolerance of ours."""

    tolerance: float = 1e-12


@dataclass(frozen=True)
class Derived:
    """Figure that follows from another one of the same paper: ours comes from that one, and nothing ran."""

    value: int | float | tuple


ANY_TIME = AtLeast(
    0.0
)  # a ratio of times is shown, but fails nothing: it depends on what else the machine runs

Limits = Rule | AtMost | AtLeast | Limit | Between | Identity | Derived
Value = int | float | str | Decimal | Limits | OperationCount | tuple | Mapping[str, int]


AGREED = {  # verdicts; of others EQUAL
    **{Rule: ABOUT, AtMost: NOT_ABOVE, AtLeast: NOT_BELOW, Limit: NOT_ABOVE},
    **{Between: ABOUT, Identity: HOLDS, Derived: DERIVED},
}


@dataclass(frozen=True)
class PaperRow:
    """One figure of a paper beside ours.

    Attributes
    ----------
    case, what : str
        The tree or robot, and what was counted or computed.
    ours : Value
        As executed.
    paper : Value or None
        As printed, or from the paper's formula. A Decimal has the digits that were printed, and ours is
        rounded to them; a Rule holds within a factor `CLOSE`, AtMost, Limit and AtLeast on one side, Between
        within a range; an Identity was executed and a Derived one was not, and neither shows that ours equals
        a printed figure.
    instead : Value or None
        What ours is known to be where it differs, or where the paper has no figure.
    reason : str
        Why it differs, or what is known of it.
    is_explained : bool
        Whether the reason accounts for the difference; without, the row differs, and fails nothing as long as
        ours is what it is known to be.
    timed : tuple of Result
        Our time beside the times of peers.
    """

    case: str
    what: str
    ours: Value
    paper: Value | None = None
    instead: Value | None = None
    reason: str = ""
    is_explained: bool = True
    timed: tuple[Result, ...] = ()

    @property
    def verdict(self) -> str:
        """Result of the comparison with the paper."""
        if self.paper is None:
            return NOT_IN_PAPER if self.is_known else DIFFERS
        if _agree(self.paper, self.ours):
            return AGREED.get(type(self.paper), EQUAL)
        return EXPLAINED if self.is_explained and self.is_known else DIFFERS

    @property
    def is_known(self) -> bool:
        """Whether ours is what it is known to be, with a reason where the paper has another figure."""
        if self.paper is None:
            return self.instead is None or _agree(self.instead, self.ours)
        return bool(self.reason) and self.instead is not None and _agree(self.instead, self.ours)

    def as_dict(self) -> dict:
        """Return all values, for JSON."""
        return {
            "case": self.case,
            "what": self.what,
            "paper": plain(self.paper),
            "ours": plain(self.ours),
            "verdict": self.verdict,
            "reason": self.reason,
            "timed": [{name: getattr(result, name) for name in TIMED} for result in self.timed],
        }


@dataclass(frozen=True)
class Picture:
    """Drawing of our own run: cells of a matrix, and discs.

    Attributes
    ----------
    title : str
    size : tuple of float
        Width and height; y points down.
    cells : mapping
        Masks of a square matrix by style: "lower" or "upper".
    discs : mapping
        Arrays of rows (x, y, radius) by style.
    lines : ndarray, shape (k, 5)
        Rows (x1, y1, x2, y2, width).
    """

    title: str
    size: tuple[float, float]
    cells: Mapping[str, np.ndarray] = field(default_factory=dict)
    discs: Mapping[str, np.ndarray] = field(default_factory=dict)
    lines: np.ndarray = field(default_factory=lambda: np.zeros((0, 5)))


@dataclass(frozen=True)
class Table:
    """A table or figure of a paper.

    Attributes
    ----------
    paper, title : str
    note : str
        What was executed, and how.
    rows : sequence of PaperRow
    tree : Tree or None
        To be drawn beside the rows.
    curves : mapping
        Rows by family and n, to be plotted.
    pictures : sequence of Picture
    """

    paper: str
    title: str
    note: str
    rows: Sequence[PaperRow]
    tree: Tree | None = None
    curves: Mapping[str, Mapping[int, PaperRow]] = field(default_factory=dict)
    pictures: Sequence[Picture] = ()

    def as_dict(self) -> dict:
        """Return everything but drawings, for JSON."""
        rows = [row.as_dict() for row in self.rows]
        return {"paper": self.paper, "title": self.title, "note": self.note, "rows": rows}


def _agree(paper: Value, ours: Value) -> bool:
    """Return whether our figure is the paper's, to the digits that are printed."""
    if isinstance(paper, Decimal):
        return round(ours, -paper.as_tuple().exponent) == float(paper)
    if isinstance(paper, Rule):
        return 1 / CLOSE <= ours / paper.value <= CLOSE
    if isinstance(paper, AtMost):
        return paper.admits(ours)
    if isinstance(paper, AtLeast):
        return ours >= paper.value
    if isinstance(paper, Between):
        return paper.low <= ours <= paper.high
    if isinstance(paper, Limit):
        return ours <= paper.value
    if isinstance(paper, Identity):
        return abs(ours) <= paper.tolerance
    return ours == (paper.value if isinstance(paper, Derived) else paper)


def plain(value: Value | None):
    """Return a value that JSON can hold."""
    match value:
        case Decimal():
            return float(value)
        case Rule(number) | AtLeast(number) | Limit(number) | Derived(number) | Identity(number):
            return plain(number)
        case AtMost():
            return value.stated
        case Between(low, high):
            return [low, high]
        case OperationCount():
            return vars(value)
        case tuple():
            return list(value)
    return value


def shown(value: Value | None) -> str:
    """Format a value for people."""
    match value:
        case None:
            return ""
        case tuple():
            return f"({', '.join(map(str, value))})"
        case OperationCount():
            return _listed(vars(value))
        case AtMost():
            return f"≤ {_listed(value.stated)}"
        case AtLeast(number):
            return f"≥ {number:.3g}"
        case Limit(number):
            return f"≤ {number:.6g}"
        case Identity():
            return "equation"
        case Derived(number):
            return shown(number)
        case Between(low, high):
            return f"{low:.3g} to {high:.3g}"
        case Mapping():
            return ", ".join(f"{name} = {number}" for name, number in value.items())
        case Rule(number):
            return f"≈ {number:.3g}"
        case float():
            return f"{value:.4g}"
        case Decimal() if not value:
            return "0"
    return str(value)


def _listed(numbers: Mapping[str, int]) -> str:
    """Format numbers of operations by kind."""
    return ", ".join(f"{number} {kind}" for kind, number in numbers.items() if number) or "0"
