"""Test messages about robots: text, paths and xacro files, and objects of Pinocchio and MuJoCo."""

import contextlib
from pathlib import Path

import numpy as np
import pytest
from helpers.message_cases import ARM, URDF, Q, V, call_with, functions_of

import treefactor as tf
from treefactor.exceptions import ShapeError

# ------------------------------------------------------------------------------------ descriptions of robots


def test_text_is_read_by_from_urdf_string(tmp_path):
    path, text = tmp_path / "r.urdf", URDF.format(name="r")
    path.write_text(text)
    for floating in (False, True):
        one, other = tf.Model.from_urdf(path, floating), tf.Model.from_urdf_string(text, floating)
        q = tf.random_configuration(one, 0)
        assert (one.name, one.tree, one.numbers) == (other.name, other.tree, other.numbers)
        np.testing.assert_array_equal(tf.crba(one, q), tf.crba(other, q))
    assert tf.Model.from_urdf_string(f"\ufeff\n  {text}").name == "r"


@pytest.mark.parametrize("text", [URDF.format(name="r"), f"\n {URDF}", URDF.encode(), "<robot"])
def test_text_in_the_place_of_a_path(text):
    with pytest.raises(tf.AdapterError, match=r"path must be .* got the text of a robot.*from_urdf_string"):
        tf.Model.from_urdf(text)


def test_a_path_in_the_place_of_text():
    with pytest.raises(tf.AdapterError, match=r"got 'arm\.urdf': Model\.from_urdf\(path\)"):
        tf.Model.from_urdf_string("arm.urdf")
    for value in (None, 3, Path("arm.urdf"), b"<robot/>"):
        with pytest.raises(tf.AdapterError, match=f"text must be a str .*, got {type(value).__name__}"):
            tf.Model.from_urdf_string(value)
    with pytest.raises(tf.AdapterError, match="path must be that of a file, got NoneType"):
        tf.Model.from_urdf(None)


def robot_of(links, *joints):
    """Return a URDF with links and joints that are called by letters, and by those of both links."""
    ends = '<parent link="{}"/><child link="{}"/>'
    parts = [f'<link name="{name}"/>' for name in links]
    parts += [f'<joint name="{x}" type="fixed">{ends.format(*x)}</joint>' for x in joints if x]
    return f'<robot name="r">{"".join(parts)}</robot>'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<robot", "<string>: not well-formed XML"),
        ("<mujoco/>", "<string>: not a URDF: the root element is <mujoco>, .*treefactor.adapters.mujoco_"),
        ("<robot name='r'/>", "<string>: a URDF has one root link"),
        (
            robot_of("ab", ""),
            "line 1: a URDF has one root link, this one has 2: a, b; connect them by joints",
        ),
        (robot_of("ab", "ab", "ba"), "has 0: every link is the child of a joint, so joints form a circle"),
        (
            robot_of("abc", "ac", "bc"),
            "line 1: link 'c' has two parent joints, 'ac' and 'bc': .* closed loop",
        ),
        (robot_of("ab", "ac"), "line 1: joint 'ac' joins 'a' to 'c', but 'c' is not a link"),
    ],
)
def test_errors_in_text(text, why):
    with pytest.raises(tf.AdapterError, match=why):
        tf.Model.from_urdf_string(text)


XACRO = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
XACROS = {
    "macro": f"<robot name='r' {XACRO}><xacro:macro name='m' params='x'/></robot>",
    "undeclared": "<robot name='r'><xacro:include filename='x.xacro'/></robot>",
    "deep": f"<robot name='r' {XACRO}><link name='a'><xacro:m/></link></robot>",
}


@pytest.mark.parametrize("text", XACROS.values(), ids=XACROS)
def test_xacro_is_to_be_run_first(text, tmp_path):
    path = tmp_path / "r.urdf.xacro"
    path.write_text(text)
    with pytest.raises(
        tf.AdapterError, match=r"r\.urdf\.xacro: .*xacro.*run `xacro FILE > robot\.urdf` first"
    ):
        tf.Model.from_urdf(path)
    with pytest.raises(tf.AdapterError, match=r"<string>: .*xacro"):
        tf.Model.from_urdf_string(text)


def test_what_xacro_has_written_is_read():
    text = URDF.format(name="r").replace("<robot ", f"<robot {XACRO} ")
    assert tf.Model.from_urdf_string(text).nv == 1


ENGINES = ["pinocchio", "mujoco", "pybullet", "drake"]


def loader(engine):
    try:
        return __import__(f"treefactor.adapters.{engine}_", fromlist=["load"]).load
    except tf.AdapterError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_explains_wrong_paths(engine, tmp_path):
    load = loader(engine)
    path = tmp_path / "r.urdf"
    path.write_text(XACROS["macro"])
    for wrong, why in ((URDF, "from_urdf_string"), (None, "got NoneType"), (path, "run `xacro")):
        with pytest.raises(tf.AdapterError, match=why) as caught:
            load(wrong)
        assert caught.value.engine == engine


# -------------------------------------------------------------------------------------- objects of Pinocchio


@pytest.fixture
def pin():
    return pytest.importorskip("pinocchio", reason="its objects are passed")


