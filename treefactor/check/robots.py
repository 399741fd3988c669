"""Find bundled robots: an arm that comes with this package, and those of three other wheels.

These are URDFs of example-robot-data and pybullet, and MJCFs of dm_control. SDFs are written from URDFs.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, PackagePath, files
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

import numpy as np

from .._util.messages import similar
from ..exceptions import AdapterError
from ..model.model import Model

__all__ = [
    "FIXED",
    "FLOATING",
    "Robot",
    "bundled",
    "default_robots",
    "find",
    "model_of",
]


@dataclass(frozen=True)
class Robot:
    """Robot description and the base it is meant to stand on.

    Attributes
    ----------
    name : str
    path : pathlib.Path
    floating : bool
        Whether its base moves freely.
    mimic : bool
        Whether mimic joints follow the joints that they name, and have no freedom.
    bundled : bool
        Whether the file comes with this package or another wheel: its faults are not the user's.

    Notes
    -----
    Immutable.
    """

    name: str
    path: Path
    floating: bool = False
    mimic: bool = False
    bundled: bool = False

    @property
    def is_mjcf(self) -> bool:
        """Whether the description is in MuJoCo's format."""
        return self.path.suffix == ".xml"

    @property
    def gravity(self) -> np.ndarray | None:
        """Gravity that engines are to use, downwards (m/s^2); None for an MJCF, which has its own."""
        return None if self.is_mjcf else np.array([0.0, 0.0, -9.81])

    @property
    def format(self) -> str:
        """Either "urdf", "mjcf" or "sdf"."""
        return {".xml": "mjcf", ".sdf": "sdf"}.get(self.path.suffix, "urdf")

    @property
    def base(self) -> str:
        """Either "fixed", "floating", or "own" for an MJCF, which defines its base; ", mimic" is appended."""
        if self.is_mjcf:
            return "own"
        base = "floating" if self.floating else "fixed"
        return f"{base}, mimic" if self.mimic else base


# what `treefactor check` checks by default: arms, hands, quadrupeds, bipeds, humanoids
FIXED = (
    "double_pendulum",
    "TwoDofs",
    "finger_edu",
    "ur3_robot",
    "ur5_robot",
    "ur10_robot",
    "kinova",
    "panda",
    "xarm7",
    "z1",
    "so101",
    "talos_left_arm",
    "allegro_right_hand",
    "baxter",
    "pybullet_data/kuka_iiwa/model",
    "pybullet_data/franka_panda/panda",
    "pybullet_data/xarm/xarm6_robot",
    "pybullet_data/cartpole",
)
FLOATING = (
    "solo12",
    "a1",
    "go1",
    "go2",
    "b1",
    "hyq_no_sensors",
    "anymal_b_simple/anymal",
    "anymal_c_simple/anymal",
    "bolt",
    "simple_humanoid",
    "talos_reduced",
    "icub",
    "g1_29dof_rev_1_0",
    "hextilt_flying_arm_5",
    "pybullet_data/mini_cheetah/mini_cheetah",
    "pybullet_data/aliengo/aliengo",
    "pybullet_data/laikago/laikago",
)

SUITE = (  # models of dm_control's suite, as "dm_control/acrobot" and so on
    *("acrobot", "ball_in_cup", "cartpole", "cheetah", "finger", "fish", "hopper", "humanoid"),
    *("manipulator", "quadruped", "reacher", "swimmer", "walker"),
)
SDF_ROBOTS = ("double_pendulum", "panda", "ur5_robot", "solo12", "talos_reduced", "icub")
SDF_VERSIONS = ("1.6", "1.9")
SDF = re.compile(r"sdf-(1\.[69])/(.+)")  # name of an SDF that is written from the URDF of a bundled robot
OWN = {"example_arm": Path(__file__).with_name("example_arm.urdf")}  # of this package


@cache
def bundled() -> MappingProxyType[str, Path]:
    """Return the paths of all bundled URDFs by name.

    "example_arm" comes with this package. A robot of example-robot-data is named by its file, with its folder
    where two files share a name; one of pybullet_data by ``pybullet_data/`` and its path.

    Returns
    -------
    mapping of str to Path
    """
    return MappingProxyType(dict(sorted({**OWN, **_example_robot_data(), **_pybullet_data()}.items())))


def find(name: str, floating: bool | None = None) -> Robot:
    """Return the robot with that path or bundled name.

    Parameters
    ----------
    name : str
        A file, a name of `bundled`, "dm_control/" and the name of a model of its suite, or "sdf-1.6/" or
        "sdf-1.9/" and a name of `bundled`, whose URDF is then written as an SDF.
    floating : bool, optional
        By default the base the bundled robot is meant to stand on, fixed for other files.

    Returns
    -------
    Robot

    Raises
    ------
    AdapterError
        If neither a file nor a bundled robot has that name; proposes similar names.
    """
    if floating is None:
        floating = name in FLOATING
    if Path(name).is_file():
        return Robot(name, Path(name), floating)
    known = {**bundled(), **suite()}
    if name in known:
        return Robot(name, known[name], floating, bundled=True)
    if (match := SDF.fullmatch(name)) and match[2] in bundled():
        return Robot(name, _sdf(match[2], match[1]), match[2] in FLOATING, bundled=True)
    names = [f"sdf-{version}/{robot}" for version in SDF_VERSIONS for robot in bundled()]
    if known.keys() == OWN.keys():
        hint = f"only {', '.join(OWN)} is bundled: pip install 'treefactor[pinocchio,pybullet]' has others"
    else:
        proposal = similar(name, names if name.startswith("sdf-") else known)
        hint = proposal.removeprefix("; ") or "`treefactor info --list` prints all names"
    what = "a folder" if name and Path(name).is_dir() else "no such file and no bundled robot"
    raise AdapterError(f"{name or 'an empty name'}: {what}; {hint}", file=name)


