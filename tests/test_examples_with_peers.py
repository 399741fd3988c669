"""Test short runs of the examples in JAX and PyTorch: gradients, descent, pictures, absent peers."""

import runpy
import sys
from contextlib import contextmanager, nullcontext
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import treefactor as tf
from treefactor import robots

EXAMPLES = Path(__file__).parents[1] / "examples"
FRAMEWORKS = {"jax": "panda", "torch": "ur5_robot"}
STEP = 1e-4


@pytest.fixture(params=FRAMEWORKS)
def framework(request, monkeypatch):
    """Return the name of a framework, or skip where it or the robot is not installed."""
    pytest.importorskip(request.param, reason="the example differentiates with it")
    if FRAMEWORKS[request.param] not in robots.bundled():
        pytest.skip("example-robot-data is not installed")
    monkeypatch.syspath_prepend(EXAMPLES)
    with float64() if request.param == "jax" else nullcontext():
        yield request.param


@contextmanager
def float64():
    """Let JAX compute in float64."""
    import jax

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        yield
    finally:
        jax.config.update("jax_enable_x64", before)


def costs_of(reach, x):
    """Compute costs with NumPy."""
    problem, h = reach.arrays, float(reach.arrays["h"])
    q0 = np.broadcast_to(problem["q0"], (len(x), reach.model.nq))
    q, v = tf.rollout(reach.model, q0, np.zeros_like(q0), reach.tau(x), h)
    miss = tf.frame_placement(reach.model, q[:, -1], reach.frame)[..., 3] - problem["goals"]
    spent = problem["rate"] * (v**2).sum((1, 2)) + problem["effort"] * (x**2).sum((1, 2))
    return 0.5 * (miss**2).sum(-1) + h * spent


def gradient(framework, reach, x):
    """Return the costs and the gradient that an example computes."""
    script = import_module(f"trajectory_in_{framework}")
    rollout, tool = script.functions(reach.model, reach.frame)
    if framework == "jax":
        pair = script.value_and_gradient(rollout, tool, reach.arrays)(x)
        return np.asarray(pair[0]), np.asarray(pair[1])
    import torch

    x = torch.tensor(x, requires_grad=True)
    costs = script.cost(rollout, tool, script.tensors(reach.arrays), x)
    return costs.detach().numpy(), torch.autograd.grad(costs.sum(), x)[0].numpy()


def problem(framework, trajectories, steps):
    """Return a small problem of an example."""
    script, reach = import_module(f"trajectory_in_{framework}"), import_module("reach")
    return reach.problem(FRAMEWORKS[framework], script.FRAME, script.Q0, trajectories, steps, 0.02)


def test_the_gradient_is_the_derivative_of_the_cost(framework):
    reach = problem(framework, 3, 6)
    rng = np.random.default_rng(0)
    x, direction = rng.normal(size=(2, *reach.arrays["x"].shape))
    costs, slopes = gradient(framework, reach, x)
    np.testing.assert_allclose(costs, costs_of(reach, x), rtol=1e-12)
    expected = (costs_of(reach, x + STEP * direction) - costs_of(reach, x - STEP * direction)) / (2 * STEP)
    np.testing.assert_allclose((slopes * direction).sum((1, 2)), expected, rtol=1e-5)


def test_the_example_descends_prints_and_draws(framework, monkeypatch, capsys, tmp_path):
    pytest.importorskip("matplotlib", reason="Matplotlib draws the pictures")
    picture = tmp_path / "reach.png"
    options = ["--trajectories", "4", "--steps", "30", "--iterations", "20", "--turns", "0"]
    monkeypatch.setattr(sys, "argv", [framework, *options, "--out", str(picture)])
    runpy.run_path(str(EXAMPLES / f"trajectory_in_{framework}.py"), run_name="__main__")
    printed = capsys.readouterr().out
    costs = next(line for line in printed.splitlines() if line.startswith("cost"))
    first, last = (float(word) for word in costs.split() if word[0].isdigit())
    assert last < 0.5 * first
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_absent_peers_are_named(framework, monkeypatch, capsys):
    script = import_module(f"trajectory_in_{framework}")
    turns = import_module("peers.turns")
    for name in script.PEERS:
        monkeypatch.delenv(turns.variable(name), raising=False)
    options = ["--trajectories", "2", "--steps", "3", "--iterations", "1", "--turns", "1"]
    monkeypatch.setattr(sys, "argv", [framework, *options])
    script.main()
    printed = capsys.readouterr().out
    assert all(f"{name} is left out: {turns.variable(name)}" in printed for name in script.PEERS)
    line = next(line for line in printed.splitlines() if line.startswith(f"treefactor_in_{framework}"))
    assert float(line.split()[2]) > 0.0


def test_a_contestant_that_fails_is_named_with_its_words(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(EXAMPLES)
    turns = import_module("peers.turns")
    with pytest.raises(RuntimeError, match=r"nobody ended with 1:\n(?s:.*)No module named peers.nobody"):
        turns.contest({"nobody": sys.executable, "absent": None}, {"x": np.zeros(1)}, tmp_path)
