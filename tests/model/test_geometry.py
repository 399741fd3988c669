"""Shapes of URDFs and of Pinocchio's geometry models, meshes, and errors that name link and file."""

import pickle
import sys

import numpy as np
import pytest
from helpers.bundled_robots import bundled_robot
from oracles.support import support

import treefactor as tf
from treefactor.adapters import pinocchio_
from treefactor.constraints import Box, Capsule, Cylinder, Geometry, Mesh, Sphere, contact_points
from treefactor.exceptions import AdapterError, InvalidModelError
from treefactor.model.meshes import mesh_vertices

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


def binary_stl(corners):
    """Return the content of a binary STL whose header says that it is text."""
    triangles = np.zeros(
        len(corners), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")]
    )
    triangles["corners"] = corners
    return b"solid, but binary".ljust(80) + np.uint32(len(corners)).tobytes() + triangles.tobytes()


def text_stl(corners):
    """Return the content of an STL as text."""
    lines = ["vertex " + " ".join(map(str, x)) for x in np.reshape(corners, (-1, 3))]
    return "\n".join(["solid tetrahedron", *lines, "endsolid"]).encode()


def collision(inside, origin=""):
    return f"<collision>{origin}<geometry>{inside}</geometry></collision>"


def written(tmp_path, *links):
    path = tmp_path / "two.urdf"
    path.write_text(LINKS.format(*links))
    return path


def write_mesh(path, form):
    """Write a tetrahedron."""
    if form == "obj":
        rows = [f"v {x} {y} {z}" for x, y, z in TETRAHEDRON]
        faces = ["f 2 4 3", "f 2/1 3/2 5/3", "f -4//1 -1//1 -2//1", "f 3 4 5"]
        path.write_text("\n".join(["# corners", "v 9 9 9 # of no face", *rows, "vn 0 0 1", *faces]))
    elif form == "text stl":
        path.write_bytes(text_stl(FACES))
    else:
        path.write_bytes(binary_stl(FACES))


BAD_MESHES = {  # content of files, and what is said about them
    "flat.obj": (b"v 0 0 0\nv 1 0 0\nv 0 1 0", "3 points in one plane enclose no volume"),
    "line.obj": (b"v 0 0 0\nv 1 0 0\nv 2 0 0\nv 3 0 0", "4 points in one plane enclose no volume"),
    "point.stl": (binary_stl(np.ones((4, 3, 3))), "1 points in one plane enclose no volume"),
    "sheet.stl": (text_stl(FACES[[0, 0]]), "3 points in one plane .* so give a flat part a thickness"),
    "word.obj": (b"v 0 0 x", "cannot read this OBJ file: could not convert"),
    "short.obj": (b"v 0 0", "cannot read this OBJ file: a vertex does not have three coordinates"),
    "corner.obj": (
        b"v 0 0 0\nf 1 2 3",
        "cannot read this OBJ file: a face has a corner that is not one of the 1",
    ),
    "nothing.obj": (b"# no shapes", "this OBJ file has no vertices"),
    "nan.obj": (b"v 0 0 nan", "this OBJ file has a number that is not finite"),
    "nan.stl": (binary_stl(FACES * np.nan), "this STL file has a number that is not finite"),
    "huge.stl": (
        text_stl([[["1e999", 0, 0], [0, 0, 0], [1, 0, 0]]]),
        "this STL file has a number that is not",
    ),
    "empty.stl": (b"", "cannot read this STL file: it is empty"),
    "cut.stl": (
        b"cut" + binary_stl(FACES)[3:-1],
        "cannot read this STL file: it should have 4 triangles, but ends after 3: copy it again",
    ),
    "head.stl": (b"cut", "cannot read this STL file: it has 3 bytes, fewer than the header"),
    "cut text.stl": (text_stl(FACES)[:-30], "cannot read this STL file: it ends within a triangle"),
    "large.stl": (b"version https://git-lfs.github.com/spec/v1\nsize 9", ".*a pointer .* run `git lfs pull`"),
    "large.dae": (b"version https://git-lfs.github.com/spec/v1\nsize 9", ".*a pointer .* run `git lfs pull`"),
    "cut.dae": (b"<COLLADA><library_geometries>", "cannot read this DAE file: .*malformed XML$"),
    "no mesh.dae": (b"<COLLADA/>", "cannot read this DAE file: "),
    "odd.xyz": (b"1 2 3", "cannot read this XYZ file: No suitable reader found for the file format$"),
}
SCENE = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="inch" meter="0.0254"/><up_axis>Y_UP</up_axis></asset>
<library_geometries><geometry id="rock"><mesh><source id="points"><float_array id="numbers" count="15">{}
</float_array><technique_common><accessor source="#numbers" count="5" stride="3">
<param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="corners"><input semantic="POSITION" source="#points"/></vertices><triangles count="4">
<input semantic="VERTEX" source="#corners" offset="0"/><p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles></mesh>
</geometry></library_geometries><library_visual_scenes><visual_scene id="scene">
<node id="outer"><translate>1 2 3</translate><rotate>0 0 1 90</rotate><node id="inner">
<matrix>2 0 0 0 0 2 0 0 0 0 2 0.5 0 0 0 1</matrix><instance_geometry url="#rock"/></node></node>
<node id="beside"><instance_geometry url="#rock"/></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#scene"/></scene></COLLADA>"""


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
        (
            '<mesh filename="package://a/b.stl"/>',
            "found no package 'a' of the mesh 'package://a/b.stl' in the folders above",
        ),
        (
            '<mesh filename="package://parts/b.stl"/>',
            "found no mesh 'package://parts/b.stl': the package .*/parts does not have it",
        ),
        ("<mesh/>", "link 'toe': a <mesh> must have the filename of its file, got nothing"),
        ('<mesh filename="flat.obj" scale="1 1"/>', "the scale of a <mesh> must be 3 numbers, got '1 1'"),
        ('<mesh filename="flat.obj" scale="1 0 1"/>', "the scale of a <mesh> must not be zero, got '1 0 1'"),
        (
            '<mesh filename="flat.obj" scale="1 nan 1"/>',
            "the scale of a <mesh> must be 3 numbers, got '1 nan",
        ),
        *(
            (f'<mesh filename="{name}"/>', f"link 'toe': .*{name}: {reason}")
            for name, (_, reason) in BAD_MESHES.items()
        ),
    ],
)
def test_errors_name_link_and_file(tmp_path, shape, message):
    (tmp_path / "parts").mkdir()
    for name, (content, _) in BAD_MESHES.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(AdapterError, match=message):
        tf.Model.from_urdf(written(tmp_path, "", collision(shape)), geometry="collision")


