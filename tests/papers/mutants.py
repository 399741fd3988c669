"""Plant errors in the algorithms of the papers, one at a time, by rules on their source.

Every mutant is one function with one changed node of its source. Its code object replaces that of the
function for a while, so that all modules that import it run the changed one; no file is written.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, partial
from itertools import zip_longest
from types import CodeType, FunctionType, ModuleType

import numpy as np

from treefactor.papers.exhibits import EXHIBITS, contradicted
from treefactor.papers.tables import Table, differing, execution

SECONDS = 20.0  # processor time after which tables of a mutant do not end
OPPOSITE = {  # operators of sums, comparisons and conditions, and what they are changed to
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
ORDERED = ("cross", "product", "matmul")  # functions whose arguments may not change places


@dataclass(frozen=True)
class Algorithm:
    """Functions of a paper, and the tables that must notice an error in any of them.

    Attributes
    ----------
    paper : str
    name : str
    module : str
    functions : tuple of str
        Names, of methods with their class.
    tables : tuple of str
        Functions of `treefactor.papers.tables`, the one that compares numbers first.
    """

    paper: str
    name: str
    module: str
    functions: tuple[str, ...]
    tables: tuple[str, ...]


@dataclass(frozen=True)
class Mutant:
    """Function with one changed node.

    Attributes
    ----------
    module, function : str
    rule : str
    statement : str
        First line of the statement that is changed.
    change : str
        Source before and after.
    compiled : callable
        Returns the code of the changed function.
    """

    module: str
    function: str
    rule: str
    statement: str
    change: str
    compiled: Callable[[], CodeType]

    @property
    def code(self) -> CodeType:
        """Code of the changed function."""
        return self.compiled()

    def __str__(self) -> str:
        return f"{self.module.rpartition('.')[2]}.{self.function}, {self.statement}: {self.change}"


# ------------------------------------------------------------------------------------------------ rules


def replacements(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the rules that apply to a node, each with the changed node."""
    match node:
        case ast.BinOp(op=ast.Add() | ast.Sub()) | ast.AugAssign(op=ast.Add() | ast.Sub()):
            yield "sign", _with(node, op=OPPOSITE[type(node.op)]())
        case ast.UnaryOp(op=ast.USub(), operand=ast.Name() | ast.BinOp() | ast.Call() | ast.Subscript()):
            yield "sign", node.operand
        case ast.Compare(ops=[op]) if type(op) in OPPOSITE:
            yield "comparison", _with(node, ops=[OPPOSITE[type(op)]()])
        case ast.BoolOp():
            yield "comparison", _with(node, op=OPPOSITE[type(node.op)]())
        case ast.IfExp():
            yield "comparison", _with(node, body=node.orelse, orelse=node.body)
        case ast.Subscript(slice=ast.Name() | ast.BinOp() as index):
            yield "index", _with(node, slice=_plus(index, -1))
        case ast.Subscript(slice=ast.Tuple(elts=[first, second])) if not _same(first, second):
            yield "index", _with(node, slice=ast.Tuple([second, first], ast.Load()))
        case ast.Subscript(slice=ast.Constant(value=int(k))):
            yield "index", _with(node, slice=ast.Constant(k + 1 if k < 2 else k - 1))
        case ast.Slice(lower=ast.AST() as lower, upper=upper):
            yield "bound", ast.Slice(_plus(lower, 1), upper, node.step)
        case ast.Slice(upper=ast.AST() as upper):
            yield "bound", ast.Slice(None, _plus(upper, -1), node.step)
        case ast.Attribute(attr="T"):
            yield "transpose", node.value
        case ast.Call(func=ast.Name(id="range"), args=args) if not any(
            isinstance(x, ast.Starred) for x in args
        ):
            for k, argument in enumerate(args[:2]):
                yield "bound", _with(node, args=[*args[:k], _plus(argument, 1), *args[k + 1 :]])
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[first, second]) if (
            name in ORDERED and not _same(first, second)
        ):
            yield "order", _with(node, args=[second, first])
        case ast.Constant(value=float(x)):
            yield "constant", ast.Constant(1.5 * x if x else 0.5)


def _with(node: ast.AST, **changed) -> ast.AST:
    """Return a copy of a node with other fields."""
    return type(node)(**{**dict(ast.iter_fields(node)), **changed})


def _plus(node: ast.AST, number: int) -> ast.AST:
    """Return the expression of node + number."""
    return ast.BinOp(node, ast.Add() if number > 0 else ast.Sub(), ast.Constant(abs(number)))


