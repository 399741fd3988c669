"""Test short runs of the examples: their results, their scripts and their pictures."""

import os
import runpy
import sys
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from helpers.body_frames import placement
from helpers.sweeps import sweep

import treefactor as tf
from treefactor import robots

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(  # scenes of a Stepper
    path.stem
    for path in EXAMPLES.glob("*.py")
    if "from show import Camera" in path.read_text(encoding="utf-8")
)
ROBOTS = {"humanoid": "simple_humanoid", "trajectory_gradient": "talos_reduced"}
ROBOTS |= {"fall": "solo12", "fall_humanoid": "talos_reduced", "lift": "panda"}
ROBOTS |= dict.fromkeys(
    ["ddp_batch", "identify_by_gradient", "ik_batch", "mppi", "trajectory_in_jax"], "panda"
)
HELD = 1e-3  # m


@pytest.fixture
def example(monkeypatch):
    """Import an example by name, or skip where its robot is not installed."""
    monkeypatch.syspath_prepend(EXAMPLES)

    def load(name):
        robot = ROBOTS.get(name)
        if robot and robot not in robots.bundled():
            pytest.skip("example-robot-data is not installed")
        return import_module(name)

    return load


def test_spheres_pour_into_the_bin(example):
    cascade = example("cascade")
    stepper, q = cascade.scene(count=10)
    run = stepper.run(q, np.zeros(60), 300)
    assert min(step.gap.min() for step in run.steps) > -HELD
    assert run.q.reshape(-1, 10, 7)[-1, :, 2].max() < 1.0
    assert max(step.solution.residual() for step in run.steps) < 1e-5


def test_boxes_stand_and_lean(example):
    stack = example("stack")
    stepper, q = stack.scene()
    calm = stepper.run(q, np.zeros(stepper.model.nv), 40)
    assert np.abs(calm.q - q).max() < HELD
    moved = stepper.run(q, np.zeros(stepper.model.nv), 240, stack.pull)
    rotation, top = placement(stepper.model, moved.q[-1], stack.COUNT)
    assert rotation[2, 2] < 0.98
    assert top[2] > 0.5


def test_eight_fingers_hold_the_ball(example):
    gripper = example("gripper")
    stepper, q = gripper.scene()
    run = stepper.run(q, np.zeros(stepper.model.nv), 600, gripper.drive)
    assert run.q[-1, 1] < -0.04
    assert abs(run.q[-1, 4] - gripper.HEIGHT) < HELD
    tips = run.steps[-1].impulse[2::2]
    onto_ball = -tips.sum(axis=0) / stepper.h
    assert np.allclose(onto_ball, [0, 0, 0.2 * 9.81], atol=1e-3)
    assert (np.linalg.norm(tips, axis=1) > 0).all()


def test_the_pusher_feeds_cans_and_its_loops_stay_closed(example):
    machine = example("packaging_machine")
    stepper, q = machine.scene()
    run = stepper.run(q, np.zeros(stepper.model.nv), 700, machine.roll)
    prescribed = [machine.turn(q[0], t)[0] for t in stepper.h * np.arange(len(run.q))]
    np.testing.assert_allclose(run.q[:, 0], prescribed, rtol=0, atol=1e-9)
    cans = run.q[:, machine.FIRST :].reshape(len(run.q), machine.CANS, 4)
    row = machine.RIGHT + machine.RADIUS
    assert (cans[-1, :, 0] > row).tolist() == [
        True,
        True,
        False,
        False,
        False,
        False,
    ]  # two strokes, two cans
    assert np.abs(cans[-1, 2:, 0]).max() < machine.RIGHT
    assert min(step.gap.min() for step in run.steps) > -1e-4
    assert np.abs(tf.constraints.loop_rows(stepper.model, run.q).residual).max() < 1e-4
    for step in run.steps:
        assert step.solution.residual() < 1e-8
        assert abs(step.solution.complementarity()) < 1e-8
    touching = np.array([np.linalg.norm(step.impulse, axis=1) > 1e-9 for step in run.steps])
    gaps = np.array([step.gap for step in run.steps])
    pushed = np.array(
        [isinstance(c.against, tf.constraints.Sphere) and c.against.body == 4 for c in machine.contacts()]
    )
    assert touching[:, pushed].any()
    assert gaps[touching].max() < 0.01  # what is far apart pushes nothing


