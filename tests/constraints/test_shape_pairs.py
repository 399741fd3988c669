"""Pairs of shapes that may touch: those of SRDFs are Pinocchio's, and those at rest are left out."""

import numpy as np
import pytest
from helpers.bundled_robots import bundled_robot

import treefactor as tf
from treefactor.constraints import (
    Box,
    Capsule,
    Contact,
    Cylinder,
    Ellipsoid,
    Geometry,
    Plane,
    Sphere,
    contacts_of,
)
from treefactor.exceptions import AdapterError

SOLID = tf.Inertia(1.0, tensor=np.eye(3))
SRDFS = {  # robot, SRDF, and Pinocchio's pairs before and after it
    "solo12": ("solo.srdf", 132, 120),
    "anymal_b_simple/anymal": ("anymal.srdf", 756, 514),
    "talos_reduced": ("talos.srdf", 1235, 887),
    "panda": ("panda.srdf", 123, 44),
}
STILL = "no motion changes their distance"


def reasons(model, geometry, **options):
    """Return the reasons of the pairs that are left out, by both names."""
    left_out = contacts_of(model, geometry, named=True, **options)[1]
    return {(pair.first, pair.second): pair.reason for pair in left_out}


@pytest.mark.parametrize("name", SRDFS)
def test_pairs_of_an_srdf_are_those_that_pinocchio_removes(name):
    pin = pytest.importorskip("pinocchio")
    path, is_floating = bundled_robot(name), name != "panda"
    file, before, after = SRDFS[name]
    srdf = path.parents[1] / "srdf" / file
    root = [pin.JointModelFreeFlyer()] if is_floating else []
    engine_model = pin.buildModelFromUrdf(str(path), *root)
    dirs = [str(folder) for folder in path.parents]
    objects = pin.buildGeomFromUrdf(engine_model, str(path), pin.GeometryType.COLLISION, package_dirs=dirs)
    objects.addAllCollisionPairs()
    pairs = []
    for count in (before, after):
        assert len(objects.collisionPairs) == count
        pairs.append({(pair.first, pair.second) for pair in objects.collisionPairs})
        pin.removeCollisionPairs(engine_model, objects, str(srdf))
    names = [one.name for one in objects.geometryObjects]
    removed = {frozenset((names[i], names[k])) for i, k in pairs[0] - pairs[1]}
    rng = np.random.default_rng(0)
    places = [one.parentJoint - 1 for one in objects.geometryObjects]
    balls = Geometry([Sphere(joint, rng.normal(size=3), 0.01) for joint in places], names)
    model = tf.Model.from_urdf(path, floating=is_floating)
    own = {pair: why for pair, why in reasons(model, balls, srdf=srdf).items() if "other 0" not in pair}
    assert {frozenset(pair) for pair, why in own.items() if why.startswith("SRDF")} <= removed
    assert removed <= {frozenset(pair) for pair in own}
    named = {why.removeprefix("SRDF: ") for why in own.values()}
    assert named <= {"same body", STILL, "adjacent bodies", "Adjacent", "Never", "Default", "User", ""}


def test_shapes_are_on_the_links_that_they_are_called_by(tmp_path):
    text = '<robot><disable_collisions link1="left_foot" link2="trunk" reason="Never"/></robot>'
    (tmp_path / "robot.srdf").write_text(text)
    model = tf.Model([tf.Joint(str(k), "freeflyer", inertia=SOLID) for k in range(4)])
    shapes = Geometry(
        [Sphere(k, radius=0.1) for k in range(4)], ["left_foot", "trunk_0", "left_foot_12", "left"]
    )
    assert reasons(model, shapes, srdf=tmp_path / "robot.srdf") == {
        ("left_foot", "trunk_0"): "SRDF: Never",
        ("trunk_0", "left_foot_12"): "SRDF: Never",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<model/>", r"robot.srdf: an SRDF begins with <robot>, got <model>"),
        ('<robot><disable_collisions link1="a"/></robot>', "number 0 must have link1 and link2"),
        ("<robot>", "not well-formed"),
        (None, "cannot read it"),
    ],
)
def test_errors_of_an_srdf_name_the_file(tmp_path, text, message):
    if text is not None:
        (tmp_path / "robot.srdf").write_text(text)
    model = tf.Model([tf.Joint("base", "freeflyer", inertia=SOLID)])
    with pytest.raises(AdapterError, match=message):
        contacts_of(model, Geometry([Sphere(0)]), srdf=tmp_path / "robot.srdf")


