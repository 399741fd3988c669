"""The targets: how many times faster than the peer, taken in turns; the times; and exact counts.

Everything of a target is measured once, in `setup_cache`, since asv calls `setup` before every timed call,
which costs as much as a small kernel. The tracked values are read from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

from treefactor import duels_dynamics, duels_factor, duels_loops, duels_mlcp, duels_programs, growth, mlcp
from treefactor.adapters import pinocchio_
from treefactor.bench import Duel, Result
from treefactor.codegen import generate
from treefactor.codegen.program import FUNCTIONS
from treefactor.mlcp_families import FAMILIES
from treefactor.mlcp_peers import PEERS
from treefactor.textbook import recursions

from .duels import ARMS, LARGE_TREES, ROBOTS, SMALL_TREES, arm_of, case, chain_of, mujoco, sparse

FLOATS = ("float64", "float32")
CONTACTS = {f"{family} {m}": (family, m) for family, m in duels_mlcp.COLD}


class _Target:
    """What all targets track, of the results by model, what and peer."""

    param_names = ("model", "what", "peer")

    def setup(self, results, *key):
        if key not in results:
            raise NotImplementedError

    def track_ratio(self, results, *key):
        return results[key].ratio

    def track_time(self, results, *key):
        return results[key].ours * 1e6

    def track_peer_time(self, results, *key):
        return results[key].theirs * 1e6

    track_ratio.unit = "times faster"
    track_time.unit = track_peer_time.unit = "us"


def fought(params: tuple, duels: Callable[[str], Iterable[Duel]]) -> dict[tuple, Result]:
    """Results of a target by its parameters, on all its models."""
    models, *known = params
    found = {(one.model, one.what, one.peer): one.fight() for one in chain.from_iterable(map(duels, models))}
    missed = [
        key for key in found if any(value not in axis for value, axis in zip(key[1:], known, strict=True))
    ]
    if missed:
        raise ValueError(f"no parameters for {missed}")
    return found


class S1S2SingleMatrix(_Target):
    params = (ROBOTS, ("factor", "solve"), ("Pinocchio",))

    def setup_cache(self):
        return fought(self.params, lambda robot: duels_factor.single(case(robot)))


class S3PackedRows(_Target):
    params = (tuple(SMALL_TREES), ("factor", "solve"), ("MuJoCo",))

    def setup_cache(self):
        return fought(self.params, mujoco)


class S4DenseBatch(_Target):
    whats = tuple(f"solve {n} {real}" for real in FLOATS for n in (duels_factor.SMALL, duels_factor.LARGE))
    params = (ROBOTS, whats, ("NumPy",))

    def setup_cache(self):
        return fought(self.params, lambda robot: duels_factor.batches(case(robot)))


class S5CachedBatch(_Target):
    whats = tuple(f"factor in cache {real}, {layout}" for real in FLOATS for layout in ("lanes", "packed"))
    params = (ROBOTS, whats, ("Pinocchio", "FMA peak"))

    def setup_cache(self):
        return fought(self.params, lambda robot: duels_factor.cached(case(robot)))


class S6Dynamics(_Target):
    loops = tuple(
        f"{what}{count}"
        for what in ("crba", "bias", "rnea", "aba", "forward dynamics")
        for count in ("", f" {duels_dynamics.COUNT}")
    )
    batches = tuple(
        f"{what} {duels_dynamics.COUNT}, interpreter" for what in ("crba", "rnea", "forward dynamics")
    )
    single = tuple(f"{what}, interpreter" for what in ("rnea", "forward dynamics", "aba"))
    params = (ROBOTS, (*loops, *batches, *single), ("Pinocchio", "MuJoCo"))

    def setup_cache(self):
        return fought(self.params, self.duels)

    def duels(self, robot):
        found = case(robot)
        return [*duels_dynamics.dynamics(found), *duels_programs.interpreted(found)]


class S7CompiledPrograms(_Target):
    batches = tuple(f"{what} {duels_dynamics.COUNT}, cc" for what in ("rnea", "forward dynamics"))
    single = tuple(f"{what}, cc" for what in ("rnea", "forward dynamics", "aba"))
    params = ((*ROBOTS, *ARMS), (*batches, *single), ("Pinocchio", "FMA peak"))

    def setup_cache(self):
        return fought(self.params, lambda name: arm_of(name) if name in ARMS else self.robot(name))

    def robot(self, name):
        return duels_programs.compiled(case(name))


class S8Threads(_Target):
    loops = tuple(
        f"{work} {duels_factor.LARGE} float64" for work in ("solve", "factor and solve", "compute", "read")
    )
    programs = tuple(f"forward dynamics {duels_factor.LARGE}, {how}" for how in ("interpreter", "cc"))
    params = (ROBOTS, tuple(f"{what}, 2 threads" for what in (*loops, *programs)), ("one thread",))

    def setup_cache(self):
        return fought(self.params, self.duels)

    def duels(self, robot):
        found = case(robot)
        return [*duels_factor.parallel(found, 2), *duels_programs.threaded(found, 2)]


class Chain(_Target):
    params = (("SSRMS",), ("inertia", "forces"), ("Pinocchio",))

    def setup_cache(self):
        return fought(self.params, chain_of)


class A2A8Contacts(_Target):
    peers = (*(peer.name for peer in PEERS), duels_mlcp.AND_A, "cold", "solved")
    params = (tuple(CONTACTS), ("cold", "warm", "problem made and solved"), peers)

    def setup_cache(self):
        return fought(self.params, lambda name: duels_mlcp.family_duels(*CONTACTS[name]))


class ContactCounts:
    """Exact work of solutions of contact problems."""

    params = (tuple(FAMILIES), (50, 200))
    param_names = ("family", "rows")

    def solved(self, family, rows):
        return mlcp.solve(FAMILIES[family](rows, duels_mlcp.SEED))

    def track_factorizations(self, family, rows):
        return self.solved(family, rows).factorizations

    def track_pivots(self, family, rows):
        return self.solved(family, rows).pivots

    track_factorizations.unit = "factorizations"
    track_pivots.unit = "pivots"


class ClosedLoops(_Target):
    whats = tuple(f"{many}{how}" for many in duels_loops.SIZES for how in duels_loops.WAYS)
    params = (duels_loops.NAMES, whats, ("Pinocchio",))

    def setup_cache(self):
        return fought(self.params, duels_loops.closing)


class S9Growth:
    params = (tuple(growth.FAMILIES),)
    param_names = ("family",)

    def setup_cache(self):
        return {family: growth.growth(family) for family in growth.FAMILIES}

    def track_slowest_size(self, grown, family):
        return 1.0 / growth.steadiness(grown[family]).ratio

    def track_memory(self, grown, family):
        return max(one.memory / one.tree.nnz for one in grown[family] if one.tree.n > growth.LARGE)

    track_slowest_size.unit = "times slower per operation than the fastest"
    track_memory.unit = "bytes per entry"


class S10SparseSolvers(_Target):
    params = (tuple(LARGE_TREES), ("factor",), ("QDLDL", "SuperLU"))

    def setup_cache(self):
        return fought(self.params, sparse)


class LoopCounts:
    """Exact operations of the loops over bodies."""

    params = (ROBOTS, recursions.FUNCTIONS)
    param_names = ("model", "function")
    unit = "operations"

    def track_operations(self, model, function):
        return recursions.operations(pinocchio_.model(case(model).model), function).total


class ProgramCounts:
    """Exact operations of generated programs."""

    params = (ROBOTS, FUNCTIONS)
    param_names = ("model", "function")
    unit = "operations"

    def track_operations(self, model, function):
        program = generate(pinocchio_.model(case(model).model), [function])
        return program.operations[function].total


class Counts:
    """Exact numbers, which no machine makes noisy."""

    params = ((*ROBOTS, *SMALL_TREES), ("LTDL", "solve"))
    param_names = ("model", "kind")
    unit = "operations"

    def track_operations(self, model, kind):
        tree = SMALL_TREES[model]() if model in SMALL_TREES else case(model).tree
        return tree.cost(kind).total
