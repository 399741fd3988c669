"""Compare chains of flexible links with point masses moved numerically, with beam theory and with energy."""

import pickle

import numpy as np
import pytest
from helpers.flexible_links import flexible_arrays
from helpers.tolerances import assert_close
from oracles.flexible import STEP, Flexible
from scipy.integrate import solve_ivp

import treefactor as tf
from treefactor.dynamics.flexible import Modes, flexible_forces
from treefactor.dynamics.flexible_chain import FlexibleChain, FlexibleLink

GRAVITY = np.array([1.0, -2.0, -9.0])
BY_DIFFERENCES = 1e-6


def of_points(points, seed=0):
    """Return the chain of the links of an oracle, with random stiffnesses."""
    rng, links = np.random.default_rng(seed), []
    for k in range(points.n):
        spread = rng.standard_normal((points.S, points.S))
        links.append(
            FlexibleLink.of_points(
                f"link{k}",
                *(points.axis[k], points.length[k], points.points[k], points.masses[k], points.shapes[k]),
                *(points.tip[k], points.psi[k], 20 * (spread @ spread.T + np.eye(points.S))),
                prismatic=points.slides[k],
            )
        )
    return FlexibleChain(links, GRAVITY)


def inertial_forces(points, q, v):
    """Return the forces of inertia at zero acceleration of q, minus the sum of m dx/dq x''."""

    def speed(t):
        return points.positions(q + t * v + 1j * STEP * v).imag / STEP

    h = 1e-4
    accelerations = (8 * (speed(h) - speed(-h)) - (speed(2 * h) - speed(-2 * h))) / (12 * h)
    columns = [points.positions(q + 1j * STEP * e).imag / STEP for e in np.eye(len(q))]
    return -np.einsum("ikpx,kp,kpx->i", columns, points.masses, accelerations - GRAVITY)


def cases(slides):
    return np.arange(3) % 2 == 1 if slides else np.zeros(3, dtype=bool)


@pytest.mark.parametrize("slides", [False, True])
@pytest.mark.parametrize("S", [1, 2])
def test_matrix_and_forces_against_moving_points(S, slides):
    points = Flexible(3, S, cases(slides))
    chain, rng = of_points(points), np.random.default_rng(2)
    q, v = 0.4 * rng.standard_normal((2, chain.nv))
    torque = rng.standard_normal(3)
    assert_close(chain.inertia(q), points.hessian(q), 10 * len(q))
    expected = inertial_forces(points, q, v) - chain.stiffness @ q + np.append(torque, np.zeros(3 * S))
    forces = chain.forces(q, v, torque)
    np.testing.assert_allclose(forces, expected, rtol=0, atol=BY_DIFFERENCES * np.abs(expected).max())
    kinetic, potential = chain.energy(q, v)
    assert_close(kinetic, points.energy(q, v), 100)
    weight = -np.einsum("kp,kpx,x->", points.masses, points.positions(q), GRAVITY)
    assert_close(potential, weight + 0.5 * q @ chain.stiffness @ q, 100)


@pytest.mark.parametrize("slides", [False, True])
def test_forces_are_lagranges(slides):
    """Check d/dt dT/dv - dT/dq = Q by differences of the energies alone."""
    chain, rng = of_points(Flexible(3, 2, cases(slides))), np.random.default_rng(5)
    q, v = 0.3 * rng.standard_normal((2, chain.nv))
    h, E = 1e-5, np.eye(chain.nv)
    A_rate = (chain.inertia(q + h * v) - chain.inertia(q - h * v)) / (2 * h)
    plus, minus = (
        chain.energy(q + h * E, np.tile(v, (len(v), 1))),
        chain.energy(q - h * E, np.tile(v, (len(v), 1))),
    )
    slope = ((plus[0] - plus[1]) - (minus[0] - minus[1])) / (2 * h)
    expected = slope - A_rate @ v
    np.testing.assert_allclose(
        chain.forces(q, v), expected, rtol=0, atol=BY_DIFFERENCES * np.abs(expected).max()
    )


