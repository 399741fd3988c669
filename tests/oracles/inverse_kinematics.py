"""Damped least-squares steps within limits, by NumPy and Pinocchio, one target at a time."""

import numpy as np


class Frame:
    """Error log(M^-1 M*) of a frame, relative to another one if that is not 0, and its Jacobian."""

    def __init__(self, pin, number, target, weight=(1.0,) * 6, root=0):
        self.pin, self.number, self.root, self.weight = pin, number, root, np.sqrt(weight)
        self.target = pin.SE3(np.ascontiguousarray(target[:3, :3]), target[:3, 3])
        self.kept = [r for r in range(6) if self.weight[3 * (r // 3) : 3 * (r // 3) + 3].any()]

    def rows(self, model, data, q):
        pin, local = self.pin, self.pin.ReferenceFrame.LOCAL
        M, J = data.oMf[self.number].copy(), pin.getFrameJacobian(model, data, self.number, local)
        if self.root:
            S = data.oMf[self.root]
            M = S.actInv(M)
            J = J - M.inverse().action @ pin.getFrameJacobian(model, data, self.root, local)
        apart = M.actInv(self.target)
        e = pin.log6(apart).vector
        d, w = apart.translation, e[3:]
        if not self.weight.all():
            e = np.concatenate([d, w])
        used = self.weight > 0.0
        position, angle = np.linalg.norm(d[used[:3]]), np.linalg.norm(w[used[3:]])
        return (self.weight * e)[self.kept], (self.weight[:, None] * J)[self.kept], position, angle


class Mass:
    """Error of the centre of mass, and its Jacobian."""

    def __init__(self, pin, target, weight=(1.0,) * 3):
        self.pin, self.target, self.weight = pin, target, np.sqrt(weight)

    def rows(self, model, data, q):
        J = self.pin.jacobianCenterOfMass(model, data, q)
        d = self.target - data.com[0]
        return self.weight * d, self.weight[:, None] * J, np.linalg.norm(d[self.weight > 0.0]), 0.0


def follow(pin, model, tasks, q, lower, upper, iterations, *, places, movable, posture=None, pull=1e-3):
    """Return the best q of an attempt: its largest error is least.

    lower, upper: of every freedom, infinite on joints whose entries of q do not add up; places: entry in q of
    the other freedoms, and -1 of these. movable: freedoms that may move.
    """
    data, best, least = model.createData(), q, np.inf
    for k in range(iterations + 1):
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        e, J, positions, angles = zip(*[task.rows(model, data, q) for task in tasks], strict=True)
        largest = max(*positions, *angles)
        if largest < least:
            best, least = q, largest
        if k < iterations:
            e, J = np.concatenate(e), np.concatenate(J)
            d = 0.02 * e @ e + 1e-7
            z = np.zeros(model.nv)
            if posture is not None:
                z = 0.3 * pull / (pull + d) * pin.difference(model, q, posture)
            q = _moved(
                pin, model, q, _step(J, e, d, z, q, lower, upper, places, movable), lower, upper, places
            )
    return best


def _step(J, e, d, z, q, lower, upper, places, movable):
    """Return the step of the freedoms that are not held at a limit, after two solutions at most."""
    at = np.where(places < 0, 0.0, q[places])
    free = movable
    for again in (True, False):
        A, s = J[:, free], np.zeros(len(z))
        rest = e - A @ z[free]
        s[free] = z[free] + A.T @ np.linalg.solve(A @ A.T + d * np.eye(len(A)), rest)
        out = (places >= 0) & (((at <= lower) & (s < 0.0)) | ((at >= upper) & (s > 0.0)))
        if not (again and out.any()):
            return s
        free = free & ~out
    return s


def _moved(pin, model, q, s, lower, upper, places):
    """Return q moved by a step, within the limits."""
    q = pin.integrate(model, q, s)
    own = places >= 0
    q[places[own]] = np.clip(q[places[own]], lower[own], upper[own])
    return q
