"""Track every target: the ratio of our time to the peer's, and exact counts.

asv takes larger values for worse ones, so ours / peer is tracked: half of it is twice as fast. Each
combination of a model, what is measured and a peer that exists is one value of the only parameter, and no
other is run. Everything of a target is measured once, in `setup_cache`, since asv calls `setup` before every
timed call, which costs as much as a small kernel. The tracked values are read from there. What takes long to
prepare is measured for three robots, all of this in less than ten minutes; `make bench` measures all robots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.util import find_spec
from itertools import product

import treefactor.bench.comparisons.derivatives as derivatives_times
import treefactor.bench.comparisons.dynamics as dynamics_times
import treefactor.bench.comparisons.factor as factor_times
import treefactor.bench.comparisons.frameworks as frameworks_times
import treefactor.bench.comparisons.loops as loops_times
import treefactor.bench.comparisons.mlcp as mlcp_times
import treefactor.bench.comparisons.programs as programs_times
import treefactor.bench.comparisons.rollouts as rollouts_times
from treefactor.bench import Comparison, Result
from treefactor.bench import scaling as growth
from treefactor.bench.comparisons.mlcp_peers import DAQP, Peer
from treefactor.codegen.backends.build import Compiler
from treefactor.exceptions import CodegenError

from .comparisons import (
    ARMS,
    FEW,
    HUMANOIDS,
    LARGE_TREES,
    ROBOTS,
    SMALL_TREES,
    arm_of,
    case,
    chain_of,
    framework_comparisons,
    mujoco,
    sparse,
)

CONTACTS = {f"{family} {m}": (family, m) for family, m in mlcp_times.COLD}
Pairs = tuple[tuple[str, str], ...]


def has_compiler() -> bool:
    """Return whether programs can be compiled as C."""
    try:
        Compiler.find()
    except CodegenError:
        return False
    return True


HAS_COMPILER, HAS_MUJOCO = has_compiler(), find_spec("mujoco") is not None
HOW = ("interpreter", "cc") if HAS_COMPILER else ("interpreter",)
WORKS = ("solve", "factor and solve", "compute", "read")


def crossed(whats: Iterable[str], *peers: str) -> Pairs:
    """Combine each quantity with each peer."""
    return tuple(product(whats, peers))


def named(model: str, what: str, peer: str) -> str:
    """Return the name of a combination, which is a value of asv's parameter."""
    return f"{model}: {what}, {peer}"


def share_tracker(title: str) -> Callable:
    """Return a benchmark of asv, with a title, that tracks ours / peer."""

    def track_share(self, results, name):
        return 1.0 / results[name].ratio

    track_share.pretty_name = title
    track_share.unit = "of the peer's time"
    track_share.version = "2"  # raised when the values change their meaning; until then asv keeps the history
    return track_share


class _Target:
    """Base of all targets: measures the comparisons and tracks their results.

    Attributes
    ----------
    title : str
        Name of the benchmark on asv's pages.
    models : iterable of str
    pairs : tuple of tuple of str
        What is measured of each model, and the peer.
    """

    title = ""
    models: Iterable[str] = ()
    pairs: Pairs = ()
    param_names = ("combination",)

    def __init_subclass__(cls):
        cls.params = ([named(model, *pair) for model in cls.models for pair in cls.pairs_of(model)],)
        cls.track_share = share_tracker(cls.title)

    @classmethod
    def pairs_of(cls, model: str) -> Pairs:
        return cls.pairs

    def comparisons(self, model: str) -> Iterable[Comparison]:
        raise NotImplementedError

    def measured(self) -> dict[str, Result]:
        found = {}
        for model in self.models:
            found |= {named(one.model, one.what, one.peer): one.measure() for one in self.comparisons(model)}
        differing = sorted(found.keys() ^ set(self.params[0]))
        if differing:
            raise ValueError(f"expected every parameter to be measured and nothing else, got {differing}")
        return found


