"""Test `treefactor advise`: what it prints and writes, and files that are not scripts."""

import json

import pytest

from treefactor import cli
from treefactor.advice import known

SCRIPT = """import pinocchio as pin

for q in qs:
    M = pin.crba(model, data, q)
    pin.computeCollisions(model, data, gm, gd, q, False)
while True:
    q = pin.integrate(model, q, v)
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Write a script that fails if it is run, in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "script.py"
    path.write_text(f"raise SystemExit('it was run')\n{SCRIPT}")
    return path


def notebook(*cells):
    return json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in cells], "nbformat": 4})


def test_what_to_write_is_printed(script, capsys):
    assert cli.main(["advise", "script.py"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "script.py: 3 calls of Pinocchio in loops, 0 others"
    assert "    robot = pinocchio_.model(model)" in lines
    least, most = known.stored()["ratios"]["crba"]["batch of 1024"]
    first = lines.index("1. Batch over configurations: the loop becomes the leading axis of one call")
    assert lines[first + 1 : first + 4] == [
        "  line 5: M = pin.crba(model, data, q)",
        "      tf.crba(robot, qs)",
        f"      {least:.1f} to {most:.1f} times as fast; line 4: for q in qs",
    ]
    second = lines.index("2. Replace calls one for one")
    assert second > first
    assert lines[second + 2] == "      tf.integrate(robot, q, v)"
    assert " bound; line 7: while True" in lines[second + 3]
    assert "  line 7: while True (q)" in lines
    assert "  pin.computeCollisions: line 6" in lines
    assert "panda, solo12, talos_reduced" in " ".join(" ".join(lines[-4:]).split())


def test_scripts_are_read_and_not_run(script):
    script.write_text(f"import this_module_does_not_exist\n1 / 0\n{SCRIPT}")
    assert cli.main(["advise", "script.py"]) == 0


def test_json_has_the_advice_about_every_script(script, tmp_path):
    (tmp_path / "other.py").write_text("print('no loops')\n")
    assert cli.main(["advise", "script.py", "other.py", "--json", "advice.json"]) == 0
    content = json.loads((tmp_path / "advice.json").read_text())
    assert list(content) == ["script.py", "other.py"]
    one = content["script.py"]
    assert (one["in_loops"], one["outside"], one["models"]) == (3, 0, {"model": "robot"})
    assert one["stay"] == {"pin.computeCollisions": ["line 6"]}
    first, second = one["advice"]
    assert (first["step"], first["ours"], first["places"]) == ("batch", "tf.crba(robot, qs)", ["line 5"])
    assert 1 < first["gain"][0] < first["gain"][1]
    assert first["bound"] is None
    assert second["bound"][0] > second["gain"][0]
    assert content["other.py"]["imports_pinocchio"] is False


def test_scripts_without_anything_to_do(script, capsys):
    script.write_text("import pinocchio as pin\nmodel = pin.Model()\n")
    assert cli.main(["advise", "script.py"]) == 0
    out = capsys.readouterr().out
    assert "0 calls of Pinocchio in loops, 1 others" in out
    assert "no loop calls functions of Pinocchio" in out
    script.write_text("print(3)\n")
    assert cli.main(["advise", "script.py"]) == 0
    assert "script.py does not import Pinocchio" in capsys.readouterr().out


def test_what_was_not_measured_is_named_so(script, capsys):
    script.write_text(
        "import pinocchio as pin\nfor k in range(9):\n    pin.constraintDynamics(m, d, q, v, u, c, e)\n"
    )
    assert cli.main(["advise", "script.py"]) == 0
    assert "not measured; line 2: for k in range(9)" in capsys.readouterr().out


def test_notebooks_have_cells_for_lines(script, tmp_path, capsys):
    cells = (
        ["import pinocchio as pin\n", "%matplotlib inline\n", "!pip list\n"],
        ["%%bash\n", "for q in qs; do :; done"],
        "%%time\nhelp?\nfor q in qs:\n    %timeit 3\n    pin.crba(model, data, q)\n",
    )
    (tmp_path / "script.ipynb").write_text(notebook(*cells))
    assert cli.main(["advise", "script.ipynb"]) == 0
    out = capsys.readouterr().out
    assert "cell 3, line 5: pin.crba(model, data, q)" in out
    assert "cell 3, line 3: for q in qs" in out


WRONG = {  # contents of a file, and the error about it
    "absent.py": (None, "absent.py does not exist"),
    "folder": ("folder", "folder is a folder: pass its scripts, such as folder/*.py"),
    "text.py": (b"for q in qs\n    pass", "text.py, line 1, is not Python 3: 'for q in qs'"),
    "old.py": (b"print 'q'\n", "old.py, line 1, is not Python 3: \"print 'q'\""),
    "bytes.py": (b"\x7fELF\x00\xff\xfe", "bytes.py is not"),
    "null.py": (b"x = 1\x00\n", "null.py is not"),
    "latin.py": (b"x = '\xe9'\n", "latin.py is not"),
    "broken.ipynb": (b"{", "broken.ipynb is not a notebook"),
    "list.ipynb": (b"[]", "list.ipynb is not a notebook: its cells cannot be read"),
    "other.ipynb": (b'{"cells": [{"source": "x"}]}', "other.ipynb is not a notebook"),
    "cell.ipynb": (notebook("x = 1", "y = (\n").encode(), "cell.ipynb, cell 2, line 1, is not Python 3"),
}


@pytest.mark.parametrize("name", WRONG)
def test_files_that_are_not_scripts(script, tmp_path, capsys, name):
    content, message = WRONG[name]
    if content == "folder":
        (tmp_path / name).mkdir()
    elif content is not None:
        (tmp_path / name).write_bytes(content)
    assert cli.main(["advise", "script.py", name, "--json", "advice.json"]) == cli.FAILED
    error = capsys.readouterr().err
    assert error.startswith(f"treefactor: error: {message}")
    assert "Traceback" not in error
    assert not (tmp_path / "advice.json").exists()


def test_expressions_that_are_nested_too_deeply(script, capsys):
    script.write_text("import pinocchio as pin\nx = " + "+".join(["f(x)"] * 9000) + "\n")
    assert cli.main(["advise", "script.py"]) in (0, cli.FAILED)
    assert "Traceback" not in capsys.readouterr().err


def test_a_script_is_needed(script, capsys):
    with pytest.raises(SystemExit):
        cli.main(["advise"])
    assert "script" in capsys.readouterr().err
