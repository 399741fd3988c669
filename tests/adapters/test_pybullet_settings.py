"""Test what acts on a robot in PyBullet by default, and contacts between its links."""

import numpy as np
import pytest
from helpers.pybullet_cases import ARM, RAW_TOLERANCE, assert_close, link, load_raw, pybullet, pybullet_

import treefactor as tf
from treefactor.adapters import _pybullet_step as step

GRAVITY = (0.0, 0.0, -9.81)
BOX = "<box size='.4 .4 .4'/>"


def shape(geometry):
    return f"<collision><origin xyz='.1 .05 0'/><geometry>{geometry}</geometry></collision>"


def hinge(name, parent, child, kind="continuous"):
    """Write a joint at the origin of its parent: boxes at both ends overlap at any angle."""
    return (
        f"<joint name='{name}' type='{kind}'><parent link='{parent}'/><child link='{child}'/>"
        f"<axis xyz='0 .6 .8'/></joint>\n"
    )


def wrist(geometry=BOX, middle="continuous"):
    """Write links a - b - c on a base; a and c have a shape."""
    return (
        link("base")
        + link("a", extra=shape(geometry))
        + link("b")
        + link("c", extra=shape(geometry))
        + hinge("base_a", "base", "a")
        + hinge("a_b", "a", "b", middle)
        + hinge("b_c", "b", "c")
    )


def acting(path, floating=False, seed=0):
    """Return the settings by name: effect and where."""
    rows = pybullet_.settings(path, floating, GRAVITY, np.random.default_rng(seed))
    return {name: (effect, where) for name, effect, where in rows}


@pytest.mark.parametrize("floating", [False, True])
def test_links_that_overlap_are_named(write, floating):
    effect, where = acting(write(wrist()), floating)[step.CONTACTS]
    assert set(where) == {"a", "c"}
    assert effect > 1e-3


@pytest.mark.parametrize(
    "geometry",
    [
        "<sphere radius='.2'/>",
        "<cylinder radius='.2' length='.4'/>",
        "<capsule radius='.2' length='.4'/>",
        "<mesh filename='cube.obj' scale='.2 .2 .2'/>",
    ],
)
def test_every_kind_of_shape_touches(write, tmp_path, geometry):
    corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    faces = ["1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"]
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {face}" for face in faces]
    (tmp_path / "cube.obj").write_text("\n".join(lines) + "\n")
    assert set(acting(write(wrist(geometry)))[step.CONTACTS][1]) == {"a", "c"}


def test_a_link_on_a_fixed_joint_touches_its_carriers_parent(write):
    assert set(acting(write(wrist(middle="fixed")))[step.CONTACTS][1]) == {"a", "c"}


def test_a_link_and_its_parent_do_not_touch(write):
    path = write(link("a", extra=shape(BOX)) + link("b", extra=shape(BOX)) + hinge("j", "a", "b"))
    assert step.CONTACTS not in acting(path)


def test_where_meshes_are_missing_all_but_contacts_is_found(write):
    absent = shape("<mesh filename='package://nowhere/none.stl'/>")
    limited = ARM.replace("lower='-2' upper='2'", "lower='-.001' upper='.001'")
    settings = acting(write(limited.replace("</link>", f"{absent}</link>")))
    assert step.CONTACTS not in settings
    assert step.MOTORS in settings
    assert set(settings[step.LIMITS][1]) == {"shoulder", "elbow"}


@pytest.mark.parametrize("floating", [False, True])
def test_nothing_is_left_with_every_setting_off(write, floating):
    """Switch limits, damping, motors and overlapping boxes off for each other."""
    limits = "<limit lower='-.001' upper='.001'/><dynamics damping='3'/></joint>"
    path = write(wrist().replace("continuous", "revolute").replace("</joint>", limits))
    assert set(acting(path, floating)) == {*step.SETTINGS, step.CONTACTS}


def test_nothing_acts_on_a_robot_that_cannot_move(write):
    assert acting(write(link("alone", extra=shape(BOX)))) == {}


def test_by_default_links_do_not_touch_each_other(write, client):
    body = pybullet_.Body(load_raw(write(wrist()), client), client)
    state = np.ones((3, 3))
    stepped = pybullet_.acceleration(body, *state)
    assert_close(stepped, pybullet_.forward_dynamics(body, *state), RAW_TOLERANCE)


def test_trap_contacts_of_a_body_with_itself(write, client):
    flags = pybullet.URDF_USE_SELF_COLLISION
    body = pybullet_.Body(load_raw(write(wrist()), client, flags=flags), client)
    with pytest.raises(tf.AdapterError, match=r"touch.*URDF_USE_SELF_COLLISION") as caught:
        pybullet_.acceleration(body, *np.ones((3, 3)))
    assert caught.value.joint in ("a", "c")


def test_the_limits_of_a_body_stay(write, client):
    body = pybullet_.Body(load_raw(write(ARM), client), client)
    pybullet_.acceleration(body, *np.ones((3, 2)))
    pybullet.setGravity(0, 0, 0, physicsClientId=client)
    state = np.array([0.0, 2.1]), np.array([0.0, 1.0]), np.zeros(2)
    expected = pybullet_.forward_dynamics(body, *state)
    assert step.step(body, *state, keep=step.LIMITS)[1] < -100.0  # stops within one step
    assert_close(step.step(body, *state), expected, RAW_TOLERANCE)
