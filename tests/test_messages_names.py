"""Test messages about names: guessed attributes and functions, arguments, kinds of joints."""

import inspect
import pickle
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from helpers.message_cases import ARM, JOINTS, URDF, Q, V, foreign
from helpers.reachable import REACHABLE

import treefactor as tf
from treefactor import codegen
from treefactor._util import elsewhere, messages
from treefactor.codegen.program.names import ROUTINES
from treefactor.exceptions import CodegenError, InvalidModelError
from treefactor.quantities.replacements import GROUPS
from treefactor.quantities.table import QUANTITIES

# ------------------------------------------------------------------------------------------------ attributes

GUESSED = {
    "mass_matrix": "treefactor.crba(model, q)",
    "inverse_dynamics": "treefactor.rnea(model, q, v, a)",
    "nle": "treefactor.bias(model, q, v)",
    "forward_kinematics": "treefactor.frame_placement(model, q, frame)",
    "jacobian": "treefactor.frame_jacobian(model, q, frame)",
    "load_urdf": "treefactor.Model.from_urdf(path)",
    "loadURDF": "treefactor.Model.from_urdf(path)",
    "buildModelFromUrdf": "treefactor.Model.from_urdf(path)",
    "CalcMassMatrix": "treefactor.crba(model, q)",
    "mj_step": "treefactor.step(model, q, v, tau, h)",
    "inverse_kinematics": "treefactor.control.inverse_kinematics",
    "com": "treefactor.center_of_mass(model, q)",
    "Stepper": "treefactor.constraints.Stepper",
    "frame_placment": "'frame_placement'",
    "centerOfMass": "'center_of_mass'",
}


def error_of(owner, name):
    with pytest.raises(AttributeError) as caught:
        getattr(owner, name)
    return str(caught.value)


@pytest.mark.parametrize("name", GUESSED)
def test_guessed_names_point_to_those_here(name):
    assert re.match(rf"treefactor has no attribute '{name}'(: use |; did you mean )", error_of(tf, name))
    assert GUESSED[name] in error_of(tf, name)


def test_guessed_ways_to_a_model_point_to_those_here():
    assert "treefactor.adapters.mujoco_.model" in error_of(tf.Model, "from_mjcf")
    assert "treefactor.adapters.pinocchio_.model" in error_of(tf.Model, "from_pinocchio")
    assert "'from_urdf'" in error_of(tf.Model, "from_urdff")
    assert tf.Model.from_urdf_string(URDF.format(name="r")).name == "r"


@pytest.mark.parametrize("use", sorted(set(elsewhere.elsewhere().values())))
def test_what_tables_point_to_exists_and_takes_these_arguments(use):
    paths = re.findall(r"treefactor((?:\.\w+)+)(?:\(([\w, =\"]*)\))?", use)
    assert paths
    for path, given in paths:
        names = path.strip(".").split(".")
        if names[0] == "adapters":
            adapter = pytest.importorskip(f"treefactor.adapters.{names[1]}", exc_type=tf.AdapterError)
            assert callable(getattr(adapter, names[2]))
            continue
        one = tf
        for name in names:
            instances_have = name in getattr(one, "__annotations__", ())
            one = None if instances_have else getattr(one, name)
        if given:
            words = [word.partition("=") for word in given.split(", ")]
            places = [name for name, equal, _ in words if not equal]
            bound = inspect.signature(one).bind(*places, **{name: 0 for name, equal, _ in words if equal})
            own = {name: value for name, value in bound.arguments.items() if value in places}
            assert all(name == value or value[0] == '"' for name, value in own.items())


def test_tables_hold_no_name_that_exists_and_none_twice():
    declared = [
        messages.plain(name)
        for one in QUANTITIES.values()
        if one.other_names
        for name in one.other_names.split(", ")
    ]
    listed = [name for names in elsewhere.USES.values() for name in names.split()] + declared
    assert len(listed) == len(set(listed)) > 220
    assert all(name == messages.plain(name) for name in listed)
    own = {messages.plain(name) for name in dir(tf) if not name.startswith("_")}
    assert own & set(elsewhere.elsewhere()) == set()


def test_a_counterpart_without_the_name_of_a_quantity_belongs_to_one():
    names = [
        (messages.plain(line.name), one.name) for one in QUANTITIES.values() for line in one.counterparts
    ]
    own = {messages.plain(name) for name, one in QUANTITIES.items() if one.has_model}
    named = [name for name, _ in set(names) if name not in own]
    assert len(named) == len(set(named)) > 30


def test_names_of_pinocchio_point_where_the_documentation_does():
    ours = {}
    for row in (row for group in GROUPS.values() for row in group):
        for name in row.theirs.split(", ") if row.ours else ():
            ours.setdefault(name, []).extend(row.ours.split(", "))
    checked = 0
    for name, targets in ours.items():
        if "." in name or hasattr(tf, name) or name == "SE3":
            continue
        message = error_of(tf, name)
        assert any(re.search(rf"\b{re.escape(one)}\b", message) for one in targets), (name, message)
        checked += 1
    assert checked > 60


