"""Compare times of functions for JAX and PyTorch with those for NumPy: `treefactor bench ROBOT --frameworks`.

Times are those of the processor. JAX and PyTorch are imported when a comparison is made, never before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from time import process_time

from ...model.model import Model
from ...quantities.functions import forward_dynamics, step
from ..case import Moving
from ..timing import Call, Comparison

TARGET = "JAX and PyTorch"
FRAMEWORKS = {"jax": "JAX", "torch": "PyTorch"}  # by module, in words
NUMPY, DYNAMICS, OWN = "NumPy", "our forward dynamics", "JAX's own functions"
STEPS, H = 1000, 1e-6  # of a motion; seconds, so short that random forces move no robot far
PATIENCE = 2.0  # seconds
FORWARD = "forward dynamics"


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit PyTorch's own operations to one thread."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def doubles():
    """Return a context in which numbers of JAX are float64."""
    import jax

    return jax.enable_x64(True)


def available() -> list[str]:
    """Return the modules of the frameworks that are installed, without importing them."""
    return [module for module in FRAMEWORKS if find_spec(module)]


def missing() -> list[str]:
    """Return the names of the frameworks that are not installed."""
    return [name for module, name in FRAMEWORKS.items() if module not in available()]


def frameworks(case: Moving) -> Iterator[Comparison]:
    """Compare functions for the frameworks that are installed with those for NumPy, in one thread."""
    for module in available():
        context = doubles if module == "jax" else one_thread
        for what, peer, ours, theirs, *goals in {"jax": in_jax, "torch": in_torch}[module](case):
            goal, most = (*goals, None, None)[:2]
            yield Comparison(
                *(TARGET, case.name, f"{FRAMEWORKS[module]}: {what}", peer, ours, theirs, goal),
                clock=process_time,
                patience=PATIENCE,
                most=most,
                context=context,
            )


def numpys(case: Moving, many: bool = False) -> Call:
    """Return forward dynamics for NumPy, of one configuration or of all."""
    states = case.states("forward_dynamics") if many else case.first("forward_dynamics")
    return Call(partial(forward_dynamics, case.ours, *states), len(case.q) if many else 1)


def in_jax(case: Moving) -> Iterator[tuple]:
    """Yield compiled functions of JAX, peers and goals; gradients are those of the sum of accelerations."""
    count, one, many = len(case.q), partial(numpys, case), partial(numpys, case, many=True)
    run, own = (partial(jitted, case, make) for make in (dynamics_in_jax, product))
    yield FORWARD, OWN, run, own
    yield FORWARD, NUMPY, run, one
    yield f"{FORWARD} {count}", NUMPY, partial(run, many=True), many, 1 / 1.15
    loop = lambda: Call(partial(repeated_step, case.ours, *case.first("forward_dynamics")), STEPS)  # noqa: E731
    yield "step of lax.scan", NUMPY, partial(jitted, case, scan, items=STEPS), loop, None, 2e-6
    gradient = partial(jitted, case, lambda model: gradient_of(dynamics_in_jax(model)), many=True)
    yield f"gradient {count}", DYNAMICS, gradient, many, 1 / 8
    traced = (partial(tracing, case, make) for make in (dynamics_in_jax, product))
    yield "tracing and compiling the gradient", OWN, *traced, None, 0.3


def arrays_of_jax(case: Moving, many: bool) -> list:
    """Return a state, or all, as arrays of JAX."""
    import jax

    given = case.states("forward_dynamics") if many else case.first("forward_dynamics")
    return [jax.numpy.asarray(array) for array in given]


def jitted(case: Moving, make: Callable, items: int = 0, many: bool = False) -> Call:
    """Return a compiled function of JAX, whose result is awaited."""
    import jax

    arrays, function = arrays_of_jax(case, many), jax.jit(make(case.ours))
    run = lambda: jax.block_until_ready(function(*arrays))  # noqa: E731
    return Call(run, items or (len(case.q) if many else 1))


def tracing(case: Moving, make: Callable) -> Call:
    """Return the compilation of the gradient of a function."""
    return Call(partial(compiled, make(case.ours), arrays_of_jax(case, many=True)))


def dynamics_in_jax(model: Model) -> Callable:
    """Return forward dynamics for arrays of JAX."""
    from ...adapters import jax_

    return lambda q, v, tau: jax_.forward_dynamics(model, q, v, tau)


def product(model: Model) -> Callable:
    """Return a function of JAX's own."""
    return lambda q, v, tau: tau * v


def scan(model: Model) -> Callable:
    """Return a motion of STEPS steps."""
    import jax

    from ...adapters import jax_

    def run(q, v, tau):
        def advance(state, _):
            return jax_.step(model, *state, tau, H), None

        return jax.lax.scan(advance, (q, v), length=STEPS)[0]

    return run


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


def in_torch(case: Moving) -> Iterator[tuple]:
    """Yield functions of tensors, then of tensors whose operations PyTorch records, and the gradient."""
    count = len(case.q)
    for grad, how in ((False, ""), (True, ", recorded for gradients")):
        for many, size in ((False, ""), (True, f" {count}")):
            ours, theirs = partial(of_tensors, case, many, grad), partial(numpys, case, many)
            yield f"{FORWARD}{size}{how}", NUMPY, ours, theirs, 1 / 1.2 if many and not grad else None
    ours, theirs = partial(gradient_of_tensors, case), partial(numpys, case, many=True)
    yield f"gradient {count}", DYNAMICS, ours, theirs, 1 / 8


def of_tensors(case: Moving, many: bool, grad: bool) -> Call:
    """Return forward dynamics of tensors."""
    import torch

    from ...adapters import torch_

    given = case.states("forward_dynamics") if many else case.first("forward_dynamics")
    tensors = [torch.tensor(array, requires_grad=grad) for array in given]
    return Call(partial(torch_.forward_dynamics, case.ours, *tensors), len(case.q) if many else 1)


def gradient_of_tensors(case: Moving) -> Call:
    """Return the gradients of the sum of accelerations of all configurations."""
    import torch

    dynamics = of_tensors(case, many=True, grad=True)
    tensors = dynamics.run.args[1:]
    return Call(lambda: torch.autograd.grad(dynamics.run().sum(), tensors), dynamics.items)
