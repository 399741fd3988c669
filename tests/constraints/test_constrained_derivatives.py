"""Derivatives of constrained dynamics agree with complex steps, with differences and with Pinocchio."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.dynamics_cases import arguments
from helpers.loop_cases import MIXED, closed_cases, closed_velocity, frame_of, random_loops
from helpers.model_cases import models
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import constrained

import treefactor as tf
from treefactor import constraints, robots
from treefactor.constraints import RigidContact

COMPLEX = 2e-12  # relative to the largest entry, of results that carry the condition of H
DIFFERENCES = 1e-6
PINOCCHIO = 1e-8  # of its proximal method for loops, which errs by more than ours against complex steps
CASES = closed_cases()
AXES = ("LOCAL", "LOCAL_WORLD_ALIGNED")


def error(result, expected, least=1e-9):
    return np.abs(result - expected).max(initial=0.0) / max(np.abs(expected).max(initial=0.0), least)


def least_scales(model, q):
    """Return scales of the derivatives of accelerations by tau; those that contacts determine are zero."""
    return {"da_dtau": np.abs(tf.inverse_inertia(model, q)).max()}


def check(model, q, v, tau, contacts=(), s=0.0, fext=None, bound=COMPLEX):
    expected = constrained.forward_dynamics_derivatives(model, q, v, tau, contacts, s, fext)
    derivatives = constraints.forward_dynamics_derivatives(
        model, q, v, tau, fext, s, contacts=contacts, with_value=True
    )
    a, forces = constraints.forward_dynamics(model, q, v, tau, fext, s, contacts=contacts)
    assert error(a, expected[-2]) < bound
    assert error(forces, expected[-1]) < bound
    scales = least_scales(model, q)
    for name, ours, theirs in zip(derivatives._fields, derivatives, expected, strict=True):
        assert ours.shape == theirs.shape, name
        assert error(ours, theirs, scales.get(name, 1e-9)) < bound, name


def differences(function, n, h=2e-4):
    """Return the derivatives of arrays at zero, by Richardson's extrapolation of central differences."""
    columns = []
    for step in np.eye(n):
        a, b, c = (
            [(x - y) / (2 * d) for x, y in zip(function(d * step), function(-d * step), strict=True)]
            for d in (h, h / 2, h / 4)
        )
        columns.append([x / 45 - 4 * y / 9 + 64 * z / 45 for x, y, z in zip(a, b, c, strict=True)])
    return [np.stack(part, axis=-1) for part in zip(*columns, strict=True)]


def check_differences(model, q, v, tau, **given):
    """Compare with differences of `forward_dynamics`, also where rows depend on each other."""
    derivatives = constraints.forward_dynamics_derivatives(model, q, v, tau, **given)

    def dynamics(q, v, tau):
        return constraints.forward_dynamics(model, q, v, tau, **given)

    expected = [
        *differences(lambda step: dynamics(tf.integrate(model, q, step), v, tau), model.nv),
        *differences(lambda step: dynamics(q, v + step, tau), model.nv),
        *differences(lambda step: dynamics(q, v, tau + step), model.nv),
    ]
    scales = least_scales(model, q)
    for name, ours, theirs in zip(
        derivatives._fields, derivatives, expected[::2] + expected[1::2], strict=True
    ):
        assert error(ours, theirs, scales.get(name, 1e-9)) < DIFFERENCES, name


# ------------------------------------------------------------------------------------------ contacts


@pytest.mark.parametrize("s", [0.0, 5.0])
@pytest.mark.parametrize("reference", AXES)
@pytest.mark.parametrize("against", [-1, 6])
def test_contacts_of_all_kinds_of_joints(against, reference, s):
    model = tf.Model(MIXED.joints, MIXED.gravity)
    q, v, tau, fext = arguments(model, 3)
    ends = [tf.Frame(f"end {k}", joint, *frame_of(k)) for k, joint in enumerate((8, 5, against, against))]
    contacts = [
        RigidContact(ends[0], "6D", reference, ends[2]),
        RigidContact(ends[1], "3D", reference, ends[3]),
    ]
    check(model, q, v, tau, contacts, s, fext)


