"""Error messages say what was expected, what was received, which argument, and what to do."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import treefactor as tf
from treefactor import codegen, constraints, mechanisms
from treefactor.constraints import Contact, Plane, Sphere, Stepper, box, contacts_between
from treefactor.exceptions import CodegenError, InvalidModelError, ShapeError

ROOT = Path(tf.__file__).parents[1]
ROD = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
Y, Z = [0, 1, 0], [0, 0, -1.0]
JOINTS = [
    tf.Joint("shoulder", "revolute", axis=Y, inertia=ROD, body="upper_arm"),
    tf.Joint("elbow", "revolute", 0, p=Z, axis=Y, inertia=ROD, body="forearm"),
    tf.Joint("wrist", "spherical", 1, p=Z, inertia=tf.Inertia(1.0, tensor=np.eye(3)), body="hand"),
]
ARM = tf.Model(JOINTS, name="arm")
Q, V = tf.neutral(ARM), np.zeros(ARM.nv)
GROUND = Plane(point=[0, 0, -9])
URDF = """<?xml version="1.0" encoding="utf-8"?>
<robot name="{name}"><link name="base"/><link name="rod"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/></joint></robot>"""


# --------------------------------------------------------- something else in the place of a model or a tree


def functions_of(parameter):
    """Yield public functions and classes with an argument of that name, and its position."""
    for module in (tf, constraints, codegen):
        for name in module.__all__ if hasattr(module, "__all__") else ("generate", "compile", "verify"):
            found = getattr(module, name)
            if not callable(found) or (inspect.isclass(found) and issubclass(found, Exception)):
                continue
            names = list(inspect.signature(found).parameters)
            if parameter in names and found not in (tf.Kernels, tf.Program):
                yield pytest.param(found, names.index(parameter), id=f"{module.__name__}.{name}")


def call_with(function, at, value):
    """Call a function with a value in one place and plausible arguments before it."""
    before = {"function": tf.crba, "H": np.eye(2), "J": np.eye(2), "model": ARM, "layout": "dense"}
    names = list(inspect.signature(function).parameters.values())
    arguments = [before.get(one.name, V) for one in names[:at]] + [value]
    rest = [one for one in names[at + 1 :] if one.default is one.empty and one.kind != one.VAR_POSITIONAL]
    given = {one.name: V for one in rest if one.kind == one.KEYWORD_ONLY}
    function(*arguments, *[V for one in rest if one.kind != one.KEYWORD_ONLY], **given)


class Model:
    """Imitate an engine's class: same name, another package."""


def foreign(package, name):
    """Return an object whose class has an engine's name and module."""
    return type(name, (), {"__module__": f"{package}.core"})()


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


@pytest.mark.parametrize(("value", "why"), NO_MODELS.values(), ids=NO_MODELS)
@pytest.mark.parametrize(("function", "at"), list(functions_of("model")))
def test_every_function_says_how_to_make_a_model(function, at, value, why):
    if value is None and inspect.signature(function).parameters["model"].default is None:
        assert function(*[()] * at, model=None) == []
        return
    with pytest.raises(TypeError, match=rf"^model must be a treefactor\.Model, {why}"):
        call_with(function, at, value)


def test_functions_of_a_model_are_found():
    assert len(list(functions_of("model"))) > 18


def test_compile_takes_a_model_or_a_program():
    with pytest.raises(TypeError, match=r"^model_or_program must be .*Model, got str: .* or a Program"):
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
def test_every_function_says_how_to_make_a_tree(function, at, value, why):
    with pytest.raises(TypeError, match=rf"^tree must be a treefactor\.Tree, .*{why}"):
        call_with(function, at, value)


# ----------------------------------------------------------------------------- names in place of numbers


NAMED = {  # calls with a body, by the number and by names of which each counts
    "placement": lambda body: np.concatenate([x.ravel() for x in constraints.placement(ARM, Q, body, p=Z)]),
    "jacobian": lambda body: constraints.jacobian(ARM, Q, body),
    "acceleration_bias": lambda body: constraints.acceleration_bias(ARM, Q, V + 1.0, body),
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
    assert re.search(rf"'{wrong}' is not a joint or body of (arm|the model)", str(caught.value))
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
def test_tips_that_are_no_joints(tip):
    with pytest.raises(CodegenError, match="tips"):
        tf.generate(ARM, "jacobian", [tip])


@pytest.mark.parametrize("name", ["jacobian", "delassus"])
@pytest.mark.parametrize("make", [tf.generate, tf.compile, codegen.verify])
def test_functions_of_tips_need_tips(make, name):
    with pytest.raises(CodegenError, match=rf"'{name}' needs tips=.*--tips"):
        make(ARM, ["crba", name])


# ------------------------------------------------------------------------------------------- joints


@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "helical"])
def test_joints_need_their_axis(kind):
    with pytest.raises(InvalidModelError, match=rf"'a': a {kind} joint needs an axis: .* axis=\[0, 0, 1\]"):
        tf.Joint("a", kind)