def _same(first: ast.AST, second: ast.AST) -> bool:
    """Return whether two expressions have the same source."""
    return ast.dump(first) == ast.dump(second)


# ------------------------------------------------------------------------------------------------ mutants


def mutants(module: str, function: str) -> list[Mutant]:
    """Return all mutants of a function."""
    source, file = _source(module)
    tree = ast.parse(source)
    target = _definition(tree, function)
    made = []
    for statement, parent, field, place, node in list(_places(target)):
        for rule, changed in replacements(node):
            before, after = ast.unparse(node), ast.unparse(changed)
            compiled = partial(_compiled, tree, file, function, (parent, field, place, node), changed)
            made.append(Mutant(module, function, rule, statement, f"{before} -> {after}", compiled))
    return made


def _compiled(tree: ast.Module, file: str, function: str, where: tuple, changed: ast.AST) -> CodeType:
    """Return the code of a function in whose module one node is changed."""
    *place, node = where
    _put(*place, ast.copy_location(deepcopy(changed), node))
    try:
        return _code(compile(ast.fix_missing_locations(tree), file, "exec"), function)
    finally:
        _put(*place, node)


def selected(algorithm: Algorithm, count: int) -> list[Mutant]:
    """Return some mutants of an algorithm: rule by rule, in an order that does not depend on line numbers."""
    by_rule: dict[str, list[Mutant]] = {}
    for function in algorithm.functions:
        for mutant in mutants(algorithm.module, function):
            by_rule.setdefault(mutant.rule, []).append(mutant)
    for group in by_rule.values():
        group.sort(key=lambda mutant: hashlib.sha1(str(mutant).encode()).digest())
    turns = zip_longest(*(by_rule[rule] for rule in sorted(by_rule)))
    distinct = {str(mutant): mutant for turn in turns for mutant in turn if mutant is not None}
    return list(distinct.values())[:count]


@cache
def _source(module: str) -> tuple[str, str]:
    """Return the source of a module and the name of its file."""
    file = importlib.import_module(module).__file__
    with open(file, encoding="utf-8") as text:
        return text.read(), file


def _definition(tree: ast.Module, function: str) -> ast.FunctionDef:
    """Return the definition of a function, or of a method."""
    node: ast.AST = tree
    for name in function.split("."):
        node = next(x for x in node.body if isinstance(x, (ast.FunctionDef, ast.ClassDef)) and x.name == name)
    return node


def _places(function: ast.FunctionDef) -> Iterator[tuple[str, ast.AST, str, int | None, ast.AST]]:
    """Yield every node below the statements of a function, its statement, and where it stands."""
    waiting: list[tuple[str, ast.AST]] = [("", function)]
    while waiting:
        statement, parent = waiting.pop()
        for field, value in ast.iter_fields(parent):
            if parent is function and field != "body":
                continue
            if field in ("annotation", "returns", "decorator_list") or _is_without_numbers(parent):
                continue
            for place, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(node, ast.AST):
                    line = (
                        ast.unparse(node).partition("\n")[0].rstrip(":")
                        if isinstance(node, ast.stmt)
                        else statement
                    )
                    yield line, parent, field, place, node
                    waiting.append((line, node))


def _is_without_numbers(node: ast.AST) -> bool:
    """Return whether a node raises an error, or asks for the type of a scalar."""
    return isinstance(node, ast.Raise) or (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "zero_of"
    )


def _put(parent: ast.AST, field: str, place: int | None, node: ast.AST) -> None:
    """Put a node into its place."""
    if place is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[place] = node


def _code(module: CodeType, function: str) -> CodeType:
    """Return the code of a function among the constants of its module's code."""
    for name in function.split("."):
        module = next(x for x in module.co_consts if isinstance(x, CodeType) and x.co_name == name)
    return module


# ------------------------------------------------------------------------------------------------ planting


@contextmanager
def planted(module: str, function: str, code: CodeType) -> Iterator[None]:
    """Run the function's code as given instead, without what was computed before."""
    target: object = importlib.import_module(module)
    for name in function.split("."):
        target = vars(target)[name]
    for attribute in ("__wrapped__", "fget", "__func__"):  # of a cached function, a property, a class method
        target = getattr(target, attribute, target)
    assert isinstance(target, FunctionType)
    right = target.__code__
    forget()
    target.__code__ = code
    try:
        yield
    finally:
        target.__code__ = right
        forget()


