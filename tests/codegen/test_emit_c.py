"""Check generated C: deterministic text, no compiler warnings, results equal to NumPy."""

import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from helpers.generated_models import every_joint, handmade, robot
from helpers.machine_code import arguments, assert_agrees, deviation, eight, one, states

import treefactor as tf
from treefactor.codegen import Program, generate
from treefactor.codegen.backends import build
from treefactor.codegen.backends.numpy_ import evaluate
from treefactor.codegen.program import blocks, emit_c

CC = shutil.which("cc")
pytestmark = pytest.mark.skipif(CC is None, reason="no C compiler")
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-trigraphs", "-O1"]
HOSTILE = '*/ int main; /*\n#error "x"\\\n??/ \0 é %s' + "x" * 500


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def compile_strictly(folder, texts, *flags):
    """Compile every file in both forms with all warnings as errors."""
    for name, text in texts.items():
        (folder / name).write_text(text)
    for name in (name for name in texts if name.endswith(".c")):
        for form in ((), ("-DLANES=8",)):
            subprocess.run([CC, *STRICT, *flags, *form, "-c", name, "-o", "x.o"], cwd=folder, check=True)


@pytest.mark.parametrize(
    ("model", "functions"),
    [
        ("ur5_robot", ("crba", "aba", "forward_dynamics")),
        ("every joint", ("rnea",)),
        pytest.param("ur5_robot", None, marks=pytest.mark.slow),
        pytest.param("every joint", None, marks=pytest.mark.slow),
    ],
)
def test_both_forms_compute_what_numpy_does(model, functions):
    model, program = every_joint() if model == "every joint" else robot(model)
    program = replace(
        program, functions={name: program.functions[name] for name in functions or program.functions}
    )
    assert_agrees(build.compiled(program), program, model)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="registers of x86")
@pytest.mark.parametrize("isa", ["-march=x86-64", "-march=haswell"])
def test_narrower_registers_compute_what_numpy_does(isa, monkeypatch):
    model, program = robot("ur5_robot")
    monkeypatch.setattr(build, "NATIVE", isa)
    program = replace(program, functions={"rnea": program.functions["rnea"]})
    assert_agrees(build.compiled(program), program, model)


def test_blocks_compute_what_one_function_does(monkeypatch):
    model, program = robot("solo12")
    monkeypatch.setattr(blocks, "LIMIT", 200)
    monkeypatch.setattr(blocks, "SIZE", 90)
    parts, slots = blocks.split_into_blocks(program.functions["aba"])
    assert len(parts) > 20
    assert slots < program.functions["aba"].rows / 4
    program = replace(program, functions={"aba": program.functions["aba"]})
    assert_agrees(build.compiled(program), program, model)


@pytest.mark.parametrize(("function", "fewer"), [("forward_dynamics", True), ("crba", False)])
def test_limbs_come_one_after_the_other_where_that_keeps_fewer_values(function, fewer, monkeypatch):
    _, program = robot("solo12")
    made = program.functions[function]
    order = blocks.steps(made)
    monkeypatch.setattr(blocks, "FEW", 0.0)
    written = blocks.steps(made)
    assert [order != written, live(made, order) < 0.7 * live(made, written)] == [fewer, fewer]
    rows = [row for step in order for row in (step.rows if isinstance(step, blocks.Trig) else (step,))]
    assert sorted(rows) == list(range(made.first, made.rows))
    place = dict(zip(rows, range(len(rows)), strict=True))
    for row in rows:
        used = {made.a[row], made.b[row]} if blocks.is_binary(made.op[row]) else {made.a[row]}
        assert all(place[x] < place[row] for x in used if x in place)


def live(function, order):
    """Return how many results are needed later at the same time, at most, from sets of them."""
    needed, most = set(), 0
    for step in reversed(order):
        rows = step.rows if isinstance(step, blocks.Trig) else (step,)
        most = max(most, len(needed | set(rows)))
        needed -= set(rows)
        for row in rows:
            needed |= (
                {function.a[row], function.b[row]}
                if blocks.is_binary(function.op[row])
                else {function.a[row]}
            )
        needed = {row for row in needed if row >= function.first}
    return most


def test_functions_above_the_limit_come_in_blocks():
    _, program = robot("solo12")
    text = emit_c.sources(program)["minv.c"]
    assert program.operations["minv"].total > blocks.LIMIT
    assert text.count("BLOCK void") == 3
    assert "BLOCK" not in emit_c.sources(program)["crba.c"]


