"""Test DART's module against Pinocchio, and what DART makes of difficult files."""

import os
import re

import numpy as np
import pytest
from helpers.bundled_robots import bundled_robot

import treefactor as tf

dartpy = pytest.importorskip("dartpy", reason="DART is not installed")

from helpers import engine_cases as cases  # noqa: E402
from helpers.engine_cases import link  # noqa: E402
from helpers.engine_traps import NARROW, TRAPS, WIDE, arm, without  # noqa: E402
from helpers.engine_trials import answered, causes, pin, wrong  # noqa: E402

from treefactor.adapters import dart_  # noqa: E402
from treefactor.check.causes import cause_text  # noqa: E402
from treefactor.check.quantities import QUANTITIES  # noqa: E402

ROBOTS = [("ur5_robot", False), ("solo12", True)]
EXPLAINED = [
    ("panda", False, {"dynamics", "mimic"}),
    *(
        pytest.param(*robot, marks=pytest.mark.slow)
        for robot in (
            ("talos_reduced", True, {"dynamics", "limit"}),
            ("icub", True, {"dynamics", "limit"}),
            ("tiago_dual", False, {"dynamics", "limit"}),
            ("baxter", False, {"dynamics", "inertial", "mimic"}),
        )
    ),
]
OWN = (  # of which DART makes something else
    *("no inertial", "no inertial, a shape", "mimic", "damping", "limits", "no effort", "missing mesh"),
    *("root called world", "floating"),
)
BOTH = pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
GRAVITY = np.array([0.4, -0.7, -9.3])


@pytest.mark.parametrize(("name", "floating"), ROBOTS)
def test_every_quantity_of_real_robots_is_pinocchios(name, floating):
    assert wrong(dart_, bundled_robot(name), floating) == {}


@pytest.mark.parametrize(("name", "floating", "expected"), EXPLAINED)
def test_causes_on_real_robots(name, floating, expected):
    explained = causes(dart_, bundled_robot(name), floating)
    assert explained.keys() == expected


def test_everything_is_offered(write_text):
    assert answered(dart_, write_text(TRAPS["plain"])) == set(QUANTITIES) - {"L and D", "derivatives"}


@BOTH
@pytest.mark.parametrize("trap", without(*OWN))
def test_files_that_dart_reads_as_pinocchio(write_text, trap, floating, capfd):
    assert wrong(dart_, write_text(TRAPS[trap]), floating) == {}
    assert capfd.readouterr() == ("", "")


@BOTH
@pytest.mark.parametrize("trap", ["no inertial", "no inertial, a shape"])
def test_links_without_inertial_get_one_kilogram(write_text, trap, floating):
    path = write_text(TRAPS[trap])
    tip = dart_.load(path).nodes["tip"][1]
    assert tip.getMass() == 1.0
    np.testing.assert_array_equal(tip.getInertia().getMoment(), np.eye(3))
    assert wrong(dart_, path, floating)["H"] > 0.5
    assert causes(dart_, path, floating) == {"inertial": ["tip"]}


@BOTH
@pytest.mark.parametrize(
    ("trap", "expected"),
    [
        ("mimic", {"mimic": ["k"]}),
        ("damping", {"dynamics": ["j"]}),
        ("no effort", {"setForces": []}),
        ("limits", {"setForces": []}),
    ],
)
def test_accelerations_differ_by_what_acts(write_text, trap, expected, floating, capfd):
    path = write_text(TRAPS[trap].replace('effort="1"', 'effort="0.1"'))
    assert wrong(dart_, path, floating).keys() == {"q̈"}
    assert causes(dart_, path, floating) == expected
    assert capfd.readouterr() == ("", "")


def test_damping_is_implicit_over_one_time_step(write_text):
    body = dart_.load(write_text(TRAPS["damping"]))
    q, v, tau = np.random.default_rng(0).normal(size=(3, 2))
    D = np.diag([0.7, 0.0])
    matrix = dart_.mass_matrix(body, q) + body.skeletons[0].getTimeStep() * D
    expected = np.linalg.solve(matrix, tau - dart_.bias(body, q, v) - D @ v)
    np.testing.assert_allclose(dart_.acceleration(body, q, v, tau), expected, rtol=1e-12)


