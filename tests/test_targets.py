"""What the benchmarks measure for the targets, and the dashboard's pages: that they run, never how fast."""

import json
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from treefactor import Factor, Tree, bench, duels_dynamics, duels_factor, duels_mlcp, families

ROOT = Path(__file__).parents[1]

pytest.importorskip("pinocchio", reason="the peer")


@pytest.fixture(autouse=True)
def impatient(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for module, values in {
        bench: {"RUN": 1e-5, "TURNS": 3, "FEWEST": 2},
        duels_factor: {"LARGE": 40, "SMALL": 20},
        duels_dynamics: {"COUNT": 16},
    }.items():
        for name, value in values.items():
            monkeypatch.setattr(module, name, value)
    monkeypatch.syspath_prepend(ROOT / "asv_bench")
    yield
    for name in [name for name in sys.modules if name.split(".")[0] in ("benchmarks", "dashboard", "quick")]:
        del sys.modules[name]


def all_positive(results):
    return all(value > 0 for one in results for value in (one.ours, one.theirs, one.low, one.ratio, one.high))


def test_mujoco_has_the_same_tree_and_finds_the_same_factor():
    mujoco = pytest.importorskip("mujoco", reason="the peer")
    from benchmarks.duels import mjcf

    tree = families.lattice(4)
    model = mujoco.MjModel.from_xml_string(mjcf(tree))
    found = Tree(model.dof_parentid)
    assert found == Tree.renumber(tree.parent)[0]
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    factor = Factor(found, layout="packed").refactor(data.M.copy())
    L, D = found.unpack(data.qLD), data.qLD[found.row_start[1:] - 1]
    below = np.tril(found.mask(), -1)
    np.testing.assert_allclose(factor.L()[below], L[below], rtol=1e-9)
    np.testing.assert_allclose(factor.D(), D, rtol=1e-9)


def test_mujoco_factorizes_at_every_call():
    mujoco = pytest.importorskip("mujoco", reason="the peer")
    from benchmarks.duels import mjcf

    model = mujoco.MjModel.from_xml_string(mjcf(families.chain(3)))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    expected = data.qLD.copy()
    data.qLD[:] = 0.0
    mujoco.mj_factorM(model, data)
    np.testing.assert_array_equal(data.qLD, expected)


@pytest.mark.parametrize(("peer", "engine"), [("mujoco", "mujoco"), ("sparse", "qdldl")])
def test_duels_on_trees(peer, engine):
    pytest.importorskip(engine, reason="the peer")
    from benchmarks import duels

    found = [duel.fight() for duel in getattr(duels, peer)("binary tree 63")]
    assert len(found) == 2
    assert all_positive(found)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_duels_of_arms(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    from benchmarks import duels

    found = [duel.fight() for duel in duels.arm_of(duels.ARMS[0])]
    assert [one.goal for one in found] == [3.0] * 3
    assert all_positive(found)


def test_sparse_peers_have_no_more_entries_than_we():
    qdldl = pytest.importorskip("qdldl", reason="the peer")
    from benchmarks.duels import sparse_matrix

    tree = families.binary_tree(6)
    packed = np.ones(tree.nnz) + 99 * (tree.rows == tree.columns)
    H, upper = sparse_matrix(tree, packed)
    np.testing.assert_array_equal(H.toarray()[::-1, ::-1], tree.unpack(packed))
    assert qdldl.Solver(upper, upper=True).factors()[0].nnz == tree.D1


def test_contacts_track_what_they_have_parameters_for(monkeypatch):
    from benchmarks import targets

    given = {("robot", 12): duels_mlcp.COLD["robot", duels_mlcp.LARGE]}
    for name, value in {"COLD": given, "WARM": list(given), "WITH_A": dict.fromkeys(given, 1.0)}.items():
        monkeypatch.setattr(duels_mlcp, name, value)
    monkeypatch.setitem(targets.CONTACTS, "robot 12", ("robot", 12))
    one = targets.A2A8Contacts()
    monkeypatch.setattr(one, "params", (("robot 12",), *one.params[1:]))
    assert all_positive(one.setup_cache().values())
    counts = targets.ContactCounts()
    for family in counts.params[0]:
        assert counts.track_factorizations(family, 12) > 0 <= counts.track_pivots(family, 12)


@pytest.mark.parametrize(
    "target",
    [
        "S1S2SingleMatrix",
        "S4DenseBatch",
        "S5CachedBatch",
        "S6Dynamics",
        "S7CompiledPrograms",
        "S8Threads",
        "Chain",
        "ClosedLoops",
    ],
)
def test_targets_track_what_they_have_parameters_for(target, monkeypatch):
    from benchmarks import targets

    one = getattr(targets, target)()
    model = {"Chain": "SSRMS", "ClosedLoops": "four-bar"}.get(target, "double_pendulum")
    monkeypatch.setattr(one, "params", ((model,), *one.params[1:]))
    results = one.setup_cache()
    assert all_positive(results.values())
    assert results or (target == "S7CompiledPrograms" and not shutil.which("cc"))
    for key in results:
        one.setup(results, *key)
        assert one.track_ratio(results, *key) > 0
        assert one.track_time(results, *key) * one.track_peer_time(results, *key) > 0
    with pytest.raises(NotImplementedError):
        one.setup(results, model, "nothing", "nobody")


def test_operations_are_counted():
    from benchmarks.targets import LoopCounts, ProgramCounts

    for model in ("double_pendulum", "ur5_robot"):
        for function in LoopCounts.params[1]:
            counts = [kind().track_operations(model, function) for kind in (ProgramCounts, LoopCounts)]
            assert 0 < counts[0] < counts[1]


def test_joints_that_follow_others_have_no_aba():
    from treefactor import duels_programs

    followers = SimpleNamespace(ours=SimpleNamespace(coupling=np.eye(1)))
    assert duels_programs.singles(followers) == ["rnea", "forward_dynamics"]


def test_parameters_may_not_be_forgotten():
    from benchmarks import targets

    call = bench.Call(lambda: None)
    with pytest.raises(ValueError, match="no parameters"):
        targets.fought(
            (("model",), ("factor",), ("peer",)),
            lambda _: [bench.Duel("S1", "model", "x", "peer", call, call)],
        )


def test_summary_of_several_models():
    from quick import summary

    group = [
        bench.Result("S1", "m", "w", "p", 1.0, r, r, r, r, goal)
        for r, goal in ((3.0, 2.0), (1.0, 1.5), (4.0, None))
    ]
    count, middle, quartiles, least, most, goals, reached = summary(group)
    assert (count, middle, quartiles, least, most) == ("3", "3.0", "+0% +0%", "1.0", "4.0")
    assert (goals, str(reached)) == ("1.5 or 2.0", "1/2")


def test_results_are_published_without_paths(tmp_path):
    import dashboard

    environment = f"existing-py{sys.executable.replace('/', '_')}"
    content = {
        "commit_hash": "0123456789",
        "env_name": environment,
        "python": "x",
        "params": {"python": sys.executable},
    }
    file = tmp_path / f"01234567-{environment}.json"
    file.write_text(json.dumps(content))
    assert dashboard.telling(tmp_path)
    dashboard.make_anonymous(file)
    assert not dashboard.telling(tmp_path)
    (written,) = tmp_path.iterdir()
    assert json.loads(written.read_text())["commit_hash"] == "0123456789"
