"""Point masses on links that deform, moved in complex steps; an oracle of the kinetic energy."""

import numpy as np

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
