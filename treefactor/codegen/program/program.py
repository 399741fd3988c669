"""Store programs: straight-line code of a model's functions as plain arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from ..._util.files import replacing, require_intact
from ..._util.messages import similar
from ..._util.validation import ReadOnly
from ...exceptions import CodegenError
from ...model.joints import LOOPS
from ...model.model import Model
from ...tree.tree import OperationCount, Tree
from . import emit_c
from .expressions import RECIP, SQRT
from .function import COLUMNS as COLUMNS
from .function import Function as Function
from .function import operation_count as operation_count
from .names import ARGUMENTS as ARGUMENTS
from .names import CLOSURES as CLOSURES
from .names import EQUATIONS as EQUATIONS
from .names import FUNCTIONS as FUNCTIONS
from .names import LOOP_FUNCTIONS as LOOP_FUNCTIONS
from .names import REACTIONS as REACTIONS
from .names import TIP_FUNCTIONS as TIP_FUNCTIONS
from .names import (
    FrameFunction,
    argument_sizes,
    arguments_of,
    joint_shape,
    name_of,
    shapes_of,
)
from .names import available as available
from .parameter_map import ParameterMap

FORMAT = 3
NO_PROGRAM = (KeyError, TypeError, ValueError, OverflowError, OSError, EOFError, RuntimeError)
# attributes in the head of a file
PLAIN = (
    *("model", "nq", "nv", "tips", "snapped", "loops", "independent"),
    *("joints", "branch", "frames", "entries"),
)


@dataclass(frozen=True, eq=False)
class Program(ReadOnly):
    """Generated functions of one model; picklable.

    Attributes
    ----------
    model : str
        Name of the model.
    parent : ndarray, shape (nv,)
        Parents in the tree of its freedoms, which defines the packed rows of H.
    nq, nv : int
    tips : tuple of str
        Joints of "jacobian" and "delassus".
    snapped : float
        Largest change by rounding angles to multiples of 90 degrees (of a rotation entry) and short lengths
        to 0 (relative to the longest).
    functions : mapping of str to Function
    loops : tuple of (str, str)
        Names and kinds of the joints that close loops.
    independent : tuple of str
        Freedoms, named as in ``Tree.names``, from which "loops" computes the dependent ones.
    joints : tuple of str
        Joints of the rows of "joint_forces".
    branch : tuple of (str, int)
        Dependent freedoms that "position_closure" computes by a square root, and its sign, 1 or -1.
    frames : tuple of (str, tuple of int)
        Frames of the functions, and the columns of v that move them: those of their packed Jacobians.
    parameter_map : ParameterMap or None
        Map from inertial parameters to the last argument ``pi`` of all functions; None if they are constants.
    source : Model or None
        Model whose recursions compute some functions of one configuration faster; files hold what they need.
    entries : tuple of str
        What the entries of every joint in q and v are, for the header of its C source.

    Notes
    -----
    Immutable.
    """

    model: str
    parent: np.ndarray
    nq: int
    nv: int
    tips: tuple[str, ...]
    snapped: float
    functions: Mapping[str, Function]
    loops: tuple[tuple[str, str], ...] = ()
    independent: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    branch: tuple[tuple[str, int], ...] = ()
    frames: tuple[tuple[str, tuple[int, ...]], ...] = ()
    parameter_map: ParameterMap | None = None
    source: Model | None = None
    entries: tuple[str, ...] = ()

    def __post_init__(self):
        self.__setstate__({"parent": np.array(self.parent), "functions": self.functions})

    def __getstate__(self) -> dict:
        return self.__dict__ | {"functions": dict(self.functions)}

    def __setstate__(self, state: dict):
        super().__setstate__(state | {"functions": MappingProxyType(dict(state["functions"]))})

    @property
    def operations(self) -> dict[str, OperationCount]:
        """Operation counts of every function."""
        return {name: function.operations for name, function in self.functions.items()}

    def parameters(self, pi=None, armature=None) -> np.ndarray:
        """Return the last argument ``pi`` of functions of a program with inertial parameters as inputs.

        Parameters
        ----------
        pi : array_like, shape (..., njoints, 10), Model or Inertias, optional
            Mass (kg), first moments (kg m) and tensor about the origin (kg m^2) of what every joint carries,
            in axes of the joint: ``Inertia.toDynamicParameters`` of Pinocchio, (m, h_x, h_y, h_z, I_xx, I_xy,
            I_yy, I_xz, I_yz, I_zz). No body needs to have them. Default: those of the model.
        armature : array_like, shape (..., nv), optional
            As ``Model.armature``. Default: that of pi if it is a Model or Inertias, else of the program's
            model. Where the latter is 0, it must be 0.

        Returns
        -------
        ndarray, shape (..., p)
            Linear in pi and armature.

        Raises
        ------
        CodegenError
            If the program has constants instead, or has folded a value that is not 0; names it.
        DtypeError, ShapeError

        Examples
        --------
        >>> import numpy as np, treefactor as tf
        >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
        >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
        >>> program = tf.generate(model, "rnea", parameters="base")
        >>> heavier = program.parameters(2 * model.parameters)
        >>> program.functions["rnea"].evaluate([0.0], [0.0], [1.0], heavier)
        array([0.7])
        """
        if self.parameter_map is None:
            raise CodegenError(
                "the program has the inertial parameters of the model as constants: "
                "generate(model, ..., parameters='base') makes them inputs"
            )
        return self.parameter_map.inputs(pi, armature)

    def c_source(self, functions=None) -> str:
        """Return C99 of functions (default all): ``tf_NAME(q, v, u, out)``, with -DLANES=8 ``tf_NAME_x8``.

        In NAME, ``:`` is ``__``.
        """
        return emit_c.c_source(self, functions)

    def chosen(self, functions=None) -> list[Function]:
        """Validate the program and return functions by name, by default all."""
        self.validate()
        names = list(self.functions) if functions is None else [*map(name_of, functions)]
        for name in names:
            if name not in self.functions:
                wrong, known = f"{name!r}{similar(name, ARGUMENTS)}", ", ".join(self.functions)
                raise CodegenError(f"the program does not have the function {wrong}; it has {known}")
        return [self.functions[name] for name in names]

    def shapes_of(self, function: Function) -> list[tuple[int, ...]]:
        """Return the shapes of the results of a function or of the parts of a group."""
        tree, supports = Tree(self.parent), dict(self.frames)
        given = (tree, len(self.tips), self.loops, len(self.joints), self.nq, supports)
        return [shape for name in function.parts for shape in shapes_of(name, *given)]

    def save(self, path) -> None:
        """Write to a file of arrays, without pickled objects, atomically."""
        head = {name: getattr(self, name) for name in PLAIN}
        head |= {"format": FORMAT, "functions": []}
        arrays: dict[str, Any] = {"parent": self.parent}
        for k, function in enumerate(self.functions.values()):
            plain = _head(function)
            plain |= {"alternatives": [alternative.variant for alternative in function.alternatives]}
            plain |= {"equations": [_head(equation) for equation in function.equations]}
            head["functions"].append(plain)
            arrays |= _columns(f"{k}", function)
            for j, alternative in enumerate(function.alternatives):
                arrays |= _columns(f"{k}.{j}", alternative)
            for j, equation in enumerate(function.equations):
                arrays |= _columns(f"{k}.equation{j}", equation)
        if self.parameter_map is not None:
            head["pi"] = self.parameter_map.head()
            arrays |= self.parameter_map.arrays()
        import json  # here, as below: few programs are stored

        from .model_arrays import arrays_of

        if self.source is not None:
            arrays |= arrays_of(self.source)

        with replacing(Path(path)) as draft, open(draft, "wb") as file:
            np.savez_compressed(file, head=np.array(json.dumps(head)), **arrays)

    @classmethod
    def load(cls, path) -> Program:
        """Read a program from a file that `save` has written.

        Raises
        ------
        CodegenError
            If the file is something else, or its content is not a valid program.
        """
        import json

        from .model_arrays import model_of

        try:
            with open(path, "rb") as opened:
                require_intact(opened)
                file = np.load(opened, allow_pickle=False)
                head = json.loads(str(file["head"]))
                if head["format"] != FORMAT:
                    raise CodegenError(f"{path}: format {head['format']}, expected {FORMAT}")
                functions = [_function(file, f"{k}", **plain) for k, plain in enumerate(head["functions"])]
                joints = tuple(map(str, head["joints"]))
                inputs = ParameterMap.read(file, joints, **head["pi"]) if "pi" in head else None
                program = cls(
                    str(head["model"]),
                    np.array(Tree(file["parent"]).parent),
                    int(head["nq"]),
                    int(head["nv"]),
                    tuple(map(str, head["tips"])),
                    float(head["snapped"]),
                    {function.name: function for function in functions},
                    tuple((str(name), str(kind)) for name, kind in head["loops"]),
                    tuple(map(str, head["independent"])),
                    joints,
                    tuple((str(name), int(sign)) for name, sign in head["branch"]),
                    tuple((str(name), tuple(map(int, at))) for name, at in head["frames"]),
                    inputs,
                    model_of(file, joints, str(head["model"])),
                    tuple(map(str, head["entries"])),
                )
        except NO_PROGRAM as error:
            if isinstance(error, FileNotFoundError | CodegenError):
                raise
            raise CodegenError(f"{path} was not written by Program.save, or is damaged ({error})") from error
        program.validate()
        return program

    def validate(self) -> None:
        """Raise CodegenError if the statements, arguments or results are not valid."""
        if len(self.parent) != self.nv:
            raise CodegenError(f"expected {self.nv} parents, as many as freedoms, got {len(self.parent)}")
        if self.source is not None and (self.source.tree, self.source.nq) != (Tree(self.parent), self.nq):
            raise CodegenError("the model for its recursions has other freedoms than the program")
        for name, kind in self.loops:
            if kind not in LOOPS:
                raise CodegenError(f"loop {name!r} must have a kind among {', '.join(LOOPS)}, got {kind!r}")
        for name, columns in self.frames:
            if any(not 0 <= k < self.nv for k in columns) or list(columns) != sorted(set(columns)):
                raise CodegenError(f"frame {name!r} must have ascending columns of v, got {columns}")
        for name, function in self.functions.items():
            for alternative in function.alternatives:
                self._require_valid(name, alternative)
            self._require_valid(name, function)
            self._require_equations(name, function)

    def _require_valid(self, name: str, function: Function) -> None:
        """Raise CodegenError unless the statements of a function are valid and fit the model."""
        self._require_fitting(name, function)
        fault = function.fault()
        if fault:
            raise CodegenError(f"{name}: {fault}")
        if (np.abs(function.b[function.op == RECIP], dtype=float) > self.nv).any():
            raise CodegenError(f"{name}: a pivot does not belong to a freedom")
        closed = function.b[function.op == SQRT]
        if ((closed < 1) | (closed > len(self.loops))).any():
            raise CodegenError(f"{name}: a square root does not belong to a loop")

    def _require_equations(self, name: str, function: Function) -> None:
        """Raise CodegenError unless equations are valid, and those from which the function follows."""
        parts = tuple(equation.parts for equation in function.equations)
        if parts and parts != EQUATIONS.get(name):
            names = ", ".join(equation.name for equation in function.equations)
            raise CodegenError(f"{name}: it does not follow from {names}")
        for equation in function.equations:
            self._require_valid(equation.name, equation)

    def _require_fitting(self, name: str, function: Function) -> None:
        """Raise CodegenError unless the name, arguments and shape of a function fit the model."""
        fits = name == name_of(function.parts) and all(map(self._is_known, function.parts))
        if fits:
            sizes = argument_sizes(self.nq, self.nv, self.parameter_map.size if self.parameter_map else 0)
            names = arguments_of(function.parts, self.parameter_map is not None)
            inputs = tuple((x, sizes[x]) for x in names)
            fits = function.inputs == inputs and function.shape == joint_shape(self.shapes_of(function))
        if not fits:
            raise CodegenError(f"{name}: its arguments or its result do not fit the model")

    def _is_known(self, name: str) -> bool:
        """Return whether a function exists, and its frame is one of the program's."""
        function = FrameFunction.of(name)
        return name in ARGUMENTS if function is None else function.frame in dict(self.frames)


