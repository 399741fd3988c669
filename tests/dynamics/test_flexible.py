"""Compare flexible_inertia with the kinetic energy of point masses, differentiated numerically."""

import numpy as np
import pytest
from helpers.chains import random_chain
from helpers.tolerances import assert_close

import treefactor as tf
from treefactor.flexible import Modes, flexible_inertia, of_points

STEP = 1e-30  # of a complex-step derivative: without cancellation, exact to rounding


def rotation(axis, angle):
    """Return the rotation by Rodrigues' formula, for complex angles, too."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def spin(psi, amplitude):
    """Return the rotation of amplitude times psi."""
    size = np.linalg.norm(psi)
    return rotation(psi / size, size * amplitude)


class Flexible:
    """Point masses on links that deform in S modes; everything in the frames of the links."""

    def __init__(self, n, S, slides, seed=0, P=6):
        rng = np.random.default_rng(seed)
        self.n, self.S, self.slides = n, S, slides
        self.axis = rng.standard_normal((n, 3))
        self.axis /= np.linalg.norm(self.axis, axis=1, keepdims=True)
        self.points = rng.standard_normal((n, P, 3))
        self.masses = rng.uniform(0.1, 1.0, (n, P))
        self.shapes = rng.standard_normal((n, S, P, 3))
        self.length = rng.standard_normal((n, 3))
        self.tip, self.psi = rng.standard_normal((2, n, S, 3))

    def frames(self, q):
        """Return O_k, orientation and amplitudes of every link, at joint positions and amplitudes q."""
        O, R, result = np.zeros(3), np.eye(3), []
        for k in range(self.n):
            eta = q[self.n + k * self.S : self.n + (k + 1) * self.S]
            if self.slides[k]:
                O = O + R @ self.axis[k] * q[k]
            else:
                R = R @ rotation(self.axis[k], q[k])
            result.append((O, R, eta))
            O = O + R @ (self.length[k] + eta @ self.tip[k])
            for s in range(self.S):
                R = R @ spin(self.psi[k, s], eta[s])
        return result

    def positions(self, q):
        """Return the points of all links in the base frame."""
        return np.array(
            [
                O + (self.points[k] + np.tensordot(eta, self.shapes[k], 1)) @ R.T
                for k, (O, R, eta) in enumerate(self.frames(q))
            ]
        )

    def energy(self, q, rate):
        """Return T = 1/2 sum m |dx/dt|^2; the derivative is a complex step along rate."""
        speed = self.positions(q + 1j * STEP * rate).imag / STEP
        return 0.5 * np.sum(self.masses[..., None] * speed**2)

    def hessian(self, q):
        """Return A_ij = T(e_i + e_j) - T(e_i) - T(e_j)."""
        e = np.eye(len(q))
        alone = np.array([self.energy(q, x) for x in e])
        both = np.array([[self.energy(q, x + y) for x in e] for y in e])
        return both - alone - alone[:, None]

    def arrays(self, q):
        """Return the arguments of `flexible_inertia` at q."""
        frames = self.frames(q)
        O = np.array([o for o, _, _ in frames])
        R = np.array([R for _, R, _ in frames])
        axis = np.einsum("kxy,ky->kx", R, self.axis)
        amplitudes = q[self.n :].reshape(self.n, self.S)
        deformed = self.points + np.einsum("ks,kspx->kpx", amplitudes, self.shapes)
        psi, tip = np.empty_like(self.psi), np.einsum("kxy,ksy->ksx", R, self.tip)
        for k, (_, turned, eta) in enumerate(frames):
            for s in range(self.S):
                psi[k, s] = turned @ self.psi[k, s]
                turned = turned @ spin(self.psi[k, s], eta[s])
            if k + 1 < self.n and self.slides[k + 1]:
                tip[k] += np.cross(psi[k], axis[k + 1] * q[k + 1])
        base = np.einsum("kxy,kpy->kpx", R, deformed)
        shapes = np.einsum("kxy,kspy->kspx", R, self.shapes)
        mass, c, inertia, modes = of_points(base, self.masses, shapes, tip, psi)
        return axis, np.diff(O, axis=0, prepend=np.zeros((1, 3))), mass, c, inertia, modes


@pytest.mark.parametrize(("n", "S"), [(1, 1), (4, 1), (3, 2), (2, 3)])
@pytest.mark.parametrize("deflected", [0.0, 0.3])
@pytest.mark.parametrize("prismatic", [False, True])
def test_the_hessian_of_the_kinetic_energy(n, S, deflected, prismatic):
    slides = np.arange(n) % 2 == 1 if prismatic else np.zeros(n, dtype=bool)
    links = Flexible(n, S, slides)
    rng = np.random.default_rng(1)
    q = np.concatenate([rng.uniform(-2, 2, n), deflected * rng.standard_normal(n * S)])
    A = flexible_inertia(*links.arrays(q), prismatic=slides)
    np.testing.assert_array_equal(A, A.T)
    assert_close(A, links.hessian(q), 10 * len(q))


def test_the_joints_are_those_of_the_rigid_chain():
    links = Flexible(4, 2, np.zeros(4, dtype=bool))
    *arrays, modes = links.arrays(np.zeros(12))
    A = flexible_inertia(*arrays, modes)
    assert_close(A[:4, :4], tf.chain_inertia(*arrays), 10)
    stiff = Modes(*(np.asarray(x)[:, :0] for x in modes))._replace(mass=np.zeros((4, 0, 0)))
    assert_close(flexible_inertia(*arrays, stiff), tf.chain_inertia(*arrays), 10)


def test_a_cantilever_beam_in_its_quadratic_mode():
    # phi = (x / L)^2 across a uniform beam: integrals m / 3, m L / 4, m / 5
    m, L, P = 3.0, 2.0, 20000
    x = (np.arange(P) + 0.5) * L / P
    points = np.stack([x, 0 * x, 0 * x], axis=1)[None]
    shapes = np.stack([0 * x, (x / L) ** 2, 0 * x], axis=1)[None, None]
    none = np.zeros((1, 1, 3))
    bodies = of_points(points, np.full((1, P), m / P), shapes, none, none)
    A = flexible_inertia([[0, 0, 1]], [[0, 0, 0]], *bodies)
    np.testing.assert_allclose(A, [[m * L**2 / 3, m * L / 4], [m * L / 4, m / 5]], rtol=1e-8)


def test_a_batch_is_its_chains_and_shared_arrays_serve_all():
    links = Flexible(3, 2, np.zeros(3, dtype=bool))
    single = [links.arrays(0.2 * np.random.default_rng(e).standard_normal(9)) for e in range(4)]
    axis, r, mass, c, inertia, _ = (np.array(x) for x in zip(*((*x[:5], 0) for x in single), strict=True))
    modes = Modes(*(np.array(x) for x in zip(*(x[5] for x in single), strict=True)))
    A = flexible_inertia(axis, r, mass[0], c, inertia, modes)
    assert A.shape == (4, 9, 9)
    for own, arrays in zip(A, single, strict=True):
        assert_close(own, flexible_inertia(*arrays), 10)
    c[2, 1] = np.nan
    A = flexible_inertia(axis, r, mass[0], c, inertia, modes)
    assert np.isnan(A[2]).all()
    assert np.isfinite(np.delete(A, 2, axis=0)).all()


@pytest.mark.parametrize("field", Modes._fields)
def test_what_does_not_fit_is_named(field):
    modes = Flexible(3, 2, np.zeros(3, dtype=bool)).arrays(np.zeros(9))[5]
    arrays = random_chain(3)
    short = modes._replace(**{field: np.asarray(getattr(modes, field))[:2]})
    with pytest.raises(tf.ShapeError, match=rf"modes\.{field} must have shape"):
        flexible_inertia(*arrays, short)
    lost = np.array(getattr(modes, field))
    lost[1, 0] = np.inf
    with pytest.raises(tf.NonFiniteError, match=rf"modes\.{field}"):
        flexible_inertia(*arrays, modes._replace(**{field: lost}))
    with pytest.raises(tf.ShapeError, match=r"modes\.momentum"):
        flexible_inertia(*arrays, modes._replace(momentum=np.zeros(3)))
