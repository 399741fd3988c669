"""J H^-1 J^T and the inertia of frames from q agree with their parts, for arrays of any form."""

import numpy as np
import pytest
from helpers.codegen_models import random_model

import treefactor as tf
from treefactor import robots

KINDS = ("revolute", "prismatic", "helical", "universal", "spherical", "planar", "translation", "freeflyer")
REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")
MODEL = random_model(np.random.default_rng(0), ["freeflyer", "revolute", "spherical", "revolute", "helical"])
NAMES = [joint.name for joint in MODEL.joints]
LAST = NAMES[-1]


def configurations(model, *batch):
    q = tf.random_configuration(model, np.random.default_rng(1), size=int(np.prod(batch)))
    return q.reshape(*batch, model.nq)


def expected(model, q, frames, reference="LOCAL"):
    """Compute J H^-1 J^T with NumPy."""
    J = tf.frame_jacobian(model, q, list(frames), reference)
    J = J.reshape(*J.shape[:-3], -1, model.nv)
    return J @ np.linalg.solve(tf.crba(model, q), np.swapaxes(J, -1, -2))


def check(model, q, frames, reference="LOCAL", **options):
    """Check both functions against NumPy, and every configuration of a batch against a call of its own."""
    G = tf.delassus(model, q, frames, reference, **options)
    many = frames if isinstance(frames, list) else [frames]
    right = expected(model, q, many, reference)
    scale = np.abs(right).max()
    np.testing.assert_allclose(G, right, rtol=1e-8, atol=1e-9 * scale)
    damping = 0.1 * scale
    inertia = tf.operational_inertia(model, q, frames, reference, damping, **options)
    unit = np.broadcast_to(np.eye(G.shape[-1]), G.shape)
    np.testing.assert_allclose(inertia @ (G + damping * np.eye(G.shape[-1])), unit, atol=1e-10)
    for at in np.ndindex(*G.shape[:-2]):
        one = tf.delassus(model, q[at], frames, reference)
        np.testing.assert_allclose(G[at], one, rtol=1e-10, atol=1e-11 * scale)
    return G


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("frames", [LAST, [LAST], [NAMES[1], LAST], [LAST, LAST], [-1, NAMES[2]]])
@pytest.mark.parametrize("batch", [(), (1,), (8,), (2, 5), (0,)])
def test_frames_and_batches(batch, frames, reference):
    if batch == (0,):
        assert tf.delassus(MODEL, np.empty((0, MODEL.nq)), LAST, reference).shape == (0, 6, 6)
        return
    check(MODEL, configurations(MODEL, *batch), frames, reference)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch", [(), (3,)])
def test_every_kind_of_joint(kind, batch):
    model = random_model(np.random.default_rng(2), [kind, "revolute", kind])
    check(model, configurations(model, *batch), [model.joints[0].name, model.joints[-1].name])


@pytest.mark.parametrize("batch", [(), (9,)])
@pytest.mark.parametrize(("name", "joint"), [("tiago_pro", "arm_left_7_joint"), ("panda", "panda_joint7")])
def test_mimic_joints(name, joint, batch):
    pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
    from treefactor.adapters import pinocchio_

    model = pinocchio_.model(pinocchio_.load(robots.find(name).path, mimic=True))
    assert model.coupling is not None
    check(model, configurations(model, *batch), [joint, model.joints[-1].name])


def test_pinocchio():
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
    from treefactor.adapters import pinocchio_

    other = pinocchio_.load(robots.find("talos_reduced").path, True)
    model, data = pinocchio_.model(other), other.createData()
    joints = ["leg_left_6_joint", "arm_right_3_joint"]
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for joint in joints:
        at = other.getJointId(joint)
        models.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, other, at, pin.LOCAL))
        datas.append(models[-1].createData())
    pin.initConstraintDynamics(other, data, models, datas)
    for q in configurations(model, 3):
        G = pin.computeDelassusMatrix(other, data, q, models, datas)
        for own in (tf.delassus(model, q, joints), tf.delassus(model, q[None], joints)[0]):
            np.testing.assert_allclose(own, G, rtol=1e-9, atol=1e-10 * np.abs(G).max())


def test_unknown_frames_and_references_are_named():
    q = configurations(MODEL, 11)
    with pytest.raises(tf.InvalidModelError, match="elbow"):
        tf.delassus(MODEL, q[0], "elbow")
    with pytest.raises(ValueError, match="reference must be one of"):
        tf.delassus(MODEL, q[0], LAST, "BODY")


def test_a_body_without_mass_has_no_inertia():
    model = tf.Model([tf.Joint("turn", "revolute", axis=[0, 0, 1])])
    with pytest.raises(tf.NotPositiveDefiniteError):
        tf.delassus(model, [0.0], "turn")
    assert np.isnan(tf.delassus(model, np.zeros((3, 1)), "turn")).all()
