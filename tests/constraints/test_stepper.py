"""Test time stepping of bodies that fall, slide, roll, stand, swing and jam."""

import re

import numpy as np
import pytest
from helpers.body_frames import jacobian, placement
from helpers.loop_cases import closed_velocity, free
from helpers.model_cases import random_model
from scipy.spatial.transform import Rotation

import treefactor as tf
from treefactor import constraints, mechanisms
from treefactor.constraints import Contact, Plane, Sphere, Stepper, box
from treefactor.constraints.free_motion import joint_integrator
from treefactor.exceptions import NonFiniteError, ShapeError, StepError
from treefactor.mlcp import Status
from treefactor.model.joints import SIZES

CUBE = tf.Inertia(1.0, tensor=np.eye(3) / 6)
SOLVED = 1e-8  # of natural residuals, in square roots of J
HELD = 1e-9  # m, m/s


def bodies(count, inertia=CUBE, **options):
    return tf.Model([tf.Joint(f"body{i}", "freeflyer", inertia=inertia) for i in range(count)], **options)


def at(*places):
    """Return the configuration of free bodies that are not rotated."""
    return np.concatenate([[*place, 0, 0, 0, 1.0] for place in places])


def energy(model, q, v):
    """Return the kinetic and potential energy, J."""
    potential = 0.0
    for i, joint in enumerate(model.joints):
        _, p = placement(model, q, i, p=joint.inertia.com)
        potential -= joint.inertia.mass * model.gravity @ p
    return v @ tf.h_times(model, q, v) / 2 + potential


def energies(model, run):
    return np.array([energy(model, q, v) for q, v in zip(run.q, run.v, strict=True)])


def worst_residual(run):
    return max(step.solution.residual() for step in run.steps)


def test_a_ball_falls_and_rests():
    model = bodies(1, tf.Inertia(2.0, tensor=0.004 * np.eye(3)))
    h = 0.01
    run = Stepper(model, [Contact(Sphere(0, radius=0.1), mu=0.5)], h=h).run(at([0, 0, 1.0]), np.zeros(6), 100)
    flying = int(0.4 / h)
    assert np.allclose(run.v[flying, 2], -9.81 * 0.4)
    assert np.allclose(run.q[flying, 2], 1.0 - 9.81 * h**2 * flying * (flying + 1) / 2)
    assert run.q[:, 2].min() > 0.1 - HELD
    assert np.abs(run.q[-1] - at([0, 0, 0.1])).max() < HELD
    assert np.abs(run.v[-1]).max() < HELD
    assert np.allclose(run.steps[-1].impulse, [[0, 0, 2.0 * 9.81 * h]])
    assert np.allclose([step.gap[0] for step in run.steps], run.q[:-1, 2] - 0.1)
    assert worst_residual(run) < SOLVED


@pytest.mark.parametrize("facets", [4, 8])
def test_a_box_slides_as_far_as_friction_lets_it(facets):
    """The distance is v² / (2 mu g) to first order in h; x is an edge of the friction pyramid."""
    errors = []
    for h in (0.01, 0.005):
        contacts = [Contact(corner, mu=0.3) for corner in box(0, [1.0, 1.0, 0.2])]
        run = Stepper(bodies(1), contacts, h=h, facets=facets).run(
            at([0, 0, 0.1]), [2.0, 0, 0, 0, 0, 0], int(1 / h)
        )
        assert np.abs(run.v[-1]).max() < HELD
        assert np.diff(energies(bodies(1), run)).max() < HELD
        errors.append(abs(run.q[-1, 0] - 4.0 / (2 * 0.3 * 9.81)))
    assert errors[0] < 0.02
    assert errors[1] < 0.6 * errors[0]


def test_facets_inside_the_cone_hold_less_between_them():
    """At 45 degrees four facets allow mu cos 45°, eight facets allow mu."""
    decelerations = []
    for facets in (4, 8):
        contacts = [Contact(corner, mu=0.4) for corner in box(0, [1.0, 1.0, 0.2])]
        stepper = Stepper(bodies(1), contacts, h=0.002, facets=facets)
        lifted = 0.002 * 0.4 * (np.sqrt(0.5) if facets == 4 else 1.0)  # as the relaxation has it: no hop
        run = stepper.run(at([0, 0, 0.1 + lifted]), [np.sqrt(0.5), np.sqrt(0.5), 0, 0, 0, 0], 60)
        speed = np.linalg.norm(run.v[:, :2], axis=1)
        decelerations.append((speed[10] - speed[60]) / 0.1)
    assert np.allclose(decelerations, 0.4 * 9.81 * np.array([np.sqrt(0.5), 1.0]), rtol=1e-3)