def test_attributes_are_still_looked_up_listed_and_pickled():
    assert not hasattr(tf, "mass_matrix")
    assert getattr(tf, "mass_matrix", 3) == 3
    assert error_of(tf, "__wrapped__") == "treefactor has no attribute '__wrapped__'"
    assert not hasattr(tf.Model, "__wrapped__")
    assert {"crba", "Model"} <= set(dir(tf))
    assert inspect.getdoc(tf.Model).startswith("Tree of joints")
    with pytest.raises(ImportError, match="mass_matrix"):
        exec("from treefactor import mass_matrix")
    assert pickle.loads(pickle.dumps(tf.rnea)) is tf.rnea
    assert pickle.loads(pickle.dumps(ARM)).numbers == ARM.numbers


def test_functions_of_kernels_on_gpus_are_called_by_name():
    program = tf.generate(ARM, ["forward_dynamics"])
    kernels = codegen.CudaKernels(program, {"forward_dynamics": "its PTX"})
    assert error_of(kernels, "forward_dynamics").endswith("call('forward_dynamics', q, v, tau, out=out)")
    assert "'program'" in error_of(kernels, "programs")
    assert "'program'" in error_of(codegen.CudaKernels.__new__(codegen.CudaKernels), "program")
    assert pickle.loads(pickle.dumps(kernels)).backend == "cuda"


# ------------------------------------------------------------------------- models, functions, kinds of joints


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("arm.urdf", r"joints .* got str: read a URDF with treefactor\.Model\.from_urdf\(path\)"),
        (Path("arm.urdf"), r"joints .* got \w*Path: read a URDF with treefactor\.Model\.from_urdf\(path\)"),
        (" <robot/>", r"got str: .*from_urdf_string\(text\)"),
        (foreign("pinocchio", "Model"), r"got pinocchio\.Model: .*adapters\.pinocchio_\.model\(model\)"),
        (foreign("mujoco", "MjModel"), r"got mujoco\.MjModel: .*adapters\.mujoco_\.model\(model\)"),
        (JOINTS[0], r"got Joint: pass a list, joints=\[joint\]"),
        (ARM, "got Model: pass its attribute joints"),
        (3, "joints must be a sequence of Joint, got int$"),
    ],
)
def test_what_is_not_a_sequence_of_joints(value, why):
    with pytest.raises(InvalidModelError, match=why):
        tf.Model(value)


@pytest.mark.parametrize("name", ["loops", "frames"])
@pytest.mark.parametrize("value", ["text", 3, ARM])
def test_what_is_not_a_sequence_of_loops_or_frames(name, value):
    with pytest.raises(InvalidModelError, match=rf"^{name} must be a sequence of (Loop|Frame), got"):
        tf.Model(JOINTS, **{name: value})


def test_a_model_of_an_engine_in_the_adapters():
    adapters = []
    for name in ("jax_", "torch_"):
        try:
            adapters.append(import_module(f"treefactor.adapters.{name}"))
        except tf.AdapterError:
            continue
    for adapter in adapters:
        for function in (adapter.rnea, adapter.forward_dynamics, adapter.step):
            for package, name, own in (
                ("pinocchio", "Model", "pinocchio_"),
                ("mujoco", "MjModel", "mujoco_"),
            ):
                with pytest.raises(TypeError, match=rf"got {package}\.{name}: .*adapters\.{own}\.model\("):
                    function(foreign(package, name), Q, V, V, *[0.1] * (function is adapter.step))


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("fd", "forward_dynamics"),
        ("inverse_dynamics", "rnea"),
        ("mass_matrix", "crba"),
        ("nle", "bias"),
        ("inverse_inertia", "minv"),
        ("computeMinverse", "minv"),
        ("fk", "frame_placement:FRAME"),
        ("com", "center_of_mass"),
        ("rnae", "rnea"),
    ],
)
def test_functions_to_generate_are_proposed_without_all_others(name, own):
    with pytest.raises(CodegenError, match=rf"'{name}' is not a function to generate; did you mean '{own}'"):
        tf.compile(ARM, [name])
    with pytest.raises(CodegenError, match=r"treefactor\.generate lists all") as caught:
        tf.generate(ARM, [name])
    assert "position_closure" not in str(caught.value)


def test_all_functions_to_generate_are_listed_by_kinds():
    with pytest.raises(CodegenError, match=r"of the dynamics: crba, rnea.*derivatives: rnea_deriv") as caught:
        tf.compile(ARM, ["zzzz"])
    assert all(name in str(caught.value) for name in ROUTINES)


