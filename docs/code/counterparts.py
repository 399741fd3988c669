"""What the page *From Pinocchio to treefactor* adds to its table: functions without a counterpart, reasons.

The choice of functions in the table follows a count of what 486 files of 21 public repositories call.
"""

from __future__ import annotations

WITHOUT_COUNTERPART = {  # public functions and classes, with what Pinocchio's Python has instead
    "a product of two arrays": ("multiply", "so3.act", "so3.act_inverse", "so3.between", "so3.compose"),
    "a view of an array": ("so3.inverse", "to_lanes", "from_lanes"),
    "a choice of how to call": ("bind", "generate", "stream"),
    "nothing": (
        *("base_parameters", "chain_forces", "chain_inertia", "damped_least_squares", "show_config"),
        "control.inverse_kinematics",
        *("adapters.pinocchio_.coupled_configuration", "adapters.pinocchio_.coupling"),
        *("adapters.pinocchio_.constraints", "adapters.pinocchio_.leading"),
        *("adapters.pinocchio_.massless_joints", "adapters.pinocchio_.mimic_joints"),
    ),
    "nothing: Crocoddyl and aligator solve such problems": ("control.ilqr",),
    "its own models, which these functions convert": (
        *("adapters.pinocchio_.load", "adapters.pinocchio_.model", "adapters.pinocchio_.tree"),
        "adapters.pinocchio_.geometry",
    ),
}

CALLS_THEIRS = "calls Pinocchio's function, too"
NEW_ARRAY = "makes a new array where Pinocchio fills its data; the bound call does not"
CHECKS = "checks its arguments and makes a new array: about 0.1 microseconds more"
REASONS = {  # why functions take longer than Pinocchio's, by the name of the measurement
    "drop-in decompose": f"{CALLS_THEIRS}, which alone writes data.Dinv, after a search for bad pivots: "
    "0.3 microseconds more on two joints, 0.5 on nine; an Accelerator takes a fourth of Pinocchio's time",
    "mass_matrix": f"{CALLS_THEIRS} and checks its arguments: 0.2 microseconds more",
    "new factor": "makes a Factor with its memory in 0.4 microseconds; refactor of one that is kept takes "
    "a third of Pinocchio's time",
    "computeConstraintDynamicsDerivatives": "finds the rows of its contacts, checks its arguments and makes "
    "six arrays: about 2 microseconds, which the bound call does not need",
    "solve": "checks its arguments: about 0.2 microseconds more",
    "randomConfiguration": "locks NumPy's generator, which threads may share",
    "randomConfiguration of the model": "locks NumPy's generator, which threads may share",
    "forwardKinematics": NEW_ARRAY,
    "isSameConfiguration of different ones": "compares all joints; Pinocchio stops at a difference",
    "distance": "checks two configurations: about 0.02 microseconds more on robots of few joints",
    "normalize": "checks the configuration: about 0.02 microseconds more",
    "exp6": CHECKS,
    "SE3.inverse": CHECKS,
    "XYZQUATToSE3": CHECKS,
}