def test_a_box_of_friction_slides_and_stops_without_a_lift():
    """The distance is v² / (2 mu g) + v h, because friction begins in the second step."""
    h, mu = 0.005, 0.3
    contacts = [Contact(corner, mu=mu) for corner in box(0, [1.0, 1.0, 0.2])]
    stepper = Stepper(bodies(1), contacts, h=h, friction="box")
    run = stepper.run(at([0, 0, 0.1]), [2.0, 0, 0, 0, 0, 0], int(1 / h))
    assert np.abs(run.q[:, 2] - 0.1).max() < HELD
    assert np.abs(run.v[-1]).max() < HELD
    assert np.abs(run.q[-1, 0] - 4.0 / (2 * mu * 9.81)) < 2.0 * h
    slowing = np.diff(run.v[:, 0]) / h
    assert np.allclose(slowing[1:100], -mu * 9.81)
    assert slowing[0] == pytest.approx(0.0, abs=1e-9)
    assert worst_residual(run) < SOLVED


@pytest.mark.parametrize(("steepness", "stays"), [(0.29, True), (0.31, False)])
def test_a_box_of_friction_holds_on_a_slope_up_to_mu(steepness, stays):
    model = bodies(1, gravity=[9.81 * np.sin(np.arctan(steepness)), 0, -9.81 * np.cos(np.arctan(steepness))])
    contacts = [Contact(corner, mu=0.3) for corner in box(0, [1.0, 1.0, 0.2])]
    run = Stepper(model, contacts, h=0.01, friction="box").run(at([0, 0, 0.1]), np.zeros(6), 100)
    assert (np.abs(run.v[-1]).max() < 1e-6) == stays
    if not stays:
        slope = np.arctan(steepness)
        late = (run.v[100, 0] - run.v[50, 0]) / 0.5
        assert late == pytest.approx(9.81 * (np.sin(slope) - 0.3 * np.cos(slope)), rel=1e-6)


def test_without_friction_nothing_brakes():
    run = Stepper(bodies(1), [Contact(corner) for corner in box(0, [1.0, 1.0, 0.2])], h=0.01).run(
        at([0, 0, 0.1]), [2.0, 0.5, 0, 0, 0, 0], 50
    )
    assert np.abs(run.v[-1] - [2.0, 0.5, 0, 0, 0, 0]).max() < HELD


def test_a_sliding_ball_rolls_in_the_end():
    """The final velocity is 5/7 of the initial one for any mu."""
    ball = bodies(1, tf.Inertia(1.0, tensor=0.4 * 0.01 * np.eye(3)))
    run = Stepper(ball, [Contact(Sphere(0, radius=0.1), mu=0.3)], h=0.001).run(
        at([0, 0, 0.1]), [1.0, 0, 0, 0, 0, 0], 500
    )
    moved = jacobian(ball, run.q[-1], 0) @ run.v[-1]
    assert np.allclose(moved, [5 / 7, 0, 0, 0, 50 / 7, 0], atol=0.01)


def test_a_stack_of_boxes_stays():
    count = 6
    contacts = [Contact(corner, mu=0.5) for corner in box(0, [1, 1, 1])[::2]]
    for i in range(1, count):
        top = Plane(i - 1, [0, 0, 1.0], [0, 0, 0.5])
        contacts += [Contact(corner, top, mu=0.5) for corner in box(i, [1, 1, 1])[::2]]
    q = at(*([0.05 * (i % 2), 0, i + 0.5] for i in range(count)))
    run = Stepper(bodies(count), contacts, h=0.01).run(q, np.zeros(6 * count), 50)
    assert np.abs(run.q - q).max() < HELD
    carried = np.array([step.impulse[:4, 2].sum() for step in run.steps])
    assert np.allclose(carried, count * 9.81 * 0.01)


def test_energy_does_not_grow_where_boxes_tumble():
    rng = np.random.default_rng(0)
    model = bodies(1)
    for _ in range(3):
        turn = rng.normal(size=4)
        q = np.array([0, 0, 1.5, *turn / np.linalg.norm(turn)])
        contacts = [Contact(corner, mu=0.4) for corner in box(0, [1, 1, 1])]
        run = Stepper(model, contacts, h=0.01).run(q, rng.normal(size=6), 400)
        total = energies(model, run)
        assert np.diff(total).max() < 0.01 * total[0]
        assert total[-1] < 0.7 * total[0]
        assert np.abs(run.v[-1]).max() < 1e-6
        assert min(step.gap.min() for step in run.steps) > -0.01