def model_of(robot: Robot, mimic: bool = False) -> Model:
    """Read the model of a robot: a URDF without any engine, an MJCF by MuJoCo, or else by Pinocchio.

    Parameters
    ----------
    robot : Robot
    mimic : bool
        Have mimic joints of a URDF follow the joints that they name.

    Returns
    -------
    Model

    Raises
    ------
    AdapterError, InvalidModelError
        If the file cannot be read, is an SDF, or is an MJCF and neither MuJoCo nor Pinocchio is installed.
    """
    refuse_sdf(robot)
    if not robot.is_mjcf:
        return Model.from_urdf(robot.path, robot.floating, mimic)
    try:
        from ..adapters import mujoco_
    except AdapterError:
        try:
            from ..adapters import pinocchio_
        except AdapterError:
            hint = "an MJCF is read by MuJoCo or Pinocchio: pip install 'treefactor[mujoco]'"
            raise AdapterError(f"{robot.path}: {hint}", file=robot.path) from None
        return pinocchio_.model(pinocchio_.load(robot.path))
    return mujoco_.model(mujoco_.load(robot.path, robot.floating, gravity=None))


def refuse_sdf(robot: Robot) -> None:
    """Raise AdapterError if a robot is an SDF, which is read only to compare engines."""
    if robot.format == "sdf":
        raise AdapterError(
            f"{robot.name}: expected a URDF or an MJCF, got an SDF, which `treefactor check` alone reads, "
            "and that without --derivatives",
            file=robot.name,
        )


def default_robots() -> list[Robot]:
    """Return the robots that ``treefactor check`` compares by default, as far as they are installed.

    Returns
    -------
    list of Robot
    """
    known = bundled()
    names = [name for name in (*FIXED, *FLOATING) if name in known]
    return [Robot(name, known[name], name in FLOATING, bundled=True) for name in names]


def _example_robot_data() -> dict[str, Path]:
    try:
        listed = files("example-robot-data") or []
    except PackageNotFoundError:
        return {}
    urdfs = [file for file in listed if file.suffix == ".urdf"]
    stems = Counter(file.stem for file in urdfs)
    return {
        file.stem if stems[file.stem] == 1 else f"{_family(file)}/{file.stem}": Path(file.locate()).resolve()
        for file in urdfs
    }


def _pybullet_data() -> dict[str, Path]:
    """Return the URDFs of pybullet_data, without the thousand random blocks."""
    spec = find_spec("pybullet_data")
    if spec is None:
        return {}
    root = Path(spec.submodule_search_locations[0])
    inside = (path.relative_to(root) for path in root.rglob("*.urdf"))
    return {
        f"pybullet_data/{path.with_suffix('').as_posix()}": root / path
        for path in inside
        if path.parts[0] != "random_urdfs"
    }


@cache
def suite() -> MappingProxyType[str, Path]:
    """Return the paths of the models of dm_control's suite by name, without importing it.

    Returns
    -------
    mapping of str to Path
        Empty where dm_control is not installed.
    """
    spec = find_spec("dm_control")
    if spec is None or not spec.submodule_search_locations:
        return MappingProxyType({})
    folder = Path(spec.submodule_search_locations[0], "suite")
    paths = {f"dm_control/{name}": folder / f"{name}.xml" for name in SUITE}
    return MappingProxyType({name: path for name, path in paths.items() if path.is_file()})


def sdf_robot(name: str, folder, version: str = "1.6") -> Path:
    """Write the SDF of a bundled robot into a folder and return its path.

    Parameters
    ----------
    name : str
        Of `bundled`, such as those in ``SDF_ROBOTS``.
    folder : str or os.PathLike
        It must exist.
    version : {"1.6", "1.9"}
        DART reads "1.6", jaxsim "1.9", Drake both.

    Raises
    ------
    AdapterError
        If no bundled robot has that name, or SDF cannot hold it.
    """
    from .rewriting.sdf import to_sdf

    known = bundled()
    if name not in known:
        raise AdapterError(f"{name!r} is not a bundled robot: pip install example-robot-data", file=name)
    path = Path(folder) / f"{Path(name).name}.sdf"
    path.write_text(to_sdf(known[name], version, name in FLOATING), encoding="utf-8")
    return path


@cache
def _sdf(name: str, version: str) -> Path:
    """Return the SDF of a bundled robot, in a folder that is deleted at the end of the process."""
    folder = Path(_folder().name, f"sdf-{version}")
    folder.mkdir(exist_ok=True)
    return sdf_robot(name, folder, version)


@cache
def _folder() -> TemporaryDirectory:
    return TemporaryDirectory(prefix="treefactor-sdf-")


def _family(file: PackagePath) -> str:
    """Return the robot that a file of ``.../robots/<robot>_description/...`` belongs to."""
    folder = file.parts[file.parts.index("robots") + 1]
    return folder.removesuffix("_description")
