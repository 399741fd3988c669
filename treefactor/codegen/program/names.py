"""Name the functions that can be generated: their arguments, shapes, frames, groups and C identifiers.

A function of a frame is named ``KIND:FRAME``, with options after it: ``frame_jacobian:tool:WORLD:packed``.
A group of functions that share one computation is named by its parts, joined by " + ".
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from ..._util.elsewhere import FUNCTIONS as FUNCTIONS_ELSEWHERE
from ..._util.messages import plain, similar
from ...exceptions import CodegenError
from ...model.joints import LOOPS
from ...tree.tree import Tree

ARGUMENTS = {  # arguments of the functions that can be generated, in order; see FRAME_ARGUMENTS for others
    "crba": ("q",),
    "rnea": ("q", "v", "a"),
    "bias": ("q", "v"),
    "aba": ("q", "v", "tau"),
    "forward_dynamics": ("q", "v", "tau"),
    "minv": ("q",),
    "jacobian": ("q",),
    "delassus": ("q",),
    "loops": ("q", "v", "tau"),
    "loop_velocity": ("q", "v"),
    "loop_step": ("q",),
    "loop_gap": ("q",),
    "position_closure": ("q",),
    "joint_forces": ("q", "v", "a"),
    "base_force": ("q", "v", "a"),
    "joint_placements": ("q",),
    "center_of_mass": ("q",),
    "center_of_mass_velocity": ("q", "v"),
    "center_of_mass_acceleration": ("q", "v", "a"),
    "center_of_mass_jacobian": ("q",),
    "centroidal_map": ("q",),
    "centroidal_map_dot": ("q", "v"),
    "centroidal_momentum": ("q", "v"),
    "centroidal_momentum_rate": ("q", "v", "a"),
    "kinetic_energy": ("q", "v"),
    "potential_energy": ("q",),
    "generalized_gravity": ("q",),
    "rnea_derivatives": ("q", "v", "a"),
    "rnea_jvp": ("q", "v", "a", "dq", "dv", "da"),
    "rnea_vjp": ("q", "v", "a", "w"),
    "rnea_hvp": ("q", "v", "a", "w", "dq", "dv", "da"),
    "forward_dynamics_derivatives": ("q", "v", "tau"),
    "forward_dynamics_jvp": ("q", "v", "tau", "dq", "dv", "dtau"),
    "forward_dynamics_vjp": ("q", "v", "tau", "w"),
}
FUNCTIONS: tuple[str, ...] = tuple(ARGUMENTS)[:6]  # functions that need no tips
TIP_FUNCTIONS: tuple[str, ...] = tuple(ARGUMENTS)[6:8]
LOOP_FUNCTIONS: tuple[str, ...] = tuple(ARGUMENTS)[8:12]  # functions of all models with loops
CLOSURES: tuple[str, ...] = tuple(ARGUMENTS)[12:13]  # functions of loops with an analytic closure
REACTIONS: tuple[str, ...] = tuple(ARGUMENTS)[13:15]
KINEMATICS: tuple[str, ...] = tuple(ARGUMENTS)[15:27]
DERIVATIVES: tuple[str, ...] = tuple(ARGUMENTS)[27:]
GROUPS = {  # in messages
    "of the dynamics": FUNCTIONS,
    "of tips": TIP_FUNCTIONS,
    "of loops": (*LOOP_FUNCTIONS, *CLOSURES),
    "of reactions": REACTIONS,
    "of the kinematics": KINEMATICS,
    "derivatives": DERIVATIVES,
}
OWN = {"inverse_inertia": "minv", "joint_jacobian": "jacobian"}  # functions with other names in programs
PARAMETRIC: tuple[str, ...] = FUNCTIONS  # functions that can take inertial parameters as their last input
PI = "pi"  # name of that input
MATRICES = {"crba": 1, "rnea_derivatives": 3}  # functions of packed matrices, and the number of them
SOLVED = (  # functions whose results are not finite for some finite arguments
    *("aba", "forward_dynamics", "minv", "delassus", "loops", "loop_velocity", "loop_step"),
    *CLOSURES,
    *DERIVATIVES[4:],
)
FRAME_ARGUMENTS = {  # of functions of a frame
    "frame_placement": ("q",),
    "frame_velocity": ("q", "v"),
    "frame_acceleration": ("q", "v", "a"),
    "frame_jacobian": ("q",),
    "frame_jacobian_dot": ("q", "v"),
}
ORDER = ("q", "v", "a", "tau", "w", "dq", "dv", "da", "dtau")  # of all arguments
REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")
LAYOUTS = ("dense", "packed")
ACCELERATIONS = ("spatial", "classical")
OPTIONS: dict[str, tuple[tuple[str, ...], ...]] = {  # choices after the frame, in order; the first is default
    "frame_placement": (),
    "frame_velocity": (REFERENCES,),
    "frame_acceleration": (REFERENCES, ACCELERATIONS),
    "frame_jacobian": (REFERENCES, LAYOUTS),
    "frame_jacobian_dot": (REFERENCES, LAYOUTS),
}
JOINED = " + "  # between the names of a group
LONGEST = 80  # C identifier, without a digest


@dataclass(frozen=True)
class FrameFunction:
    """Function of a frame, from its name ``KIND:FRAME`` with options.

    Attributes
    ----------
    kind : str
        Key of FRAME_ARGUMENTS.
    frame : str
    options : tuple of str
        One of each of ``OPTIONS[kind]``.
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
        if kind not in FRAME_ARGUMENTS or not colon or not rest:
            return None
        words, options = rest.split(":"), []
        for choices in reversed(OPTIONS[kind]):
            given = len(words) > 1 and words[-1] in choices
            options.append(words.pop() if given else choices[0])
        return cls(kind, ":".join(words), tuple(reversed(options)))

    @property
    def name(self) -> str:
        """Shortest name: without options that are defaults, unless the name of the frame ends like one."""
        defaults = [choices[0] for choices in OPTIONS[self.kind]]
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
        function = FrameFunction.of(name)
        taken.update(ARGUMENTS[name] if function is None else FRAME_ARGUMENTS[function.kind])
    return (*(argument for argument in ORDER if argument in taken), *[PI] * with_pi)


