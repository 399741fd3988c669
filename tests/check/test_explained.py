"""Check the causes that the comparison finds for small URDFs in the real engines."""

from dataclasses import replace

import pytest

from treefactor.check.engines import ChosenEngine
from treefactor.check.matrix import Matrix
from treefactor.check.robots import find
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
