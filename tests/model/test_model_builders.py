"""Check that models from Pinocchio, MuJoCo, PyBullet and URDF files agree entry by entry."""

import pickle

import numpy as np
import pytest
from helpers.bundled_robots import bundled_robot
from helpers.engine_cases import TRAPS, joint, link, pin, urdf
from helpers.model_cases import in_pinocchio, models, state
from hypothesis import assume, given
from oracles import dynamics

import treefactor as tf
from treefactor import robots
from treefactor.adapters import pinocchio_

TOLERANCE = 1e-13  # relative
AXIS, OTHER = np.array([0.0, 0.6, 0.8]), np.array([0.48, 0.6, 0.64])


def engine(name):
    """Return the adapter of an engine; skip the test if it is not installed."""
    from importlib import import_module

    try:
        return import_module(f"treefactor.adapters.{name}_")
    except tf.AdapterError as error:
        pytest.skip(str(error))


def assert_same_dynamics(model, pin_model, seed=0):
    """Assert that H, forces and tree of a model are Pinocchio's."""
    assert (model.nq, model.nv) == (pin_model.nq, pin_model.nv)
    assert model.tree == pinocchio_.tree(pin_model)
    q, v, a = state(model, seed)
    data = pin_model.createData()
    if model.coupling:  # crba of Pinocchio 4.1 and its own rnea disagree where joints follow distant ones
        rest = pin.rnea(pin_model, data, q, 0.0 * v, 0.0 * v).copy()
        columns = [pin.rnea(pin_model, data, q, 0.0 * v, e) - rest for e in np.eye(model.nv)]
        H = np.stack(columns, axis=1)
    else:
        H = pinocchio_.mass_matrix(pin_model, data, q)
    np.testing.assert_allclose(dynamics.crba(model, q), H, atol=TOLERANCE * np.abs(H).max())
    tau = np.array(pin.rnea(pin_model, data, q, v, a))
    np.testing.assert_allclose(dynamics.rnea(model, q, v, a), tau, atol=TOLERANCE * np.abs(tau).max())


