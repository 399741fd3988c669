"""Compare a robot with coupled mimic joints with constrained dynamics of the free model: H, bias and q̈."""

from __future__ import annotations

import numpy as np

from ..linalg.factorization import factor
from ..model.mimic import Coupling
from .compare import (
    Comparison,
    Reference,
    Sample,
    answering,
    condition,
    filled,
    relative,
    unit_diagonal,
    unmoved,
    without_inertia,
    worst,
)


def compare_mimic(reference: Reference, model=None) -> Comparison:
    """Compare H, bias and q̈ of the coupled model with constrained dynamics of the free model.

    They are those of Pinocchio's model with mimic joints, or where it has none from inverse dynamics.
    """
    adapter, free, mimic = reference.adapter, reference.model, reference.mimic
    (at_q, at_v), G = adapter.leading(free, mimic), adapter.coupling(free, mimic)
    free_tree = adapter.tree(free)
    coupled = Coupling(free_tree, G, [free_tree.name(k) for k in np.flatnonzero(at_v)])
    result = Comparison(coupled.tree, 1.0, 1.0, singular=reference.irregular)
    with answering():
        result.same_tree = model is None or adapter.tree(model) == coupled.tree
        rng = reference.random()
        for _ in range(reference.count if coupled.tree.n else 0):
            s = _mimic_sample(reference, coupled, at_v, rng)
            H, bias = _coupled(reference, coupled, s) if model is None else _own(adapter, model, s, at_q)
            result.condition = worst(result.condition, condition(filled(H)))
            result.scaled_condition = worst(result.scaled_condition, condition(unit_diagonal(filled(H))))
            result.delta = s.delta(H)
            result.worst(H=relative(H, s.H), bias=float(np.abs(bias - s.bias).max() / s.force))
            if reference.irregular:
                continue
            f = factor(filled(H), coupled.tree)
            qdd = f.solve(s.tau - bias)
            result.worst(factor=relative(f.reconstruct(), filled(H)), qdd=s.acceleration_error(qdd))
            result.singular = without_inertia(coupled.tree, s.H)
    return result


def _mimic_sample(reference: Reference, coupled: Coupling, leads: np.ndarray, rng) -> Sample:
    """Return a configuration that satisfies the coupling; H, v, tau and q̈ of the leading joints.

    q̈ with Lagrange multipliers, nothing of it from G: H q̈ + A^T λ = tau - bias and A q̈ = 0.
    """
    adapter, free, pin = reference.adapter, reference.model, reference.adapter.pin
    q = pin.integrate(free, pin.neutral(free), rng.normal(size=free.nv))
    q = adapter.coupled_configuration(free, reference.mimic, q)
    w, tau = rng.normal(size=(2, coupled.tree.n))
    data, on_leads = free.createData(), np.eye(free.nv)[:, leads]
    H_free, bias_free = adapter.mass_matrix(free, data, q), pin.nle(free, data, q, coupled.expand(w))
    H, A = coupled.reduce(H_free), adapter.constraints(free, reference.mimic)
    H_free += on_leads @ np.diag(unmoved(H)) @ on_leads.T
    KKT = np.block([[H_free, A.T], [A, np.zeros((len(A), len(A)))]])
    solution = np.linalg.solve(KKT, np.concatenate([on_leads @ tau - bias_free, np.zeros(len(A))]))
    return Sample(q, w, tau, H, coupled.reduce_force(bias_free), solution[: free.nv][leads])


def _own(adapter, model, s: Sample, at_q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return H and bias computed by Pinocchio's model with mimic joints."""
    data, q = model.createData(), s.q[at_q]
    return adapter.mass_matrix(model, data, q), np.array(adapter.pin.nle(model, data, q, s.v))


def _coupled(reference: Reference, coupled: Coupling, s: Sample) -> tuple[np.ndarray, np.ndarray]:
    """Return H and bias by inverse dynamics of the free model: G^T (RNEA(q, 0, G e_k) - RNEA(q, 0, 0))."""
    free, rnea, zero = reference.model, reference.adapter.pin.rnea, np.zeros(reference.model.nv)
    data, v = free.createData(), coupled.expand(s.v)
    still = np.array(rnea(free, data, s.q, zero, zero))
    columns = [coupled.reduce_force(rnea(free, data, s.q, zero, a) - still) for a in coupled.G.T]
    return np.transpose(columns), coupled.reduce_force(rnea(free, data, s.q, v, zero))