def _head(function: Function) -> dict[str, Any]:
    """Return what a file stores of a function beside its columns."""
    plain = {name: getattr(function, name) for name in ("name", "inputs", "shape", "variant")}
    return plain | ({"group": function.group} if function.group else {})


def _columns(prefix: str, function: Function) -> dict[str, np.ndarray]:
    """Return the columns of a function by their names in a file."""
    return {f"{prefix}.{column}": getattr(function, column) for column in COLUMNS}


def _function(
    file, prefix: str, name, inputs, shape, variant, group=(), alternatives=(), equations=()
) -> Function:
    """Read a function, its alternatives and its equations, the columns of which have names with a prefix."""
    columns: dict[str, Any] = {column: np.ascontiguousarray(file[f"{prefix}.{column}"]) for column in COLUMNS}
    for column, dtype in COLUMNS.items():
        if columns[column].dtype != dtype or columns[column].ndim != 1:
            raise CodegenError(f"{name}: column {column} must be a vector of {np.dtype(dtype).name}")
    inputs = tuple((str(argument), int(size)) for argument, size in inputs)
    made = Function(str(name), inputs, **columns, shape=tuple(map(int, shape)), variant=str(variant))
    same = (name, inputs, shape)
    others = [
        _function(file, f"{prefix}.{j}", *same, variant_of_alternative, group)
        for j, variant_of_alternative in enumerate(alternatives)
    ]
    sources = [_function(file, f"{prefix}.equation{j}", **head) for j, head in enumerate(equations)]
    made = replace(made, alternatives=tuple(others), equations=tuple(sources))
    return replace(made, group=tuple(map(str, group)))
