"""Call every quantity of models of any shape, whose bodies may have no mass."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.declared import cases
from helpers.model_cases import models
from hypothesis import given, settings
from hypothesis import strategies as st

import treefactor as tf
from treefactor.quantities import configurations
from treefactor.quantities.declaration import Quantity

CONFIGURATIONS = [one.name for one in vars(configurations).values() if isinstance(one, Quantity)]


@pytest.mark.slow
@settings(max_examples=100)
@given(models(max_joints=7), st.integers(0, 2**32 - 1), st.data())
def test_any_model_with_bodies_without_mass(model, seed, data):
    """A batch holds the single results, NaN where these raise; quaternions q and -q give the same."""
    empty = data.draw(st.sets(st.integers(0, model.njoints - 1), max_size=model.njoints - 1))
    joints = [
        replace(joint, inertia=tf.Inertia(0.0)) if i in empty else joint
        for i, joint in enumerate(model.joints)
    ]
    model = tf.Model(joints, model.gravity)
    for case in cases({"any": model}, moves, undeclared=True)["argvalues"]:
        arrays = case.arguments(seed, (3,))
        try:
            assert_single_results(case, arrays)
        except tf.InvalidModelError as error:
            assert "mass" in str(error)  # noqa: PT017 -- a subtree may have none
            continue
        if case.quantity.kernel and not case.quantity.fails:
            one = {name: x[0] for name, x in arrays.items()}
            turned = {
                name: negated(model, x) if name in case.configurations else x for name, x in one.items()
            }
            for x, y in zip(case.parts(case.call(one)), case.parts(case.call(turned)), strict=True):
                if case.quantity.name not in CONFIGURATIONS:
                    np.testing.assert_allclose(
                        x, y, rtol=0, atol=1e-11 * max(1.0, np.abs(x).max(initial=0.0))
                    )


def moves(case):
    """Return whether the case has a configuration, and one array for every element."""
    return case.is_plain and bool(case.configurations)


def assert_single_results(case, arrays):
    """Assert that rows of a batch are results of single calls."""
    batch = case.parts(case.call(arrays))
    for k in range(3):
        try:
            one = case.call({name: x[k] for name, x in arrays.items()})
        except tf.NotPositiveDefiniteError:
            assert all(np.isnan(x[k]).any() for x in batch)
            continue
        for own, single in zip(batch, case.parts(one), strict=True):
            close = (
                1e-3 if case.quantity.fails or not case.quantity.kernel else 1e-11
            )  # H may be almost singular
            scale = max(1.0, np.nanmax(np.abs(single), initial=0.0))
            np.testing.assert_allclose(own[k].astype(float), single, rtol=0, atol=close * scale)


def negated(model, q):
    """Return q with all quaternions negated."""
    q = q.copy()
    for kind in {"spherical", "freeflyer"} & set(model.entries):
        for at in model.entries[kind][0]:
            q[at[-4:]] *= -1.0
    return q
