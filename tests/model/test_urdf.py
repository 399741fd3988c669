"""Check that invalid URDFs are rejected alike for every engine, and that long chains are read."""

from importlib import import_module

import numpy as np
import pytest
from helpers.engine_cases import joint, link, urdf

import treefactor as tf
from treefactor import check
from treefactor._util.xml import parse
from treefactor.adapters._plain_urdf import require_complete
from treefactor.check.robots import Robot
from treefactor.model._urdf import read, without_fixed_joints

ENGINES = ("pinocchio", "pybullet", "mujoco", "drake")
LINKS = 5000

ARM = urdf(link("base"), link("a", 1.5), joint("j", "base", "a", extra="<dynamics damping='0.3'/>"))
NOT_FINITE = {
    "mass": ('value="1.5"', 'value="nan"', "a"),
    "mass too large": ('value="1.5"', 'value="1e999"', "a"),
    "inertia": ('ixx="0.02"', 'ixx="inf"', "base"),
    "centre of mass": ("0.1 -0.2 0.05", "0.1 NaN 0.05", "base"),
    "orientation of the inertia": ("0.3 0.2 -0.4", "0.3 0.2 -Infinity", "base"),
    "place of a joint": ("0.3 0.1 -0.2", "nan 0.1 -0.2", "j"),
    "orientation of a joint": ("0.5 -0.3 0.7", "0.5 inf 0.7", "j"),
    "axis": ("0 0.6 0.8", "0 inf 0.8", "j"),
    "damping": ("'0.3'", "'nan'", "j"),
}


def adapter(engine):
    try:
        return import_module(f"treefactor.adapters.{engine}_")
    except tf.AdapterError as error:
        pytest.skip(f"its engine is not installed: {error}")


def chain(kind):
    """Return a chain of many links, its joints from the tip to the root."""
    links = (link(f"l{i}") for i in range(LINKS))
    joints = (joint(f"j{i}", f"l{i}", f"l{i + 1}", kind) for i in reversed(range(LINKS - 1)))
    return urdf(*links, *joints)


# -------------------------------------------------------------------------------------- invalid numbers


@pytest.mark.parametrize("case", NOT_FINITE)
def test_drake_refuses_such_a_number_itself(write_text, case):
    before, after, _ = NOT_FINITE[case]
    with pytest.raises(tf.AdapterError, match="Drake cannot load it") as caught:
        adapter("drake").load(write_text(ARM.replace(before, after, 1)))
    assert caught.value.engine == "drake"


@pytest.mark.parametrize("engine", ENGINES[:-1])
@pytest.mark.parametrize("case", NOT_FINITE)
def test_a_number_that_is_not_finite_is_refused_by_name(write_text, case, engine):
    before, after, name = NOT_FINITE[case]
    assert before in ARM
    path = write_text(ARM.replace(before, after, 1))
    with pytest.raises(tf.AdapterError, match=f"'{name}': <.*> .*is not finite$") as caught:
        adapter(engine).load(path)
    assert str(path) in str(caught.value)
    assert (caught.value.engine, caught.value.file, caught.value.joint) == (engine, str(path), name)


@pytest.mark.parametrize("case", NOT_FINITE)
def test_engines_get_a_robot_that_treefactor_refuses(write_text, case):
    """Nothing is compared where treefactor refuses a file, its meaning is not defined."""
    adapter("mujoco")
    before, after, _ = NOT_FINITE[case]
    robot = Robot("odd", write_text(ARM.replace(before, after)))
    for cell in next(check.check([robot], ["pinocchio", "mujoco", "treefactor"], ["H"])):
        assert cell.state in (check.REFUSED, *((check.EXCLUDED,) if cell.engine != "treefactor" else ()))
        own, _, others = cell.reason.partition("no reference: ")
        assert bool(own) == (cell.state == check.REFUSED)
        assert "not finite" in (own if cell.engine == "treefactor" else others.partition("treefactor: ")[2])


