"""Step and roll out motions by generated forward dynamics."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from .._functions._bound_function import BoundFunction
from .._functions.binding import bound
from .._functions.general_path import count_steps, forget_oldest, run_validated
from .._util.validation import as_array, check_choice
from ..dynamics._rollouts import METHODS, Rollout, Simulation, count_of_steps
from ..exceptions import CodegenError
from ..model.model import Model
from .backends._program_rollouts import CalledSimulation, ProgramSimulation
from .backends._results import Results
from .backends._routine import Routine
from .program.precision import Precision

# functions that can compute the accelerations; the first one in the program is used
ACCELERATIONS = ("forward_dynamics", "aba")
KEYS = int, type(None)  # types of numbers of steps under which functions are kept: others may equal one


class Motions:
    """Steps and rollouts of one robot by one of its generated functions.

    Parameters
    ----------
    model : Model
    forward_dynamics : callable
        Of q, v and tau; raises the error that names a joint.
    routine : Routine or Reference
    results : Results
    precision : Precision
    """

    def __init__(
        self, model: Model, forward_dynamics: Callable, routine, results: Results, precision: Precision
    ):
        self.model, self.functions, self.precision = model, dict[tuple, Rollout](), precision
        kind = ProgramSimulation if isinstance(routine, Routine) else CalledSimulation

        def named(model: Model, *state):
            return forward_dynamics(*state)

        self.simulation: Simulation = kind(model, named, routine, results)

    def _function(self, tau, steps, method: str, whole: bool) -> Rollout:
        """Return the compiled function of steps or rollouts, and keep it."""
        each = whole and steps is None
        count = tau.shape[-2] if each and type(tau) is np.ndarray and tau.ndim > 1 else steps
        key = method, count, each
        function = self.functions.get(key) if type(method) is str and type(count) in KEYS else None
        if function is not None:
            return function
        check_choice("method", method, METHODS)
        if each:
            shape = None if tau is None else as_array(tau, "tau").shape
            count = count_steps("tau", shape, (self.model.nv,))
        function = Rollout(self.model, self.simulation, method, count_of_steps(count), each)
        function.close()
        forget_oldest(self.functions)
        return self.functions.setdefault((method, count_of_steps(count), each), function)

    def run(
        self, q, v, tau, h, steps, method: str, out, num_threads: int, whole: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the next state, or with ``whole`` the trajectories."""
        function, arrays = self._function(tau, steps, method, whole), (q, v, tau, None, h)
        states = function.run_arrays(arrays, out, num_threads)
        if states is not None:
            return states
        self.precision.require_arrays(dict(zip(function.names, (q, v, tau), strict=False)))
        return run_validated(self.model, function, arrays, out, num_threads)

    def bind(self, name: str, call: Callable, arguments: tuple, out) -> BoundFunction:
        """Return "step" or "rollout" as a call without arguments; ``call`` does the same with validation."""
        if not 4 <= len(arguments) <= 5:
            names = "q, v, tau, h" if name == "step" else "q0, v0, tau, h"
            raise ValueError(f"{name} takes {names} and perhaps method to be bound; got {len(arguments)}")
        *state, h, method = arguments if len(arguments) == 5 else (*arguments, METHODS[0])
        function = self._function(state[2], None, method, name == "rollout")
        given = dict(zip(function.names, (*state, None, h), strict=True))
        return bound(function, given, out, partial(call, *state, h, method=method, out=out))


def motions_of(kernels, model: Model | None, precision: Precision, find: Callable) -> Motions:
    """Return the motions of kernels; raise CodegenError without a model or generated forward dynamics.

    ``find`` returns the routine and the results of a function in a layout.
    """
    if model is None:
        raise CodegenError("step and rollout need the joints of a Model: compile(model, ...), not a Program")
    names = kernels.program.functions
    for name in ACCELERATIONS:
        if name in names:
            return Motions(model, getattr(kernels, name), *find(name, "dense"), precision)
    raise CodegenError(f"step and rollout need 'forward_dynamics' or 'aba', got {', '.join(names)}")