@pytest.mark.parametrize("other", elsewhere.KINDS)
def test_kinds_of_joints_of_other_packages(other):
    kind = elsewhere.KINDS[other]
    wanted = "add its inertia to that of its parent" if kind == "weld" else rf"did you mean '{kind}'\?"
    for name in (other, other.title(), f"{other[:1]}_{other[1:]}"):
        with pytest.raises(InvalidModelError, match=f"'{name}' is not a kind of joint; .*{wanted}"):
            tf.Joint("a", name)
    if kind in ("revolute", "spherical", "weld"):
        with pytest.raises(InvalidModelError, match=f"not a kind of loop; did you mean '{kind}'"):
            tf.Loop("a", other, 0, 1)


def test_names_of_robots_are_no_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("panda", "pybullet_data/cartpole"):
        with pytest.raises(tf.AdapterError, match=rf"treefactor\.robots\.find\('{name}'\)\.path"):
            tf.Model.from_urdf(name)
    with pytest.raises(tf.AdapterError, match=r"arm\.urdf: cannot read it: [^;]*$"):
        tf.Model.from_urdf("arm.urdf")


# ------------------------------------------------------------------------------------------------- arguments


def compiled_functions():
    """Yield compiled functions with names for their arguments, and an owner for methods."""
    for name in REACHABLE:
        one = getattr(tf, name)
        if type(one).__name__ == "cython_function_or_method":
            yield pytest.param(one, None, id=name)
    factor = tf.factor(np.eye(2), tf.Tree([-1, 0]))
    kernels = tf.compile(ARM, ["rnea"], backend="numpy")
    for owner in (factor, kernels):
        for base in type(owner).__mro__:
            for name, one in vars(base).items():
                named = type(one).__name__ == "cython_function_or_method" and not name.startswith("_")
                if named and len(inspect.signature(one).parameters) > 2:
                    yield pytest.param(getattr(owner, name), owner, id=f"{type(owner).__name__}.{name}")


@pytest.mark.parametrize(("function", "owner"), list(compiled_functions()))
def test_arguments_that_do_not_fit_are_named(function, owner):
    parameters = inspect.signature(function).parameters
    needed = [name for name, one in parameters.items() if one.default is one.empty]
    own = re.escape(f"{function.__name__}({', '.join(map(str, parameters.values()))})")
    for count in range(len(needed)):
        rest = needed[count:]
        named = f"{'s' * (len(rest) > 1)} {', '.join(rest)}"
        with pytest.raises(TypeError, match=rf"^{function.__name__} needs the argument{named}: {own}$"):
            function(*[None] * count)
    arguments = [None] * len(needed)
    last = list(parameters)[-1]
    with pytest.raises(TypeError, match=rf"has no argument '{last}x'; did you mean '{last}'.*\? {own}$"):
        function(*arguments, **{f"{last}x": None})
    with pytest.raises(TypeError, match=rf"received {needed[0]} twice"):
        function(*arguments, **{needed[0]: None})
    with pytest.raises(TypeError, match=rf"takes at most \d+ arguments, got 20: {own}$"):
        function(*[None] * 20)


@pytest.mark.parametrize(
    ("name", "own"),
    [("f_ext", "fext"), ("external_forces", "fext"), ("threads", "num_threads"), ("ddq", "a")],
)
def test_arguments_are_proposed_by_other_names(name, own):
    with pytest.raises(
        TypeError, match=rf"rnea has no argument '{name}'; did you mean '{own}'\? rnea\(model"
    ):
        tf.rnea(ARM, Q, V, V, **{name: None})


def test_other_errors_of_compiled_functions_stay():
    with pytest.raises(TypeError, match=r"^model must be a treefactor\.Model"):
        tf.rnea(None, Q, V, V)
    with pytest.raises(tf.DtypeError) as caught:
        tf.rnea(ARM, Q, V, 1j * V)
    assert type(caught.value) is tf.DtypeError
    with pytest.raises(tf.ShapeError):
        tf.rnea(ARM, Q, V, V[1:])
    assert tf.rnea(ARM, Q, V, V).shape == (ARM.nv,)
    assert tf.rnea(model=ARM, q=Q, v=V, a=V).shape == (ARM.nv,)


def test_a_batch_is_not_bound():
    many = [np.zeros((5, n)) for n in (ARM.nq, ARM.nv, ARM.nv, ARM.nv)]
    with pytest.raises(tf.ShapeError, match=r"q must have shape .* call the function itself.* copy q\[k\]"):
        tf.bind(tf.rnea, ARM, *many[:3], out=many[3])
    with pytest.raises(tf.ShapeError, match=r"got \(3,\)$"):
        tf.bind(tf.rnea, ARM, np.zeros(3), V, V, out=V.copy())
    with pytest.raises(ValueError, match=r"got 2, without a$"):
        tf.bind(tf.rnea, ARM, Q, V, out=V.copy())
    with pytest.raises(ValueError, match=r"takes no f_ext to be bound.*; did you mean 'fext'\?"):
        tf.bind(tf.rnea, ARM, Q, V, V, f_ext=None, out=V.copy())