# asv identifies the cache of a target by the line of its `setup_cache`, so that none can be inherited


class S1S2SingleMatrix(_Target):
    title = "Factor and solve one matrix"
    models = ROBOTS
    pairs = crossed(("factor", "solve", "solve without out="), "Pinocchio")

    def comparisons(self, model):
        return factor_times.single(case(model))

    def setup_cache(self):
        return self.measured()


class S3PackedRows(_Target):
    title = "Factor and solve packed rows of one matrix"
    models = SMALL_TREES
    pairs = crossed(("factor", "solve"), "MuJoCo")

    def comparisons(self, model):
        return mujoco(model)

    def setup_cache(self):
        return self.measured()


FLOATS = ("float64", "float32")
SIZES = (factor_times.SMALL, factor_times.LARGE)


class S4DenseBatch(_Target):
    title = "Solve batches of dense matrices"
    models = ROBOTS
    pairs = crossed([f"solve {n} {real}" for n, real in product(SIZES, FLOATS)], "NumPy")

    def comparisons(self, model):
        return factor_times.batches(case(model))

    def setup_cache(self):
        return self.measured()


class S5CachedBatch(_Target):
    title = "Factor batches in the caches"
    models = ROBOTS
    cached = tuple(
        f"factor in cache {real}, {layout}" for real, layout in product(FLOATS, ("lanes", "packed"))
    )
    pairs = (*crossed(cached, "Pinocchio"), (cached[0], "FMA peak"))

    def comparisons(self, model):
        return factor_times.cached(case(model))

    def setup_cache(self):
        return self.measured()


MANY = dynamics_times.COUNT
BATCHES = tuple(f"{dynamics_times.spoken(name)} {MANY}" for name in programs_times.BATCHES)
SINGLE = tuple(map(dynamics_times.spoken, programs_times.SINGLE))


class S6Dynamics(_Target):
    title = "Dynamics: recursions and interpreter"
    models = ROBOTS
    loops = ("crba", "bias", *SINGLE, f"crba {MANY}", f"aba {MANY}", *BATCHES)
    programs = tuple(f"{what}, interpreter" for what in (f"crba {MANY}", *BATCHES, *SINGLE))
    pairs = (*crossed((*loops, *programs), "Pinocchio"), *crossed(["crba"] * HAS_MUJOCO, "MuJoCo"))

    def comparisons(self, model):
        found = case(model)
        return [*dynamics_times.dynamics(found), *programs_times.interpreted(found)]

    def setup_cache(self):
        return self.measured()


class S7CompiledPrograms(_Target):
    title = "Dynamics: programs compiled as C"
    models = (*FEW, *ARMS) if HAS_COMPILER else ()
    single = crossed([f"{what}, cc" for what in SINGLE], "Pinocchio")
    batches = crossed([f"{what}, cc" for what in BATCHES], "Pinocchio", "FMA peak")

    @classmethod
    def pairs_of(cls, model):
        return cls.single if model in ARMS else (*cls.batches, *cls.single)

    def comparisons(self, model):
        return arm_of(model) if model in ARMS else programs_times.compiled(case(model))

    def setup_cache(self):
        return self.measured()


class S8Threads(_Target):
    title = "Two threads instead of one"
    models = ROBOTS
    works = tuple(f"{work} {factor_times.LARGE} float64" for work in WORKS)
    programs = tuple(f"forward dynamics {factor_times.LARGE}, {how}" for how in HOW)
    pairs = crossed([f"{what}, 2 threads" for what in (*works, *programs)], "one thread")

    def comparisons(self, model):
        found = case(model)
        return [*factor_times.parallel(found, 2), *programs_times.threaded(found, 2)]

    def setup_cache(self):
        return self.measured()


MOTIONS = f"rollout {rollouts_times.COUNT} x {rollouts_times.STEPS}"