def test_the_same_text_every_time():
    model, program = robot("ur5_robot")
    code = (
        "import hashlib, sys; from treefactor import Model; from treefactor.codegen import generate;"
        "from treefactor.codegen.program import emit_c;"
        "texts = emit_c.sources(generate(Model.from_urdf(sys.argv[1])));"
        "print(hashlib.sha256(repr(texts).encode()).hexdigest())"
    )
    path = tf.robots.find("ur5_robot").path
    runs = [
        subprocess.run(
            [sys.executable, "-c", code, path],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    assert emit_c.sources(program) == emit_c.sources(generate(model))


def test_compiles_without_a_warning(tmp_path):
    _, program = robot("ur5_robot")
    compile_strictly(tmp_path, emit_c.sources(program))


def test_blocks_compile_without_a_warning(tmp_path, monkeypatch):
    _, program = robot("ur5_robot")
    monkeypatch.setattr(blocks, "LIMIT", 100)
    monkeypatch.setattr(blocks, "SIZE", 60)
    compile_strictly(tmp_path, emit_c.sources(program))


def test_hostile_names_stay_out_of_the_code(tmp_path):
    _, program = robot("ur5_robot")
    program = replace(program, model=HOSTILE)
    texts = emit_c.sources(program, ["crba"])
    assert not any(part in text for text in texts.values() for part in ("#error", "??/", "\\\n?", "%s", "é"))
    assert emit_c.plain(HOSTILE) in texts["crba.c"]
    compile_strictly(tmp_path, texts)


def test_the_header_describes_the_entries_of_q_and_v(tmp_path):
    hinge = {"axis": [0, 0, 1], "inertia": tf.Inertia(1.0, tensor=np.eye(3))}
    joints = [
        tf.Joint("base", "freeflyer", inertia=tf.Inertia(1.0, tensor=np.eye(3))),
        tf.Joint("wheel", "continuous", 0, **hinge),
        tf.Joint("arm", "revolute", 0, **hinge),
        tf.Joint("tip */", "revolute", 2, **hinge, mimic=tf.Mimic(2, -2.0, 0.5)),
        tf.Joint("cap", "revolute", 1, **hinge, mimic=tf.Mimic(1)),
    ]
    program = tf.generate(tf.Model(joints), "crba")
    file = tmp_path / "program.npz"
    program.save(file)
    for same in (program, Program.load(file)):
        text = emit_c.sources(same)["dynamics.h"]
        assert (
            " * Entries of the joints: q[3:7] are q[3] to q[6]; a quaternion ends with its scalar w:" in text
        )
        assert re.search(
            r" \*   q\[0:7\]  v\[0:6\]  base, freeflyer: position x y z, quaternion x y z w; linear, then",
            text,
        )
        assert " *   q[7:9]  v[6]    wheel, continuous: cos, sin of the angle; rate of the angle\n" in text
        assert " *   q[9]    v[7]    tip __, revolute: follows arm: -2 q + 0.5\n" in text
        assert " *   q[7:9]  v[6]    cap, revolute: follows wheel: 1 q + 0\n" in text


def test_hostile_names_of_joints_stay_out_of_the_code(tmp_path):
    _, program = every_joint()
    program = replace(program, tips=(HOSTILE, "*/"), functions={})
    shapes = {"jacobian": (12, program.nv), "delassus": (12, 12)}
    rows = handmade(("CONST", 0, 0, 0.0), output=[0, 0]).functions["bias"]
    functions = {
        name: replace(
            rows, name=name, inputs=(("q", program.nq),), shape=shape,
            output=np.zeros(np.prod(shape), np.int32), sign=np.ones(np.prod(shape), np.int8),
        )
        for name, shape in shapes.items()
    }  # fmt: skip
    texts = emit_c.sources(replace(program, functions=functions))
    assert "axes of the joints" in texts["jacobian.c"]
    compile_strictly(tmp_path, texts)


def test_names_of_functions_and_arguments_are_checked():
    _, program = robot("ur5_robot")
    crba = program.functions["crba"]
    for bad in ({"x; system()": crba}, {"crba": replace(crba, inputs=(("q[0]; evil", 6),))}):
        with pytest.raises(tf.exceptions.CodegenError):
            emit_c.sources(replace(program, functions=bad))
    with pytest.raises(tf.exceptions.CodegenError, match="it has crba"):
        emit_c.sources(program, ["nothing"])


def test_one_text_has_it_all(tmp_path):
    _, program = robot("ur5_robot")
    text = program.c_source(["crba", "rnea"])
    assert '#include "' not in text
    compile_strictly(tmp_path, {"all.c": text})
    assert "tf_##f" in text
    assert "FN(rnea)" in text
    assert "FN(aba)" not in text


def test_without_vector_extensions_libm_does_it(tmp_path):
    """Check the form for compilers without GCC's vectors: one lane and libm."""
    _, program = robot("ur5_robot")
    text = program.c_source(["crba"]).replace("defined(__GNUC__)", "0")
    compile_strictly(tmp_path, {"plain.c": text})


def test_numbers_signs_and_angles_of_all_kinds():
    """Check constant and negative results, and nested sines."""
    program = handmade(
        ("CONST", 0, 0, 0.0), ("CONST", 0, 0, 0.5), ("INPUT", 0, 1, 0.0),
        ("MUL", 1, 1, 0.0), ("RECIP", 1, 0, 0.0), ("SIN", 2, 0, 0.0), ("COS", 1, 0, 0.0),
        ("ADD", 5, 3, 0.0), ("SIN", 7, 0, 0.0), ("SUB", 8, 6, 0.0), ("MUL", 4, 9, 0.0),
        output=[0, 10], sign=[-1, -1],
    )  # fmt: skip
    function = program.functions["bias"]
    given = {"q": np.linspace(-3, 3, 16).reshape(8, 2), "v": np.zeros((8, 2))}
    expected = evaluate(function, *arguments(function, given))
    compiled = build.compiled(program)
    assert deviation(one(compiled.one("bias"), function, given), expected) < 1e-15
    assert deviation(eight(compiled.lanes("bias"), function, given), expected) < 1e-15


@pytest.mark.parametrize("output", [[6, 7], [8, 4]])
def test_square_roots_and_arc_tangents(output):
    program = handmade(
        ("CONST", 0, 0, 0.5), ("INPUT", 0, 0, 0.0), ("INPUT", 0, 1, 0.0),
        ("MUL", 2, 2, 0.0), ("SQRT", 0, 1, 0.0), ("SUB", 3, 1, 0.0), ("SQRT", 5, 1, 0.0),
        ("ATAN2", 1, 2, 0.0), ("ATAN2", 0, 4, 0.0), output=output, sign=[1, -1],
        loops=(("tip", "spherical"),),
    )  # fmt: skip
    function = program.functions["bias"]
    given = {"q": np.linspace(-3, 3, 16).reshape(8, 2), "v": np.zeros((8, 2))}
    expected = evaluate(function, *arguments(function, given))
    compiled = build.compiled(program)
    for result in (
        one(compiled.one("bias"), function, given),
        eight(compiled.lanes("bias"), function, given),
    ):
        np.testing.assert_allclose(result, expected, rtol=1e-15)


def test_square_roots_belong_to_loops():
    with pytest.raises(tf.CodegenError, match="bias: a square root does not belong to a loop"):
        handmade(("INPUT", 0, 0, 0.0), ("SQRT", 0, 1, 0.0), output=[1, 1], sign=[1, 1])


def test_a_nan_stays_in_its_lane_and_large_angles_are_reduced():
    model, program = robot("ur5_robot")
    compiled, function, given = build.compiled(program, ["rnea"]), program.functions["rnea"], states(model)
    given["q"][2] = 1e9 * np.arange(6)
    given["q"][5, 3] = np.nan
    tau = eight(compiled.lanes("rnea"), function, given)
    assert np.isnan(tau[5]).any()
    given["q"][5, 3] = 0.0
    expected = evaluate(function, *arguments(function, given))
    others = np.arange(8) != 5
    assert deviation(tau[others], expected[others]) < 1e-12


def test_a_program_read_from_a_file_is_the_same(tmp_path):
    _, program = robot("ur5_robot")
    program.save(tmp_path / "program")
    assert emit_c.sources(Program.load(tmp_path / "program")) == emit_c.sources(program)


@pytest.mark.slow
def test_accelerations_satisfy_the_equation_of_motion():
    """Return the backward error ||H a + h - tau|| of both forms, with H and h of the matrix algorithms."""
    for name in ("ur5_robot", "panda", "solo12", "talos_reduced"):
        model, program = robot(name)
        compiled, given = build.compiled(program, ["forward_dynamics"]), states(model)
        function = program.functions["forward_dynamics"]
        H, h = tf.crba(model, given["q"]), tf.bias(model, given["q"], given["v"])
        for qdd in (
            one(compiled.one("forward_dynamics"), function, given),
            eight(compiled.lanes("forward_dynamics"), function, given),
        ):
            residual = np.einsum("bij,bj->bi", H, qdd) + h - given["tau"]
            norms = np.linalg.norm(H, axis=(1, 2)) * np.linalg.norm(qdd, axis=1) + np.linalg.norm(h, axis=1)
            assert (np.linalg.norm(residual, axis=1) <= 1e-14 * norms).all(), name