def test_universal_joints_need_two_axes():
    with pytest.raises(InvalidModelError, match=r"needs an axis: two unit vectors, .*\[\[1, 0, 0\]"):
        tf.Joint("a", "universal")


def test_kinds_of_joints_are_proposed():
    with pytest.raises(InvalidModelError, match=r"'hinge' is not a kind of joint; there are revolute"):
        tf.Joint("a", "hinge")
    with pytest.raises(InvalidModelError, match=r"'Revolute' is not .*; did you mean 'revolute'"):
        tf.Joint("a", "Revolute")


# --------------------------------------------------------------------------------------------- bind


CALLS = {
    tf.crba: "q",
    tf.rnea: "q v a",
    tf.joint_forces: "q v a",
    tf.base_force: "q v a",
    tf.bias: "q v",
    tf.h_times: "q x",
    tf.aba: "q v tau",
    tf.forward_dynamics: "q v tau",
}
KERNELS = tf.compile(ARM, ["crba", "rnea", "bias", "aba", "forward_dynamics", "joint_forces", "base_force"])
SHAPES = {tf.crba: (ARM.nv, ARM.nv), tf.joint_forces: (ARM.njoints, 6), tf.base_force: (6,)}


def bound(function, program, **changes):
    """Bind a call with valid arguments except for the changes."""
    names = CALLS[function].split()
    good = {name: Q.copy() if name == "q" else V.copy() for name in names}
    good["out"] = np.empty(SHAPES.get(function, (ARM.nv,)))
    given = good | {name: change(good[name]) for name, change in changes.items() if name in good}
    arguments = [given[name] for name in names]
    if program:
        return KERNELS.bind(function.__name__, *arguments, out=given["out"])
    return tf.bind(function, ARM, *arguments, out=given["out"])


def spread(x):
    """Return the same numbers with gaps between them."""
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]))[..., ::2]
    wide[...] = x
    return wide


def shifted(x):
    """Return the same numbers at an address that is not a multiple of eight."""
    room = np.zeros(x.nbytes + 1, np.uint8)[1:]
    return np.ndarray(x.shape, float, room)


UNBOUND = {
    "float32": (lambda x: x.astype(np.float32), r"contiguous .* float64 to be bound, got float32: .*astype"),
    "integers": (lambda x: x.astype(int), "got int64"),
    "list": (lambda x: x.tolist(), r"got list: bind an array made by np\.array"),
    "strided": (spread, r"got strides .*: bind np\.ascontiguousarray"),
    "shape": (lambda x: x[..., 1:].copy(), r"have shape .* to be bound, got"),
    "unaligned": (shifted, r"not aligned: bind"),
}


@pytest.mark.parametrize(("change", "why"), UNBOUND.values(), ids=UNBOUND)
@pytest.mark.parametrize(
    ("function", "program"),
    [
        pytest.param(function, program, id=f"{function.__name__}-{'program' if program else 'recursion'}")
        for function in CALLS
        for program in (False, True)
        if not (program and function is tf.h_times)  # which is not generated
    ],
)
def test_arrays_that_cannot_be_bound_are_named(function, program, change, why):
    bound(function, program)()
    for name in (*CALLS[function].split(), "out"):
        with pytest.raises(ValueError, match=rf"^{name} must .*{why}"):
            bound(function, program, **{name: change})


def test_results_that_cannot_be_bound():
    x = np.zeros(ARM.nv)
    with pytest.raises(ValueError, match=r"^out shares memory with v"):
        tf.bind(tf.bias, ARM, Q, x, out=x)
    x.flags.writeable = False
    with pytest.raises(ValueError, match=r"^out is read-only"):
        tf.bind(tf.bias, ARM, Q, V, out=x)
    with pytest.raises(ValueError, match="takes 3 arrays after the model: q, v, tau; got 2"):
        tf.bind(tf.aba, ARM, Q, V, out=np.empty(ARM.nv))
    with pytest.raises(ValueError, match=r"^function must be one of crba, .* to be bound, got"):
        tf.bind(print, ARM, Q, out=np.empty(ARM.nv))


