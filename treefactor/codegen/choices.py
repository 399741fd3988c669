"""What is to be generated of a model, and the ways to it: variants of bodies, methods of functions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from numbers import Integral

import numpy as np

from .._util.messages import similar
from .._util.validation import as_size, as_tuple
from ..exceptions import CodegenError, DtypeError, InvalidModelError
from ..model.model import body_number, require_model
from .algorithms.frames import bodies_of, canonical, regrouped, snapped
from .algorithms.partition import dependents
from .algorithms.reduction import AXES
from .program.program import ARGUMENTS, LOOP_FUNCTIONS, TIP_FUNCTIONS, available

VARIANTS = {  # steps that a model takes before its recursions run
    "plain": (),
    "frames": (canonical,),
    "regroup": (regrouped,),
    "both": (canonical, regrouped),
    "meeting": (partial(canonical, meet=True), regrouped),
}
FACTORS = ("factor", "aba")  # of H, or of articulated bodies
METHODS: dict[str, tuple[str, ...]] = {  # of functions that have a choice
    **dict.fromkeys(("forward_dynamics", "minv", "delassus"), FACTORS),
    **dict.fromkeys(("loops", "loop_velocity", "loop_step"), AXES),
}


@dataclass(frozen=True, eq=False)
class Choice:
    """What is to be generated of a model, and the ways there are.

    Attributes
    ----------
    ways : list of (str, str or None)
        Functions, and the methods of those that have several.
    tips : tuple of str
    stepped : dict of str to list of Body
        The model after the steps of every variant.
    snapped : float
    dependent : list of int
        Freedoms that follow the others where loops are closed.
    independent : tuple of str
        Names of the others.
    """

    ways: list
    tips: tuple[str, ...]
    stepped: dict
    snapped: float
    dependent: list[int]
    independent: tuple[str, ...]

    @classmethod
    def of(cls, model, functions, tips, variants, snap: float, independent=None) -> Choice:
        """Check the arguments of `generate`, and take the steps."""
        require_model(model)
        snap = as_size(snap, "snap")
        tips = _tips(model, tips)
        functions = available(model, tips) if functions is None else _names(functions, ARGUMENTS, "function")
        _require_tips(functions, tips)
        variants = _names(variants, VARIANTS, "variant")
        if not variants:
            raise CodegenError(f"no variant was given; there are {', '.join(VARIANTS)}")
        closing = set(functions) & set(LOOP_FUNCTIONS)
        if closing and not model.loops:
            raise CodegenError(f"the model has no loops to close by {', '.join(sorted(closing))}")
        if "aba" in functions and model.coupling is not None:
            raise CodegenError("joints follow others: there is forward_dynamics for such a model, but no aba")
        _require_expressible(model)
        with np.errstate(over="ignore", invalid="ignore"):  # an infinite constant is named by the writer
            bodies, change = snapped(bodies_of(model), snap)
            stepped = {
                name: reduce(lambda found, step: step(found), VARIANTS[name], bodies) for name in variants
            }
            follow = dependents(model, bodies, independent) if closing else []
        ways = [(name, method) for name in functions for method in METHODS.get(name, (None,))]
        ways = [way for way in ways if way[1] != "aba" or model.coupling is None]
        free = tuple(name for k, name in enumerate(model.tree.names) if closing and k not in follow)
        return cls(ways, tips, stepped, float(change), follow, free)


def _require_expressible(model) -> None:
    """Raise CodegenError where a joint needs an arc tangent, which no row is."""
    for joint in model.joints:
        if not joint.mimic or model.joints[joint.mimic.leader].kind != "continuous":
            continue
        if joint.kind != "revolute" or not float(joint.mimic.ratio).is_integer():
            raise CodegenError(
                f"joint {joint.name!r} follows a continuous joint, given by cosine and sine of its angle: "
                "without an arc tangent that is for revolute joints at whole multiples of the angle only"
            )


def _tips(model, given) -> tuple[str, ...]:
    """Names of joints that are given by their numbers, their names or those of their bodies."""
    given = (given,) if isinstance(given, str | Integral) else as_tuple(given, "tips")
    try:
        numbers = [body_number(model, tip, "tips:") for tip in given]
    except (InvalidModelError, DtypeError, ValueError, IndexError) as error:
        raise CodegenError(str(error)) from None
    if -1 in numbers:
        raise CodegenError("tips: -1 is the base, which does not move; expected names of joints")
    return tuple(model.joints[number].name for number in numbers)


def _require_tips(functions: tuple[str, ...], tips: tuple[str, ...]) -> None:
    """Raise CodegenError where a function of tips is to be generated without any."""
    for name in functions:
        if name in TIP_FUNCTIONS and not tips:
            raise CodegenError(
                f"{name!r} needs tips=, the joints whose velocities it is about: "
                f"tips=[model.joints[-1].name], say (--tips on the command line)"
            )


def _names(given, known, what: str) -> tuple[str, ...]:
    """Names as a tuple, or raise CodegenError."""
    given = (given,) if isinstance(given, str) else as_tuple(given, f"{what}s")
    for name in given:
        if not isinstance(name, str) or name not in known:
            raise CodegenError(
                f"{name!r} is not a {what} to generate{similar(name, known)}; there are {', '.join(known)}"
            )
    return given
