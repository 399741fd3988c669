"""Check programs as objects and files: save, load, pickle, damaged files, errors of `generate`."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from helpers.codegen_models import model, random_model
from helpers.dynamics_cases import MODELS, arguments

import treefactor as tf
from treefactor.codegen import Program, generate
from treefactor.exceptions import CodegenError


@pytest.fixture(scope="module")
def program():
    return generate(model("rx90"))


def assert_same_statements(actual, expected):
    for column, value in vars(expected).items():
        if column not in ("alternatives", "equations"):
            assert np.array_equal(getattr(actual, column), value)
    for one, other in zip(actual.alternatives, expected.alternatives, strict=True):
        assert_same_statements(one, other)
    for one, other in zip(actual.equations, expected.equations, strict=True):
        assert_same_statements(one, other)


def assert_equal(actual, expected):
    assert list(actual.functions) == list(expected.functions)
    assert (actual.model, actual.nq, actual.nv, actual.snapped) == ("RX-90", 6, 6, 0.0)
    assert actual.operations == expected.operations
    for name, function in actual.functions.items():
        assert_same_statements(function, expected.functions[name])


def test_saved_and_loaded(program, tmp_path):
    program.save(tmp_path / "rx90.npz")
    assert_equal(Program.load(tmp_path / "rx90.npz"), program)


@pytest.mark.parametrize("changed", [False, True], ids=["built", "changed"])
def test_loaded_derivatives_are_those_of_the_models_recursion(changed, tmp_path):
    robot = MODELS["all kinds"]
    if changed:
        robot = robot.with_parameters(1.1 * robot.parameters, robot.armature + 0.3)
    program, path = generate(robot, "rnea_derivatives"), tmp_path / "robot.npz"
    program.save(path)
    loaded, state = Program.load(path), arguments(robot)[:3]
    own = *tf.compile(loaded).rnea_derivatives(*state), *tf.rnea_derivatives(loaded.source, *state)
    expected = (
        *tf.compile(robot, "rnea_derivatives").rnea_derivatives(*state),
        *tf.rnea_derivatives(robot, *state),
    )
    for one, other in zip(own, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(CodegenError, match="other freedoms"):
        replace(program, source=MODELS["freeflyer"]).validate()
    arrays = dict(np.load(path))
    arrays["model.R"] = arrays["model.R"][:-1]
    np.savez(path, **arrays)
    with pytest.raises(CodegenError, match="damaged"):
        Program.load(path)


def test_pickled(program):
    assert_equal(pickle.loads(pickle.dumps(program)), program)


def test_generated_twice_alike(program):
    assert_equal(generate(model("rx90")), program)


def test_rows_come_in_order(program):
    for function in program.functions.values():
        assert function.fault() is None
        assert (function.op[function.first :] > 1).all()
        assert function.operations.total == function.rows - function.first


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        Program.load(tmp_path / "none.npz")


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 broken"])
def test_no_program(tmp_path, content):
    path = tmp_path / "bad.npz"
    path.write_bytes(content)
    with pytest.raises(tf.CodegenError, match=r"bad\.npz"):
        Program.load(path)


def test_a_truncated_file(program, tmp_path):
    path = tmp_path / "cut.npz"
    program.save(path)
    content = path.read_bytes()
    for size in (100, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:size])
        with pytest.raises(tf.CodegenError, match=r"cut\.npz"):
            Program.load(path)


def test_a_damaged_file_is_refused_or_the_same(program, tmp_path):
    """Draw damaged files: bits flipped, parts removed, doubled or overwritten."""
    path = tmp_path / "bad.npz"
    program.save(path)
    written, refused = path.read_bytes(), 0
    for seed in range(600):
        content, rng = bytearray(written), np.random.default_rng(seed)
        start, stop = sorted(rng.integers(0, len(content), 2))
        if seed % 3 == 0:
            content[start] ^= 1 << rng.integers(8)
        elif seed % 3 == 1:
            content[start:stop] = rng.bytes(stop - start)
        else:
            content[start:stop] = b"" if seed % 2 else content[start:stop] * 2
        path.write_bytes(content)
        try:
            loaded = Program.load(path)
        except tf.CodegenError:
            refused += 1
        else:
            assert_equal(loaded, program)
    assert refused > 500


def test_a_damaged_header_is_refused_before_it_is_parsed(tmp_path):
    """Put a null byte, which Python's tokenizer refuses with an exception of its own, into a header."""
    path = tmp_path / "null.npz"
    np.savez(path, head=np.array("{}"))
    content = path.read_bytes()
    assert content.count(b"'descr'") == 1
    path.write_bytes(content.replace(b"'descr'", b"'d\0scr'"))
    with pytest.raises(tf.CodegenError, match=r"another checksum|Bad CRC"):
        Program.load(path)


def test_objects_are_not_unpickled(tmp_path):
    path = tmp_path / "objects.npz"
    np.savez(path, head=np.array([{}], dtype=object))
    with pytest.raises(tf.CodegenError):
        Program.load(path)


@pytest.mark.parametrize(
    ("column", "row", "value", "fault"),
    [
        ("op", -1, 200, "operation is unknown"),
        ("op", -1, 0, "must come first"),
        ("a", -1, 10**6, "after its use"),
        ("a", -1, -1, "after its use"),
        ("value", 1, np.nan, "not finite"),
        ("output", 0, 10**6, "is not a statement"),
        ("output", 0, -1, "is not a statement"),
        ("sign", 0, 3, "sign"),
    ],
)
def test_altered_columns_are_refused(program, tmp_path, column, row, value, fault):
    altered = getattr(program.functions["crba"], column).copy()
    altered[row] = value
    functions = program.functions | {"crba": replace(program.functions["crba"], **{column: altered})}
    replace(program, functions=functions).save(tmp_path / "altered.npz")
    with pytest.raises(tf.CodegenError, match=fault):
        Program.load(tmp_path / "altered.npz")


