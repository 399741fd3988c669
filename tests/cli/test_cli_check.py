"""Test `treefactor check` and `treefactor info`: output, files, exit status, and engines that print."""

import json
import os
import shlex
import signal
import subprocess
import sys
from functools import partial

import pytest
from helpers.sweeps import sweep
from rich.cells import cell_len
from rich.text import Text

import treefactor as tf
from treefactor import check, cli, report, robots

pytest.importorskip("pinocchio", reason="Pinocchio is the reference of every check")
pytest.importorskip("pybullet", reason="PyBullet is not installed: it has no wheels after Python 3.11")

from treefactor.adapters import pinocchio_

TWO = ["double_pendulum", "solo12"]
MANY = ["double_pendulum", "talos_reduced", "icub", "tiago_dual", "baxter"]
BOTH = ("pinocchio", "pybullet")


def test_check_prints_a_row_per_engine_and_writes_json(tmp_path, capsys):
    file = tmp_path / "out.json"
    assert cli.main(["check", *TWO, "--samples", "1", "--json", str(file), "--engine", *BOTH]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in (*TWO, *BOTH))
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    assert list(dict.fromkeys((cell["robot"], cell["engine"]) for cell in cells)) == [
        (name, engine) for name in TWO for engine in BOTH
    ]
    assert os.listdir(tmp_path) == ["out.json"]


