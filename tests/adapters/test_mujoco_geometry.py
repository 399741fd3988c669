"""Shapes of MuJoCo's geoms: where MuJoCo has them, as far apart, resting as high, and those of URDFs."""

import numpy as np
import pytest
from helpers.bundled_robots import bundled_robot
from helpers.sweeps import sweep
from oracles.support import support

import treefactor as tf
from treefactor.constraints import Contact, Plane, Stepper, contact_points, contacts_of
from treefactor.exceptions import AdapterError

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")

from treefactor.adapters import mujoco_  # noqa: E402

ROBOTS = {  # with a fixed base, as MuJoCo's importer makes it
    *("anymal_b_simple/anymal", "solo12", "panda"),
    *("anymal_c_simple/anymal", "talos_reduced", "g1_29dof_rev_1_0", "ur5_robot", "xarm7", "iris", "bolt"),
    *("go2", "double_pendulum", "pybullet_data/kuka_iiwa/model", "pybullet_data/laikago/laikago_toes"),
}
FAST = ("panda", "double_pendulum")
REFUSED = {  # by MuJoCo 3: it does not take inertias of small links, or leaves out shapes
    *("anymal_b_simple/anymal", "anymal_c_simple/anymal", "talos_reduced"),
}
DIRECTIONS = np.random.default_rng(0).normal(size=(40, 3))
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1)[:, None]
ROCK = "0 0 0  0.3 0 0  0 0.2 0  0 0 0.4  0.1 0.1 0.1  0.3 0.2 0.1"
SCENE = f"""<mujoco><asset><mesh name="rock" vertex="{ROCK}" scale="1 2 1"/></asset><worldbody>
<geom name="ground" type="plane" size="1 1 1" pos="0.1 0.2 -0.3" euler="10 20 30"/>
<geom name="picture" type="box" size="1 1 1" contype="0" conaffinity="0"/>
<body name="trunk" pos="0 0 0.4" euler="5 10 15"><freejoint/>
  <geom name="block" type="box" size="0.1 0.2 0.3" pos="0.1 0 0" euler="40 50 60"/>
  <geom type="sphere" size="0.15" pos="0 0.3 0.1"/>
  <body pos="0.5 0 0" euler="90 0 0"><joint axis="0 1 0" pos="0.1 0 0" ref="20"/><joint axis="0 0 1"/>
    <geom name="leg" type="capsule" fromto="0 0 0  0.2 0.1 -0.4" size="0.04"/>
    <body name="foot" pos="0 0 -0.5" quat="1 2 3 4">
      <geom name="can" type="cylinder" size="0.1 0.05" euler="0 30 0"/>
      <geom name="stone" type="mesh" mesh="rock" pos="0 0.1 0" euler="20 0 0"/>
</body></body></body></worldbody></mujoco>"""


@pytest.fixture(scope="module")
def scene():
    """Return a model with geoms of all kinds, and its data at a random configuration."""
    m = mujoco.MjModel.from_xml_string(SCENE)
    data = mujoco.MjData(m)
    data.qpos[:] = m.qpos0
    mujoco.mj_integratePos(m, data.qpos, np.random.default_rng(1).normal(size=m.nv), 0.5)
    m.geom_margin[:] = 1.0
    mujoco.mj_forward(m, data)
    return m, data


def bodies_of(model, q, shapes):
    """Return the placements of the bodies of shapes; of the base, the identity."""
    placed = [*tf.joint_placements(model, q), np.eye(3, 4)]
    return [placed[shape.body] for shape in shapes]


def reach(shape, body=None):
    """Return how far a shape reaches along directions, with its body placed."""
    R, p = getattr(shape, "R", np.eye(3)), getattr(shape, "p", getattr(shape, "center", None))
    if body is not None:
        R, p = body[:, :3] @ R, body[:, :3] @ p + body[:, 3]
    return support(shape, DIRECTIONS @ R) + DIRECTIONS @ p


