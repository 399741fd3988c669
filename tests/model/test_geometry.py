"""Shapes of URDFs and of Pinocchio's geometry models, meshes, and errors that name link and file."""

import pickle

import numpy as np
import pytest
from helpers.bundled_robots import bundled_robot
from oracles.support import support

import treefactor as tf
from treefactor.adapters import pinocchio_
from treefactor.constraints import Box, Capsule, Cylinder, Geometry, Mesh, Sphere
from treefactor.exceptions import AdapterError, InvalidModelError

pin = pytest.importorskip("pinocchio")

TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 2.0]])
DIRECTIONS = np.random.default_rng(0).normal(size=(100, 3))
FACES = TETRAHEDRON[[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]]
LINKS = """<robot name="two"><link name="base"/><link name="foot">
<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
{}</link><joint name="hip" type="continuous"><origin xyz="0 0 1"/><parent link="base"/><child link="foot"/>
</joint><link name="toe">{}</link><joint name="fixed" type="fixed">
<origin xyz="0.5 0 0" rpy="0 0 1.5707963267948966"/><parent link="foot"/><child link="toe"/>
</joint></robot>"""


def collision(inside, origin=""):
    return f"<collision>{origin}<geometry>{inside}</geometry></collision>"


def written(tmp_path, *links):
    path = tmp_path / "two.urdf"
    path.write_text(LINKS.format(*links))
    return path


def write_mesh(path, form, header=b"solid, but binary"):
    """Write a tetrahedron."""
    if form == "obj":
        rows = [f"v {x} {y} {z}" for x, y, z in TETRAHEDRON]
        path.write_text("\n".join(["# corners", *rows, "vn 0 0 1", "f 1 3 2"]))
    elif form == "text stl":
        corners = ["vertex " + " ".join(map(str, x)) for x in FACES.reshape(-1, 3)]
        path.write_text("\n".join(["solid tetrahedron", *corners, "endsolid"]))
    else:
        triangle = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
        triangles = np.zeros(4, triangle)
        triangles["corners"] = FACES
        path.write_bytes(header.ljust(80) + np.uint32(4).tobytes() + triangles.tobytes())


@pytest.mark.parametrize("name", ["solo12", "anymal_b_simple/anymal", "panda"])
def test_shapes_of_a_urdf_are_those_of_pinocchio(name):
    path, is_floating = bundled_robot(name), name != "panda"
    model, shapes = tf.Model.from_urdf(path, floating=is_floating, geometry="collision")
    assert isinstance(model, tf.Model)
    root = [pin.JointModelFreeFlyer()] if is_floating else []
    engine_model = pin.buildModelFromUrdf(str(path), *root)
    dirs = [str(folder) for folder in path.parents]
    objects = pin.buildGeomFromUrdf(engine_model, str(path), pin.GeometryType.COLLISION, package_dirs=dirs)
    others = pinocchio_.geometry(objects)
    assert sorted(shapes.names) == sorted(others.names)
    for one, name in zip(shapes, shapes.names, strict=True):
        other = others[name]
        assert (type(one), one.body) == (type(other), other.body)
        for key in vars(one).keys() - {"body", "hull", "vertices", "faces", "surface"}:
            np.testing.assert_allclose(getattr(one, key), getattr(other, key), atol=1e-9)
        if isinstance(one, Mesh):
            np.testing.assert_allclose(support(one, DIRECTIONS), support(other, DIRECTIONS), atol=1e-6)


def test_shapes_of_pinocchio_that_urdfs_do_not_have():
    coal = pytest.importorskip("coal")
    turned = pin.SE3(pin.rpy.rpyToMatrix(0.3, 0.2, 0.1), np.array([1.0, 2.0, 3.0]))
    objects, corners = pin.GeometryModel(), coal.StdVec_Vec3s()
    corners.extend(list(TETRAHEDRON))
    for name, joint, shape in (
        ("ground", 0, coal.Halfspace(np.array([0.0, 0.6, 0.8]), 0.5)),
        ("rock", 2, coal.Convex.convexHull(corners, True, "Qt")),
        ("egg", 1, coal.Ellipsoid(1.0, 2.0, 3.0)),
        ("hat", 1, coal.Cone(0.1, 0.4)),
        ("hills", 0, coal.HeightFieldOBBRSS(3.0, 2.0, np.arange(12.0).reshape(3, 4), -1.0)),
        ("leaf", 1, coal.TriangleP(*np.eye(3))),
    ):
        objects.addGeometryObject(pin.GeometryObject(name, joint, turned, shape))
    with pytest.raises(AdapterError, match="geometry object 'leaf' is a TriangleP"):
        pinocchio_.geometry(objects)
    objects.removeGeometryObject("leaf")
    ground, rock, egg, hat, hills = pinocchio_.geometry(objects)
    assert (hills.body, hills.size.tolist(), hills.heights[:, 0].tolist()) == (-1, [3.0, 2.0], [8, 9, 10, 11])
    assert (egg.body, egg.radii.tolist(), hat.radius, hat.length) == (0, [1.0, 2.0, 3.0], 0.1, 0.4)
    for shape in (egg, hat):
        np.testing.assert_array_equal(shape.R, turned.rotation)
    assert (ground.body, rock.body, len(rock.vertices)) == (-1, 1, 4)
    np.testing.assert_allclose(ground.normal, turned.rotation @ [0, 0.6, 0.8])
    assert ground.normal @ (ground.point - turned.translation) == pytest.approx(0.5)