def test_commands_are_clipped_and_forces_are_not(write_text):
    path = write_text(arm().replace(WIDE, NARROW))
    q, v, tau = np.zeros(2), np.zeros(2), np.array([7.0, 0.0])
    qdd = [dart_.acceleration(dart_.load(path, options=o), q, v, tau) for o in ((), {"setForces"})]
    body = dart_.load(path)
    H, b = dart_.mass_matrix(body, q), dart_.bias(body, q, v)
    np.testing.assert_allclose(H @ qdd[0] + b, [1.0, 0.0], atol=1e-13)
    np.testing.assert_allclose(H @ qdd[1] + b, tau, atol=1e-13)


def test_a_missing_mesh_is_refused(write_text):
    path = write_text(TRAPS["missing mesh"])
    with pytest.raises(tf.AdapterError, match=r"package://absent/shape\.stl") as caught:
        dart_.load(path)
    assert (caught.value.engine, caught.value.file) == ("dart", str(path))
    assert causes(dart_, path).keys() <= {"visual", "collision"}


def test_a_root_called_world_is_fixed(write_text):
    path = write_text(TRAPS["root called world"])
    assert wrong(dart_, path) == {}
    assert dart_.load(path, floating=True).nv == 1
    assert "root_joint" in wrong(dart_, path, floating=True)["H"]


def test_a_free_joint_on_a_turned_frame_has_no_convention(write_text):
    path = write_text(TRAPS["floating"])
    assert dart_.joints(dart_.load(path))[0].kind == "other"
    straight = write_text(TRAPS["floating"].replace('rpy="0.5 -0.3 0.7"/><axis', "/><axis"), "straight.urdf")
    assert wrong(dart_, straight) == {}


def test_a_relative_path(write_text, monkeypatch):
    path = write_text(TRAPS["plain"])
    assert os.path.relpath(path) == path.name
    assert dart_.load(path.name).nv == 2


def test_meshes_are_found_in_packages_and_read_once(monkeypatch):
    monkeypatch.setattr(dart_, "MESHES", set())
    for readable in (True, False):
        body = dart_.load(bundled_robot("panda"))
        assert (body.nodes["panda_link0"][1].getNumShapeNodes() > 0) == readable


@BOTH
def test_gravity_is_an_argument(floating):
    body = dart_.load(bundled_robot("solo12"), floating, GRAVITY)
    q = np.random.default_rng(0).normal(size=body.nq)
    if floating:
        q[3:7] /= np.linalg.norm(q[3:7])
        weight = sum(node.getMass() for _, node in body.nodes.values()) * -GRAVITY
        np.testing.assert_allclose(dart_.gravity_forces(body, q)[3:6], weight, rtol=1e-13)
    mass = body.skeletons[0].getMass()
    expected = -mass * GRAVITY @ dart_.com(body, q)
    np.testing.assert_allclose(dart_.potential_energy(body, q), expected, rtol=1e-12)


# --------------------------------------------------------------------------------------------- other formats


def sdf(text, version="1.6"):
    """Write an SDF with absolute poses of the links of a URDF at q = 0; joints are named j and k."""
    model = pin.buildModelFromXML(text)
    data = model.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))
    parts = []
    for i, (name, axis) in enumerate((("base", ""), ("a", "0 0.6 0.8"), ("b", "0 0.6 0.8"))):
        M, I = data.oMi[i], model.inertias[i]
        pose = " ".join(map(repr, [*M.translation.tolist(), *pin.rpy.matrixToRpy(M.rotation).tolist()]))
        t = I.inertia
        tensor = (
            "".join(
                f"<i{a}{b}>{t['xyz'.index(a), 'xyz'.index(b)]!r}</i{a}{b}>"
                for a, b in ("xx", "xy", "xz", "yy", "yz", "zz")
            )
            .replace("np.float64(", "")
            .replace(")", "")
        )
        com = " ".join(map(repr, I.lever.tolist()))
        inertial = f"<pose>{com} 0 0 0</pose><mass>{I.mass!r}</mass><inertia>{tensor}</inertia>"
        parts.append(f'<link name="{name}"><pose>{pose}</pose><inertial>{inertial}</inertial></link>')
        if axis:
            parent, own = [("base", "j"), ("a", "k")][i - 1]
            parts.append(
                f'<joint name="{own}" type="revolute"><parent>{parent}</parent><child>{name}</child>'
                f"<axis><xyz>{axis}</xyz></axis></joint>"
            )
    return f'<sdf version="{version}"><model name="m">{"".join(parts)}</model></sdf>'