def forget() -> None:
    """Empty the caches of the papers' tables, and of generated programs."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("treefactor.papers", "treefactor.codegen")) and isinstance(module, ModuleType):
            for one in list(vars(module).values()):
                if hasattr(one, "cache_clear"):
                    one.cache_clear()


@contextmanager
def untimed() -> Iterator[None]:
    """Measure no time."""
    right = execution.compare.__code__
    execution.compare.__code__ = _nothing.__code__
    try:
        yield
    finally:
        execution.compare.__code__ = right


def _nothing(ours, peers):
    """Take the place of `compare`."""
    return ()


class DoesNotEndError(Exception):
    """The tables of a mutant take too long."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise DoesNotEndError after some processor time."""

    def stop(*_):
        raise DoesNotEndError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def noticed(paper: str, makers: list[Callable[[], Table]], seconds: float = SECONDS) -> str:
    """Run tables of a paper; return what shows that something is wrong, "" if nothing does."""
    try:
        with untimed(), limited(seconds), np.errstate(all="ignore"):
            for make in makers:
                table = make()
                if wrong := differing([table]):
                    return f"{table.title}: {wrong[0].case}: {wrong[0].what}"
                if contradictory := contradicted(EXHIBITS[paper], [table]):
                    return f"{contradictory[0].name}: {table.title}"
    except DoesNotEndError:
        return "does not end"
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"
    return ""


def caught(algorithm: Algorithm, mutant: Mutant) -> str:
    """Return what notices a mutant of an algorithm, "" if nothing does."""
    package = importlib.import_module(f"treefactor.papers.tables.{algorithm.paper.replace('-', '_')}")
    makers = {make.__name__: make for make in package.TABLES}
    with planted(mutant.module, mutant.function, mutant.code):
        return noticed(algorithm.paper, [makers[name] for name in algorithm.tables])


# ------------------------------------------------------------------------------------------------ algorithms

