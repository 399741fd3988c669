"""Define the results of a comparison: one cell for every robot, engine and quantity."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

AGREES, EXPLAINED, EXPECTED = "agrees", "explained", "expected"
DISAGREES, REFUSED, TIMED_OUT, CRASHED = "disagrees", "refused", "timed out", "crashed"
IMPOSSIBLE, UNREADABLE = "impossible", "unreadable"  # states of links and files, not of cells: see `Fault`
NOT_OFFERED, NOT_INSTALLED, EXCLUDED = "not offered", "not installed", "excluded"

STATES = (  # the worst first
    *(CRASHED, TIMED_OUT, DISAGREES, REFUSED, EXPECTED, EXPLAINED, AGREES),
    *(NOT_INSTALLED, EXCLUDED, NOT_OFFERED),
)
SCHEMA = 1  # version of the format of `Report.as_dict` and of the JSON files
GOOD = (AGREES, EXPLAINED, EXPECTED, NOT_OFFERED, NOT_INSTALLED, EXCLUDED)


@dataclass(frozen=True)
class Cause:
    """One reason for which an engine differs from the reference.

    Attributes
    ----------
    step : str
        Step of the rewriting, or option of the engine, after which it agrees (see
        ``treefactor.check.repair``); or the setting, or the change of a tensor, that makes the difference.
    text : str
        The cause in plain words: what the engine does.
    where : tuple of str
        Links or joints concerned, the largest effect first if effects were measured.
    effect : float or None
        Relative change of the quantity that the cause makes alone.
    link : str
        Address of the upstream report, or "".
    lines : tuple of int
        Lines of the file on which the links and joints of ``where`` begin, counted from one.

    Notes
    -----
    Immutable.
    """

    step: str
    text: str
    where: tuple[str, ...] = ()
    effect: float | None = None
    link: str = ""
    lines: tuple[int, ...] = ()

    def as_dict(self) -> dict:
        """Return plain values, for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Cell:
    """Result for one robot, engine and quantity, worst over the samples.

    Attributes
    ----------
    robot, base, engine, quantity : str
    state : str
        One of ``STATES``.
    error : float or None
        Largest deviation from the reference, relative to the size of the quantity, of the file as rewritten
        by the steps of the causes; None where nothing was compared.
    allowed : float or None
        Largest error that counts as rounding.
    ordinary : float or None
        The same error of the file loaded as it is; None if the engine refuses it.
    causes : tuple of Cause
    reason : str
        Why, where the state is neither "agrees" nor "explained": the engine's message, or what is missing.

    Notes
    -----
    Immutable.
    """

    robot: str
    base: str
    engine: str
    quantity: str
    state: str
    error: float | None = None
    allowed: float | None = None
    ordinary: float | None = None
    causes: tuple[Cause, ...] = ()
    reason: str = ""

    def as_dict(self) -> dict:
        """Return plain values, for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Fault:
    """Impossible link or joint, or why treefactor refuses the whole file.

    A link is impossible if no body can have its inertia; a joint if its limits are negative or in the wrong
    order, or if it moves no mass.

    Attributes
    ----------
    link : str
        "" for a joint, and where treefactor refuses the file.
    line : int
        Line of the file on which the link or joint begins, or which the reason names, counted from one; 0 if
        it names none.
    reason : str
        As of `Inertia.fault`, or of the error of the reader.
    expected : str
        Why it does not count as a failure, "" if it does.
    word : {"impossible", "unreadable"}
        A negative mass is impossible, too; all else that the reader refuses is unreadable.
    joint : str
        Name of an impossible joint, "" for a link or file.

    Notes
    -----
    Immutable.
    """

    link: str
    line: int
    reason: str
    expected: str = ""
    word: str = IMPOSSIBLE
    joint: str = ""

    def __str__(self) -> str:
        if not self.link and not self.joint:  # the reason says where
            return self.reason
        part = f"link {self.link!r}" if self.link else f"joint {self.joint!r}"
        return f"{part}, line {self.line}: {self.reason}"


@dataclass(frozen=True)
class CheckedRobot:
    """Robot of a comparison.

    Attributes
    ----------
    name, base : str
    file : str
        Path as the user wrote it, or the name of a bundled robot.
    format : {"urdf", "mjcf", "sdf"}
    sha256 : str
        Of the file's bytes.
    freedoms : int or None
        Entries of v; None if the reference cannot load it.
    impossible : tuple of Fault
        Faults of the file, if it is a URDF or SDF.

    Notes
    -----
    Immutable.
    """

    name: str
    base: str
    file: str
    format: str
    sha256: str
    freedoms: int | None = None
    impossible: tuple[Fault, ...] = ()

    @classmethod
    def from_dict(cls, values: dict) -> CheckedRobot:
        """Return the robot that ``dataclasses.asdict`` made plain data of."""
        return cls(
            **{**values, "impossible": tuple(Fault(**fault) for fault in values.get("impossible", ()))}
        )


@dataclass(frozen=True)
class UsedEngine:
    """Engine of a comparison: version as its package reports it, "" if it is not installed.

    Notes
    -----
    Immutable.
    """

    name: str
    version: str = ""
    dtype: str = "float64"
    python: str = ""
    pip: str = ""


@dataclass(frozen=True)
class Report:
    """All results of a comparison; reports of every kind are made from it.

    Attributes
    ----------
    meta : dict
        ``schema`` (1), ``treefactor``, ``python``, ``machine``, ``seed``, ``samples``; ``files`` is
        "rewritten" if no file was loaded as it is.
    engines : list of UsedEngine
    robots : list of CheckedRobot
    quantities : list of str
    cells : list of Cell
    expectations : list of dict
        Entries ``[[expect]]`` of the configuration, each with ``stale`` (bool): nothing it describes differs.

    Notes
    -----
    Thread-compatible.
    """

    meta: dict
    engines: list[UsedEngine] = field(default_factory=list)
    robots: list[CheckedRobot] = field(default_factory=list)
    quantities: list[str] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    expectations: list[dict] = field(default_factory=list)

    @property
    def impossible(self) -> list[tuple[CheckedRobot, Fault]]:
        """Faults of the files; those of a file that is compared twice are listed once."""
        robots = {robot.name: robot for robot in reversed(self.robots)}
        return [(robot, fault) for robot in [*robots.values()][::-1] for fault in robot.impossible]

    def as_dict(self) -> dict:
        """Return plain values, for JSON; the same run gives the same values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict) -> Report:
        """Return the report that `as_dict` or a JSON file holds."""
        cells = [
            Cell(**{**cell, "causes": tuple(_cause(cause) for cause in cell["causes"])})
            for cell in values["cells"]
        ]
        return cls(
            values["meta"],
            [UsedEngine(**engine) for engine in values["engines"]],
            [CheckedRobot.from_dict(robot) for robot in values["robots"]],
            list(values["quantities"]),
            cells,
            list(values["expectations"]),
        )


def _cause(values: dict) -> Cause:
    return Cause(**{**values, "where": tuple(values["where"]), "lines": tuple(values["lines"])})
