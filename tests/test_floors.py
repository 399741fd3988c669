"""Imports of Python and Cython point downwards, without circles."""

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FLOORS = [  # from the ground up; a module imports from its own folder and from what stands before it
    *("_version", "exceptions", "tolerances", "_util", "streams"),
    *("tree", "families", "model", "config"),
    *("linalg", "_functions"),
    *("quantities", "se3", "so3"),
    *("dynamics", "kinematics"),
    *("derivatives", "identification"),
    *("mlcp", "constraints"),
    "viewing",
    "codegen",
    "control",
    "xla",
    "adapters",
    "check",
    *("bench", "papers", "advice"),
    "report",
    "cli",
    *("__init__", "__main__", "pytest_plugin"),
]
# private modules that adapters use; everything else of theirs is public
INTERNAL_SURFACE = {
    *("_functions.general_path", "constraints._shape_contacts", "constraints._touching"),
    *("_util._by_identity", "_util.conventions", "_util.engine_objects", "_util.messages"),
    *("_util.protocol", "_util.urdf_numbers", "_util.validation", "_util.xml"),
    *("model._building", "model._triangles", "model._urdf"),
}
CYTHON = re.compile(
    r"^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+c?import[ \t]+(?:\(([^)]*)\)|([^\n#]*))", re.MULTILINE
)


def files():
    """Map modules, without treefactor in front, to paths; the three Cython files of one are one module."""
    for path in sorted((ROOT / "treefactor").rglob("*.p[yx]*")):
        if path.suffix in (".py", ".pyx", ".pxd", ".pyi"):
            yield ".".join(path.relative_to(ROOT / "treefactor").with_suffix("").parts), path
    for path in sorted((ROOT / "adapters").glob("*.py")):
        yield f"adapters.{path.stem}", path


MODULES = {name.removesuffix(".__init__") for name, _ in files()}


def imports(path):
    """Yield (level, module, names) of every import, also within functions and for type checkers."""
    text = path.read_text(encoding="utf-8")
    if path.suffix in (".pyx", ".pxd"):
        for dots, module, long, short in CYTHON.findall(text):
            names = re.sub(r"#.*", "", long or short).replace("\n", " ").split(",")
            yield len(dots), module, [name.split()[0] for name in names if name.strip()]
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            yield node.level, node.module or "", [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from ((0, alias.name, []) for alias in node.names)


def targets(name, path):
    """Return our modules that a module imports; of a package, those that define the names."""
    package = name.split(".")[:-1]
    for level, module, names in imports(path):
        if level == 0 and module.split(".")[0] != "treefactor":
            continue
        base = (
            module.split(".")[1:]
            if level == 0
            else [*package[: len(package) - level + 1], *filter(None, module.split("."))]
        )
        for what in names or [None]:
            full = ".".join([*base, what] if what else base)
            yield full if full in MODULES else ".".join(base) or "__init__"


@cache
def graph():
    """Return the modules that each module imports."""
    imported: dict[str, set[str]] = {}
    for name, path in files():
        imported.setdefault(name.removesuffix(".__init__"), set()).update(targets(name, path))
    return {name: others - {name} for name, others in imported.items()}


def floor(name):
    return FLOORS.index(name.split(".")[0])


def test_every_folder_has_a_floor():
    assert {name.split(".")[0] for name in MODULES} == set(FLOORS)


def test_every_import_names_a_module_of_ours():
    assert {(name, other) for name, others in graph().items() for other in others} - {
        (name, other) for name in graph() for other in MODULES
    } == set()


def test_imports_point_downwards():
    upward = [
        f"{name} -> {other}"
        for name, others in graph().items()
        for other in others
        if floor(other) > floor(name)
    ]
    assert upward == []


def test_there_are_no_circles():
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_adapters_use_public_names_or_the_declared_surface():
    used = {other for name, others in graph().items() if name.startswith("adapters") for other in others}
    private = {
        other for other in used if "._" in f".{other}" and not other.startswith(("adapters", "__init__"))
    }
    assert private == INTERNAL_SURFACE


def test_only_the_papers_use_their_textbook_versions():
    users = {
        name.split(".")[0]
        for name, others in graph().items()
        for other in others
        if other.startswith("papers.textbook")
    }
    assert users <= {"papers"}
