"""Call generated functions: `compile` makes `Kernels`, whose methods take and return arrays."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Literal, overload

import numpy as np

from .._util._explained_calls import explain
from .._util.messages import not_a_model
from .._util.threads import spread
from .._util.validation import (
    as_float,
    as_output,
    as_real,
    as_tuple,
    check_choice,
    fill_outputs,
    flatten,
    require_apart,
    require_bindable,
    require_count,
    shape_of,
    thread_count,
)
from ..dynamics._recursions import Bodies
from ..dynamics._rollouts import METHODS
from ..dynamics.bodies import units
from ..exceptions import CodegenError, ShapeError
from ..model._states import states
from ..model.model import Model
from ..tree.lanes import count_blocks
from ..tree.tree import LAYOUTS, Tree
from .backends._results import Results
from .backends._routine import Routine
from .backends.choice import BACKENDS, made_by
from .cuda_kernels import CudaKernels
from .derivative_calls import KINDS, DerivativeCalls
from .failures import require_pivots
from .loop_calls import LoopCalls
from .parameter_calls import ParameterCalls
from .program.names import CLOSURES, LOOP_FUNCTIONS, PI, is_solved, name_of
from .program.precision import PRECISIONS, Precision
from .program.program import Program
from .results import Part, layouts_of, result_array
from .rollouts import Motions, motions_of
from .selection import precise
from .writer import generate

BLOCK = 64  # configurations per task of a thread
STATEMENTS = 32  # statements per configuration that take as long as one unit of work of `spread`


@overload
def compile(  # type: ignore[overload-overlap]  # other names of backends are of Kernels
    model_or_program,
    functions=...,
    *,
    backend: Literal["cuda"],
    tips=...,
    parameters=...,
    zeros=...,
    dtype=...,
) -> CudaKernels: ...
@overload
def compile(
    model_or_program, functions=..., backend: str = ..., tips=..., parameters=..., zeros=..., dtype=...
) -> Kernels: ...
def compile(
    model_or_program, functions=None, backend="interp", tips=(), parameters=None, zeros=None, dtype=np.float64
):
    """Compile functions of a robot into straight-line code and return them as callable `Kernels`.

    Parameters
    ----------
    model_or_program : Model or Program
        The quaternions and angles (cosine, sine) in q are checked only if a Model is given.
    functions : sequence of str, optional
        Names that `generate` accepts. Default: all of a program; of a model those that need no tips.
    backend : {"interp", "cc", "llvm", "numpy", "cuda"}
        "interp" runs on the interpreter of the package and needs no compiler. "cc" compiles C with the
        system's compiler, or takes the object from the cache; "llvm" compiles with llvmlite. If one of these
        fails, "interp" is used and a warning gives the reason. "numpy" is the slow reference. "cuda" compiles
        kernels for NVIDIA GPUs with NVRTC; compiled but not yet run on a GPU.
    tips : sequence of str, int or Frame
        Joints of the functions "jacobian" and "delassus", see `generate`; for a model only.
    parameters, zeros : str, optional
        Inertial parameters as the last argument of all functions, see `generate`; for a model only.
    dtype : {float64, float32}
        Of the arguments, the results, and all operations between. Float32 batches take about half the time,
        and round to 24 bits: accelerations have relative errors of about 1e-7, as if the arguments were
        rounded to float32. They follow from articulated bodies, which round least. Not for functions that
        close loops.

    Returns
    -------
    Kernels
        With inertial parameters `treefactor.codegen.ParameterKernels`: ``kernels.rnea(q, v, a, pi)``.
        For "cuda" `treefactor.codegen.CudaKernels`, which take arrays on the device.

    Raises
    ------
    CodegenError
        If a function is not available, the program is not valid, NVRTC is missing for "cuda", or float32 does
        not suffice: for functions that close loops, and constants beyond its range.
    DtypeError
        If dtype is neither float64 nor float32.

    Notes
    -----
    Golubev & Yaskevich (2020). For one configuration of a robot with seven or more freedoms "interp" computes
    "minv", "forward_dynamics" and "forward_dynamics_derivatives" from the statements of H, the bias and
    "rnea_derivatives", by the factor of H. Given a Model and no parameters it computes "rnea_derivatives" as
    `treefactor.rnea_derivatives` does. The last bits differ from those of a batch, which runs all statements.

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
    check_choice("backend", backend, (*BACKENDS, "cuda"))
    if isinstance(model_or_program, Model):
        model = model_or_program
        program = generate(model, functions, tips, parameters=parameters, zeros=zeros)
        return _compiled(program, backend, model, dtype)
    program = model_or_program
    if not isinstance(program, Program):
        raise TypeError(not_a_model(program, "model_or_program", " or treefactor.Program"))
    for name, given in (("tips", as_tuple(tips, "tips")), ("parameters", parameters), ("zeros", zeros)):
        if given:
            raise CodegenError(
                f"{name}= needs a Model: the {name} of a Program are fixed when it is generated"
            )
    chosen = program.chosen([functions] if isinstance(functions, str) else functions)
    program = replace(program, functions={function.name: function for function in chosen})
    return _compiled(program, backend, None, dtype)


