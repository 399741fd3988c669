"""Types of the fast path of steps and rollouts, and of their bound calls."""

from typing import Any

from .._util._bound_call import BoundCall
from ._rollouts import Simulation

class BoundMotion(BoundCall): ...

def fast_path(
    s: Simulation,
    method: Any,
    q0: Any,
    v0: Any,
    tau: Any,
    h: Any,
    steps: Any,
    out: Any,
    threads: Any,
    whole: bool,
) -> Any: ...