def test_the_closure_of_the_machine_follows_the_crank(example):
    machine = example("packaging_machine")
    stepper, q = machine.scene()
    run = stepper.run(q, np.zeros(stepper.model.nv), 150, machine.roll)
    program = tf.generate(
        stepper.model, "position_closure", variants="plain", independent=["crank"], branch=q
    )
    closed = tf.compile(program).position_closure(run.q)
    assert program.independent[:1] == ("crank",)
    assert np.abs(tf.constraints.loop_rows(stepper.model, closed).residual).max() < 1e-12
    bars = slice(1, machine.FIRST)
    assert np.abs(np.angle(np.exp(1j * (closed - run.q)[:, bars]))).max() < 1e-3


def test_the_humanoid_stands(example):
    humanoid = example("humanoid")
    stepper, q = humanoid.scene()
    run = stepper.run(q, np.zeros(stepper.model.nv), 400, humanoid.hold(q))
    weight = 9.81 * sum(joint.inertia.mass for joint in stepper.model.joints)
    carried = [step.impulse[:, 2].sum() / stepper.h for step in run.steps[-50:]]
    assert abs(np.mean(carried) - weight) < 0.05 * weight
    assert abs(run.q[-1, 2] - q[2]) < 0.01


@pytest.mark.parametrize("iterations", [1, 3])
def test_poles_swing_up_and_stand_after_a_push(example, iterations):
    carts = example("mpc_cart_pole")
    motions = carts.run(count=3, iterations=iterations)
    assert motions.u.shape == (200, 3)  # nu = 1 of nv = 2
    assert np.abs(motions.u).max() == 12.0  # the limit of the URDF
    assert np.abs(motions.q[..., 0]).max() < 2.0
    leaning = np.abs(motions.angle).max(axis=1)
    assert leaning[carts.PUSHED - 20 : carts.PUSHED].max() < 0.05
    assert leaning[carts.PUSHED : carts.PUSHED + 20].max() > 0.1
    assert leaning[-20:].max() < 0.05
    assert np.ptp(motions.u, axis=1).max() > 0.1  # the poles differ


def test_the_script_of_poles_prints_what_it_takes(example, monkeypatch, capsys, tmp_path):
    carts = example("mpc_cart_pole")
    arguments = ["--count", "1", "--iterations", "1", "--out", str(tmp_path / "poles.png")]
    monkeypatch.setattr(sys, "argv", ["mpc_cart_pole.py", *arguments])
    carts.main()
    assert "1 carts, 200 control steps of 30 ms, 60 steps ahead" in capsys.readouterr().out
    assert (tmp_path / "poles.png").read_bytes().startswith(b"\x89PNG")


def test_dominoes_fall_when_they_do_in_mujoco(example):
    dominoes = example("dominoes")
    stepper, _, q, v = dominoes.scene()
    run = stepper.run(q, v, 410, keep_steps=False)
    fallen = dominoes.times_of_fall(run.t, run.q)
    np.testing.assert_allclose(fallen[[0, 4, 9]], [0.336, 0.618, 0.804], rtol=0, atol=0.01)


def test_cubes_stand_where_they_fall_in_mujoco(example):
    pytest.importorskip("mujoco", reason="the example compares with it")
    overhang = example("overhang")
    stepper, _, q = overhang.scene()
    run = stepper.run(q, np.zeros(stepper.model.nv), 500, keep_steps=False)
    assert np.abs(run.q[-1] - q).max() < 1e-9
    theirs = overhang.in_mujoco(q, 1500)
    np.testing.assert_allclose(theirs[0], q, atol=1e-12)
    assert theirs[-1, 7 * (overhang.COUNT - 1) + 2] < 0.5