def test_shapes_are_where_mujoco_has_them(scene):
    m, data = scene
    model, shapes = mujoco_.model(m), mujoco_.geometry(m)
    assert shapes.names == ("ground", "block", "geom 3", "leg", "can", "stone")
    placed = bodies_of(model, mujoco_.configuration(m, data.qpos), shapes)
    ground = shapes["ground"]
    np.testing.assert_allclose(ground.normal, data.geom_xmat[0].reshape(3, 3)[:, 2], atol=1e-12)
    for name, k in (("block", 2), ("geom 3", 3), ("leg", 4), ("can", 5), ("stone", 6)):
        shape, body = shapes[name], placed[shapes.names.index(name)]
        size, n = m.geom_size[k], DIRECTIONS @ data.geom_xmat[k].reshape(3, 3)
        if name == "stone":
            extent = (m.mesh_vert @ n.T).max(axis=0)
        elif name == "block":
            extent = np.abs(n) @ size
        else:
            across = np.hypot(n[:, 0], n[:, 1]) if name == "can" else 1.0
            extent = size[0] * across + size[1] * np.abs(n[:, 2])
        expected = extent + DIRECTIONS @ data.geom_xpos[k]
        np.testing.assert_allclose(reach(shape, body), expected, atol=1e-9)


def test_gaps_to_the_ground_and_between_round_shapes_are_mujocos(scene):
    m, data = scene
    model, shapes = mujoco_.model(m), mujoco_.geometry(m)
    placed = dict(
        zip(shapes.names, bodies_of(model, mujoco_.configuration(m, data.qpos), shapes), strict=True)
    )

    def gap(first, second):
        points = contact_points(shapes[first], shapes[second], placed[first], placed[second], margin=9.0)
        return points.gaps.min()

    least = {}
    for contact in data.contact:
        if 0 in contact.geom:
            least[contact.geom[1]] = min(contact.dist, least.get(contact.geom[1], np.inf))
    assert len(least) == 5
    for k, dist in least.items():
        assert gap("ground", m.geom(k).name or f"geom {k}") == pytest.approx(dist, abs=1e-7)
    distance = mujoco.mj_geomDistance(m, data, 3, m.geom("leg").id, 9.0, None)
    assert gap("geom 3", "leg") == pytest.approx(distance, abs=1e-7)


def test_excluded_pairs_are_those_that_mujoco_leaves_out():
    text = """<mujoco><default><geom type="sphere" size="0.2"/></default><worldbody>
    <body name="a"><freejoint/><geom name="a"/></body>
    <body name="b"><freejoint/><geom name="b[1]"/><geom name="b2" contype="2" conaffinity="2"/></body>
    <body name="c"><freejoint/><geom name="c" contype="2" conaffinity="0"/></body>
    <body name="d"><freejoint/><geom name="d" contype="3" conaffinity="0"/></body>
    </worldbody><contact><exclude body1="d" body2="a"/></contact></mujoco>"""
    m = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(m)
    mujoco.mj_forward(m, data)
    theirs = {frozenset(m.geom(k).name for k in contact.geom) for contact in data.contact}
    shapes = mujoco_.geometry(m)
    contacts, left_out = contacts_of(
        mujoco_.model(m), shapes, others=(), exclude=mujoco_.excluded_pairs(m), named=True
    )
    names = dict(zip(map(id, shapes), shapes.names, strict=True))
    ours = {frozenset(names[id(shape)] for shape in (one.sphere, one.against)) for one in contacts}
    assert ours == theirs
    assert {pair.reason for pair in left_out} == {"same body", "excluded"}


def test_a_body_rests_as_high_as_in_mujoco():
    text = """<mujoco><option timestep="0.002"/><worldbody><geom name="ground" type="plane" size="1 1 1"/>
    <body pos="0 0 0.2"><freejoint/><geom name="can" type="cylinder" size="0.1 0.1" mass="1"
     solref="0.004 1" solimp="0.99 0.999 0.001"/></body></worldbody></mujoco>"""
    m = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(m)
    model, shapes = mujoco_.model(m), mujoco_.geometry(m)
    contacts = contacts_of(model, shapes, others=(), mu=0.5)
    assert [type(one) for one in contacts] == [Contact]
    run = Stepper(model, contacts, h=0.002).run(
        mujoco_.configuration(m, data.qpos), np.zeros(6), 400, keep_steps=False
    )
    mujoco.mj_step(m, data, 400)
    assert run.q[-1, 2] == pytest.approx(0.1, abs=1e-9)
    assert run.q[-1, 2] == pytest.approx(data.qpos[2], abs=1e-4)