def test_momentum_of_free_bodies_is_kept():
    """Linear momentum is kept exactly, angular momentum to first order in h."""
    model = bodies(1, tf.Inertia(2.0, tensor=np.diag([1.0, 2.0, 2.5])), gravity=[0, 0, 0])
    v = np.array([1.0, -2.0, 0.5, 3.0, 0.1, -1.0])
    errors = []
    for h in (0.01, 0.005):
        run = Stepper(model, h=h).run(at([0, 0, 0]), v, int(1 / h))
        assert np.allclose(run.q[:, :3], run.t[:, None] * v[:3])
        R, _ = placement(model, run.q, 0)
        linear, spin = np.einsum("kij,kj->ki", R, run.v[:, :3]), run.v[:, 3:]
        assert np.allclose(linear, v[:3])
        errors.append(np.abs(R[-1] @ (spin[-1] * [1.0, 2.0, 2.5]) - v[3:] * [1.0, 2.0, 2.5]).max())
    assert errors[0] < 0.15
    assert errors[1] < 0.6 * errors[0]


def test_planar_joints_fly_straight():
    model = tf.Model([tf.Joint("disc", "planar", inertia=CUBE)], gravity=[0, -9.81, 0])
    run = Stepper(model, h=0.01).run([0, 0, 1.0, 0], [1.0, 2.0, 3.0], 100)
    assert np.allclose(run.q[-1, :2], [1.0, 2.0 - 9.81 * 0.505])
    assert np.allclose(np.arctan2(run.q[-1, 3], run.q[-1, 2]), 3.0)


@pytest.mark.parametrize("name", ["four-bar", "stewart"])
def test_loops_stay_closed_and_energy_errs_by_h(name):
    mechanism = mechanisms.MECHANISMS[name]()
    model, q = mechanism.model, mechanism.closed
    v = 0.2 * closed_velocity(model, q)
    errors = []
    for h in (2e-3, 1e-3):
        run = Stepper(model, h=h).run(q, v, int(0.3 / h))
        assert max(np.abs(constraints.loop_rows(model, x).residual).max() for x in run.q) < 100 * h**2
        total = energies(model, run)
        errors.append(np.abs(total - total[0]).max())
    assert errors[1] < 0.6 * errors[0]
    assert errors[0] < 0.02 * abs(total[0])


def test_steps_of_loops_are_their_dynamics():
    """(v_new - v) / h is the acceleration, to first order in h."""
    mechanism = mechanisms.five_bar()
    model, q = mechanism.model, mechanism.closed
    v, tau = closed_velocity(model, q), np.array([1.0, 0.2, -0.5, 0.1])
    a, force = constraints.forward_dynamics(model, q, v, tau)
    h = 1e-6
    step = Stepper(model, h=h, stabilization=0.0).step(q, v - h * a, tau)
    assert np.allclose((step.v - v) / h + a, a, rtol=1e-3, atol=1e-3)
    assert np.allclose(step.loop_impulse / h, force, rtol=1e-3, atol=1e-3)


def test_limits_hold():
    arm = free(random_model(range(-1, 4), ["revolute", "prismatic", "revolute", "universal", "helical"], 1))
    joints = [
        tf.Joint(j.name, j.kind, j.parent, j.R, j.p, j.axis, j.pitch, j.inertia, lower=-0.3, upper=0.2)
        for j in arm.joints
    ]
    model = tf.Model(joints)
    run = Stepper(model, h=0.002).run(np.zeros(model.nq), np.zeros(model.nv), 500)
    assert run.q.min() > -0.3 - 1e-3
    assert run.q.max() < 0.2 + 1e-3
    assert (np.abs(run.q) > 0.19).any()
    loose = Stepper(model, h=0.002, limits=False).run(np.zeros(model.nq), np.zeros(model.nv), 500)
    assert np.abs(loose.q).max() > 0.7


def test_errors_of_position_are_taken_away_by_and_by():
    contact = Contact(Sphere(0))
    step = Stepper(bodies(1), [contact], h=0.01, stabilization=0.5).step(at([0, 0, -0.01]), np.zeros(6))
    assert np.allclose(step.q[2], -0.005)
    model, q = mechanisms.five_bar().model, mechanisms.five_bar().closed + 1e-4
    run = Stepper(model, h=1e-4, stabilization=0.5).run(q, np.zeros(4), 4)
    errors = constraints.loop_rows(model, run.q).residual[:, :2]
    assert np.allclose(errors, errors[0] * 0.5 ** np.arange(5)[:, None], atol=1e-7)


