"""Measure how a rigid body rests and slides in several engines, and find what makes them differ."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib import import_module
from itertools import combinations
from pathlib import Path

import numpy as np

from ..._util.protocol import ContactEngine, ContactRun, ContactScene
from ...exceptions import AdapterError
from ...model.model import Model
from ...tolerances import CONTACTS_AGREE, ON_ONE_LINE, STAYED, UNTURNED
from ..cells import AGREES, DISAGREES, EXCLUDED, EXPLAINED, REFUSED, Cause
from ..robots import Robot
from . import by_treefactor
from .rigid import lacks_mass, write_one_link, write_rigid

CONTACT_ENGINES = {  # modules of the adapters
    "mujoco": "treefactor.adapters._mujoco_contacts",
    "pybullet": "treefactor.adapters._pybullet_contacts",
    "drake": "treefactor.adapters._drake_contacts",
}
OURS = "treefactor"
MU, GRAVITY, STEP = 0.3, 9.81, 2e-3
REST, SLIDE = 1000, 500  # steps
MOST = 3  # options of a set that explains a difference
HELD, SLIDING = 0.9, 1.5  # tangent of an incline over the coefficient of friction
AT_REST = 1e-3  # m/s: treefactor's body has come to rest
ONE_LINK = "fixed joint"  # option: all mass and all shapes are in one link

MERGES = "agrees only if all mass and all shapes are in one link"
MERGED = {  # by engine: what it does with several links, or with a root link without mass
    "mujoco": "gives links without <inertial> the mass of their shapes",
    "pybullet": "fixes a root link without mass, and gives links without <inertial> 1 kg",
}
HEIGHT, SUPPORT, FOOT = "height", "support", "support of"
CREEP, ANGLE = "creep", "slip angle"
UNITS = {HEIGHT: "mm", SUPPORT: "N", CREEP: "mm/s", ANGLE: "deg"}
TURNS = "the body turns on the incline: it rolls or tips"


@dataclass(frozen=True)
class ContactRow:
    """One quantity of one engine.

    Attributes
    ----------
    engine, quantity, unit : str
        Without a quantity if the engine refuses the file.
    exact : float or None
        From statics or Coulomb's law; None where only treefactor's value is known.
    value : float or None
    allowed : float
        Largest deviation that counts as agreement.
    state : {"agrees", "explained", "disagrees", "excluded", "refused"}
    causes : tuple of Cause
        The smallest set of options with which the engine agrees; the effect of each is the deviation without
        it, with the others.
    reason : str
        Why there is no value.

    Notes
    -----
    Immutable.
    """

    engine: str
    quantity: str
    unit: str
    exact: float | None
    value: float | None
    allowed: float
    state: str
    causes: tuple[Cause, ...] = ()
    reason: str = ""

    def as_dict(self) -> dict:
        """Return plain values, for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class ContactCheck:
    """Contacts of one robot in several engines.

    Attributes
    ----------
    robot : str
    mass : float
        kg.
    mu : float
        Coefficient of friction.
    rows : tuple of ContactRow

    Notes
    -----
    Immutable.
    """

    robot: str
    mass: float
    mu: float
    rows: tuple[ContactRow, ...]

    def as_dict(self) -> dict:
        """Return plain values, for JSON."""
        return asdict(self)


def check_contacts(
    robots: Iterable[Robot], engines: Sequence[str] = tuple(CONTACT_ENGINES)
) -> Iterator[ContactCheck]:
    """Compare how robots rest on the ground and slide on an incline, as rigid bodies with all joints at zero.

    Parameters
    ----------
    robots : iterable of Robot
        URDFs with collision shapes.
    engines : sequence of str
        Keys of ``CONTACT_ENGINES`` that are installed.

    Yields
    ------
    ContactCheck
        For each robot: height of the origin of the root link, support of the ground, that of every foot if
        statics determines it, creep where friction holds the body, and slip angle.

    Raises
    ------
    AdapterError
        If a file is not a URDF, has no collision shapes, or the robot does not come to rest.

    Notes
    -----
    The friction coefficient is 0.3, the step 2 ms. The body lies still for 2 s, then for 1 s each on inclines
    of 0.9 and 1.5 times the tangent at which it slips. The slip angle follows from the acceleration on the
    steeper one, of which it is at most the angle.

    Examples
    --------
    >>> from treefactor.check import check_contacts, robots
    >>> (solo,) = check_contacts([robots.find("solo12")], engines=[])  # treefactor and statics alone
    >>> {row.quantity: round(row.value, 6) + 0.0 for row in solo.rows}
    {'height': 335.992973, 'support': 24.525027, 'creep': 0.0, 'slip angle': 16.699244}
    """
    for robot in robots:
        if robot.path.suffix != ".urdf":
            raise AdapterError(f"{robot.path}: contacts are compared on a URDF", file=robot.path)
        with tempfile.TemporaryDirectory() as folder:
            yield _compared(robot, engines, Path(folder))


