"""Find the robots that PyPI wheels contain: the URDFs of example-robot-data and of pybullet_data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, PackagePath, files
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

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

    Notes
    -----
    Immutable.
    """

    name: str
    path: Path
    floating: bool = False

    @property
    def is_mjcf(self) -> bool:
        """Whether the description is in MuJoCo's format."""
        return self.path.suffix == ".xml"

    @property
    def base(self) -> str:
        """Either "fixed", "floating", or "own" for an MJCF, which defines its base."""
        if self.is_mjcf:
            return "own"
        return "floating" if self.floating else "fixed"


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


@cache
def bundled() -> MappingProxyType[str, Path]:
    """Return the paths of all bundled URDFs by name; empty where neither wheel is installed.

    A robot of example-robot-data is named by its file, with its folder where two files share a name; one
    of pybullet_data by ``pybullet_data/`` and its path.

    Returns
    -------
    mapping of str to Path
    """
    return MappingProxyType(dict(sorted({**_example_robot_data(), **_pybullet_data()}.items())))


def find(name: str, floating: bool | None = None) -> Robot:
    """Return the robot with that path or bundled name.

    Parameters
    ----------
    name : str
        A file, or a name of `bundled`.
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
    known = bundled()
    if name in known:
        return Robot(name, known[name], floating)
    if not known:
        hint = "no robots are bundled: pip install 'treefactor[pinocchio,pybullet]'"
    else:
        hint = similar(name, known).removeprefix("; ") or "`treefactor info --list` prints all names"
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
        If the file cannot be read, or is an MJCF and neither MuJoCo nor Pinocchio is installed.
    """
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


def default_robots() -> list[Robot]:
    """Return the robots that ``treefactor check`` compares by default, as far as they are installed.

    Returns
    -------
    list of Robot
    """
    known = bundled()
    return [Robot(name, known[name], name in FLOATING) for name in (*FIXED, *FLOATING) if name in known]


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


def _family(file: PackagePath) -> str:
    """Return the robot that a file of ``.../robots/<robot>_description/...`` belongs to."""
    folder = file.parts[file.parts.index("robots") + 1]
    return folder.removesuffix("_description")