def test_functions_of_pinocchios_models_take_nothing_else(pin):
    from treefactor.adapters import pinocchio_ as adapter

    theirs = pin.buildSampleModelManipulator()
    data = theirs.createData()
    calls = {
        "model": adapter.model,
        "tree": adapter.tree,
        "mass_matrix": lambda model: adapter.mass_matrix(model, data, pin.neutral(theirs)),
        "massless_joints": adapter.massless_joints,
        "Accelerator": lambda model: adapter.Accelerator(model, data),
        "leading": lambda model: adapter.leading(model, {}),
        "coupling": lambda model: adapter.coupling(model, {}),
        "constraints": lambda model: adapter.constraints(model, {}),
        "coupled_configuration": lambda model: adapter.coupled_configuration(model, {}, [0.0]),
    }
    wrong = {
        "x.urdf": r"got str: load a file with pinocchio_\.load\(path\)",
        data: r"got pinocchio\.Data: pass the model that made this data",
        ARM: r"got Model: a treefactor\.Model needs no translation",
        None: "got NoneType$",
    }
    for name, call in calls.items():
        for value, why in wrong.items():
            with pytest.raises(TypeError, match=rf"must be a pinocchio\.Model, {why}"):
                call(value)
            assert call(theirs) is not None, name


@pytest.mark.parametrize("kind", ["Model", "Data"])
@pytest.mark.parametrize(("function", "at"), list(functions_of("model")))
def test_pinocchios_objects_are_translated(pin, function, at, kind):
    model = pin.buildSampleModelManipulator()
    given = model if kind == "Model" else model.createData()
    with pytest.raises(
        TypeError, match=rf"got pinocchio\.{kind}: make one with treefactor\.adapters\.pinocchio_"
    ):
        call_with(function, at, given)


def test_an_accelerator_before_crba(pin):
    from treefactor.adapters.pinocchio_ import Accelerator

    model = pin.buildSampleModelManipulator()
    data = model.createData()
    accelerator = Accelerator(model, data)
    with pytest.raises(
        tf.NotPositiveDefiniteError, match=r"data\.M is all zero: call pinocchio\.crba\(model, data, q\)"
    ):
        accelerator.factor()
    pin.crba(model, data, pin.neutral(model))
    assert np.isfinite(accelerator.factor().solve(np.ones(model.nv))).all()


def test_an_accelerator_of_other_things(pin):
    from treefactor.adapters.pinocchio_ import Accelerator

    model, other = pin.buildSampleModelManipulator(), pin.buildSampleModelHumanoid()
    with pytest.raises(
        TypeError, match=r"data must be a pinocchio\.Data, got pinocchio\.Model: .*createData"
    ):
        Accelerator(model, model)
    with pytest.raises(ShapeError, match=r"data\.M must have shape .* data is of another model"):
        Accelerator(model, other.createData())


def test_pinocchios_forces(pin):
    forces = pin.StdVec_Force()
    forces.extend([pin.Force.Zero() for _ in range(4)])
    with pytest.raises((tf.DtypeError, ShapeError), match=r"^fext must"):
        tf.bias(ARM, Q, V, forces)


def test_bodies_of_pinocchios_models_have_their_names(pin, tmp_path):
    from treefactor.adapters import pinocchio_

    path = tmp_path / "r.urdf"
    path.write_text(URDF.format(name="r"))
    assert pinocchio_.model(pinocchio_.load(path)).numbers == {"rod": 0, "hinge": 0}


def test_mujocos_accelerator():
    mujoco = pytest.importorskip("mujoco", reason="its objects are passed")
    from treefactor.adapters import mujoco_

    text = "<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>"
    model = mujoco.MjModel.from_xml_string(text)
    with pytest.raises(TypeError, match=r"data must be a mujoco\.MjData, got mujoco\.MjModel"):
        mujoco_.Accelerator(model, model)
    with pytest.raises(TypeError, match=r"source must be a mujoco\.MjModel .*, got str: load a file"):
        mujoco_.model("r.urdf")
    with pytest.raises(tf.NotPositiveDefiniteError, match=r"call mujoco\.mj_forward\(model, data\)"):
        mujoco_.Accelerator(model, mujoco.MjData(model)).factor()


# ---------------------------------------------------------------------------------- objects of other engines


def test_an_object_of_another_engine_is_sent_to_its_adapter(pin):
    mujoco = pytest.importorskip("mujoco", reason="its objects are passed")
    from treefactor.adapters import mujoco_, pinocchio_

    theirs, own = pin.buildSampleModelManipulator(), mujoco.MjModel.from_xml_string("<mujoco/>")
    body = mujoco_.Body(own)
    ours = pinocchio_.model(theirs)
    objects = {
        "mujoco_.model(model) takes it": own,
        "mujoco_.model(model) takes the model of this data": mujoco.MjData(own),
        r"mujoco_.model(spec.compile()) takes it": mujoco.MjSpec(),
        "pinocchio_.model(model) takes it": theirs,
        "pinocchio_.model(model) takes the model of this data": theirs.createData(),
        "it is for treefactor.adapters.mujoco_": body,
        "a treefactor.Model needs no translation": ours,
    }
    taken = {
        pinocchio_.model: (theirs,),
        pinocchio_.tree: (theirs,),
        mujoco_.model: (own, body),
        mujoco_.Body: (own,),
        lambda model: mujoco_.Accelerator(model, mujoco.MjData(own)): (own,),
    }
    for name in ("drake", "pybullet"):
        with contextlib.suppress(tf.AdapterError):
            adapter = __import__(f"treefactor.adapters.{name}_", fromlist=["Body"])
            taken[adapter.Body if name == "drake" else adapter.model] = ()
    for function, kinds in taken.items():
        for advice, value in objects.items():
            if any(value is one for one in kinds):
                continue
            with pytest.raises(TypeError, match="must be a ") as caught:
                function(value)
            other = "pass the model that made this data"  # of the same engine
            assert str(caught.value).endswith((advice, other)), function
    for function in taken:
        with pytest.raises(TypeError, match=r"got str: .*_\.load\(path\)|must be a mujoco.MjModel, got str"):
            function("panda.urdf")
