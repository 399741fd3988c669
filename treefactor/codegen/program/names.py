"""Name the functions that can be generated: their arguments, shapes, frames, groups and C identifiers.

A function of a frame is named ``KIND:FRAME``, with options after it: ``frame_jacobian:tool:WORLD:packed``.
A group of functions that share one computation is named by its parts, joined by " + ".
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from ..._util.elsewhere import functions as functions_elsewhere
from ..._util.messages import plain, similar
from ...exceptions import CodegenError
from ...model.joints import LOOPS
from ...quantities.declaration import Generated, Quantity
from ...quantities.dynamics import BY_FACTOR
from ...quantities.table import QUANTITIES
from ...tree.tree import Tree

# Axes of the rows of the loops: common ancestor, first or second body, axes of J_d
AXES = ("top", "first", "second", "own")
ORDER = ("q", "v", "a", "tau", "w", "dq", "dv", "da", "dtau")  # of all arguments
PI = "pi"  # name of inertial parameters, the last input of functions that take them
CHOICES = {"classical": ("spatial", "classical")}  # words for options of quantities that are flags


class Routine(NamedTuple):
    """A function that can be generated.

    Attributes
    ----------
    group : str
        That of its declaration, or "tips", "loops" or "closures".
    arguments : tuple of str
    shapes : tuple of tuple
        Of its results; axes are numbers or names of numbers, see `shapes_of`.
    text : str
        Meaning of the result, in C.
    methods : tuple of (str or None)
        Ways to compute it, of which the cheapest is kept.
    solved : bool
        Whether the result is not finite for some finite arguments.
    options : tuple of tuple of str
        Choices after the frame in its name, in order; the first is default.
    packed : tuple of str
        Number of entries of its results that are packed by the pattern of H.
    quantity : str
        The quantity that it computes, or is most like.
    mimic : bool
        Whether models with mimic joints are supported.
    """

    group: str
    arguments: tuple[str, ...]
    shapes: tuple[tuple[str | int, ...], ...]
    text: str
    methods: tuple[str | None, ...] = (None,)
    solved: bool = False
    options: tuple[tuple[str, ...], ...] = ()
    packed: tuple[str, ...] = ()
    quantity: str = ""
    mimic: bool = True


def routine_of(quantity: Quantity, generated: Generated) -> Routine:
    """Return the function that computes a quantity, or one of its results."""
    results = [
        one for one in quantity.results if one.name == generated.result or not (generated.result or one.when)
    ]
    last = [one.name for one in quantity.inputs].index(results[0].when) if results[0].when else -1
    arguments = tuple(
        one.name for k, one in enumerate(quantity.inputs) if one.needed or not one.optional or k <= last
    )
    of_frame = generated.group == "frames"
    packed = () if of_frame else tuple(one.packed for one in results if one.packed)
    shapes = tuple(
        (one.packed,) if packed else tuple(axis for axis in one.shape if axis != "frames") for one in results
    )
    choices = (CHOICES.get(one.name, one.choices) for one in quantity.options)
    options = tuple(filter(None, choices)) if of_frame else ()
    return Routine(
        generated.group,
        arguments,
        shapes,
        generated.text,
        generated.methods or (None,),
        bool(quantity.fails),
        options,
        packed,
        quantity.name,
        quantity.mimic,
    )


OF_PROGRAMS = {  # functions that are no quantities
    "jacobian": Routine(
        "tips",
        ("q",),
        (("tips", "nv"),),
        "J, linear and angular velocities in the axes of the joints {tips}",
        quantity="joint_jacobian",
    ),
    "delassus": Routine(
        "tips",
        ("q",),
        (("tips", "tips"),),
        "J H^-1 J^T, velocities in the axes of the joints {tips}",
        BY_FACTOR,
        True,
    ),
    "loops": Routine(
        "loops",
        ("q", "v", "tau"),
        (("nv",),),
        "accelerations under forces tau with all loops closed; reads {free} of v, the others follow",
        AXES,
        True,
    ),
    "loop_velocity": Routine(
        "loops", ("q", "v"), (("nv",),), "v with all loops closed, computed from {free}", AXES, True
    ),
    "loop_step": Routine(
        "loops",
        ("q",),
        (("nv",),),
        "Newton step in v that closes the loops, to be integrated; 0 for {free}",
        AXES,
        True,
    ),
    "loop_gap": Routine(
        "loops",
        ("q",),
        (("gaps",),),
        "residual of the loops: translations in the first frame of each, then cosines",
    ),
    "position_closure": Routine(
        "closures",
        ("q",),
        (("nq",),),
        "q with all loops closed, computed from {free}; NaN if they cannot be closed",
        solved=True,
    ),
}
ROUTINES: dict[str, Routine] = {
    one.name or name: routine_of(quantity, one)
    for name, quantity in QUANTITIES.items()
    for one in quantity.generated
} | OF_PROGRAMS


def listing() -> str:
    """Return what all functions compute, by groups, for the notes of `generate`."""
    given = {"tips": "of tips", "free": "the independent freedoms", "frame": "NAME"}
    lines = []
    for title, names in GROUPS.items():
        lines += [f"{title[0].upper()}{title[1:]}:", ""]
        for name in names:
            own = routine(name)
            options = "; ".join(f"{', '.join(choices[:-1])} or {choices[-1]}" for choices in own.options)
            text = f'- "{name.replace("FRAME", "NAME")}" of ({", ".join(own.arguments)}): '
            text += (
                own.text.format(**given, options=options) + "; not for mimic joints" * (not own.mimic) + "."
            )
            lines += textwrap.wrap(text, 106, subsequent_indent="  ")
        lines.append("")
    return "\n".join(lines)


def names_of(*groups: str) -> tuple[str, ...]:
    """Return the names of the functions of groups."""
    return tuple(name for name, one in ROUTINES.items() if one.group in groups)


FUNCTIONS = names_of("dynamics")  # functions that need no tips
TIP_FUNCTIONS = names_of("tips")
LOOP_FUNCTIONS = names_of("loops")  # functions of all models with loops
CLOSURES = names_of("closures")  # functions of loops with an analytic closure
REACTIONS = names_of("reactions")
KINEMATICS = names_of("geometry", "kinematics")
DERIVATIVES = names_of("derivatives")
OF_FRAMES = names_of("frames")
GROUPS = {  # in messages
    "of the dynamics": FUNCTIONS,
    "of tips": TIP_FUNCTIONS,
    "of loops": (*LOOP_FUNCTIONS, *CLOSURES),
    "of reactions": REACTIONS,
    "of the kinematics": KINEMATICS,
    "derivatives": DERIVATIVES,
    "of a frame": tuple(f"{kind}:FRAME" for kind in OF_FRAMES),
}
PARAMETRIC = FUNCTIONS  # functions that can take inertial parameters as their last input
ARGUMENTS = {name: one.arguments for name, one in ROUTINES.items() if one.group != "frames"}
EQUATIONS: dict[str, tuple[tuple[str, ...], ...]] = {  # functions that follow from others by linear algebra
    "minv": (("crba",),),
    "forward_dynamics": (("crba", "bias"),),
    "forward_dynamics_derivatives": (("crba", "bias"), ("rnea_derivatives",)),
}
JOINED = " + "  # between the names of a group
LONGEST = 80  # C identifier, without a digest


@dataclass(frozen=True)
class FrameFunction:
    """Function of a frame, from its name ``KIND:FRAME`` with options.

    Attributes
    ----------
    kind : str
        One of OF_FRAMES.
    frame : str
    options : tuple of str
        One of each of the options of its `Routine`.
    """

    kind: str
    frame: str
    options: tuple[str, ...]

    @classmethod
    def of(cls, name: str) -> FrameFunction | None:
        """Return the parts of a name; None if it does not name a function of a frame.

        Options are read from the end, one of each kind. A frame whose name ends like an option needs all of
        them: ``frame_jacobian:left:packed:LOCAL:dense`` is of the frame "left:packed".
        """
        kind, colon, rest = name.partition(":")
        if kind not in OF_FRAMES or not colon or not rest:
            return None
        words, options = rest.split(":"), []
        for choices in reversed(ROUTINES[kind].options):
            given = len(words) > 1 and words[-1] in choices
            options.append(words.pop() if given else choices[0])
        return cls(kind, ":".join(words), tuple(reversed(options)))

    @property
    def name(self) -> str:
        """Shortest name: without options that are defaults, unless the name of the frame ends like one."""
        defaults = [choices[0] for choices in ROUTINES[self.kind].options]
        chosen = [x for x, default in zip(self.options, defaults, strict=True) if x != default]
        short = ":".join([self.kind, self.frame, *chosen])
        return short if FrameFunction.of(short) == self else ":".join([self.kind, self.frame, *self.options])

    @property
    def reference(self) -> str:
        """LOCAL, WORLD or LOCAL_WORLD_ALIGNED."""
        return self.options[0]


def canonical(name: str) -> str:
    """Return the name of a function without options that are defaults."""
    function = FrameFunction.of(name)
    return name if function is None else function.name


def parts_of(function: str | Sequence[str]) -> tuple[str, ...]:
    """Return the canonical names of a group, given as names or joined by " + "; one for single functions."""
    names = function.split(JOINED) if isinstance(function, str) else function
    return tuple(map(canonical, names))


def name_of(function: str | Sequence[str]) -> str:
    """Return the name of a function, or of a group of functions, in a program."""
    return JOINED.join(parts_of(function))


def arguments_of(parts: Sequence[str], with_pi: bool = False) -> tuple[str, ...]:
    """Return the arguments that functions take together, in order, with inertial parameters at the end."""
    taken: set[str] = set()
    for name in parts:
        taken.update(routine(name).arguments)
    return (*(argument for argument in ORDER if argument in taken), *[PI] * with_pi)


def routine(name: str) -> Routine:
    """Return the function of that name; those of frames have the frame and options in it."""
    return ROUTINES.get(name) or ROUTINES[name.partition(":")[0]]


def is_solved(parts: Sequence[str]) -> bool:
    """Return whether the result of a function or group may not be finite for finite arguments."""
    return any(routine(name).solved for name in parts)


def require_known(name) -> None:
    """Raise CodegenError unless a name is that of a function that can be generated."""
    if isinstance(name, str) and (name in ARGUMENTS or FrameFunction.of(name)):
        return
    if name in OF_FRAMES:
        raise CodegenError(f"{name!r} needs a frame: write {name + ':NAME'!r} with the name of a frame")
    shown = {name: f"{name}:FRAME" if name in OF_FRAMES else name for name in ROUTINES}
    ours = {ROUTINES[name].quantity: shown[name] for name in reversed(ROUTINES)}
    others = {**functions_elsewhere(), **{plain(quantity): quantity for quantity in ours}}
    near = similar(name, shown.values(), {other: ours.get(own, own) for other, own in others.items()})
    listed = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in GROUPS.items())
    advice = f"{near} treefactor.generate lists all" if near else f"; there are {listed}"
    raise CodegenError(f"{name!r} is not a function to generate{advice}")


def argument_sizes(nq: int, nv: int, pi: int = 0) -> dict[str, int]:
    """Return the sizes of all arguments by name; the order gives their numbers in a `Table`."""
    return dict(zip((*ORDER, PI), (nq, *[nv] * (len(ORDER) - 1), pi), strict=True))


def available(model, tips=()) -> tuple[str, ...]:
    """Return the functions that can be generated for a model with these tips."""
    names = FUNCTIONS + TIP_FUNCTIONS * bool(tips) + LOOP_FUNCTIONS * bool(model.loops)
    return tuple(name for name in names if ROUTINES[name].mimic or model.coupling is None)


def shapes_of(
    name: str,
    tree: Tree,
    tips: int,
    loops: tuple = (),
    joints: int = 0,
    nq: int = 0,
    supports: Mapping[str, Sequence[int]] | None = None,
) -> list[tuple[int, ...]]:
    """Return the shapes of the results of a function, for the tree of the freedoms and nq entries of q.

    `supports` are the columns that move the frames of the program, by name of the frame.
    """
    sizes = {
        **{"nq": nq, "nv": tree.n, "njoints": joints, "nnz": tree.nnz, "2 nnz - nv": 2 * tree.nnz - tree.n},
        **{"tips": 6 * tips, "gaps": sum(LOOPS[kind] for _, kind in loops)},
    }
    function = FrameFunction.of(name)
    if function is not None and "packed" in function.options:
        sizes["nv"] = len((supports or {})[function.frame])
    return [tuple(sizes.get(axis, axis) for axis in shape) for shape in routine(name).shapes]


def joint_shape(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the shape of the result of a function or group: results of a group follow one another."""
    return shapes[0] if len(shapes) == 1 else (sum(map(math.prod, shapes)),)


def identifier(name: str) -> str:
    """Return the C identifier of a function: its name with ``:`` as ``__``; different names never share one.

    Names with other characters, and long ones, end in ``___`` and a digest.
    """
    c_name = re.sub("[^A-Za-z0-9_]", "_", name.replace(":", "__"))
    word = "[A-Za-z0-9]+(_[A-Za-z0-9]+)*"
    plain = re.fullmatch(f"{word}(:{word})*", name, re.ASCII) and not re.search("_x8(_|$)", name)
    if plain and len(c_name) <= LONGEST:
        return c_name
    return f"{c_name[:LONGEST].rstrip('_')}___{sha256(name.encode()).hexdigest()[:16]}"
