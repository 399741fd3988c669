"""Declarations of steps and rollouts, for the functions that JAX and PyTorch have of them."""

from .arrays import FEXT, TAU, Q, V
from .declaration import NEEDED, Array, Derivative, Option, Quantity

LENGTH = Option(
    "h",
    kind="number",
    default=NEEDED,
    type="float",
    text="Length of a step, s: a number of Python, which is a constant.",
)
METHOD = Option("method", ("semi_implicit_euler", "rk4"), text="See `treefactor.rollout`.")
DYNAMICS = "dynamics.rollouts"
RULE = "adapters._rules:Motion"  # by forward dynamics, in operations of JAX and PyTorch

step = Quantity(
    "step",
    "Compute the state after a time step: forward dynamics, then integration of v and q.",
    (Q, V, TAU, FEXT),
    (Array("q", ("nq",)), Array("v", ("nv",), "m/s, rad/s")),
    f"{DYNAMICS}:step",
    (LENGTH, METHOD),
    parameters=("q", "v", "tau", "h", "method", "fext"),
    inertias=True,
    gathered="tuple of two arrays",
    derivative=Derivative(rule=RULE, options=("h", "method")),
)
rollout = Quantity(
    "rollout",
    "Compute trajectories: the initial state and the states after each of T time steps.",
    (
        Q._replace(name="q0"),
        V._replace(name="v0"),
        TAU._replace(
            shape=("T", "nv"),
            axes="Of every step; with ``steps`` shape (..., nv), the same in all steps, or None for no forces.",
            optional=True,
            needed=True,
        ),
        FEXT._replace(
            shape=("T", "njoints", 6),
            axes=f"{FEXT.axes} With ``steps`` shape (..., njoints, 6), the same in all steps.",
        ),
    ),
    (
        Array("q", ("T + 1", "nq"), axes="Entry 0 is the initial state."),
        Array("v", ("T + 1", "nv"), "m/s, rad/s"),
    ),
    f"{DYNAMICS}:rollout",
    (
        LENGTH,
        Option("steps", kind="number", type="int, optional", text="Number of steps T; default: that of tau."),
        METHOD,
    ),
    parameters=("q0", "v0", "tau", "h", "steps", "method", "fext"),
    inertias=True,
    gathered="tuple of two arrays",
    notes="One call of a kernel computes all values. Derivatives go through the stored states step by step: for a "
    'gradient, one product with the derivative of forward dynamics for every step, or more with "rk4", which '
    "evaluates its stages again.",
    derivative=Derivative(rule=RULE, options=("h", "steps", "method")),
)
MOTIONS: dict[str, Quantity] = {one.name: one for one in (step, rollout)}