BOOK, TABLES, CODE = "treefactor.papers.textbook", "treefactor.papers.tables", "treefactor.codegen.algorithms"
FEATHERSTONE, BODIES = f"{BOOK}.featherstone", f"{BOOK}.body_coordinates"
SHIMANOVSKY, KANE = f"{BOOK}.shimanovsky", f"{BOOK}.kane_sum"
COUNT = 7  # mutants of every algorithm
LOOPS, SIMPLEX, REDUCED = f"{BOOK}.closures", f"{BOOK}.tasora", f"{BOOK}.reduction"
ALGORITHMS = (
    Algorithm(
        *("featherstone", "expanded parent array", FEATHERSTONE, ("expand", "ancestors")),
        ("table_6_4", "figure_6_3", "table_6_6"),
    ),
    Algorithm("featherstone", "LTL", FEATHERSTONE, ("ltl",), ("figure_6_3", "table_6_6")),
    Algorithm("featherstone", "LTDL", FEATHERSTONE, ("ltdl",), ("figure_6_3", "table_6_6")),
    Algorithm("featherstone", "L x", FEATHERSTONE, ("l_mul",), ("table_6_5", "table_6_6")),
    Algorithm("featherstone", "L^T x", FEATHERSTONE, ("lt_mul",), ("table_6_5", "table_6_6")),
    Algorithm("featherstone", "L^-1 x", FEATHERSTONE, ("l_inv",), ("table_6_5", "table_6_6")),
    Algorithm("featherstone", "L^-T x", FEATHERSTONE, ("lt_inv",), ("table_6_5", "table_6_6")),
    Algorithm("featherstone", "H x and H^-1 x", FEATHERSTONE, ("h_mul", "solve"), ("table_6_5", "table_6_6")),
    Algorithm(
        *("featherstone", "table 6.1", BODIES, ("inverse_dynamics", "transform_motion", "momentum")),
        ("table_6_1", "figure_6_1"),
    ),
    Algorithm(
        *("featherstone", "table 6.2", BODIES, ("composite_rigid_body", "transform_force", "joined")),
        ("table_6_2", "orders"),
    ),
    Algorithm("shimanovsky", "UU^T", SHIMANOVSKY, ("uut",), ("numbers", "table_1", "orders")),
    Algorithm("shimanovsky", "UDU^T", SHIMANOVSKY, ("udut",), ("numbers", "tree_1", "table_1")),
    Algorithm("shimanovsky", "forward", SHIMANOVSKY, ("forward",), ("numbers", "table_1", "orders")),
    Algorithm("shimanovsky", "backward", SHIMANOVSKY, ("backward",), ("numbers", "table_1", "orders")),
    Algorithm(
        *("kane-sum", "sums of vectors", KANE, ("distances", "moments", "outboard")),
        ("numbers", "lines"),
    ),
    Algorithm("kane-sum", "sums of matrices", KANE, ("m1", "m2", "m3", "m_sum"), ("numbers", "lines")),
    Algorithm(
        "kane-sum", "A", KANE, ("inertia_matrix", "product", "inertia"), ("numbers", "lines", "totals")
    ),
    Algorithm("kane-sum", "prismatic joints", KANE, ("couple",), ("numbers",)),
    Algorithm("kane-sum", "forces", KANE, ("forces",), ("numbers", "forces")),
    Algorithm("kane-sum", "kosynka", f"{BOOK}.kosynka", ("inertia",), ("numbers", "totals")),
    Algorithm(
        *("kane-sum", "Stepanenko", f"{BOOK}.stepanenko", ("composites", "inertia")), ("numbers", "totals")
    ),
    Algorithm("kane-sum", "Stepanenko, body by body", f"{BOOK}.stepanenko", ("by_bodies",), ("readings",)),
    Algorithm(
        *("kane-sum", "Kane's equations", f"{TABLES}.kane_sum_kinematics", ("links", "kanes_equations")),
        ("kinematics",),
    ),
    Algorithm(
        *("kane-sum", "ours", "treefactor.dynamics.chain_on_scalars"),
        ("moved", "inertia", "inertial", "forces", "rotation_rates"),
        ("numbers", "methods", "forces"),
    ),
    Algorithm(
        *("kane-sum", "flexible links", "treefactor.dynamics.flexible"),
        ("_sum_forces", "_inertial_loads", "_loads_of_link", "_assemble", "_composites", "_momentum"),
        ("extensions",),
    ),
    Algorithm(
        *("kane-sum", "frames of flexible links", "treefactor.dynamics.flexible_chain"),
        (
            *("FlexibleChain._frames", "FlexibleChain._evaluated", "FlexibleChain.energy"),
            *("FlexibleChain._vector", "_rotations", "_axial"),
        ),
        ("extensions",),
    ),
    Algorithm(
        *("kane-sum", "flexible beams", "treefactor.dynamics.flexible_link"),
        ("FlexibleLink.beam",),
        ("extensions",),
    ),
    Algorithm(
        *("golubev-yaskevich", "equal velocities", f"{BOOK}.optimizing"),
        ("squares", "centrifugal", "gyroscopic", "gyroscopic_of"),
        ("formulas",),
    ),
    Algorithm(
        *("golubev-yaskevich", "turned matrices", f"{BOOK}.optimizing", ("turned", "alpha", "trigonometric")),
        ("formulas",),
    ),
    Algorithm(
        *("golubev-yaskevich", "generalized forces", f"{BOOK}.optimizing", ("generalized_forces",)),
        ("formulas",),
    ),
    Algorithm(
        *("golubev-yaskevich", "matrix loops", LOOPS),
        ("ClosedLoops.close", "ClosedLoops.square", "ClosedLoops.solve", "inverse", "determinant", "product"),
        ("loops",),
    ),
    Algorithm(
        *("golubev-yaskevich", "rows of matrix loops", LOOPS),
        (
            "Rows.__init__",
            "Rows.column",
            "Rows.follow",
            "Rows.accelerations",
            "Rows.motion",
            "Rows.eliminate",
        ),
        ("loops",),
    ),
    Algorithm(
        *("golubev-yaskevich", "numeric loops", f"{BOOK}.recursions"),
        (
            *(
                f"CountedBodies.{name}"
                for name in ("place", "move", "motions", "unit", "inertia", "momentum")
            ),
            *(f"CountedBodies.{name}" for name in ("compose", "forces", "generalized_forces", "articulate")),
            *("CountedBodies.expand", "CountedBodies.eliminate", "turn", "product"),
        ),
        ("numeric",),
    ),
    Algorithm(
        *("golubev-yaskevich", "generated reduction", f"{CODE}.reduction"),
        (
            *("Cut.turned", "Cut.inertia", "Group.solve", "Group.seen", "Group.inertia", "Group.eliminate"),
            *("Reduction._moved", "Reduction._rows", "Reduction.complete", "Reduction.eliminate"),
        ),
        ("loops",),
    ),
    Algorithm(
        *("golubev-yaskevich", "generated rows of loops", f"{CODE}.closures"),
        ("Closure.linear", "Closure.angular", "Closure.accelerations", "Closure.twist"),
        ("loops",),
    ),
    Algorithm(
        "tasora",
        "L D L^T",
        SIMPLEX,
        ("Incremental.decompose", "Incremental.set", "matrix"),
        ("other_factors", "figure_3", "procedure", "magnitude"),
    ),
    Algorithm("tasora", "procedure as printed", SIMPLEX, ("printed", "step_max"), ("procedure", "endings")),
    Algorithm(
        "tasora",
        "procedure, repaired",
        SIMPLEX,
        ("repaired", "longest_step"),
        ("procedure", "endings", "incremental"),
    ),
    Algorithm(
        *("tasora", "Bartels and Golub", f"{BOOK}.basis"),
        ("Basis.forward", "Basis.replace", "Basis.solve", "columns", "column", "Basis.entries"),
        ("other_factors",),
    ),
    Algorithm(
        *("tasora", "theorem 1", REDUCED),
        ("printed", "corrected", "by_the_proof", "residuals", "coupling", "first_summand"),
        ("theorems",),
    ),
    Algorithm("tasora", "(3.1) and (3.2)", REDUCED, ("reduced", "switched"), ("stepping",)),
    Algorithm(
        *("tasora", "penalties", f"{BOOK}.penalty"),
        ("acceleration", "path", "deepest", "least_steps"),
        ("penalties",),
    ),
    Algorithm("tasora", "steps of impulses", f"{BOOK}.penalty", ("impulse_step",), ("stepping",)),
    Algorithm(
        *("tasora", "corner of the constraints", "treefactor.papers.kkt"),
        ("Corner.restart", "Corner.switch", "_corner_nnz", "_ancestry", "KKT.solve"),
        ("incremental", "growing"),
    ),
    Algorithm(
        *("tasora", "bottles", f"{TABLES}.tasora_figures", ("step", "contacts", "walls")),
        ("figure_5",),
    ),
)