@pytest.mark.parametrize(
    ("H", "why"), [(np.eye(2, dtype=np.float32), "dtype float32"), ([[1.0, 0.0], [0.0, 1.0]], "list")]
)
def test_matrices_that_cannot_be_bound(H, why):
    with pytest.raises(
        tf.DtypeError, match=f"^H must be an aligned NumPy array of float64 to be bound, got {why}"
    ):
        tf.BoundFactor(H, tf.Tree([-1, 0]))


def test_a_bound_matrix_that_nobody_has_written():
    f = tf.BoundFactor(np.zeros((2, 2)), tf.Tree([-1, 0], ["a", "b"]))
    with pytest.raises(tf.NotPositiveDefiniteError, match="all zero: write H into it") as caught:
        f.factor()
    assert caught.value.name == "b"


# ------------------------------------------------------------------------------------------- forces


@pytest.mark.parametrize("lead", [(), (4,)])
@pytest.mark.parametrize(
    "function", [tf.rnea, tf.bias, tf.aba, tf.joint_forces, tf.forward_dynamics, constraints.forward_dynamics]
)
def test_pinocchios_universe_has_no_force(function, lead):
    takes = len(CALLS.get(function, "q v tau").split()) - 1
    fext = np.zeros((*lead, ARM.njoints + 1, 6))
    with pytest.raises(
        ShapeError, match=r"^fext must have shape .* leave out Pinocchio's universe, fext\[\.\.\., 1:"
    ):
        function(ARM, np.broadcast_to(Q, (*lead, ARM.nq)), *[V] * takes, fext)


def test_forces_of_pinocchio_are_taken_apart():
    class Force:
        vector = np.zeros(6)

    with pytest.raises(
        tf.DtypeError, match=r"^fext must hold real numbers.*\[force\.vector for force in fext\[1:\]\]"
    ):
        tf.bias(ARM, Q, V, [Force()] * 4)


# -------------------------------------------------------------------------------- descriptions of robots


def test_text_is_read_where_text_is_asked(tmp_path):
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


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<robot", "<string>: not well-formed XML"),
        ("<mujoco/>", "<string>: not a URDF: the root element is <mujoco>, .*treefactor.adapters.mujoco_"),
        ("<robot name='r'/>", "<string>: a URDF has one root link"),
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
def test_every_engine_says_what_a_path_is(engine, tmp_path):
    load = loader(engine)
    path = tmp_path / "r.urdf"
    path.write_text(XACROS["macro"])
    for wrong, why in ((URDF, "from_urdf_string"), (None, "got NoneType"), (path, "run `xacro")):
        with pytest.raises(tf.AdapterError, match=why) as caught:
            load(wrong)
        assert caught.value.engine == engine


# ---------------------------------------------------------------------------------- objects of Pinocchio


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
        "with_inertials": lambda model: adapter.with_inertials(model, {}, {}),
        "carried": lambda model: adapter.carried(model, {}),
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
    with pytest.raises(TypeError, match=r"source must be a mujoco\.MjModel .*, got str; load a file"):
        mujoco_.model("r.urdf")
    with pytest.raises(tf.NotPositiveDefiniteError, match=r"call mujoco\.mj_forward\(model, data\)"):
        mujoco_.Accelerator(model, mujoco.MjData(model)).factor()


# ------------------------------------------------------------------------------------------- wording


SOURCES = [path for folder in ("treefactor", "adapters") for path in (ROOT / folder).rglob("*.py*")]
TEXT = re.compile(
    r"""["'][^"'\n]*\bis (?:no [a-z]+(?! (?:longer|more|smaller|larger)))\b[^"'\n]*["']""", re.IGNORECASE
)


def test_messages_say_is_not_a():
    messages = [
        f"{path.name}: {line.strip()}"
        for path in SOURCES
        if path.suffix in (".py", ".pyx")
        for line in path.read_text(encoding="utf-8").splitlines()
        if ("rror(" in line or 'f"' in line or "reason" in line)
        and re.search(r"\bis no (?!longer|more)|\bis none\b", line)
    ]
    assert messages == []


@pytest.mark.parametrize("package", ["pinocchio", "mujoco"])
def test_data_where_an_array_belongs_is_named(package):
    data = foreign(package, "Data")
    with pytest.raises(tf.DtypeError, match=rf"q must hold real numbers, got {package}\.Data: .* no data"):
        tf.rnea(ARM, data, Q, V)