@pytest.mark.parametrize("slides", [False, True])
def test_energy_is_conserved_along_a_motion(slides):
    points = Flexible(3, 2, cases(slides))
    chain = of_points(points)
    q, v = np.zeros(chain.nv), np.zeros(chain.nv)
    q[:3], v[:3] = 0.3, [1.0, -0.5, 0.7]

    def rates(_, y):
        return np.concatenate([y[chain.nv :], chain.forward_dynamics(y[: chain.nv], y[chain.nv :])])

    run = solve_ivp(rates, (0.0, 0.3), np.concatenate([q, v]), method="DOP853", rtol=1e-9, atol=1e-10)
    assert run.success
    states = [(y[: chain.nv], y[chain.nv :]) for y in run.y.T]
    kinetic = np.array([points.energy(*state) for state in states])  # from the oracle's points
    total = kinetic + [chain.energy(*state)[1] for state in states]
    assert np.ptp(kinetic) > 1.0
    assert np.abs(run.y[3 : chain.nv]).max() > 0.01
    np.testing.assert_allclose(total, total[0], rtol=0, atol=1e-6 * np.ptp(kinetic))


def test_rigid_links_make_a_model_of_hinges():
    arm = tf.arms.SSRMS
    model, rng = arm.model(), np.random.default_rng(0)
    ends = [*(joint.p for joint in model.joints[1:]), np.zeros(3)]
    links = [
        FlexibleLink.rigid(joint.name, joint.axis, end, joint.inertia, joint.R)
        for joint, end in zip(model.joints, ends, strict=True)
    ]
    chain = FlexibleChain(links)
    q, v, torque = rng.standard_normal((3, 7))
    np.testing.assert_allclose(chain.inertia(q), tf.crba(model, q), rtol=1e-9, atol=1e-7)
    expected = tf.forward_dynamics(model, q, v, torque)
    np.testing.assert_allclose(chain.forward_dynamics(q, v, torque), expected, rtol=1e-8)


def lowest(modes, **options):
    """Return the frequencies of a clamped beam of 2 m, 3 kg and E I = 100 N m^2."""
    beam = FlexibleLink.beam("beam", [0, 0, 1], 2.0, 3.0, 100.0, modes=modes, **options)
    chain = FlexibleChain([beam], np.zeros(3))
    bent = chain.modes[0]
    A, K = chain.inertia(np.zeros(chain.nv))[bent, bent], chain.stiffness[bent, bent]
    return np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(A, K)).real))


def test_frequencies_of_a_cantilever():
    exact = np.array([3.51602, 22.0345]) * np.sqrt(100.0 / (3.0 * 2.0**3))  # Timoshenko, in both planes
    errors = [np.abs(lowest(modes)[:4:2] / exact - 1).max() for modes in (2, 3, 5)]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-3
    twisting = lowest(5, torsion=40.0, radius=0.1)
    expected = np.sqrt(3 * 40.0 / 2.0 / (3.0 * 0.1**2))  # of the shape x / L
    assert np.abs(twisting / expected - 1).min() < 1e-12


def test_a_beam_is_its_points():
    m, L, P = 3.0, 2.0, 4000
    beam = FlexibleLink.beam("beam", [0, 0, 1], L, m, 100.0, torsion=5.0, radius=0.2, modes=2)
    x = np.repeat((np.arange(P) + 0.5) * L / P, 4)
    y, z = 0.2 * np.tile([[1, 0, -1, 0], [0, 1, 0, -1]], P)
    bent = [(x / L) ** p for p in (2, 3)]
    shapes = (
        [[0 * x, u, 0 * x] for u in bent]
        + [[0 * x, 0 * x, u] for u in bent]
        + [[0 * x, -z * x / L, y * x / L]]
    )
    points = FlexibleLink.of_points(
        *("points", [0, 0, 1], [L, 0, 0], np.stack([x, y, z], 1), np.full(4 * P, m / 4 / P)),
        *(np.swapaxes(shapes, 1, 2), beam.tip, beam.rotation, beam.stiffness),
    )
    for name in ("first", "second", "momentum", "mixed", "modal"):
        np.testing.assert_allclose(getattr(beam, name), getattr(points, name), rtol=1e-6, atol=1e-7)


