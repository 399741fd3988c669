"""Compare rows, closing and closed-loop dynamics of loops to Pinocchio and MuJoCo."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.body_frames import placement
from helpers.dynamics_cases import MODELS, arguments, error
from helpers.loop_cases import MIXED, closed_cases, closed_velocity, leg, over_constrained, random_loops
from helpers.model_cases import in_pinocchio, models
from hypothesis import given
from hypothesis import strategies as st

import treefactor as tf
from treefactor import constraints, mechanisms
from treefactor.exceptions import ConfigurationError, ShapeError

pytestmark = pytest.mark.wheel

STEP = 1e-5
BY_DIFFERENCES = 1e-7
CLOSED = 1e-12  # m
DYNAMICS = 1e-9  # relative; of accelerations and forces, whose equations have condition numbers up to 1e5
CASES = closed_cases()


def check_rows(model, seed):
    q, v, _, _ = arguments(model, seed)
    rows = constraints.loop_rows(model, q, v)
    J = rows.dense()
    assert np.array_equal(rows.csr().toarray(), J)
    after, before = (
        constraints.loop_rows(model, tf.integrate(model, q, sign * STEP * v), v) for sign in (1.0, -1.0)
    )
    scale = (1.0 + np.abs(J).max()) ** 2 * (1.0 + np.square(v).max())
    assert error((after.residual - before.residual) / (2 * STEP), J @ v, scale) < BY_DIFFERENCES
    assert error((after.dense() - before.dense()) @ v / (2 * STEP), rows.bias, scale) < BY_DIFFERENCES


@given(models(max_joints=6), st.integers(0, 2**32 - 1))
def test_rows_are_derivatives(model, seed):
    if model.njoints > 1:
        check_rows(random_loops(model, seed), seed)


@pytest.mark.parametrize("seed", range(20))
def test_rows_of_loops_between_trees_and_followers_are_derivatives(seed):
    check_rows(random_loops(MIXED, seed), seed)


def test_rows_of_batches_are_those_of_single_states():
    model = random_loops(MIXED, 0)
    q, v, _, _ = arguments(model, 1, (2, 3))
    rows = constraints.loop_rows(model, q, v)
    for i in np.ndindex(2, 3):
        single = constraints.loop_rows(model, q[i], v[i])
        assert error(rows.residual[i], single.residual) < 1e-13
        assert error(rows.dense()[i], single.dense()) < 1e-13
        assert error(rows.bias[i], single.bias) < 1e-12


def test_bodies_above_a_loop_have_no_entries():
    model = leg()
    J = constraints.loop_rows(model, CASES["leg"][1]).dense()
    assert not J[:, :3].any()
    assert np.abs(J[:3, 3:5]).max(axis=0).all()


@pytest.mark.parametrize("name", CASES)
def test_cases_are_closed(name):
    model, q = CASES[name]
    assert np.abs(constraints.loop_rows(model, q).residual).max() < CLOSED


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_rough_configurations_are_closed(name, seed):
    model, q = CASES[name]
    rough = tf.integrate(model, q, np.random.default_rng(seed).normal(scale=0.2, size=model.nv))
    closed_q = constraints.close(model, rough)
    assert np.abs(constraints.loop_rows(model, closed_q).residual).max() < CLOSED
    assert np.linalg.norm(tf.difference(model, closed_q, rough)) < 1.5 * np.linalg.norm(
        tf.difference(model, q, rough)
    )


def test_loops_that_cannot_be_closed_are_named():
    model = mechanisms.four_bar().model
    far = tf.Loop("far", "spherical", 1, 2, p1=(5.0, 0, 0))
    with pytest.raises(ConfigurationError, match="'far' cannot be closed") as caught:
        constraints.close(tf.Model(model.joints, model.gravity, loops=[*model.loops, far]), np.zeros(3))
    assert caught.value.joint == "far"


def test_loops_closed_the_wrong_way_round_are_named():
    back = np.diag([1.0, -1.0, -1.0])
    hinge = tf.Joint("hinge", "revolute", axis=[0, 0, 1.0], inertia=tf.Inertia(1.0))
    model = tf.Model([hinge], loops=[tf.Loop("turned", "revolute", 0, -1, R2=back)])
    with pytest.raises(ConfigurationError, match="'turned' closes with its frames the wrong way round"):
        constraints.close(model, [0.3])


def test_models_without_loops_are_closed_and_move_freely():
    model = MODELS["all kinds"]
    q, v, tau, fext = arguments(model)
    assert np.array_equal(constraints.close(model, q), q)
    a, force = constraints.forward_dynamics(model, q, v, tau, fext)
    assert error(a, tf.forward_dynamics(model, q, v, tau, fext)) < 1e-12
    assert force.shape == (0,)


@pytest.mark.parametrize("name", CASES)
def test_forces_of_loops_move_the_tree(name):
    model, q = CASES[name]
    v, tau = closed_velocity(model, q), np.random.default_rng(1).normal(size=model.nv)
    a, force = constraints.forward_dynamics(model, q, v, tau)
    rows = constraints.loop_rows(model, q, v)
    J = rows.dense()
    assert error(J @ a, -rows.bias, 1.0 + np.abs(a).max()) < DYNAMICS
    inverse = tf.rnea(model, q, v, a)
    assert error(inverse, tau + J.T @ force, np.abs(force).max()) < DYNAMICS
    assert np.linalg.norm(force) <= (1 + DYNAMICS) * np.linalg.norm(
        np.linalg.pinv(J.T, rcond=1e-9) @ (inverse - tau)
    )


@pytest.mark.parametrize("name", CASES)
def test_dynamics_of_batches_are_those_of_single_states(name):
    model, q = CASES[name]
    v = np.stack([closed_velocity(model, q, seed) for seed in range(3)])
    tau = np.random.default_rng(1).normal(size=(3, model.nv))
    a, force = constraints.forward_dynamics(model, np.stack([q] * 3), v, tau)
    for i in range(3):
        single = constraints.forward_dynamics(model, q, v[i], tau[i])
        assert error(a[i], single[0]) < DYNAMICS
        assert error(force[i], single[1]) < DYNAMICS


def test_stabilization_adds_baumgartes_terms():
    model, q = CASES["stewart"]
    v = np.random.default_rng(0).normal(size=model.nv)
    q = tf.integrate(model, q, 1e-3 * v)
    rows = constraints.loop_rows(model, q, v)
    a, _ = constraints.forward_dynamics(model, q, v, np.zeros(model.nv), stabilization=10.0)
    wanted = -rows.bias - 20.0 * rows.dense() @ v - 100.0 * rows.residual
    assert error(rows.dense() @ a, wanted) < DYNAMICS


@pytest.mark.parametrize("name", sorted(CASES.keys() - {"docking", "over-constrained"}))
def test_dynamics_are_pinocchios(name):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    model, q = CASES[name]
    v, tau = closed_velocity(model, q), np.random.default_rng(1).normal(size=model.nv)
    theirs = in_pinocchio(model)
    contacts, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    kinds = {"spherical": pin.ContactType.CONTACT_3D, "weld": pin.ContactType.CONTACT_6D}
    for loop in model.loops:
        ends = (loop.first + 1, pin.SE3(loop.R1, loop.p1)), (loop.second + 1, pin.SE3(loop.R2, loop.p2))
        contacts.append(pin.RigidConstraintModel(kinds[loop.kind], theirs, *ends[0], *ends[1], pin.LOCAL))
        datas.append(contacts[-1].createData())
    data = theirs.createData()
    pin.initConstraintDynamics(theirs, data, contacts, datas)
    settings = pin.ProximalSettings(1e-14, 1e-12, 200)
    expected = pin.constraintDynamics(theirs, data, q, v, tau, contacts, datas, settings)
    a, force = constraints.forward_dynamics(model, q, v, tau)
    assert error(a, expected) < DYNAMICS
    if name != "arm":  # the weld's moments are along pairs of axes
        on_first = np.concatenate([one.contact_force.linear for one in datas])
        assert error(force, -on_first) < DYNAMICS


def test_over_constrained_loops_move_as_those_that_are_not():
    q = mechanisms.four_bar().closed
    for model in (over_constrained(), mechanisms.four_bar().model):
        v, tau = closed_velocity(model, q), np.array([1.0, -2.0, 0.5])
        a, force = constraints.forward_dynamics(model, q, v, tau)
        if model.loops[0].kind == "revolute":
            first, planar = a, force
    assert error(first, a) < DYNAMICS
    assert error(planar[:3], force) < DYNAMICS
    assert np.abs(planar[2:]).max() < 1e-12  # across the plane nothing has to be held


def test_wrong_arguments_are_refused():
    model, q = CASES["four-bar"]
    with pytest.raises(ShapeError):
        constraints.forward_dynamics(model, q, np.zeros(2), np.zeros(3))
    with pytest.raises(ShapeError):
        constraints.close(model, np.zeros(2))
    with pytest.raises(tf.NonFiniteError):
        constraints.loop_rows(model, [np.nan, 0, 0])


# ------------------------------------------------------------------------------------------------ MuJoCo


def in_mujoco(mujoco, model):
    """Return MuJoCo's model of a chain or linkage; its loop is an equality, as stiff as MuJoCo allows."""
    sites = {}
    loop = model.loops[0]
    for side, body, R, p in ((1, loop.first, loop.R1, loop.p1), (2, loop.second, loop.R2, loop.p2)):
        axes = " ".join(map(str, np.concatenate([R[:, 0], R[:, 1]])))
        sites[body] = f'<site name="s{side}" pos="{numbers(p)}" xyaxes="{axes}"/>'
    below = dict.fromkeys(range(-1, model.njoints), "")
    for i, joint in reversed(list(enumerate(model.joints))):
        axes = numbers(np.concatenate([joint.R[:, 0], joint.R[:, 1]]))
        tensor = numbers(joint.inertia.tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
        below[joint.parent] = (
            f'<body name="{joint.name}" pos="{numbers(joint.p)}" xyaxes="{axes}">'
            f'<joint axis="{numbers(joint.axis)}" armature="{float(joint.armature[0])!r}"/>'
            f'<inertial mass="{joint.inertia.mass!r}" pos="{numbers(joint.inertia.com)}" '
            f'fullinertia="{tensor}"/>{sites.get(i, "")}{below[i]}</body>{below[joint.parent]}'
        )
    kind = {"spherical": "connect", "weld": "weld"}[loop.kind]
    return mujoco.MjModel.from_xml_string(
        f'''<mujoco><option gravity="{numbers(model.gravity)}" tolerance="0" iterations="200"/>
        <worldbody>{sites.get(-1, "")}{below[-1]}</worldbody>
        <equality><{kind} site1="s1" site2="s2" solimp="0.9999 0.9999 0.001 0.5 2"/></equality></mujoco>'''
    )


def numbers(values):
    return " ".join(repr(float(x)) for x in values)


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "arm"])
def test_dynamics_are_mujocos(name):
    """Compares at rest: MuJoCo ignores J-dot v; its constraints are soft, (J H^-1 J^T + R) f = -J a."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is the reference")
    model, q = CASES[name]
    theirs = in_mujoco(mujoco, model)
    data = mujoco.MjData(theirs)
    tau = np.random.default_rng(1).normal(size=model.nv)
    data.qpos[:], data.qfrc_applied[:] = q, tau
    mujoco.mj_forward(theirs, data)
    a, _ = constraints.forward_dynamics(model, q, np.zeros(model.nv), tau)
    J = data.efc_J.reshape(-1, model.nv)
    own = constraints.loop_rows(model, q).dense()
    projector = np.linalg.pinv(own, rcond=1e-9) @ own
    assert error(np.linalg.pinv(J, rcond=1e-9) @ J, projector) < 1e-6
    assert error(a, data.qacc) < 1e-2
    H, free = tf.crba(model, q), tf.forward_dynamics(model, q, np.zeros(model.nv), tau)
    force = np.linalg.solve(J @ np.linalg.solve(H, J.T) + np.diag(data.efc_R), data.efc_aref - J @ free)
    assert error(free + np.linalg.solve(H, J.T @ force), data.qacc) < 1e-6


# ------------------------------------------------------------------------------------------------- in time


def runge_kutta(model, q, v, h, steps, stabilization):
    """Return the states of a motion without generalized forces; every joint must have nq = nv."""

    def rate(x):
        q, v = np.split(x, 2)
        tau = np.zeros(model.nv)
        return np.concatenate([v, constraints.forward_dynamics(model, q, v, tau, None, stabilization)[0]])

    x = np.concatenate([q, v])
    for _ in range(steps):
        k1 = rate(x)
        k2 = rate(x + h / 2 * k1)
        k3 = rate(x + h / 2 * k2)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(x + h * k3))
    return np.split(x, 2)


def energy(model, q, v):
    """Return the kinetic and potential energy, J."""
    potential = 0.0
    for i, joint in enumerate(model.joints):
        R, p = placement(model, q, i)
        potential -= joint.inertia.mass * model.gravity @ (p + R @ joint.inertia.com)
    return v @ tf.h_times(model, q, v) / 2 + potential


def check_drift(h, steps, tolerance):
    model, q = CASES["four-bar"]
    v = closed_velocity(model, q)
    loose, tight = (runge_kutta(model, q, v, h, steps, rate) for rate in (0.0, 20.0))
    open_, closed = (np.abs(constraints.loop_rows(model, x).residual).max() for x, _ in (loose, tight))
    assert closed < tolerance
    assert closed <= open_
    assert abs(energy(model, *tight) - energy(model, q, v)) < 10 * tolerance
    assert error(constraints.close(model, tight[0]), tight[0]) < 10 * tolerance


def test_loops_stay_closed_for_a_second():
    check_drift(2e-3, 500, 1e-6)


@pytest.mark.slow
def test_loops_stay_closed_for_ten_seconds():
    check_drift(1e-3, 10000, 1e-7)


@pytest.mark.parametrize("name", mechanisms.MECHANISMS)
def test_random_configurations_of_mechanisms_are_closed(name):
    mechanism = mechanisms.MECHANISMS[name]()
    seeds = (*range(20), 106, 316, 832, 838, 872)  # the first draw of the last ones closes no five-bar
    configurations = np.array([mechanism.random(seed) for seed in seeds])
    assert (
        max(np.abs(constraints.loop_rows(mechanism.model, q).residual).max() for q in configurations) < 1e-12
    )
    np.testing.assert_array_equal(mechanism.random(np.random.default_rng(seeds[-1])), configurations[-1])


def test_random_configurations_that_never_close_raise_an_error():
    mechanism = replace(mechanisms.five_bar(), rest=(np.pi, 0.0), reach=(0.0, 0.0))
    with pytest.raises(tf.ConfigurationError, match="no configuration closes the loops"):
        mechanism.random(0)


def test_dynamics_of_batches_empty_with_a_nan_or_of_one_argument():
    stewart = mechanisms.stewart()
    model, q = stewart.model, stewart.closed
    v, tau = np.zeros(model.nv), np.ones(model.nv)
    alone = constraints.forward_dynamics(model, q, v, tau)
    for position in range(3):
        given = [q, v, tau]
        given[position] = np.stack([given[position]] * 3)
        for one, many in zip(alone, constraints.forward_dynamics(model, *given), strict=True):
            np.testing.assert_allclose(many, [one] * 3, rtol=0, atol=1e-12 * np.abs(one).max())
        given[position][1, 0] = np.nan
        for one, many in zip(alone, constraints.forward_dynamics(model, *given), strict=True):
            assert np.isnan(many[1]).all()
            np.testing.assert_allclose(many[::2], [one] * 2, rtol=0, atol=1e-12 * np.abs(one).max())
    empty = constraints.forward_dynamics(model, np.empty((0, model.nq)), v, tau)
    assert [x.shape for x in empty] == [(0, model.nv), (0, len(alone[1]))]


@pytest.mark.parametrize("shape", [(), (1,), (2, 5)])
def test_dynamics_takes_no_forces_of_other_shapes(shape):
    model = mechanisms.four_bar().model
    with pytest.raises(ShapeError, match="tau must have shape"):
        constraints.forward_dynamics(model, np.zeros((3, model.nq)), np.zeros(model.nv), np.zeros(shape))
