"""Test messages about models, trees, names of bodies and joints, and the wording of all messages."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from helpers.message_cases import ARM, JOINTS, ROD, URDF, Model, Q, V, Y, Z, call_with, foreign, functions_of

import treefactor as tf
from treefactor import codegen, constraints, mechanisms
from treefactor.constraints import Contact, Plane, Sphere, Stepper, box, contacts_between
from treefactor.exceptions import CodegenError, InvalidModelError

ROOT = Path(tf.__file__).parents[1]
GROUND = Plane(point=[0, 0, -9])


# ---------------------------------------------------------- something else in the place of a model or a tree


NO_MODELS = {
    "None": (None, "got NoneType"),
    "list": ([], "got list"),
    "file": ("arm.urdf", r"got str: .*Model\.from_urdf\(path\)"),
    "path": (Path("arm.urdf"), r"got \w*Path: .*Model\.from_urdf\(path\)"),
    "text": ("\n <robot/>", r"got str: .*Model\.from_urdf_string\(text\)"),
    "tree": (ARM.tree, "got Tree: a tree has no masses"),
    "mechanism": (mechanisms.four_bar(), "got Mechanism: pass its attribute model"),
    "class of that name": (Model(), "got Model$"),
    "pinocchio.Model": (
        foreign("pinocchio", "Model"),
        r"got pinocchio\.Model: .*adapters\.pinocchio_\.model\(model\)",
    ),
    "pinocchio.Data": (
        foreign("pinocchio", "Data"),
        r"got pinocchio\.Data: .*adapters\.pinocchio_\.model\(model\)",
    ),
    "mujoco.MjModel": (
        foreign("mujoco", "MjModel"),
        r"got mujoco\.MjModel: .*adapters\.mujoco_\.model\(model\)",
    ),
    "mujoco.MjData": (
        foreign("mujoco", "MjData"),
        r"got mujoco\.MjData: .*adapters\.mujoco_\.model\(model\)",
    ),
}


@pytest.mark.parametrize(("function", "at"), list(functions_of("model")))
def test_messages_of_every_function_show_how_to_make_a_model(function, at):
    for value, why in NO_MODELS.values():
        if value is None and inspect.signature(function).parameters["model"].default is None:
            assert function(*[()] * at, model=None) == []
            continue
        with pytest.raises(TypeError, match=rf"^model must be a treefactor\.Model, {why}"):
            call_with(function, at, value)


def test_functions_of_a_model_are_found():
    assert len(list(functions_of("model"))) > 18


def test_compile_takes_a_model_or_a_program():
    with pytest.raises(
        TypeError, match=r"^model_or_program must be .* or treefactor\.Program, got str: .*urdf"
    ):
        tf.compile("arm.urdf")
    with pytest.raises(CodegenError, match="tips= needs a Model"):
        tf.compile(tf.generate(ARM, "crba"), tips="wrist")
    with pytest.raises(
        CodegenError, match=r"not have the function 'rnae'; did you mean 'rnea'.*; it has crba"
    ):
        tf.compile(tf.generate(ARM, "crba"), "rnae")


NO_TREES = {
    "None": (None, "got NoneType$"),
    "parents": ([-1, 0], r"got list: treefactor\.Tree\(parent\)"),
    "model": (ARM, "got Model: pass its attribute tree"),
    "pinocchio.Model": (foreign("pinocchio", "Model"), r"adapters\.pinocchio_\.tree\(model\)"),
}


@pytest.mark.parametrize(("value", "why"), NO_TREES.values(), ids=NO_TREES)
@pytest.mark.parametrize(("function", "at"), list(functions_of("tree")))
def test_messages_of_every_function_show_how_to_make_a_tree(function, at, value, why):
    with pytest.raises(TypeError, match=rf"^tree must be a treefactor\.Tree, .*{why}"):
        call_with(function, at, value)


# --------------------------------------------------------------------------------- names in place of numbers


NAMED = {  # calls with a body, by the number and by names of which each counts
    "joint": lambda body: tf.joint_jacobian(ARM, Q, body),
    "sphere": lambda body: Stepper(ARM, [Contact(Sphere(body, Z), GROUND, mu=0.5)]).step(Q, V).gap,
    "plane": lambda body: Stepper(ARM, [Contact(Sphere(-1, Z), Plane(body))]).step(Q, V).gap,
    "box": lambda body: Stepper(ARM, contacts_between(box(body, [1, 1, 1]), [GROUND])).step(Q, V).gap,
    "loop": lambda body: constraints.loop_rows(
        tf.Model(JOINTS, loops=[tf.Loop("rope", "spherical", body, "shoulder")]), Q
    ).dense(),
    "parent": lambda body: tf.crba(
        tf.Model([*JOINTS, tf.Joint("finger", "revolute", body, axis=Y, inertia=ROD)]), np.append(Q, 0.3)
    ),
    "tips": lambda body: tf.compile(ARM, "jacobian", tips=[body]).jacobian(Q),
    "generate": lambda body: tf.compile(tf.generate(ARM, "delassus", body)).delassus(Q),
}


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize(("number", "names"), [(1, ("elbow", "forearm")), (2, ("wrist", "hand"))])
def test_names_are_as_good_as_numbers(name, number, names):
    for one in names:
        np.testing.assert_array_equal(NAMED[name](one), NAMED[name](number))


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize(
    ("wrong", "nearest"), [("elbo", "'elbow'"), ("Wrist", "'wrist'"), ("fore_arm", "'forearm'"), ("xyz", "")]
)
def test_unknown_names_raise_with_the_nearest_ones(name, wrong, nearest):
    with pytest.raises((InvalidModelError, CodegenError)) as caught:
        NAMED[name](wrong)
    assert re.search(rf"'{wrong}' is not a (frame, )?joint or body of (arm|the model)", str(caught.value))
    assert ("did you mean" in str(caught.value)) == bool(nearest)
    assert nearest in str(caught.value)


def test_leaders_are_named():
    follower = tf.Joint("finger", "revolute", 2, axis=Y, mimic=tf.Mimic("forearm", 2.0))
    model = tf.Model([*JOINTS, follower])
    assert (model.joints[3].mimic.leader, model.idx_v[3]) == (1, 1)
    with pytest.raises(InvalidModelError, match=r"'finger' follows another: 'elbw' .* did you mean 'elbow'"):
        tf.Model([*JOINTS, tf.Joint("finger", "revolute", 2, axis=Y, mimic=tf.Mimic("elbw"))])


def test_a_name_and_a_number_of_one_body_do_not_touch():
    contact = Contact(Sphere("hand"), Plane(2))
    with pytest.raises(InvalidModelError, match=r"contact 0: both sides are on body 2, .* 2 and 'hand'"):
        Stepper(ARM, [contact])


def test_bodies_of_one_name_are_refused():
    with pytest.raises(InvalidModelError, match="two bodies are called 'hand'"):
        tf.Model([*JOINTS, tf.Joint("finger", "revolute", 2, axis=Y, body="hand")])
    with pytest.raises(InvalidModelError, match="'finger': body must be a name, got 3"):
        tf.Joint("finger", "revolute", axis=Y, body=3)


def test_links_of_a_urdf_are_bodies():
    model = tf.Model.from_urdf_string(URDF.format(name="r"), floating=True)
    assert [joint.body for joint in model.joints] == ["base", "rod"]
    assert model.numbers == {"base": 0, "root_joint": 0, "rod": 1, "hinge": 1}


@pytest.mark.parametrize("tip", [-1, 3, 1.5, None])
def test_tips_that_are_not_joints(tip):
    with pytest.raises(CodegenError, match="tips"):
        tf.generate(ARM, "jacobian", [tip])


@pytest.mark.parametrize("name", ["jacobian", "delassus"])
@pytest.mark.parametrize("make", [tf.generate, tf.compile, codegen.verify])
def test_functions_of_tips_need_tips(make, name):
    with pytest.raises(CodegenError, match=rf"'{name}' needs tips=.*--tips"):
        make(ARM, ["crba", name])


# ---------------------------------------------------------------------------------------------------- joints


@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "helical"])
def test_joints_need_their_axis(kind):
    with pytest.raises(InvalidModelError, match=rf"'a': a {kind} joint needs an axis: .* axis=\[0, 0, 1\]"):
        tf.Joint("a", kind)


def test_universal_joints_need_two_axes():
    with pytest.raises(InvalidModelError, match=r"needs an axis: two unit vectors, .*\[\[1, 0, 0\]"):
        tf.Joint("a", "universal")


def test_kinds_of_joints_are_proposed():
    with pytest.raises(InvalidModelError, match=r"'knee' is not a kind of joint; there are revolute"):
        tf.Joint("a", "knee")
    with pytest.raises(InvalidModelError, match=r"'Revolute' is not .*; did you mean 'revolute'"):
        tf.Joint("a", "Revolute")


# --------------------------------------------------------------------------------------------------- wording


SOURCES = [path for folder in ("treefactor", "adapters") for path in (ROOT / folder).rglob("*.py*")]


def test_messages_use_is_not_a():
    messages = [
        f"{path.name}: {line.strip()}"
        for path in SOURCES
        if path.suffix in (".py", ".pyx")
        for line in path.read_text(encoding="utf-8").splitlines()
        if ("rror(" in line or 'f"' in line or "reason" in line)
        and re.search(r"\bis no (?!longer|more)|\bis none\b", line)
    ]
    assert messages == []
