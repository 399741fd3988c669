"""The notebooks run from top to bottom."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.unsanitized

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples").glob("*.ipynb"))
EXECUTE = (
    "import sys, nbformat, nbclient\n"
    "notebook = nbformat.read(sys.argv[1], as_version=4)\n"
    "nbclient.NotebookClient(notebook, timeout=100, kernel_name='python3').execute()\n"
    "print(sum(cell.cell_type == 'code' and bool(cell.execution_count) for cell in notebook.cells))"
)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, tmp_path):
    pytest.importorskip("pinocchio", reason="the notebooks use Pinocchio")
    command = [sys.executable, "-c", EXECUTE, path]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) > 3


def test_notebooks_hold_no_results():
    """Stored outputs would fill every diff; readers make them by running the notebook."""
    for path in NOTEBOOKS:
        assert '"outputs": []' in path.read_text(encoding="utf-8")
        assert '"output_type"' not in path.read_text(encoding="utf-8")
