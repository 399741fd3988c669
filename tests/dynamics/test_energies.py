"""Compare energies with H, centres of mass, Pinocchio and the power of the drives."""

import numpy as np
import pytest
from helpers.body_frames import placement
from helpers.dynamics_cases import EXACT, MODELS, arguments, error, free
from helpers.model_cases import in_pinocchio, models, random_model
from hypothesis import given
from hypothesis import strategies as st

import treefactor as tf
from treefactor import robots
from treefactor.model.joints import SIZES

pytestmark = pytest.mark.isa

seeds = st.integers(0, 2**32 - 1)
ROBOTS = ("ur5_robot", "panda", "solo12", "talos_reduced")
ENERGIES = {
    "kinetic": lambda model, q, v, **options: tf.kinetic_energy(model, q, v, **options),
    "potential": lambda model, q, v, **options: tf.potential_energy(model, q, **options),
    "mechanical": lambda model, q, v, **options: tf.mechanical_energy(model, q, v, **options),
}
STEP = 1e-5  # s, of central differences
SMOOTH = 1e-7  # their relative error


def assert_definition(model, seed=0):
    """Assert that energies are v^T H v / 2 and -m g . c."""
    q, v, _, _ = arguments(model, seed)
    kinetic, potential = tf.kinetic_energy(model, q, v), tf.potential_energy(model, q)
    expected = v @ tf.h_times(model, q, v) / 2
    assert abs(kinetic - expected) <= EXACT * abs(expected)
    terms = [
        joint.inertia.mass * model.gravity * placement(model, q, i, p=joint.inertia.com)[1]
        for i, joint in enumerate(model.joints)
    ]
    assert abs(potential + np.sum(terms)) <= EXACT * np.abs(terms).sum()
    total = tf.mechanical_energy(model, q, v)
    assert abs(total - kinetic - potential) <= EXACT * (abs(kinetic) + abs(potential))


@pytest.mark.parametrize("kind", SIZES)
def test_each_joint_has_the_energy_of_its_definition(kind):
    assert_definition(random_model([-1], [kind], 1))
    assert_definition(random_model([-1, 0, 1, 1], ["revolute", "spherical", kind, "prismatic"], 2))
    assert_definition(random_model([-1, -1, 1, 0], [kind, "freeflyer", kind, "helical"], 3))


@given(models(), seeds)
def test_a_tree_has_the_energy_of_its_definition(model, seed):
    assert_definition(model, seed)


def assert_pinocchios(model, theirs, kinetic):
    """Assert that energies and masses are Pinocchio's, the kinetic one as computed by a function."""
    import pinocchio as pin

    data = theirs.createData()
    q, v, _, _ = arguments(model)
    moving = kinetic(theirs, data, q, v)
    potential = pin.computePotentialEnergy(theirs, data, q)
    scale = abs(potential) + model.mass * np.linalg.norm(model.gravity)
    assert abs(tf.kinetic_energy(model, q, v) - moving) <= EXACT * moving
    assert abs(tf.potential_energy(model, q) - potential) <= EXACT * scale
    assert abs(tf.mechanical_energy(model, q, v) - moving - potential) <= EXACT * (moving + scale)
    pin.computeSubtreeMasses(theirs, data)
    np.testing.assert_allclose(model.subtree_masses, np.array(data.mass)[1:], rtol=1e-14)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_robots_are_pinocchios(name, floating):
    pinocchio_ = pytest.importorskip("treefactor.adapters.pinocchio_", reason="Pinocchio is the reference")
    import pinocchio as pin

    theirs = pinocchio_.load(robots.find(name).path, floating)
    assert_pinocchios(pinocchio_.model(theirs), theirs, pin.computeKineticEnergy)


@pytest.mark.parametrize("name", ["panda", "tiago_pro"])
def test_robots_with_mimic_joints_have_the_energy_of_its_definition(name):
    """Pinocchio has no energies of such models."""
    assert_definition(tf.Model.from_urdf(robots.find(name).path, mimic=True))


@pytest.mark.parametrize("kind", SIZES)
def test_each_joint_is_pinocchios(kind):
    """Kinetic energies are from Pinocchio's H: its own leave out the armature of joints about any axis."""
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    model = free(random_model([-1, 0, 1, 0], [kind, "revolute", kind, "spherical"], 1))

    def kinetic(theirs, data, q, v):
        upper = np.triu(pin.crba(theirs, data, q))
        return v @ upper @ v - v**2 @ upper.diagonal() / 2

    assert_pinocchios(model, in_pinocchio(model), kinetic)


@pytest.mark.parametrize("name", ["all kinds", "freeflyer", "followers"])
def test_energy_changes_by_the_power_of_the_drives(name):
    model = MODELS[name]
    q, v, tau, _ = arguments(model)
    a = tf.forward_dynamics(model, q, v, tau)
    ahead, behind = (
        tf.mechanical_energy(model, tf.integrate(model, q, h * v + h * h / 2 * a), v + h * a)
        for h in (STEP, -STEP)
    )
    scale = abs(tf.kinetic_energy(model, q, v)) * (1 + np.abs(v).max() + np.abs(a).max())
    assert abs((ahead - behind) / (2 * STEP) - tau @ v) < SMOOTH * scale


@pytest.mark.parametrize("name", ENERGIES)
@pytest.mark.parametrize("which", MODELS)
def test_one_configuration_gives_a_number(which, name):
    model = MODELS[which]
    q, v, _, _ = arguments(model)
    energy = ENERGIES[name](model, q, v)
    assert type(energy) is np.float64
    assert type(ENERGIES[name](model, q.tolist(), v.tolist())) is np.float64
    assert type(ENERGIES[name](model, q, v, num_threads=2)) is np.float64
    out = np.empty(())
    assert ENERGIES[name](model, q, v, out=out) is out
    assert out == energy
    assert ENERGIES[name](model, q[None], v[None]).shape == (1,)
    assert ENERGIES[name](model, np.tile(q, (2, 3, 1)), np.tile(v, (2, 3, 1))).shape == (2, 3)


def test_a_robot_far_away_loses_no_digit():
    model = MODELS["freeflyer"]
    q, v, _, _ = arguments(model)
    far = q.copy()
    far[:3] += 1e6
    assert tf.kinetic_energy(model, far, v) == tf.kinetic_energy(model, q, v)
    shift = model.joints[0].R @ (far - q)[:3]
    expected = tf.potential_energy(model, q) - model.mass * model.gravity @ shift
    scale = model.mass * np.abs(model.gravity) @ np.abs(shift)
    assert abs(tf.potential_energy(model, far) - expected) <= 4 * np.spacing(scale)


def test_masses():
    model = MODELS["all kinds"]
    masses = [joint.inertia.mass for joint in model.joints]
    assert model.mass == pytest.approx(sum(masses), rel=1e-15)
    for i in range(model.njoints):
        carried = sum(mass for k, mass in enumerate(masses) if i in path(model, k))
        assert model.subtree_masses[i] == pytest.approx(carried, rel=1e-14)
    assert not model.subtree_masses.flags.writeable
    assert MODELS["nothing"].mass == 0.0
    assert error(MODELS["nothing"].subtree_masses, np.zeros(0)) == 0.0


def path(model, joint):
    """Return a joint and its ancestors."""
    joints = []
    while joint >= 0:
        joints.append(joint)
        joint = model.joints[joint].parent
    return joints