def test_links_may_have_different_numbers_of_modes():
    boom = FlexibleLink.beam("boom", [0, 0, 1], 2.0, 3.0, 100.0, modes=2, loss=0.01)
    rod = tf.Inertia(1.0, [0.5, 0, 0], np.diag([0.01, 0.1, 0.1]))
    chain = FlexibleChain([boom, FlexibleLink.rigid("hand", [0, 1, 0], [1, 0, 0], rod)])
    assert (chain.n, chain.nv, chain.modes) == (2, 6, (slice(2, 6), slice(6, 6)))
    q, v = 0.1 * np.random.default_rng(0).standard_normal((2, chain.nv))
    kinetic = chain.energy(q, v)[0]
    assert_close(kinetic, 0.5 * v @ chain.inertia(q) @ v, 10)
    # damping takes power, elasticity and inertia do not
    h, a = 1e-6, chain.forward_dynamics(q, v)
    after, before = (sum(chain.energy(q + t * v + t * t / 2 * a, v + t * a)) for t in (h, -h))
    np.testing.assert_allclose((after - before) / (2 * h), -v @ chain.damping @ v, rtol=1e-6)
    again = pickle.loads(pickle.dumps(chain))
    np.testing.assert_array_equal(again.forces(q, v), chain.forces(q, v))


def test_a_batch_is_its_states():
    chain = of_points(Flexible(3, 2, cases(True)))
    q, v = 0.2 * np.random.default_rng(0).standard_normal((2, 2, 4, chain.nv))
    torque = np.ones(3)
    a, (R, origin) = chain.forward_dynamics(q, v, torque), chain.frames(q)
    assert (a.shape, R.shape, origin.shape) == ((2, 4, chain.nv), (2, 4, 4, 3, 3), (2, 4, 4, 3))
    for e in np.ndindex(2, 4):
        assert_close(a[e], chain.forward_dynamics(q[e], v[e], torque), 1000)
        assert_close(chain.energy(q, v)[0][e], chain.energy(q[e], v[e])[0], 10)
        assert_close(origin[e], chain.frames(q[e])[1], 10)


def test_invalid_arguments_are_named():
    beam = FlexibleLink.beam("boom", [0, 0, 1], 2.0, 3.0, 100.0)
    for change, message in (
        ({"axis": [0, 0, 2]}, "unit length"),
        ({"mass": -1.0}, "negative"),
        ({"stiffness": np.triu(np.ones((4, 4)))}, "stiffness is not symmetric"),
        ({"stiffness": np.diag([1.0, 1.0, 1.0, -1e-6])}, "stiffness must not have a negative eigenvalue"),
        ({"damping": -np.eye(4)}, "damping must not have a negative eigenvalue"),
        ({"momentum": 1.0}, "momentum must have shape"),
        ({"tip": np.zeros((3, 3))}, "tip must have shape"),
        ({"mixed": np.full((4, 3, 3), np.nan)}, "mixed is not finite"),
        ({"R": np.zeros((3, 3))}, "rotation"),
    ):
        given = {name: getattr(beam, name) for name in FlexibleLink.__dataclass_fields__}
        with pytest.raises(tf.InvalidChainError, match=f"'boom'.*{message}"):
            FlexibleLink(**(given | change))
    chain = FlexibleChain([beam])
    for call in (chain.inertia, lambda q: chain.forces(q, q), lambda q: chain.energy(q, q)):
        with pytest.raises(tf.ShapeError, match="q must have shape"):
            call(np.zeros(4))
    with pytest.raises(tf.NonFiniteError, match="torque"):
        chain.forces(np.zeros(5), np.zeros(5), [np.inf])
    for links, error, message in (
        ([], tf.InvalidChainError, "links must hold one FlexibleLink or more"),
        ([beam, None], tf.InvalidChainError, r"links\[1\] is not a FlexibleLink but NoneType"),
        (None, tf.DtypeError, "links must be a sequence, got None"),
        (beam, tf.DtypeError, "links must be a sequence, got FlexibleLink"),
    ):
        with pytest.raises(error, match=f"^{message}"):
            FlexibleChain(links)


