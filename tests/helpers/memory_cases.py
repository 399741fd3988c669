"""Calls that allocate memory and can be repeated; test_memory.py runs them in another process.

Of every call each allocation of our compiled modules fails once. Then it raises MemoryError, or does without;
and afterwards it gives what it always gives, and has kept nothing.
"""

import ctypes
import gc
import itertools
import sys
import warnings
from importlib.machinery import ExtensionFileLoader

import numpy as np

import treefactor as tf
from treefactor import constraints, mechanisms, mlcp
from treefactor.constraints import Contact, Drive, Sphere, Stepper
from treefactor.mlcp import families as mlcp_families
from treefactor.mlcp import symbolic_kkt
from treefactor.papers import kkt

CHAIN = tf.families.chain(400)  # deeper than what fits onto the stack
H = np.eye(400) * 3.0 + np.where(CHAIN.mask(), 1e-3, 0.0)
SMALL = tf.families.tree_1()
BATCH = np.eye(9) * np.arange(1.0, 21.0)[:, None, None]
ROD = tf.Inertia(1.0, [0, 0, -0.5], 0.1 * np.eye(3))
KINDS = ("revolute", "prismatic", "freeflyer", "continuous", "spherical")
AXES = {"revolute": [0, 1, 0], "prismatic": [1, 0, 0], "continuous": [0, 0, 1]}
JOINTS = [tf.Joint(kind, kind, k - 1, axis=AXES.get(kind), inertia=ROD) for k, kind in enumerate(KINDS)]
MODEL = tf.Model(JOINTS)
Q = np.repeat(tf.neutral(MODEL)[None], 20, axis=0)
V = np.ones((20, MODEL.nv))
PROGRAM = tf.generate(MODEL, ["aba"], variants=["plain"])
KERNELS = tf.compile(PROGRAM)
ROLLING = tf.compile(MODEL, ["aba"])
BODIES = [np.ones((30, 5, 3)) / np.sqrt(3), np.ones((30, 5, 3)), np.ones((30, 5)), np.ones((30, 5, 3)) / 9]
TENSORS = np.broadcast_to(np.eye(3), (30, 5, 3, 3))
LONG = [x[0].repeat(20, axis=0) for x in (*BODIES, TENSORS)]
ONE, MANY = tf.factor(H, CHAIN), tf.factor(BATCH, SMALL)
NATIVE = tf.compile(PROGRAM, backend="cc")
BARS = mechanisms.four_bar().model
AT = mechanisms.four_bar().closed
MOTOR = Drive(0, (0.7, 0.0, 1.0))
PUSHED = np.repeat(AT[None], 20, axis=0), np.zeros((20, BARS.nv)), np.ones((20, BARS.nv))
BALLS = tf.Model([tf.Joint(name, "freeflyer", inertia=ROD) for name in "abc"])
BALL = [Sphere(k, radius=0.1) for k in range(3)]
PILE = [Contact(BALL[0], mu=0.5), Contact(BALL[1], BALL[0], mu=0.5), Contact(BALL[2], BALL[1])]
PLACES = np.concatenate([[0.0, 0.0, 0.1 + 0.2 * k, 0.0, 0.0, 0.0, 1.0] for k in range(3)])
MOVING = np.tile([0.1, 0.2, -1.0, 0.3, 0.2, 0.1], 3)
TIED = mlcp_families.FAMILIES["spheres"](60, 1)  # several trees
LOOPED = mlcp_families.FAMILIES["loops"](12, 1)  # bilateral rows
NEVER = mlcp_families.FAMILIES["infeas"](60, 1)
BEFORE = mlcp.solve(TIED)


def bound(bind, *function):
    """Return what a call without arguments writes."""
    out = np.zeros(MODEL.nv)
    bind(*function, Q[0], V[0], V[0], out=out)()
    return out


def analysed(problem):
    """Make a problem anew, with the data that problems of one pattern share."""
    symbolic_kkt._recent.clear()
    make, given = problem.__reduce__()
    return make(*given)


def switched(problem):
    """Factorize K with rows switched on one after the other."""
    K = kkt.KKT(problem.tree, problem.packed, problem.D)
    for row in range(problem.m):
        K.switch(row)
    return K.solve(problem.g, problem.d)[0]


