"""Surfaces, pictures and pages of shapes."""

import builtins
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from oracles.support import support

import treefactor as tf
from treefactor import viewing
from treefactor.constraints import Box, Capsule, Cone, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Sphere
from treefactor.exceptions import InvalidModelError, ShapeError, TreefactorError

SHAPES = {  # with their volumes, and the share of these that triangles may miss
    "box": (Box(0, [0.2, 0.4, 0.6]), 0.048, 1e-12),
    "mesh": (Mesh(0, [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.1, 0.1, 0.1]]), 1.0 / 6.0, 1e-12),
    "sphere": (Sphere(0, radius=0.5), np.pi / 6.0, 0.04),
    "cylinder": (Cylinder(0, 0.2, 0.5), np.pi * 0.02, 0.02),
    "cone": (Cone(0, 0.2, 0.5), np.pi * 0.02 / 3.0, 0.02),
    "ellipsoid": (Ellipsoid(0, [0.2, 0.3, 0.5]), np.pi * 0.04, 0.04),
    "capsule": (Capsule(0, 0.2, 0.5), np.pi * (0.02 + 0.032 / 3.0), 0.04),
}
DIRECTIONS = np.random.default_rng(0).normal(size=(200, 3))
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1)[:, None]


def falling_ball():
    """Return a model of a ball, its geometry, and states of its fall."""
    ball = tf.Model([tf.Joint("ball", "freeflyer", inertia=tf.Inertia(1.0, tensor=np.eye(3)))])
    t = np.linspace(0.0, 0.5, 101)
    q = np.tile(tf.neutral(ball), (101, 1))
    q[:, 2] = 2.0 - 5.0 * t**2
    return ball, Geometry([Sphere(0, radius=0.1), Sphere(0)], ["ball", "centre"]), t, q


@pytest.mark.parametrize("name", SHAPES)
def test_surfaces_are_closed_and_enclose_the_volume(name):
    shape, volume, share = SHAPES[name]
    corners, triangles = viewing.surface(shape)
    a, b, c = (corners[triangles[:, k]] for k in range(3))
    enclosed = (a * np.cross(b, c)).sum() / 6.0
    assert (1.0 - share) * volume - 1e-12 <= enclosed <= volume * (1.0 + 1e-9)
    edges = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]))
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()
    reach = support(shape, DIRECTIONS)
    lacking = reach - (DIRECTIONS @ corners.T).max(axis=1)
    assert -1e-9 < lacking.min()
    assert lacking.max() < 0.02 * reach.max() + 1e-12
    assert len(viewing.surface(Sphere(0))[1]) == 0


def test_a_plane_is_a_square_that_faces_along_its_normal():
    corners, triangles = viewing.surface(Plane(), 3.0)
    assert np.ptp(corners, axis=0).tolist() == [3.0, 3.0, 0.0]
    a, b, c = corners[triangles[0]]
    assert np.cross(b - a, c - a)[2] > 0.0


def test_a_picture_has_the_triangles_of_all_shapes_within_its_limits(tmp_path):
    pytest.importorskip("matplotlib")
    ball, shapes, _, q = falling_ball()
    box = Box(-1, [1, 1, 0.1])
    axes = viewing.plot(ball, shapes, q[[0, 100]], [Plane(), box])
    ground, drawn = axes.collections
    assert len(ground.get_facecolor()) == 2
    spheres = len(viewing.surface(shapes["ball"])[1])
    alphas = drawn.get_facecolor()[:, 3]
    assert len(alphas) == 2 * (spheres + 12)
    assert np.unique(alphas).tolist() == [0.2, 1.0]
    for limits, (low, high) in zip(
        (axes.get_xlim(), axes.get_ylim(), axes.get_zlim()),
        [(-0.5, 0.5), (-0.5, 0.5), (-0.05, 2.1)],
        strict=True,
    ):
        assert limits[0] <= low + 1e-12
        assert limits[1] >= high - 1e-12
    again = viewing.plot(ball, shapes, q[0], axes=axes)
    assert again is axes
    axes.figure.savefig(tmp_path / "ball.png", dpi=20)
    for others in ([Plane()], []):
        assert viewing.plot(ball, Geometry([]), q[0], others).get_xlim() == (-1.0, 1.0)


class RecordingServer:
    """Stands in for viser's server: notes what is shown when."""

    def __init__(self, host, port, verbose):
        self.scene, self.meshes, self.t, self.stopped = self, {}, 0.0, False
        self.initial_camera = SimpleNamespace()
        type(self).last = self
        print("viser at port 8080")

    def add_mesh_simple(self, name, corners, triangles, **options):
        mesh = SimpleNamespace(options=options, **{key: options[key] for key in ("position", "wxyz")})
        self.meshes[name] = mesh
        return mesh

    def get_scene_serializer(self):
        return self

    def insert_sleep(self, duration):
        self.t += duration

    def as_html(self):
        return f"<html>{self.t:.6f}</html>"

    def stop(self):
        self.stopped = True


def test_a_page_shows_the_motion_in_real_time(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "viser", SimpleNamespace(ViserServer=RecordingServer))
    ball, shapes, t, q = falling_ball()
    viewing.write_page(tmp_path / "ball.html", ball, shapes, t, q, [Plane()])
    server = RecordingServer.last
    assert (tmp_path / "ball.html").read_text() == "<html>0.500000</html>"
    assert server.stopped
    assert list(server.meshes) == ["/ball", "/other 0"]
    np.testing.assert_allclose(server.meshes["/ball"].position, q[-1, :3])
    np.testing.assert_allclose(server.meshes["/ball"].options["position"], q[0, :3])
    np.testing.assert_allclose(server.meshes["/other 0"].wxyz, [1, 0, 0, 0])
    np.testing.assert_allclose(server.initial_camera.look_at, [0, 0, 1.375])
    assert capsys.readouterr().out == ""


def test_pages_of_viser_are_documents(tmp_path):
    pytest.importorskip("viser")
    ball, shapes, t, q = falling_ball()
    viewing.write_page(tmp_path / "ball.html", ball, shapes, t, q, [Plane()])
    text = (tmp_path / "ball.html").read_text()
    assert text.lstrip().lower().startswith("<!doctype html>")
    assert "__VISER_EMBED_DATA__" in text


@pytest.mark.parametrize(
    ("package", "extra", "call"),
    [
        ("viser", "view", lambda ball, shapes, t, q: viewing.write_page("ball.html", ball, shapes, t, q)),
        ("matplotlib", "plot", lambda ball, shapes, t, q: viewing.plot(ball, shapes, q)),
    ],
)
def test_the_extra_is_named_where_a_package_is_missing(monkeypatch, package, extra, call):
    real = builtins.__import__

    def without(name, *arguments):
        if name.partition(".")[0] == package:
            raise ImportError(f"No module named {package!r}")
        return real(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(TreefactorError, match=rf"pip install 'treefactor\[{extra}\]'"):
        call(*falling_ball())


def test_wrong_arguments_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", SimpleNamespace(ViserServer=RecordingServer))
    ball, shapes, t, q = falling_ball()
    with pytest.raises(ShapeError, match=r"q of shape \(states, 7\), got \(101,\) and \(100, 7\)"):
        viewing.write_page("ball.html", ball, shapes, t, q[1:])
    with pytest.raises(ValueError, match="t must ascend"):
        viewing.write_page("ball.html", ball, shapes, -t, q)
    with pytest.raises(InvalidModelError, match="expected a shape, got 3"):
        viewing.surface(3)
