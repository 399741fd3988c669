"""Sums of Kane over the bodies of a Model in long double, and the size of what is added up in them.

Everything is measured between the joints that matter: a lever is the sum of the links between a joint and the
centre of mass of a body, never the difference of two places far away. Kane and Levinson, Dynamics: Theory and
Applications (1985), sections 5.9 and 6.1. Joints must not follow others.
"""

import numpy as np

LONG = np.longdouble


class Spread:
    """A model in one configuration.

    ``crba`` and ``rnea`` return the values and their sizes: what they would be if all levers had the length
    of the links between, all angles added up, and nothing cancelled.
    """

    def __init__(self, model, q):
        self.model = model
        q = np.asarray(q, LONG)
        self.parent = [joint.parent for joint in model.joints]
        self.R, self.step, self.linear, self.angular = [], [], [], []
        for joint, at in zip(model.joints, model.idx_q, strict=True):
            turn, slide, linear, angular = motion(joint, q[at : at + joint.nq])
            above = self.R[joint.parent] if joint.parent >= 0 else np.eye(3, dtype=LONG)
            R = above @ joint.R @ turn
            self.R.append(R)
            self.step.append(above @ (joint.p + joint.R @ slide))  # from the origin of what carries it
            self.linear.append((R @ linear).T)
            self.angular.append((R @ angular).T)
        self.com = [R @ joint.inertia.com.astype(LONG) for R, joint in zip(self.R, model.joints, strict=True)]
        self.tensor = [R @ joint.inertia.tensor @ R.T for R, joint in zip(self.R, model.joints, strict=True)]

    def partial_velocities(self, i):
        """Return for the freedoms that move body i: numbers, v of its centre, w, and the sizes of both."""
        lever, reach, parts = self.com[i], length(self.com[i]), []
        j = i
        while j >= 0:
            v, w = self.linear[j], self.angular[j]
            numbers = self.model.idx_v[j] + np.arange(len(v))
            spin = length(w)
            parts.append((numbers, v + cross(w, lever), w, length(v) + spin * reach, spin))
            lever, reach = lever + self.step[j], reach + length(self.step[j])
            j = self.parent[j]
        return [np.concatenate(part) for part in zip(*parts, strict=True)]

    def crba(self):
        """Return H and its size."""
        H, size = np.diag(self.model.armature.astype(LONG)), np.diag(self.model.armature.astype(LONG))
        for i, joint in enumerate(self.model.joints):
            m, tensor = joint.inertia.mass, self.tensor[i]
            k, v, w, fast, turning = self.partial_velocities(i)
            H[np.ix_(k, k)] += m * v @ v.T + w @ tensor @ w.T
            size[np.ix_(k, k)] += m * np.outer(fast, fast)
            size[np.ix_(k, k)] += length(tensor.ravel()) * np.outer(turning, turning)
        return H, size

    def rnea(self, v, a, fext=None, gravity=True):
        """Return forces and their size."""
        v, a = np.asarray(v, LONG), np.asarray(a, LONG)
        tau, size = self.model.armature * a, np.abs(self.model.armature * a)
        rates = self.rates(v, a, self.model.gravity if gravity else np.zeros(3))
        for i, joint in enumerate(self.model.joints):
            m, tensor, com = joint.inertia.mass, self.tensor[i], self.com[i]
            w, alpha, acceleration, turning, spinning, pulling = rates[i]
            force = m * (acceleration + cross(alpha, com) + cross(w, cross(w, com)))
            moment = tensor @ alpha + cross(w, tensor @ w)
            pull = m * (pulling + (spinning + turning**2) * length(com))
            twist = length(tensor.ravel()) * (spinning + turning**2)
            if fext is not None:
                push = -self.R[i] @ np.asarray(fext[i][:3], LONG)
                force, moment = force + push, moment - self.R[i] @ fext[i][3:] - cross(com, push)
                pull, twist = pull + length(push), twist + length(fext[i][3:]) + length(com) * length(push)
            k, u, z, fast, rolling = self.partial_velocities(i)
            tau[k] += u @ force + z @ moment
            size[k] += fast * pull + rolling * twist
        return tau, size

    def rates(self, v, a, gravity):
        """Return for every body: w, its rate, the acceleration of the origin, and the sizes of the three."""
        motions, speeds = [], []
        zero = np.zeros(3, LONG)
        for j, joint in enumerate(self.model.joints):
            above = (zero, zero, -gravity, 0, 0, length(gravity))
            if joint.parent >= 0:
                above = motions[joint.parent]
            w0, alpha0, acceleration, turning, spinning, pulling = above
            fast = speeds[joint.parent] if joint.parent >= 0 else LONG(0)
            own = slice(self.model.idx_v[j], self.model.idx_v[j] + joint.nv)
            turn, slide = v[own] @ self.angular[j], v[own] @ self.linear[j]
            step, w = self.step[j], w0 + turn
            alpha = alpha0 + a[own] @ self.angular[j] + cross(w, turn)
            if joint.kind == "universal":
                alpha = alpha + cross(v[own][0] * self.angular[j][0], v[own][1] * self.angular[j][1])
            acceleration = (
                acceleration
                + cross(alpha0, step)
                + cross(w0, cross(w0, step) + slide)
                + a[own] @ self.linear[j]
                + cross(w, slide)
            )
            far, sliding = length(step), length(slide)
            pulling = pulling + spinning * far + turning**2 * far
            spinning = spinning + length(a[own] @ self.angular[j]) + (turning + length(turn)) * length(turn)
            fast = fast + turning * far + sliding
            turning = turning + length(turn)
            pulling = pulling + length(a[own] @ self.linear[j]) + 2 * turning * fast
            motions.append((w, alpha, acceleration, turning, spinning, pulling))
            speeds.append(fast)
        return motions


