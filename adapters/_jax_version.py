"""Import JAX; refuse versions that lack what the adapters use, or that their tests do not run with."""

from __future__ import annotations

from ..exceptions import AdapterError
from . import requires

with requires("JAX", "jax"):
    import jax

OLDEST = (0, 10)

if jax.__version_info__ < OLDEST:
    raise AdapterError(
        f"JAX {jax.__version__} is too old: this needs {'.'.join(map(str, OLDEST))} or later, which needs "
        "Python 3.11 or later: pip install 'treefactor[jax]'",
        engine="jax",
    )
