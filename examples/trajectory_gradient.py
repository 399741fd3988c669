"""Compute the gradient of a cost of 1000 trajectories of a humanoid by its forces, and time Pinocchio's loop.

A trajectory of ``talos_reduced`` has 50 steps of semi-implicit Euler, v' = v + h a(q, v, tau) and
q' = integrate(q, h v'). Its cost is the squared distance to a posture in the end, plus velocities and forces
on the way. The gradient goes back through the steps: `forward_dynamics_vjp` multiplies by the derivatives of
a, for all trajectories at once; those of `integrate` differ from 1 in the freedoms of the free-flyer only.
"""

import argparse
import time

import numpy as np

import treefactor as tf
from treefactor import robots

H, RATE, EFFORT = 0.002, 1e-2, 1e-6  # s; weights of velocities and forces
FREE = tf.Model([tf.Joint("root", "freeflyer", inertia=tf.Inertia(1.0, tensor=np.eye(3)))])


def problem(trajectories: int, steps: int):
    """Return the path of the robot's file, and random q0 and v0, forces and the posture to reach."""
    path = robots.find("talos_reduced").path
    model = tf.Model.from_urdf(path, floating=True)
    rng = np.random.default_rng(0)
    goal = tf.neutral(model)
    q0 = tf.integrate(model, goal, 0.2 * rng.normal(size=(trajectories, model.nv)))
    v0 = 0.1 * rng.normal(size=(trajectories, model.nv))
    tau = 5.0 * rng.normal(size=(trajectories, steps, model.nv))
    tau[..., :6] = 0.0
    return path, model, (q0, v0, tau, goal)


def gradient(model: tf.Model, q0, v0, tau, goal):
    """Return the costs (B,) of trajectories and their gradients (B, T, nv) by the forces tau."""
    q, v = tf.rollout(model, q0, v0, tau, H)
    miss = tf.difference(model, goal, q[:, -1])
    cost = 0.5 * (miss**2).sum(axis=-1) + 0.5 * H * RATE * (v[:, 1:] ** 2).sum(axis=(1, 2))
    cost += 0.5 * H * EFFORT * (tau**2).sum(axis=(1, 2))
    by_q = times(tf.d_difference(model, goal, q[:, -1], 1), miss)
    by_v, by_tau = np.zeros_like(v0), H * EFFORT * tau
    for k in reversed(range(tau.shape[1])):
        steps = tf.d_integrate(FREE, q[:, k, :7], H * v[:, k + 1, :6])
        by_v += H * RATE * v[:, k + 1]
        by_v[:, :6] += H * times(steps[1], by_q[:, :6])
        by_v[:, 6:] += H * by_q[:, 6:]
        by_q[:, :6] = times(steps[0], by_q[:, :6])
        products = tf.forward_dynamics_vjp(model, q[:, k], v[:, k], tau[:, k], H * by_v)
        by_q += products.q
        by_v += products.v
        by_tau[:, k] += products.tau
    return cost, by_tau


def times(J, x):
    """Return the products of transposed matrices (B, n, n) with vectors (B, n)."""
    return np.matmul(x[:, None, :], J)[:, 0]


def pinocchio_gradient(model, data, q0, v0, tau, goal):
    """Return the gradient (T, nv) of one trajectory with the functions of Pinocchio."""
    import pinocchio as pin

    q, v = [q0], [v0]
    for force in tau:
        v.append(v[-1] + H * pin.aba(model, data, q[-1], v[-1], force))
        q.append(pin.integrate(model, q[-1], H * v[-1]))
    by_q = pin.dDifference(model, goal, q[-1], pin.ARG1).T @ pin.difference(model, goal, q[-1])
    by_v, by_tau = np.zeros_like(v0), H * EFFORT * tau
    for k in reversed(range(len(tau))):
        by_v = by_v + H * RATE * v[k + 1]
        by_v += H * pin.dIntegrate(model, q[k], H * v[k + 1], pin.ARG1).T @ by_q
        by_q = pin.dIntegrate(model, q[k], H * v[k + 1], pin.ARG0).T @ by_q
        pin.computeABADerivatives(model, data, q[k], v[k], tau[k])
        w = H * by_v
        by_q += data.ddq_dq.T @ w
        by_v += data.ddq_dv.T @ w
        by_tau[k] += data.Minv @ w
    return by_tau


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trajectories", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--compared", type=int, default=10, help="trajectories that Pinocchio computes")
    options = parser.parse_args()
    path, model, (q0, v0, tau, goal) = problem(options.trajectories, options.steps)
    states = options.trajectories * options.steps
    spent = []
    for _ in range(3):
        start = time.perf_counter()
        cost, by_tau = gradient(model, q0, v0, tau, goal)
        spent.append(time.perf_counter() - start)
    own = min(spent) / states
    print(f"{options.trajectories} trajectories of {options.steps} states, {model.nv} freedoms")
    print(f"cost          {cost.mean():8.3f} on average, gradient of length {np.linalg.norm(by_tau):.3g}")
    print(f"treefactor    {1e6 * own:8.2f} us per state, {1e3 * min(spent):.0f} ms in all")
    try:
        from treefactor.adapters import pinocchio_
    except tf.AdapterError:
        print("Pinocchio is not installed")
        return
    theirs, compared = pinocchio_.load(path, True), min(options.compared, options.trajectories)
    data = theirs.createData()
    start = time.perf_counter()
    expected = [pinocchio_gradient(theirs, data, q0[i], v0[i], tau[i], goal) for i in range(compared)]
    theirs_spent = (time.perf_counter() - start) / (compared * options.steps)
    error = np.abs(by_tau[:compared] - expected).max() / np.abs(expected).max()
    print(f"Pinocchio     {1e6 * theirs_spent:8.2f} us per state, in a loop; largest deviation {error:.1e}")
    print(f"ratio         {theirs_spent / own:8.1f}")


if __name__ == "__main__":
    main()
