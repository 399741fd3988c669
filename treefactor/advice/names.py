"""Follow by which names a script calls Pinocchio: its imports, and variables that hold a RobotWrapper."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .known import KNOWN

ROOT = "pinocchio"
WRAPPER = "RobotWrapper"
DESCRIPTIONS = "example_robot_data"  # whose functions load and loadNAME return a RobotWrapper
PASSED = {  # submodules whose names Pinocchio also has itself
    *("robot_wrapper", "explog", "shortcuts", "pinocchio_pywrap", "pinocchio_pywrap_default"),
}
SOLVERS = "numpy", "scipy"
LINALG = "inv", "pinv", "solve", "cho_solve", "solve_triangular", "lstsq", "cho_factor"


class Names:
    """Names of a script.

    Attributes
    ----------
    aliases : dict of str to str
        Full names, such as "pinocchio.rpy", by those in the script.
    wrappers, others : set of str
        Texts of variables that hold a RobotWrapper, such as "self.robot", and of those that do not.
    classes : set of str
        Classes of the script that derive from RobotWrapper.
    """

    def __init__(self, tree: ast.Module):
        self.aliases: dict[str, str] = {}
        self.starred: list[str] = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for one in node.names:
                    name = one.name if one.asname else one.name.partition(".")[0]
                    self.aliases[one.asname or name] = name
            elif isinstance(node, ast.ImportFrom) and not node.level:
                for one in node.names:
                    if one.name == "*":
                        self.starred.append(node.module or "")
                    else:
                        self.aliases[one.asname or one.name] = f"{node.module}.{one.name}"
        self.classes = {
            node.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef)
            if any(self.pinocchio(base) == WRAPPER for base in node.bases)
        }
        self.wrappers: set[str] = set()
        self.others: set[str] = set()
        assigned = list(_assignments(tree))
        for _ in range(3):  # a wrapper handed on by assignments
            self.wrappers |= {ast.unparse(target) for target, value in assigned if self._is_wrapper(value)}
        for target, value in assigned:
            if isinstance(value, ast.Call) and not self._is_wrapper(value):
                self.others.add(ast.unparse(target))
        self.others |= {name for name, full in self.aliases.items() if full.partition(".")[0] != ROOT}

    @property
    def imports_pinocchio(self) -> bool:
        """Whether the script imports Pinocchio, or loads robots by example_robot_data."""
        modules = (*self.aliases.values(), *self.starred)
        return any(one.partition(".")[0] in (ROOT, DESCRIPTIONS) for one in modules)

    def full(self, node: ast.expr) -> str:
        """Return the full name of what an expression such as ``pin.rnea`` names, or nothing."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        first = self.aliases.get(node.id) or self._starred(node.id)
        return ".".join([first, *reversed(parts)]) if first else ""

    def pinocchio(self, node: ast.expr) -> str:
        """Return the name in Pinocchio of a function, such as "rnea" or "RobotWrapper.mass", or nothing."""
        package, _, name = self.full(node).partition(".")
        if package == ROOT and name:
            first, _, rest = name.partition(".")
            return rest if first in PASSED and rest else name
        if isinstance(node, ast.Attribute):
            method, owner = f"{WRAPPER}.{node.attr}", ast.unparse(node.value)
            if method in KNOWN and (owner in self.wrappers or self._is_handed_in(owner)):
                return method
        return ""

    def is_linalg(self, node: ast.expr) -> bool:
        """Return whether an inverse or a solution of NumPy or SciPy is called."""
        package, _, name = self.full(node).partition(".")
        return package in SOLVERS and name.rpartition(".")[2] in LINALG

    def _starred(self, name: str) -> str:
        """Return the full name of a name that ``from pinocchio import *`` may have brought, or nothing."""
        for module in self.starred:
            below = module.partition(".")[2]
            if module.partition(".")[0] == ROOT and f"{below}.{name}".strip(".") in KNOWN:
                return f"{module}.{name}"
        return ""

    def _is_handed_in(self, owner: str) -> bool:
        """Return whether a variable has the name of a robot, and no value that shows what it is."""
        return "robot" in owner.rpartition(".")[2].lower() and owner not in self.others

    def _is_wrapper(self, value: ast.expr) -> bool:
        if not isinstance(value, ast.Call):
            return ast.unparse(value) in self.wrappers
        name, full = self.pinocchio(value.func), self.full(value.func)
        if name == WRAPPER or name.startswith(f"{WRAPPER}.Build"):
            return True
        if full.startswith(f"{DESCRIPTIONS}.load") or ast.unparse(value.func) in self.classes:
            return True
        return isinstance(value.func, ast.Attribute) and value.func.attr == "buildReducedRobot"


def _assignments(tree: ast.Module) -> Iterator[tuple[ast.expr, ast.expr]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            yield from ((target, node.value) for target in node.targets)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield node.target, node.value