def test_altered_alternatives_are_refused(tmp_path):
    program = generate(model("wam"), ("forward_dynamics",))
    function = program.functions["forward_dynamics"]
    (other,) = function.alternatives
    assert (function.variant, other.variant) == ("meeting, aba", "both, factor")
    altered = replace(other, output=np.full_like(other.output, -1))
    functions = program.functions | {function.name: replace(function, alternatives=(altered,))}
    replace(program, functions=functions).save(tmp_path / "altered.npz")
    with pytest.raises(tf.CodegenError, match="is not a statement"):
        Program.load(tmp_path / "altered.npz")


@pytest.mark.parametrize("change", [{"nv": 5}, {"nq": 7}, {"parent": np.arange(-1, 6)}])
def test_a_program_of_another_model_is_refused(program, tmp_path, change):
    replace(program, **change).save(tmp_path / "other.npz")
    with pytest.raises(tf.CodegenError, match=r"fit|freedoms"):
        Program.load(tmp_path / "other.npz")


def test_unknown_functions_and_variants():
    with pytest.raises(tf.CodegenError, match="'jacobi' is not a function"):
        generate(model("rx90"), ("crba", "jacobi"))
    with pytest.raises(tf.CodegenError, match="'best' is not a variant"):
        generate(model("rx90"), variants=("best",))


def test_arguments_that_are_not_what_they_should_be():
    for call in (generate, tf.compile):
        with pytest.raises(TypeError, match=r"treefactor\.Model"):
            call("panda")
    with pytest.raises(tf.CodegenError, match="no variant"):
        generate(model("ur5"), variants=())
    for snap in (-1.0, np.nan):
        with pytest.raises(ValueError, match="snap must not be negative"):
            generate(model("ur5"), snap=snap)


def test_a_zip_of_the_future(program, tmp_path):
    path = tmp_path / "new.npz"
    program.save(path)
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 6] = 251  # the version that is needed to extract
    path.write_bytes(content)
    with pytest.raises(tf.CodegenError, match=r"new\.npz"):
        Program.load(path)


def test_tips_are_joints():
    with pytest.raises(tf.CodegenError, match="'hand' is not a frame, joint or body"):
        generate(model("rx90"), "jacobian", ["hand"])
    with pytest.raises(tf.CodegenError, match="'jacobian' needs tips="):
        generate(model("rx90"), ("jacobian", "delassus"))


def test_jacobians_are_saved_with_their_tips(tmp_path):
    program = generate(model("rx90"), ("jacobian", "delassus"), "joint5")
    program.save(tmp_path / "tip.npz")
    loaded = Program.load(tmp_path / "tip.npz")
    assert loaded.tips == ("joint5",)
    assert loaded.functions["delassus"].shape == (6, 6)


def test_no_articulated_bodies_where_joints_follow():
    robot = random_model(np.random.default_rng(0), ["revolute", "revolute"], leaders={1: 0})
    assert "aba" not in generate(robot).functions
    with pytest.raises(tf.CodegenError, match="forward_dynamics"):
        generate(robot, "aba")


@pytest.mark.parametrize(("kind", "ratio"), [("revolute", 0.5), ("prismatic", 1.0), ("helical", -2.0)])
def test_followers_of_continuous_joints_that_need_the_angle_are_named(kind, ratio):
    robot = random_model(np.random.default_rng(0), ["continuous", kind], leaders={1: 0})
    joints = [robot.joints[0], replace(robot.joints[1], mimic=tf.Mimic(0, ratio, 0.1))]
    with pytest.raises(tf.CodegenError, match="'joint1' follows a continuous joint"):
        generate(tf.Model(joints), "crba")


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_parameters_that_are_not_finite_never_get_here(number):
    joint = {"name": "hinge", "kind": "revolute", "axis": [0, 0, 1.0]}
    for wrong in ({"p": [number, 0, 0]}, {"armature": number}, {"axis": [number, 0, 0]}):
        with pytest.raises((tf.InvalidModelError, tf.NonFiniteError)):
            generate(tf.Model([tf.Joint(**(joint | wrong))]), "crba")
    with pytest.raises((tf.InvalidModelError, tf.NonFiniteError)):
        generate(tf.Model([tf.Joint(**joint)], gravity=[number, 0, 0]), "crba")


def test_joints_of_unknown_kinds_never_get_here():
    with pytest.raises(tf.InvalidModelError, match="hinge"):
        generate(tf.Model([tf.Joint("hinge", "cycloidal", axis=[0, 0, 1.0])]), "crba")


def test_constants_that_overflow():
    heavy = tf.Inertia(1e200, [1e150, 0.0, 0.0], np.zeros((3, 3)))
    robot = tf.Model([tf.Joint("heavy", "revolute", axis=[0, 0, 1.0], inertia=heavy)])
    with pytest.raises(tf.CodegenError, match="overflows"):
        generate(robot, "crba")


@pytest.mark.parametrize("function", ["aba", "forward_dynamics", "minv"])
def test_a_freedom_without_mass_has_no_forward_dynamics(function):
    model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1])])
    with pytest.raises(tf.CodegenError, match="moves no mass"):
        tf.generate(model, [function])
