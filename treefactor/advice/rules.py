"""Advise in three steps, by their gain: batch over configurations, fuse calls on one state, replace calls."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ..exceptions import TreefactorError
from ..quantities.declaration import NEEDED
from .dependence import Dependence, Origin
from .flow import Call, Flow, Functions, Loop, Place, has_call, shown
from .items import FIELDS, Item, items_of, same_state
from .known import BATCH, BOUND, CALL, KNOWN, TOGETHER, Gain, Known, gain
from .names import Names
from .script import Script, read

LOOKUPS = "getFrameId", "getJointId", "getBodyId"
STEPS = "batch", "fuse", "replace"
OURS = {one.ours: Known(one.ours, one) for one in TOGETHER}
KINEMATICS = Known(
    "Kinematics",
    next(one.row for one in KNOWN.values() if one.ours == "joint_jacobian")._replace(what="Kinematics"),
)
OF_MODELS: dict[str, tuple[str, ...]] = {  # functions of a model alone, with further arguments
    "neutral": (),
    "random_configuration": ("rng", "size=count"),
}
OF_STEPS = ["q", "v", "tau", "h"]
SHOWN = 3  # variables of a loop that depends on earlier iterations
LONG = 40  # characters of an argument that is written out


class Advice(NamedTuple):
    """What to write instead of some calls.

    Attributes
    ----------
    step : {"batch", "fuse", "replace"}
    places : tuple of str
        Lines of the calls.
    source : tuple of str
        Text of these lines.
    theirs : tuple of str
        What is called there.
    ours : str
        What to write.
    loop : str
        Line and head of the loop that becomes the batch, else of the innermost loop.
    measured : str
        Name of the measurement.
    gain, bound : pair of float, optional
        How many times faster, over the robots that were measured: in batches of 1,024 if the step is that,
        else for one call; and through `treefactor.bind`. None if that was not measured.
    note : str
    """

    step: str
    places: tuple[str, ...]
    source: tuple[str, ...]
    theirs: tuple[str, ...]
    ours: str
    loop: str
    measured: str
    gain: Gain | None
    bound: Gain | None = None
    note: str = ""


class Report(NamedTuple):
    """Advice about a script.

    Attributes
    ----------
    imports_pinocchio : bool
    models : dict of str to str
        Names for our models, by Pinocchio's models that they are made of once.
    advice : list of Advice
        The larger gains first.
    stay : dict of str to list of str
        Functions in loops that treefactor does not have, with their lines.
    dependent : dict of str to list of str
        Loops whose states depend on earlier iterations, with the variables.
    in_loops, outside : int
        Numbers of calls of Pinocchio.
    """

    imports_pinocchio: bool
    models: dict[str, str]
    advice: list[Advice]
    stay: dict[str, list[str]]
    dependent: dict[str, list[str]]
    in_loops: int
    outside: int


def advise(path: str | Path) -> Report:
    """Return advice about a script or a notebook that calls Pinocchio; nothing of it is run.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    Report

    Raises
    ------
    TreefactorError
        If it is not a file with Python code.
    """
    script = read(Path(path))
    try:
        return _Adviser(script).report()
    except RecursionError:
        raise TreefactorError(f"the expressions of {path} are nested too deeply") from None


class _Adviser:
    """Advice about one script."""

    def __init__(self, script: Script):
        self.script = script
        self.names = Names(script.tree)
        self.advice: dict[tuple, Advice] = {}
        self.stay: dict[str, list[str]] = {}
        self.dependent: dict[str, list[str]] = {}
        self.models: dict[str, str] = {}
        self.used = {node.id for node in ast.walk(script.tree) if isinstance(node, ast.Name)}
        self.frames = dict(_frames(script.tree))

    def report(self) -> Report:
        """Follow the script, then the functions that it does not call."""
        if not self.names.imports_pinocchio:
            return Report(False, {}, [], {}, {}, 0, 0)
        functions = Functions(self.script.tree)
        flows = [Flow(self.names, functions)]
        flows[0].run(self.script.tree.body)
        for function in functions:
            if not any(function in flow.entered for flow in flows):
                flows.append(Flow(self.names, functions))
                flows[-1].run_function(function)  # type: ignore[arg-type]
        sites: dict[tuple[int, int], bool] = {}  # whether a call is in a loop
        for flow in flows:
            for call in (one for one in flow.calls if one.name != "linalg"):
                site = call.node.lineno, call.node.col_offset
                sites[site] = sites.get(site, False) or bool(call.definition.loops)
        for flow in flows:
            self._advise(flow)
        order = sorted(self._largest().values(), key=_rank)
        in_loops = sum(sites.values())
        return Report(
            self.names.imports_pinocchio,
            self.models,
            order,
            self.stay,
            self.dependent,
            in_loops,
            len(sites) - in_loops,
        )

    def _largest(self) -> dict[tuple, Advice]:
        """Return the first step for calls that several loops reach through functions."""
        kept: dict[tuple, Advice] = {}
        covered: set[str] = set()
        for key, one in sorted(self.advice.items(), key=lambda pair: STEPS.index(pair[1].step)):
            sites = {f"{place} {name}" for place, name in zip(one.places, one.theirs, strict=True)}
            if not sites <= covered:
                kept[key] = one
                covered |= sites
        return kept

    # ------------------------------------------------------------------------------------------------ steps

    def _advise(self, flow: Flow) -> None:
        dependence = Dependence(flow.definitions)
        for call in flow.calls:
            known = KNOWN.get(call.name)
            if (
                call.name != "linalg"
                and call.definition.loops
                and is_function(call)
                and not (known and known.ours)
            ):
                note = f" ({known.row.note})" if known and known.row.note else ""
                places = self.stay.setdefault(f"{self._theirs(call)}{note}", [])
                places += [place] if (place := self._place(call.node.lineno)) not in places else []
        items = [one for one in items_of(flow, dependence) if one.loops or one.calls[-1].definition.loops]
        for item in self._fused(flow, dependence, items):
            self._add(flow, dependence, item)

    def _fused(self, flow: Flow, dependence: Dependence, items: list[Item]) -> list[Item]:
        """Return items, of which those on one state are fused where one call computes all of them."""
        items = _solved(flow, dependence, items)
        items = _stepped(dependence, items)
        return _requested(dependence, items)

    def _add(self, flow: Flow, dependence: Dependence, item: Item) -> None:
        """Add the advice about an item."""
        origins = _origins(dependence, item)
        model = self._reads_of_model(item.calls[0])
        changes = [loop for loop in item.loops if dependence.origin(loop, item.at, model) != Origin()]
        free = (loop for loop, one in origins.items() if one.is_independent and loop not in changes)
        batch = next(free, None)
        for loop, one in origins.items():
            if one.earlier:
                names = self.dependent.setdefault(self._head(loop), [])
                names += sorted(one.earlier - set(names), key=lambda name: (len(name), name))[:SHOWN]
        note = self._note(item, origins, batch)
        if changes:
            changed = f"the model changes in the loop at {self._place(changes[0].line)}, and ours is a copy"
            note = "; ".join(filter(None, [f"{changed}: convert it after each change", note]))
        loops = item.calls[-1].definition.loops
        if batch is None and item.name == "step" and _is_rolled(dependence, item):
            item = Item(OURS["rollout"], item.calls, item.state, item.at, item.others, item.parts)
            note = "TAU: the forces of all steps, one row each; semi-implicit: v first, then q"
        row = item.known.row
        ours, stacked = self._ours(flow, dependence, item, batch)
        if stacked:
            rows = f"{', '.join(stacked)}: the values of all iterations, one row each"
            note = "; ".join(filter(None, [rows, note]))
        step = "batch" if batch else "fuse" if item.parts or item.known is KINEMATICS else "replace"
        calls = list(dict.fromkeys(item.calls))
        key = tuple((call.node.lineno, call.node.col_offset) for call in calls), step
        self.advice[key] = Advice(
            step,
            tuple(self._place(call.node.lineno) for call in calls),
            tuple(self.script.lines[call.node.lineno - 1].strip() for call in calls),
            tuple(self._theirs(call) for call in calls),
            ours,
            self._head(batch or loops[-1]),
            row.measured,
            gain(row.measured, BATCH if batch else CALL),
            None if batch else gain(row.measured, BOUND),
            note,
        )

    def _note(self, item: Item, origins: dict[Loop, Origin], batch: Loop | None) -> str:
        """Return what to know besides the call."""
        within = item.loops[item.loops.index(batch) + 1 :] if batch else ()
        inner = [loop for loop in within if origins[loop].earlier]
        if inner:
            return f"keep the loop at {self._place(inner[-1].line)}, whose iterations then step all at once"
        if _has_placement(item):
            return "name: of a frame at that placement, which Model.add_frame adds"
        if batch and batch.text.startswith("while"):
            return "for as many iterations as the loop may need"
        if item.name == "step":
            return "semi-implicit: v first, then q"
        of_frames = item.calls[-1].definition.loops[len(item.loops) :]
        if of_frames and item.name in FIELDS:
            return f"once, for a list of all frames, before the loop at {self._place(of_frames[0].line)}"
        return item.known.row.note if item.known.quantity is None and not item.parts else ""

    # ------------------------------------------------------------------------------------------------- text

    def _ours(
        self, flow: Flow, dependence: Dependence, item: Item, batch: Loop | None
    ) -> tuple[str, list[str]]:
        """Return our call, and names that it uses for the values of all iterations."""
        stacked: list[str] = []
        quantity = item.known.quantity
        names = [one.name for one in quantity.inputs] if quantity else OF_STEPS * bool(item.parts)
        names += ["x"] * len(item.state)
        arguments = []
        for (node, reads), name in zip(item.state, names, strict=False):
            if batch and dependence.origin(batch, item.at, reads).varies:
                text = _stack(node, reads, batch) or _upper(node, name)
                stacked += [text] if text.isidentifier() and text.isupper() and text not in stacked else []
            else:
                text = ast.unparse(node)
            arguments.append(text if len(text) <= LONG else name)
        if quantity is None and not item.parts:
            return self._plain(
                item, ", ".join([*arguments, *(ast.unparse(one) for one in item.others)])
            ), stacked
        model = self._model(item.calls[0])
        if item.known is KINEMATICS:
            return self._request(item, model, arguments), stacked
        if item.name in ("step", "rollout"):
            arguments[2] = "TAU" if item.name == "rollout" else arguments[2]
            return f"{item.known.name}({', '.join([model, *arguments])})", stacked
        if quantity and quantity.module == "treefactor":
            needed = [
                name for name, value in quantity.arguments.items() if value is NEEDED and name != "model"
            ]
            count = sum(name in {one.name for one in quantity.inputs} for name in needed)
            given = [one.name for one in quantity.inputs]
            kept = max(count, min(len(arguments), len(given)))
            arguments = (arguments + given[len(arguments) :])[:kept]
        arguments += self._options(item)
        return f"{item.known.name}({', '.join([model, *arguments])})", stacked

    def _plain(self, item: Item, text: str) -> str:
        """Return the call of a function that takes no model, or only the name of what has no call."""
        if item.known.name.startswith(("se3.", "so3.")):
            return f"{item.known.name}({'...' if item.known.row.note else text})"
        if item.name in OF_MODELS:
            return f"tf.{item.name}({', '.join([self._model(item.calls[0]), *OF_MODELS[item.name]])})"
        return f"treefactor.{item.known.ours}"

    def _options(self, item: Item) -> list[str]:
        """Return the arguments that choose what is computed."""
        quantity = item.known.quantity
        if quantity and quantity.options and quantity.options[0].name == "argument":  # of d_integrate
            return [ast.unparse(one) for one in item.others[:1]]
        return self._frame(item)

    def _frame(self, item: Item) -> list[str]:
        """Return the frame, the reference and the kind of an acceleration, where the function has them."""
        quantity = (item.parts[0] if item.parts else item).known.quantity
        options = {one.kind: one for one in quantity.options} if quantity else {}
        if "frame" not in options or options["frame"].default is not NEEDED:
            return []
        if not item.others:
            return ["name"]
        texts = [self._frame_name(item, item.others[0])]
        reference = next((one for one in item.others[1:] if _reference(one)), None)
        if "reference" in options and reference is not None and _reference(reference) != "LOCAL":
            texts.append(f'"{_reference(reference)}"')
        if "lassical" in item.calls[-1].name:
            texts.append("classical=True")
        return texts

    def _frame_name(self, item: Item, node: ast.expr) -> str:
        """Return how to name a frame: by the text that the script looked up, or through its number."""
        text = ast.unparse(node)
        if text in self.frames:
            return self.frames[text]
        if looked_up := _looked_up(node):
            return looked_up
        model = self._their_model(item.calls[0])
        if _has_placement(item):
            return "name"
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return text
        return f"{model}.names[{text}]" if item.is_joint else f"{model}.frames[{text}].name"

    def _request(self, item: Item, model: str, arguments: list[str]) -> str:
        """Return the request of several results in one pass, and its call."""
        asked: dict[str, list[str]] = {}
        for part in item.parts:
            name = FIELDS[part.name]
            frame = self._frame(part) if name != part.name else []
            entry = f"({', '.join(frame)})" if len(frame) > 1 else "".join(frame)
            listed = asked.setdefault(name, [])
            listed += [entry] if entry and entry not in listed else []
        texts = [
            f"{name}=[{', '.join(listed)}]" if listed else f"{name}=True" for name, listed in asked.items()
        ]
        return f"request = tf.Kinematics({', '.join([model, *texts])}), once; request({', '.join(arguments)})"

    def _model(self, call: Call) -> str:
        """Return the name of our model of a call."""
        theirs = self._their_model(call)
        if theirs not in self.models:
            number = len(self.models) + 1
            base = "robot" if "robot" not in self.used else "tf_robot"
            self.models[theirs] = base if number == 1 else f"{base}{number}"
        return self.models[theirs]

    def _reads_of_model(self, call: Call) -> list[Place]:
        """Return the place of a call's model; nothing for functions without one."""
        known = KNOWN[call.name]
        has_model = known.quantity or known.ours in OF_MODELS
        return _model_of(call) if has_model and not call.name.startswith("RobotWrapper.") else []

    def _their_model(self, call: Call) -> str:
        if call.name.startswith("RobotWrapper.") and isinstance(call.node.func, ast.Attribute):
            return f"{ast.unparse(call.node.func.value)}.model"
        reads = _model_of(call)
        return shown(reads[0]) if reads else "model"

    def _theirs(self, call: Call) -> str:
        return ast.unparse(call.node.func)

    def _place(self, line: int) -> str:
        return self.script.places[line - 1]

    def _head(self, loop: Loop) -> str:
        return f"{self._place(loop.line)}: {loop.text}"


