"""Step and roll out motions by generated forward dynamics."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..dynamics._rollout_calls import BoundMotion, fast_path
from ..dynamics._rollouts import Simulation
from ..dynamics.rollouts import GeneralMotion, bound_motion
from ..exceptions import CodegenError
from ..model.model import Model
from .backends._program_rollouts import CalledSimulation, ProgramSimulation
from .backends._results import Results
from .backends._routine import Routine

# functions that can compute the accelerations; the first one in the program is used
ACCELERATIONS = ("forward_dynamics", "aba")


class Motions:
    """Steps and rollouts of one robot by one of its generated functions.

    Parameters
    ----------
    model : Model
    forward_dynamics : callable
        Of q, v and tau; raises the error that names a joint.
    routine : Routine or Reference
    results : Results
    """

    def __init__(self, model: Model, forward_dynamics: Callable, routine, results: Results):
        self.model, self.forward_dynamics = model, forward_dynamics
        self.simulation: Simulation
        if isinstance(routine, Routine):
            self.simulation = ProgramSimulation(model, routine, results)
        else:
            self.simulation = CalledSimulation(model, routine, results)

    def run(
        self, q, v, tau, h, steps, method: str, out, num_threads: int, whole: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the next state, or with ``whole`` the trajectories."""
        states = fast_path(self.simulation, method, q, v, tau, h, steps, out, num_threads, whole)
        if states is not None:
            return states
        call = GeneralMotion(self.model, self.simulation, self.forward_dynamics, method, h, num_threads)
        return call.run(q, v, tau, None, steps, out, whole)

    def bind(self, function: Callable, arguments: tuple, out, whole: bool) -> BoundMotion:
        """Return a call without arguments; ``function`` does the same with validation."""
        return bound_motion(self.model, self.simulation, function, arguments, out, whole)


def motions_of(kernels, model: Model | None, find: Callable) -> Motions:
    """Return the motions of kernels; raise CodegenError without a model or generated forward dynamics.

    ``find`` returns the routine and the results of a function in a layout.
    """
    if model is None:
        raise CodegenError("step and rollout need the joints of a Model: compile(model, ...), not a Program")
    names = kernels.program.functions
    for name in ACCELERATIONS:
        if name in names:
            return Motions(model, getattr(kernels, name), *find(name, "dense"))
    raise CodegenError(f"step and rollout need 'forward_dynamics' or 'aba', got {', '.join(names)}")
