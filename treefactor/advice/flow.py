"""Follow the values of a script through its loops: what calls of Pinocchio read, and where it comes from.

A script becomes a list of definitions in the order in which they run. Functions of the same file are written
out where they are called, so that a call in a function is in the loops of those that call it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count

from .known import KNOWN
from .names import Names

Place = tuple[str, ...]  # a variable, then attributes ".x" and subscripts "[i]"
RANDOM: Place = ("random numbers",)
OUTSIDE: Place = ("values read anew",)
STEPS = ast.Add | ast.Sub | ast.Mult | ast.Div  # by which counters and step lengths change
MARK = re.compile(r" \d+$")  # of a name in a function that is written out
DEPTH = 8  # of functions that call each other
LIMIT = 5_000  # definitions, after which functions are not written out any more
PURE = {  # methods of arrays and containers that return the same every time
    *("copy", "flatten", "ravel", "squeeze", "tolist", "transpose", "mean", "sum", "min", "max", "keys"),
    *("values", "items", "homogeneous", "inverse", "toActionMatrix", "coeffs", "matrix", "conj", "tocsr"),
    *("toarray", "lower", "upper", "strip", "split", "numpy", "cpu", "detach", "nonzero", "conjugate"),
}
CLOCKS = "time.", "datetime.", "rospy.", "rclpy.", "input"


@dataclass(eq=False)
class Loop:
    """A loop of a script: its line, the text of its head, and its targets with what they run over."""

    line: int
    text: str
    targets: dict[str, str] = field(default_factory=dict)  # texts of targets and of what has their values
    index: str = ""  # target that counts
    places: dict[str, Place] = field(default_factory=dict)  # of targets


@dataclass(eq=False)
class Definition:
    """A place gets a value, or a part of it.

    Attributes
    ----------
    number : int
        Position in the list.
    place : Place
    reads : list of Place
    path : tuple of int
        Blocks around it that may not run: branches and loops.
    loops : tuple of Loop
        From the outermost.
    is_step : bool
        Whether the same number is added, or the same factor applied.
    of : Loop, optional
        The loop whose target it is.
    """

    number: int
    place: Place
    reads: list[Place]
    path: tuple[int, ...]
    loops: tuple[Loop, ...]
    is_step: bool = False
    of: Loop | None = None


@dataclass(eq=False)
class Call:
    """A call of Pinocchio, or of an inverse or a solution in NumPy or SciPy.

    Attributes
    ----------
    name : str
        In Pinocchio; "linalg" for the others.
    node : ast.Call
    number : int
        Of the definition of its result.
    arguments : list of tuple of str and list of Place
        Keyword, or nothing, with what the argument reads.
    owner : Place
        Data that it fills or reads; the robot of a method.
    definition : Definition
        Of the result.
    """

    name: str
    node: ast.Call
    arguments: list[tuple[str, list[Place]]]
    owner: Place
    definition: Definition

    @property
    def result(self) -> Place:
        """The place that stands for what it returns."""
        return self.definition.place


@dataclass
class Scope:
    """Names in a function that is written out: local ones, and places that arguments stand for."""

    locals: dict[str, Place] = field(default_factory=dict)
    returned: Place = ()
    owner: str = ""  # class


class Flow:
    """Definitions and calls of a script, or of one of its functions.

    Attributes
    ----------
    definitions : list of Definition
    calls : list of Call
    reads : list of tuple of int and Place
        All reads of attributes, such as ``data.oMf`` after a call, with the number of the next definition.
    """

    def __init__(self, names: Names, functions: Functions):
        self.names = names
        self.functions = functions
        self.definitions: list[Definition] = []
        self.calls: list[Call] = []
        self.reads: list[tuple[int, Place]] = []
        self.entered: set[ast.AST] = set()  # functions that were written out
        self._loops: tuple[Loop, ...] = ()
        self._path: tuple[int, ...] = ()
        self._scopes: list[Scope] = [Scope()]
        self._stack: list[ast.AST] = []
        self._numbers = count()

    # ------------------------------------------------------------------------------------------- statements

    def run(self, body: Iterable[ast.stmt]) -> None:
        """Follow statements."""
        for statement in body:
            self._statement(statement)

    def run_function(self, function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        """Follow a function that the script does not call; its arguments are free."""
        self._stack.append(function)
        self.entered.add(function)
        self._scopes.append(Scope(owner=self.functions.owners.get(function, "")))
        self._body(function)
        self._scopes.pop()
        self._stack.pop()

    def _statement(self, node: ast.stmt) -> None:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method:
            method(node)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self._expression(child)

    def _assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self._give(target, node.value)

    def _annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._give(node.target, node.value)

    def _augassign(self, node: ast.AugAssign) -> None:
        reads = self._expression(node.value)
        place = self._place(node.target)
        if place:
            is_step = isinstance(node.op, STEPS) and not has_call(node.value)
            reads = [*reads, *self._indices(node.target), place]
            self._define(place, reads, is_step=is_step)

    def _give(self, target: ast.expr, value: ast.expr) -> None:
        """Follow the assignment of a value to a target."""
        if isinstance(target, ast.Tuple | ast.List):
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                for one, its in zip(target.elts, value.elts, strict=True):
                    self._give(one, its)
                return
            reads = self._expression(value)
            for one in target.elts:
                self._give_reads(one, reads)
            return
        handed = self._place(value) if isinstance(value, ast.Name | ast.Attribute) else ()
        reads = self._expression(value)
        if handed and isinstance(target, ast.Name) and is_owner(handed[-1]):
            self._scopes[-1].locals[target.id] = handed  # another name of the same model, data or robot
            return
        place = self._place(target)
        is_step = (
            isinstance(value, ast.BinOp)
            and isinstance(value.op, STEPS)
            and not has_call(value)
            and place in (self._place(value.left), self._place(value.right))
        )
        self._give_reads(target, reads, is_step)

    def _give_reads(self, target: ast.expr, reads: list[Place], is_step: bool = False) -> None:
        if isinstance(target, ast.Starred):
            target = target.value
        if isinstance(target, ast.Tuple | ast.List):
            for one in target.elts:
                self._give_reads(one, reads)
            return
        place = self._place(target)
        if place:
            self._define(place, [*reads, *self._indices(target)], is_step=is_step)

    def _indices(self, target: ast.expr) -> list[Place]:
        """Return what the subscripts of a target read."""
        return [read for part in subscripts(target) for read in self._expression(part)]

    def _for(self, node: ast.For) -> None:
        reads = self._expression(node.iter)
        text = head_of(node.target, node.iter)
        with _Inside(self, Loop(node.lineno, text, *runs_over(node.target, node.iter))) as loop:
            self._give_target(node.target, reads, loop)
            self.run(node.body)
        self.run(node.orelse)

    _asyncfor = _for

    def _give_target(self, target: ast.expr, reads: list[Place], loop: Loop) -> None:
        for one in ast.walk(target):
            if isinstance(one, ast.Name | ast.Attribute) and isinstance(one.ctx, ast.Store):
                place = self._place(one)
                if place:
                    loop.places[ast.unparse(one)] = place
                    self._define(place, reads, of=loop)

    def _while(self, node: ast.While) -> None:
        with _Inside(self, Loop(node.lineno, f"while {ast.unparse(node.test)}")):
            self._expression(node.test)
            self.run(node.body)
        self.run(node.orelse)

    def _if(self, node: ast.If) -> None:
        self._expression(node.test)
        self._branches([node.body, node.orelse])

    def _match(self, node: ast.Match) -> None:
        self._expression(node.subject)
        self._branches([*(case.body for case in node.cases), []])

    def _try(self, node: ast.Try) -> None:
        self.run(node.body)
        for handler in node.handlers:
            self._branch(handler.body)
        self.run(node.orelse)
        self.run(node.finalbody)

    _trystar = _try

    def _with(self, node: ast.With) -> None:
        for item in node.items:
            reads = self._expression(item.context_expr)
            if item.optional_vars is not None:
                self._give_reads(item.optional_vars, reads)
        self.run(node.body)

    _asyncwith = _with

    def _branches(self, bodies: list[list[ast.stmt]]) -> None:
        """Follow branches; what all of them define is defined after them, too."""
        given = [self._branch(body) for body in bodies]
        for place in set.intersection(*(set(one) for one in given)):
            self._define(place, [read for one in given for read in one[place]])

    def _branch(self, body: list[ast.stmt]) -> dict[Place, list[Place]]:
        """Follow a branch; return what it defines wholly, with what that reads."""
        path, self._path = self._path, (*self._path, next(self._numbers))
        first, own = len(self.definitions), self._path
        self.run(body)
        self._path = path
        return {one.place: one.reads for one in self.definitions[first:] if one.path == own}

    def _expr(self, node: ast.Expr) -> None:
        reads = self._expression(node.value)
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and not self._is_known(call):
            place = self._place(call.func.value)
            if place and not self.names.full(call.func) and shown(place) not in self.names.wrappers:
                self._define(place, [*reads, place])  # the method may change its object

    def _is_known(self, call: ast.Call) -> bool:
        return (
            bool(self.names.pinocchio(call.func))
            or self.functions.called(call.func, self._scopes[-1]) is not None
        )

    def _return(self, node: ast.Return) -> None:
        if node.value is not None:
            reads = self._expression(node.value)
            if self._scopes[-1].returned:
                self._define(self._scopes[-1].returned, reads)

    # ------------------------------------------------------------------------------------------ expressions

    def _expression(self, node: ast.expr | None) -> list[Place]:
        """Follow the calls in an expression; return what it reads."""
        if node is None or isinstance(node, ast.Constant):
            return []
        place = self._place(node) if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) else ()
        if place:
            within = self._indices(node)
            if len(place) > 1:
                self.reads.append((len(self.definitions), place))
            return [place, *within]
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            return self._comprehension(node)
        if isinstance(node, ast.NamedExpr):
            reads = self._expression(node.value)
            self._give_reads(node.target, reads)
            return reads
        if isinstance(node, ast.Lambda):
            return []
        return [
            read
            for child in ast.iter_child_nodes(node)
            if isinstance(child, ast.expr)
            for read in self._expression(child)
        ]

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> list[Place]:
        outside = self._loops, self._path
        reads: list[Place] = []
        for one in node.generators:
            within = self._expression(one.iter)
            reads += within
            loop = Loop(node.lineno, head_of(one.target, one.iter), *runs_over(one.target, one.iter))
            self._loops, self._path = (*self._loops, loop), (*self._path, next(self._numbers))
            self._give_target(one.target, within, loop)
            for test in one.ifs:
                self._expression(test)
        parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        for part in parts:
            reads += self._expression(part)
        self._loops, self._path = outside
        return reads

    def _call(self, node: ast.Call) -> list[Place]:
        pinocchio = self.names.pinocchio(node.func)
        arguments = [("", self._expression(one)) for one in node.args]
        arguments += [(one.arg or "", self._expression(one.value)) for one in node.keywords]
        reads = [read for _, given in arguments for read in given]
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
        if pinocchio or self.names.is_linalg(node.func):
            return self._call_of_pinocchio(node, pinocchio or "linalg", arguments)
        function = self.functions.called(node.func, self._scopes[-1])
        if function is not None:
            fits = len(self._stack) < DEPTH and len(self.definitions) < LIMIT
            if fits and function not in self._stack:
                return self._write_out(function, node, receiver)
            reads.append(OUTSIDE)
        full = self.names.full(node.func) or ast.unparse(node.func)
        if receiver is not None and not self.names.full(node.func):
            reads += self._expression(receiver)
        if is_random(full):
            reads.append(RANDOM)
        elif full.startswith(CLOCKS) or (
            not arguments
            and not self._is_pure(node.func, full)
            and isinstance(node.func, ast.Attribute | ast.Name)
        ):
            reads.append(OUTSIDE)
        return reads

    def _is_pure(self, function: ast.expr, full: str) -> bool:
        """Return whether a call without arguments returns the same every time."""
        is_method = isinstance(function, ast.Attribute) and function.attr in PURE
        return is_method or bool(self.names.full(function)) or full in ("list", "dict", "set", "tuple")

    def _call_of_pinocchio(
        self, node: ast.Call, name: str, arguments: list[tuple[str, list[Place]]]
    ) -> list[Place]:
        """Follow a call of Pinocchio, which fills its data."""
        reads = [read for _, given in arguments for read in given]
        owner: Place = ()
        if name.startswith("RobotWrapper.") and isinstance(node.func, ast.Attribute):
            owner = (*self._place(node.func.value), ".data")
        elif name != "linalg":
            places = [self._place(one) for one in node.args[:2]]
            named = [self._place(one.value) for one in node.keywords if one.arg == "data"]
            owner = next((one for one in (*named, *places) if one in named or is_data(one)), ())
            owner = owner or (places[1] if len(places) > 1 and takes_data(name) else ())
        if "random" in name:
            reads.append(RANDOM)
        fills = bool(owner) and not reads_data(name, len(arguments))
        if owner and not fills:
            reads = [*reads, owner]
        elif owner:
            reads = [read for read in reads if read[: len(owner)] != owner]
        result = self._define((f"result {next(self._numbers)}",), reads)
        self.calls.append(Call(name, node, arguments, owner, result))
        if owner:
            self._define(owner, [result.place])
        return [result.place]

    def _write_out(self, function: ast.AST, node: ast.Call, receiver: ast.expr | None) -> list[Place]:
        """Follow a function of the script where it is called; return what its result reads."""
        mark = next(self._numbers)
        scope = Scope(returned=(f"return {mark}",), owner=self.functions.owners.get(function, ""))
        parameters = [*function.args.posonlyargs, *function.args.args]  # type: ignore[attr-defined]
        given: list[ast.expr] = list(node.args)
        if scope.owner and receiver is not None and not self.functions.is_static(function):
            given = [receiver, *given]
        named = {one.arg: one.value for one in node.keywords if one.arg}
        pairs = [*zip((one.arg for one in parameters), given, strict=False), *named.items()]
        stored = stored_names(function)
        definitions: list[tuple[Place, list[Place]]] = []
        for name, value in pairs:
            place = self._place(value) if isinstance(value, ast.Name | ast.Attribute) else ()
            if place and name not in stored:
                scope.locals[name] = place
            else:
                scope.locals[name] = (f"{name} {mark}",)
                definitions.append((scope.locals[name], self._expression(value)))
        for place, reads in definitions:
            self._define(place, reads)
        for name in stored | {one.arg for one in parameters}:
            scope.locals.setdefault(name, (f"{name} {mark}",))
        self._stack.append(function)
        self._scopes.append(scope)
        self.entered.add(function)
        self._body(function)
        self._scopes.pop()
        self._stack.pop()
        return [scope.returned]

    def _body(self, function: ast.AST) -> None:
        if isinstance(function, ast.Lambda):
            reads = self._expression(function.body)
            if self._scopes[-1].returned:
                self._define(self._scopes[-1].returned, reads)
        elif isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            self.run(function.body)

    # ----------------------------------------------------------------------------------------------- places

    def _define(
        self,
        place: Place,
        reads: list[Place],
        is_step: bool = False,
        of: Loop | None = None,
    ) -> Definition:
        one = Definition(len(self.definitions), place, reads, self._path, self._loops, is_step, of)
        self.definitions.append(one)
        return one

    def _place(self, node: ast.expr | None) -> Place:
        """Return the place that an expression names, or nothing."""
        parts: list[str] = []
        while True:
            if isinstance(node, ast.Attribute):
                parts.append(f".{node.attr}")
                node = node.value
            elif isinstance(node, ast.Subscript):
                parts.append(f"[{ast.unparse(node.slice)}]")
                node = node.value
            elif isinstance(node, ast.Name):
                break
            else:
                return ()
        if self.names.full(node):
            return ()
        first = self._scopes[-1].locals.get(node.id, (node.id,))
        return (*first, *reversed(parts))


class _Inside:
    """Follow statements in a loop."""

    def __init__(self, flow: Flow, loop: Loop):
        self.flow, self.loop = flow, loop

    def __enter__(self) -> Loop:
        flow = self.flow
        self.outside = flow._loops, flow._path
        flow._loops, flow._path = (*flow._loops, self.loop), (*flow._path, next(flow._numbers))
        return self.loop

    def __exit__(self, *_: object) -> None:
        self.flow._loops, self.flow._path = self.outside


class Functions:
    """Functions and methods of a script.

    Attributes
    ----------
    owners : dict
        Classes of methods.
    """

    def __init__(self, tree: ast.Module):
        self.owners: dict[ast.AST, str] = {}
        self.plain: dict[str, ast.AST] = {}
        self.methods: dict[str, list[ast.AST]] = {}
        self._within(tree, "")

    def _within(self, node: ast.AST, owner: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                if owner:
                    self.owners[child] = owner
                    self.methods.setdefault(child.name, []).append(child)
                else:
                    self.plain[child.name] = child
            elif isinstance(child, ast.Assign) and isinstance(child.value, ast.Lambda):
                for target in child.targets:
                    if isinstance(target, ast.Name):
                        self.plain[target.id] = child.value
            self._within(child, child.name if isinstance(child, ast.ClassDef) else "")

    def __iter__(self) -> Iterator[ast.AST]:
        yield from self.plain.values()
        for listed in self.methods.values():
            yield from listed

    def called(self, function: ast.expr, scope: Scope) -> ast.AST | None:
        """Return the function of the script that a call names, or None."""
        if isinstance(function, ast.Name):
            return self.plain.get(function.id)
        if not isinstance(function, ast.Attribute):
            return None
        listed = self.methods.get(function.attr, [])
        if isinstance(function.value, ast.Name) and function.value.id == "self" and scope.owner:
            return next((one for one in listed if self.owners[one] == scope.owner), None)
        return listed[0] if len(listed) == 1 else None

    def is_static(self, function: ast.AST) -> bool:
        """Return whether a method has no argument for its object."""
        listed = getattr(function, "decorator_list", [])
        return any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in listed)


def shown(place: Place) -> str:
    """Return a place as the script writes it."""
    return "".join(MARK.sub("", part) for part in place)


def runs_over(target: ast.expr, iterated: ast.expr) -> tuple[dict[str, str], str]:
    """Return a loop's targets with what holds all their values, and the target that counts, as texts."""
    if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name):
        name, values = iterated.func.id, iterated.args
        if name == "enumerate" and values and isinstance(target, ast.Tuple) and len(target.elts) == 2:
            within, _ = runs_over(target.elts[1], values[0])
            return within, ast.unparse(target.elts[0])
        if name == "zip" and isinstance(target, ast.Tuple) and len(target.elts) == len(values):
            pairs = zip(target.elts, values, strict=True)
            return {ast.unparse(one): ast.unparse(value) for one, value in pairs}, ""
        if name in ("range", "trange", "prange"):
            return {}, ast.unparse(target)
        if name in ("tqdm", "track", "list", "reversed", "sorted") and values:
            return runs_over(target, values[0])
    if isinstance(target, ast.Name) and isinstance(iterated, ast.Name | ast.Attribute):
        return {target.id: ast.unparse(iterated)}, ""
    return {}, ""


