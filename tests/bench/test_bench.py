"""Test that times in turns, `treefactor bench` and `treefactor families` measure, never how fast."""

import json
import math
import re
import shutil
import subprocess
import sys
from functools import partial
from importlib.util import find_spec

import numpy as np
import pytest
from helpers.few_turns import small_sizes

import treefactor as tf
from treefactor import bench, cli, report, robots
from treefactor.bench import Call, Comparison, Result, _peak
from treefactor.bench import scaling as growth
from treefactor.bench.case import Case
from treefactor.bench.comparisons import control as control_times
from treefactor.bench.comparisons import frameworks as frameworks_times
from treefactor.bench.comparisons import loops as loops_times
from treefactor.bench.comparisons import mlcp as mlcp_times
from treefactor.bench.comparisons import mlcp_peers
from treefactor.bench.comparisons import rollouts as rollouts_times
from treefactor.bench.comparisons import stepping as stepping_times
from treefactor.bench.comparisons.mlcp_peers import DAQP, MOBY, PEERS, PeerInput, reported_status
from treefactor.mlcp import families as mlcp_families

pytestmark = pytest.mark.unsanitized

CC = shutil.which("cc")


@pytest.fixture(autouse=True)
def impatient(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", "absent")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    small_sizes(monkeypatch.setattr)
    monkeypatch.setattr(bench.timing, "TURNS", 3)


def result(ratio, goal):
    return Result("S1", "robot", "factor", "peer", 1e-6, 2e-6, ratio, ratio, ratio, goal)


def test_calls_are_made_in_turns():
    made = []
    times = bench.times_in_turns([Call(lambda: made.append("a")), Call(lambda: made.append("b"), 10.0)])
    assert times.shape == (3, 2)
    assert (times > 0).all()
    turns = "".join(made)[2 * bench.timing.PASSES :].replace("aa", "a").replace("bb", "b")
    while "aa" in turns or "bb" in turns:
        turns = turns.replace("aa", "a").replace("bb", "b")
    assert turns == "ababab"


def test_what_takes_long_gets_fewer_turns():
    assert len(bench.times_in_turns([Call(lambda: None)], patience=0.0)) == 2


def test_a_clock_that_stands_still_gives_no_time_of_zero():
    times = bench.times_in_turns([Call(lambda: None), Call(lambda: None)], clock=lambda: 0.0)
    assert (times > 0).all()
    assert bench.outcome("S1", "robot", "factor", "peer", *times.T, None).ratio == 1.0


def test_ratio_is_the_median_of_the_turns():
    ours, theirs = np.array([1.0, 2.0, 4.0]), np.array([2.0, 8.0, 12.0])
    result = bench.outcome("S1", "robot", "factor", "peer", ours, theirs, 2.5)
    assert (result.ours, result.theirs) == (2.0, 8.0)
    assert (result.low, result.ratio, result.high) == (2.5, 3.0, 3.5)
    assert result.reached


def test_items_divide_the_time():
    comparison = Comparison(
        "S5", "robot", "what", "peer", Call(lambda: sum(range(2000)), 1e6), Call(lambda: sum(range(2000)))
    )
    measured = comparison.measure()
    assert measured.ours < measured.theirs
    assert measured.reached is None


@pytest.mark.parametrize(
    ("ratio", "goal", "reached"), [(2.0, 2.0, True), (1.9, 2.0, False), (9.0, None, None)]
)
def test_goals(ratio, goal, reached):
    assert result(ratio, goal).reached is reached
    assert result(ratio, goal).as_dict()["reached"] is reached


def test_the_peak_counts_its_operations():
    one = _peak.multiply_adds(1)
    assert one > 0
    assert _peak.multiply_adds(1000) == 1000 * one


@pytest.mark.parametrize(
    ("robot", "compiler"), [("double_pendulum", CC), pytest.param("solo12", None, marks=pytest.mark.slow)]
)
def test_bench_prints_a_table_and_writes_json(robot, compiler, tmp_path, capsys, monkeypatch):
    pytest.importorskip("pinocchio", reason="the peer")
    if compiler:
        monkeypatch.setenv("CC", compiler)
    file = tmp_path / "bench.json"
    assert cli.main(["bench", robot, "--goals", "--json", str(file)]) == 0
    shown = capsys.readouterr()
    content = json.loads(file.read_text())
    assert content["robot"] == robot
    rows = content["results"]
    targets = {"S1", "S2", "S4", "S5", "S6", "S8", "Derivatives"} | ({"S7"} if compiler else set())
    targets |= {"Rollouts"} if find_spec("mujoco") else set()
    assert {row["target"] for row in rows} == targets
    assert all(row[key] > 0 for row in rows for key in ("ours", "theirs", "ratio", "low", "high"))
    assert all((row["goal"] is None) == (row["reached"] is None) for row in rows)
    assert (robot == "solo12") == all(row["goal"] is not None for row in rows if row["target"] < "S8")
    for row in rows:
        assert row["what"].split()[0] in shown.out  # a line has what fits beside the figures
    assert max(map(len, shown.out.splitlines())) <= 100
    assert not re.search(r"\b[SA]\d", shown.out + shown.err)  # words stand for the names of targets
    assert shown.err.splitlines()[-1] == f"timing: {len(rows)} of {len(rows)}"


def test_bench_of_contact_problems(tmp_path, capsys, monkeypatch):
    small = {
        ("robot", 20): ("A2", dict.fromkeys(PEERS, 2.0)),
        ("infeas", 10): ("A8", {DAQP: None, MOBY: None}),
    }
    monkeypatch.setattr(mlcp_times, "COLD", small)
    monkeypatch.setattr(mlcp_times, "WARM", [("robot", 20)])
    monkeypatch.setattr(mlcp_times, "WITH_A", {("robot", 20): 1.0})
    file = tmp_path / "bench.json"
    assert cli.main(["bench", "mlcp", "--goals", "--json", str(file)]) == 0
    shown = capsys.readouterr()
    rows = json.loads(file.read_text())["results"]
    assert all(row[key] > 0 for row in rows for key in ("ours", "theirs", "ratio"))
    solved = {row["peer"] for row in rows if row["note"].startswith("solved, residual")}
    for peer in PEERS:
        assert (peer.name in solved) == peer.available() == (f"{peer.name} is left out" not in shown.err)
    assert {row["peer"] for row in rows if row["what"] == "warm"} - {DAQP.name} == {"cold"}
    assert "the peer's" in shown.out


def test_bench_of_closed_loops(tmp_path, capsys, monkeypatch):
    pytest.importorskip("pinocchio", reason="the peer")
    monkeypatch.setattr(loops_times, "NAMES", ("four-bar",))
    file = tmp_path / "bench.json"
    assert cli.main(["bench", "loops", "--json", str(file)]) == 0
    rows = json.loads(file.read_text())["results"]
    with_compiler = [f"{size}{way}" for way in loops_times.WAYS for size in loops_times.SIZES]
    dynamics = [row["what"] for row in rows if row["what"] not in loops_times.DERIVATIVES]
    assert dynamics == with_compiler[: len(dynamics)]
    assert len(dynamics) in (4, 6)
    assert [row["what"] for row in rows][len(dynamics) :] == list(loops_times.DERIVATIVES)
    assert all(row[key] > 0 for row in rows for key in ("ours", "theirs", "ratio"))
    assert all(float(row["note"].split()[-1]) < 1e-9 for row in rows)
    assert "constraintDynamics" in capsys.readouterr().out


def test_bench_of_contacts(tmp_path, capsys, monkeypatch):
    pytest.importorskip("mujoco", reason="a peer")
    file = tmp_path / "bench.json"
    absent = lambda name: None if name == "pybullet" else find_spec(name)  # noqa: E731
    monkeypatch.setattr(stepping_times, "find_spec", absent)
    assert cli.main(["bench", "contacts", "--json", str(file)]) == 0
    rows = json.loads(file.read_text())["results"]
    assert [(row["model"], row["peer"]) for row in rows] == [
        (name, "MuJoCo") for name in stepping_times.scenes()
    ]
    shown = capsys.readouterr()
    assert "the worlds by its rollout" in " ".join(shown.out.split())
    assert "pybullet is left out" in shown.err


def test_scenes_of_the_bench_stand_and_fall_alike():
    mujoco = pytest.importorskip("mujoco", reason="a peer")
    boxes = {
        name: scene
        for name, scene in stepping_times.SCENES.items()
        if isinstance(scene, stepping_times.Scene)
    }
    for name, scene in boxes.items():
        stepper, q, v = scene.stepper()
        model = mujoco.MjModel.from_xml_string(scene.xml)
        data = mujoco.MjData(model)
        scene.place_mujoco(data)
        height = data.qpos.reshape(-1, 7)[:, 2].copy()
        np.testing.assert_allclose(height, q.reshape(-1, 7)[:, 2])
        for _ in range(200):
            mujoco.mj_step(model, data)
        run = stepper.run(q, v, 200)
        ours = run.q[-1].reshape(-1, 7)[:, 2]
        np.testing.assert_allclose(ours, data.qpos.reshape(-1, 7)[:, 2], atol=5e-4)
        assert (np.abs(ours - height).max() > 5e-3) == (name == "ten dominoes")
        assert all(step.solution.residual() <= 1e-9 for step in run.steps[::20])


def test_bench_of_control(tmp_path, capsys, monkeypatch):
    pytest.importorskip("pinocchio", reason="the peer")
    monkeypatch.delenv(control_times.VARIABLE, raising=False)
    file = tmp_path / "bench.json"
    assert cli.main(["bench", "control", "--json", str(file)]) == 0
    rows = json.loads(file.read_text())["results"]
    both = [control_times.MANY, control_times.ONE]
    assert [(row["model"], row["what"]) for row in rows] == [
        (name, what) for name in control_times.TIPS for what in both
    ]
    assert all(row["note"].startswith("100.0% solved") for row in rows)
    assert all(row["ratio"] > 1.0 for row in rows)
    shown = capsys.readouterr()
    assert "clips steps at the limits" in " ".join(shown.out.split())
    assert "Crocoddyl is left out" in shown.err


@pytest.mark.skipif(
    not control_times.crocoddyl_python(),
    reason=f"{control_times.VARIABLE} names no Python that has Crocoddyl",
)
def test_bench_of_crocoddyl():
    motions = control_times.Motions("ur5_robot")
    assert motions.iterations == motions.their_iterations
    assert float(motions.note().split()[3].rstrip(",")) < 1e-9


@pytest.mark.parametrize("absent", [(), ("torch",), ("jax", "torch")])
def test_bench_of_frameworks(absent, tmp_path, capsys, monkeypatch):
    present = [name for name in frameworks_times.FRAMEWORKS if name not in absent and find_spec(name)]
    monkeypatch.setattr(frameworks_times, "available", lambda: present)
    file = tmp_path / "bench.json"
    assert cli.main(["bench", "double_pendulum", "--frameworks", "--goals", "--json", str(file)]) == 0
    rows, shown = json.loads(file.read_text())["results"], capsys.readouterr()
    declared = frameworks_times.frameworks(Case(robots.find("double_pendulum")))
    assert [(row["what"], row["peer"]) for row in rows] == [(one.what, one.peer) for one in declared]
    assert all(row[key] > 0 for row in rows for key in ("ours", "theirs", "ratio"))
    for module, name in frameworks_times.FRAMEWORKS.items():
        assert (module in present) == any(row["what"].startswith(name) for row in rows)
        assert (module in present) != (f"{name} is left out" in shown.err)
    bounded = [row for row in rows if row["most"] is not None]
    assert len(bounded) == 2 * ("jax" in present)
    assert all(row["reached"] == (row["ours"] <= row["most"]) for row in bounded)


def test_frameworks_are_imported_only_to_be_timed():
    code = (
        "import sys\n"
        "from treefactor.bench.comparisons import frameworks\n"
        "from treefactor.bench.registry import STUDIES\n"
        "frameworks.missing(), list(STUDIES['frameworks'].comparisons('double_pendulum'))\n"
        "print(*sorted({'jax', 'torch', 'treefactor.xla'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.split() == []


def test_success_without_a_solution_is_named():
    pytest.importorskip("pydrake", reason="the peer")
    given = PeerInput(mlcp_families.contradicted(mlcp_families.fathi(2), np.random.default_rng(0)))
    assert reported_status(given, MOBY.prepare(given)()).startswith("FALSE SUCCESS")


def test_bullet_is_left_out_where_nothing_compiles(monkeypatch):
    mlcp_peers.bullet.cache_clear()
    monkeypatch.setenv("CXX", "absent")
    assert mlcp_peers.bullet() is None
    mlcp_peers.bullet.cache_clear()


def model_and_body(name):
    case = Case(robots.find(name))
    return case.ours, case.body


def test_rollouts_move_as_mujocos():
    pytest.importorskip("mujoco", reason="the peer")
    motions = rollouts_times.Motions(*model_and_body("panda"))
    (theirs, _), (q, v) = motions.theirs().run(), motions.ours(partial(tf.rollout, motions.model)).run()
    nq = motions.model.nq
    np.testing.assert_allclose(q[:, 1:], theirs[..., 1 : nq + 1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(v[:, 1:], theirs[..., nq + 1 :], rtol=0, atol=1e-12 * np.abs(v).max())


def test_joints_of_a_free_base_move_as_mujocos():
    pytest.importorskip("mujoco", reason="the peer")
    motions = rollouts_times.Motions(*model_and_body("solo12"))
    (theirs, _), (q, v) = motions.theirs().run(), motions.ours(partial(tf.rollout, motions.model)).run()
    nq = motions.model.nq  # MuJoCo integrates the base in other coordinates: the joints agree for one step
    np.testing.assert_allclose(v[:, 1, 6:], theirs[:, 0, nq + 7 :], rtol=0, atol=1e-12)
    np.testing.assert_allclose(q[:, 1, 7:], theirs[:, 0, 8 : nq + 1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(q[:, -1, 7:], theirs[:, -1, 8 : nq + 1], rtol=0, atol=0.01)


def test_bench_compares_the_given_number_of_threads(capsys):
    pytest.importorskip("pinocchio", reason="the peer")
    assert cli.main(["bench", "double_pendulum", "--threads", "3", "--base", "floating"]) == 0
    shown = capsys.readouterr().out
    assert "3 threads" in shown
    assert "double_pendulum, floating base" in shown


def test_bench_of_an_unknown_robot(capsys):
    assert cli.main(["bench", "padna"]) == cli.FAILED
    assert "panda" in capsys.readouterr().err


def test_bench_of_a_robot_without_joints(write, capsys):
    pytest.importorskip("pinocchio", reason="the peer")
    robot = write("<link name='only'/>")
    assert cli.main(["bench", str(robot)]) == cli.FAILED
    assert "no joint moves" in capsys.readouterr().err


def test_families_prints_shimanovskys_counts_and_draws_them(tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="plots need Matplotlib")
    plot, file = tmp_path / "growth.svg", tmp_path / "growth.json"
    assert cli.main(["families", "--nodes", "300", "--plot", str(plot), "--json", str(file)]) == 0
    shown = capsys.readouterr().out
    trees = {(row["family"], row["n"]): row for row in json.loads(file.read_text())["trees"]}
    for family, n, saving in (("binary tree", 15, 7.75), ("binary tree", 255, 434), ("lattice", 256, 73.9)):
        row = trees[family, n]
        assert row["operations"] == row["N1"] + 2 * row["N2"]
        assert float(f"{row['dense'] / row['operations']:.3g}") == saving
        assert f" {saving:g}x" in shown
    assert max(n for _, n in trees) <= 300
    assert all(row["seconds"] > 0 < row["memory"] for row in trees.values())
    drawn = plot.read_text()
    assert "<svg" in drawn
    assert drawn.count("<path") > 10


@pytest.mark.parametrize("option", [["--nodes", "3"], ["--nodes", "0"], ["--frames"]])
def test_families_refuses_sizes_without_trees_and_unknown_options(option, capsys):
    with pytest.raises(SystemExit, match=str(cli.FAILED)):
        cli.main(["families", *option])
    assert option[-1] in capsys.readouterr().err or option[0] == "--nodes"


def test_the_smallest_trees_of_all_families_are_measured(tmp_path):
    file = tmp_path / "growth.json"
    assert cli.main(["families", "--nodes", str(growth.SMALLEST), "--json", str(file)]) == 0
    measured = {row["family"] for row in json.loads(file.read_text())["trees"]}
    assert measured == set(growth.FAMILIES)


def test_nothing_is_measured_for_an_unwritable_plot(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(growth, "growth", lambda *_: pytest.fail("measured"))
    assert cli.main(["families", "--plot", str(tmp_path / "absent" / "x.png")]) == cli.FAILED
    assert "cannot write" in capsys.readouterr().err


def test_a_chain_saves_nothing():
    grown = growth.growth("chain", 64)
    assert [one.tree.n for one in grown] == [2, 4, 8, 16, 32, 64]
    assert all(one.dense == one.operations for one in grown)


def test_operations_limit_the_trees():
    assert [one.tree.n for one in growth.growth("lattice", operations=300)] == [4, 16]


def test_steadiness_compares_large_trees_only():
    small, large, larger = map(tf.families.chain, (10, 1024, 2048))
    count = [tree.cost("LTDL").total for tree in (small, large, larger)]
    times = np.array([[9.0, 9.0], [2.0, 2.0], [3.0, 4.0]])
    grown = [
        growth.Growth("chain", t, x * c, 1)
        for t, x, c in zip((small, large, larger), times, count, strict=True)
    ]
    result = growth.steadiness(grown)
    assert math.isclose(result.ratio, np.median([2 / 3, 2 / 4]))
    assert result.reached


@pytest.mark.parametrize("tree", [tf.families.lattice(4), tf.families.chain(9), tf.families.binary_tree(4)])
def test_random_rows_are_positive_definite(tree):
    H = tree.unpack(growth.dominant(tree, np.random.default_rng(1)))
    assert (np.linalg.eigvalsh(H) > 0).all()


def test_footprint_grows_with_the_entries():
    small, large = (growth.footprint(lambda n=n: tf.families.chain(n)) for n in (200, 400))
    assert 3.0 < large / small < 4.5


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (1.234e-9, "1.23 ns"),
        (9.996e-7, "1 µs"),
        (5e-5, "50 µs"),
        (0.25, "250 ms"),
        (3.0, "3 s"),
        (0.99999, "1 s"),
    ],
)
def test_durations(seconds, shown):
    assert report.duration(seconds) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(0.4, "0.40"), (2.13, "2.1"), (9.96, "10.0"), (12.34, "12.3"), (434.2, "434")]
)
def test_ratios(value, shown):
    assert report.ratio(value) == shown


def test_a_robot_of_the_bench_falls_alike_in_all_engines():
    mujoco = pytest.importorskip("mujoco", reason="a peer")
    scene = stepping_times.Fall("solo12")
    stepper, q, v = scene.stepper()
    run = stepper.run(q, v, 120, scene.control, keep_steps=False)
    assert run.q[-1, 2] < q[2] - 0.2
    model = mujoco.MjModel.from_xml_string(scene.xml)
    data = mujoco.MjData(model)
    scene.place_mujoco(data)
    for _ in range(120):
        mujoco.mj_step(model, data)
    assert data.ncon == 0
    np.testing.assert_allclose(data.qpos[:3], run.q[-1, :3], atol=1e-4)
    np.testing.assert_allclose(data.qpos[7:], run.q[-1, 7:], atol=1e-3)
    pybullet = pytest.importorskip("pybullet", reason="a peer")
    client = pybullet.connect(pybullet.DIRECT)
    pybullet.setGravity(0.0, 0.0, -9.81, client)
    pybullet.setTimeStep(0.002, client)
    bodies, place = scene.load_bullet(client)
    for _ in range(2):
        place()
        for _ in range(120):
            pybullet.stepSimulation(client)
        at, _ = pybullet.getBasePositionAndOrientation(bodies[0], client)
        np.testing.assert_allclose(at, run.q[-1, :3], atol=5e-3)
    pybullet.disconnect(client)