@pytest.mark.parametrize("form", ["obj", "text stl", "binary stl"])
def test_meshes_are_read_scaled_and_placed(tmp_path, form):
    (tmp_path / "parts" / "meshes").mkdir(parents=True)
    file = f"rock.{form[-3:]}"
    write_mesh(tmp_path / "parts" / "meshes" / file, form)
    mesh = f'<mesh filename="package://parts/meshes/{file}" scale="1 2 3"/>'
    (tmp_path / "robots").mkdir()
    path = written(tmp_path / "robots", "", collision(mesh, '<origin xyz="0 0 0.1"/>'))
    for given in ({}, {"package_dirs": tmp_path}, {"package_dirs": [str(tmp_path)]}):
        _, shapes = tf.Model.from_urdf(path, geometry="collision", **given)
        rock = shapes["toe_0"]
        assert rock.body == 0
        expected = np.unique(TETRAHEDRON * [1, 2, 3], axis=0)
        np.testing.assert_allclose(np.unique(rock.vertices, axis=0), expected)
        np.testing.assert_allclose(rock.R, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)
        np.testing.assert_allclose(rock.p, [0.5, 0, 0.1])


def test_primitives_have_full_sizes(tmp_path):
    parts = ['<box size="0.1 0.2 0.3"/>', '<sphere radius="0.4"/>']
    parts += [f'<{kind} radius="0.1" length="0.7"/>' for kind in ("cylinder", "capsule")]
    path = written(tmp_path, "".join(map(collision, parts)), "")
    box, sphere, cylinder, capsule = tf.Model.from_urdf(path, geometry="collision")[1]
    assert isinstance(box, Box)
    assert box.size.tolist() == [0.1, 0.2, 0.3]
    assert isinstance(sphere, Sphere)
    assert sphere.radius == 0.4
    assert isinstance(cylinder, Cylinder)
    assert isinstance(capsule, Capsule)
    assert cylinder.length == capsule.length == 0.7
    assert len(tf.Model.from_urdf(path, geometry="visual")[1]) == 0


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (
            '<box size="0.1 0.2"/>',
            r"line \d: link 'toe': the size of a <box> must be 3 numbers, got '0",
        ),
        ('<box size="0.1 0 0.2"/>', "link 'toe': the sides of a box must be positive"),
        ('<sphere radius="0"/>', "link 'toe': the radius of a sphere must be positive"),
        ('<cylinder radius="1"/>', "the length of a <cylinder> must be a number, got nothing"),
        ("<cone/>", "must be one of box, sphere, cylinder, capsule, mesh, got cone"),
        ("", "got nothing"),
        ('<mesh filename="no.stl"/>', r"link 'toe': found no mesh 'no.stl'; tried .*no.stl: give its folder"),
        ('<mesh filename="package://a/b.stl"/>', r"tried .*a/b.stl, .*a/b.stl"),
        ('<mesh filename="flat.obj"/>', "link 'toe': .*flat.obj: 3 points in one plane enclose no volume"),
        ('<mesh filename="cut.stl"/>', "link 'toe': .*cut.stl: cannot read this STL file: it should hold"),
        (
            '<mesh filename="word.obj"/>',
            "link 'toe': .*word.obj: cannot read this OBJ file: could not convert",
        ),
        ('<mesh filename="empty.obj"/>', "link 'toe': .*empty.obj: this OBJ file has no vertices"),
        (
            '<mesh filename="nan.obj"/>',
            "link 'toe': .*nan.obj: this OBJ file has a number that is not finite",
        ),
        (
            '<mesh filename="scene.dae"/>',
            "link 'toe': .*scene.dae: expected a mesh in STL or OBJ format, got '.dae'",
        ),
    ],
)
def test_errors_name_link_and_file(tmp_path, shape, message):
    write_mesh(tmp_path / "cut.stl", "binary stl", b"cut")
    (tmp_path / "cut.stl").write_bytes((tmp_path / "cut.stl").read_bytes()[:-1])
    for name, text in {
        "flat": "v 0 0 0\nv 1 0 0\nv 0 1 0",
        "word": "v 0 0 x",
        "empty": "",
        "nan": "v 0 0 nan",
    }.items():
        (tmp_path / f"{name}.obj").write_text(text)
    (tmp_path / "scene.dae").write_text("")
    with pytest.raises(AdapterError, match=message):
        tf.Model.from_urdf(written(tmp_path, "", collision(shape)), geometry="collision")


def test_choices_of_geometry_are_validated(tmp_path):
    path = written(tmp_path, "", "")
    with pytest.raises(ValueError, match="geometry"):
        tf.Model.from_urdf(path, geometry="shapes")
    with pytest.raises(ValueError, match="package_dirs are for meshes"):
        tf.Model.from_urdf(path, package_dirs=[tmp_path])


def test_a_geometry_names_its_shapes():
    shapes = Geometry([Sphere(0, radius=0.1), Mesh(1, TETRAHEDRON)], ["ball", "rock"])
    again = pickle.loads(pickle.dumps(shapes))
    assert (again.names, len(again), again["ball"].radius) == (("ball", "rock"), 2, 0.1)
    assert not again["rock"].hull.corners.flags.writeable
    with pytest.raises(InvalidModelError, match=r"'bal' is not a shape of this geometry.*'ball'"):
        shapes["bal"]
    with pytest.raises(InvalidModelError, match="two shapes are called 'a'"):
        Geometry([Sphere(0), Sphere(1)], ["a", "a"])
    with pytest.raises(InvalidModelError, match="a name for each of 1 shapes, got 2"):
        Geometry([Sphere(0)], ["a", "b"])
    with pytest.raises(InvalidModelError, match=r"shapes\[0\] must be one of Plane"):
        Geometry([3])
