"""Check calls, files, C text and errors of programs with inertial parameters as inputs."""

import pickle
import shutil
import subprocess
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from helpers.codegen_models import model, random_model, states
from helpers.other_robots import other_robot, parameters

import treefactor as tf
from treefactor.cli import main
from treefactor.codegen import ParameterKernels, Program, folder, generate
from treefactor.codegen.program.names import ARGUMENTS, PARAMETRIC

BACKENDS = [
    "interp",
    pytest.param("cc", marks=pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")),
    "llvm",
    "numpy",
]
COUNT = 21


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(params=BACKENDS)
def backend(request):
    if request.param == "llvm":
        pytest.importorskip("llvmlite")
    return request.param


@cache
def kernels(backend="interp"):
    made = tf.compile(model("ur5"), backend=backend, parameters="base")
    assert isinstance(made, ParameterKernels)
    assert made.backend == backend
    return made


def robots(count):
    """Return robots like a ur5, and their parameters."""
    others = [other_robot(model("ur5"), seed) for seed in range(count)]
    return others, np.array([parameters(robot) for robot in others])


def given(name, count=COUNT):
    """Return the arguments of a function without pi."""
    q, v, x = states(model("ur5"), count)
    values = {"q": q, "v": v, "a": x, "tau": x}
    return [values[argument] for argument in ARGUMENTS[name]]


def expected_of(name, robot, arguments):
    """Return the result for a robot."""
    if name == "minv":
        return np.linalg.inv(tf.crba(robot, *arguments))
    return getattr(tf, name)(robot, *arguments)


def assert_close(results, expected):
    assert results.shape == expected.shape
    assert np.abs(results - expected).max() <= 1e-11 * np.abs(expected).max()


@pytest.mark.parametrize("name", PARAMETRIC)
def test_a_robot_in_every_element(backend, name):
    others, pi = robots(COUNT)
    own, arguments = kernels(backend), given(name)
    results = getattr(own, name)(*arguments, own.program.parameters(pi))
    expected = [expected_of(name, robot, [x[k] for x in arguments]) for k, robot in enumerate(others)]
    assert_close(results, np.array(expected))


@pytest.mark.parametrize("name", PARAMETRIC)
def test_one_robot_for_all_elements_and_for_one(backend, name):
    (robot,), pi = robots(1)
    own, arguments = kernels(backend), given(name)
    pi = own.program.parameters(pi[0])
    expected = expected_of(name, robot, arguments)
    assert_close(getattr(own, name)(*arguments, pi), expected)
    assert_close(getattr(own, name)(*arguments, pi.tolist(), num_threads=2), expected)
    assert_close(own.call(name, *(x[3] for x in arguments), pi), expected[3])
    single = [x[3].copy() for x in arguments]
    out = np.empty(expected.shape[1:])
    bound = own.bind(name, *single, pi, out=out)
    bound()
    assert_close(out, expected[3])
    pi *= 2.0  # read at every call
    bound()
    joints = [
        replace(joint, inertia=tf.Inertia(2 * of.mass, of.com, 2 * of.tensor))
        for joint, of in ((joint, joint.inertia) for joint in robot.joints)
    ]
    doubled = tf.Model(joints, robot.gravity)
    assert_close(out, expected_of(name, doubled, single))


@pytest.mark.parametrize("name", ["rnea", "bias", "crba", "aba", "forward_dynamics"])
def test_the_same_as_compiled_recursions_with_these_parameters(name):
    robot = model("ur5")
    pi = robot.parameters * np.random.default_rng(0).uniform(0.5, 2.0, (COUNT, robot.njoints, 1))
    results = getattr(kernels(), name)(*given(name), kernels().program.parameters(pi))
    assert_close(results, getattr(tf, name)(robot, *given(name), inertias=tf.Inertias(robot, pi)))


def test_a_model_with_other_parameters_has_the_same_program():
    robot = model("ur5")
    pi = robot.parameters * np.random.default_rng(0).uniform(0.5, 2.0, (robot.njoints, 1))
    changed = generate(robot.with_parameters(pi), "rnea", parameters="base")
    own = generate(robot, "rnea", parameters="base")
    assert changed.c_source().count("\n") == own.c_source().count("\n")
    assert np.allclose(changed.parameters(), own.parameters(pi), rtol=0, atol=1e-14)


def test_one_state_of_many_robots():
    others, pi = robots(COUNT)
    q, v, a = (x[0] for x in given("rnea"))
    tau = kernels().rnea(q, v, a, kernels().program.parameters(pi))
    assert_close(tau, np.array([tf.rnea(robot, q, v, a) for robot in others]))


@pytest.mark.parametrize("layout", ["dense", "packed", "lanes"])
def test_layouts(layout):
    (robot,), pi = robots(1)
    q = given("crba")[0]
    H = kernels().crba(q, kernels().program.parameters(pi[0]), layout=layout)
    assert_close(H, tf.crba(robot, q, layout=layout))


def test_groups_share_their_inputs():
    (robot,), pi = robots(1)
    own = tf.compile(model("ur5"), [("crba", "bias")], parameters="base")
    q, v = given("bias")
    packed, bias = own.call(("crba", "bias"), q, v, own.program.parameters(pi[0]))
    assert_close(packed, tf.crba(robot, q, layout="packed"))
    assert_close(bias, tf.bias(robot, q, v))


def test_a_nan_stays_in_its_robot(backend):
    _, pi = robots(COUNT)
    pi[4, 2, 0] = np.nan
    own = kernels(backend)
    qdd = own.aba(*given("aba"), own.program.parameters(pi))
    assert np.flatnonzero(np.isnan(qdd).any(axis=1)).tolist() == [4]


def test_a_robot_with_a_pivot_that_is_not_positive():
    _, pi = robots(COUNT)
    pi[7] *= -1.0
    own = kernels()
    given_, x = given("aba"), own.program.parameters(pi)
    qdd = own.aba(*given_, x)
    assert np.flatnonzero(np.isnan(qdd).any(axis=1)).tolist() == [7]
    with pytest.raises(tf.NotPositiveDefiniteError, match="wrist_3_joint"):
        own.aba(*(array[7] for array in given_), x[7])
    assert np.isfinite(own.rnea(*given("rnea"), x)).all()


def test_saved_loaded_and_pickled(tmp_path):
    robot = random_model(np.random.default_rng(0), ["universal", "revolute", "prismatic"], 0.2)
    program = generate(robot, parameters="base")
    program.save(tmp_path / "program.npz")
    other = other_robot(robot)
    expected = program.parameters(parameters(other), other.armature)
    q, v, a = states(robot, 2)
    loaded = Program.load(tmp_path / "program.npz")
    for again in (loaded, pickle.loads(pickle.dumps(program))):
        assert np.array_equal(again.parameters(parameters(other), other.armature), expected)
        assert np.array_equal(again.parameters(), program.parameters())
        assert_close(tf.compile(again).rnea(q, v, a, expected), tf.rnea(other, q, v, a))
    restored = pickle.loads(pickle.dumps(tf.compile(loaded, "rnea")))
    assert isinstance(restored, ParameterKernels)
    assert_close(restored.rnea(q, v, a, expected), tf.rnea(other, q, v, a))


@pytest.mark.parametrize(
    "change",
    [
        {"row": np.array([1, 0], np.int32)},
        {"column": np.full(1, 10**6, np.int32)},
        {"value": np.array([np.nan])},
        {"model": np.zeros(3)},
        {"row": np.zeros(3, np.int64)},
    ],
)
def test_a_damaged_map_is_refused(tmp_path, change):
    program = generate(model("dpend"), "rnea", parameters="base")
    (name, values), own = *change.items(), program.parameter_map
    if name in ("row", "column", "value") and values.dtype == getattr(own, name).dtype:
        values = np.resize(values, own.row.size)
    replace(program, parameter_map=replace(own, **{name: values})).save(tmp_path / "bad.npz")
    with pytest.raises(tf.CodegenError, match="map of inertial parameters"):
        Program.load(tmp_path / "bad.npz")


def test_a_map_of_another_size_is_refused(tmp_path):
    program = generate(model("dpend"), "rnea", parameters="base")
    replace(program, parameter_map=replace(program.parameter_map, size=2)).save(tmp_path / "bad.npz")
    with pytest.raises(tf.CodegenError, match="do not fit"):
        Program.load(tmp_path / "bad.npz")


def test_values_that_are_folded_are_refused_by_name():
    robot = model("ur5")
    program = generate(robot, "rnea", parameters="standard", zeros="model")
    pi = np.array([parameters(robot)] * 3)
    pi[:, :, 0] *= [[1.0], [2.0], [3.0]]
    program.parameters(pi)
    pi[2, 3, 5] = 0.01
    with pytest.raises(
        tf.CodegenError, match=r"I_xy of wrist_1_joint must be 0.*in element 2.*without zeros="
    ):
        program.parameters(pi)
    with pytest.raises(tf.CodegenError, match="wrist_1_joint"):
        program.parameters(pi[2])
    generate(robot, "rnea", parameters="standard").parameters(pi)


def test_armature_is_an_input_where_the_model_has_some():
    robot = random_model(np.random.default_rng(0), ["revolute", "universal"], 0.2)
    joints = [robot.joints[0], replace(robot.joints[1], armature=[0.0, 0.3])]
    robot = tf.Model(joints, robot.gravity)
    program, (q, v, a) = generate(robot, "rnea", parameters="base"), states(robot, 1)
    none = generate(tf.Model([replace(joint, armature=0.0) for joint in joints]), "rnea", parameters="base")
    assert program.parameters().size == none.parameters().size + 2
    changed = tf.Model(
        [replace(joints[0], armature=0.7), replace(joints[1], armature=[0.0, 0.1])], robot.gravity
    )
    pi = program.parameters(armature=[0.7, 0.0, 0.1])
    assert_close(program.functions["rnea"].evaluate(q, v, a, pi), tf.rnea(changed, q, v, a))
    with pytest.raises(tf.CodegenError, match=r"armature of joint1\[0\] must be 0.*from a model in which"):
        program.parameters(armature=[0.7, 0.2, 0.1])


def test_errors():
    robot = model("ur5")
    with pytest.raises(
        tf.CodegenError, match="parameters must be one of None, 'standard', 'base'; got 'bases'; did"
    ):
        generate(robot, parameters="bases")
    with pytest.raises(tf.CodegenError, match="zeros= needs parameters="):
        generate(robot, zeros="model")
    with pytest.raises(tf.CodegenError, match="zeros must be one of None, 'model'; got True"):
        generate(robot, parameters="base", zeros=True)
    for name in ("joint_placements", "rnea_derivatives", "frame_jacobian:tool0", ("crba", "center_of_mass")):
        wanted = name[-1] if isinstance(name, tuple) else name
        with pytest.raises(tf.CodegenError, match=f"'{wanted}' cannot take inertial parameters"):
            generate(robot, [name], parameters="base")
    with pytest.raises(tf.CodegenError, match="excludes plain; expected some of regroup, both, meeting"):
        generate(robot, parameters="base", variants="plain")
    program = generate(robot, "aba", parameters="base")
    with pytest.raises(tf.CodegenError, match="parameters= needs a Model"):
        tf.compile(program, parameters="base")
    with pytest.raises(tf.ShapeError, match=r"pi must have shape \(..., 6, 10\).*got \(7, 10\)"):
        program.parameters(np.zeros((7, 10)))
    with pytest.raises(tf.ShapeError, match=r"armature must have shape \(..., 6\).*got \(5,\)"):
        program.parameters(armature=np.zeros(5))
    with pytest.raises(tf.ShapeError, match="leading axes"):
        program.parameters(np.zeros((2, 6, 10)), np.zeros((3, 6)))
    with pytest.raises(tf.DtypeError, match="pi must hold real numbers"):
        program.parameters("heavy")
    with pytest.raises(tf.CodegenError, match="constants: generate"):
        generate(robot, "aba").parameters()
    own, x = tf.compile(program), program.parameters()
    with pytest.raises(ValueError, match="aba takes 4 arrays: q, v, tau, pi; got 3"):
        own.call("aba", *np.zeros((3, 6)))
    with pytest.raises(tf.ShapeError, match="pi must have shape"):
        own.aba(*np.zeros((3, 6)), x[:-1])
    with pytest.raises(tf.NonFiniteError, match="pi"):
        own.aba(*np.zeros((3, 6)), np.nan * x)
    with pytest.raises(tf.CodegenError, match="do not take inertial parameters"):
        own.step(*np.zeros((3, 6)), 0.01)
    with pytest.raises(tf.CodegenError, match="'rnea' was not generated"):
        own.rnea(*np.zeros((3, 6)), x)


def test_the_source_names_the_entries():
    program = generate(model("dpend"), "crba", parameters="base")
    source = program.c_source()
    assert f"out[3] from q[2], pi[{program.parameters().size}]" in source
    assert "= 0.5 I_xx of joint2 - 0.5 I_yy of joint2 + 0.5 I_zz of joint2" in source
    assert source.count("of this model:") == 1


@pytest.mark.skipif(not (shutil.which("make") and shutil.which("cc")), reason="no make or cc")
@pytest.mark.parametrize("zeros", [None, "model"])
def test_the_folder_compiles_and_checks_itself(tmp_path, zeros):
    robot = random_model(np.random.default_rng(0), ["continuous", "spherical", "prismatic"], 0.2)
    program = generate(robot, (*PARAMETRIC, ("crba", "bias")), parameters="base", zeros=zeros)
    folder.write(robot, program, tmp_path / "out")
    done = subprocess.run(
        ["make", "-C", tmp_path / "out", "check"], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("largest deviation") == 14
    assert "warning" not in done.stderr


def test_the_command(tmp_path, capsys):
    arguments = ["generate", "double_pendulum", "--parameters", "base", "--functions", "rnea"]
    assert main([*arguments, "-o", str(tmp_path / "out"), "--verify"]) == 0
    assert "pi[0] = " in (tmp_path / "out" / "dynamics.h").read_text()
    assert main([*arguments, "-o", str(tmp_path / "two"), "--stages", str(tmp_path / "stages")]) != 0
    assert "leave out --parameters" in capsys.readouterr().err
    assert main([*arguments[:2], "-o", str(tmp_path / "three"), "--zeros", "model"]) != 0
    assert "zeros= needs parameters=" in capsys.readouterr().err