def is_solved(parts: Sequence[str]) -> bool:
    """Return whether the result of a function or group may not be finite for finite arguments."""
    return not set(SOLVED).isdisjoint(parts)


def require_known(name) -> None:
    """Raise CodegenError unless a name is that of a function that can be generated."""
    if isinstance(name, str) and (name in ARGUMENTS or FrameFunction.of(name)):
        return
    if name in FRAME_ARGUMENTS:
        raise CodegenError(f"{name!r} needs a frame: write {name + ':NAME'!r} with the name of a frame")
    of_frames = {kind: f"{kind}:FRAME" for kind in OPTIONS}
    others = {**FUNCTIONS_ELSEWHERE, **{plain(other): other for other in OWN}}
    elsewhere = {other: of_frames.get(own, OWN.get(own, own)) for other, own in others.items()}
    near = similar(name, (*ARGUMENTS, *of_frames.values()), elsewhere)
    kinds = {**GROUPS, "of a frame": of_frames.values()}
    listed = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items())
    advice = f"{near} treefactor.generate lists all" if near else f"; there are {listed}"
    raise CodegenError(f"{name!r} is not a function to generate{advice}")


def argument_sizes(nq: int, nv: int, pi: int = 0) -> dict[str, int]:
    """Return the sizes of all arguments by name; the order gives their numbers in a `Table`."""
    return dict(zip((*ORDER, PI), (nq, *[nv] * (len(ORDER) - 1), pi), strict=True))


def available(model, tips=()) -> tuple[str, ...]:
    """Return the functions that can be generated for a model with these tips."""
    names = (tuple(ARGUMENTS)[:8] if tips else FUNCTIONS) + LOOP_FUNCTIONS * bool(model.loops)
    return tuple(name for name in names if name != "aba" or model.coupling is None)


def shapes_of(name: str, tree: Tree, *given) -> list[tuple[int, ...]]:
    """Return the shapes of the results of a function; most functions have one, see `shape_of`."""
    n = tree.n
    shapes: dict[str, list[tuple[int, ...]]] = {
        "rnea_derivatives": [(2 * tree.nnz - n,)] * 2 + [(tree.nnz,)],
        "forward_dynamics_derivatives": [(n, n)] * 3,
        **dict.fromkeys(("rnea_vjp", "rnea_hvp", "forward_dynamics_vjp"), [(n,)] * 3),
    }
    return shapes.get(name) or [shape_of(name, tree, *given)]


def shape_of(
    name: str,
    tree: Tree,
    tips: int,
    loops: tuple = (),
    joints: int = 0,
    nq: int = 0,
    supports: Mapping[str, Sequence[int]] | None = None,
) -> tuple[int, ...]:
    """Return the shape of the result of a function, for the tree of the freedoms and nq entries of q.

    `supports` are the columns that move the frames of the program, by name of the frame.
    """
    function = FrameFunction.of(name)
    if function is not None:
        columns = tree.n if "packed" not in function.options else len((supports or {})[function.frame])
        shapes = {"frame_placement": (3, 4), "frame_velocity": (6,), "frame_acceleration": (6,)}
        return shapes.get(function.kind, (6, columns))
    shapes = {
        "crba": (tree.nnz,),
        "minv": (tree.n, tree.n),
        "jacobian": (6 * tips, tree.n),
        "delassus": (6 * tips, 6 * tips),
        "loop_gap": (sum(LOOPS[kind] for _, kind in loops),),
        "joint_forces": (joints, 6),
        "base_force": (6,),
        "position_closure": (nq,),
        "joint_placements": (joints, 3, 4),
        "center_of_mass_jacobian": (3, tree.n),
        **dict.fromkeys(("centroidal_map", "centroidal_map_dot"), (6, tree.n)),
        **dict.fromkeys(("kinetic_energy", "potential_energy"), ()),
        **dict.fromkeys(("centroidal_momentum", "centroidal_momentum_rate"), (6,)),
        **dict.fromkeys([f"center_of_mass{x}" for x in ("", "_velocity", "_acceleration")], (3,)),
    }
    return shapes.get(name, (tree.n,))


def joint_shape(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the shape of the result of a function or group: results of a group follow one another."""
    return shapes[0] if len(shapes) == 1 else (sum(map(math.prod, shapes)),)


def identifier(name: str) -> str:
    """Return the C identifier of a function: its name with ``:`` as ``__``; different names never share one.

    Names with other characters, and long ones, end in ``___`` and a digest.
    """
    found = re.sub("[^A-Za-z0-9_]", "_", name.replace(":", "__"))
    word = "[A-Za-z0-9]+(_[A-Za-z0-9]+)*"
    plain = re.fullmatch(f"{word}(:{word})*", name, re.ASCII) and not re.search("_x8(_|$)", name)
    if plain and len(found) <= LONGEST:
        return found
    return f"{found[:LONGEST].rstrip('_')}___{sha256(name.encode()).hexdigest()[:16]}"