def compiled(path):
    """Compile a URDF by MuJoCo's importer, its meshes wherever they are."""
    spec = mujoco.MjSpec.from_file(str(path))
    for mesh in spec.meshes:
        inside = mesh.file.replace("package://", "")
        mesh.file = next(str(folder / inside) for folder in path.parents if (folder / inside).is_file())
    spec.strippath = False
    spec.compiler.boundmass, spec.compiler.boundinertia, spec.compiler.balanceinertia = 1e-6, 1e-9, True
    return spec.compile()


@pytest.mark.parametrize("name", sweep(sorted(ROBOTS), lambda name: name in FAST))
def test_shapes_of_a_urdf_are_those_that_mujoco_imports(name):
    if name in REFUSED and mujoco.__version__ < "4":
        pytest.skip("MuJoCo 3 does not read this file whole")
    path = bundled_robot(name)
    m = compiled(path)
    lists = []
    for model, shapes in (
        tf.Model.from_urdf(path, geometry="collision"),
        (mujoco_.model(m), mujoco_.geometry(m)),
    ):
        joints = [joint.name for joint in model.joints] + [""]
        lists.append([((joints[shape.body], type(shape)), reach(shape)) for shape in shapes])
    ours, theirs = lists
    assert len(ours) == len(theirs)
    for kind, extent in ours:
        errors = [np.abs(extent - other).max() for other_kind, other in theirs if other_kind == kind]
        nearest = int(np.argmin(errors))
        assert errors[nearest] < 1e-5
        del theirs[[k for k, (other, _) in enumerate(theirs) if other == kind][nearest]]


def test_an_ellipsoid_keeps_its_radii():
    text = '<mujoco><worldbody><geom type="ellipsoid" size="1 2 3" pos="4 5 6"/></worldbody></mujoco>'
    (egg,) = mujoco_.geometry(mujoco.MjModel.from_xml_string(text))
    assert (egg.radii.tolist(), egg.p.tolist()) == ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])


def test_a_ball_on_hills_touches_where_mujoco_says():
    heights = np.random.default_rng(2).uniform(size=(5, 7))
    text = '<mujoco><asset><hfield name="hills" nrow="5" ncol="7" size="3 2 0.5 0.1"/></asset><worldbody>'
    text += '<geom type="hfield" hfield="hills" pos="0.1 0.2 0.3"/>'
    text += '<body pos="0 0 2"><freejoint/><geom size="0.3"/></body></worldbody></mujoco>'
    m = mujoco.MjModel.from_xml_string(text)
    m.hfield_data[:] = heights.ravel()
    data, (hills, ball) = mujoco.MjData(m), mujoco_.geometry(m)
    for x, y in np.random.default_rng(3).uniform(-1.5, 1.5, (30, 2)):
        data.qpos[:3] = x, y, 0.9
        mujoco.mj_forward(m, data)
        points = contact_points(hills, ball, None, np.column_stack([np.eye(3), data.qpos[:3]]))
        depths = [contact.dist for contact in data.contact[: data.ncon]]
        assert bool(depths) == bool(len(points.gaps))
        if depths and points.gaps.min() > -0.29:
            assert points.gaps.min() == pytest.approx(min(depths), abs=2e-3)


def test_geoms_without_an_equivalent_are_named():
    text = f'<mujoco><asset><mesh name="rock" vertex="{ROCK}"/></asset><worldbody>'
    m = mujoco.MjModel.from_xml_string(f'{text}<geom type="sdf" mesh="rock"/></worldbody></mujoco>')
    with pytest.raises(AdapterError, match="geom 'geom 0' is a sdf: only plane"):
        mujoco_.geometry(m)
    for call in (mujoco_.geometry, mujoco_.excluded_pairs):
        with pytest.raises(TypeError, match=r"must be a mujoco\.MjModel or a Body"):
            call("robot.xml")
    assert isinstance(mujoco_.geometry(mujoco_.Body(mujoco.MjModel.from_xml_string(SCENE)))["ground"], Plane)
