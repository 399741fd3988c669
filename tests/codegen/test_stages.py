"""Check the texts of the stages: each is executed and gives the result of the program."""

import math
import re

import numpy as np
import pytest
from helpers.codegen_models import model, states

from treefactor.cli import main
from treefactor.codegen import compile, generate, stages
from treefactor.model.mechanisms import MECHANISMS

WORDS = {"sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, "atan2": np.arctan2}
WORDS["sincos"] = lambda x: (math.sin(x), math.cos(x))


def executed(text: str, **arguments) -> np.ndarray:
    """Execute the statements of a text as Python and return its results."""
    out: dict = {}
    space = {**WORDS, **arguments, "out": out}
    for line in text.splitlines()[1:]:
        line = re.sub(r"(sincos|sqrt) (\S+)$", r"\1(\2)", line.split("#")[0].strip())
        if not line.startswith("run of"):
            exec(line, space)
    return np.array([out[k] for k in range(len(out))])


@pytest.mark.parametrize(
    ("robot", "names"),
    [
        ("ur5", ("crba", "rnea", "forward_dynamics")),
        ("solo12", ("bias",)),
        ("five-bar", ("position_closure",)),
    ],
)
def test_every_stage_computes_what_the_program_does(robot, names):
    mechanism = MECHANISMS[robot]() if robot in MECHANISMS else None
    robot_model = mechanism.model if mechanism else model(robot)
    texts = stages(robot_model, names)
    program = generate(robot_model, names)
    kernels = compile(program)
    q, v, u = (x[0] for x in states(robot_model, 1))
    q = mechanism.closed if mechanism else q
    values = {"q": q, "v": v, "a": u, "tau": u}
    for name in names:
        function = program.functions[name]
        arguments = {argument: values[argument] for argument, _ in function.inputs}
        layout = {"layout": "packed"} if name == "crba" else {}
        expected = np.ravel(getattr(kernels, name)(*arguments.values(), **layout))
        for stage in ("2-used", "3-gathered", "4-instructions"):
            result = executed(texts[f"{name}-{stage}.txt"], **arguments)
            np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
        variant = function.variant.split(",")[0]
        recorded = set(statements(texts[f"{variant}-1-recorded.txt"]))
        used = statements(texts[f"{name}-2-used.txt"])
        assert set(used) <= recorded
        gathered = statements(texts[f"{name}-3-gathered.txt"])
        assert len(gathered) == function.rows - function.first
        assert f"{name}: {function.variant} is kept" in texts["variants.txt"]


def statements(text: str) -> list[str]:
    return [line for line in text.splitlines()[1:] if line.startswith("t")]


def test_statements_have_the_names_of_the_elements_they_hold():
    text = stages(model("ur5"), "crba", variants="plain")["crba-2-used.txt"]
    assert re.search(r"^t\d+ = .*    # .*-?H\[5\]\[2\]", text, re.MULTILINE)


def test_the_command_writes_a_folder(tmp_path, capsys):
    out, folder = tmp_path / "out", tmp_path / "stages"
    arguments = ["generate", "four-bar", "-o", str(out), "--functions", "position_closure"]
    assert main([*arguments, "--branch", "coupler=1", "--stages", str(folder)]) == 0
    files = {path.name: path.read_text() for path in folder.iterdir()}
    expected = stages(MECHANISMS["four-bar"]().model, "position_closure", branch={"coupler": 1})
    assert {name: files[name] for name in expected} == expected
    assert set(files) == {*expected, "SHA256SUMS"}
    (folder / "mine.txt").write_text("kept")
    assert main([*arguments, "--stages", str(folder)]) == 2
    assert "mine.txt in it was not generated" in capsys.readouterr().err
    assert (folder / "mine.txt").read_text() == "kept"


@pytest.mark.parametrize("sign", ["coupler", "coupler=2", "=", "coupler=left"])
def test_signs_of_a_branch_are_checked(sign, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["generate", "four-bar", "-o", str(tmp_path / "out"), "--branch", sign])
    assert "expected a freedom and its sign" in capsys.readouterr().err