def assert_same_model(first, second):
    """Assert that two models are equal to rounding."""
    assert first.tree == second.tree
    assert first.tree.names == second.tree.names
    np.testing.assert_array_equal([first.lower, first.upper], [second.lower, second.upper])
    for name in ("armature", "effort_limit", "velocity_limit"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    for one, other in zip(first.joints, second.joints, strict=True):
        for attribute in ("name", "kind", "parent", "mimic"):
            assert getattr(one, attribute) == getattr(other, attribute)
        for attribute in ("R", "p", "axis", "pitch"):
            mine, theirs = getattr(one, attribute), getattr(other, attribute)
            assert (mine is None) == (theirs is None)
            if mine is not None:
                np.testing.assert_allclose(mine, theirs, atol=1e-14)
        inertias = [dynamics.spatial_inertia(each.inertia) for each in (one, other)]
        np.testing.assert_allclose(*inertias, atol=1e-14 * np.abs(inertias).max())


# ----------------------------------------------------------------------------------------------- Pinocchio


def composite():
    whole = pin.JointModelComposite()
    for part in ("RY", "SphericalZYX", "Spherical", "PX"):
        whole.addJoint(getattr(pin, f"JointModel{part}")(), pin.SE3.Random())
    return whole


PINOCCHIO = {
    **{name: getattr(pin, f"JointModel{name}") for name in ("RX", "RY", "RZ", "RUBX", "RUBY", "RUBZ")},
    **{name: getattr(pin, f"JointModel{name}") for name in ("PX", "PY", "PZ", "Spherical", "SphericalZYX")},
    **{name: getattr(pin, f"JointModel{name}") for name in ("Planar", "Translation", "FreeFlyer")},
    **{name: lambda name=name: getattr(pin, f"JointModel{name}")(0.3) for name in ("HX", "HY", "HZ")},
    "RevoluteUnaligned": lambda: pin.JointModelRevoluteUnaligned(AXIS),
    "RevoluteUnboundedUnaligned": pin.JointModelRevoluteUnboundedUnaligned,
    "PrismaticUnaligned": lambda: pin.JointModelPrismaticUnaligned(AXIS),
    "HelicalUnaligned": lambda: pin.JointModelHelicalUnaligned(AXIS, -0.2),
    "Universal": lambda: pin.JointModelUniversal(AXIS, OTHER),
    "Composite": composite,
}


def between_hinges(joint_model):
    """Return Pinocchio's model of a chain whose second joint is this one."""
    pin.seed(0)
    model, j = pin.Model(), 0
    for name, each in (("first", pin.JointModelRY()), ("second", joint_model), ("third", pin.JointModelRZ())):
        j = model.addJoint(j, each, pin.SE3.Random(), name)
        model.appendBodyToJoint(j, pin.Inertia.Random(), pin.SE3.Random())
    model.armature = np.linspace(0.1, 0.5, model.nv)
    model.gravity.linear = np.array([1.0, -2.0, 3.0])
    return model


@pytest.mark.parametrize("name", PINOCCHIO)
def test_every_joint_of_pinocchio(name):
    pin_model = between_hinges(PINOCCHIO[name]())
    model = pinocchio_.model(pin_model)
    assert_same_dynamics(model, pin_model)
    np.testing.assert_array_equal(tf.neutral(model), pin.neutral(pin_model))


def test_the_parts_of_a_joint_have_names():
    pin_model = between_hinges(pin.JointModelSphericalZYX())
    model = pinocchio_.model(pin_model)
    assert model.tree.names == pinocchio_.tree(pin_model).names
    assert [joint.name for joint in model.joints[1:4]] == ["second[0]", "second[1]", "second[2]"]
    assert [joint.inertia.mass > 0 for joint in model.joints] == [True, False, False, True, True]


def test_a_pickled_model_of_pinocchio_is_read_as_the_model():
    pin_model = pin.buildSampleModelHumanoid()
    assert_same_model(pinocchio_.model(pickle.loads(pickle.dumps(pin_model))), pinocchio_.model(pin_model))


@given(models(depth_first=True))
def test_there_and_back(model):
    follows = [(joint.mimic.leader, i) for i, joint in enumerate(model.joints) if joint.mimic]
    # Pinocchio 4.1 rejects all other mimic joints, and a helical one crashes it
    assume(all(k < i and model.joints[k].kind != "continuous" for k, i in follows))
    assume(all(model.joints[i].kind != "helical" for _, i in follows))
    twin = in_pinocchio(model)
    assert_same_dynamics(model, twin)
    assert_same_model(pinocchio_.model(twin), model)


def test_a_continuous_joint_follows_a_continuous_one():
    pin_model = pin.Model()
    for name in ("leader", "follower"):
        j = pin_model.addJoint(pin_model.njoints - 1, pin.JointModelRUBY(), pin.SE3.Random(), name)
        pin_model.appendBodyToJoint(j, pin.Inertia.Random(), pin.SE3.Random())
    pin_model = pin.transformJointIntoMimic(pin_model, 1, 2, -1.7, 0.4)
    assert_same_dynamics(pinocchio_.model(pin_model), pin_model)


def test_a_joint_that_follows_with_multiplier_zero_is_refused():
    with pytest.raises(tf.AdapterError, match="follows another joint with multiplier 0"):
        pinocchio_.model(pin.transformJointIntoMimic(between_hinges(pin.JointModelRX()), 1, 3, 0.0, 0.4))


def test_a_joint_without_equivalent_is_named():
    with pytest.raises(tf.AdapterError, match="'second': its type Ellipsoid is not one of") as caught:
        pinocchio_.model(between_hinges(pin.JointModelEllipsoid(1.0, 2.0, 3.0)))
    assert caught.value.joint == "second"


def test_a_body_that_cannot_be_is_named():
    pin_model = between_hinges(pin.JointModelRX())
    pin_model.inertias[2].lever = np.array([np.nan, 0.0, 0.0])
    with pytest.raises(tf.InvalidModelError, match="body of joint 'second': com is not finite"):
        pinocchio_.model(pin_model)


def test_limits_are_pinocchios_where_there_are_any():
    model = pinocchio_.model(pin.buildSampleModelHumanoid())
    assert model.lower[:7].tolist() == [-np.inf] * 7
    assert np.isfinite(model.lower[7:]).all()


def test_impossible_limits_are_named_with_file_and_line_if_strict(write):
    own = joint("j", "a", "b", "revolute").replace('lower="-0.01"', 'lower="5"')
    path = write(link("a") + link("b") + "\n\n" + own)
    said = "line [45]: joint 'j': lower limit 5 is above the upper one, 0.01"
    with pytest.raises(tf.InvalidModelError, match=f"^{path}: {said}$") as caught:
        tf.Model.from_urdf(path, strict=True)
    assert caught.value.joint == "j"
    with pytest.raises(tf.InvalidModelError, match=f"^<string>: {said}$"):
        tf.Model.from_urdf_string(path.read_text(), strict=True)
    model = tf.Model.from_urdf(path)  # as Pinocchio loads it
    assert (model.lower[0], pinocchio_.load(path).lowerPositionLimit[0]) == (5, 5)


@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "planar", "floating"])
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize(
    "limit", ["", '<limit effort="3" velocity="4"/>', '<limit effort="0" velocity="0"/>']
)
def test_limits_of_forces_and_velocities_are_pinocchios(write, kind, floating, limit):
    own = joint("j", "a", "b", kind).split("<limit")[0].removesuffix("</joint>")
    ample = '<limit lower="-1" upper="1" effort="7" velocity="8"/>'
    given = limit or ample if kind in ("revolute", "prismatic") else limit  # Pinocchio needs one of these
    second = joint("k", "b", "c", "revolute").split("<limit")[0].removesuffix("</joint>")
    parts = link("a"), link("b"), link("c"), f"{own}{given}</joint>", f"{second}{ample}</joint>"
    path = write("".join(parts))
    pin_model = pinocchio_.load(path, floating)
    for model in (tf.Model.from_urdf(path, floating), pinocchio_.model(pin_model)):
        for own, theirs in (
            (model.effort_limit, pin_model.effortLimit),
            (model.velocity_limit, pin_model.velocityLimit),
        ):
            np.testing.assert_array_equal(own, np.where(theirs > 1e300, np.inf, theirs))
            assert not own.flags.writeable