FIRST = "the base has no ancestors: nothing is done for node 1, the last in this order"
SIGN = "the adjugate and the determinant, which is made of its entries, change sign together"
TOLERANCE = "no proof that results are equal: only < against <= at a tolerance that is free to choose"
REACH = "no proof that results are equal: only < against <= at a reach of contacts that is free to choose"
SYMMETRIC = "the matrix is symmetric"
EQUIVALENT = {  # survivors by name: the proof that they compute the same, or what is free to choose
    "featherstone.ltdl, for k in range(len(lam), 0, -1): range(len(lam), 0, -1) -> "
    "range(len(lam), 0 + 1, -1)": FIRST,
    "featherstone.h_mul, for i in range(len(lam), 0, -1): range(len(lam), 0, -1) -> "
    "range(len(lam), 0 + 1, -1)": FIRST,
    "shimanovsky.udut, for k in range(len(p), 0, -1): range(len(p), 0, -1) -> "
    "range(len(p), 0 + 1, -1)": FIRST,
    "kane_sum.distances, for i in range(n - 2, 0, -1): range(n - 2, 0, -1) -> range(n - 2 + 1, 0, -1)": (
        "for i = n - 1 the inner loop, from i + 2 to n, is empty"
    ),
    "optimizing.gyroscopic_of, moments = (-tensor[0, 1], -tensor[0, 2], -tensor[1, 2]): "
    "tensor[1, 2] -> tensor[2, 1]": SYMMETRIC,
    "closures.inverse, adjugate[j, i] = determinant(rest) if (i + j) % 2 == 0 else -determinant(rest): "
    "determinant(rest) if (i + j) % 2 == 0 else -determinant(rest) -> "
    "-determinant(rest) if (i + j) % 2 == 0 else determinant(rest)": SIGN,
    "closures.determinant, return dot(A[0], cross(A[1], A[2])): cross(A[1], A[2]) -> cross(A[2], A[1])": SIGN,
    "tasora.Incremental.decompose, self.singular = bool(abs(column[0]) <= ZERO * "
    "(np.square(L[k, :k]) @ np.abs(D[:k]))): abs(column[0]) <= ZERO * (np.square(L[k, :k]) @ np.abs(D[:k])) "
    "-> abs(column[0]) < ZERO * (np.square(L[k, :k]) @ np.abs(D[:k]))": (
        "both sides are equal only if both are 0, and the right one is 0 for the first pivots alone, which "
        "are those of a positive definite H"
    ),
    "tasora.longest_step, blocking = np.flatnonzero((full_step < -zero) & (now >= -zero)): "
    "full_step < -zero -> full_step <= -zero": TOLERANCE,
    "tasora.repaired, while (violated := np.flatnonzero(~on & (alpha < -zero))).size: "
    "alpha < -zero -> alpha <= -zero": TOLERANCE,
    "tasora_figures.contacts, near = np.flatnonzero(gap < reach): gap < reach -> gap <= reach": REACH,
    "tasora_figures.contacts, close = distance - 2 * RADIUS < reach: distance - 2 * RADIUS < reach -> "
    "distance - 2 * RADIUS <= reach": REACH,
}
