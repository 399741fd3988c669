"""Check names of functions of frames and of groups: options, C identifiers, messages, files, all backends."""

import pickle
import re
import shutil
import subprocess

import numpy as np
import pytest
from helpers.codegen_models import model, states
from hypothesis import example, given
from hypothesis import strategies as st

import treefactor as tf
from treefactor.cli import main
from treefactor.codegen import stages
from treefactor.codegen.program import emit_c
from treefactor.codegen.program.emit_c import file_names
from treefactor.codegen.program.names import (
    OF_FRAMES,
    ROUTINES,
    FrameFunction,
    canonical,
    identifier,
    name_of,
)

ODD = ['left-sole "x"', "größe/*\n", "a:b", "tool:packed", "a_x8", "a", "A b", "x" * 300]
WORDS = st.text("ab_:x8-é", min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("name", "frame", "options", "short"),
    [
        ("frame_jacobian:tool", "tool", ("LOCAL", "dense"), "frame_jacobian:tool"),
        ("frame_jacobian:tool:LOCAL:dense", "tool", ("LOCAL", "dense"), "frame_jacobian:tool"),
        ("frame_jacobian:tool:packed", "tool", ("LOCAL", "packed"), "frame_jacobian:tool:packed"),
        ("frame_jacobian:tool:WORLD", "tool", ("WORLD", "dense"), "frame_jacobian:tool:WORLD"),
        ("frame_velocity:a:b:WORLD", "a:b", ("WORLD",), "frame_velocity:a:b:WORLD"),
        (
            "frame_jacobian:t:packed:LOCAL:dense",
            "t:packed",
            ("LOCAL", "dense"),
            "frame_jacobian:t:packed:LOCAL:dense",
        ),
        ("frame_placement:WORLD", "WORLD", (), "frame_placement:WORLD"),
        ("frame_velocity:WORLD", "WORLD", ("LOCAL",), "frame_velocity:WORLD"),
    ],
)
def test_options_follow_the_frame(name, frame, options, short):
    function = FrameFunction.of(name)
    assert (function.frame, function.options, function.name) == (frame, options, short)
    assert FrameFunction.of(short) == function


def test_the_notes_of_generate_list_every_function_with_its_arguments():
    notes = tf.generate.__doc__.partition("Notes\n-----\n")[2]
    for name, one in ROUTINES.items():
        shown = f"{name}:NAME" if name in OF_FRAMES else name
        assert f'\n- "{shown}" of ({", ".join(one.arguments)}): ' in notes
    assert "FUNCTIONS" not in notes


@given(kind=st.sampled_from(OF_FRAMES), frame=WORDS, data=st.data())
def test_the_short_name_means_the_same(kind, frame, data):
    ends = ["", ":LOCAL", ":packed", ":WORLD:dense", ":classical", ":LOCAL:spatial"]
    name = f"{kind}:{frame}{data.draw(st.sampled_from(ends))}"
    assert canonical(canonical(name)) == canonical(name)
    assert FrameFunction.of(canonical(name)) == FrameFunction.of(name)


@given(names=st.sets(WORDS.map("frame_placement:{}".format), min_size=2, max_size=20))
@example({"frame_placement:a", "frame_placement:a_x8", "frame_placement:a_x8_groups"})
@example({"frame_placement:a_b", "frame_placement:a-b", "frame_placement:a:b"})
@example({"frame_placement:" + "x" * 200, "frame_placement:" + "x" * 201})
def test_different_names_have_different_symbols(names):
    forms = ("", "_x8", "_x8_groups", "_x8_live")
    symbols = [f"{identifier(name)}{form}" for name in names for form in forms]
    assert all(re.fullmatch("[A-Za-z_][A-Za-z0-9_]{0,119}", symbol) for symbol in symbols)
    exported, blocks = [f"tf_{x}" for x in symbols], [f"{x}_{k}" for x in symbols for k in (1, 8, 18)]
    assert len({*exported, *blocks}) == len(exported) + len(blocks)


@given(names=st.sets(WORDS.map("frame_placement:{}".format), min_size=2, max_size=20))
@example({"frame_placement:tool", "frame_placement:Tool", "frame_placement:TOOL", "frame_placement:hand"})
def test_different_names_have_different_files_whatever_the_case(names):
    files = file_names(sorted(names))
    stems = [form for name in files for form in (name[:-2], f"{name[:-2]}_x8")]
    assert len({stem.casefold() for stem in stems}) == len(stems)
    assert all(name.startswith(identifier(one)) for one, name in zip(sorted(names), files, strict=True))
    assert "frame_placement__hand.c" in files or "frame_placement:hand" not in names


def test_functions_of_frames_that_differ_by_case_have_files_of_their_own():
    robot = model("ur5").add_frame("Tool", "wrist_3_joint", p=[0.1, 0.2, 0.3])
    robot = robot.add_frame("tool", "wrist_3_joint")
    functions = ["frame_placement:Tool", "frame_placement:tool"]
    program = tf.generate(robot, functions, variants="plain")
    files = [name.casefold() for name in emit_c.sources(program) if name.startswith("frame")]
    assert len(set(files)) == 2
    written = [name.casefold() for name in stages(robot, functions, variants="plain")]
    assert len(set(written)) == len(written)


def test_identifiers_of_plain_names_are_readable():
    assert identifier("crba") == "crba"
    assert identifier("frame_jacobian:tool:WORLD") == "frame_jacobian__tool__WORLD"


@pytest.fixture(scope="module")
def odd():
    robot = model("ur5")
    for k, name in enumerate(ODD):
        robot = robot.add_frame(name, robot.joints[k % robot.njoints].name, p=[0.1 * k, -0.2, 0.3])
    return robot


