"""Arguments of the functions of flexible chains for the links of the oracle."""

import numpy as np
from oracles.flexible import spin

from treefactor.dynamics.flexible import of_points


def flexible_arrays(links, q):
    """Return the arguments of `flexible_inertia` for the links of the oracle at q."""
    frames = links.frames(q)
    O = np.array([o for o, _, _ in frames])
    R = np.array([R for _, R, _ in frames])
    axis = np.einsum("kxy,ky->kx", R, links.axis)
    amplitudes = q[links.n :].reshape(links.n, links.S)
    deformed = links.points + np.einsum("ks,kspx->kpx", amplitudes, links.shapes)
    psi, tip = np.empty_like(links.psi), np.einsum("kxy,ksy->ksx", R, links.tip)
    for k, (_, turned, eta) in enumerate(frames):
        for s in range(links.S):
            psi[k, s] = turned @ links.psi[k, s]
            turned = turned @ spin(links.psi[k, s], eta[s])
        if k + 1 < links.n and links.slides[k + 1]:
            tip[k] += np.cross(psi[k], axis[k + 1] * q[k + 1])
    base = np.einsum("kxy,kpy->kpx", R, deformed)
    shapes = np.einsum("kxy,kspy->kspx", R, links.shapes)
    mass, c, inertia, modes = of_points(base, links.masses, shapes, tip, psi)
    return axis, np.diff(O, axis=0, prepend=np.zeros((1, 3))), mass, c, inertia, modes
