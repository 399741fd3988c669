"""Import modules by their former paths: `treefactor.arms` is `treefactor.model.arms`; for pickles, too."""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

from ._util.elsewhere import no_attribute

MOVED = {
    "arms": "model.arms",
    "bodies": "dynamics.bodies",
    "bound": "linalg.bound_factor",
    "chain": "dynamics.chain",
    "check_own": "check.own",
    "cli_options": "cli.options",
    "codegen.blocks": "codegen.program.blocks",
    "codegen.build": "codegen.backends.build",
    "codegen.cache": "codegen.backends.cache",
    "codegen.closures": "codegen.algorithms.closures",
    "codegen.emit_c": "codegen.program.emit_c",
    "codegen.emit_llvm": "codegen.backends.emit_llvm",
    "codegen.expressions": "codegen.program.expressions",
    "codegen.factors": "codegen.algorithms.factors",
    "codegen.frames": "codegen.algorithms.frames",
    "codegen.inertias": "codegen.algorithms.inertias",
    "codegen.inverses": "codegen.algorithms.inverses",
    "codegen.lowering": "codegen.lower.lowering",
    "codegen.matrices": "codegen.algorithms.matrices",
    "codegen.numeric": "codegen.verification.numeric",
    "codegen.numeric_loops": "codegen.verification.numeric_loops",
    "codegen.numpy_": "codegen.backends.numpy_",
    "codegen.partition": "codegen.algorithms.partition",
    "codegen.passes": "codegen.program.passes",
    "codegen.placements": "codegen.algorithms.placements",
    "codegen.recursions": "codegen.algorithms.recursions",
    "codegen.reduction": "codegen.algorithms.reduction",
    "configuration": "model.configuration",
    "constraints.kinematics": "kinematics.jacobians",
    "couplings": "model.mimic",
    "direct": "linalg.solve_multiply",
    "fclib": "mlcp.fclib",
    "flexible": "dynamics.flexible",
    "flexible_chain": "dynamics.flexible_chain",
    "growth": "bench.scaling",
    "html": "report.html",
    "html_drawings": "report.drawings",
    "joints": "model.joints",
    "kkt": "papers.kkt",
    "ltdl": "linalg.factorization",
    "mechanisms": "model.mechanisms",
    "mlcp_families": "mlcp.families",
    "mlcp_peers": "bench.comparisons.mlcp_peers",
    "plots": "report.plots",
    "robots": "check.robots",
    "se3": "model.se3",
    "selfcheck": "check.selfcheck",
    "so3": "model.so3",
    "sparse": "tree.sparse",
    "tables": "papers.tables",
    "tables.execution": "papers.tables.execution",
    "tables.featherstone": "papers.tables.featherstone",
    "tables.golubev_yaskevich": "papers.tables.golubev_yaskevich",
    "tables.kane_sum": "papers.tables.kane_sum",
    "tables.shimanovsky": "papers.tables.shimanovsky",
    "tables.table": "papers.tables.table",
    "tables.tasora": "papers.tables.tasora",
    "textbook": "papers.textbook",
    "textbook.closures": "papers.textbook.closures",
    "textbook.composite": "dynamics.chain_on_scalars",
    "textbook.counting": "_util.counting",
    "textbook.featherstone": "papers.textbook.featherstone",
    "textbook.kane_sum": "papers.textbook.kane_sum",
    "textbook.kosynka": "papers.textbook.kosynka",
    "textbook.recursions": "papers.textbook.recursions",
    "textbook.shimanovsky": "papers.textbook.shimanovsky",
    "textbook.stepanenko": "papers.textbook.stepanenko",
    "textbook.tasora": "papers.textbook.tasora",
    "textbook.vectors": "_util.vectors",
    "urdf": "model.urdf",
}  # both without treefactor in front


class _Former:
    """Find and load modules under their former paths: the module itself, not a copy."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target=None) -> ModuleSpec | None:
        root, _, rest = name.partition(".")
        return ModuleSpec(name, self) if root == __package__ and rest in MOVED else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(f"{__package__}.{MOVED[spec.name.partition('.')[2]]}")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = module.__spec__.loader_state  # restored: the import system has replaced it


sys.meta_path.insert(0, _Former())  # before the finder of files, which would load a copy


def __getattr__(name: str) -> ModuleType:
    """Return a module under its former path; raise the error that tells what to use instead of a name."""
    if name in MOVED:
        return import_module(f"{__package__}.{name}")
    raise no_attribute(__package__, name, dir(sys.modules[__package__]))
