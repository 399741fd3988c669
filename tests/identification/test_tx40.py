"""Identify a measured Staubli TX40, and a simulated arm on the same path."""

import numpy as np
import pytest
from helpers import tx40

VISCOUS = (8.09, 5.41, 2.02, 1.07, 1.90, 0.64)  # identification.md, section 7.2


@pytest.fixture(scope="module")
def arm():
    """Return the identification of the measured arm, and one of the held-out blocks."""
    if not (tx40.FOLDER / "tx40.npz").is_file():
        pytest.skip(tx40.ABSENT)
    model, q, tau = tx40.measured()
    return tx40.identified(model, tx40.prepared(q, tau))


def test_the_measured_arm_is_identified(arm):
    """Fit below 0.065, held out below 0.075, 61 columns of full rank, viscous friction within 5 %."""
    fit, test = arm
    estimate = fit.solve()
    assert estimate.rank == len(estimate.names) == 61
    assert estimate.not_excited == ()
    assert estimate.cond < 60
    assert estimate.residuals.relative < 0.065
    assert test.residuals(estimate).relative < 0.075
    shares = estimate.residuals.residuals / estimate.residuals.torques
    assert (shares < 0.115).all()
    viscous = [
        value for name, value in zip(fit.names, estimate.values, strict=True) if name.startswith("viscous f")
    ]
    np.testing.assert_allclose(viscous, VISCOUS, rtol=0.05)


def test_rows_of_slow_joints_matter(arm):
    """With all rows the sign of the velocity is noise: 0.102 and 0.140."""
    samples = tx40.prepared(*tx40.measured()[1:])
    with_all, test = tx40.identified(arm[0].model, samples._replace(mask=np.ones_like(samples.mask)))
    estimate = with_all.solve()
    assert estimate.residuals.relative > 0.09
    assert test.residuals(estimate).relative > 0.12


def test_bodies_of_the_measured_arm_can_exist(arm):
    """The fit of bodies costs little and predicts held-out torques as well."""
    fit, test = arm
    estimate = fit.physical(strength=1.0)
    assert estimate.residuals.relative < 0.07
    assert test.residuals(estimate).relative < 0.08
    assert not estimate.model.faults()


def test_a_simulated_arm_takes_the_same_path():
    """Friction of 2 N m s and 1 N m at 3 % noise of 5 kHz samples, where there is no measurement."""
    model, q, tau = tx40.simulated()
    fit, test = tx40.identified(model, tx40.prepared(q, tau))
    estimate = fit.solve()
    assert estimate.rank == len(estimate.names)
    assert estimate.residuals.relative < 0.05
    assert test.residuals(estimate).relative < 0.05
    for kind, expected in (("viscous friction", 2.0), ("dry friction", 1.0)):
        values = [estimate.value_of(f"{kind} of joint_{k}") for k in range(1, 7)]
        np.testing.assert_allclose(values, expected, rtol=0.3)
    physical = fit.physical()
    assert not physical.model.faults()
    assert physical.residuals.relative < 0.06
