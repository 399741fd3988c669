"""Fit the masses of a Panda's links to accelerations, by gradients through JAX and through PyTorch.

Torques are computed for wanted accelerations with the masses of the URDF. The links of the real robot are up
to a third heavier or lighter, so its accelerations differ; they are measured with noise. Every link keeps its
shape, so that one of its log-Cholesky coordinates is unknown, alpha: the mass is e^(2 alpha), and the other
nine parameters are in proportion. L-BFGS of SciPy finds all alphas from the gradient of the squared
error, which passes through forward dynamics and `from_log_cholesky`.
"""

import argparse
import os
import time

import numpy as np
from scipy.optimize import minimize

import treefactor as tf
from treefactor import robots
from treefactor.model import parameters

NOISE = 0.01  # of the accelerations, as a share of their standard deviation


def data(model: tf.Model, truth: np.ndarray, samples: int, rng) -> dict[str, np.ndarray]:
    """Return measurements: q, v, tau, a, and the standard deviation sigma of every joint's a."""
    q = tf.random_configuration(model, rng, size=samples)
    v, wanted = rng.normal(size=(2, samples, model.nv))
    tau = tf.rnea(model, q, v, wanted)
    a = tf.forward_dynamics(model, q, v, tau, inertias=truth)
    sigma = a.std(axis=0)
    a += NOISE * sigma * rng.normal(size=a.shape)
    return {"q": q, "v": v, "tau": tau, "a": a, "sigma": sigma}


def in_jax(model: tf.Model, theta: np.ndarray, given: dict):
    """Return a function of the alphas: the mean squared error of accelerations, and its gradient."""
    import jax

    from treefactor.adapters import jax_

    @jax.jit
    @jax.value_and_grad
    def error(alpha):
        pi = jax_.from_log_cholesky(jax.numpy.asarray(theta).at[:, 0].set(alpha))
        a = jax_.forward_dynamics(model, given["q"], given["v"], given["tau"], inertias=pi)
        return (((a - given["a"]) / given["sigma"]) ** 2).mean()

    return lambda alpha: tuple(map(np.asarray, error(alpha)))


def in_torch(model: tf.Model, theta: np.ndarray, given: dict):
    """Return the same function as `in_jax`, through PyTorch."""
    import torch

    from treefactor.adapters import torch_

    rest = torch.from_numpy(theta[:, 1:])
    q, v, tau, measured, sigma = map(torch.from_numpy, given.values())

    def error(alpha):
        pi = torch_.from_log_cholesky(torch.cat([alpha[:, None], rest], 1))
        a = torch_.forward_dynamics(model, q, v, tau, inertias=pi)
        return ((a - measured) / sigma).square().mean()

    def value_and_gradient(alpha):
        leaf = torch.tensor(alpha, requires_grad=True)
        value = error(leaf)
        (gradient,) = torch.autograd.grad(value, leaf)
        return value.item(), gradient.numpy()

    return value_and_gradient


FRAMEWORKS = {"JAX": in_jax, "PyTorch": in_torch}


def fit(model: tf.Model, framework: str, given: dict) -> tuple[np.ndarray, int]:
    """Return the parameters of all links after the fit, and the number of gradients."""
    theta = parameters.to_log_cholesky(model.parameters, floor=1e-6)
    error = FRAMEWORKS[framework](model, theta, given)
    optimum = minimize(error, theta[:, 0], jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9})
    theta[:, 0] = optimum.x
    return parameters.from_log_cholesky(theta), optimum.nfev


def errors(model: tf.Model, truth: np.ndarray, pi: np.ndarray, given: dict) -> tuple[float, float]:
    """Return the largest relative error of a mass, and the root mean square of those of accelerations."""
    q, v, tau = (given[name] for name in ("q", "v", "tau"))
    a, wanted = (tf.forward_dynamics(model, q, v, tau, inertias=each) for each in (pi, truth))
    masses = abs(pi[:, 0] / truth[:, 0] - 1).max()
    return float(masses), float(np.sqrt((((a - wanted) / given["sigma"]) ** 2).mean()))


def show(what: str, error: tuple[float, float]) -> None:
    """Print errors."""
    print(f"{what}: masses within {error[0]:.2%}, accelerations {error[1]:.2%} of their deviation")


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--samples", type=int, default=2000)
    options.add_argument("--frameworks", nargs="+", choices=FRAMEWORKS, default=list(FRAMEWORKS))
    options = options.parse_args()
    os.environ["JAX_ENABLE_X64"] = "1"  # JAX reads it when it is imported
    model, rng = tf.Model.from_urdf(robots.find("panda").path), np.random.default_rng(0)
    truth = np.exp(rng.uniform(-0.3, 0.3, (model.njoints, 1))) * model.parameters
    given, other = (data(model, truth, options.samples, rng) for _ in range(2))  # the fit sees the first
    show("before", errors(model, truth, model.parameters, other))
    for framework in options.frameworks:
        start = time.perf_counter()
        pi, count = fit(model, framework, given)
        spent = time.perf_counter() - start
        show(f"{framework}, {count} gradients, {spent:.1f} s with imports", errors(model, truth, pi, other))


if __name__ == "__main__":
    main()
