"""Everything that asks for memory, as calls that can be repeated; test_memory.py runs it in another process.

Of every call each allocation of our compiled modules fails once. Then it raises MemoryError, or does without;
and afterwards it gives what it always gives.
"""

import ctypes
import itertools
import sys
import warnings

import numpy as np

import treefactor as tf

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
BODIES = [np.ones((30, 5, 3)) / np.sqrt(3), np.ones((30, 5, 3)), np.ones((30, 5)), np.ones((30, 5, 3)) / 9]
TENSORS = np.broadcast_to(np.eye(3), (30, 5, 3, 3))
ONE, MANY = tf.factor(H, CHAIN), tf.factor(BATCH, SMALL)
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
    "chain": lambda: tf.chain_inertia(*BODIES, TENSORS),
    "chain forces": lambda: tf.chain_forces(*BODIES, TENSORS),
    "kernels": lambda: KERNELS.aba(Q, V, V),
    "kernel": lambda: KERNELS.aba(Q[0], V[0], V[0]),
    "compile": lambda: tf.compile(PROGRAM).aba(Q[0], V[0], V[0]),
    "generate": lambda: tf.generate(tf.Model(JOINTS[:1]), ["bias"], variants=["plain"]).functions["bias"].a,
}


def inject(name, call, expected):
    """Fail each allocation that our modules ask for; return how many there were."""
    shim = ctypes.CDLL(None)
    seen = ctypes.c_long.in_dll(shim, "nomalloc_seen")
    fails = ctypes.c_long.in_dll(shim, "nomalloc_fails")
    for at in itertools.count():
        found = None
        seen.value, fails.value = 0, at
        try:
            found = call()
        except MemoryError:
            pass
        finally:
            reached, fails.value = seen.value, -1
        if found is not None:
            np.testing.assert_array_equal(found, expected, err_msg=name)
        np.testing.assert_array_equal(call(), expected, err_msg=name)
        if reached <= at:
            return reached
    return None


if __name__ == "__main__":
    warnings.simplefilter("error")
    for name in sys.argv[1:] or CALLS:
        expected = np.array(CALLS[name]())
        print(name, inject(name, CALLS[name], expected), flush=True)