def _compared(robot: Robot, engines: Sequence[str], folder: Path) -> ContactCheck:
    """Compare contacts of one robot."""
    path = write_rigid(robot.path, folder)
    one_link = write_one_link(path, folder)
    model = Model.from_urdf(path, floating=True)
    body = model.joints[0].inertia
    start = _Start(np.array([0.0, 0.0, by_treefactor.lowest(path, np.eye(3))]), path, one_link)
    resting = by_treefactor.contact_run(start.scene(frozenset()))
    if np.linalg.norm(np.diff(resting.p[-20:], axis=0), axis=1).max(initial=0.0) > AT_REST * STEP:
        seconds = REST * STEP
        reason = f"{robot.name} does not come to rest within {seconds:g} s with all joints at zero"
        raise AdapterError(f"{reason}: contacts are compared of robots that stand", file=robot.path)
    feet = _feet(resting, body)
    exact = _exact(start, resting, body.mass, feet)
    ours = measured(by_treefactor.contact_run, start, frozenset(), feet)
    rows = _rows(OURS, ours, exact, ours)
    for engine in engines:
        module = import_module(CONTACT_ENGINES[engine])
        rows += _engine_rows(engine, module, start, feet, exact, ours)
    return ContactCheck(robot.name, body.mass, MU, tuple(rows))


@dataclass(frozen=True)
class _Start:
    """Files of a rigid body, and where its root link starts so that it touches the ground."""

    p: np.ndarray
    rigid: Path
    one_link: Path

    def scene(self, options: frozenset[str], run: ContactRun | None = None, slope: float = 0.0):
        """Return the scene at rest, or after a run on an incline of a slope."""
        p, R = (self.p, np.eye(3)) if run is None else (run.p[-1], run.R)
        angle = np.arctan(slope)
        gravity = GRAVITY * np.array([np.sin(angle), 0.0, -np.cos(angle)])
        path = self.one_link if ONE_LINK in options else self.rigid
        return ContactScene(path, p, R, gravity, MU, STEP, REST if run is None else SLIDE)


def measured(
    contact_run: Callable[[ContactScene, frozenset[str]], ContactRun],
    start: _Start,
    options: frozenset[str],
    feet: np.ndarray,
) -> dict[str, float]:
    """Return the quantities of an engine; those of the incline are missing if the body turns there."""
    own = options - {ONE_LINK}
    rest = contact_run(start.scene(options), own)
    values = {HEIGHT: 1e3 * float(rest.p[-1, 2]), SUPPORT: float(rest.normal.sum())}
    if len(rest.points) and len(feet):
        nearest = np.linalg.norm(rest.points[:, None, :2] - feet[:, :2], axis=2).argmin(axis=1)
        sums = np.bincount(nearest, rest.normal, len(feet))
        values.update({f"{FOOT} foot {k + 1}": float(force) for k, force in enumerate(sums)})
    held = contact_run(start.scene(options, rest, HELD * MU), own)
    if _turned(rest, held):
        return values
    half = SLIDE // 2
    values[CREEP] = 1e3 * float(held.p[-1, 0] - held.p[half, 0]) / ((SLIDE - half) * STEP)
    sliding = contact_run(start.scene(options, rest, SLIDING * MU), own)
    if not _turned(rest, sliding):
        first, last = (float(sliding.p[k, 0] - sliding.p[k - 20, 0]) / (20 * STEP) for k in (half, SLIDE))
        slowed = (last - first) / ((SLIDE - half) * STEP) / (GRAVITY * np.cos(np.arctan(SLIDING * MU)))
        values[ANGLE] = float(np.degrees(np.arctan(SLIDING * MU - slowed)))
    return values


def _turned(rest: ContactRun, run: ContactRun) -> bool:
    """Return whether the body turns on an incline."""
    return bool(np.abs(run.R - rest.R).max() > UNTURNED)


def _feet(resting: ContactRun, body) -> np.ndarray:
    """Return the points of support if there are three that determine all forces, otherwise none."""
    points = resting.points[resting.normal > 0.0]
    if len(points) != 3 or abs(np.linalg.det(np.column_stack([points[:, :2], np.ones(3)]))) < ON_ONE_LINE:
        return np.zeros((0, 3))
    return points