# -------------------------------------------------------------------------------------------- what is fused


def _origins(dependence: Dependence, item: Item) -> dict[Loop, Origin]:
    """Return the origins of the state of an item and of its parts in all loops around it."""
    origins = {}
    for loop in item.loops:
        listed = [
            dependence.origin(loop, one.at, one.reads) for one in (item, *item.parts) if loop in one.loops
        ]
        varies = any(one.varies for one in listed)
        origins[loop] = Origin(varies, frozenset[str]().union(*(one.earlier for one in listed)))
    return origins


def _solved(flow: Flow, dependence: Dependence, items: list[Item]) -> list[Item]:
    """Replace H, bias forces and a solution, or J and two inverses, by one call."""
    solutions = [one for one in flow.calls if one.name == "linalg"]
    for row in (one for one in TOGETHER if one.parts[-1:] == ("linalg",)):
        for first in [one for one in items if one.name == row.parts[0]]:
            second = next(
                (one for one in items if one.name == row.parts[1] and same_state(dependence, first, one)),
                None,
            )
            if second is None or first not in items:
                continue
            solution = next(
                (one for one in solutions if _solves(flow, dependence, one, first, second, row.ours)), None
            )
            if solution is None:
                continue
            calls = sorted([*first.calls, *second.calls, solution], key=lambda one: one.definition.number)
            whole = row.ours == "forward_dynamics"
            state = second.state[:2] if whole else first.state[:1]
            if whole:
                state = [*state, (ast.Name("tau"), [])]
            fused = Item(OURS[row.ours], calls, state, first.at, first.others, [first, second])
            items = [fused if one is first else one for one in items if one is not second]
    return items