def test_what_engines_print_is_not_mixed_with_the_table(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "treefactor", "check", "b1", "--samples", "1", "--engine", "pybullet"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0
    assert "b3Warning" not in done.stdout + done.stderr  # PyBullet's C code prints it
    assert "pybullet" in done.stdout


@pytest.mark.parametrize("streams", ["| true", pytest.param(">&- 2>&-", marks=pytest.mark.slow)])
def test_a_reader_that_leaves_or_a_closed_stream_costs_no_result(tmp_path, streams):
    python = shlex.quote(sys.executable)
    command = f"{python} -m treefactor check double_pendulum --engine pinocchio --json out.json"
    script = f"{command} {streams}; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0
    assert json.loads((tmp_path / "out.json").read_text())["cells"][0]["state"] == check.AGREES


@pytest.mark.parametrize(
    ("sent", "status"),
    sweep(
        [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
        lambda case: case[0] == signal.SIGTERM,
    ),
)
def test_a_signal_leaves_no_file_and_no_process_behind(tmp_path, sent, status):
    command = [
        sys.executable,
        "-m",
        "treefactor",
        "check",
        *MANY,
        "--json",
        "out.json",
        "--engine",
        "pinocchio",
    ]
    heard = partial(signal.signal, sent, signal.SIG_DFL)  # shells have background jobs ignore SIGINT
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    begun = subprocess.Popen(command, cwd=tmp_path, preexec_fn=heard, **pipes)
    assert any(b"[1/" in line for line in begun.stderr)
    begun.send_signal(sent)
    begun.communicate(timeout=60)  # ends only when no process holds the pipes any more
    assert begun.returncode == status
    assert os.listdir(tmp_path) == []


def test_a_robot_that_no_engine_can_load_is_reported(tmp_path, in_process, capsys):
    path = tmp_path / "broken.urdf"
    path.write_text("<robot")
    assert cli.main(["check", str(path), "double_pendulum", "--engine", *BOTH]) == cli.DISAGREE
    out = capsys.readouterr().out
    assert "broken.urdf, fixed base, pinocchio refused" in out
    assert cli.main(["check", str(path), "--engine", *BOTH, "--fail-on", "disagrees"]) == cli.DISAGREE
    assert cli.main(["check", str(path), "double_pendulum", "--engine", *BOTH, "--fail-on", "crashed"]) == 0
    assert "broken" in capsys.readouterr().out


def test_an_unknown_robot_is_an_error(capsys):
    assert cli.main(["check", "padna"]) == cli.FAILED
    assert "panda" in capsys.readouterr().err


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_the_base_can_be_chosen(base, in_process, capsys):
    arguments = ["check", "double_pendulum", "--samples", "1", "--base", base, "--engine", "pinocchio"]
    assert cli.main(arguments) == 0
    assert base in capsys.readouterr().out


@pytest.mark.parametrize("bad", [["--samples", "0"], ["--seed", "-1"], ["--base", "free"], ["--json"]])
def test_bad_options_are_usage_errors(bad, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["check", *bad])
    assert caught.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_unwritable_json_is_found_before_the_work_starts(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(cli.check, "compare", lambda *_: pytest.fail("the work started"))
    assert cli.main(["check", "panda", "--json", str(tmp_path / "absent" / "out.json")]) == cli.FAILED
    assert "absent" in capsys.readouterr().err


def test_json_that_fails_leaves_the_old_file_and_no_other(tmp_path, in_process, monkeypatch, capsys):
    file = tmp_path / "out.json"
    file.write_text("old")

    def disk_full(path, content):
        path.write_text('{"cells": [')
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(report.conformance, "write_json", disk_full)
    arguments = ["check", "double_pendulum", "--samples", "1", "--json", str(file), "--engine", "pinocchio"]
    assert cli.main(arguments) == cli.FAILED
    captured = capsys.readouterr()
    assert "No space left" in captured.err
    assert "pinocchio" in captured.out  # the table is not lost
    assert file.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.json"]


def test_json_replaces_the_target_of_a_link(tmp_path, capsys):
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(target)
    assert cli.main(["info", "panda", "--json", str(link)]) == 0
    assert link.is_symlink()
    assert json.loads(target.read_text())["n"] == 9


def test_json_into_a_pipe_or_a_folder(tmp_path, capsys):
    assert cli.main(["info", "panda", "--json", "/dev/null"]) == 0
    assert not os.path.isfile("/dev/null")
    assert cli.main(["info", "panda", "--json", str(tmp_path)]) == cli.FAILED
    assert str(tmp_path) in capsys.readouterr().err
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["[/red]", "a[bold]b.urdf", "\\[x]"])
def test_names_are_not_markup(name, capsys):
    assert cli.main(["check", name]) == cli.FAILED
    assert name in capsys.readouterr().err


@pytest.mark.parametrize("width", ["80", "200"])
def test_the_table_fits_its_terminal(width, in_process, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", width)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert cli.main(["check", "solo12", "--samples", "1", "--engine", *BOTH]) == 0
    lines = Text.from_ansi(capsys.readouterr().out).plain.splitlines()
    table = [line for line in lines if line.strip().startswith(("engine", *BOTH)) and ":" not in line]
    assert max(map(cell_len, table)) <= int(width)  # of q̈ one character has no width
    assert any("momentum" in line for line in table) == (width == "200")


def test_json_has_no_nan(tmp_path):
    file = tmp_path / "out.json"
    report.write_json(file, {"a": [float("nan"), 1.0], "b": {"c": float("inf")}})
    assert json.loads(file.read_text()) == {"a": [None, 1.0], "b": {"c": None}}


def test_info_prints_names_depths_and_costs(tmp_path, capsys):
    file = tmp_path / "solo.json"
    assert cli.main(["info", "solo12", "--json", str(file)]) == 0
    out = capsys.readouterr().out
    tree = pinocchio_.tree(pinocchio_.load(robots.find("solo12").path, floating=True))
    for word in ("FL_HAA", "HR_KFE", f"D1 = {tree.D1}", f"D2 = {tree.D2}", f"{tree.density:.3f}", "LTDL"):
        assert word in out
    content = json.loads(file.read_text())
    assert content["parent"] == tree.parent.tolist()
    assert content["cost"]["LTDL"]["total"] == tree.cost("LTDL").total


def test_info_lists_frames_with_their_supports(tmp_path, capsys):
    file = tmp_path / "solo.json"
    assert cli.main(["info", "solo12", "--json", str(file)]) == 0
    model = tf.Model.from_urdf(robots.find("solo12").path, floating=True)
    content, count = json.loads(file.read_text()), len(model.frames)
    assert content["nframes"] == count
    assert "frames" not in content
    assert f"{count} frames; --frames lists them" in capsys.readouterr().out
    assert cli.main(["info", "solo12", "--frames", "--json", str(file)]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    frames = {line[1]: line[2:] for line in lines if len(line) > 3 and line[0].isdigit()}
    assert frames["HL_FOOT"] == ["HL_KFE", "body", "0-5,", "12-14"]
    assert frames["universe"] == ["base", "fixed_joint"]
    listed = json.loads(file.read_text())["frames"]
    assert [one["name"] for one in listed] == [frame.name for frame in model.frames]
    for one, frame in zip(listed, model.frames, strict=True):
        assert (one["support"], one["type"]) == (model.support(frame).tolist(), frame.type)
        assert one["placement"] == frame.placement.tolist()
    assert listed[0]["joint"] is None


def test_info_lists_the_bundled_robots(capsys):
    assert cli.main(["info", "--list"]) == 0
    shown = capsys.readouterr()
    assert shown.out.splitlines() == [*robots.bundled(), *robots.suite()]
    assert all(cli_robot.path.is_file() for cli_robot in map(robots.find, shown.out.splitlines()))
    assert "sdf-1.6/NAME and sdf-1.9/NAME" in shown.err


@pytest.mark.parametrize("folder", ["sdf-1.6", "sdf-1.9"])
@pytest.mark.parametrize(
    "command", [["info"], ["bench"], ["generate", "-o", "absent"]], ids=lambda one: one[0]
)
def test_commands_name_an_sdf_as_it_was_typed(command, folder, capsys):
    assert cli.main([*command, f"{folder}/double_pendulum"]) == cli.FAILED
    error = capsys.readouterr().err
    assert f"error: {folder}/double_pendulum: expected a URDF or an MJCF, got an SDF" in error
    assert "tmp" not in error


def test_derivatives_of_an_sdf_are_refused_by_name(capsys):
    assert (
        cli.main(["check", "sdf-1.6/double_pendulum", "--derivatives", "--engine", "mujoco"]) == cli.DISAGREE
    )
    shown = " ".join(capsys.readouterr().out.split())
    assert "mujoco refused: sdf-1.6/double_pendulum: expected a URDF or an MJCF" in shown
    assert "treefactor-sdf" not in shown


def test_info_without_a_robot(capsys):
    assert cli.main(["info"]) == cli.FAILED
    assert "--list" in capsys.readouterr().err


def test_info_of_a_coupled_model(capsys):
    assert cli.main(["info", "panda", "--mimic"]) == 0
    assert "n = 8" in capsys.readouterr().out


@pytest.mark.parametrize(("ending", "magic"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_info_draws(tmp_path, ending, magic):
    pytest.importorskip("matplotlib", reason="plots need Matplotlib")
    file = tmp_path / f"talos.{ending}"
    assert cli.main(["info", "talos_reduced", "--plot", str(file)]) == 0
    assert file.read_bytes().startswith(magic)


def test_info_draws_no_unknown_format(tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="plots need Matplotlib")
    assert cli.main(["info", "panda", "--plot", str(tmp_path / "panda.xyz")]) == cli.FAILED
    assert "xyz" in capsys.readouterr().err
    assert os.listdir(tmp_path) == []