def test_distances_that_no_motion_changes():
    turret = tf.Joint("turret", "revolute", axis=[0, 0, 1], p=[0.1, 0.2, 0.5], inertia=SOLID)
    arm = tf.Joint("arm", "revolute", 0, axis=[0, 1, 0], p=[0.3, 0, 0.2], inertia=SOLID)
    wheel = tf.Joint("wheel", "revolute", 1, axis=[1, 0, 0], p=[0.2, 0, 0], inertia=SOLID)
    model = tf.Model([turret, arm, wheel])
    toward_x = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    shapes = Geometry(
        [
            Box(-1, [1, 1, 0.1]),
            Box(0, [0.2, 0.2, 0.2]),
            Capsule(1, 0.05, 0.2),
            Cylinder(2, 0.1, 0.05, toward_x),
            Cylinder(2, 0.1, 0.05),
            Sphere(1, radius=0.1),
        ],
        ["base", "turret", "arm", "wheel", "askew", "elbow"],
    )
    others = [Plane(), Plane(-1, [0, 1, 1]), Sphere(0, radius=0.01)]
    exclude = [("base", "*"), ("turret", "wheel"), ("turret", "askew")]
    left_out = reasons(model, shapes, others=others, exclude=exclude)
    still = {pair for pair, why in left_out.items() if why == STILL}
    assert still == {
        ("turret", "elbow"),  # the elbow's centre is on the axis of the arm
        ("turret", "other 0"),  # the turret turns about the normal of the ground
        ("elbow", "other 0"),
        ("wheel", "elbow"),
        ("askew", "elbow"),  # the elbow's centre is on the axis of the wheel, too
        ("arm", "wheel"),  # the wheel turns about its own axis
        ("elbow", "other 2"),  # a ball on the axis of the turret
        ("base", "other 2"),
    }
    assert left_out["base", "other 0"] == "same body"
    assert left_out["arm", "askew"] == "adjacent bodies"


@pytest.mark.parametrize("axis", range(3))
def test_ellipsoids_turn_in_vain_about_axes_of_revolution(axis):
    hinge = tf.Joint("hinge", "revolute", axis=np.eye(3)[axis], inertia=SOLID)
    radii = np.array([[0.3, 0.3, 0.3], [0.1, 0.2, 0.3], *np.where(np.eye(3), 0.3, 0.1)])
    shapes = Geometry([Ellipsoid(0, x) for x in radii], ["ball", "egg", "x", "y", "z"])
    left_out = reasons(tf.Model([hinge]), shapes, others=[Sphere(-1, [1.0, 0.3, 0.2], 0.1)])
    still = {pair[0] for pair, why in left_out.items() if why == STILL}
    assert still == {"ball", "xyz"[axis]}


def test_loops_that_cannot_be_closed_hold_nothing_together():
    slides = [
        tf.Joint(f"slide{k}", "prismatic", axis=[0, 0, 1], p=[k, 0, 0], inertia=SOLID) for k in range(2)
    ]
    pin = tf.Loop("pin", "spherical", 0, 1)  # of points that stay 1 m apart
    boxes = Geometry([Box(k, [1.5, 1.5, 1.5]) for k in range(2)], ["left", "right"])
    assert reasons(tf.Model(slides, loops=[pin]), boxes) == {}


def test_bodies_that_loops_hold_together_keep_their_distance():
    slides = [
        tf.Joint(f"slide{k}", "prismatic", axis=[0, 0, 1], p=[k, 0, 0], inertia=SOLID) for k in range(2)
    ]
    weld = tf.Loop("weld", "weld", 0, 1, p1=[1.0, 0, 0])
    boxes = Geometry([Box(k, [1.5, 1.5, 1.5]) for k in range(2)], ["left", "right"])
    assert reasons(tf.Model(slides), boxes) == {}
    assert reasons(tf.Model(slides, loops=[weld]), boxes) == {("left", "right"): STILL}


def test_which_joints_make_bodies_adjacent():
    light = tf.Inertia()
    joints = [
        tf.Joint("base", "freeflyer", inertia=SOLID),
        tf.Joint("x", "revolute", 0, axis=[1, 0, 0], inertia=light),
        tf.Joint("y", "revolute", 1, axis=[0, 1, 0], inertia=light),
        tf.Joint("z", "revolute", 2, axis=[0, 0, 1], p=[0, 0, -0.1], inertia=SOLID),
        tf.Joint("knee", "revolute", 3, axis=[0, 1, 0], p=[0, 0, -0.3], inertia=SOLID),
        tf.Joint("cart", "planar", inertia=SOLID),
    ]
    model = tf.Model(joints, strict=False)
    box = [0.1, 0.1, 0.1]
    shapes = Geometry(
        [Box(k, box, p=[0.1, 0.2, 0.3]) for k in (0, 3, 4, 5, -1)] + [Plane()],
        ["trunk", "thigh", "shank", "cart", "table", "ground"],
    )
    assert reasons(model, shapes, others=()) == {
        ("trunk", "thigh"): "adjacent bodies",  # with massless bodies between them
        ("thigh", "shank"): "adjacent bodies",
        ("cart", "ground"): STILL,
        ("table", "ground"): "same body",
    }
    contacts = contacts_of(model, shapes, others=())
    assert len(contacts) == 15 - 4
    assert all(isinstance(one, Contact) and not isinstance(one.sphere, Plane) for one in contacts)