def test_forces_may_be_arrays_or_a_function():
    model = tf.Model([tf.Joint("slide", "prismatic", axis=[1.0, 0, 0], inertia=tf.Inertia(2.0))])
    stepper = Stepper(model, h=0.1)
    constant = stepper.run([0.0], [0.0], 3, [4.0])
    assert np.allclose(constant.v[:, 0], [0, 0.2, 0.4, 0.6])
    each = stepper.run([0.0], [0.0], 3, [[4.0], [0.0], [-4.0]])
    assert np.allclose(each.v[:, 0], [0, 0.2, 0.2, 0.0])
    called = stepper.run([0.0], [0.0], 3, lambda t, q, v: [20.0 * t])
    assert np.allclose(called.v[:, 0], [0, 0, 0.1, 0.3])
    with pytest.raises(ShapeError):
        stepper.run([0.0], [0.0], 3, [1.0, 2.0])


def squeezed():
    """Return the stepper of a ball between a floor and a ceiling that are too close together."""
    ball = Sphere(0, radius=0.5)
    return Stepper(bodies(1), [Contact(ball), Contact(ball, Plane(-1, [0, 0, -1.0], [0, 0, 0.9]))], h=0.01)


def test_an_impossible_step_raises_and_changes_nothing():
    stepper = squeezed()
    q, v = at([0, 0, 0.45]), np.ones(6)
    with pytest.raises(StepError, match="INFEASIBLE") as caught:
        stepper.step(q, v)
    assert caught.value.solution.status is Status.INFEASIBLE
    assert caught.value.solution.certificate is not None
    assert np.array_equal(q, at([0, 0, 0.45]))
    with pytest.raises(StepError, match="at t = 0 s") as caught:
        stepper.run(q, v, 3)
    assert caught.value.time == 0.0


def test_a_step_does_not_depend_on_those_before_it():
    """The last solution is only the first guess of the solver; the set of near contacts may change."""
    contacts = [Contact(corner, mu=0.3) for corner in box(0, [1.0, 1.0, 0.2])]
    stepper = Stepper(bodies(1), contacts, h=0.01, margin=0.15)
    q, v = at([0, 0, 0.1]), np.array([2.0, 0.3, 0, 0, 0, 0.2])
    fresh = stepper.step(q, v)
    stepper.run(np.array([0, 0, 0.3, 0.1, 0, 0, np.sqrt(0.99)]), v, 20)
    again = stepper.step(q, v)
    assert np.abs(fresh.v - again.v).max() < 1e-7
    assert np.isinf(Stepper(bodies(1), contacts, margin=0.01).step(at([0, 0, 5.0]), v).gap).all()


def test_wrong_settings_are_refused():
    model = bodies(1)
    for options, word in (
        ({"h": 0.0}, "h must"),
        ({"facets": 5}, "facets"),
        ({"facets": 8, "friction": "box"}, "4 facets"),
        ({"friction": "cone"}, "friction must be one of"),
        ({"stabilization": 2}, "stab"),
    ):
        with pytest.raises(ValueError, match=word):
            Stepper(model, **options)
    with pytest.raises(ShapeError):
        Stepper(model).step(np.zeros(6), np.zeros(6))
    with pytest.raises(NonFiniteError):
        Stepper(model).step(at([0, 0, 0]), np.full(6, np.nan))


@pytest.mark.parametrize(
    ("call", "name", "use"),
    [
        (lambda: Stepper(bodies(1), dt=0.01), "Stepper has no argument 'dt'", "h=..."),
        (lambda: Stepper(bodies(1), timestep=0.01), "Stepper has no argument 'timestep'", "h=..."),
        (lambda: Stepper(bodies(1), f_ext=0), "Stepper has no argument 'f_ext'", "external forces to tau"),
        (lambda: Stepper(bodies(1)).step(0, 0, dt=1), "Stepper.step has no argument 'dt'", "h=..."),
        (
            lambda: Stepper(bodies(1)).step(0, 0, fext=1),
            "Stepper.step has no argument 'fext'",
            "forces to tau",
        ),
        (lambda: Stepper(bodies(1)).run(0, 0, 1, f_ext=1), "Stepper.run has no argument 'f_ext'", "to tau"),
    ],
)
def test_arguments_of_other_packages_say_what_to_use(call, name, use):
    with pytest.raises(TypeError, match=f"^{re.escape(name)}: .*{re.escape(use)}"):
        call()