def odd_functions():
    """Return functions of frames with odd names."""
    return [f"frame_jacobian:{name}:LOCAL:dense" for name in ODD]


@pytest.mark.parametrize("backend", ["cc", "llvm", "numpy"])
def test_odd_names_in_all_backends(odd, backend, monkeypatch, tmp_path):
    if backend == "llvm":
        pytest.importorskip("llvmlite")
    if backend == "cc" and not shutil.which("cc"):
        pytest.skip("no C compiler")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    program = tf.generate(odd, odd_functions(), variants="plain")
    own, interpreted = tf.compile(program, backend=backend), tf.compile(program)
    q = states(odd, 9)[0]
    for name in odd_functions():
        np.testing.assert_allclose(own.call(name, q), interpreted.call(name, q), atol=1e-14)
        np.testing.assert_allclose(own.call(name, q[0]), interpreted.call(name, q[0]), atol=1e-14)
        np.testing.assert_array_equal(interpreted.call(name, q)[0], interpreted.call(name, q[0]))
    assert own.backend == backend


@pytest.mark.skipif(not shutil.which("cc") or not shutil.which("make"), reason="no C compiler")
def test_a_folder_of_odd_names_checks_itself(odd, tmp_path):
    from treefactor.codegen import folder

    functions = [
        *odd_functions(),
        "kinetic_energy",
        ("frame_velocity:a", "center_of_mass"),
        "joint_placements",
    ]
    program = tf.generate(odd, functions, variants="plain")
    folder.write(odd, program, tmp_path / "out")
    done = subprocess.run(["make", "-j2", "check"], cwd=tmp_path / "out", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("allowed") == 2 * len(functions)
    assert (tmp_path / "out" / "frame_jacobian__a.c").exists()


def test_the_command_writes_frames_and_groups(tmp_path, capsys):
    functions = ["frame_jacobian:wrist_3_joint:WORLD", "center_of_mass + potential_energy"]
    command = ["generate", "ur5_robot", "-o", str(tmp_path / "out"), "--functions", *functions, "--verify"]
    assert main([*command, "--stages", str(tmp_path / "stages")]) == 0
    printed = capsys.readouterr().out
    assert "frame_jacobian:wrist_3_joint:WORLD" in printed
    assert (tmp_path / "out" / "frame_jacobian__wrist_3_joint__WORLD.c").exists()
    assert (tmp_path / "stages" / "frame_jacobian__wrist_3_joint__WORLD-3-gathered.txt").exists()


def test_stages_of_frames_have_their_c_names(odd):
    texts = stages(odd, "frame_placement:a", variants="plain")
    assert "frame_placement__a-2-used.txt" in texts
    assert "# E[a, " in texts["frame_placement__a-2-used.txt"]


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        ("frame_jacobian", "needs a frame: write 'frame_jacobian:NAME'"),
        ("frame_jacobian:", "is not a function to generate"),
        ("frame_jacobian:wrist_3_jont", "did you mean 'wrist_3_joint'"),
        ("frame_jacobean:tool", "did you mean 'frame_jacobian:FRAME'"),
        ("center_of_mas", "did you mean 'center_of_mass'"),
        ([("rnea", "aba")], "take both a and tau"),
        ([()], "is not a function to generate"),
        ([3], "is not a function to generate"),
        ([("crba", 3)], "3 is not a function to generate"),
    ],
)
def test_messages(functions, message):
    with pytest.raises(tf.CodegenError, match=message):
        tf.generate(model("ur5"), functions)


def test_kernels_name_what_they_lack():
    kernels = tf.compile(model("ur5"), ["frame_velocity:wrist_3_joint"])
    with pytest.raises(tf.CodegenError, match="was not generated, only frame_velocity:wrist_3_joint"):
        kernels.call("frame_velocity:tool", np.zeros(6), np.zeros(6))
    with pytest.raises(ValueError, match="takes 2 arrays: q, v; got 1"):
        kernels.call("frame_velocity:wrist_3_joint:LOCAL", np.zeros(6))


def test_files_and_pickles(odd, tmp_path):
    given = ["frame_jacobian:a:packed", ("frame_placement:a", "center_of_mass"), "kinetic_energy", "crba"]
    program = tf.generate(odd, given, variants="plain")
    program.save(tmp_path / "ur5.npz")
    q, v, _ = states(odd, 3)
    for read in (tf.Program.load(tmp_path / "ur5.npz"), pickle.loads(pickle.dumps(program))):
        assert read.frames == program.frames
        assert read.operations == program.operations
        own, expected = tf.compile(read), tf.compile(program)
        for name in given[:2]:
            for x, y in zip(own.call(name, q), expected.call(name, q), strict=True):
                np.testing.assert_array_equal(x, y)
        assert own.call("kinetic_energy", q, v).shape == (3,)
    chosen = tf.compile(program, [given[1]])
    assert list(chosen.program.functions) == [name_of(given[1])]
    assert "rows [R | p] of the frame a in the base; centre of mass" in program.c_source([given[1]])


@pytest.mark.parametrize("columns", [(1, 0), (0, 6), (-1,), (2, 2)])
def test_damaged_columns_of_frames_are_refused(odd, columns):
    from dataclasses import replace

    program = tf.generate(odd, "frame_jacobian:a:packed", variants="plain")
    with pytest.raises(tf.CodegenError, match="ascending columns"):
        replace(program, frames=(("a", columns),)).validate()
    with pytest.raises(tf.CodegenError, match="do not fit the model"):
        replace(program, frames=()).validate()