def _exact(start: _Start, resting: ContactRun, mass: float, feet: np.ndarray) -> dict[str, float]:
    """Return what statics and Coulomb's law state."""
    exact = {SUPPORT: mass * GRAVITY, CREEP: 0.0, ANGLE: float(np.degrees(np.arctan(MU)))}
    if np.abs(resting.R - np.eye(3)).max() < STAYED:  # it stays as it was put on the ground
        exact[HEIGHT] = 1e3 * start.p[2]
    if len(feet):
        centre = resting.p[-1] + resting.R @ Model.from_urdf(start.rigid, floating=True).joints[0].inertia.com
        sums = np.array([1.0, *centre[:2]]) * mass * GRAVITY
        forces = np.linalg.solve(np.column_stack([np.ones(3), feet[:, :2]]).T, sums)
        exact.update({f"{FOOT} foot {k + 1}": float(force) for k, force in enumerate(forces)})
    return exact


def _rows(engine: str, values: dict, exact: dict, ours: dict) -> list[ContactRow]:
    """Return the rows of an engine without causes."""
    rows = []
    for quantity in dict.fromkeys([*UNITS, *exact]):
        unit = UNITS.get(quantity, "N")
        allowed = CONTACTS_AGREE[unit] * (exact[SUPPORT] if unit == "N" else 1.0)
        row = ContactRow(
            engine, quantity, unit, exact.get(quantity), values.get(quantity), allowed, DISAGREES
        )
        if quantity not in ours:
            row = replace(row, state=EXCLUDED, exact=None, value=None, reason=TURNS)
        elif quantity not in values:
            row = replace(row, reason=TURNS)
        elif abs(row.value - (ours[quantity] if row.exact is None else row.exact)) <= allowed:
            row = replace(row, state=AGREES)
        rows.append(row)
    return rows


def _engine_rows(
    engine: str, module: ContactEngine, start: _Start, feet, exact: dict, ours: dict
) -> list[ContactRow]:
    """Return the rows of an engine with their causes."""
    trials = _Trials(module.contact_run, start, feet)
    try:
        rows = _rows(engine, trials.of(), exact, ours)
    except AdapterError as error:
        refused = replace(_rows(engine, {}, exact, ours)[0], state=REFUSED, quantity="", unit="", exact=None)
        reason = str(error).removeprefix(f"{start.rigid}: ")
        return [replace(refused, reason=" ".join(reason.split()))]
    texts = {**module.CONTACT_OPTIONS}
    if lacks_mass(start.rigid):
        texts[ONE_LINK] = MERGED.get(engine, MERGES)
    at_work = [option for option in texts if trials.of(option) != trials.of()]
    for options in (chosen for count in range(1, MOST + 1) for chosen in combinations(at_work, count)):
        for k, row in enumerate(rows):
            if row.state == DISAGREES and trials.deviation(row, options, ours) <= row.allowed:
                causes = tuple(
                    Cause(option, texts[option], effect=trials.without(row, options, option, ours))
                    for option in options
                )
                rows[k] = replace(row, state=EXPLAINED, causes=causes)
        if all(row.state != DISAGREES for row in rows):
            break
    return rows


class _Trials:
    """Quantities of an engine for sets of options, each measured once."""

    def __init__(self, contact_run: Callable, start: _Start, feet: np.ndarray):
        self._measure = partial(measured, contact_run, start, feet=feet)
        self._known: dict[frozenset[str], dict[str, float]] = {}

    def of(self, *options: str) -> dict[str, float]:
        """Return the quantities; none if the engine refuses the file with options, but not without."""
        key = frozenset(options)
        if key not in self._known:
            try:
                self._known[key] = self._measure(key)
            except AdapterError:
                if not key:
                    raise
                self._known[key] = {}
        return self._known[key]

    def deviation(self, row: ContactRow, options: Sequence[str], ours: dict) -> float:
        """Return the deviation of a quantity from the exact value, or ours; infinite without a value."""
        values = self.of(*options)
        if row.quantity not in values:
            return np.inf
        return abs(values[row.quantity] - (ours[row.quantity] if row.exact is None else row.exact))

    def without(self, row: ContactRow, options: Sequence[str], option: str, ours: dict) -> float | None:
        """Return the deviation without one of the options, None if there is no value."""
        deviation = self.deviation(row, [other for other in options if other != option], ours)
        return float(deviation) if np.isfinite(deviation) else None
