"""Track every study of `treefactor.bench.registry`: the ratio of our time to the peer's.

asv takes larger values for worse ones, so ours / peer is tracked: half of it is twice as fast. Each
comparison that a study declares is one value of the only parameter. Everything of a study is measured once,
in `setup_cache`, since asv calls `setup` before every timed call, which costs as much as a small kernel. The
tracked values are read from there. What takes long to prepare is measured for three robots, all of this in
less than ten minutes; `make bench` measures all robots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from treefactor.bench import Comparison, Result
from treefactor.bench import scaling as growth
from treefactor.bench.case import Case
from treefactor.bench.registry import STUDIES, case

FEW = ("ur5_robot", "solo12", "talos_reduced")  # for what takes long to prepare
LOADED = cache(case)  # once to list the comparisons; each is measured on a robot of its own


def share_tracker(title: str) -> Callable:
    """Return a benchmark of asv, with a title, that tracks ours / peer."""

    def track_share(self, results, name):
        return 1.0 / results[name].ratio

    track_share.pretty_name = title
    track_share.unit = "of the peer's time"
    track_share.version = "2"  # raised when the values change their meaning; until then asv keeps the history
    return track_share


class _Target:
    """Base of all targets: measures the comparisons of studies and tracks their results.

    Attributes
    ----------
    studies : tuple of str
        Keys of the registry; the first one has the title.
    models : tuple of str
        Empty for all models of the studies.
    """

    studies: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    param_names = ("combination",)

    def __init_subclass__(cls):
        cls.params = ([name for name, _ in cls.declared(LOADED)],)
        cls.track_share = share_tracker(STUDIES[cls.studies[0]].title)

    @classmethod
    def declared(cls, load: Callable[[str], Case] = case) -> Iterator[tuple[str, Comparison]]:
        """Yield all comparisons with their names, which are the values of asv's parameter."""
        for study in map(STUDIES.get, cls.studies):
            for model in [one for one in study.models if one in cls.models] or study.models:
                for one in study.comparisons(model, load):
                    yield f"{one.model}: {one.what}, {one.peer}", one

    def measured(self) -> dict[str, Result]:
        return {name: one.measure() for name, one in self.declared()}


# asv identifies the cache of a target by the line of its `setup_cache`, so that none can be inherited


class S1S2SingleMatrix(_Target):
    studies = ("one matrix",)

    def setup_cache(self):
        return self.measured()


class S3PackedRows(_Target):
    studies = ("packed rows",)

    def setup_cache(self):
        return self.measured()


class S4DenseBatch(_Target):
    studies = ("dense batches",)

    def setup_cache(self):
        return self.measured()


class S5CachedBatch(_Target):
    studies = ("cached batches",)

    def setup_cache(self):
        return self.measured()


class S6Dynamics(_Target):
    studies = ("dynamics",)

    def setup_cache(self):
        return self.measured()


class S7CompiledPrograms(_Target):
    studies = ("compiled programs", "arms")
    models = FEW

    def setup_cache(self):
        return self.measured()


class S8Threads(_Target):
    studies = ("threads",)

    def setup_cache(self):
        return self.measured()


class Rollouts(_Target):
    studies = ("rollouts",)
    models = FEW

    def setup_cache(self):
        return self.measured()


class Derivatives(_Target):
    studies = ("derivatives",)
    models = FEW

    def setup_cache(self):
        return self.measured()


class Frameworks(_Target):
    studies = ("frameworks",)
    models = FEW

    def setup_cache(self):
        return self.measured()


class Chain(_Target):
    studies = ("chain",)

    def setup_cache(self):
        return self.measured()


class A2A8Contacts(_Target):
    studies = ("contacts",)

    def setup_cache(self):
        return self.measured()


class ContactsOfShapes(_Target):
    studies = ("steps",)

    def setup_cache(self):
        return self.measured()


class ClosedLoops(_Target):
    studies = ("loops",)

    def setup_cache(self):
        return self.measured()


class Control(_Target):
    studies = ("control",)

    def setup_cache(self):
        return self.measured()


class S10SparseSolvers(_Target):
    studies = ("sparse solvers",)

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
