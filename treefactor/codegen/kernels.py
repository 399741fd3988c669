"""Generated functions that can be called."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from .._util.messages import not_a_model, similar
from .._util.threads import spread
from .._util.validation import (
    Sealed,
    aligned,
    as_output,
    as_tuple,
    check_choice,
    flatten,
    require_apart,
    require_bindable,
    thread_count,
)
from ..dynamics.bodies import units
from ..exceptions import CodegenError, NotPositiveDefiniteError
from ..model._states import states
from ..model.model import Model
from ..tree.tree import LAYOUTS, Tree
from .backends import numpy_
from .backends._routine import Results, Routine
from .backends.choice import BACKENDS, LANES, made_by
from .program.program import ARGUMENTS, LOOP_FUNCTIONS, Program
from .writer import generate

BLOCK = 64  # configurations; threads take whole ones
ROWS = 32  # of a program, computed for one of many configurations in the time of an entry of `spread`
SOLVED = ("aba", "forward_dynamics", "minv", "delassus", "loops", "loop_velocity", "loop_step")  # by pivots


def compile(model_or_program, functions=None, backend: str = "interp", tips=()) -> Kernels:
    """Functions of one robot as straight-line code, ready to be called.

    Parameters
    ----------
    model_or_program : Model or Program
        A program knows nothing of joints: rotations in q are taken as they are.
    functions : sequence of str, optional
        Among those of `generate`; by default all of a program, and those of a model that need no tips.
    backend : {"interp", "cc", "llvm", "numpy"}
        "interp" runs on a register machine that comes with the package; "numpy" is slow, and the reference.
        "cc" is compiled now by the system's C compiler, unless it was before; "llvm" by llvmlite. Where that
        fails, a warning says why, and "interp" takes their place.
    tips : sequence of str or int
        Joints of the functions "jacobian" and "delassus" of a model, as of `generate`.

    Returns
    -------
    Kernels

    Raises
    ------
    CodegenError
        Where a function cannot be had, or the program is not valid.

    Notes
    -----
    Golubev & Yaskevich (2020).

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> kernels = tf.compile(model, ["forward_dynamics"])
    >>> kernels.forward_dynamics(np.zeros((2, 1)), np.zeros(1), np.ones(1))
    array([[2.85714286],
           [2.85714286]])
    """
    check_choice("backend", backend, tuple(BACKENDS))
    if isinstance(model_or_program, Model):
        model = model_or_program
        return Kernels(generate(model, functions, tips), backend, model)
    program = model_or_program
    if not isinstance(program, Program):
        raise TypeError(
            f"{not_a_model(program)}, or a Program".replace("model must", "model_or_program must")
        )
    if len(as_tuple(tips, "tips")):
        raise CodegenError("tips are for a model; those of a program were chosen when it was generated")
    names = (
        program.functions if functions is None else [functions] if isinstance(functions, str) else functions
    )
    missing = [name for name in names if name not in program.functions]
    if missing:
        known = ", ".join(program.functions)
        wrong = f"{missing[0]!r}{similar(missing[0], ARGUMENTS)}"
        raise CodegenError(f"the program does not have the function {wrong}; it has {known}")
    chosen = {name: program.functions[name] for name in names}
    return Kernels(replace(program, functions=chosen), backend)


class Kernels(Sealed):
    """Generated functions of one robot.

    Arguments, results and errors are those of the functions of the same names in treefactor; `minv` is the
    dense inverse of the inertia matrix. Where a pivot is not positive, or a result not finite of a function
    that divides by pivots, elements of a batch are NaN; a single call raises NotPositiveDefiniteError if a
    pivot is to blame, naming its freedom.
    So does one in whose configuration the coordinates that follow in loops are not determined.
    Batches of float64 are read and written in place whatever their strides, also the transposes of arrays
    whose columns are configurations.

    Parameters
    ----------
    program : Program
    backend : str
    model : Model, optional
        Whose rotations are checked.

    Attributes
    ----------
    program : Program
    backend : str

    Raises
    ------
    CodegenError
        Where the program is not valid.

    Notes
    -----
    Thread-safe: threads may share it.

    A pickle holds the program, which is made ready for
    the same backend where it is read: compiled anew, or taken from that machine's cache.
    """

    program: Program
    backend: str
    _model: Model | None
    _tree: Tree
    _sizes: dict[str, int]
    _found: dict[tuple[str, str], tuple[Routine, Results]]  # by function and layout

    def __init__(self, program: Program, backend: str, model: Model | None = None):
        program.validate()
        backend, routine_of = made_by(backend, program)
        tree = Tree(program.parent)
        found: dict[tuple[str, str], tuple[Routine, Results]] = {}
        self._keep(program=program, backend=backend, _model=model, _tree=tree, _found=found)
        self._keep(_sizes={"q": program.nq, "v": program.nv, "a": program.nv, "tau": program.nv})
        turned = np.empty((0, 2), np.intp) if model is None else units(model)
        for name, function in program.functions.items():
            routine, slot, sign, zero = routine_of(function, turned, name in SOLVED)
            results = Results(slot, sign, function.shape)
            found[name, "dense"] = routine, results
            if name == "crba":
                found[name, "packed"] = routine, results
                found[name, "lanes"] = routine, Results(slot, sign, function.shape, True)
                entry = tree.unpack(np.arange(1.0, slot.size + 1)).astype(int).ravel()  # 0: none
                dense = np.append(zero, slot)[entry], np.append(1.0, sign)[entry]
                found[name, "dense"] = routine, Results(*dense, (program.nv, program.nv))

    def __reduce__(self):
        return Kernels, (self.program, self.backend, self._model)

    def crba(self, q, out=None, layout: str = "dense", num_threads: int = 1) -> np.ndarray:
        """Inertia matrix, see `treefactor.crba`."""
        return self._call("crba", (q,), out, num_threads, layout)

    def rnea(self, q, v, a, out=None, num_threads: int = 1) -> np.ndarray:
        """Inverse dynamics, see `treefactor.rnea`."""
        return self._call("rnea", (q, v, a), out, num_threads)

    def bias(self, q, v, out=None, num_threads: int = 1) -> np.ndarray:
        """Forces at zero acceleration, see `treefactor.bias`."""
        return self._call("bias", (q, v), out, num_threads)

    def aba(self, q, v, tau, out=None, num_threads: int = 1) -> np.ndarray:
        """Forward dynamics by articulated bodies, see `treefactor.aba`."""
        return self._call("aba", (q, v, tau), out, num_threads)

    def forward_dynamics(self, q, v, tau, out=None, num_threads: int = 1) -> np.ndarray:
        """Forward dynamics by the method with fewer operations, see `treefactor.forward_dynamics`."""
        return self._call("forward_dynamics", (q, v, tau), out, num_threads)

    def minv(self, q, out=None, num_threads: int = 1) -> np.ndarray:
        """Inverse of the inertia matrix, shape (..., nv, nv)."""
        return self._call("minv", (q,), out, num_threads)

    def jacobian(self, q, out=None, num_threads: int = 1) -> np.ndarray:
        """Jacobian of the tips of `generate`, shape (..., 6 tips, nv)."""
        return self._call("jacobian", (q,), out, num_threads)

    def delassus(self, q, out=None, num_threads: int = 1) -> np.ndarray:
        """J H^-1 J^T of the tips, shape (..., 6 tips, 6 tips)."""
        return self._call("delassus", (q,), out, num_threads)

    def loops(self, q, v, tau, out=None, num_threads: int = 1) -> np.ndarray:
        """Accelerations with all loops closed, shape (..., nv).

        Parameters
        ----------
        q : array_like, shape (..., nq)
            With closed loops.
        v, tau : array_like, shape (..., nv)
            Velocities, of which only those of ``Program.independent`` are read, and forces of all joints.
        out : ndarray, optional
        num_threads : int
        """
        return self._call("loops", (q, v, tau), out, num_threads)

    def loop_velocity(self, q, v, out=None, num_threads: int = 1) -> np.ndarray:
        """Velocities with those that follow computed from ``Program.independent``, shape (..., nv)."""
        return self._call("loop_velocity", (q, v), out, num_threads)

    def loop_step(self, q, out=None, num_threads: int = 1) -> np.ndarray:
        """Step in v by which Newton's method closes the loops, 0 where independent, shape (..., nv)."""
        return self._call("loop_step", (q,), out, num_threads)

    def loop_gap(self, q, out=None, num_threads: int = 1) -> np.ndarray:
        """What the loops are open by, shape (..., rows).

        The residual of `treefactor.constraints.loop_rows`: of every loop the way from its first point to its
        second one in the axes of its first frame, in m, then cosines of the angles that are to be right.
        """
        return self._call("loop_gap", (q,), out, num_threads)

    def bind(self, name: str, *arguments: np.ndarray, out: np.ndarray):
        """A call without arguments that reads and writes the same arrays each time, see `treefactor.bind`.

        Parameters
        ----------
        name : str
            Of a function; the result of "crba" is dense.
        *arguments, out : ndarray of float64
        """
        routine, results = self._find(name, "dense")
        expected = len(ARGUMENTS[name])
        if len(arguments) != expected:
            wanted = ", ".join(ARGUMENTS[name])
            raise ValueError(f"{name} takes {expected} arrays: {wanted}; got {len(arguments)}")
        given = dict(zip(ARGUMENTS[name], arguments, strict=True))
        for argument, array in given.items():
            require_bindable(array, (self._sizes[argument],), argument)
        require_bindable(out, results.shape, "out")
        require_apart(out, given)
        return routine.bind(arguments, out, results, partial(self._slowly, name, arguments, out))

    def _find(self, name: str, layout: str) -> tuple[Routine, Results]:
        try:
            return self._found[name, layout]
        except KeyError:
            check_choice("layout", layout, LAYOUTS)
            known = ", ".join(self.program.functions)
            raise CodegenError(f"{name!r} was not generated, only {known}") from None

    def _call(self, name: str, arguments: tuple, out, num_threads: int, layout: str = "dense") -> np.ndarray:
        routine, results = self._find(name, layout)
        found = routine.quick(arguments, out, results, num_threads)
        return self._slowly(name, arguments, out, num_threads, layout) if found is None else found

    def _slowly(self, name: str, arguments: tuple, out, num_threads: int = 1, layout: str = "dense"):
        """Check, compute, report."""
        threads = thread_count(num_threads)
        routine, results = self._find(name, layout)
        tails = {argument: (self._sizes[argument],) for argument in ARGUMENTS[name]}
        arrays, batch = states(dict(zip(tails, arguments, strict=True)), tails, self._model)
        count = math.prod(batch)
        lead, last = (-(-count // LANES),), (LANES,)
        shape = (*lead, *results.shape, *last) if layout == "lanes" else (*batch, *results.shape)
        flat = shape if layout == "lanes" else (count, math.prod(results.shape))
        result = _receiver(out, shape, flat, arrays.values())
        operands = [flatten(array, 1) for array in arrays.values()]
        work = partial(_blocks, routine.batch, count, operands, result, results)
        spread(work, -(-count // BLOCK), threads, self.program.functions[name].rows * count // ROWS)
        if layout == "lanes":
            self._pad(result, count)
        if not batch and name in SOLVED and not np.isfinite(result).all():
            self._require_pivots(name, operands)
        if out is None:
            return result.reshape(shape)
        if not np.shares_memory(out, result):
            out[...] = result.reshape(shape)
        return out

    def _require_pivots(self, name: str, operands) -> None:
        """Raise where the result is not finite even at rest: then a pivot is to blame, not v or tau."""
        routine, results = self._find(name, "dense")
        resting = [operands[0], *map(np.zeros_like, operands[1:])]
        result = np.empty((1, math.prod(results.shape)))
        routine.batch(resting, result, results, 0, 1)
        if np.isfinite(result).all():
            return
        row = numpy_.failing_pivot(self.program.functions[name], *(x[0] for x in resting))
        if row is None and name in LOOP_FUNCTIONS:
            raise NotPositiveDefiniteError(f"{name} is not finite: a loop is in a singular position")
        if row is not None:
            joint = self._model.tree.name(row) if self._model else None
            message = f"freedom {row} ({joint}) moves no mass: its pivot is not positive"
            raise NotPositiveDefiniteError(message, row=row, name=joint)

    def _pad(self, lanes: np.ndarray, count: int) -> None:
        """Fill the last block with identity matrices."""
        diagonal = self._tree.rows == self._tree.columns
        lanes[count // LANES :, :, count % LANES :] = diagonal[:, None]


def _blocks(batch, count: int, operands, result, results: Results, first: int, stop: int) -> None:
    """The part of a batch that is in blocks of configurations."""
    batch(operands, result, results, first * BLOCK, min(stop * BLOCK, count))


def _receiver(out, shape: tuple[int, ...], flat: tuple[int, ...], arrays) -> np.ndarray:
    """Array of the flat shape: a view of out where there is one that nothing else is read from."""
    if out is not None:
        view = as_output(out, shape).reshape(flat)
        apart = not any(np.may_share_memory(view, x) for x in arrays)
        if apart and view.flags.aligned and np.shares_memory(view, out):
            return view
    return aligned(flat) if len(flat) == 3 else np.empty(flat)  # lanes, or vectors
