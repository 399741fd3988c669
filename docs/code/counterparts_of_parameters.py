"""Regressors in the table of the page *From Pinocchio to treefactor*."""

from __future__ import annotations

from counterpart import Counterpart

PARAMETERS: dict[str, tuple[Counterpart, ...]] = {
    "Inertial parameters": (
        Counterpart(
            "Inertia.toDynamicParameters, Inertia.FromDynamicParameters",
            "Inertia.parameters, Inertia.from_parameters",
            "`Model.parameters` has those of all joints, `Inertias` those of a batch",
            shape="(10)",
            convention="the same order, axes and origin",
        ),
        Counterpart(
            "computeJointTorqueRegressor",
            "regressor",
            '`layout="packed"` has no entries that are always zero; `columns=` adds armature and friction',
            shape="(nv, 10 njoints)",
            convention="two axes where nv = 1, too; Pinocchio's is a view that the next call overwrites",
        ),
        Counterpart(
            "computeJointTorqueRegressor",
            "gravity_regressor",
            "timed with the regressor at *v* = *a* = 0",
            what="gravity_regressor",
            shape="(nv, 10 njoints)",
            convention="`computeStaticRegressor` is not this one",
        ),
        Counterpart(
            "computeJointTorqueRegressor",
            "momentum_regressor",
            "timed with a model without gravity at *v* = 0, *a* = *v*",
            what="momentum_regressor",
            shape="(nv, 10 njoints)",
            convention="of *H v* without armature",
        ),
        Counterpart("computeKineticEnergyRegressor", "kinetic_energy_regressor", shape="(10 njoints)"),
        Counterpart("computePotentialEnergyRegressor", "potential_energy_regressor", shape="(10 njoints)"),
        Counterpart(
            "computeStaticRegressor",
            "center_of_mass_regressor",
            shape="(3, 10 njoints)",
            convention="times the parameters, the centre of mass; Pinocchio's has 4 columns for a joint",
        ),
        Counterpart(
            "computeJointTorqueRegressor",
            "regressor_transpose_times",
            "with Pinocchio, a product with the matrix",
            what="regressor_transpose_times",
            shape="(10 njoints)",
            convention="gradient of *w* · *τ* by the parameters",
        ),
    ),
}