# --------------------------------------------------------------------------------------------------- URDFs

ROBOTS = ("panda", "double_pendulum_continuous", "talos_reduced", "baxter", "pybullet_data/cartpole")


def assert_urdf(path, floating, mimic):
    pin_model = pinocchio_.load(path, floating, mimic)
    model = tf.Model.from_urdf(path, floating, mimic)
    assert_same_model(model, pinocchio_.model(pin_model))
    return model, pin_model


@pytest.mark.parametrize("mimic", [False, True], ids=["free", "mimic"])
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", ROBOTS)
def test_a_urdf_is_read_as_pinocchio_does(name, floating, mimic):
    assert_same_dynamics(*assert_urdf(bundled_robot(name), floating, mimic))


@pytest.mark.slow
@pytest.mark.parametrize("name", robots.bundled())
def test_every_bundled_urdf_is_read_as_pinocchio_does(name):
    for floating in (False, True):
        for mimic in (False, True):
            path = robots.find(name).path
            try:
                pinocchio_.load(path, floating, mimic)
            except tf.AdapterError:
                continue
            assert_urdf(path, floating, mimic)


@pytest.mark.parametrize("case", TRAPS)
def test_traps(tmp_path, case):
    path = tmp_path / "robot.urdf"
    path.write_text(TRAPS[case])
    for floating in (False, True):
        assert_same_dynamics(*assert_urdf(path, floating, True))


def test_planar_and_floating_joints(tmp_path):
    path = tmp_path / "robot.urdf"
    parts = [link(name) for name in ("base", "a", "b")]
    path.write_text(urdf(*parts, joint("p", "base", "a", "planar"), joint("f", "a", "b", "floating")))
    assert_same_dynamics(*assert_urdf(path, False, False))


