"""Check the causes that the comparison finds for small URDFs in the real engines."""

from dataclasses import replace

import pytest
from helpers import defective

from treefactor.check import own
from treefactor.check.engines import ChosenEngine
from treefactor.check.examine import Examination
from treefactor.check.judge import judge
from treefactor.check.matrix import Matrix
from treefactor.check.reference import compute_reference
from treefactor.check.robots import Robot, find
from treefactor.check.traps import trap_robots

pytest.importorskip("pinocchio", reason="the reference of the comparison is Pinocchio")


@pytest.fixture
def compared(tmp_path):
    """Return a function that compares an engine on a trap; it returns the cells by quantity."""

    def compare(engine, package, trap, floating=False):
        pytest.importorskip(package, reason=f"{engine} is not installed")
        robot = next(one for one in trap_robots(tmp_path) if one.name == f"traps/{trap}")
        chosen = [ChosenEngine(engine)]
        robot = replace(robot, floating=floating)
        ((_, cells),) = Matrix([robot], chosen, samples=1, processes=False)
        return {cell.quantity: cell for cell in cells}

    return compare


@pytest.mark.parametrize("trap", ["root_world", "root_world_moving"])
@pytest.mark.parametrize(("engine", "package"), [("drake", "pydrake"), ("dart", "dartpy"), ("mujoco",) * 2])
def test_a_free_root_called_world_is_the_cause(compared, engine, package, trap):
    cells = compared(engine, package, trap, floating=True)
    assert not [cell for cell in cells.values() if cell.state in ("disagrees", "refused")]
    causes = {cause.step: cause for cause in cells["H"].causes}
    assert causes["root world"].where == ("world",)
    assert causes["root world"].lines


@pytest.mark.parametrize(
    ("engine", "package", "trap", "reason"),
    [
        ("mujoco", "mujoco", "planar", "lacks elbow (planar); it has elbow_TX (prismatic), elbow_TY"),
        ("drake", "pydrake", "floating", "lacks elbow (free)"),
    ],
)
def test_joints_that_an_engine_reads_as_others_are_named(compared, engine, package, trap, reason):
    cell = compared(engine, package, trap)["H"]
    assert cell.state == "disagrees"
    assert reason in cell.reason


def test_a_joint_without_a_declared_convention_is_not_offered(compared):
    cell = compared("dart", "dartpy", "floating")["H"]
    assert cell.state == "not offered"
    assert "no convention for elbow (free)" in cell.reason


def test_adam_offers_no_jacobians_of_a_robot_without_joints(compared):
    cells = compared("adam", "adam", "one_link")
    assert "without joints" in cells["Jacobians"].reason
    states = {cells[name].state for name in ("Jacobians", "J̇v")}
    assert states == {"not offered"}
    assert cells["placements"].state == "agrees"


def test_the_toolbox_computes_one_joint_without_its_own_accelerations(compared):
    assert compared("rtb", "roboticstoolbox", "root_world_moving")["q̈"].state == "agrees"


def test_an_option_names_the_links_whose_inertias_it_changes(compared):
    causes = {cause.step: cause for cause in compared("pybullet", "pybullet", "massless_tensor")["H"].causes}
    assert causes["inertia_from_file"].where == ("upper", "lower")
    assert causes["inertia_from_file"].lines == (4, 5)


@pytest.mark.slow
def test_merged_links_take_their_transmissions_with_them():
    pytest.importorskip("roboticstoolbox", reason="rtb is not installed")
    ((_, cells),) = Matrix([find("kinova")], [ChosenEngine("rtb")], samples=1, processes=False)
    assert {cause.step for cell in cells for cause in cell.causes} == {"fixed joint"}


DRONE = """<robot name="drone"><link name="world"/><link name="hull"><inertial><origin xyz="0.1 0 0.2"/>
<mass value="2"/><inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.2" iyz="0" izz="0.15"/></inertial></link>
<joint name="free" type="floating"><parent link="world"/><child link="hull"/></joint></robot>"""


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize(("engine", "package"), [("drake", "pydrake"), ("dart", "dartpy"), ("mujoco",) * 2])
def test_a_robot_on_a_floating_joint_of_the_world_floats_once(engine, package, floating, tmp_path):
    pytest.importorskip(package, reason=f"{engine} is not installed")
    path = tmp_path / "drone.urdf"
    path.write_text(DRONE)
    robot = Robot("drone", path, floating)
    ((checked, cells),) = Matrix([robot], [ChosenEngine(engine)], samples=1, processes=False)
    assert checked.freedoms == 6
    assert {cell.state for cell in cells} <= {"agrees", "explained", "not offered"}, cells


WHEEL = """<robot name="wheel"><link name="base"/>
<link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<link name="wheel"><inertial><mass value="20"/>
<inertia ixx="2e-4" ixy="0" ixz="0" iyy="2e-4" iyz="0" izz="2e-4"/></inertial></link>
<joint name="axle" type="continuous"><origin xyz="3 2 1" rpy="1 0.4 0.2"/><parent link="base"/>
<child link="wheel"/><axis xyz="0 0 1"/></joint>
<joint name="weld" type="fixed"><parent link="base"/><child link="arm"/></joint></robot>"""


@pytest.mark.parametrize(("deviation", "states"), [(1e-13, {"agrees"}), (1e-10, {"disagrees"})])
def test_rounding_of_moments_that_cancel_is_no_difference(deviation, states, tmp_path):
    """Gravity has no moment about the axle of a wheel, but each engine's sum of moments is rounded."""
    path = tmp_path / "wheel.urdf"
    path.write_text(WHEEL)
    rounded = {
        "gravity_forces": lambda body, q: own.gravity_forces(body, q) + deviation,
        "bias": lambda body, q, v: own.bias(body, q, v) + deviation,
    }
    robot = Robot("wheel", path)
    reference = compute_reference(own, "treefactor", robot, 3, 0, frozenset({"root_link"}))
    examination = Examination(defective.engine(**rounded), robot, reference, ("gravity", "bias"))
    assert {cell.state for cell in judge(examination, "rounded")} == states