def test_parts_of_a_collada_file_are_where_their_nodes_are(tmp_path):
    """As for Pinocchio, its unit is the metre and its axes those of the link, whatever it says."""
    pytest.importorskip("coal")
    (tmp_path / "rock.DAE").write_text(SCENE.format(" ".join(map(str, [*TETRAHEDRON.ravel(), 9, 9, 9]))))
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    inner = (2 * TETRAHEDRON + [0, 0, 0.5]) @ turn.T + [1, 2, 3]
    vertices = np.unique(mesh_vertices(tmp_path / "rock.DAE").round(5), axis=0)
    expected = np.unique(np.concatenate([TETRAHEDRON, inner]).round(5), axis=0)
    np.testing.assert_allclose(vertices, expected, atol=1e-6)
    _, shapes = tf.Model.from_urdf(
        written(tmp_path, "", collision('<mesh filename="rock.DAE" scale="1 1 -2"/>')), geometry="collision"
    )
    hull = Mesh(0, expected * [1, 1, -2])
    np.testing.assert_allclose(
        support(shapes["toe_0"], DIRECTIONS),
        support(Mesh(0, hull.vertices, shapes["toe_0"].R, shapes["toe_0"].p), DIRECTIONS),
        atol=1e-6,
    )


def test_a_collada_file_without_coal_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["treefactor.model.meshes"], "find_spec", lambda name: None)
    (tmp_path / "rock.dae").write_text(SCENE)
    with pytest.raises(AdapterError, match=r"link 'toe': .*rock.dae: .*coal: pip install 'treefactor\[coll"):
        tf.Model.from_urdf(
            written(tmp_path, "", collision('<mesh filename="rock.dae"/>')), geometry="collision"
        )


@pytest.mark.parametrize("scale", ["1 1 1", "-1 1 1", "1 -2 3", "-1 -1 -1"])
def test_mirrored_meshes_are_those_of_pinocchio(tmp_path, scale):
    write_mesh(tmp_path / "rock.stl", "binary stl")
    path = written(tmp_path, "", collision(f'<mesh filename="file://{tmp_path}/rock.stl" scale="{scale}"/>'))
    (ours,) = tf.Model.from_urdf(path, geometry="collision")[1]
    objects = pin.buildGeomFromUrdf(
        pin.buildModelFromUrdf(str(path)), str(path), pin.GeometryType.COLLISION, package_dirs=[str(tmp_path)]
    )
    (other,) = pinocchio_.geometry(objects)
    np.testing.assert_allclose(support(ours, DIRECTIONS), support(other, DIRECTIONS), atol=1e-6)
    R, corners, hull = ours.R, ours.hull.corners, ours.hull
    assert (corners @ hull.normals.T - hull.offsets).max() < 1e-12
    assert np.linalg.det(R) == pytest.approx(1.0)