def _compiled(program: Program, backend: str, model: Model | None, dtype) -> Kernels | CudaKernels:
    """Compile all functions of a program; those of "cuda" with NVRTC."""
    if backend != "cuda":
        return Kernels(program, backend, model, dtype)
    from .backends.nvrtc import compiled

    precision = PRECISIONS[as_float(dtype)]
    program = _rounding_least(program, precision)
    return CudaKernels(program, compiled(program, precision=precision), precision.dtype)


def _bodies(program: Program, precision: Precision) -> Bodies | None:
    """Return the bodies whose recursions may compute what the program does, and faster; or None."""
    return None if program.source is None or precision.is_single else program.source.bodies


class Kernels(DerivativeCalls, LoopCalls):
    """Generated functions of one robot.

    Arguments, results and errors equal those of the functions of the same names in treefactor; `minv` returns
    the dense inverse of the inertia matrix. If a pivot is not positive, a single call raises
    NotPositiveDefiniteError, which names the freedom; in a batch the result of that configuration is NaN. The
    same holds for configurations in which the loops do not determine the dependent coordinates.
    Batches of the kernels' dtype and of any strides are read and written in place, for example transposed
    arrays whose columns are configurations. Other arrays are converted to float64; kernels of float32 refuse
    them, since rounding could not be seen, and convert lists and numbers only.
    With ``layout="lanes"`` arguments and results are blocks of configurations side by side, as
    `treefactor.to_lanes` returns them; see `call`.

    Parameters
    ----------
    program : Program
    backend : str
    model : Model, optional
        Its joints tell which entries of q are checked to be rotations; its names appear in errors.
    dtype : {float64, float32}

    Attributes
    ----------
    program : Program
    backend : str
    dtype : numpy.dtype

    Raises
    ------
    CodegenError
        If the program is not valid.

    Notes
    -----
    Thread-safe.

    A pickle holds the program only; loading compiles it again for the same backend, or takes the object from
    the cache of that machine.
    """

    program: Program
    backend: str
    dtype: np.dtype
    _precision: Precision
    _model: Model | None
    _tree: Tree
    _fast: dict[tuple, tuple]  # by name or parts, and layout: fast path, and locations of what it returns
    _parts: dict[tuple[str, str], tuple[Part, ...]]  # of functions of several results, by name and layout
    _made: Motions | None  # when they are first used

    def __new__(cls, program: Program, backend: str, model: Model | None = None, dtype=np.float64):
        """Return `ParameterKernels` if the functions of the program take inertial parameters."""
        with_parameters = cls is Kernels and program.parameter_map is not None
        return super().__new__(ParameterKernels if with_parameters else cls)

    def __init__(self, program: Program, backend: str, model: Model | None = None, dtype=np.float64):
        program.validate()
        precision = PRECISIONS[as_float(dtype)]
        program = _rounding_least(program, precision)
        backend, routine_of = made_by(backend, program, precision, _bodies(program, precision))
        routines: dict[tuple[str, str], tuple[Routine, Results]] = {}
        self._keep(program=program, backend=backend, dtype=precision.dtype, _precision=precision)
        self._keep(_model=model, _tree=Tree(program.parent))
        self._keep(_parts={}, _fast={}, _made=None)
        rotations = np.empty((0, 2), np.intp) if model is None else units(model)
        for name, function in program.functions.items():
            routine, slot, sign, zero = routine_of(function, rotations, is_solved(function.parts))
            for layout, (results, parts) in layouts_of(
                program, function, slot, sign, zero, self.dtype
            ).items():
                routines[name, layout] = routine, results
                fast = routine.fast_path, results
                if parts:
                    of_parts, self._parts[name, layout] = zip(*parts, strict=True)
                    fast = routine.fast_parts, (KINDS.get(name, tuple), *of_parts)
                if not (parts and results.takes_lanes):
                    self._fast[name, layout] = fast
            if function.group:
                self._fast[function.group, "dense"] = self._fast[name, "dense"]
        self._prepare(routines)

    def __reduce__(self):
        return Kernels, (self.program, self.backend, self._model, self.dtype)

    def __repr__(self) -> str:
        functions = ", ".join(self.program.functions)
        return f"<{type(self).__name__} {self.program.model!r}: {functions}; {self.backend}, {self.dtype}>"

    def step(
        self, q, v, tau, h, method: str = METHODS[0], *, out=None, num_threads: int = 1
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute the state after a time step, see `treefactor.step`; needs "forward_dynamics" or "aba".

        Kernels of float32 take and return states of float32; h remains a number of Python.
        """
        return self._motions().run(q, v, tau, h, None, method, out, num_threads, False)

    def rollout(
        self, q0, v0, tau, h, steps=None, method: str = METHODS[0], *, out=None, num_threads: int = 1
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute trajectories, see `treefactor.rollout`; needs "forward_dynamics" or "aba".

        Kernels of float32 add up the steps in float32: after fifty steps of 1 ms the states of arms have
        errors of 2e-7.

        Examples
        --------
        >>> import numpy as np, treefactor as tf
        >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
        >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
        >>> kernels = tf.compile(model, ["forward_dynamics"], dtype=np.float32)
        >>> q, v = kernels.rollout(np.ones((2, 1), np.float32), np.zeros(1, np.float32), None, 0.01, 50)
        >>> q.shape, q.dtype
        ((2, 51, 1), dtype('float32'))
        """
        return self._motions().run(q0, v0, tau, h, steps, method, out, num_threads, True)

    def call(self, name, *arguments, out=None, num_threads: int = 1, layout: str = "dense"):
        """Compute any function of the program by its name, or a group of functions.

        Parameters
        ----------
        name : str or sequence of str
            Name of a function, for example "center_of_mass" or "frame_jacobian:tool", or those of a group.
        *arguments : array_like
            The arguments that `treefactor.generate` lists for the function; of a group, those of all parts.
        out : ndarray, optional
            Of several results: shape (..., size of all results), which then holds them one after the other;
            or a tuple of arrays, one for each.
        num_threads : int
        layout : {"dense", "packed", "lanes"}
            "lanes": of all arguments and results, shape (blocks, size, 8), of float32 (blocks, size, 16), as
            `treefactor.to_lanes` returns them; matrices are packed. One block of an argument serves for all.
            "crba", as `treefactor.crba`, takes rows and returns H in lanes.

        Returns
        -------
        ndarray or float, or tuple of them
            The tuple for functions of several results, and for groups, in which matrices are packed.

        Examples
        --------
        >>> import numpy as np, treefactor as tf
        >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
        >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
        >>> kernels = tf.compile(model, ["rnea"], dtype=np.float32)
        >>> q, v, a = (tf.to_lanes(x, dtype=np.float32) for x in (np.zeros((40, 1)), [0.0], [1.0]))
        >>> tau = kernels.call("rnea", q, v, a, layout="lanes")
        >>> q.shape, v.shape, tau.shape
        ((3, 1, 16), (1, 1, 16), (3, 1, 16))
        >>> tf.from_lanes(tau, count=1)
        array([[0.35]], dtype=float32)
        """
        try:
            fast_path, results = self._fast[name, layout]
            computed = fast_path(arguments, out, results, num_threads)
        except (KeyError, TypeError):  # another form of the name, or a list of names
            name, computed = name_of(name), None
        if computed is not None:
            return computed
        if isinstance(out, tuple):
            return fill_outputs(out, self.call(name, *arguments, num_threads=num_threads, layout=layout))
        name = name if isinstance(name, str) else name_of(name)
        self._named(name, arguments)
        computed = self._call(name, arguments, out, num_threads, layout)
        if (name, layout) in self._parts:
            lead, ends = computed.shape[:-1], self._parts[name, layout]
            if self._find(name, layout)[1].takes_lanes:
                results = [computed[:, at] for at, _ in ends]
            else:
                results = [computed[..., at].reshape(lead + shape)[()] for at, shape in ends]
            return tuple.__new__(KINDS.get(name, tuple), results)
        return computed[()] if out is None and not computed.ndim else computed

    def bind(self, name, *arguments: np.ndarray, out: np.ndarray):
        """Return a call without arguments that uses the same arrays each time, see `treefactor.bind`.

        Parameters
        ----------
        name : str or sequence of str
            A name or group that `call` accepts, "step" or "rollout". The results of "crba" and of
            "rnea_derivatives" are dense, those of a group are packed.
        *arguments, out : ndarray of the kernels' dtype
            For several results, out is a tuple of arrays, or one array for all results one after the other.
            Those of "step" and "rollout" are those that `treefactor.bind` takes.
        """
        if name in ("step", "rollout"):
            return self._motions().bind(name, getattr(self, name), arguments, out)
        name = name_of(name)
        routine, results = self._find(name, "dense")
        named = self._named(name, arguments)
        for (argument, size), array in zip(self.program.functions[name].inputs, arguments, strict=True):
            require_bindable(array, (size,), argument, self.dtype)
        outs, parts = (out,), (results,)
        if isinstance(out, tuple) and (name, "dense") in self._parts:
            outs, parts = out, self._separate_results(name)
            require_count(out, len(parts))
            results = parts
        for output, part in zip(outs, parts, strict=True):
            require_bindable(output, part.shape, "out", self.dtype)
            require_apart(output, named)
        return routine.bind(arguments, out, results, partial(self.call, name, *arguments, out=out))

    def _motions(self) -> Motions:
        """Return the steps and rollouts by generated forward dynamics."""
        motions = self._made
        if motions is None:
            motions = motions_of(self, self._model, self._precision, self._find)
            self._keep(_made=motions)
        return motions

    def _find(self, name: str, layout: str) -> tuple[Routine, Results]:
        """Return the routine of a function and the locations of its result in a layout."""
        try:
            return self._routines[name, layout]
        except KeyError:
            check_choice("layout", layout, LAYOUTS)
            if name in self.program.functions:
                raise CodegenError(f"{name!r} has no layout {layout!r}") from None
            known = ", ".join(self.program.functions)
            raise CodegenError(f"{name!r} was not generated, only {known}") from None

    def _separate_results(self, name: str) -> tuple[Results, ...]:
        """Return the dense results of a function one by one."""
        if (name, "dense") in self._parts:
            return self._fast[name, "dense"][1][1:]
        return (self._find(name, "dense")[1],)

    def _named(self, name: str, arguments: tuple) -> dict:
        """Return the arguments of a function by name; raise if it does not exist or takes others."""
        if name not in self.program.functions:
            self._find(name, "dense")
        wanted = [argument for argument, _ in self.program.functions[name].inputs]
        if len(arguments) != len(wanted):
            taken = ", ".join(wanted)
            raise ValueError(f"{name} takes {len(wanted)} arrays: {taken}; got {len(arguments)}")
        return dict(zip(wanted, arguments, strict=True))

    def _general_path(self, name: str, arguments: tuple, out, num_threads: int = 1, layout: str = "dense"):
        """Validate the arguments, evaluate with threads, raise errors."""
        threads = thread_count(num_threads)
        routine, results = self._find(name, layout)
        if results.takes_lanes:
            return self._lanes_path(name, arguments, out, threads)
        tails = {argument: (size,) for argument, size in self.program.functions[name].inputs}
        given, lanes = dict(zip(tails, arguments, strict=True)), self._precision.lanes
        self._precision.require_arrays(given)
        arrays, batch = states(given, tails, self._model, dtype=self.dtype)
        if not batch:  # the bits are those of contiguous vectors, whatever the form of the arrays
            vectors = tuple(map(np.ascontiguousarray, arrays.values()))
            computed = routine.fast_path(vectors, None, results, 1)
            if computed is not None and out is None:
                return np.asarray(computed)
            if computed is not None:
                as_output(out, results.shape, self.dtype)[...] = computed
                return out
        count = math.prod(batch)
        lead, last = (-(-count // lanes),), (lanes,)
        shape = (*lead, *results.shape, *last) if layout == "lanes" else (*batch, *results.shape)
        flat = shape if layout == "lanes" else (count, math.prod(results.shape))
        result = result_array(out, shape, flat, arrays.values(), self.dtype)
        operands = [flatten(array, 1) for array in arrays.values()]
        work = partial(_blocks, routine.batch, count, operands, result, results)
        spread(work, -(-count // BLOCK), threads, self.program.functions[name].rows * count // STATEMENTS)
        if layout == "lanes":
            self._pad(result, count)
        if not batch and is_solved(self.program.functions[name].parts) and not np.isfinite(result).all():
            require_pivots(self.program, name, *self._find(name, "dense"), operands, self._model)
        if out is None:
            return result.reshape(shape)
        if not np.shares_memory(out, result):
            out[...] = result.reshape(shape)
        return out

    def _lanes_path(self, name: str, arguments: tuple, out, threads: int) -> np.ndarray:
        """Validate arguments in the layout "lanes", evaluate with threads."""
        routine, results = self._find(name, "lanes")
        sizes, lanes = dict(self.program.functions[name].inputs), self._precision.lanes
        given = dict(zip(sizes, arguments, strict=True))
        self._precision.require_arrays(given)
        arrays = {key: as_real(values, key, self.dtype) for key, values in given.items()}
        blocks = count_blocks(arrays, sizes, self.dtype)
        shape = blocks, results.slots.size, lanes
        result = result_array(out, shape, shape, arrays.values(), self.dtype)
        operands = list(map(np.ascontiguousarray, arrays.values()))
        work = partial(_blocks, routine.batch, lanes * blocks, operands, result, results)
        tasks, operations = -(-lanes * blocks // BLOCK), self.program.functions[name].rows * lanes * blocks
        spread(work, tasks, threads, operations // STATEMENTS)
        if out is None:
            return result
        if not np.shares_memory(out, result):
            out[...] = result
        return out

    def _pad(self, lanes: np.ndarray, count: int) -> None:
        """Fill the unused lanes of the last block with identity matrices."""
        diagonal = self._tree.rows == self._tree.columns
        lanes[count // self._precision.lanes :, :, count % self._precision.lanes :] = diagonal[:, None]


def _rounding_least(program: Program, precision: Precision) -> Program:
    """Return a program, for single precision of the forms that round least.

    Raises CodegenError if functions need numbers or tolerances that float32 does not have.
    """
    if not precision.is_single:
        return program
    fragile = [name for name in program.functions if name in LOOP_FUNCTIONS or name in CLOSURES]
    if fragile:
        raise CodegenError(
            f"{', '.join(fragile)}: functions that close loops need float64; leave out them, or dtype="
        )
    functions = {name: precise(function) for name, function in program.functions.items()}
    for function in functions.values():
        precision.require_constants(function)
    return replace(program, functions=functions)


class ParameterKernels(ParameterCalls, Kernels):  # type: ignore[misc]  # the signatures differ by pi
    """Generated functions of one robot with inertial parameters as inputs: the last array argument ``pi``.

    ``pi`` is what `treefactor.Program.parameters` returns, shape (p,) for one robot, or (..., p) for a robot
    in every element of a batch. Everything else is as in `treefactor.Kernels`, which `treefactor.compile`
    returns for other programs.

    Notes
    -----
    Thread-safe.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> kernels = tf.compile(model, "rnea", parameters="base")
    >>> pi = kernels.program.parameters([model.parameters, 2 * model.parameters])
    >>> kernels.rnea(np.zeros(1), np.zeros(1), np.ones(1), pi)
    array([[0.35],
           [0.7 ]])
    """

    def _general_path(self, name: str, arguments: tuple, out, num_threads: int = 1, layout: str = "dense"):
        """Raise ShapeError if ``pi`` is not what `Program.parameters` returns; else evaluate."""
        size, shape = dict(self.program.functions[name].inputs)[PI], shape_of(arguments[-1])
        if shape and shape[-1] != size and not self._find(name, layout)[1].takes_lanes:
            text = f"pi must have shape (..., {size}), as program.parameters(pi) returns it, got {shape}"
            raise ShapeError(text, shape, (size,))
        return super()._general_path(name, arguments, out, num_threads, layout)


def _blocks(batch, count: int, operands, result, results: Results, first: int, stop: int) -> None:
    """Evaluate blocks first .. stop-1 of a batch."""
    batch(operands, result, results, first * BLOCK, min(stop * BLOCK, count))


explain([Kernels, ParameterKernels])
