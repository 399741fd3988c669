"""Test energy and momentum of free motion: spinning bodies, chains, mechanisms on free-flyers."""

import numpy as np
import pytest
from helpers.body_frames import jacobian, placement
from helpers.model_cases import random_model
from helpers.scenes import random_scene
from hypothesis import given, settings
from hypothesis import strategies as st
from test_stepper import at, bodies, energies

import treefactor as tf
from treefactor.constraints import Stepper
from treefactor.constraints.free_motion import FreeMotion, is_steady
from treefactor.constraints.stepper import GYROSCOPIC

SEEDS = st.integers(0, 2**32 - 1)
KEPT = 1e-9  # of a conserved quantity, relative, after hundreds of steps


def random_body(rng, slim):
    """Return the inertia of four random point masses whose last coordinates are multiplied by `slim`."""
    places = rng.normal(size=(4, 3)) * [1.0, 1.0, slim]
    tensor = sum((x @ x * np.eye(3) - np.outer(x, x)) / 4 for x in places - places.mean(axis=0))
    return tf.Inertia(rng.uniform(0.1, 10.0), rng.normal(size=3) * rng.choice([0.0, 0.3]), tensor)


def flat_model(kinds, seed, gravity=(0.0, 0.0, -9.81)):
    """Return a chain of joints of these kinds with random bodies."""
    rng = np.random.default_rng(seed)
    chain = random_model(range(-1, len(kinds) - 1), kinds, seed)
    joints = [
        tf.Joint(j.name, j.kind, j.parent, j.R, 0.3 * j.p, j.axis, j.pitch, inertia=random_body(rng, 0.5))
        for j in chain.joints
    ]
    return tf.Model(joints, gravity)


def momenta(model, run):
    """Return linear and angular momentum about the origin of the base, (steps + 1, 6)."""
    moments = np.zeros((len(run.q), 6))
    for i, joint in enumerate(model.joints):
        inertia = joint.inertia
        R, p = placement(model, run.q, i, p=inertia.com)
        J = jacobian(model, run.q, i, p=inertia.com)
        moved = np.einsum("kij,kj->ki", J, run.v)
        spin = np.einsum("kij,jl,kml,km->ki", R, inertia.tensor, R, moved[:, 3:])
        moments[:, :3] += inertia.mass * moved[:, :3]
        moments[:, 3:] += spin + inertia.mass * np.cross(p, moved[:, :3])
    return moments


@settings(max_examples=40, deadline=None)
@given(
    seed=SEEDS,
    slim=st.sampled_from([1.0, 0.1, 0.0]),
    rate=st.sampled_from([0.1, 1.0, 10.0, 50.0, 500.0, 1e4]),
    h=st.sampled_from([5e-4, 5e-3, 2e-2]),
    kind=st.sampled_from(["freeflyer", "spherical"]),
)
def test_spinning_bodies_keep_energy_and_momentum(seed, slim, rate, h, kind):
    rng = np.random.default_rng(seed)
    inertia = random_body(rng, slim)
    if kind == "spherical":
        inertia = tf.Inertia(inertia.mass, np.zeros(3), inertia.tensor)
    model = tf.Model([tf.Joint("body", kind, inertia=inertia)], gravity=[0, 0, 0])
    v = rng.normal(size=model.nv)
    v[-3:] *= rate / np.linalg.norm(v[-3:])
    run = Stepper(model, h=h).run(tf.random_configuration(model, rng), v, 100)
    energy, momentum = energies(model, run), momenta(model, run)
    assert np.abs(energy - energy[0]).max() <= KEPT * energy[0]
    p = placement(model, run.q, 0, p=inertia.com)[1]
    spin = momentum[:, 3:] - np.cross(p, momentum[:, :3])
    length = np.linalg.norm(spin, axis=1)
    assert np.abs(length - length[0]).max() <= KEPT * length[0]
    if kind == "freeflyer":
        drift = np.abs(momentum[:, :3] - momentum[0, :3]).max()
        assert drift <= KEPT * (np.abs(momentum[0, :3]).max() + length[0])
    if h * rate < 0.3:  # its direction is that of a reversible method: off by h, without a drift
        assert np.abs(spin - spin[0]).max() <= h * rate * length[0]


