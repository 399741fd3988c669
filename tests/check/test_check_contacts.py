"""Compare how a rigid body rests and slides with statics, Coulomb's law and engines."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import treefactor as tf
from treefactor import check, report
from treefactor.check.contacts import by_treefactor, comparison
from treefactor.check.contacts.rigid import write_one_link, write_rigid
from treefactor.check.robots import Robot, find
from treefactor.exceptions import AdapterError

G = 9.81
INERTIAL = (
    '<inertial><origin xyz="{}"/><mass value="{}"/>'
    '<inertia ixx="0.02" iyy="0.02" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial>'
)
BALL = '<collision><geometry><sphere radius="0.02"/></geometry></collision>'
FEET = ((0.2, 0.15), (0.2, -0.15), (-0.2, 0.15), (-0.2, -0.15))


def one_body(tmp_path, shape, com="0 0 0", mass=2.0):
    text = (
        f'<link name="body">{INERTIAL.format(com, mass)}<collision><geometry>{shape}</geometry></collision>'
    )
    return written(tmp_path, text + "</link>")


TRUNK = INERTIAL.format("0.05 -0.02 0", 5.0)
SIZE = '<box size="0.4 0.3 0.1"/>'


@pytest.fixture
def short(monkeypatch):
    """Shorten the runs, for bodies that start at rest."""
    monkeypatch.setattr(comparison, "REST", 60)
    monkeypatch.setattr(comparison, "SLIDE", 60)


def legged(tmp_path, feet, trunk=TRUNK):
    text = f'<link name="trunk">{trunk}<collision><geometry>{SIZE}</geometry></collision></link>'
    for k, (x, y) in enumerate(feet):
        text += f'<link name="foot{k}">{INERTIAL.format("0 0 0", 0.5)}{BALL}</link>'
        text += (
            f'<joint name="leg{k}" type="revolute"><origin xyz="{x} {y} -0.2" rpy="0 0 {0.3 * k}"/>'
            f'<parent link="trunk"/><child link="foot{k}"/><axis xyz="0 1 0"/>'
            '<limit lower="-1" upper="1" effort="9" velocity="9"/></joint>'
        )
    return written(tmp_path, text)


def written(tmp_path, links):
    path = tmp_path / "robot.urdf"
    path.write_text(f'<robot name="robot">{links}</robot>', encoding="utf-8")
    return Robot("robot", path, True)


def rows_of(robot, engines=()):
    (checked,) = check.check_contacts([robot], engines)
    return {(row.engine, row.quantity): row for row in checked.rows}


def test_a_box_rests_and_slides_as_statics_and_coulomb_state(short, tmp_path):
    rows = rows_of(one_body(tmp_path, SIZE))
    values = {quantity: row.value for (_, quantity), row in rows.items()}
    exact = {"height": 50.0, "support": 2.0 * G, "creep": 0.0, "slip angle": np.degrees(np.arctan(0.3))}
    assert values == pytest.approx(exact, abs=1e-6)
    assert {quantity: row.exact for (_, quantity), row in rows.items()} == pytest.approx(exact, abs=1e-9)
    assert {row.state for row in rows.values()} == {check.AGREES}


def test_a_ball_rolls_and_has_no_slip_angle(short, tmp_path):
    rows = rows_of(one_body(tmp_path, '<sphere radius="0.1"/>'))
    assert rows["treefactor", "height"].value == pytest.approx(100.0, abs=1e-9)
    for quantity in ("creep", "slip angle"):
        row = rows["treefactor", quantity]
        assert (row.state, row.value, row.exact) == (check.EXCLUDED, None, None)
        assert row.reason == "the body turns on the incline: it rolls or tips"


def test_three_feet_carry_what_their_levers_demand(short, tmp_path):
    rows = rows_of(legged(tmp_path, FEET[:3]))
    forces = np.array([rows["treefactor", f"support of foot {k}"].value for k in (1, 2, 3)])
    exact = [rows["treefactor", f"support of foot {k}"].exact for k in (1, 2, 3)]
    np.testing.assert_allclose(forces, exact, atol=1e-9)
    np.testing.assert_allclose(forces.sum(), 6.5 * G)
    x, y = 5.0 * 0.05 + 0.5 * 0.2, 5.0 * -0.02 + 0.5 * 0.15  # first moments of the mass
    np.testing.assert_allclose(forces @ np.array(FEET[:3]), G * np.array([x, y]), atol=1e-8)
    assert ("treefactor", "support of foot 1") not in rows_of(legged(tmp_path, FEET))


@pytest.mark.parametrize(
    "angles", ["0.3 0.1 0.2", "0.3 1.5707963267948966 0.2"]
)  # and where two axes coincide
def test_the_rigid_files_have_the_mass_and_the_shapes_of_the_robot(tmp_path, angles):
    robot = legged(tmp_path, FEET)
    origin = f'<collision><origin xyz="0.01 0.02 0.005" rpy="{angles}"/><geometry><box size="0.1 0.2 0.3"/>'
    text = robot.path.read_text(encoding="utf-8")
    moved = text.replace('<collision><geometry><sphere radius="0.02"/>', origin)
    robot.path.write_text(moved, encoding="utf-8")
    rigid = write_rigid(robot.path, tmp_path)
    one_link = write_one_link(rigid, tmp_path)
    bodies = [tf.Model.from_urdf(path, floating=True).joints for path in (rigid, one_link)]
    assert [len(joints) for joints in bodies] == [1, 1]
    first, second = (joints[0].inertia for joints in bodies)
    assert (first.mass, second.mass) == (7.0, 7.0)
    np.testing.assert_allclose(first.com, second.com)
    np.testing.assert_allclose(first.tensor, second.tensor)
    for turned in Rotation.random(5, random_state=1).as_matrix():
        depths = [by_treefactor.lowest(path, turned) for path in (rigid, one_link)]
        assert depths[0] == pytest.approx(depths[1], abs=1e-12)


def wrong_engine(monkeypatch, *, lifted=0.0, options=(), weight=1.0):
    """Add an engine that lifts bodies without its options, and weighs them wrongly with any."""

    def contact_run(scene, chosen=frozenset()):
        run = by_treefactor.contact_run(scene)
        wrong = 0.0 if options and chosen >= set(options) else lifted
        return replace(run, p=run.p + np.array([0.0, 0.0, wrong]), normal=weight * run.normal)

    texts = {name: f"does without {name}" for name in (*options, "idle")}
    module = SimpleNamespace(contact_run=contact_run, CONTACT_OPTIONS=texts)
    monkeypatch.setitem(sys.modules, "wrong_engine", module)
    monkeypatch.setitem(comparison.CONTACT_ENGINES, "wrong", "wrong_engine")


def test_a_cause_is_the_option_without_which_an_engine_differs(short, tmp_path, monkeypatch):
    wrong_engine(monkeypatch, lifted=1e-4, options=["margin"])
    row = rows_of(one_body(tmp_path, SIZE), ["wrong"])["wrong", "height"]
    assert (row.state, [cause.step for cause in row.causes]) == (check.EXPLAINED, ["margin"])
    assert row.causes[0].effect == pytest.approx(0.1)
    assert row.value == pytest.approx(50.1)


def test_what_no_option_explains_disagrees(short, tmp_path, monkeypatch):
    wrong_engine(monkeypatch, weight=1.002)
    rows = rows_of(one_body(tmp_path, SIZE), ["wrong"])
    assert rows["wrong", "support"].state == check.DISAGREES
    assert rows["wrong", "height"].state == check.AGREES


def test_mujoco_is_soft_creeps_and_has_its_own_friction(tmp_path):
    pytest.importorskip("mujoco")
    rows = rows_of(one_body(tmp_path, SIZE), ["mujoco"])
    causes = {row.quantity: [cause.step for cause in row.causes] for row in rows.values() if row.causes}
    assert causes == {"height": ["softness"], "creep": ["regularization"], "slip angle": ["friction"]}
    assert rows["mujoco", "support"].state == check.AGREES


def test_what_cannot_be_compared_is_refused(short, tmp_path):
    def refused(robot, reason):
        with pytest.raises(AdapterError, match=reason):
            rows_of(robot)

    refused(Robot("arm", tmp_path / "arm.xml"), "contacts are compared on a URDF")
    refused(
        written(tmp_path, f'<link name="body">{INERTIAL.format("0 0 0", 1)}</link>'), "no collision shapes"
    )
    rocking = one_body(tmp_path, '<sphere radius="0.1"/>', com="0.05 0 0")
    refused(rocking, "robot does not come to rest within 0.12 s")


def test_the_table_is_at_most_100_columns_wide(short, tmp_path, monkeypatch, capsys):
    wrong_engine(monkeypatch, lifted=1e-4, options=["margin"], weight=1.002)
    report.print_contacts(list(check.check_contacts([legged(tmp_path, FEET[:3])], ["wrong"])))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    assert "wrong does without margin: height by 0.1 mm" in lines
    assert "wrong disagrees: support, no cause was found" in lines
    assert any(line.split()[:5] == ["height,", "mm", "220.0000", "220.0000", "A"] for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["legged", "massless", "solo12"])
def test_engines_agree_once_causes_are_removed(tmp_path, name):
    for module in ("mujoco", "pybullet", "pydrake"):
        pytest.importorskip(module)
    robots = {"legged": lambda: legged(tmp_path, FEET), "massless": lambda: massless(tmp_path)}
    rows = rows_of(robots.get(name, lambda: find(name))(), tuple(check.CONTACT_ENGINES))
    good = (check.AGREES, check.EXPLAINED, *([check.REFUSED] if name == "solo12" else []))  # STL in Drake
    assert {key: row for key, row in rows.items() if row.state not in good} == {}
    steps = {(row.engine, row.quantity): {cause.step for cause in row.causes} for row in rows.values()}
    assert steps["mujoco", "height"] == {"softness"}
    assert "friction" in steps["pybullet", "slip angle"]
    assert ("margin" in steps["pybullet", "height"]) == (name == "solo12")  # which has meshes
    assert ("fixed joint" in steps["pybullet", "support"]) == (name == "massless")


def massless(tmp_path):
    """Return a robot whose root link has no <inertial>."""
    robot = legged(tmp_path, FEET, trunk="")
    text = (
        robot.path.read_text(encoding="utf-8").removeprefix('<robot name="robot">').removesuffix("</robot>")
    )
    body = f'<link name="mass">{INERTIAL.format("0 0 0", 5.0)}</link>'
    joint = '<joint name="weld" type="fixed"><parent link="trunk"/><child link="mass"/></joint>'
    return written(tmp_path, text + body + joint)
