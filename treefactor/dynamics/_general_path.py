"""General path of the recursions: validate arrays of any form, and compute batches on threads."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from .._util.threads import spread
from .._util.validation import aligned, as_output, flatten, thread_count
from ..exceptions import NotPositiveDefiniteError
from ..model._states import states
from ..model.model import Model
from ._bound_call import call
from ._recursions import OPERATIONS, bodies_of

LANES = 8
(
    CRBA,
    RNEA,
    BIAS,
    H_TIMES,
    ABA,
    FACTOR,
    FRAMES,
    MOTION,
    JOINT_FORCES,
    BASE_FORCE,
    GRAVITY,
    STATIC_TORQUE,
    KINETIC_ENERGY,
    POTENTIAL_ENERGY,
    MECHANICAL_ENERGY,
    CORIOLIS,
    CORIOLIS_PACKED,
    INVERSE,
    CRBA_PACKED,
) = range(len(OPERATIONS))
INPUTS = {  # names of the arrays after the model, in messages
    CRBA: ("q",),
    RNEA: ("q", "v", "a"),
    BIAS: ("q", "v"),
    H_TIMES: ("q", "x"),
    ABA: ("q", "v", "tau"),
    FACTOR: ("q", "v", "tau"),
    FRAMES: ("q", "v"),
    MOTION: ("q", "v", "tau"),
    JOINT_FORCES: ("q", "v", "a"),
    BASE_FORCE: ("q", "v", "a"),
    GRAVITY: ("q",),
    STATIC_TORQUE: ("q", "fext"),
    KINETIC_ENERGY: ("q", "v"),
    POTENTIAL_ENERGY: ("q",),
    MECHANICAL_ENERGY: ("q", "v"),
    CORIOLIS: ("q", "v"),
    CORIOLIS_PACKED: ("q", "v"),
    INVERSE: ("q",),
    CRBA_PACKED: ("q",),
}


def general_path(model: Model, op: int, q, v, x, fext, out, num_threads: int) -> np.ndarray:
    """Validate arrays of any form and run an operation on them; raise the error that names the bad one."""
    if op == ABA and model.coupling is not None:
        raise ValueError(
            f"{model.name or 'the model'} has mimic joints, which the articulated-body algorithm does not "
            "support: use forward_dynamics(..., method='factor')"
        )
    return GeneralCall(model, op, out, num_threads).run(q, v, x, fext)


def require_pivots(model: Model, failed: int) -> None:
    """Raise NotPositiveDefiniteError for a freedom with a bad pivot; -1 means that all are good."""
    if failed >= 0:
        row = int(failed)
        name = model.tree.names[row] if model.tree.names else None
        raise NotPositiveDefiniteError(
            f"freedom {row} ({name}) moves no mass: its pivot is not positive", row=row, name=name
        )


class GeneralCall:
    """Call of a recursion on arrays of any form: validates, converts, computes, and reports failures.

    Parameters
    ----------
    model : Model
    op : int
    out : ndarray or None
    num_threads : int
    layout : {"dense", "lanes"}
        Layout of the result of crba.
    """

    def __init__(self, model: Model, op: int, out, num_threads: int, layout: str = "dense"):
        self.model, self.bodies = model, bodies_of(model)
        self.op, self.out, self.layout = op, out, layout
        self.threads = thread_count(num_threads)

    def run(self, q, v=None, x=None, fext=None) -> np.ndarray:
        """Return the result; v and x are ignored if the operation does not read them."""
        named = {"q": q, "v": v, "fext": fext}
        present = {name: named.get(name, x) for name in INPUTS[self.op]}
        if fext is not None:
            present["fext"] = fext
        tails = {"q": (self.model.nq,), "fext": (self.model.njoints, 6)}
        arrays, batch = states(
            present, {name: tails.get(name, (self.model.nv,)) for name in present}, self.model
        )
        found = self._one(arrays) if not batch and self.layout == "dense" else None
        if found is not None:
            return found
        count = math.prod(batch)
        blocks = -(-count // LANES)
        out, result = self._output(batch, blocks, arrays)
        failed = np.empty(blocks * LANES, dtype=np.intp)
        operands = [self._operand(arrays, names) for names in ("q", "v", ("a", "tau", "x"), "fext")]
        work = partial(self.bodies.batch, self.op, count, operands, result, self.layout, failed)
        spread(work, blocks, self.threads, 16 * self.model.tree.nnz * count)
        if not batch:
            require_pivots(self.model, failed[0])
        if out is not None and not np.shares_memory(out, result):
            out[...] = result.reshape(out.shape)
        if out is not None:
            return out
        shape = self._shape(batch, blocks)
        return result.reshape(shape) if shape else result[0]

    def _one(self, arrays: dict[str, np.ndarray]) -> np.ndarray | None:
        """Return the fast path's result for contiguous copies, so that strides change no bit, or None."""
        q, v, x, fext = (self._operand(arrays, names) for names in ("q", "v", ("a", "tau", "x"), "fext"))
        rows = [None if a is None else a[0] for a in (q, v, x)]
        forces = None if fext is None else fext.reshape(self.model.njoints, 6)
        found = call(self.model, self.op, *rows, forces, None, 1, None)
        if found is None or self.out is None:
            return found
        out = as_output(self.out, found.shape)
        out[...] = found
        return out

    def _shape(self, batch: tuple[int, ...], blocks: int) -> tuple[int, ...]:
        """Return the shape of the result."""
        if self.layout == "lanes":
            return (blocks, self.model.tree.nnz, LANES)
        return (*batch, *self.bodies.shape(self.op))

    def _output(self, batch, blocks: int, arrays) -> tuple[np.ndarray | None, np.ndarray]:
        """Return out unchanged, and a C-contiguous array with one leading axis that receives the result.

        That is out itself where nothing can raise any more.
        """
        shape = self._shape(batch, blocks)
        axes = blocks if self.layout == "lanes" else math.prod(batch)
        flat = (axes, *shape[len(shape) - len(self.bodies.shape(self.op)) :])
        if self.out is not None:
            out = as_output(self.out, shape)
            if batch and out.flags.carray and not any(np.may_share_memory(out, x) for x in arrays.values()):
                return out, out.reshape(flat)
            return out, np.empty(flat)
        return None, aligned(flat) if self.layout == "lanes" else np.empty(flat)

    def _operand(self, arrays: dict[str, np.ndarray], names) -> np.ndarray | None:
        """Return the array of one of these names with one leading axis and contiguous rows, or None."""
        for name in (names,) if isinstance(names, str) else names:
            if name in arrays:
                rows = flatten(np.ascontiguousarray(arrays[name]), 2 if name == "fext" else 1)
                return rows.reshape(len(rows), math.prod(rows.shape[1:]))
        return None