def test_explicit_steps_are_chosen_by_name_and_gain_energy():
    model = bodies(1, tf.Inertia(1.0, tensor=np.diag([0.01, 0.02, 0.03])), gravity=[0, 0, 0])
    v = 10.0 * np.array([0, 0, 0, 1.0, 1.0, 1.0]) / np.sqrt(3.0)
    gained = []
    for gyroscopic in GYROSCOPIC:
        energy = energies(model, Stepper(model, h=5e-3, gyroscopic=gyroscopic).run(at([0, 0, 0]), v, 400))
        gained.append(np.abs(energy / energy[0] - 1.0).max())
    assert gained[0] < KEPT
    assert 0.05 < gained[1] < 0.2
    with pytest.raises(ValueError, match="gyroscopic must be one of"):
        Stepper(model, gyroscopic="none")


CHAINS = (
    ("spherical",) * 3,
    ("revolute",) * 6,
    ("freeflyer", "revolute", "spherical", "revolute"),
    ("prismatic", "revolute", "revolute"),
    ("planar", "continuous", "revolute"),
    ("universal", "helical", "spherical"),
)


@pytest.mark.parametrize("kinds", CHAINS, ids="-".join)
def test_chains_keep_energy_up_to_oscillations_of_order_h(kinds):
    model = flat_model(kinds, 3)
    rng = np.random.default_rng(3)
    q, v = tf.random_configuration(model, rng), rng.normal(size=model.nv)
    v *= 10.0 / np.linalg.norm(v)
    errors = []
    for h in (4e-3, 1e-3):
        run = Stepper(model, h=h).run(q, v, int(1.0 / h))
        energy = energies(model, run)
        kinetic = max(v @ tf.h_times(model, q, v) / 2 for q, v in zip(run.q, run.v, strict=True))
        off = (energy - energy[0]) / kinetic
        errors.append(np.abs(off).max())
    assert errors[1] < 0.4 * errors[0]
    assert errors[0] < 0.1


@settings(max_examples=15, deadline=None)
@given(
    kinds=st.sampled_from(CHAINS),
    seed=SEEDS,
    rate=st.sampled_from([1.0, 25.0, 100.0]),
    h=st.sampled_from([5e-4, 5e-3, 2e-2]),
)
def test_energy_stays_bounded_however_fast_a_chain_moves(kinds, seed, rate, h):
    """Steps in which joints turn by radians use the velocities nearest to those of the last step."""
    model = flat_model(kinds, seed, gravity=(0, 0, 0))
    rng = np.random.default_rng(seed)
    q, v = tf.random_configuration(model, rng), rng.normal(size=model.nv)
    v *= rate / np.linalg.norm(v)
    run = Stepper(model, h=h).run(q, v, 60)
    energy = energies(model, run)
    turned = h * rate
    assert energy.max() <= (1.0 + 8.0 * turned if turned <= 0.5 else 100.0) * energy[0]


@settings(max_examples=40, deadline=None)
@given(kinds=st.sampled_from(CHAINS), seed=SEEDS, turn=st.sampled_from([0.01, 1.0, 5.0, 100.0]))
def test_nearest_velocities_add_no_kinetic_energy(kinds, seed, turn):
    """Without gravity, u at q has at most the energy of v at the configuration one step before q."""
    h, model = 0.01, flat_model(kinds, seed, gravity=(0, 0, 0))
    rng = np.random.default_rng(seed)
    q, v = tf.random_configuration(model, rng), rng.normal(size=model.nv)
    v *= turn / h / np.linalg.norm(v)
    stepper = Stepper(model, h=h)
    momentum = stepper._midpoint()._projected(q, v)
    after = momentum @ tf.solve(tf.crba(model, q, layout="packed"), model.tree, momentum, layout="packed") / 2
    q, v = stepper._integrator.advanced(q, v, -h)
    before = v @ tf.h_times(model, q, v) / 2
    assert after <= before * (1.0 + KEPT)


