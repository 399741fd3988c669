"""Test the trap files, and that engines are found to do with them what they are known to do, by name."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass

import pytest

from treefactor.check.cells import AGREES, DISAGREES, EXCLUDED, EXPLAINED, NOT_OFFERED, REFUSED
from treefactor.check.engines import ChosenEngine, engine_version
from treefactor.check.matrix import Matrix, compare
from treefactor.check.traps import trap_robots, traps
from treefactor.exceptions import AdapterError

URDFS = [trap for trap in traps() if trap.format == "urdf"]
FORCES = ("bias", "gravity", "inverse dynamics", "q̈")
MASSES = ("centre of mass", "momentum", "energies")
SLOW = ("rtb", "newton", "pybullet")  # engines that take seconds
QUICK = ("axis_negative rtb", "triangle newton", "triangle pybullet")  # one of each all the same


FOLLOWING = ("q̈", "LᵀDL")  # computed from H
USUAL = {"root_link", "inertia_from_file"}  # causes that engines have for most files


@dataclass(frozen=True)
class Known:
    """What an engine does with a trap file.

    Attributes
    ----------
    trap, engine : str
    wrong : tuple of str
        Quantities that differ, all those offered for (); others agree.
    step : str
        Of the one cause, "" if no rewriting repairs it.
    where : tuple of str
        Links or joints of the cause.
    reason : str
        Part of the message if the engine refuses the file as it is.
    text : str
        Part of the cause in plain words.
    """

    trap: str
    engine: str
    wrong: tuple[str, ...]
    step: str = ""
    where: tuple[str, ...] = ()
    reason: str = ""
    text: str = ""

    def __str__(self) -> str:
        return f"{self.trap} {self.engine}"


WITHOUT_GRAVITY = ("H", "bias", "inverse dynamics", "q̈", "momentum", "energies")
AXES = ("H", "bias", "gravity", "inverse dynamics", "q̈")
WORLD = (*FORCES, "placements", "Jacobians", "centre of mass", "momentum", "J̇v")
KNOWN = (
    # iDynTree
    Known("root_world", "idyntree", WORLD, "fixed joint", ("mount",), text="as its base"),
    Known("planar", "idyntree", (), reason="empty model"),
    Known("floating", "idyntree", (), reason="empty model"),
    # DART
    Known("no_inertial", "dart", ("H", *FORCES, *MASSES), "inertial", ("tool",), text="1 kg"),
    Known("no_inertial_shape", "dart", ("H", *FORCES, *MASSES), "inertial", ("tool",), text="1 kg"),
    Known("no_inertial_inside", "dart", ("H", "inverse dynamics", "q̈", *MASSES), "inertial", ("upper",)),
    Known("mimic", "dart", ("q̈",), "mimic", ("follower",), text="actuator"),
    Known("damping", "dart", ("q̈",), "dynamics", ("elbow",), text="implicitly"),
    Known("limits", "dart", ("q̈",), "setForces", text="effort limit"),
    Known("missing_mesh", "dart", (), "visual", ("lower",), "Failed loading mesh"),
    # adam
    Known("no_inertial_origin", "adam", (), "inertial origin", ("lower",), "no attribute 'xyz'"),
    Known(
        *("axis_not_unit", "adam"),
        ("H", "bias", "gravity", "q̈", "placements", "Jacobians", "centre of mass", "momentum", "J̇v"),
        *("axis", ("elbow",)),
        text="unit length",
    ),
    Known("axis_missing", "adam", (), "axis", ("elbow",), "not subscriptable", text="without <axis>"),
    Known("prismatic", "adam", (), reason="ValueError: all the input array dimensions"),
    Known("prismatic_oblique", "adam", (), reason="ValueError: all the input array dimensions"),
    Known("planar", "adam", (), reason="AttributeError"),
    Known("floating", "adam", (), reason="AttributeError"),
    Known("missing_texture", "adam", (), "material", ("lower",), "ParseError", text="<texture>"),
    # Robotics Toolbox
    Known("axis_negative", "rtb", AXES, "joint frame", ("elbow",), text="opposite sign"),
    Known("axis_negative_y", "rtb", AXES, "joint frame", ("elbow",)),
    Known("axis_oblique", "rtb", (*AXES, "placements", "Jacobians", "J̇v"), "joint frame", ("elbow",)),
    Known("fixed_links", "rtb", AXES, "fixed joint", ("camera_mount",), text="fixed joints"),
    Known("fixed_chain", "rtb", AXES, "fixed joint", ("weld",)),
    Known("root_world", "rtb", FORCES, "fixed joint", ("mount",)),
    Known("friction", "rtb", ("bias", "inverse dynamics", "q̈"), "dynamics", ("elbow",), text="friction"),
    Known("missing_mesh", "rtb", (), "visual", ("lower",), "no_such_package"),
    # Newton
    Known(
        *("no_inertial_shape", "newton", ("H", *FORCES, "centre of mass"), "collision", ("tool",)),
        text="mass of their collision shapes",
    ),
    Known("triangle", "newton", ("H", "inverse dynamics", "q̈"), "keep_inertia", text="no body"),
    Known("negative_moment", "newton", ("H", "inverse dynamics", "q̈"), "keep_inertia"),
    Known("massless_tensor", "newton", ("H", "bias", "inverse dynamics"), "keep_inertia"),
    # MuJoCo, Drake and PyBullet
    Known("no_inertial_shape", "mujoco", ("H", *FORCES, *MASSES), "collision", ("tool",)),
    Known("no_inertial_inside", "mujoco", (), "any_inertia", reason="larger than mjMINVAL"),
    Known("triangle", "mujoco", (), "any_inertia", reason="A + B >= C"),
    Known("floating", "mujoco", (), reason="free joint can only be used on top level"),
    Known("triangle", "pybullet", WITHOUT_GRAVITY, "keep_inertia", ("lower",)),
    Known("triangle", "drake", WITHOUT_GRAVITY, "keep_inertia", ("lower",), text="ball of water"),
    Known(
        *("massless_tensor", "drake", ("H", *FORCES, *MASSES), "keep_inertia", ("lower",)),
        text="1 kg without mass",
    ),
    Known("damping", "drake", ("q̈",), "dynamics", ("elbow",)),
)


def marked(known: Known):
    slow = known.engine in SLOW and str(known) not in QUICK
    return pytest.param(known, id=str(known).replace(" ", "-"), marks=[pytest.mark.slow] if slow else [])


@pytest.fixture(scope="module")
def robots(tmp_path_factory):
    """Return all traps by name."""
    return {robot.name.removeprefix("traps/"): robot for robot in trap_robots(tmp_path_factory.mktemp("t"))}


@pytest.fixture(scope="module")
def cells_of(robots):
    """Return a function that returns what one engine does with one trap, at one state.

    All traps of an engine are compared at once, in processes: engines crash beside the libraries of others.
    """
    results = {}

    def compared(trap, engine):
        for name in ("pinocchio", engine):
            if not engine_version(name):
                pytest.skip(f"{name} is not installed")
        quick = f"{trap} {engine}" in QUICK
        if (engine, quick) not in results:
            names = [one.trap for one in KNOWN if one.engine == engine and (str(one) in QUICK) == quick]
            chosen = [robots[name] for name in (*([] if quick else ["plain", "floating"]), *names)]
            report = compare(Matrix(list(dict.fromkeys(chosen)), [ChosenEngine(engine)], samples=1))
            by_trap = {}
            for cell in report.cells:
                if cell.quantity != "simulation" and cell.base == "fixed":
                    by_trap.setdefault(cell.robot, {})[cell.quantity] = cell
            results[engine, quick] = by_trap
        return results[engine, quick][f"traps/{trap}"]

    return compared


@pytest.mark.parametrize("known", [marked(one) for one in KNOWN])
def test_an_engine_is_found_to_do_what_it_is_known_to_do(known, cells_of):
    cells = cells_of(known.trap, known.engine)
    compared = {name: one for name, one in cells.items() if one.state not in (NOT_OFFERED, EXCLUDED)}
    for quantity in known.wrong or compared:
        cell = cells[quantity]
        assert cell.state == (EXPLAINED if known.step else REFUSED), cell
        assert known.reason in cell.reason
        causes = {cause.step: cause for cause in cell.causes}
        if known.step:
            assert causes[known.step].where == known.where
            assert known.text in causes[known.step].text
            assert cell.error <= cell.allowed
        if known.wrong:
            assert cell.ordinary > 1e-3, cell
    for cell in compared.values():
        others = {cause.step for cause in cell.causes} - USUAL
        assert cell.quantity in (*(known.wrong or compared), *FOLLOWING) or (
            cell.state in (AGREES, EXPLAINED) and not others
        ), cell


@pytest.mark.parametrize("engine", ["drake", "idyntree", "dart", "adam", "mujoco"])
def test_engines_agree_on_the_plain_arm(engine, cells_of):
    for cell in cells_of("plain", engine).values():
        assert cell.state in (AGREES, NOT_OFFERED) or [one.step for one in cell.causes] == ["root_link"], cell


def test_another_kind_of_joint_is_no_agreement(cells_of):
    for cell in cells_of("floating", "dart").values():
        assert cell.state in (DISAGREES, NOT_OFFERED)
        assert cell.state == NOT_OFFERED or "elbow" in cell.reason


def test_there_are_35_urdfs_of_one_to_five_links():
    assert len(URDFS) == 35
    names = [trap.name for trap in traps()]
    assert len(set(names)) == len(names)
    assert len({trap.about for trap in traps()}) == len(names)
    for trap in URDFS:
        top = ET.fromstring(trap.text)
        assert 1 <= len(top.findall("link")) <= 5, trap.name
        for tag in ("link", "joint"):
            own_names = [one.get("name") for one in top.findall(tag)]
            assert len(set(own_names)) == len(own_names), trap.name


def test_all_joint_frames_and_inertial_frames_are_turned():
    for trap in URDFS:
        top = ET.fromstring(trap.text)
        assert all(one.get("rpy") != "0 0 0" for one in top.iterfind("joint/origin")), trap.name


def test_the_traps_are_written_as_they_are_listed(robots):
    for trap in traps():
        robot = robots[trap.name.removeprefix("traps/")]
        assert robot.path.read_text(encoding="utf-8") == trap.text
        assert robot.format == trap.format


def test_a_folder_for_the_traps_must_exist(tmp_path):
    with pytest.raises((AdapterError, FileNotFoundError)):
        trap_robots(tmp_path / "missing")