ARM = urdf(link("base"), link("a", 1.5), link("b"), joint("j", "base", "a"), joint("k", "a", "b"))
FOLLOWS = "</joint></robot>", '<mimic joint="j" multiplier="2"/></joint></robot>'
BROKEN = {
    "absent": (None, None, "cannot read it", None),
    "xml": ("<robot", "<<robot", "not well-formed", None),
    "mass": ('value="1.5"', 'value="-1.5"', "link 'a' has a negative mass", "a"),
    "limit": ('lower="-0.01"', 'lower="low"', "joint '[jk]': <limit lower='low'> is not a number", None),
    "type": ('"revolute"', '"elastic"', "joint 'j' has type 'elastic', which is not one of", "j"),
    "nobody": (
        FOLLOWS[0],
        FOLLOWS[1].replace('"j"', '"x"'),
        "joint 'k' follows 'x', which is not a joint",
        "k",
    ),
    "no leader": (FOLLOWS[0], FOLLOWS[1].replace('joint="j"', ""), "joint 'k' follows ''", "k"),
    "itself": (FOLLOWS[0], FOLLOWS[1].replace('"j"', '"k"'), "joint 'k' follows joint 2", "k"),
    "multiplier": (FOLLOWS[0], FOLLOWS[1].replace('"2"', '"two"'), "<mimic multiplier='two'> is not", "k"),
    "name": ('joint name="k"', 'joint name="root_joint"', "two joints are called 'root_joint'", "root_joint"),
    "triangle": ('ixx="0.02"', 'ixx="0.2"', "body of joint .* triangle inequality", None),
}


@pytest.mark.parametrize(("old", "new", "reason", "name"), BROKEN.values(), ids=BROKEN)
def test_what_is_wrong_is_named_with_its_file(tmp_path, old, new, reason, name):
    path = tmp_path / "robot.urdf"
    if old:
        assert old in ARM
        path.write_text(ARM.replace(old, new))
    with pytest.raises(tf.TreefactorError, match=f"robot.urdf: .*{reason}") as caught:
        tf.Model.from_urdf(path, floating=True, mimic=True, strict=True)
    assert name in (None, caught.value.joint)