def test_repeated_triangles_and_edges_of_many_faces_change_no_hull(tmp_path):
    (tmp_path / "plain.stl").write_bytes(binary_stl(FACES))
    (tmp_path / "twice.stl").write_bytes(binary_stl(np.concatenate([FACES, FACES, FACES[:, ::-1]])))
    rows = [f"v {x} {y} {z}" for x, y, z in [*TETRAHEDRON, [0.1, 0.1, 0.1]]]
    (tmp_path / "fins.obj").write_text("\n".join([*rows, "f 1 2 3 4", "f 1 2 4", "f 1 2 5", "f 1 1 2"]))
    parts = [collision(f'<mesh filename="{name}"/>') for name in ("plain.stl", "twice.stl", "fins.obj")]
    hulls = tf.Model.from_urdf(written(tmp_path, "".join(parts), ""), geometry="collision")[1]
    for hull in hulls:
        np.testing.assert_allclose(np.unique(hull.vertices, axis=0), np.unique(TETRAHEDRON, axis=0))


def surroundings(coal, points, faces, frame=None, joint=0, **options):
    """Return the shape of a mesh that was placed on the universe, a joint or a frame."""
    made = coal.BVHModelOBBRSS()
    made.beginModel(len(faces), 3 * len(faces))
    for corners in np.asarray(points, dtype=float)[faces]:
        made.addTriangle(*corners)
    made.endModel()
    place = (joint, pin.SE3.Identity()) if frame is None else (joint, frame, pin.SE3.Identity())
    objects = pin.GeometryModel()
    one = pin.GeometryObject("ground", *place, made)
    for name, value in options.items():
        setattr(one, name, value)
    objects.addGeometryObject(one)
    (shape,) = pinocchio_.geometry(objects)
    return shape


CORNERS = np.array([[x, y, z] for x in (0.0, 1) for y in (0.0, 1) for z in (0.0, 1)])
CUBE = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6]]
CUBE += [[0, 6, 4], [1, 5, 7], [1, 7, 3]]
VALLEY = [[-1, -1, 1], [0, -1, 0], [1, -1, 1], [-1, 1, 1], [0, 1, 0], [1, 1, 1]]
SLOPES = [[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4]]


def test_meshes_of_the_surroundings_stay_surfaces_unless_they_are_convex():
    coal = pytest.importorskip("coal")
    ball = Sphere(0, [0.0, 0.0, 0.5], 0.1)
    for frame in (None, 0):
        valley = surroundings(coal, VALLEY, SLOPES, frame)
        assert (valley.convex, valley.body, len(valley.surface.triangles)) == (False, -1, 4)
        gaps = contact_points(valley, ball, margin=1.0).gaps
        np.testing.assert_allclose(gaps, 2 * [0.5 / np.sqrt(2.0) - 0.1])
    assert surroundings(coal, VALLEY, SLOPES, 3).convex  # the frame of a link
    assert surroundings(coal, VALLEY, SLOPES, joint=2).convex
    assert surroundings(coal, CORNERS, CUBE).convex
    assert not surroundings(coal, CORNERS, CUBE[:-1]).convex  # it is open
    assert not surroundings(coal, CORNERS - [[5, 5, 5]], CUBE[:-2]).convex
    notch = CORNERS.copy()
    notch[7] = [0.4, 0.4, 0.4]
    assert not surroundings(coal, notch, CUBE).convex
    assert not surroundings(coal, VALLEY, SLOPES[:2]).convex  # it is flat


def test_a_mirrored_ground_faces_up():
    coal = pytest.importorskip("coal")
    ball = Sphere(0, [0.0, 0.0, 0.5], 0.1)
    mirrored = np.array(VALLEY) * [-1, 1, 1]  # as Pinocchio scales vertices, with faces as they are
    valley = surroundings(coal, mirrored, SLOPES, meshScale=np.array([-1.0, 1.0, 1.0]))
    assert valley.surface.normals[:, 2].min() > 0.0
    assert contact_points(valley, ball, margin=1.0).gaps.min() > 0.0


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
    with pytest.raises(InvalidModelError, match="names must be texts, got \\(3,\\)"):
        Geometry([Sphere(0)], [3])
    with pytest.raises(InvalidModelError, match="a name for each of 1 shapes, got 2"):
        Geometry([Sphere(0)], ["a", "b"])
    with pytest.raises(InvalidModelError, match=r"shapes\[0\] must be one of Plane"):
        Geometry([3])
