"""Track exact numbers of operations, which no machine disturbs."""

from __future__ import annotations

import treefactor.bench.comparisons.mlcp as mlcp_times
from treefactor import mlcp
from treefactor.bench.comparisons.trees import SMALL_TREES
from treefactor.bench.registry import ROBOTS, case
from treefactor.codegen import generate
from treefactor.codegen.program import FUNCTIONS
from treefactor.mlcp.families import FAMILIES
from treefactor.papers.textbook import recursions

from .targets import FEW


class ContactCounts:
    """Exact numbers of operations in solutions of contact problems."""

    params = (tuple(FAMILIES), (50, 200))
    param_names = ("family", "rows")

    def solved(self, family, rows):
        return mlcp.solve(FAMILIES[family](rows, mlcp_times.SEED))

    def track_factorizations(self, family, rows):
        return self.solved(family, rows).factorizations

    def track_pivots(self, family, rows):
        return self.solved(family, rows).pivots

    track_factorizations.pretty_name = "Factorizations of contact problems"
    track_pivots.pretty_name = "Pivots of contact problems"
    track_factorizations.unit = "factorizations"
    track_pivots.unit = "pivots"


class LoopCounts:
    """Exact operations of the loops over bodies."""

    params = (FEW, recursions.FUNCTIONS)
    param_names = ("model", "function")
    unit = "operations"

    def track_operations(self, model, function):
        return recursions.operations(case(model).ours, function).total

    track_operations.pretty_name = "Operations of the recursions"


class ProgramCounts:
    """Exact operations of generated programs."""

    params = (FEW, FUNCTIONS)
    param_names = ("model", "function")
    unit = "operations"

    def track_operations(self, model, function):
        program = generate(case(model).ours, [function])
        return program.operations[function].total

    track_operations.pretty_name = "Operations of generated programs"


class Counts:
    """Exact numbers, without noise from the machine."""

    params = ((*ROBOTS, *SMALL_TREES), ("LTDL", "solve"))
    param_names = ("model", "kind")
    unit = "operations"

    def track_operations(self, model, kind):
        tree = SMALL_TREES[model]() if model in SMALL_TREES else case(model).tree
        return tree.cost(kind).total

    track_operations.pretty_name = "Operations of factorizations and solves"