ARGUMENTS = {"name": "boom", "axis": [0, 0, 1], "length": 2.0, "mass": 3.0, "bending": 100.0}
POINTS = {
    "end": [2, 0, 0],
    "points": [[1, 0, 0], [2, 0, 0]],
    "masses": [1.0, 2.0],
    "shapes": np.ones((1, 2, 3)),
}
POINTS |= {"tip": [[0, 1, 0]], "rotation": [[0, 0, 1]], "stiffness": [[1.0]]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"length": 0.0}, "length must be positive, got 0.0"),
        ({"length": -1.0}, "length must be positive, got -1.0"),
        ({"length": [1.0]}, "length must be one number"),
        ({"mass": -1.0}, "mass must not be negative"),
        ({"mass": np.inf}, "mass is not finite"),
        ({"bending": 0.0}, "bending must be positive for a beam with modes"),
        ({"bending": -1.0, "modes": 0}, "bending must not be negative"),
        ({"torsion": -1.0}, "torsion must not be negative"),
        ({"torsion": np.nan}, "torsion is not finite"),
        ({"radius": -0.1}, "radius must not be negative"),
        ({"torsion": 1.0}, "radius must be positive for a tube with torsion, got 0.0"),
        ({"loss": -0.1}, "loss must not be negative"),
        ({"loss": "much"}, "loss must hold real numbers"),
        ({"modes": -1}, "modes must not be negative"),
        ({"modes": 2.0}, "modes must be a whole number"),
        ({"modes": 8}, "modes must be at most 7, got 8"),
    ],
)
def test_invalid_sizes_of_beams_are_named(change, message):
    with pytest.raises(tf.InvalidChainError, match=f"^link 'boom': {message}"):
        FlexibleLink.beam(**(ARGUMENTS | change))


def test_matrices_of_beams_are_well_conditioned():
    assert FlexibleLink.beam(**(ARGUMENTS | {"bending": 0.0, "modes": 0})).modes == 0
    chain = FlexibleChain([FlexibleLink.beam(**ARGUMENTS, torsion=5.0, radius=0.1, modes=7)])
    assert np.linalg.cond(chain.inertia(np.zeros(chain.nv))) < 1e12


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"points": 1.0}, tf.ShapeError, r"points must have shape \(P, 3\), got \(\)"),
        ({"points": np.ones((2, 2))}, tf.ShapeError, r"points must have shape \(P, 3\), got \(2, 2\)"),
        ({"masses": [1.0]}, tf.ShapeError, r"masses must have shape \(2,\), got \(1,\)"),
        ({"masses": 1.0}, tf.ShapeError, "masses must have shape"),
        ({"shapes": np.ones((2, 3))}, tf.ShapeError, r"shapes must have shape \(S, 2, 3\), got \(2, 3\)"),
        ({"shapes": np.ones((1, 3, 3))}, tf.ShapeError, "shapes must have shape"),
        ({"shapes": np.full((1, 2, 3), np.nan)}, tf.NonFiniteError, "shapes is not finite"),
        ({"masses": [-1.0, 2.0]}, tf.InvalidChainError, "'boom': masses must not be negative"),
        ({"stiffness": [[-1.0]]}, tf.InvalidChainError, "'boom': stiffness must not have a negative eig"),
    ],
)
def test_invalid_points_are_named(change, error, message):
    given = {"name": "boom", "axis": [0, 0, 1]} | POINTS
    assert FlexibleLink.of_points(**given).modes == 1
    with pytest.raises(error, match=message):
        FlexibleLink.of_points(**(given | change))


@pytest.mark.parametrize("name", ["second", "gyroscopic", "mode_rate", "slide", "rate"])
def test_arrays_of_the_force_vector_are_named(name):
    points = Flexible(2, 1, np.zeros(2, dtype=bool))
    *bodies, modes = flexible_arrays(points, np.zeros(4))
    moments = tf.flexible.ModeMoments(np.zeros((2, 1, 3, 3)), np.zeros((2, 1, 1, 3)))
    assert flexible_forces(*bodies, Modes(*modes), moments).shape == (4,)
    wrong = {"slide": [1.0], "rate": [1.0], "mode_rate": [1.0]}
    moments, loads = (
        (moments, {name: wrong[name]}) if name in wrong else (moments._replace(**{name: [1.0]}), {})
    )
    with pytest.raises(tf.ShapeError, match=name):
        flexible_forces(*bodies, Modes(*modes), moments, **loads)