def test_impossible_inertias_of_files_are_named(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(ARM.replace('ixx="0.02"', 'ixx="0.2"'))
    assert set(tf.Model.from_urdf(path).faults()) == {"j", "k"}


# ------------------------------------------------------------------------------------- MuJoCo and PyBullet


def assert_is_body(adapter, body, model):
    """Assert that H and bias of a model are those of an engine's body."""
    q, v, a = state(model)
    assert model.tree == adapter.tree(body)
    T, c = adapter.transform(body, model, q), adapter.acceleration_offset(body, model, q, v)
    mine = adapter.from_pinocchio(body, model, q, v)
    H = dynamics.crba(model, q)
    own = adapter.mass_matrix(body, mine[0])
    np.testing.assert_allclose(T.T @ H @ T, own, atol=TOLERANCE * np.abs(own).max())
    bias = T.T @ (dynamics.rnea(model, q, v, 0.0 * a) + H @ c)
    scale = max(np.abs(bias).max(), np.abs(own).max())
    np.testing.assert_allclose(bias, adapter.bias(body, *mine), atol=TOLERANCE * scale)


@pytest.mark.parametrize("name", ["panda", "solo12", "talos_reduced"])
@pytest.mark.parametrize("which", ["mujoco", "pybullet"])
def test_an_engines_body(which, name):
    adapter = engine(which)
    robot = robots.find(name)
    with adapter.load(robot.path, robot.floating) as body:
        model = adapter.model(body)
        assert_is_body(adapter, body, model)
        reference = tf.Model.from_urdf(robot.path, robot.floating)
        total = sum(joint.inertia.mass for joint in reference.joints)
        np.testing.assert_allclose(sum(joint.inertia.mass for joint in model.joints), total)


@pytest.mark.slow
@pytest.mark.parametrize("robot", robots.default_robots(), ids=lambda robot: robot.name)
@pytest.mark.parametrize("which", ["mujoco", "pybullet"])
def test_default_robots(which, robot):
    adapter = engine(which)
    with adapter.load(robot.path, robot.floating) as body:
        assert_is_body(adapter, body, adapter.model(body))


MJCF = """
<mujoco><compiler angle="radian"/><option gravity="1 2 -3"/><worldbody>
  <body pos=".1 .2 .3" euler=".3 .2 .1"><geom size=".1" mass="1"/>
    <body name="a" pos=".3 .1 .2" euler=".5 .1 -.3">
      <inertial pos=".1 .2 .3" mass="2" fullinertia=".3 .4 .35 .02 -.03 .05"/>
      <joint name="turn" axis="0 .6 .8" pos=".1 -.2 .3" ref=".7" armature=".2" range="-1 2" limited="true"
        actuatorfrcrange="-3 5" actuatorfrclimited="true"/>
      <joint name="slide" type="slide" axis=".6 0 .8" pos=".3 .2 .1" ref=".4"/>
      <joint axis="1 0 0" pos="-.1 0 .3" ref="-.3"/>
      <body pos=".2 .3 -.1" euler=".1 .9 .2"><geom size=".1 .2 .3" type="box" mass="1.5"/>
        <body pos=".1 .1 .1" euler="1 .2 .3">
          <joint type="ball" pos=".1 .2 -.3" name="ball" armature=".1"/>
          <geom size=".1 .2 .3" type="box" mass=".5" pos=".3 0 .1"/>
          <body pos=".1 .4 .1"><joint name="driven" pos=".1 0 .1" axis="0 1 0"/>
            <geom size=".1 .2 .3" type="box" mass=".7" pos=".3 0 .1"/></body></body></body></body></body>
  <body name="free" pos="1 2 3" euler=".3 .2 .8"><freejoint/><geom size=".1" mass=".7" pos=".3 0 .1"/>
    <body pos=".1 .4 .1"><joint name="last" pos=".1 0 .1" axis="0 1 0" ref="1"/>
      <geom size=".1 .2 .3" type="box" mass=".7" pos=".3 0 .1"/></body></body>
</worldbody></mujoco>"""


def test_mujocos_joints_with_anchors_and_references():
    adapter = engine("mujoco")
    mj_model = adapter.mujoco.MjModel.from_xml_string(MJCF)
    model = adapter.model(mj_model)
    names = ["turn", "slide", "aJoint_2", "ball", "driven", "free_free", "last"]
    assert [joint.name for joint in model.joints] == names
    assert (model.lower[0], model.upper[0], model.lower[1]) == (-1, 2, -np.inf)
    assert model.effort_limit.tolist() == [5.0] + [np.inf] * (model.nv - 1)
    assert np.isinf(model.velocity_limit).all()
    np.testing.assert_allclose(model.gravity, [1, 2, -3])
    np.testing.assert_allclose(model.armature[:7], [0.2, 0, 0, 0.1, 0.1, 0.1, 0])
    assert_is_body(adapter, adapter.Body(mj_model), model)


def test_armature_of_tendons_is_refused():
    adapter = engine("mujoco")
    text = MJCF.replace(
        "</worldbody>",
        '</worldbody><tendon><fixed name="t" armature="1"><joint joint="driven" coef="1"/></fixed></tendon>',
    )
    with pytest.raises(tf.AdapterError, match="'t' has armature"):
        adapter.model(adapter.mujoco.MjModel.from_xml_string(text))


def test_a_spherical_joint_of_pybullet(tmp_path):
    adapter = engine("pybullet")
    path = tmp_path / "robot.urdf"
    links = link("base"), link("welded"), link("a"), link("b")
    joints = (
        joint("w", "base", "welded", "fixed"),
        joint("s", "welded", "a", "spherical"),
        joint("p", "a", "b", "prismatic"),
    )
    path.write_text(urdf(*links, *joints))
    for floating in (False, True):
        with adapter.load(path, floating, (1.0, 2.0, 3.0), frozenset(adapter.OPTIONS)) as body:
            model = adapter.model(body)
            assert_is_body(adapter, body, model)
            np.testing.assert_allclose(model.gravity, [1, 2, 3])
            reference = tf.Model.from_urdf(path, floating)
            for one, other in zip(model.joints, reference.joints, strict=True):
                np.testing.assert_allclose(one.R, other.R, atol=1e-12)
                np.testing.assert_allclose(one.p, other.p, atol=1e-12)
