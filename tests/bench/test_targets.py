"""Test that the benchmarks of the targets and the dashboard's pages run, never how fast."""

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.few_turns import small_sizes
from helpers.sweeps import sweep

from treefactor import Factor, Tree, bench, families
from treefactor.bench.comparisons import arms, dynamics, mlcp, trees
from treefactor.bench.registry import ROBOTS, STUDIES, Study

ROOT = Path(__file__).parents[2]

pytest.importorskip("pinocchio", reason="the peer")


@pytest.fixture(autouse=True)
def impatient(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    small_sizes(monkeypatch.setattr)
    monkeypatch.syspath_prepend(ROOT / "asv_bench")
    yield
    for name in [
        name for name in sys.modules if name.split(".")[0] in ("benchmarks", "dashboard", "quick", "vendor")
    ]:
        del sys.modules[name]


def all_positive(results):
    return all(value > 0 for one in results for value in (one.ours, one.theirs, one.low, one.ratio, one.high))


def test_mujoco_has_the_same_tree_and_finds_the_same_factor():
    mujoco = pytest.importorskip("mujoco", reason="the peer")
    tree = families.lattice(4)
    model = mujoco.MjModel.from_xml_string(trees.mjcf(tree))
    theirs = Tree(model.dof_parentid)
    assert theirs == Tree.renumber(tree.parent)[0]
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    factor = Factor(theirs, layout="packed").refactor(data.M.copy())
    L, D = theirs.unpack(data.qLD), data.qLD[theirs.row_start[1:] - 1]
    below = np.tril(theirs.mask(), -1)
    np.testing.assert_allclose(factor.L()[below], L[below], rtol=1e-9)
    np.testing.assert_allclose(factor.D(), D, rtol=1e-9)


def test_mujoco_factorizes_at_every_call():
    mujoco = pytest.importorskip("mujoco", reason="the peer")
    model = mujoco.MjModel.from_xml_string(trees.mjcf(families.chain(3)))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    expected = data.qLD.copy()
    data.qLD[:] = 0.0
    mujoco.mj_factorM(model, data)
    np.testing.assert_array_equal(data.qLD, expected)


@pytest.mark.parametrize(("study", "engine"), [("packed rows", "mujoco"), ("sparse solvers", "qdldl")])
def test_comparisons_on_trees(study, engine):
    pytest.importorskip(engine, reason="the peer")
    results = [one.measure() for one in STUDIES[study].comparisons("binary tree 63")]
    assert len(results) == 2
    assert all_positive(results)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_comparisons_of_arms():
    results = [one.measure() for one in arms.compiled("GENERAL_6R")]
    assert [one.goal for one in results] == [3.0] * 3
    assert all_positive(results)


def test_sparse_peers_have_no_more_entries_than_we():
    qdldl = pytest.importorskip("qdldl", reason="the peer")
    tree = families.binary_tree(6)
    packed = np.ones(tree.nnz) + 99 * (tree.rows == tree.columns)
    H, upper = trees.sparse_matrix(tree, packed)
    np.testing.assert_array_equal(H.toarray()[::-1, ::-1], tree.unpack(packed))
    assert qdldl.Solver(upper, upper=True).factors()[0].nnz == tree.D1


TARGETS = (
    "S1S2SingleMatrix",
    "S3PackedRows",
    "S4DenseBatch",
    "S5CachedBatch",
    "S6Dynamics",
    "S7CompiledPrograms",
    "S8Threads",
    "Rollouts",
    "Derivatives",
    "Frameworks",
    "Chain",
    "A2A8Contacts",
    "ContactsOfShapes",
    "ClosedLoops",
    "Control",
    "S10SparseSolvers",
)
FAST = ("S1S2SingleMatrix", "S4DenseBatch", "S6Dynamics", "Rollouts", "A2A8Contacts")


def of_one_model(targets, name):
    """Return a target with only one, small, model."""
    target = getattr(targets, name)
    model = "robot 60" if name == "A2A8Contacts" else STUDIES[target.studies[0]].models[0]
    return type(name, (target,), {"studies": target.studies[:1], "models": (model,)})()


@pytest.mark.parametrize("name", sweep(TARGETS, FAST.__contains__))
def test_every_parameter_is_measured_and_nothing_else(name):
    from benchmarks import targets

    pytest.importorskip("mujoco" if name in ("S3PackedRows", "Rollouts") else "qdldl", reason="the peer")
    if name == "Frameworks" and not any(find_spec(framework) for framework in ("jax", "torch")):
        pytest.skip("neither JAX nor PyTorch is installed")
    one = of_one_model(targets, name)
    results = one.setup_cache()
    (parameters,) = one.params
    assert set(results) == set(parameters)
    assert len(parameters) == len(set(parameters))
    assert parameters or not shutil.which("cc")
    assert all_positive(results.values())
    for key in results:
        assert one.track_share(results, key) > 0


def tracking(targets):
    """Return the targets that track results, with the names of their parameters."""
    for name in TARGETS:
        target = getattr(targets, name)
        yield target(), [entry for entry in dir(target) if entry.startswith("track_")]


def test_a_slower_build_has_larger_values():
    from benchmarks import targets

    now = [0.0]

    def takes(seconds):
        def run():
            now[0] += seconds

        return bench.Call(run)

    def result(ours):
        return bench.Comparison("S", "m", "w", "p", takes(ours), takes(1.0), clock=lambda: now[0]).measure()

    for target, tracked in tracking(targets):
        assert tracked == ["track_share"]
        for name in tracked:
            values = [getattr(target, name)({"m": result(ours)}, "m") for ours in (0.25, 0.5, 2.0)]
            assert values == sorted(set(values))
        assert target.track_share({"m": result(0.25)}, "m") == pytest.approx(0.25)


def test_growth_that_is_less_steady_has_larger_values(monkeypatch):
    from benchmarks import targets

    steadiness = {"steady": SimpleNamespace(ratio=0.9), "not": SimpleNamespace(ratio=0.5)}
    monkeypatch.setattr(targets.growth, "steadiness", lambda grown: steadiness[grown])
    target = targets.S9Growth()
    values = [target.track_slowest_size({"chain": grown}, "chain") for grown in steadiness]
    assert values == sorted(set(values))


def test_only_combinations_that_exist_are_parameters():
    from benchmarks import targets

    with_all_peers = [list(mlcp.contacts(name, lambda peer: True)) for name in mlcp.problems()]
    assert sum(map(len, with_all_peers)) == 66  # of 12 problems x 3 whats x 11 peers
    robots = len(ROBOTS)
    expected = {"S1S2SingleMatrix": 3 * robots, "S4DenseBatch": 4 * robots, "S5CachedBatch": 5 * robots}
    for name, count in expected.items():
        assert len(getattr(targets, name).params[0]) == count


def test_every_benchmark_of_asv_has_parameters_of_its_own():
    from benchmarks import targets

    for target, _ in tracking(targets):
        assert "setup_cache" in vars(type(target))  # asv caches by the line of the function
        assert target.param_names == ("combination",)
        assert len(target.params) == 1


def test_every_benchmark_of_asv_has_a_title_of_its_own():
    from benchmarks import counts, robots, targets

    titles = [
        getattr(kind, name).pretty_name
        for module in (counts, robots, targets)
        for kind in vars(module).values()
        if isinstance(kind, type) and kind.__module__ == module.__name__ and not kind.__name__.startswith("_")
        for name in dir(kind)
        if name.startswith("track_")
    ]
    assert len(titles) == len(TARGETS) + 8
    assert len(set(titles)) == len(titles)
    assert all(len(title) > 5 for title in titles)


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_every_parameter_of_all_models_is_measured(name, monkeypatch):
    pytest.importorskip("mujoco", reason="a peer")
    pytest.importorskip("qdldl", reason="a peer")
    from benchmarks import targets

    def untimed(self):
        return bench.Result(self.target, self.model, self.what, self.peer, *(1.0,) * 5)

    monkeypatch.setattr(bench.Comparison, "measure", untimed)
    one = getattr(targets, name)()
    assert set(one.setup_cache()) == set(one.params[0])


def test_counts_of_contact_problems():
    from benchmarks.counts import ContactCounts

    counts = ContactCounts()
    for family in counts.params[0]:
        assert counts.track_factorizations(family, 12) > 0 <= counts.track_pivots(family, 12)


def test_operations_are_counted():
    from benchmarks.counts import LoopCounts, ProgramCounts

    for model in ("double_pendulum", "ur5_robot"):
        for function in LoopCounts.params[1]:
            counts = [kind().track_operations(model, function) for kind in (ProgramCounts, LoopCounts)]
            assert 0 < counts[0] < counts[1]


def test_joints_that_follow_others_have_no_program_of_aba():
    follower = SimpleNamespace(name="follower", ours=SimpleNamespace(coupling=np.eye(1)), bound=all, peer=all)
    listed = [one.what for one in dynamics.single(follower, "S6", dynamics.SINGLE, "interpreter", 1.0)]
    assert listed == ["rnea, interpreter", "forward dynamics, interpreter"]


def test_nothing_is_prepared_before_it_is_measured():
    def prepare():
        raise AssertionError

    study = Study(
        "title", lambda: ["model"], lambda model: [bench.Comparison("S1", model, "w", "p", *[prepare] * 2)]
    )
    (comparison,) = study.comparisons(study.models[0])
    with pytest.raises(AssertionError):
        comparison.measure()


def test_summary_of_several_models():
    from quick import summary

    group = [
        bench.Result("S1", "m", "w", "p", 1.0, r, r, r, r, goal)
        for r, goal in ((3.0, 2.0), (1.0, 1.5), (4.0, None))
    ]
    count, middle, quartiles, least, most, goals, reached = summary(group)
    assert (count, middle, quartiles, least, most) == ("3", "3.0", "+0% +0%", "1.0", "4.0")
    assert (goals, str(reached)) == ("1.5 or 2.0", "1/2")


def test_goals_are_printed_only_if_requested():
    from quick import table

    results = [
        bench.Result(target, "m", "w", "p", 1.0, 3.0, 3.0, 3.0, 3.0, 2.0) for target in ("S2", "Own", "S1")
    ]
    titles = {goals: [column.header for column in table(results, goals).columns] for goals in (False, True)}
    assert set(titles[True]) - set(titles[False]) == {"goal", "reached"}
    subjects = [str(cell) for cell in table(results, False).columns[0].cells]
    assert subjects[::2] == ["factor, one matrix", "solve, one matrix", "Own"]