@BOTH
def test_sdf_of_version_16(write_text, floating):
    path = write_text(sdf(TRAPS["plain"]), "robot.sdf")
    body, other = dart_.load(path, floating), dart_.load(write_text(TRAPS["plain"]), floating)
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=body.nq), rng.normal(size=body.nv)
    np.testing.assert_allclose(dart_.mass_matrix(body, q), dart_.mass_matrix(other, q), atol=1e-14)
    np.testing.assert_allclose(dart_.bias(body, q, v), dart_.bias(other, q, v), atol=1e-13)


def test_links_of_an_sdf_without_mass_get_a_microgram(write_text):
    text = re.sub(
        r"<mass>0\.5</mass>", "<mass>0.0</mass>", sdf(TRAPS["plain"].replace(link("b"), link("b", 0.5)))
    )
    path = write_text(text, "robot.sdf")
    for options, mass in (((), 1e-9), ({"setMass"}, 0.0)):
        assert dart_.load(path, options=options).nodes["b"][1].getMass() == mass


def test_sdf_of_version_19_is_refused(write_text):
    with pytest.raises(tf.AdapterError, match=r"only support SDF 1\.4, 1\.5, and 1\.6"):
        dart_.load(write_text(sdf(TRAPS["plain"], "1.9"), "robot.sdf"))


MJCF = """<mujoco><option gravity="0 1 -9"/><worldbody><body name="a" pos="1 2 3">
<joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
<geom size="0.1" mass="2"/>
<body name="b" pos="0 1 0"><joint name="k" axis="0 1 0"/><geom size="0.1" pos="0 0 0.5" mass="1"/>
</body></body><body name="c" pos="0 0 1"><joint name="l" axis="1 0 0"/>
<inertial pos="0 0.5 0" mass="4" diaginertia="3 2 2"/></body></worldbody></mujoco>"""


def test_mjcf_of_two_trees(write_text):
    """Assert that every body has moments of 1 kg m^2, and without geoms 1 kg, whatever its ``<inertial>``."""
    body = dart_.load(write_text(MJCF, "robot.xml"), gravity=None)
    joints = [(joint.name, joint.kind, joint.parent, joint.body) for joint in dart_.joints(body)]
    assert joints == [
        *(("x", "prismatic", -1, "a"), ("z", "prismatic", 0, "a")),
        *(("k", "revolute", 1, "b"), ("l", "revolute", -1, "c")),
    ]
    assert dart_.frames(body) == ["a", "b", "c"]
    q = np.zeros(4)
    expected = np.diag([3.0, 3.0, 1.0 + 1.0 * 0.25, 1.0])
    expected[0, 2] = expected[2, 0] = 0.5
    np.testing.assert_allclose(dart_.mass_matrix(body, q), expected, atol=1e-15)
    np.testing.assert_allclose(dart_.gravity_forces(body, q)[1], 3.0 * 9.81)  # the file's is not read
    np.testing.assert_array_equal(dart_.jacobian(body, q, "c")[:, :3], 0.0)


# ---------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("case", sorted(cases.BROKEN))
def test_files_that_are_not_trees(write_text, case):
    with pytest.raises(tf.AdapterError) as caught:
        dart_.load(write_text(cases.BROKEN[case][0]))
    assert caught.value.engine == "dart"


def test_unknown_link_and_wrong_lengths(write_text):
    body = dart_.load(write_text(TRAPS["plain"]))
    with pytest.raises(KeyError, match="'absent'"):
        dart_.placement(body, [0.0, 0.0], "absent")
    with pytest.raises(tf.ShapeError):
        dart_.mass_matrix(body, [0.0])


def test_a_joint_that_moves_no_mass_has_no_acceleration(write_text):
    empty = '<link name="b"><inertial><mass value="0"/></inertial></link>'
    body = dart_.load(write_text(TRAPS["plain"].replace(link("b"), empty)))
    qdd = dart_.acceleration(body, *np.zeros((3, 2)))
    assert qdd[0] != 0.0
    assert qdd[1] == 0.0 or np.isnan(qdd[1])


def test_the_limit_of_effort_is_one_cause_whether_file_or_option_removes_it():
    by_edit, by_option = (cause_text("dart", step, dart_.OPTIONS) for step in ("limit", "setForces"))
    assert by_edit == by_option == (dart_.OPTIONS["setForces"], "")