def _solves(flow: Flow, dependence: Dependence, call: Call, first: Item, second: Item, ours: str) -> bool:
    """Return whether a solution in NumPy combines two items as our function does."""
    if call.definition.loops[: len(first.loops)] != first.loops or not call.arguments:
        return False
    inner = call.arguments[0][1]
    every = [read for _, given in call.arguments for read in given]

    def has(reads: list[Place], item: Item) -> bool:
        return any(dependence.comes_from(call.definition, reads, result) for result in item.results)

    if ours != "forward_dynamics":
        return has(inner, first) and has(inner, second)
    is_H = any(dependence.is_same(call.definition, inner, result) for result in first.results)
    if not is_H and not any(inner == [(*one.owner, ".M")] for one in first.calls if one.owner):
        return False
    if has(every, second):
        return True
    later = flow.definitions[call.definition.number + 1 :]
    return any(
        call.result in one.reads or dependence.comes_from(one, one.reads, call.result)
        for one in later
        if any(dependence.comes_from(one, one.reads, result) for result in second.results)
    )


def _stepped(dependence: Dependence, items: list[Item]) -> list[Item]:
    """Replace forward dynamics and an integration with its result by a step."""
    for first in [one for one in items if one.name == "forward_dynamics"]:
        for second in items:
            if (
                len(first.state) < 3
                or second.name != "integrate"
                or len(second.state) != 2
                or second.loops != first.loops
            ):
                continue
            same = ast.unparse(second.state[0][0]) == ast.unparse(first.state[0][0])
            results = first.results
            if same and any(dependence.comes_from(second.at, second.state[1][1], one) for one in results):
                calls, state = [*first.calls, *second.calls], [*first.state[:3], _length(second.state[1][0])]
                step = Item(OURS["step"], calls, state, first.at, [], [first])
                items = [step if one is first else one for one in items if one is not second]
                break
    return items


