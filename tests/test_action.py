"""The GitHub Action parses, its inputs are used, and its step runs the plugin and writes the summary."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.stand_in_engines import IN_PROCESS, write_project

ROOT = Path(__file__).parents[1]
ACTION = ROOT / ".github" / "actions" / "treefactor-check" / "action.yml"

pytestmark = pytest.mark.skipif(not ACTION.is_file(), reason="an archive of the sources has no .github")


@pytest.fixture(scope="module")
def action():
    """Return the content of the Action."""
    return pytest.importorskip("yaml", reason="PyYAML reads the Action").safe_load(ACTION.read_text())


def test_every_input_is_described_and_used(action):
    text = ACTION.read_text()
    used = set(re.findall(r"inputs\.([\w-]+)", text))
    assert used == set(action["inputs"])
    assert all({"description", "default"} == set(one) for one in action["inputs"].values())


def test_every_step_runs_or_uses_something(action):
    steps = action["runs"]["steps"]
    assert action["runs"]["using"] == "composite"
    for step in steps:
        assert ("run" in step) == (step.get("shell") == "bash")
        assert ("run" in step) != ("uses" in step)
        assert "${{" not in step.get("run", "")  # inputs reach a shell as variables, never as text


@pytest.mark.parametrize(
    ("inputs", "status", "words"),
    [
        pytest.param({"ROBOTS": "arm.urdf", "ENGINES": "good.py"}, 0, "arm", marks=pytest.mark.slow),
        ({"ROBOTS": "*.urdf", "ENGINES": "good.py wrong.py"}, 1, "centre of mass"),
        pytest.param({"CONFIG": "own.toml", "FAIL_ON": "refused"}, 0, "arm", marks=pytest.mark.slow),
    ],
)
def test_the_step_runs_the_plugin(action, tmp_path, inputs, status, words):
    write_project(tmp_path, "good", "wrong", own_toml='robots = ["arm.urdf"]\nengines = ["wrong.py"]\n')
    if inputs.get("ROBOTS") != "arm.urdf":  # the first compares in processes, as users do
        (tmp_path / "conftest.py").write_text(IN_PROCESS)
    (step,) = (step for step in action["runs"]["steps"] if step.get("name") == "Compare engines")
    temporary = tmp_path / "runner"
    temporary.mkdir()
    own = {"RUNNER_TEMP": str(temporary), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    own |= {"PYTHONPATH": str(ROOT), "PATH": path}
    environment = {**os.environ, **dict.fromkeys(step["env"], ""), **inputs, **own}
    done = subprocess.run(
        ["bash", "-e", "-c", step["run"]],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == status, done.stdout + done.stderr
    assert words in (tmp_path / "summary").read_text()
    assert {path.name for path in temporary.iterdir()} == {
        f"treefactor.{end}" for end in ("xml", "sarif", "md")
    }