def head_of(target: ast.expr, iterated: ast.expr) -> str:
    """Return the head of a loop as text."""
    text = ast.unparse(target)
    return f"for {text[1:-1] if text.startswith('(') else text} in {ast.unparse(iterated)}"


def subscripts(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the indices in a place."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Subscript):
            yield node.slice
        node = node.value


def stored_names(function: ast.AST) -> set[str]:
    """Return the names to which a function assigns."""
    return {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def has_call(node: ast.AST) -> bool:
    """Return whether an expression calls something."""
    return any(isinstance(one, ast.Call) for one in ast.walk(node))


def is_owner(part: str) -> bool:
    """Return whether a name is that of a model, of data or of a robot."""
    return any(word in part.lower() for word in ("data", "model", "robot"))


def is_data(place: Place) -> bool:
    """Return whether a place holds Pinocchio's data, by its name."""
    return bool(place) and "data" in place[-1].lower()


def takes_data(name: str) -> bool:
    """Return whether a function of Pinocchio takes data."""
    known = KNOWN.get(name)
    lines = known.quantity.timed if known and known.quantity else ()
    return any("(model, data" in line.call for line in lines)


def is_random(full: str) -> bool:
    """Return whether a function returns random numbers, by its name."""
    return "random" in full or full.rpartition(".")[2] in ("rand", "randn", "uniform", "normal")


def reads_data(name: str, arguments: int) -> bool:
    """Return whether a function of Pinocchio computes from what data holds already."""
    own = name.rpartition(".")[2]
    if name.startswith("RobotWrapper."):
        return own.startswith("get")
    return own.startswith(("get", "update")) or name.startswith("cholesky.") or arguments <= 2