def _is_rolled(dependence: Dependence, item: Item) -> bool:
    """Return whether a loop only steps, with forces that are known before it."""
    loop, integrated = item.loops[-1], item.calls[-1]
    forces = [read for _, given in item.state[2:3] for read in given]
    q = item.state[0][1]
    given = [one for one in dependence.definitions if loop in one.loops and one.place == q[0]] if q else []
    only = [one.reads for one in given] == [[integrated.result]]
    return only and bool(forces) and not dependence.origin(loop, item.at, forces).earlier


def _length(displacement: ast.expr) -> tuple[ast.expr, list[Place]]:
    """Return the length of a step from the displacement ``v * h``; "h" if it is written otherwise."""
    if isinstance(displacement, ast.BinOp) and isinstance(displacement.op, ast.Mult):
        for one in (displacement.right, displacement.left):
            if "v" not in ast.unparse(one).lower() and not has_call(one):
                return one, []
    return ast.Name("h"), []


def _requested(dependence: Dependence, items: list[Item]) -> list[Item]:
    """Replace several results of the kinematics of one state by one request."""
    groups: list[list[Item]] = []
    for item in items:
        if item.name in FIELDS and item.loops:
            group = next((one for one in groups if same_state(dependence, one[0], item)), None)
            if group is None:
                groups.append([item])
            else:
                group.append(item)
    for group in groups:
        kinds = {(FIELDS[one.name], *map(ast.unparse, one.others)) for one in group}
        if len(kinds) > 1:
            calls = sorted(
                {call for one in group for call in one.calls}, key=lambda one: one.definition.number
            )
            longest = max(group, key=lambda one: len(one.state))
            fused = Item(KINEMATICS, calls, longest.state, group[0].at, [], group)
            items = [fused if one is group[0] else one for one in items if one not in group[1:]]
    return items


