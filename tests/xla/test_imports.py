"""Neither treefactor nor the handler of XLA's calls imports JAX."""

import json
import subprocess
import sys


def test_importing_treefactor_imports_neither_the_handler_nor_jax():
    code = "import json, sys, treefactor; print(json.dumps(sorted(sys.modules)))"
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    modules = json.loads(completed.stdout)
    assert not [name for name in modules if name.split(".")[0] in ("jax", "jaxlib")]
    assert not [name for name in modules if name.startswith("treefactor.xla")]


def test_the_handler_does_not_import_jax():
    code = "import json, sys, treefactor.xla; print(json.dumps(sorted(sys.modules)))"
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert not [name for name in json.loads(completed.stdout) if name.split(".")[0] in ("jax", "jaxlib")]