@pytest.mark.slow
def test_a_quadruped_falls_and_stands(example):
    fall = example("fall")
    stepper, shapes, q = fall.scene()
    run = stepper.run(q, np.zeros(stepper.model.nv), 2500, fall.hold)
    weight = 9.81 * sum(joint.inertia.mass for joint in stepper.model.joints)
    assert run.steps[-1].impulse[:, 2].sum() / stepper.h == pytest.approx(weight, rel=1e-3)
    assert abs(tf.constraints.bounding_boxes(stepper.model, shapes, run.q[-1])[:, 0, 2].min()) < 1e-4


@pytest.mark.slow
def test_an_arm_lifts_a_cube(example):
    lift = example("lift")
    stepper, _, q, torques = lift.scene()
    run = stepper.run(q, np.zeros(stepper.model.nv), 750, torques)
    assert run.q[-1, 11] == pytest.approx(lift.HIGH, abs=5e-3)
    assert lift.motion_in_hand(stepper.model, run) < HELD


@pytest.mark.slow
def test_a_humanoid_falls_to_the_ground(example):
    fall = example("fall_humanoid")
    stepper, _, q = fall.scene()
    run = stepper.run(q, np.zeros(stepper.model.nv), 500, fall.damping)
    assert run.q[-1, 2] < 0.5 * q[2]
    assert min(step.gap.min() for step in run.steps) > -0.01
    assert max(step.solution.residual() for step in run.steps) < 1e-6


def test_the_chain_falls(example):
    chain = example("chain")
    stepper, q = chain.scene()
    run = stepper.run(q, np.zeros(stepper.model.nv), 400, chain.damping)
    ends = np.array([placement(stepper.model, run.q[-1], i, p=[chain.LENGTH, 0, 0])[1] for i in range(24)])
    assert ends[:, 2].min() > chain.RADIUS - HELD
    assert ends[-1, 2] < 0.1
    assert ends[0, 2] > 1.0


def test_the_flexible_arm_follows_its_course(example):
    script = example("flexible_arm")
    chain = script.arm()
    times, q, v = script.swing(chain, 120)
    wanted = np.array([script.course(t)[0] for t in times])
    assert np.abs(q[:, : chain.n] - wanted).max() < 0.02
    assert 1e-3 < script.deflection(chain, q).max() < 0.3
    kinetic, elastic = chain.energy(q, v)
    assert kinetic.max() > elastic.max() > 0.0
    assert 0.1 < script.frequencies(chain, q[0])[0] < 0.3
    assert np.allclose(script.shape(chain, q[-1])[-1], chain.frames(q[-1])[1][-1])