def length(x):
    """Return the Euclidean norm of a vector, or of each row."""
    return np.sqrt(np.sum(np.asarray(x, LONG) ** 2, axis=-1))


def cross(a, b):
    """Return a × b, of rows; faster than NumPy's for a few."""
    return np.stack(
        [
            a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1],
            a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2],
            a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0],
        ],
        axis=-1,
    )


def motion(joint, x):
    """Return rotation and translation of a joint at its entries x of q, and freedoms in its body's axes."""
    none, unit = np.zeros((3, 3), LONG), np.eye(3, dtype=LONG)
    still, flat = unit, np.zeros(3, LONG)
    axis = None if joint.axis is None else np.asarray(joint.axis, LONG)
    match joint.kind:
        case "revolute" | "helical":
            linear = joint.pitch * axis[:, None]
            return about(axis, x[0]), joint.pitch * x[0] * axis, linear, axis[:, None]
        case "continuous":
            return about(axis, np.arctan2(x[1], x[0])), flat, none[:, :1], axis[:, None]
        case "prismatic":
            return still, x[0] * axis, axis[:, None], none[:, :1]
        case "universal":
            second = about(axis[1], x[1])
            turns = np.stack([second.T @ axis[0], axis[1]], axis=1)
            return about(axis[0], x[0]) @ second, flat, none[:, :2], turns
        case "spherical":
            return quaternion(x), flat, none, unit
        case "planar":
            slides, turns = unit.copy(), np.zeros((3, 3), LONG)
            slides[2, 2], turns[2, 2] = 0, 1
            turn = about(unit[2], np.arctan2(x[3], x[2]))
            return turn, np.array([x[0], x[1], 0]), slides, turns
        case "translation":
            return still, x, unit, none
        case "freeflyer":
            slides, turns = np.hstack([unit, none]), np.hstack([none, unit])
            return quaternion(x[3:]), x[:3], slides, turns
    raise ValueError(joint.kind)


def about(axis, angle):
    """Return the rotation about an axis of almost unit length (Rodrigues)."""
    axis = axis / length(axis)
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]], LONG)
    return np.eye(3, dtype=LONG) + np.sin(angle) * K + (1 - np.cos(angle)) * (K @ K)


def quaternion(x):
    """Return the rotation of a quaternion x y z w of almost unit length."""
    u, w = x[:3] / length(x), x[3] / length(x)
    K = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]], LONG)
    return np.eye(3, dtype=LONG) + 2 * w * K + 2 * K @ K