@settings(max_examples=12)
@given(models(max_joints=5), st.integers(0, 2**31), st.sampled_from(AXES))
def test_one_contact_of_random_trees(model, seed, reference):
    q, v, tau, fext = arguments(model, seed)
    last = model.njoints - 1
    moved = len(model.support(model.frame(model.joints[last].name)))
    contact = RigidContact(tf.Frame("end", last, *frame_of(seed)), "3D", reference)
    derivatives = constraints.forward_dynamics_derivatives(model, q, v, tau, fext, contacts=[contact])
    assert all(np.isfinite(x).all() for x in derivatives)
    if moved > 3:
        size = np.linalg.svd(tf.frame_jacobian(model, q, contact.frame)[:3], compute_uv=False)
        if size[-1] > 1e-2 * size[0]:
            check(model, q, v, tau, [contact], 2.0, fext, 1e-9)


def standing(name="solo12"):
    """Return a robot in Pinocchio and here, and a state."""
    pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    from treefactor.adapters import pinocchio_

    theirs = pinocchio_.load(robots.find(name).path, True)
    model = pinocchio_.model(theirs)
    rng, reach = np.random.default_rng(0), np.ones(model.nq)  # legs that are not stretched
    q = tf.random_configuration(model, rng, -reach, reach)
    return theirs, model, q, *rng.normal(size=(2, model.nv))


@pytest.mark.parametrize(
    "contacts",
    [
        *([("3D", axes, "FL_FOOT", None), ("6D", axes, "HR_FOOT", None)] for axes in AXES),
        [("6D", "LOCAL", "FL_FOOT", "HR_FOOT")],
        *([("3D", axes, "FL_FOOT", "HR_FOOT")] for axes in AXES),
    ],
)
def test_derivatives_are_pinocchios(contacts):
    theirs, model, q, v, tau = standing()
    import pinocchio as pin

    constraint, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for kind, reference, *ends in contacts:
        frames = [theirs.frames[theirs.getFrameId(end)] for end in ends if end]
        sides = [x for frame in frames for x in (frame.parentJoint, frame.placement)]
        kind, axes = getattr(pin.ContactType, f"CONTACT_{kind}"), getattr(pin.ReferenceFrame, reference)
        constraint.append(pin.RigidConstraintModel(kind, theirs, *sides, axes))
        datas.append(constraint[-1].createData())
    data, settings = theirs.createData(), pin.ProximalSettings(1e-14, 1e-14, 200)
    pin.initConstraintDynamics(theirs, data, constraint, datas)
    a = pin.constraintDynamics(theirs, data, q, v, tau, constraint, datas, settings).copy()
    forces = data.lambda_c.copy()
    pin.computeConstraintDynamicsDerivatives(theirs, data, constraint, datas, settings)
    names = "ddq_dq", "ddq_dv", "ddq_dtau", "dlambda_dq", "dlambda_dv", "dlambda_dtau"
    expected = [*(getattr(data, name) for name in names), a, forces]
    ours = [RigidContact(a, kind, axes, -1 if b is None else b) for kind, axes, a, b in contacts]
    derivatives = constraints.forward_dynamics_derivatives(model, q, v, tau, contacts=ours, with_value=True)
    for name, x, y in zip(derivatives._fields, derivatives, expected, strict=True):
        assert error(x, y) < (COMPLEX if len(contacts) == 2 else PINOCCHIO), name


