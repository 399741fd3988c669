"""Choose what to generate for a model: functions, variants of the bodies, methods of functions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial, reduce
from itertools import product
from numbers import Integral

import numpy as np

from .._util.messages import similar
from .._util.validation import as_size, as_tuple
from ..exceptions import CodegenError, DtypeError, InvalidModelError
from ..model.frames import Frame, frame_of, located
from ..model.model import require_model
from .algorithms.closing import Closing
from .algorithms.frames import bodies_of, canonical, regrouped, snapped, with_quarter_turns
from .algorithms.inertial_inputs import InertialInputs, with_armature_of_leaders
from .algorithms.partition import closed, dependents
from .program.names import (
    CLOSURES,
    EQUATIONS,
    JOINED,
    LOOP_FUNCTIONS,
    PARAMETRIC,
    REACTIONS,
    TIP_FUNCTIONS,
    FrameFunction,
    arguments_of,
    available,
    names_of,
    parts_of,
    require_known,
    routine,
)

VARIANTS = {  # transformations of the bodies before the recursions run
    "plain": (),
    "frames": (canonical,),
    "regroup": (regrouped,),
    "both": (canonical, regrouped),
    "meeting": (partial(canonical, meet=True), regrouped),
}
KINEMATIC = partial(canonical, by_mass=False)
PARAMETERS: dict[
    str, dict[str, tuple]
] = {  # the same for inertial parameters as inputs: frames of kinematics
    "standard": {"plain": (), "frames": (KINEMATIC,)},
    "base": {
        "regroup": (regrouped,),
        "both": (KINEMATIC, regrouped),
        "meeting": (partial(KINEMATIC, meet=True), regrouped),
    },
}
ZEROS = ("model",)
AT_JOINT = 1e-12  # m and rad; a frame that is closer to its joint lies at the joint
FEW = 9  # most freedoms for which derivatives are also written column by column: n times the statements
MANY = 7  # freedoms from which on kernels of linear algebra solve faster than statements
WHOLE = ("plain", "frames")  # variants that keep the mass of every single body
GEOMETRIC = names_of("frames", "geometry")  # functions that masses do not change
ALONE = (*LOOP_FUNCTIONS, *CLOSURES)  # functions that cannot be parts of a group


@lru_cache(maxsize=16)
def _closed(model, snap: float) -> list[np.ndarray]:
    """Return configurations with all loops closed, of rounded frames."""
    return closed(model, snapped(bodies_of(model), snap)[0])


@dataclass(frozen=True, eq=False)
class Choice:
    """Validated arguments of `generate`, with the transformed bodies of every variant.

    Attributes
    ----------
    ways : list of (tuple of str, tuple of (str or None))
        Functions, or parts of groups, and their methods; None for functions with one method.
    supports : dict of str to list of int
        Columns of v that move the frames of the functions, by name of the frame.
    tips : tuple of str
    stepped : dict of str to list of Body
        Bodies of the model, transformed for each variant.
    snapped : float
        Largest change by rounding, see `Program.snapped`.
    dependent : list of int
        Freedoms that the closed loops determine from the others.
    independent : tuple of str
        Names of the other freedoms.
    closings : dict of str to Closing
        Analytic closures of the loops for each variant, if "position_closure" is generated.
    inputs : dict of str to InertialInputs
        Inertial parameters that are inputs, for each variant; empty if they are constants.
    """

    ways: list
    supports: dict[str, list[int]]
    tips: tuple[str, ...]
    stepped: dict
    snapped: float
    dependent: list[int]
    independent: tuple[str, ...]
    closings: dict[str, Closing]
    inputs: dict[str, InertialInputs]

    @property
    def branch(self) -> tuple[tuple[str, int], ...]:
        """Signs of the square roots of "position_closure", by names of freedoms."""
        return tuple(next(iter(self.closings.values())).branch.items()) if self.closings else ()

    @classmethod
    def of(
        cls,
        model,
        functions,
        tips,
        variants,
        snap: float,
        independent=None,
        branch=None,
        parameters=None,
        zeros=None,
    ) -> Choice:
        """Validate the arguments of `generate`, and transform the bodies."""
        require_model(model)
        snap = as_size(snap, "snap")
        tips = _tips(model, tips)
        _require_parameters(parameters, zeros)
        groups = groups_of(default_functions(model, tips, parameters) if functions is None else functions)
        functions = [name for parts in groups for name in parts]
        supports = _supports(model, functions)
        _require_tips(functions, tips)
        steps = _steps(variants, parameters)
        _require_parametric(functions, parameters)
        closing = set(functions) & {*LOOP_FUNCTIONS, *CLOSURES}
        if closing and not model.loops:
            raise CodegenError(f"the model has no loops; {', '.join(sorted(closing))} need model.loops")
        refused = [name for name in functions if not routine(name).mimic]
        if refused and model.coupling is not None:
            raise CodegenError(
                f"{refused[0]} is not available for models with mimic joints; use forward_dynamics"
            )
        whole = [name for name in functions if name in REACTIONS]
        if whole and not set(steps) & set(WHOLE):
            raise CodegenError(f"{whole[0]} needs one of the variants {', '.join(WHOLE)}; others move masses")
        _require_expressible(model)
        with np.errstate(over="ignore", invalid="ignore"):  # the writer reports infinite constants
            bodies, change = snapped(bodies_of(model), snap)
            bodies = with_armature_of_leaders(model, bodies) if parameters else bodies
            stepped = {
                name: reduce(lambda changed, step: step(changed), of, bodies) for name, of in steps.items()
            }
            if not parameters:  # else programs depend on the kinematics only
                stepped = {name: with_quarter_turns(own) for name, own in stepped.items()}
            full = bool(closing & set(LOOP_FUNCTIONS))  # inverses of J need independent rows
            samples = _closed(model, snap) if closing else []
            follow = dependents(model, bodies, samples, independent, full) if closing else []
        closings = _closings(model, samples, functions, stepped, follow, branch)
        ways = [(parts, methods) for parts in groups for methods in _methods(parts)]
        ways = [way for way in ways if _is_tried(model, way[1])]
        free = tuple(name for k, name in enumerate(model.tree.names) if closing and k not in follow)
        inputs = {
            name: InertialInputs.of(model, stepped[name], regrouped in of, zeros == "model")
            for name, of in steps.items()
            if parameters
        }
        return cls(ways, supports, tips, stepped, float(change), follow, free, closings, inputs)

    def equations(self, nv: int) -> dict[str, tuple[tuple[str, ...], ...]]:
        """Return the equations from which functions follow, by function; none for few freedoms."""
        chosen = {parts for parts, _ in self.ways}
        return {name: groups for name, groups in EQUATIONS.items() if nv >= MANY and (name,) in chosen}

    def ways_of(self, variant: str) -> list:
        """Return the functions and methods that a variant can compute.

        Functions of geometry only are left out if an earlier variant has the same frames.
        """
        names = list(self.stepped)
        geometry = [[step for step in VARIANTS[name] if step is not regrouped] for name in names]
        repeated = geometry[names.index(variant)] in geometry[: names.index(variant)]
        return [
            way
            for way in self.ways
            if (variant in WHOLE or not set(way[0]) & set(REACTIONS))
            and not (repeated and all(name.partition(":")[0] in GEOMETRIC for name in way[0]))
        ]


def default_functions(model, tips, parameters) -> tuple[str, ...]:
    """Return the functions to generate if none are named."""
    names = available(model, tips)
    return tuple(name for name in names if name in PARAMETRIC) if parameters else names


def _require_parameters(parameters, zeros) -> None:
    """Raise CodegenError unless `parameters` and `zeros` are known and fit together."""
    for value, name, known in ((parameters, "parameters", PARAMETERS), (zeros, "zeros", ZEROS)):
        if value is not None and (not isinstance(value, str) or value not in known):
            expected = ", ".join(map(repr, (None, *known)))
            raise CodegenError(f"{name} must be one of {expected}; got {value!r}{similar(value, known)}")
    if zeros and not parameters:
        raise CodegenError(
            "zeros= needs parameters='base' or 'standard': without it all constants are folded"
        )


def _require_parametric(functions, parameters) -> None:
    """Raise CodegenError if a function cannot take inertial parameters."""
    for name in functions if parameters else ():
        if name not in PARAMETRIC:
            raise CodegenError(
                f"{name!r} cannot take inertial parameters: with parameters={parameters!r} there are "
                f"{', '.join(PARAMETRIC)}; generate it in a program of its own without parameters="
            )


def _steps(variants, parameters) -> dict[str, tuple]:
    """Return the transformations of every variant to try, by name."""
    names = _names(variants, VARIANTS, "variant")
    known = PARAMETERS[parameters] if parameters else VARIANTS
    steps = {name: known[name] for name in names if name in known}
    if not steps:
        wrong = f"parameters={parameters!r} excludes {', '.join(names)}" if names else "no variant was given"
        raise CodegenError(f"{wrong}; expected some of {', '.join(known)}")
    return steps


def groups_of(functions) -> list[tuple[str, ...]]:
    """Return the parts of groups, one for single functions; raise CodegenError for unknown functions."""
    groups: dict[tuple[str, ...], None] = {}
    for function in (functions,) if isinstance(functions, str) else as_tuple(functions, "functions"):
        given = function.split(JOINED) if isinstance(function, str) else function
        if not isinstance(given, (list, tuple)) or not given:
            require_known(function)
        for name in given:
            require_known(name)
        parts = parts_of(given)
        if len(parts) > 1:
            for name in parts:
                if name in ALONE:
                    raise CodegenError(f"{name!r} cannot be part of a group of functions: ask for it alone")
            if {"a", "tau"} <= set(arguments_of(parts)):
                raise CodegenError(
                    f"the parts of {JOINED.join(parts)!r} take both a and tau: split the group"
                )
        groups[parts] = None
    return list(groups)


def _methods(parts: tuple[str, ...]):
    """Return the choices of methods for parts of a group; parts of one kind have the same method."""
    of_parts = [routine(name).methods for name in parts]
    sets = list(dict.fromkeys(of_parts))
    chosen = (dict(zip(sets, methods, strict=True)) for methods in product(*sets))
    return [tuple(method[methods] for methods in of_parts) for method in chosen]


def _is_tried(model, methods: tuple) -> bool:
    """Return whether methods are tried for a model: "columns" needs few freedoms, "aba" no mimic joints."""
    return (model.coupling is None or "aba" not in methods) and (model.nv <= FEW or "columns" not in methods)


def _supports(model, functions) -> dict[str, list[int]]:
    """Return the columns of v that move the frames of functions, by name of the frame."""
    supports = {}
    for function in filter(None, map(FrameFunction.of, functions)):
        try:
            frame = frame_of(model, function.frame)
        except InvalidModelError as error:
            raise CodegenError(f"{function.name!r}: {error}") from None
        supports[function.frame] = model.support(frame).tolist()
    return supports


def _closings(model, samples, functions, stepped, follow, branch) -> dict[str, Closing]:
    """Return the analytic closures of all variants on a branch; none if none is generated."""
    if not set(functions) & set(CLOSURES):
        if branch is not None:
            raise CodegenError(f"branch= needs one of the functions {', '.join(CLOSURES)}")
        return {}
    closings = {name: Closing(model, changed, follow) for name, changed in stepped.items()}
    for closing in closings.values():
        closing.require_exact(samples)
    first, *others = closings.values()
    first.choose(branch, samples[0])
    for closing in others:
        closing.branch, closing.start = first.branch, first.start
    return closings


def _require_expressible(model) -> None:
    """Raise CodegenError if a mimic joint needs more than multiples of an angle given by cosine and sine."""
    for joint in model.joints:
        if not joint.mimic or model.joints[joint.mimic.leader].kind != "continuous":
            continue
        if joint.kind != "revolute" or not float(joint.mimic.ratio).is_integer():
            raise CodegenError(
                f"joint {joint.name!r} follows a continuous joint, given by cosine and sine of its angle: "
                "only revolute joints at whole multiples of the angle can be generated"
            )


def _tips(model, tips) -> tuple[str, ...]:
    """Return the names of joints given by number or name, or by a body or frame at the joint."""
    tips = (tips,) if isinstance(tips, str | Integral | Frame) else as_tuple(tips, "tips")
    try:
        places = [located(model, tip, np.eye(3), np.zeros(3), "tips:") for tip in tips]
    except (InvalidModelError, DtypeError, ValueError, IndexError) as error:
        raise CodegenError(str(error)) from None
    for tip, (number, R, p) in zip(tips, places, strict=True):
        if number == -1:
            raise CodegenError(
                f"tips: {_title(tip)} is the base, which does not move; expected names of joints"
            )
        if max(np.abs(R - np.eye(3)).max(), np.abs(p).max()) > AT_JOINT:
            raise CodegenError(
                f"tips: frame {_title(tip)} is away from its joint {model.joints[number].name!r}, "
                "and tips are joints, or frames at joints; for this frame generate the function "
                f"'frame_jacobian:{getattr(tip, 'name', tip)}'"
            )
    return tuple(model.joints[number].name for number, *_ in places)


def _title(tip) -> str:
    """Return a tip as messages show it."""
    return repr(getattr(tip, "name", tip))


def _require_tips(functions: tuple[str, ...], tips: tuple[str, ...]) -> None:
    """Raise CodegenError if a function of tips is to be generated without tips."""
    for name in functions:
        if name in TIP_FUNCTIONS and not tips:
            raise CodegenError(
                f"{name!r} needs tips=, the joints of its Jacobian, for example "
                f"tips=[model.joints[-1].name] (--tips on the command line)"
            )


def _names(names, known, what: str) -> tuple[str, ...]:
    """Return names as a tuple; raise CodegenError for unknown ones."""
    names = (names,) if isinstance(names, str) else as_tuple(names, f"{what}s")
    for name in names:
        if not isinstance(name, str) or name not in known:
            raise CodegenError(
                f"{name!r} is not a {what} to generate{similar(name, known)}; there are {', '.join(known)}"
            )
    return names