@pytest.mark.parametrize("engine", ["pybullet", "mujoco"])  # Drake refuses it
def test_an_infinite_limit_means_unlimited(write_text, engine):
    adapter(engine).load(write_text(ARM.replace('"0.01"', '"inf"').replace('"-0.01"', '"-inf"'))).close()


def test_names_and_words_that_only_look_like_numbers(write_text):
    path = write_text(urdf(link("nan"), link("inf"), joint("infinity", "nan", "inf")))
    require_complete(path, None)
    assert read(path).root == "nan"


def test_only_a_urdf_is_searched(write_text):
    assert parse(write_text("<mujoco><joint axis='nan' damping='inf'/></mujoco>"), "mujoco").tag == "mujoco"


@pytest.mark.parametrize("text", ["", "<robot><link name='a'></robot>"])
def test_xml_that_is_not_well_formed_is_left_to_the_engine(write_text, text):
    require_complete(write_text(text), "pinocchio")


INCOMPLETE = {
    "an entry": ("ixy=", "x="),
    "the mass": ("<mass ", "<m "),
    "the tensor": ("<inertia ", "<i "),
    "a word": ('value="1.5"', 'value="${m}"'),
    "a number to Python only": ('value="1.5"', 'value="1_5"'),
    "a centre": ("0.1 -0.2 0.05", "0.1 -0.2"),
    "a negative mass": ('value="1.5"', 'value="-1.5"'),
}
AXIS = 'xyz="0 0.6 0.8"'


@pytest.mark.parametrize(("old", "new"), INCOMPLETE.values(), ids=INCOMPLETE)
def test_pinocchio_refuses_an_inertia_it_would_drop(write_text, old, new):
    assert old in ARM
    path = write_text(ARM.replace(old, new))
    with pytest.raises(tf.AdapterError, match=r"robot.urdf: .*link '(a|base)'") as caught:
        adapter("pinocchio").load(path)
    assert caught.value.file == str(path)
    assert caught.value.joint in ("a", "base")


@pytest.mark.parametrize("axis", ['xyz="0 0 0"', "", 'xyz="0 1"'])
def test_pinocchio_refuses_an_axis_it_would_take_for_zero(write_text, axis):
    assert AXIS in ARM
    with pytest.raises(tf.AdapterError, match="axis of joint 'j' is not a direction"):
        adapter("pinocchio").load(write_text(ARM.replace(AXIS, axis)))


def test_an_inertia_without_an_entry_that_an_engine_refuses_is_named(write_text):
    adapter("mujoco")
    robot = Robot("r", write_text(ARM.replace("ixy=", "x=")))
    [[cell]] = check.check([robot], ["mujoco"], ["H"], samples=1)
    assert "ixy" in cell.reason


def test_a_urdf_called_xml_is_refused_by_name(tmp_path):
    adapter("mujoco")
    path = tmp_path / "robot.xml"
    path.write_text(ARM)
    [cells] = check.check([Robot("r", path)], ["pinocchio", "mujoco"], ["H"], samples=1)
    assert {cell.state for cell in cells} == {check.REFUSED}
    assert "a URDF" in cells[1].reason


@pytest.mark.parametrize("length", [5e-324, 1e-308, 1e-200, 1e-160, 0.3, 1e160, 1e200, 1.5e308])
@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic"])
def test_axes_may_have_any_length(write_text, kind, length):
    direction = [1.0, 0.0, -1.0] if length < 1e-300 else [1.0, -0.5, 0.25]  # no smaller number is left
    xyz = " ".join(repr(length * x) for x in direction)
    text = urdf(link("base"), link("a", 1.5), joint("j", "base", "a", kind, axis=xyz))
    with np.errstate(all="raise"):
        axis = tf.Model.from_urdf(write_text(text)).joints[0].axis
    np.testing.assert_allclose(axis, np.array(direction) / np.linalg.norm(direction), rtol=1e-15)


