"""Declarations of steps and rollouts: motions in time by forward dynamics."""

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
RULE = "adapters._rules:Motion"  # by forward dynamics, in operations of JAX and PyTorch
FAILS = "If a freedom moves no mass; names the joint{}. Only for a single motion."
ROD = """>>> import numpy as np, treefactor as tf
>>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
>>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
"""

step = Quantity(
    "step",
    "Compute the state after a time step: forward dynamics, then integration of v and q.",
    (Q, V, TAU._replace(axes="Generalized forces, constant within the step."), FEXT),
    (
        Array("q", ("nq",), axes="Configurations after the step."),
        Array("v", ("nv",), "m/s, rad/s", "Velocities after the step."),
    ),
    "dynamics._rollouts:Step",
    (LENGTH, METHOD),
    parameters=("q", "v", "tau", "h", "method", "fext", "out"),
    inertias=True,
    fails=FAILS.format(""),
    gathered="tuple of two arrays",
    spoiled="In a batch, NaN where there is no solution. ``out`` may be q and v themselves.",
    derivative=Derivative(rule=RULE, options=("h", "method")),
    examples=ROD
    + """>>> q, v = tf.step(model, [0.0], [0.0], [0.7], 0.01)
>>> print(q, v)
[0.0002] [0.02]""",
)
rollout = Quantity(
    "rollout",
    "Compute trajectories: the initial state and the states after each of T time steps.",
    (
        Q._replace(name="q0", axes="Initial configurations. " + Q.axes.partition(". ")[2]),
        V._replace(name="v0", axes="Initial velocities."),
        TAU._replace(
            shape=("T", "nv"),
            axes="Of every step; with ``steps`` shape (..., nv), the same in all steps, or None for no forces.",
            role="series",
            optional=True,
            needed=True,
        ),
        FEXT._replace(
            shape=("T", "njoints", 6),
            axes=f"{FEXT.axes} With ``steps`` shape (..., njoints, 6), the same in all steps.",
            role="series",
        ),
    ),
    (
        Array("q", ("T + 1", "nq"), axes="Entry 0 is the initial state, unlike in ``mujoco.rollout``."),
        Array("v", ("T + 1", "nv"), "m/s, rad/s"),
    ),
    "dynamics._rollouts:Trajectory",
    (
        LENGTH,
        Option(
            "steps",
            kind="count",
            type="int, optional",
            text="Number of steps T; default: that of tau.",
            read="dynamics._rollouts:count_of_steps",
        ),
        METHOD._replace(
            text='"semi_implicit_euler": v += h a(q, v, tau), then q is integrated over h v; order 1. "rk4": the '
            "classical Runge-Kutta method of order 4 on the manifold of configurations, see the notes."
        ),
    ),
    parameters=("q0", "v0", "tau", "h", "steps", "method", "fext", "out"),
    inertias=True,
    fails=FAILS.format(" and the step"),
    gathered="tuple of two arrays",
    spoiled="Rotations in q keep unit length. A motion in which a number is not finite or a pivot is not positive "
    "is NaN from the next state on; the other motions of the batch are not affected.",
    derivative=Derivative(
        rule=RULE,
        options=("h", "steps", "method"),
        notes="One call of a kernel computes all values. Derivatives go through the stored states step by step: for "
        'a gradient, one product with the derivative of forward dynamics for every step, or more with "rk4", which '
        "evaluates its stages again.",
    ),
    source='Munthe-Kaas (1999), "High order Runge-Kutta methods on manifolds"; Munthe-Kaas and Owren (1999)',
    notes='Forces are constant within a step. With v_k and a_k the velocity and the acceleration of a stage, those of "rk4" '
    "are at q exp(u_k), where exp is `integrate`: u_1 = 0, u_2 = h/2 v_1, u_3 = h/2 v_2 + h^2/8 [v_1, v_2], u_4 = h v_3; "
    "v_2 = v + h/2 a_1, v_3 = v + h/2 a_2, v_4 = v + h a_3. The step is u = h/6 (v_1 + 2 v_2 + 2 v_3 + v_4) + "
    "h^2/12 [v_1, v_4] and h/6 (a_1 + 2 a_2 + 2 a_3 + a_4). [x, y] is the commutator of velocities in body axes, zero for "
    "joints of one freedom: without it the order would be 2 for free-flyers, spherical and planar joints.",
    examples=ROD
    + """>>> q, v = tf.rollout(model, [1.0], [0.0], None, 0.01, steps=100, method="rk4")
>>> q.shape, q[-1].round(4)
((101, 1), array([-0.9353]))""",
)
