"""Test comparisons without a reference, without inertia, or without a model with mimic joints."""

from importlib import import_module

import numpy as np
import pytest

import treefactor as tf
from treefactor import check, robots, tolerances
from treefactor.check import compare

pin = pytest.importorskip("pinocchio", reason="Pinocchio is the reference of every check")

from helpers.engine_cases import joint, link, urdf  # noqa: E402

from treefactor.adapters import pinocchio_  # noqa: E402

OTHERS = ("pybullet", "mujoco", "drake")


def adapter_of(engine):
    pytest.importorskip(check.ENGINES[engine], reason=f"{engine} is not installed")
    return import_module(f"treefactor.adapters.{engine}_")


@pytest.fixture
def robot(tmp_path):
    """Write a robot of the given links and joints."""

    def robot(*parts, floating=False):
        path = tmp_path / "robot.urdf"
        path.write_text(urdf(*parts))
        return robots.Robot("robot", path, floating)

    return robot


ARM = (link("base"), link("upper"), link("lower"), joint("a", "base", "upper"), joint("b", "upper", "lower"))


# ------------------------------------------------------------------------- an engine against itself


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("engine", OTHERS)
def test_inverse_dynamics_are_bias_and_columns_of_h(engine, floating, robot):
    adapter, rng = adapter_of(engine), np.random.default_rng(0)
    with adapter.load(robot(*ARM).path, floating) as body:
        model = pinocchio_.load(robot(*ARM).path, floating)
        q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
        q, v = adapter.from_pinocchio(body, model, q, rng.normal(size=model.nv))
        a, H = rng.normal(size=body.nv), adapter.mass_matrix(body, q)
        bias = adapter.inverse_dynamics(body, q, v, np.zeros(body.nv))
        np.testing.assert_allclose(bias, adapter.bias(body, q, v), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(adapter.inverse_dynamics(body, q, v, a), bias + H @ a, rtol=1e-11)


def test_inverse_dynamics_of_an_mjcf_know_armature_damping_and_tendons(tmp_path):
    mujoco_ = adapter_of("mujoco")
    inertial = '<inertial pos="0.1 0.2 0.3" mass="1.5" diaginertia="0.1 0.2 0.25"/>'
    path = tmp_path / "arm.xml"
    path.write_text(
        "<mujoco><worldbody>"
        f'<body name="a"><joint name="i" axis="0 1 0" armature="0.3" damping="2"/>{inertial}'
        f'<body name="b"><joint name="j" axis="1 0 0" armature="0.1" stiffness="3"/>{inertial}</body></body>'
        '</worldbody><tendon><fixed armature="0.5"><joint joint="i" coef="1"/></fixed></tendon></mujoco>'
    )
    with mujoco_.load(path) as body:
        q, v, a = mujoco_.random_state(body, np.random.default_rng(0))
        expected = mujoco_.mass_matrix(body, q) @ a + mujoco_.bias(body, q, v)
        np.testing.assert_allclose(mujoco_.inverse_dynamics(body, q, v, a), expected, rtol=1e-12)


@pytest.mark.parametrize("engine", ["pybullet", "mujoco"])
def test_a_wrong_h_that_its_engine_moves_by_is_noticed(engine, robot, monkeypatch):
    adapter, arm = adapter_of(engine), robot(*ARM)
    right = compare.compare_alone(adapter, arm, 2, 0)
    assert right.errors["H"] < tolerances.ENGINE_H[engine]
    mass_matrix = adapter.mass_matrix

    def consistent(body, q, v, tau):
        return np.linalg.solve(adapter.mass_matrix(body, q), tau - adapter.bias(body, q, v))

    monkeypatch.setattr(adapter, "mass_matrix", lambda body, q: 1.001 * mass_matrix(body, q))
    monkeypatch.setattr(adapter, "own_acceleration", consistent)
    wrong = compare.compare_alone(adapter, arm, 2, 0)
    assert wrong.errors["own q̈"] < 1e-12
    assert wrong.errors["H"] > 1e-5


@pytest.mark.parametrize("seed", range(6))
def test_a_singular_h_whose_pivots_happen_to_be_positive_has_no_acceleration(seed, robot):
    mujoco_ = adapter_of("mujoco")
    parts = link("base", None), link("a"), joint("i", "base", "a"), link("b"), joint("j", "a", "b")
    with mujoco_.quiet():
        found = compare.compare_alone(mujoco_, robot(*parts, floating=True), 1, seed)
    assert "H is singular" in found.singular
    assert set(found.errors) == {"H"}


# ------------------------------------------------------------------------- joints that move no inertia

HAND = (link("hand", None), joint("c", "upper", "hand"), link("nail", None), joint("d", "hand", "nail"))


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("engine", ["pinocchio", "pybullet", "mujoco"])
def test_the_other_joints_are_compared(engine, floating, robot):
    adapter_of(engine)
    row = next(check.check([robot(*ARM, *HAND, floating=floating)], [engine]))[0]
    assert row.verdict == check.EXPLAINED
    assert "no mass moves with c, d" in row.reason
    assert row.error_qdd < tolerances.ENGINE_QDD[engine]
    assert row.error_own is None
    assert row.condition < 1e6


@pytest.mark.parametrize("engine", ["pybullet", "mujoco"])
def test_a_wrong_bias_of_the_other_joints_is_noticed(engine, robot, monkeypatch):
    adapter = adapter_of(engine)
    right = adapter.bias
    monkeypatch.setattr(adapter, "bias", lambda *state: right(*state) * (1 + 1e-6))
    (row,) = next(check.check([robot(*ARM, *HAND)], [engine]))
    assert row.verdict == check.DISAGREES
    assert row.error_qdd > 1e-9


def test_the_others_accelerate_as_with_locked_joints(robot):
    reference = compare.Reference(pinocchio_, robot(*ARM, *HAND, floating=True), 1, 0)
    (s,), model = reference.states, reference.model
    locked = [model.getJointId(name) for name in ("c", "d")]
    kept = np.setdiff1d(np.arange(model.nv), [model.idx_vs[j] for j in locked])
    reduced = pin.buildReducedModel(model, locked, s.q)
    q = np.delete(s.q, [model.idx_qs[j] for j in locked])
    expected = pin.aba(reduced, reduced.createData(), q, s.v[kept], s.tau[kept])
    np.testing.assert_allclose(s.qdd[kept], expected, rtol=1e-11, atol=1e-11)


# ------------------------------------------------------------------------- mimic joints


def follows(leader, multiplier=2.0):
    return f'<mimic joint="{leader}" multiplier="{multiplier}" offset="0.1"/>'


FINGERS = (*ARM, link("left"), link("right"), link("tip"))
REFUSED = {
    "chain": (
        joint("c", "lower", "left", extra=follows("b")),
        joint("d", "lower", "right", extra=follows("c", -0.5)),
        joint("e", "right", "tip"),
    ),
    "the leader comes later": (
        joint("c", "lower", "left", extra=follows("e")),
        joint("d", "lower", "right"),
        joint("e", "right", "tip"),
    ),
    "the leader is fixed": (
        joint("c", "lower", "left", "fixed"),
        joint("d", "lower", "right", extra=follows("c")),
        joint("e", "right", "tip", "prismatic"),
    ),
    "a chain that ends at a continuous joint": (
        joint("c", "lower", "left", "continuous"),
        joint("d", "lower", "right", "continuous", extra=follows("e")),
        joint("e", "right", "tip", extra=follows("c", 0.5)),
    ),
}


FORK = (("c", "lower", "left"), ("d", "lower", "right"))


def mimic_row(robot):
    free, row = next(check.check([robot], ["pinocchio"]))
    assert free.verdict == check.AGREES
    assert row.base.endswith("mimic")
    return row


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("case", REFUSED)
def test_mimic_joints_that_pinocchio_refuses(case, floating, robot):
    one = robot(*FINGERS, *REFUSED[case], floating=floating)
    with pytest.raises(tf.AdapterError):
        pinocchio_.load(one.path, mimic=True)
    row = mimic_row(one)
    assert row.verdict == check.AGREES
    assert "Pinocchio cannot load it" in row.reason
    assert row.error_h < tolerances.ENGINE_H["pinocchio"]
    assert row.error_qdd < max(1e-12, 1e-14 * row.condition)


ACCEPTED = (joint("c", "lower", "left", extra=follows("b")), joint("d", "lower", "right"))


@pytest.mark.parametrize("joints", [ACCEPTED, REFUSED["chain"][:2]], ids=["accepted", "refused"])
def test_a_wrong_multiplier_is_noticed(joints, robot, monkeypatch):
    right = pinocchio_.coupling

    def wrong(*model):
        G = right(*model)
        return np.where(G == 2.0, 2.01, G)  # c follows b

    monkeypatch.setattr(pinocchio_, "coupling", wrong)
    row = mimic_row(robot(*ARM, link("left"), link("right"), *joints))
    assert row.verdict == check.DISAGREES
    assert row.error_qdd > 1e-3


@pytest.mark.parametrize(
    ("leaders", "reason"),
    [
        (("d", "c"), "follow each other: c, d"),
        (("c", "b"), "follow each other: c"),
        (("z", "b"), "'c' follows 'z', which does not exist"),
    ],
)
def test_mimic_joints_that_cannot_follow(leaders, reason, robot):
    parts = [joint(*names, extra=follows(leader)) for names, leader in zip(FORK, leaders, strict=True)]
    row = mimic_row(robot(*ARM, link("left"), link("right"), *parts))
    assert row.verdict == check.EXPLAINED
    assert "mimic joints stay free" in row.reason
    assert reason in row.reason


def test_nothing_moves_where_all_follow_a_fixed_joint(robot):
    row = mimic_row(robot(link("base"), link("plate"), link("arm"), joint("a", "base", "plate", "fixed"),
                          joint("b", "base", "arm", extra=follows("a"))))  # fmt: skip
    assert (row.n, row.verdict) == (0, check.AGREES)