# --------------------------------------------------------------------------------------------- loops


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "stewart", "leg", "arm"])
@pytest.mark.parametrize("s", [0.0, 3.0])
def test_loops_closed_and_open(name, s):
    model, q = CASES[name]
    tau, rng = np.random.default_rng(1).normal(size=model.nv), np.random.default_rng(0)
    if name in ("stewart", "arm"):  # whose rows are independent
        check(model, q, closed_velocity(model, q), tau, (), s, bound=1e-10)
    apart = tf.integrate(model, q, 0.05 * rng.normal(size=model.nv))
    check_differences(model, apart, rng.normal(size=model.nv), tau, stabilization=s)


@pytest.mark.parametrize("seed", range(2))
def test_open_loops_of_all_kinds_and_rows_that_contradict(seed):
    model = random_loops(MIXED, seed)
    q, v, tau, fext = arguments(model, seed)
    check_differences(model, q, v, tau, fext=fext, stabilization=4.0)


def test_rows_that_depend_on_each_other():
    model, q = CASES["over-constrained"]
    tau = np.array([1.0, -2.0, 0.5])
    q = tf.integrate(model, q, [0.01, 0.02, -0.03])
    check_differences(model, q, np.array([0.3, 0.2, 0.1]), tau, stabilization=2.0)


def test_rows_are_those_of_the_loop_kernel():
    model = random_loops(MIXED, 0)
    q, v, *_ = arguments(model, 0)
    expected = constraints.loop_rows(model, q, v)
    rows = constrained.rows(model, q, v, np.zeros(model.nv))
    assert error(rows[0], expected.residual) < COMPLEX
    assert error(rows[1], expected.dense() @ v) < COMPLEX
    assert error(rows[2], expected.bias) < COMPLEX


def test_drives_with_loops_and_contacts():
    model, q = CASES["stewart"]
    leg = next(k for k, joint in enumerate(model.joints) if joint.kind == "prismatic")
    motor = constraints.Drive(leg, lambda t: (0.1 + t, 1.0 + t, 0.3))
    rng = np.random.default_rng(0)
    q = tf.integrate(model, q, 0.01 * rng.normal(size=model.nv))
    v, tau = rng.normal(size=(2, model.nv))
    check_differences(model, q, v, tau, drives=[motor], t=0.2, stabilization=3.0)


def test_a_driven_loop():
    model, q = CASES["docking"]
    motor = constraints.Drive(model.loops[0].name, lambda t: (0.1, 0.5, 0.3), freedom=2)
    rng = np.random.default_rng(0)
    q = tf.integrate(model, q, 0.01 * rng.normal(size=model.nv))
    v, tau = rng.normal(size=(2, model.nv))
    check_differences(model, q, v, tau, drives=[motor], stabilization=3.0)


# ------------------------------------------------------------------------------------------- batches


def test_batches_are_single_calls_and_bad_states_are_nan():
    model = tf.Model(MIXED.joints, MIXED.gravity)
    q, v, tau, fext = arguments(model, 1, (5,))
    contacts = (RigidContact(tf.Frame("end", 8, *frame_of(1)), "6D"),)
    whole = constraints.forward_dynamics_derivatives(
        model, q, v, tau, fext, 2.0, contacts=contacts, with_value=True
    )
    q = q.copy()
    q[3] = np.nan
    bad = constraints.forward_dynamics_derivatives(
        model, q, v, tau, fext, 2.0, contacts=contacts, with_value=True
    )
    for k in range(5):
        one = constraints.forward_dynamics_derivatives(
            model, q[k] if k != 3 else q[0], v[k], tau[k], fext[k], 2.0, contacts=contacts, with_value=True
        )
        for x, y, z in zip(whole, bad, one, strict=True):
            assert np.isnan(y[k]).all() if k == 3 else np.array_equal(x[k], y[k])
            assert k == 3 or error(x[k], z) < COMPLEX