@pytest.mark.parametrize("seed", range(8))
def test_impulses_add_no_kinetic_energy_but_that_of_the_stabilization(seed):
    scene = random_scene(seed, friction="pyramid")
    for _ in range(20):
        step = scene.stepper.step(scene.q, scene.v)
        problem, solution = step.solution.problem, step.solution
        free = problem.factor.solve(problem.g)
        before, after = (v @ problem.H @ v / 2.0 for v in (free, solution.v))
        stabilization = np.maximum(problem.d, 0.0) @ solution.gamma + problem.c @ solution.gamma_c
        assert after <= before + max(stabilization, 0.0) + KEPT * (1.0 + before)
        scene.q, scene.v = step.q, step.v


def test_free_mechanisms_keep_their_momentum():
    """Mechanisms on a free-flyer keep both momenta to first order in h, without a drift."""
    model = flat_model(("freeflyer", "revolute", "spherical", "revolute"), 5, gravity=(0, 0, 0))
    rng = np.random.default_rng(5)
    q, v = tf.random_configuration(model, rng), 3.0 * rng.normal(size=model.nv)
    errors = []
    for h in (4e-3, 1e-3):
        momentum = momenta(model, Stepper(model, h=h).run(q, v, int(1.0 / h)))
        errors.append(np.abs(momentum - momentum[0]).max() / np.abs(momentum).max())
    assert errors[1] < 0.4 * errors[0]
    assert errors[0] < 0.05


def test_steps_that_turn_too_far_for_the_midpoint_rule_agree_with_it_to_first_order():
    model = flat_model(("freeflyer", "revolute", "spherical", "helical"), 7)
    rng = np.random.default_rng(7)
    q, v = tf.random_configuration(model, rng), rng.normal(size=model.nv)
    H = tf.crba(model, q, layout="packed")
    errors = []
    for h in (1e-3, 5e-4):
        motion = Stepper(model, h=h)._midpoint()
        u = tf.solve(H, model.tree, motion._projected(q, v), layout="packed")
        errors.append(np.abs(u - motion.midpoint(H, q, v, tf.bias(model, q, v))).max() / h)
    assert errors[1] < 0.6 * errors[0]
    assert errors[0] < 0.01


STEADY = (
    ("freeflyer", 1.0, [0.2, 0.1, 0.0], 0.0, True),
    ("freeflyer", 1.0, [0.0, 0.0, 0.0], 0.1, False),
    ("freeflyer", 2.0, [0.0, 0.0, 0.0], 0.0, False),
    ("spherical", 1.0, [0.0, 0.0, 0.0], 0.1, True),
    ("spherical", 1.0, [0.1, 0.0, 0.0], 0.0, False),
    ("planar", 2.0, [0.1, 0.2, 0.0], 0.0, True),
    ("translation", 2.0, [0.1, 0.2, 0.0], 0.1, True),
    ("revolute", 2.0, [0.1, 0.2, 0.0], 0.1, True),
    ("helical", 2.0, [0.1, 0.2, 0.0], 0.0, True),
    ("universal", 2.0, [0.1, 0.2, 0.0], 0.0, False),
)


@pytest.mark.parametrize(("kind", "ratio", "com", "armature", "steady"), STEADY)
def test_single_bodies_without_gyroscopic_moments_need_no_iteration(kind, ratio, com, armature, steady):
    """The explicit and the implicit step agree to rounding errors exactly for these bodies."""
    axis = {"revolute": [0, 0, 1.0], "helical": [0, 0, 1.0], "universal": np.eye(3)[:2]}.get(kind)
    inertia = tf.Inertia(2.0, com, np.diag([1.0, 1.0, ratio]))
    pitch = 0.3 if kind == "helical" else 0.0
    model = tf.Model([tf.Joint("body", kind, axis=axis, pitch=pitch, inertia=inertia, armature=armature)])
    assert is_steady(model) == steady
    rng = np.random.default_rng(0)
    q, v = tf.random_configuration(model, rng), 5.0 * rng.normal(size=model.nv)
    H, stepper = tf.crba(model, q, layout="packed"), Stepper(model, h=0.01, gyroscopic="explicit")
    implicit = FreeMotion(model, stepper._integrator, 0.01).momentum(H, q, v, tf.bias(model, q, v))
    assert np.allclose(implicit, stepper._free(q, v, np.zeros(model.nv))[0], rtol=0, atol=1e-11) == steady