def turning(path, adapted):
    """Return an engine's H at 0.3 rad."""
    if adapted.__name__.endswith("pinocchio_"):
        model = adapted.load(path)
        return adapted.mass_matrix(model, model.createData(), np.array([0.3]))
    with adapted.load(path) as body:
        return adapted.mass_matrix(body, [0.3])


@pytest.mark.parametrize("length", [1e-200, 1e200])
@pytest.mark.parametrize("engine", ["pinocchio", "mujoco", "drake"])  # PyBullet has an H of zero
def test_engines_get_axes_of_any_length_right_or_refuse_them(write_text, engine, length):
    """Pinocchio and Drake read the file themselves, and square the length."""
    axis = f"0 {0.6 * length} {0.8 * length}"
    path, adapted = (
        write_text(urdf(link("base"), link("a", 1.5), joint("j", "base", "a", axis=axis))),
        adapter(engine),
    )
    if engine in ("pinocchio", "drake"):
        with pytest.raises(tf.AdapterError, match=r"axis (of joint 'j' has entries of|vector must|is zero)"):
            turning(path, adapted)
    else:
        H = tf.crba(tf.Model.from_urdf(path), [0.3])
        np.testing.assert_allclose(turning(path, adapted), H, rtol=1e-9)


def test_an_axis_of_another_length_is_explained(write_text):
    adapter("pybullet")
    robot = Robot("r", write_text(ARM.replace(AXIS, 'xyz="0 6 8"')))
    [cells] = check.check([robot], ["pybullet"], ["H", "Jacobians"], samples=1)
    assert check.EXPLAINED in {cell.state for cell in cells} <= {check.AGREES, check.EXPLAINED}


# ---------------------------------------------------------------------------------------- names in errors


@pytest.mark.parametrize("engine", ENGINES[1:])
@pytest.mark.parametrize(
    "text",
    [
        "no xml <",
        "<sdf/>",
        urdf(link("a"), link("b")),
        urdf(link("a"), link("b"), joint("j", "a", "b", axis="0 0 x")),
        urdf(link("a", "heavy"), link("b"), joint("j", "b", "a")),
    ],
)
def test_errors_name_the_engine(write_text, text, engine):
    if engine == "drake" and text.count("<link") == 2 and "<joint" not in text:
        pytest.skip("Drake reads a robot of two trees")
    with pytest.raises(tf.AdapterError) as caught:
        adapter(engine).load(write_text(text))
    assert caught.value.engine == engine


@pytest.mark.parametrize("engine", [None, "drake"])
@pytest.mark.parametrize(
    "text", ["no xml <", "<sdf/>", urdf(link("a"), link("b")), urdf(link("a"), joint("j", "a", "b"))]
)
def test_reading_with_or_without_an_engine(write_text, text, engine):
    with pytest.raises(tf.AdapterError) as caught:
        read(write_text(text), engine)
    assert caught.value.engine == engine


# ------------------------------------------------------------------------------------------------ long chains


def test_a_long_chain_is_read(write_text):
    robot = read(write_text(chain("revolute")))
    assert (robot.root, len(robot.links), len(robot.joints)) == ("l0", LINKS, LINKS - 1)
    moving = without_fixed_joints(robot)
    assert [joint.name for joint in moving.joints] == [f"j{i}" for i in range(LINKS - 1)]


def test_a_long_chain_of_fixed_joints_becomes_one_link(write_text):
    robot = read(write_text(chain("fixed")))
    merged = without_fixed_joints(robot)
    assert (list(merged.links), merged.joints) == (["l0"], [])
    total = sum(inertial.mass for inertial in robot.links.values())
    np.testing.assert_allclose(merged.links["l0"].mass, total)


def test_a_name_is_used_once(write_text):
    robot = read(write_text(ARM))
    assert [robot.unused("a"), robot.unused("a"), robot.unused("new")] == ["a_", "a__", "new"]