CALLS = {
    "tree": lambda: tf.Tree([-1, *range(30)]).mask(),
    "pattern": lambda: tf.factor(BATCH[0], tf.Tree(SMALL.parent)).inverse(),
    "renumber": lambda: tf.Tree.renumber([1, 2, -1, 0])[1],
    "from joints": lambda: tf.Tree.from_joints([-1, 0], [3, 2]).parent,
    "factor": lambda: tf.factor(H, CHAIN).D(),
    "solve": lambda: ONE.solve(np.ones(400)),
    "solve many": lambda: ONE.solve(np.ones((400, 3))),
    "multiply": lambda: tf.multiply(H, CHAIN, np.ones(400)),
    "factor batch": lambda: tf.factor(BATCH, SMALL).D(),
    "solve batch": lambda: MANY.solve(np.ones(9)),
    "solve at once": lambda: tf.solve(BATCH, SMALL, np.ones(9)),
    "delassus batch": lambda: MANY.delassus(np.ones((2, 9))),
    "inverse batch": MANY.inverse,
    "multiply batch": lambda: tf.multiply(BATCH, SMALL, np.ones(9)),
    "model": lambda: tf.crba(tf.Model(JOINTS), Q[0]),
    "crba": lambda: tf.crba(MODEL, Q),
    "dynamics": lambda: tf.forward_dynamics(MODEL, Q, V, V),
    "joint forces": lambda: tf.joint_forces(MODEL, Q, V, V),
    "energy": lambda: tf.mechanical_energy(MODEL, Q, V),
    "coriolis": lambda: tf.coriolis_matrix(MODEL, Q, V),
    "inverse inertia": lambda: tf.inverse_inertia(MODEL, Q),
    "products": lambda: tf.forward_dynamics_vjp(MODEL, Q, V, V, V, with_value=True).value,
    "product": lambda: tf.rnea_jvp(MODEL, Q[0], V[0], V[0], V[0], None, V[0]),
    "next state": lambda: tf.step(MODEL, Q, V, V, 0.1)[0],
    "rollout": lambda: tf.rollout(MODEL, Q[0], V[0], V[:3], 0.1)[0],
    "rollouts": lambda: tf.rollout(MODEL, Q, V, V[:3], 0.1, method="rk4")[1],
    "rollouts of kernels": lambda: ROLLING.rollout(Q, V, V[:3], 0.1)[1],
    "rollout of kernels": lambda: ROLLING.rollout(Q[0], V[0], V[:3], 0.1)[1],
    "chain": lambda: tf.chain_inertia(*BODIES, TENSORS),
    "long chain": lambda: tf.chain_inertia(*LONG, num_threads=2),
    "chain forces": lambda: tf.chain_forces(*BODIES, TENSORS),
    "bind": lambda: bound(tf.bind, tf.rnea, MODEL),
    "loop rows": lambda: constraints.loop_rows(BARS, PUSHED[0]).data,
    "loop dynamics": lambda: constraints.forward_dynamics(BARS, *(x[0] for x in PUSHED))[0],
    "loop batch": lambda: constraints.forward_dynamics(BARS, *PUSHED)[1],
    "driven": lambda: constraints.forward_dynamics(BARS, *PUSHED, drives=[MOTOR])[1],
    "loops": lambda: constraints.loop_rows(tf.Model(BARS.joints, loops=BARS.loops), AT).residual,
    "jacobian": lambda: tf.frame_jacobian(MODEL, Q[0], tf.Frame("point", 4)),
    "step": lambda: Stepper(BALLS, PILE, h=0.01).step(PLACES, MOVING).q,
    "run": lambda: Stepper(BARS, h=0.01).run(AT, np.zeros(BARS.nv), 3).v,
    "worlds": lambda: Stepper(BALLS, PILE, h=0.01).run([PLACES] * 2, MOVING, 6, keep_steps=False).v,
    "problem": lambda: mlcp.solve(analysed(TIED)).v,
    "problem with loops": lambda: mlcp.solve(analysed(LOOPED)).gamma_c,
    "warm": lambda: mlcp.solve(TIED, warm_start=BEFORE).gamma,
    "simplex": lambda: mlcp.solve(TIED, method="simplex").gamma,
    "infeasible": lambda: mlcp.solve(analysed(NEVER)).certificate[0],
    "switches": lambda: switched(TIED),
    "kernels": lambda: KERNELS.aba(Q, V, V),
    "native kernels": lambda: NATIVE.aba(Q, V, V),
    "native kernel": lambda: NATIVE.aba(Q[0], V[0], V[0]),
    "bound kernel": lambda: bound(NATIVE.bind, "aba"),
    "kernel": lambda: KERNELS.aba(Q[0], V[0], V[0]),
    "compile": lambda: tf.compile(PROGRAM).aba(Q[0], V[0], V[0]),
    "generate": lambda: tf.generate(tf.Model(JOINTS[:1]), ["bias"], variants=["plain"]).functions["bias"].a,
}


SHIM = ctypes.CDLL(None)


def name_libraries():
    """Pass nomalloc.c the compiled modules of treefactor that are loaded, and NumPy's, by their files."""
    for name, module in list(sys.modules.items()):
        compiled = isinstance(getattr(getattr(module, "__spec__", None), "loader", None), ExtensionFileLoader)
        numpy = name.endswith("._multiarray_umath")
        if compiled and (numpy or name.startswith("treefactor.")):
            SHIM.nomalloc_add(ctypes.c_void_p(ctypes.CDLL(module.__file__)._handle), numpy)


def counter(name):
    """Return a variable of nomalloc.c."""
    return ctypes.c_long.in_dll(SHIM, f"nomalloc_{name}")


def fail(call, at):
    """Return the result of a call whose n-th allocation fails, or None, and the number of allocations."""
    seen, fails = counter("seen"), counter("fails")
    seen.value, fails.value = 0, at
    try:
        return call(), seen.value
    except (MemoryError, SystemError):  # NumPy's sums and indices by arrays raise no MemoryError
        return None, seen.value
    finally:
        fails.value = -1


def inject(name, call, expected):
    """Fail each allocation of our modules in turn; return how many there were."""
    for at in itertools.count():
        held = []
        for _ in range(6):  # what is lost is lost each time; what is remembered, once
            result, reached = fail(call, at)
            if result is not None:
                np.testing.assert_array_equal(result, expected, err_msg=name)
            del result
            np.testing.assert_array_equal(call(), expected, err_msg=name)
            gc.collect()
            held.append(counter("held").value)
            if len(held) > 1 and held[-1] <= held[-2]:
                break
        else:
            raise AssertionError(f"{name}: memory is lost when allocation {at} fails: {held}")
        if reached <= at:
            return reached
    return None


if __name__ == "__main__":
    warnings.simplefilter("error")
    gc.freeze()
    for name in sys.argv[1:] or CALLS:
        expected = np.array(CALLS[name]())
        name_libraries()  # all that the call has imported, too
        print(name, inject(name, CALLS[name], expected), flush=True)