def test_the_flexible_arm_prints_and_draws(example, monkeypatch, capsys, tmp_path):
    pytest.importorskip("matplotlib", reason="Matplotlib draws the pictures")
    example("flexible_arm")
    picture = tmp_path / "arm.png"
    monkeypatch.setattr(sys, "argv", ["flexible_arm", "--steps", "8", "--out", str(picture)])
    runpy.run_path(str(EXAMPLES / "flexible_arm.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert all(word in printed for word in ("modes", "frequencies", "deflection", "elastic", "ms per step"))
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_gradient_of_a_cost_of_trajectories_is_its_derivative(example):
    script = example("trajectory_gradient")
    _, model, (q0, v0, tau, goal) = script.problem(3, 6)
    _, gradient = script.gradient(model, q0, v0, tau, goal)
    direction = np.random.default_rng(1).normal(size=tau.shape)
    moved = [script.gradient(model, q0, v0, tau + step * direction, goal)[0] for step in (1e-4, -1e-4)]
    expected = (moved[0] - moved[1]) / 2e-4
    np.testing.assert_allclose((gradient * direction).sum(axis=(1, 2)), expected, rtol=1e-6)


def test_the_gradient_is_that_of_a_loop_over_pinocchio(example, monkeypatch, capsys):
    pytest.importorskip("pinocchio", reason="the example compares with it")
    example("trajectory_gradient")
    monkeypatch.setattr(sys, "argv", ["trajectory_gradient", "--trajectories", "3", "--steps", "4"])
    runpy.run_path(str(EXAMPLES / "trajectory_gradient.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert all(word in printed for word in ("3 trajectories of 4 states", "us per state", "ratio"))
    assert float(printed.split("deviation ")[1].split()[0]) < 1e-12


def test_differential_dynamic_programming_finds_minima(example):
    script = example("ddp_batch")
    given = script.problems(4, 20)
    result = given.solve()
    assert result.solved.all()
    assert (np.diff(result.costs, axis=0) <= 0.0).all()
    assert len(set(result.iterations)) > 1  # problems drop out
    tool = tf.frame_placement(given.model, result.q[:, -1], script.FRAME)
    assert np.linalg.norm(tool[..., 3] - given.goal[..., 3], axis=-1).max() < 0.05  # m


def test_differential_dynamic_programming_prints_and_draws(example, monkeypatch, capsys, tmp_path):
    pytest.importorskip("matplotlib", reason="Matplotlib draws the pictures")
    example("ddp_batch")
    picture = tmp_path / "ddp.png"
    sizes = ["--problems", "3", "--steps", "8", "--repeats", "1"]
    monkeypatch.setattr(sys, "argv", ["ddp_batch", *sizes, "--out", str(picture)])
    monkeypatch.delenv("TREEFACTOR_CROCODDYL_PYTHON", raising=False)
    runpy.run_path(str(EXAMPLES / "ddp_batch.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert all(word in printed for word in ("3 problems of 8 steps", "ILQRResult", "Crocoddyl is left out"))
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.skipif(os.name != "posix", reason="the peer is a script of the shell")
def test_the_batch_goes_on_without_a_peer_that_a_signal_ends(example, tmp_path, monkeypatch, capsys):
    peer = tmp_path / "python"
    peer.write_text('#!/bin/sh\n[ "$1" = -c ] && echo crocoddyl 3.2.1 and pin 4.1.0 || kill -SEGV $$\n')
    peer.chmod(0o755)
    monkeypatch.setenv("TREEFACTOR_CROCODDYL_PYTHON", str(peer))
    monkeypatch.setattr(sys, "argv", ["ddp_batch", "--problems", "2", "--steps", "4", "--repeats", "1"])
    example("ddp_batch").main()
    printed = capsys.readouterr().out
    assert "left out: its process ended with SIGSEGV, with crocoddyl 3.2.1 and pin 4.1.0; " in printed
    assert "alone" in printed


@pytest.mark.skipif(
    "TREEFACTOR_CROCODDYL_PYTHON" not in os.environ,
    reason="TREEFACTOR_CROCODDYL_PYTHON names no Python that has Crocoddyl",
)
def test_crocoddyl_finds_the_same_costs(example):
    script = example("ddp_batch")
    given = script.problems(3, 30)
    result = given.solve()
    theirs = script.crocoddyl(os.environ["TREEFACTOR_CROCODDYL_PYTHON"], given, 100, 1)
    np.testing.assert_allclose(result.cost, theirs["cost"], rtol=1e-9)
    assert np.abs(result.iterations - theirs["iterations"]).max() <= 1  # where rounding decides at the end


def test_sampling_moves_the_tool_and_turns_the_quadruped(example):
    script = example("mppi")
    for task, steps in ((script.panda(), 30), (script.solo12(), 40)):
        controller = script.controller_of(task, 256, 40)
        far, turned = script.misses(task, script.simulate(task, controller, steps)[0])
        assert turned[-1] < 0.7 * turned[0]
        assert task.robot == "solo12" or far[-1] < 0.8 * far[0]
        assert (abs(controller.u) <= task.limits).all()


def test_sampling_prints_figures_beside_mujocos_and_draws(example, monkeypatch, capsys, tmp_path):
    pytest.importorskip("mujoco", reason="the example compares with it")
    pytest.importorskip("matplotlib", reason="Matplotlib draws the pictures")
    example("mppi")
    picture = tmp_path / "mppi.png"
    sizes = ["--samples", "16", "--horizon", "12", "--steps", "3", "--out", str(picture)]
    monkeypatch.setattr(sys, "argv", ["mppi", *sizes])
    runpy.run_path(str(EXAMPLES / "mppi.py"), run_name="__main__")
    printed = capsys.readouterr().out
    for line in printed.splitlines():
        if line.startswith("deviation"):
            assert all(float(word) < 1e-11 for word in line.split() if "e-" in word)
    assert printed.count("deviation") == printed.count("mujoco.rollout") == 2
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_inverse_kinematics_reaches_targets_within_the_limits(example):
    script = example("ik_batch")
    path, model, targets = script.problem(50)
    result, figures = script.solve_timed(model, targets, 1)
    assert figures["solved"]["all"] == result.solved.mean() > 0.98
    share = script.share_over_iterations(model, targets)
    assert (np.diff(share) >= 0).all()
    assert share[-1] > 0.98
    placed = tf.frame_placement(model, result.q, script.FRAME)[result.solved]
    assert np.abs(placed - targets[result.solved]).max() < 2 * script.REACHED
    pytest.importorskip("treefactor.adapters.pinocchio_", reason="the example compares with it")
    beside = script.compare_with_pinocchio(model, path, targets, 4, 1.0)
    assert beside["deviation"] < 1e-10
    assert beside["reached"] == 1.0


def test_inverse_kinematics_prints_figures_and_draws(example, monkeypatch, capsys, tmp_path):
    pytest.importorskip("matplotlib", reason="Matplotlib draws the pictures")
    example("ik_batch")
    monkeypatch.delenv("PINK_PYTHON", raising=False)
    sizes = ["--targets", "20", "--compared", "1", "--out", str(tmp_path / "ik.png")]
    monkeypatch.setattr(sys, "argv", ["ik_batch", *sizes])
    runpy.run_path(str(EXAMPLES / "ik_batch.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert all(word in printed for word in ("20 targets", "with restarts", "Pinocchio", "Pink"))
    assert (tmp_path / "ik.png").read_bytes().startswith(b"\x89PNG")


def test_pink_runs_in_another_python_as_a_function_of_its_own(example):
    script = example("ik_batch")
    assert script.call_elsewhere(sys.executable, halves, 1.0, [2.0, 3.0]) == (0.5, 2.5)


def halves(first, others):
    """Return half of the first number, and the mean of the others."""
    import numpy as np

    return first / 2, float(np.mean(others))


@pytest.mark.parametrize("name", sweep(SCRIPTS, lambda name: name not in ("fall_humanoid", "fall", "lift")))
def test_scripts_print_figures_and_draw(example, name, monkeypatch, capsys, tmp_path):
    pytest.importorskip("matplotlib", reason="Matplotlib draws the pictures")
    example(name)
    if name == "overhang":
        pytest.importorskip("mujoco", reason="the example compares with it")
    picture = tmp_path / f"{name}.png"
    monkeypatch.setattr(sys, "argv", [name, "--steps", "4", "--out", str(picture)])
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert all(word in printed for word in ("pivots", "factorizations", "residual", "ms per step"))
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_animations_are_written(example, monkeypatch, tmp_path):
    pytest.importorskip("matplotlib", reason="Matplotlib draws the pictures")
    example("gripper")
    monkeypatch.setattr(sys, "argv", ["gripper", "--steps", "4", "--out", str(tmp_path / "gripper.gif")])
    runpy.run_path(str(EXAMPLES / "gripper.py"), run_name="__main__")
    assert (tmp_path / "gripper.gif").read_bytes().startswith(b"GIF89a")


@pytest.mark.parametrize("framework", ["JAX", "PyTorch"])
def test_masses_are_found_by_gradients(example, framework):
    pytest.importorskip({"JAX": "jax", "PyTorch": "torch"}[framework])
    identify = example("identify_by_gradient")
    model, rng = tf.Model.from_urdf(robots.find("panda").path), np.random.default_rng(0)
    truth = model.parameters * np.exp(rng.uniform(-0.3, 0.3, (model.njoints, 1)))
    given = identify.data(model, truth, 200, rng)
    with float64_in_jax() if framework == "JAX" else nullcontext():
        pi, _ = identify.fit(model, framework, given)
    before = identify.errors(model, truth, model.parameters, given)
    masses, accelerations = identify.errors(model, truth, pi, given)
    assert min(before) > 0.2
    assert masses < identify.NOISE
    assert accelerations < identify.NOISE / 5


def float64_in_jax():
    """Let JAX compute in float64 for a while."""
    from helpers.jax_cases import precision

    return precision(True)