class Rollouts(_Target):
    title = "Rollouts"
    models = FEW if HAS_MUJOCO else ()
    pairs = crossed([f"{MOTIONS}, {how}" for how in ("recursions", *HOW)], "MuJoCo")

    def comparisons(self, model):
        return rollouts_times.rollouts(case(model))

    def setup_cache(self):
        return self.measured()


class Derivatives(_Target):
    title = "Derivatives"
    models = FEW

    @classmethod
    def pairs_of(cls, model):
        functions = derivatives_times.program_functions(derivatives_times.MANY * (model in HUMANOIDS))
        return tuple(derivatives_times.measured(functions, HOW))

    def comparisons(self, model):
        return derivatives_times.derivatives(case(model))

    def setup_cache(self):
        return self.measured()


class Frameworks(_Target):
    title = "JAX and PyTorch"
    models = FEW
    pairs = tuple(frameworks_times.measured())

    def comparisons(self, model):
        return framework_comparisons(model)

    def setup_cache(self):
        return self.measured()


class Chain(_Target):
    title = "Kane-sum recursion of an arm"
    models = ("SSRMS",)
    pairs = crossed(("inertia", "forces"), "Pinocchio")

    def comparisons(self, model):
        return chain_of(model)

    def setup_cache(self):
        return self.measured()


def contacts(name: str, available: Callable[[Peer], bool] = lambda peer: peer.available()) -> Pairs:
    """Return the quantities of a contact problem with the peers that are available."""
    made = "problem made and solved"
    key = CONTACTS[name]
    peers = [peer.name for peer in mlcp_times.COLD[key][1] if available(peer)]
    found = [*crossed(["cold"], *peers), (made, "solved")]
    if key in mlcp_times.WITH_A and mlcp_times.DANTZIG.name in peers:
        found += crossed(["cold", made], mlcp_times.AND_A)
    if key in mlcp_times.WARM:
        found += crossed(["warm"], "cold", *[DAQP.name] * available(DAQP))
    return tuple(found)


class A2A8Contacts(_Target):
    title = "Contact problems"
    models = tuple(CONTACTS)

    @classmethod
    def pairs_of(cls, model):
        return contacts(model)

    def comparisons(self, model):
        return mlcp_times.family_comparisons(*CONTACTS[model])

    def setup_cache(self):
        return self.measured()


class ClosedLoops(_Target):
    title = "Closed loops"
    models = loops_times.NAMES
    ways = loops_times.WAYS if HAS_COMPILER else loops_times.WAYS[:2]
    dynamics = tuple(f"{many}{how}" for many, how in product(loops_times.SIZES, ways))
    pairs = crossed([*dynamics, *loops_times.DERIVATIVES], "Pinocchio")

    def comparisons(self, model):
        return [*loops_times.closing(model), *loops_times.differentiating(model)]

    def setup_cache(self):
        return self.measured()


NODES = 2**16  # of the largest tree; `treefactor families` goes on to 2**20


class S9Growth:
    params = (tuple(growth.FAMILIES),)
    param_names = ("family",)

    def setup_cache(self):
        return {family: growth.growth(family, NODES) for family in growth.FAMILIES}

    def track_slowest_size(self, grown, family):
        return 1.0 / growth.steadiness(grown[family]).ratio

    def track_memory(self, grown, family):
        return max(one.memory / one.tree.nnz for one in grown[family] if one.tree.n > growth.LARGE)

    track_slowest_size.pretty_name = "Time per operation: slowest size over fastest"
    track_memory.pretty_name = "Memory of a tree and its factor"
    track_slowest_size.unit = "times slower per operation than the fastest"
    track_memory.unit = "bytes per entry"


class S10SparseSolvers(_Target):
    title = "Factor sparse matrices of trees"
    models = LARGE_TREES
    pairs = crossed(["factor"], "QDLDL", "SuperLU")

    def comparisons(self, model):
        return sparse(model)

    def setup_cache(self):
        return self.measured()