def test_a_step_moves_every_kind_of_joint():
    """Rotations change as by `integrate`; centres of mass of flying bodies keep their velocity."""
    model, h = random_model([-1, 0, 1, 2, 1, 4, 0, -1, 7], SIZES, 3), 0.1
    rng = np.random.default_rng(4)
    q, v = tf.random_configuration(model, rng), rng.normal(size=model.nv)
    integrator = joint_integrator(model)
    new_q, new_v = integrator.advanced(q, v, h)
    expected = tf.integrate(model, q, h * v)
    for kind, (at_q, at_v) in model.entries.items():
        straight = {"planar": 2, "freeflyer": 3}.get(kind, 0)
        assert np.allclose(new_q[at_q[:, straight:]], expected[at_q[:, straight:]], rtol=0, atol=1e-14)
        assert np.array_equal(new_v[at_v[:, straight:]], v[at_v[:, straight:]])
        flying = [joint for joint in model.joints if joint.kind == kind and straight]
        for joint, i, k in zip(flying, at_q, at_v, strict=bool(straight)):
            com, spin = joint.inertia.com[:straight], np.zeros(3)
            spin[3 - len(k[straight:]) :] = v[k[straight:]]

            def linear(x, com=com, k=k, spin=spin, straight=straight):
                return x[k[:straight]] + np.cross(spin, np.append(com, [0.0] * (3 - straight)))[:straight]

            before, after = (axes(x[i[straight:]]) for x in (q, new_q))
            moved = q[i[:straight]] + h * before @ linear(v) + before @ com
            assert np.allclose(new_q[i[:straight]] + after @ com, moved)
            assert np.allclose(after @ linear(new_v), before @ linear(v))
            wanted = np.cross(spin, np.append(linear(v), [0.0] * (3 - straight)))[:straight]
            assert np.allclose(integrator.velocity_rates(v)[k[:straight]], wanted)
        back_q, back_v = integrator.advanced(new_q, new_v, -h)
        assert np.allclose(back_q, q, rtol=0, atol=1e-13)
        assert np.allclose(back_v, v, rtol=0, atol=1e-13)


def axes(turned):
    """Return the rotation matrix of a quaternion, or of (cos, sin)."""
    if len(turned) == 2:
        return np.array([[turned[0], -turned[1]], [turned[1], turned[0]]])
    return Rotation.from_quat(turned).as_matrix()


def test_contacts_of_a_generator_count():
    contacts = (Contact(Sphere(0, radius=0.5)) for _ in range(2))
    assert Stepper(bodies(1), contacts).step(at((0, 0, 1)), np.zeros(6)).gap.shape == (2,)


@pytest.mark.parametrize("margin", [-1.0, np.nan])
def test_margins_are_lengths(margin):
    with pytest.raises(ValueError, match="margin must not be negative"):
        Stepper(bodies(1), margin=margin)


def test_steps_that_overflow_are_errors():
    with pytest.raises(StepError, match="overflow"):
        Stepper(bodies(1)).step(at((0, 0, 1)), np.array([0, 0, 0, 1e160, 0, 0]))


def test_a_run_takes_no_negative_number_of_steps_and_leaves_its_start_alone():
    stepper, q, v = Stepper(bodies(1)), at((0, 0, 1)), np.ones(6)
    with pytest.raises(ValueError, match="steps must not be negative"):
        stepper.run(q, v, -1)

    def control(t, q, v):
        v[:] = 0.0

    stepper.run(q, v, 1, control)
    assert np.array_equal(v, np.ones(6))


@pytest.mark.parametrize("gyroscopic", ["implicit", "explicit"])
def test_strided_states_step_like_contiguous_ones(gyroscopic):
    model = random_model((-1, 0), ("freeflyer", "revolute"), 3)
    stepper, rng = Stepper(model, h=0.01, gyroscopic=gyroscopic), np.random.default_rng(3)
    q, v, tau = tf.random_configuration(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    strided = [np.repeat(x, 2)[::2] for x in (q, v, tau)]
    step, expected = stepper.step(*strided), stepper.step(q, v, tau)
    assert np.array_equal(step.q, expected.q)
    assert np.array_equal(step.v, expected.v)
