"""The harnesses of `make fuzz` run, and a few inputs of each are handled without a crash."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HARNESSES = sorted((Path(__file__).parents[1] / "fuzz").glob("fuzz_*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("harness", HARNESSES, ids=lambda path: path.stem)
def test_some_inputs(harness, tmp_path):
    pytest.importorskip("atheris", reason="atheris is not installed: pip install 'treefactor[fuzz]'")
    done = subprocess.run(
        [sys.executable, harness, "-runs=500", "-seed=1"],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(re.search(r"executed_units: (\d+)", done.stderr)[1]) >= 500
