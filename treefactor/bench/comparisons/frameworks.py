"""Compare times of functions for JAX and PyTorch with those for NumPy: `treefactor bench ROBOT --frameworks`.

Times are those of the processor. JAX and PyTorch are imported when a comparison is made, never before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from time import process_time

import numpy as np

from ...dynamics.rollouts import step
from ...model.model import Model
from ...quantities.functions import forward_dynamics
from ..timing import Call, Comparison, Result
from . import dynamics as dynamics_times

TARGET = "JAX and PyTorch"
FRAMEWORKS = {"jax": "JAX", "torch": "PyTorch"}  # by module, in words
NUMPY, DYNAMICS, OWN = "NumPy", "our forward dynamics", "JAX's own functions"
STEPS, H = 1000, 1e-6  # of a motion; seconds, so short that random forces move no robot far
PATIENCE = 2.0  # seconds
FORWARD = "forward dynamics"


@dataclass(frozen=True)
class InDoubles(Comparison):
    """Comparison with numbers of JAX in float64.

    Notes
    -----
    Immutable.
    """

    def measure(self) -> Result:
        """Measure both in turns."""
        import jax

        with jax.enable_x64(True):
            return super().measure()


@dataclass(frozen=True)
class InOneThread(Comparison):
    """Comparison with PyTorch's own operations in one thread.

    Notes
    -----
    Immutable.
    """

    def measure(self) -> Result:
        """Measure both in turns."""
        import torch

        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            return super().measure()
        finally:
            torch.set_num_threads(before)


def available() -> list[str]:
    """Return the modules of the frameworks that are installed, without importing them."""
    return [module for module in FRAMEWORKS if find_spec(module)]


def missing() -> list[str]:
    """Return the names of the frameworks that are not installed."""
    return [name for module, name in FRAMEWORKS.items() if module not in available()]


def measured() -> Iterator[tuple[str, str]]:
    """Yield what is measured of a robot, and the peer, for the frameworks that are installed."""
    many = f" {dynamics_times.COUNT}"
    if "jax" in available():
        yield f"JAX: {FORWARD}", OWN
        yield from ((f"JAX: {FORWARD}{how}", NUMPY) for how in ("", many))
        yield "JAX: step of lax.scan", NUMPY
        yield f"JAX: gradient{many}", DYNAMICS
        yield "JAX: tracing and compiling the gradient", OWN
    if "torch" in available():
        yield from ((f"PyTorch: {FORWARD}{how}", NUMPY) for how in ("", many))
        yield from ((f"PyTorch: {FORWARD}{how}, recorded for gradients", NUMPY) for how in ("", many))
        yield f"PyTorch: gradient{many}", DYNAMICS


def frameworks(case) -> Iterator[Comparison]:
    """Compare functions for the frameworks that are installed with those for NumPy, in one thread."""
    moving = case.moving
    makers = {"jax": in_jax, "torch": in_torch}
    for module in available():
        yield from makers[module](moving.name, moving.ours, moving.states("forward_dynamics"))


def ours(model: Model, states, count: float = 1) -> Call:
    """Return forward dynamics for NumPy."""
    return Call(partial(forward_dynamics, model, *states), count)


def in_jax(name: str, model: Model, states: list[np.ndarray]) -> Iterator[Comparison]:
    """Compare compiled functions of JAX; the gradient is that of the sum of all accelerations."""
    import jax

    from ...adapters import jax_

    with jax.enable_x64(True):
        many = [jax.numpy.asarray(array) for array in states]
        one = [array[0] for array in many]
    count, first = len(states[0]), [array[0].copy() for array in states]
    compared = partial(InDoubles, TARGET, name, clock=process_time, patience=PATIENCE)

    def dynamics(q, v, tau):
        return jax_.forward_dynamics(model, q, v, tau)

    def scan(q, v, tau):
        def advance(state, _):
            return jax_.step(model, *state, tau, H), None

        return jax.lax.scan(advance, (q, v), length=STEPS)[0]

    def waited(function: Callable, arguments: list, items: int = 1) -> Call:
        return Call(lambda: jax.block_until_ready(function(*arguments)), items)

    def product(q, v, tau):
        return tau * v

    what, run = f"JAX: {FORWARD}", jax.jit(dynamics)
    yield compared(what, OWN, waited(run, one), waited(jax.jit(product), one))
    yield compared(what, NUMPY, waited(run, one), ours(model, first))
    yield compared(f"{what} {count}", NUMPY, waited(run, many, count), ours(model, states, count), 1 / 1.15)
    loop = Call(partial(repeated_step, model, *first), STEPS)
    yield compared("JAX: step of lax.scan", NUMPY, waited(jax.jit(scan), one, STEPS), loop, most=2e-6)
    gradient = waited(jax.jit(gradient_of(dynamics)), many, count)
    yield compared(f"JAX: gradient {count}", DYNAMICS, gradient, ours(model, states, count), 1 / 8)
    tracing, peers = (Call(partial(compiled, f, many)) for f in (dynamics, product))
    yield compared("JAX: tracing and compiling the gradient", OWN, tracing, peers, most=0.3)


def gradient_of(function: Callable) -> Callable:
    """Return the gradients of the sum of a function of three arrays of JAX."""
    import jax

    return jax.grad(lambda *arrays: function(*arrays).sum(), argnums=(0, 1, 2))


def compiled(function: Callable, arrays: list):
    """Trace and compile the gradient of a function as if JAX had not seen it before."""
    import jax

    jax.clear_caches()
    return jax.jit(gradient_of(function)).lower(*arrays).compile()


def repeated_step(model: Model, q, v, tau) -> None:
    """Advance a state as a script with NumPy does."""
    for _ in range(STEPS):
        q, v = step(model, q, v, tau, H)


def in_torch(name: str, model: Model, states: list[np.ndarray]) -> Iterator[Comparison]:
    """Compare functions of tensors, then of tensors whose operations PyTorch records, and the gradient."""
    import torch

    from ...adapters import torch_

    count, first = len(states[0]), [array[0].copy() for array in states]
    compared = partial(InOneThread, TARGET, name, clock=process_time, patience=PATIENCE)
    goals = {"": None, f" {count}": 1 / 1.2}
    for grad, how in ((False, ""), (True, ", recorded for gradients")):
        for size, given, items in (("", first, 1), (f" {count}", states, count)):
            tensors = [torch.tensor(array, requires_grad=grad) for array in given]
            theirs, goal = ours(model, given, items), None if grad else goals[size]
            run = Call(partial(torch_.forward_dynamics, model, *tensors), items)
            yield compared(f"PyTorch: {FORWARD}{size}{how}", NUMPY, run, theirs, goal)

    def gradient():
        return torch.autograd.grad(torch_.forward_dynamics(model, *tensors).sum(), tensors)

    run = Call(gradient, count)
    yield compared(f"PyTorch: gradient {count}", DYNAMICS, run, ours(model, states, count), 1 / 8)