def test_batches_of_several_blocks():
    model = tf.Model(MIXED.joints, MIXED.gravity)
    q, v, tau, fext = arguments(model, 1, (70,))
    contacts = [RigidContact(tf.Frame("end", 8, *frame_of(1)))]
    derivatives = constraints.forward_dynamics_derivatives(
        model, *(x.reshape(2, 35, *x.shape[1:]) for x in (q, v, tau, fext)), contacts=contacts
    )
    for at, k in (((0, 0), 0), ((1, 34), 69)):
        one = constraints.forward_dynamics_derivatives(model, q[k], v[k], tau[k], fext[k], contacts=contacts)
        for name, x, y in zip(derivatives._fields, derivatives, one, strict=True):
            assert x.shape == (2, 35, *y.shape), name
            assert error(x[at], y) < COMPLEX, name


def test_a_base_far_away_changes_nothing():
    near = tf.Model(MIXED.joints, MIXED.gravity)
    moved = [replace(x, p=x.p + 1e6) if x.parent < 0 else x for x in near.joints]
    far = tf.Model(moved, MIXED.gravity)
    q, v, tau, fext = arguments(near, 1)
    ends = [tf.Frame(f"end {k}", joint, *frame_of(k)) for k, joint in enumerate((8, 5, 6))]
    contacts = [RigidContact(ends[0], "6D"), RigidContact(ends[1], "3D", "LOCAL", ends[2])]
    derivatives, expected = (
        constraints.forward_dynamics_derivatives(model, q, v, tau, fext, contacts=contacts)
        for model in (far, near)
    )
    for name, x, y in zip(derivatives._fields, derivatives, expected, strict=True):
        assert error(x, y) < 1e-12, name


def test_without_constraints_these_are_the_derivatives_of_forward_dynamics():
    model = tf.Model(MIXED.joints, MIXED.gravity)
    q, v, tau, fext = arguments(model, 1)
    derivatives = constraints.forward_dynamics_derivatives(model, q, v, tau, fext, with_value=True)
    expected = tf.forward_dynamics_derivatives(model, q, v, tau, fext, with_value=True)
    for x, y in zip([*derivatives[:3], derivatives.a], expected, strict=True):
        assert error(x, y) < COMPLEX
    assert derivatives.forces.shape == (0,)
    assert derivatives.dforces_dq.shape == (0, model.nv)


@pytest.mark.parametrize("lead", [(), (0,), (3,), (2, 0)])
@pytest.mark.parametrize("model", [tf.Model([]), MIXED], ids=["no joints", "loops"])
def test_any_number_of_states_of_any_model(model, lead):
    q, v = np.broadcast_to(tf.neutral(model), (*lead, model.nq)), np.zeros((*lead, model.nv))
    derivatives = constraints.forward_dynamics_derivatives(model, q, v, v, with_value=True)
    assert derivatives.da_dq.shape == derivatives.da_dtau.shape == (*lead, model.nv, model.nv)
    assert derivatives.dforces_dv.shape == (*derivatives.forces.shape, model.nv)


def test_wrong_contacts_are_named():
    model = MIXED
    q, v, tau, _ = arguments(model, 1)
    call = constraints.forward_dynamics_derivatives
    with pytest.raises(tf.InvalidModelError, match=r"contacts\[0\] is not a RigidContact"):
        call(model, q, v, tau, contacts=["foot"])
    with pytest.raises(tf.InvalidModelError, match=r"contacts\[0\].frame 'foot' is not"):
        call(model, q, v, tau, contacts=[RigidContact("foot")])
    with pytest.raises(tf.InvalidModelError, match="are on one body"):
        call(model, q, v, tau, contacts=[RigidContact(model.joints[1].name, against=tf.Frame("end", 1))])
    with pytest.raises(ValueError, match="kind must be one of"):
        RigidContact(1, "2D")
    with pytest.raises(ValueError, match="reference must be one of"):
        RigidContact(1, "3D", "WORLD")
    with pytest.raises(ValueError, match="stabilization must not be negative"):
        call(model, q, v, tau, stabilization=-1.0)
