"""MuJoCo's own format: the models that dm_control ships, an optional extra."""

from pathlib import Path

import pytest

from treefactor import Tree, check, robots

pytest.importorskip("pinocchio", reason="Pinocchio is the reference of every check")
pytest.importorskip("mujoco", reason="MuJoCo is not installed")

from treefactor.adapters import mujoco_, pinocchio_

SWING = """<mujoco><worldbody><body name="arm">
<joint name="j" axis="0 1 0" damping="{damping}" armature="0.3"/>
<inertial pos="0.1 0.2 0.3" mass="1.5" diaginertia="0.1 0.2 0.25"/></body></worldbody>{option}</mujoco>"""


TWO = """<mujoco><worldbody><body name="a"><joint name="i" axis="0 1 0"/>
<inertial pos="0.1 0.2 0.3" mass="1.5" diaginertia="0.1 0.2 0.25"/>
<body name="b"><joint name="j" axis="1 0 0"/>
<inertial pos="0.1 0.2 0.3" mass="1.5" diaginertia="0.1 0.2 0.25"/></body></body></worldbody></mujoco>"""


def verdicts(path):
    robot = robots.find(str(path))
    assert robot.base == "own"
    return {row.engine: row for row in next(check.check([robot]))}


def write_model(tmp_path, damping=0.0, option=""):
    path = tmp_path / "swing.xml"
    path.write_text(SWING.format(damping=damping, option=option))
    return path


def test_armature_and_damping_of_an_mjcf_agree(tmp_path):
    rows = verdicts(write_model(tmp_path, damping=2.0))
    assert set(rows) == {"pinocchio", "mujoco"}  # PyBullet's adapter reads URDFs
    assert {row.verdict for row in rows.values()} == {check.AGREES}


@pytest.mark.parametrize(
    "option", ["<option><flag gravity='disable'/></option>", "<option gravity='0 0 -1.62'/>"]
)
def test_another_gravity_is_named(tmp_path, option):
    row = verdicts(write_model(tmp_path, option=option))["mujoco"]
    assert row.verdict == check.EXPLAINED
    assert [cause.name for cause in row.causes] == [mujoco_.GRAVITY]


def test_another_armature_is_named(tmp_path, monkeypatch):
    right = pinocchio_.load

    def without_armature(*arguments, **options):
        model = right(*arguments, **options)
        model.armature = 0.0 * model.armature
        return model

    monkeypatch.setattr(pinocchio_, "load", without_armature)
    row = verdicts(write_model(tmp_path))["mujoco"]
    assert row.verdict == check.EXPLAINED
    assert [(cause.name, cause.where) for cause in row.causes] == [(mujoco_.ARMATURE, ("j",))]


@pytest.mark.parametrize("function", ["own_acceleration", "qld", "tree"])
def test_a_wrong_figure_is_not_explained_by_inertias(tmp_path, monkeypatch, function):
    right = getattr(mujoco_, function)
    wrong = {
        "own_acceleration": lambda *arguments: 2 * right(*arguments),
        "qld": lambda *arguments: (right(*arguments)[0], 5 * right(*arguments)[1]),
        "tree": lambda *arguments: Tree([-1, -1]),
    }
    path = tmp_path / "two.xml"
    path.write_text(TWO)
    assert verdicts(path)["mujoco"].verdict == check.AGREES
    monkeypatch.setattr(mujoco_, function, wrong[function])
    assert verdicts(path)["mujoco"].verdict == check.DISAGREES


def test_a_broken_file_is_a_row_for_both(tmp_path):
    path = tmp_path / "broken.xml"
    path.write_text("<mujoco><worldbody>")
    rows = verdicts(path)
    assert {row.verdict for row in rows.values()} == {check.CANNOT_LOAD}
    assert all("broken.xml" in row.reason for row in rows.values())


def suite():
    dm_control = pytest.importorskip("dm_control", reason="dm_control is an optional extra")
    return Path(dm_control.__path__[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("suite/humanoid.xml", check.AGREES),
        ("suite/humanoid_CMU.xml", check.AGREES),
        ("locomotion/walkers/assets/humanoid_CMU_V2020.xml", check.AGREES),
        ("suite/walker.xml", check.AGREES),
        ("suite/hopper.xml", check.AGREES),
        ("suite/dog.xml", check.AGREES),  # against itself: Pinocchio reads other joints
        ("suite/quadruped.xml", check.AGREES),  # against itself: Pinocchio has no height fields
        ("suite/fish.xml", check.EXPLAINED),  # gravity
        ("suite/cheetah.xml", check.EXPLAINED),  # masses
        ("suite/swimmer.xml", check.EXPLAINED),
    ],
)
def test_models_of_dm_control(name, verdict):
    row = verdicts(suite() / name)["mujoco"]
    assert row.verdict == verdict, row.reason
    assert row.error_h is None or row.error_h < 1e-13 or row.causes