# ---------------------------------------------------------------------------------------------------- parts


def is_function(call: Call) -> bool:
    """Return whether a function is called, and not a constructor or a method of a class."""
    return call.name in KNOWN or not any(part[:1].isupper() for part in call.name.split("."))


def _model_of(call: Call) -> list[Place]:
    """Return what the argument of the model reads."""
    named = dict(call.arguments)
    return named.get("model", call.arguments[0][1] if call.arguments else [])


def _has_placement(item: Item) -> bool:
    """Return whether a joint and a placement in it are given in the place of a frame."""
    return len(item.others) == 3 and not _reference(item.others[1]) and item.name.startswith("frame_")


def _rank(advice: Advice) -> tuple:
    """Order by steps and gains, and functions of poses, which take little time, after the others."""
    largest = advice.gain[1] if advice.gain else 0.0
    return STEPS.index(advice.step), advice.ours.startswith(("se3.", "so3.")), -largest


def _frames(tree: ast.AST) -> Iterable[tuple[str, str]]:
    """Yield the texts of variables that hold the number of a frame or a joint, with the text of its name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and (looked_up := _looked_up(node.value)):
            for target in node.targets:
                yield ast.unparse(target), looked_up


def _looked_up(node: ast.expr) -> str:
    """Return the text of the name that a lookup such as ``model.getFrameId(name)`` has, or nothing."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
        return ""
    return ast.unparse(node.args[0]) if node.func.attr in LOOKUPS else ""


def _reference(node: ast.expr) -> str:
    """Return the name of a reference frame that an expression names, or nothing."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name if name in ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED") else ""


def _stack(node: ast.expr, reads: list[Place], loop: Loop) -> str:
    """Return the text of what holds the values of an argument in all iterations, or nothing."""
    text = ast.unparse(node)
    if text in loop.targets and [loop.places.get(text)] == reads:
        return loop.targets[text]
    if isinstance(node, ast.Subscript) and loop.places.get(loop.index) in reads:
        within = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        texts = [ast.unparse(one) for one in within]
        if texts[0] == loop.index and set(texts[1:]) <= {":"}:
            return ast.unparse(node.value)
        if texts == [":", loop.index]:
            return f"{ast.unparse(node.value)}.T"
    return ""


def _upper(node: ast.expr, name: str) -> str:
    """Return a name in capitals for the values of an argument in all iterations."""
    text = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else name
    return text.upper()
