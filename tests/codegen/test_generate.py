"""Check `treefactor generate`: folders compile and verify themselves; no other files are overwritten."""

import json
import os
import shutil
import subprocess

import numpy as np
import pytest

import treefactor as tf
from treefactor import constraints
from treefactor.cli import main
from treefactor.codegen import folder
from treefactor.model.mechanisms import MECHANISMS

URDF = """<robot name="{name}">
<link name="base"/>
<link name="l"><inertial><mass value="2"/><origin xyz="0 0.1 0.3"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="{name}" type="revolute"><parent link="base"/><child link="l"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""

needs_make = pytest.mark.skipif(not (shutil.which("make") and shutil.which("cc")), reason="no make or cc")


@pytest.fixture
def pendulum(tmp_path):
    path = tmp_path / "pendulum.urdf"
    path.write_text(URDF.format(name="pendulum"))
    return path


@pytest.fixture
def generate(pendulum, tmp_path):
    """Run the command on a pendulum and return the folder."""

    def generate(*arguments, robot=pendulum, status=0):
        out = tmp_path / "out"
        assert main(["generate", str(robot), "-o", str(out), *arguments]) == status
        return out

    return generate


def contents(path):
    return {file.name: file.read_bytes() for file in path.iterdir()}


def make(path, *targets):
    """Run make without Python variables in the environment."""
    return subprocess.run(
        ["make", *targets], cwd=path, env={"PATH": os.defpath}, capture_output=True, text=True, check=False
    )


@needs_make
def test_the_folder_compiles_and_checks_itself(generate):
    done = make(generate(), "check")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("largest deviation") == 12
    assert "WRONG" not in done.stdout
    assert "warning" not in done.stderr


@needs_make
@pytest.mark.parametrize("robot", ["ur5_robot", pytest.param("solo12", marks=pytest.mark.slow)])
def test_robots(generate, robot):
    if robot not in tf.robots.bundled():
        pytest.skip("robots are not installed")
    done = make(generate("--functions", "crba", "rnea", "aba", robot=robot), "check")
    assert done.returncode == 0, done.stdout + done.stderr


@needs_make
def test_the_check_fails_on_a_wrong_number(generate):
    out = generate("--functions", "crba")
    text = (out / "crba.c").read_text()
    (out / "crba.c").write_text(text.replace("constant(", "constant(0.1 + "))
    done = make(out, "check")
    assert done.returncode != 0
    assert "WRONG" in done.stdout


@needs_make
def test_the_check_fails_on_nan(generate):
    out = generate("--functions", "bias")
    text = (out / "bias.c").read_text()
    (out / "bias.c").write_text(text.replace("store(out, 0, ", "store(out, 0, (real){0} / 0.0 + "))
    assert make(out, "check").returncode != 0


@pytest.mark.skipif(not shutil.which("sha256sum"), reason="no sha256sum")
def test_sums_are_those_of_all_files(generate):
    out = generate()
    done = subprocess.run(
        ["sha256sum", "-c", folder.SUMS], cwd=out, capture_output=True, text=True, check=True
    )
    assert done.stdout.count(": OK") == len(os.listdir(out)) - 1


def test_the_same_bytes_again(generate):
    first = contents(generate())
    assert contents(generate()) == first


@needs_make
def test_what_it_wrote_is_replaced_compiled_or_not(generate):
    out = generate()
    make(out, "check")
    generate("--functions", "crba")
    assert "crba.c" in contents(out)
    assert "rnea.c" not in contents(out)
    assert not any(name.endswith(".o") for name in contents(out))


def test_files_of_others_stay(generate, capsys):
    out = generate()
    (out / "mine.txt").write_text("mine")
    before = contents(out)
    generate(status=2)
    assert "mine.txt in it was not generated" in capsys.readouterr().err
    assert contents(out) == before


def test_changed_files_stay(generate, capsys):
    out = generate()
    (out / "crba.c").write_text("better")
    before = contents(out)
    generate(status=2)
    assert "crba.c in it was changed; --force" in capsys.readouterr().err
    assert contents(out) == before


def test_folders_it_does_not_know_stay(generate, tmp_path, capsys):
    out = tmp_path / "out"
    out.mkdir()
    (out / "program.o").write_text("mine")
    generate(status=2)
    assert contents(out) == {"program.o": b"mine"}
    (out / "program.o").unlink()
    generate()  # into an empty one
    (tmp_path / "file").write_text("")
    assert main(["generate", str(tmp_path / "pendulum.urdf"), "-o", str(tmp_path / "file")]) == 2
    assert "it is not a folder" in capsys.readouterr().err


def test_links_and_folders_inside_stay(generate, tmp_path):
    out = generate()
    (out / "x.o").symlink_to(tmp_path)
    generate(status=2)
    (out / "x.o").unlink()
    (out / "x.a").mkdir()
    generate(status=2)


def test_nothing_half_written(generate, tmp_path, monkeypatch, capsys):
    out = generate("--functions", "crba")
    before, beside = contents(out), sorted(os.listdir(tmp_path))

    def full(path, target):
        if path.name == "new":
            raise OSError(28, "No space left on device")
        return os.rename(path, target)

    monkeypatch.setattr(folder.Path, "rename", full)
    generate(status=2)
    assert "No space left on device" in capsys.readouterr().err
    assert contents(out) == before
    assert sorted(os.listdir(tmp_path)) == beside


def test_no_folder_to_write_in(pendulum, tmp_path, capsys):
    assert main(["generate", str(pendulum), "-o", str(tmp_path / "missing" / "out")]) == 2
    assert "No such file or directory" in capsys.readouterr().err
    assert main(["generate", str(pendulum), "-o", str(pendulum / "out")]) == 2


@needs_make
@needs_make
def test_mechanisms_are_checked_where_their_loops_are_closed(generate):
    out = generate("--functions", "loops", "loop_gap", "position_closure", robot="five-bar")
    assert make(out, "check").returncode == 0
    assert "square roots" in (out / "position_closure.c").read_text()
    table = (out / "reference.h").read_text().split("double q[] = {")[1].split("}")[0]
    q = np.array([[float(x) for x in row.split(",") if x.strip()] for row in table.strip().splitlines()])
    gap = np.abs(constraints.loop_rows(MECHANISMS["five-bar"]().model, q).residual).max(axis=1)
    half = len(gap) // 2
    assert gap[:half].max() < 1e-14
    assert gap[half:].min() > 1e-3


def test_results_that_are_zero(generate, pendulum):
    pendulum.write_text(pendulum.read_text().replace('axis xyz="0 1 0"', 'axis xyz="0 0 1"'))
    assert make(generate("--functions", "bias", "crba"), "check").returncode == 0


def test_nothing_that_moves(generate, pendulum, capsys):
    pendulum.write_text(pendulum.read_text().replace('"revolute"', '"fixed"'))
    generate(status=2)
    assert "has no joints that move" in capsys.readouterr().err


def test_unknown_functions(generate, capsys):
    generate("--functions", "crba", "magic", status=2)
    assert "'magic' is not a function to generate" in capsys.readouterr().err


def test_counts_as_json(generate, tmp_path):
    generate("--functions", "crba", "rnea", "--json", str(tmp_path / "counts"))
    counts = json.loads((tmp_path / "counts").read_text())
    assert set(counts["operations"]) == {"crba", "rnea"}
    assert counts["operations"]["rnea"]["trig"] == 1


def test_a_base_that_floats(generate):
    out = generate("--functions", "crba", "--base", "floating")
    assert "8 entries of q, 7 of v" in (out / "dynamics.h").read_text()


@needs_make
def test_hostile_names_of_robots_and_joints(generate, tmp_path):
    name = "*/ #error x /* \\ ??/ %s &quot;&#10;#error y&#10;"
    path = tmp_path / "a*b ??' .urdf"
    path.write_text(URDF.format(name=name))
    out = generate(robot=path)
    for content in contents(out).values():
        assert not any(bad in content for bad in (b"#error", b"??/", b"%s &", str(tmp_path).encode()))
    assert make(out, "check", "CFLAGS=-std=c99 -trigraphs -Wall -Werror -Wno-psabi").returncode == 0
