"""Table of the page *From Pinocchio to treefactor*: functions that scripts call, and what computes the same.

Rows of declared quantities are in their declarations, the others here.

The choice of functions follows a count of what 486 files of 21 public repositories call.
"""

from __future__ import annotations

from counterpart import Counterpart, declared

GROUPS: dict[str, tuple[Counterpart, ...]] = {
    "Models": (
        Counterpart(
            "buildModelFromUrdf",
            "Model.from_urdf",
            "`adapters.pinocchio_.model` takes a `pin.Model`",
            shape="Model",
        ),
        Counterpart("Model.createData", "", "only for Pinocchio: our functions need no `data`"),
        Counterpart("buildReducedModel", "", "then `adapters.pinocchio_.model`"),
        Counterpart(
            "Model.getFrameId, Model.existFrame, Model.frames",
            "Model.frame, Model.frames",
            "unknown names raise an error with similar names",
            shape="Frame",
            convention=(
                "`frames[k]` is Pinocchio's frame k, but functions refuse numbers as frames: pass the name; "
                "joint i is Pinocchio's joint i + 1, and -1 the universe"
            ),
        ),
        Counterpart("Model.addFrame", "Model.add_frame", "returns another model", shape="Model"),
        Counterpart(
            "computeTotalMass, computeSubtreeMasses, Data.mass",
            "Model.mass, Model.subtree_masses",
            "attributes; without the universe's entry",
            shape="number, (njoints)",
        ),
        Counterpart(
            "RobotWrapper.BuildFromURDF",
            "Model.from_urdf",
            "no wrapper; functions take a `Model`",
            shape="Model",
        ),
    ),
    "Dynamics": (
        *declared("Dynamics"),
        Counterpart(
            "nle",
            "Kernels.bias",
            "the function `bias` of a generated program",
            what="nle of a program",
            shape="(nv)",
        ),
        Counterpart(
            "computeMinverse",
            "compile, Kernels.bind",
            "the function `minv` of a generated program",
            shape="(nv, nv)",
        ),
        Counterpart(
            "constraintDynamics",
            "constraints.forward_dynamics",
            "closed loops; times on the page on performance",
            shape="(nv), (rows)",
        ),
    ),
    "Simulation": (
        Counterpart(
            "aba, integrate",
            "step",
            "with `method=`, also Runge-Kutta of order 4",
            what="step",
            shape="(nq), (nv)",
            convention="*v* first, then *q* with the new *v*",
        ),
        Counterpart(
            "aba, integrate",
            "rollout",
            "timed with 20 steps, in batches of 64; also `Kernels.rollout`",
            what="rollout",
            shape="(T + 1, nq), (T + 1, nv)",
            convention="entry 0 is the initial state",
        ),
    ),
    "Linear algebra with the inertia matrix": (
        Counterpart(
            "cholesky.decompose",
            "adapters.pinocchio_.Accelerator.factor",
            "reads `data.M` in place",
            shape="Factor",
            convention="our *Lᵀ* is Pinocchio's *U*; the same *D*",
        ),
        Counterpart(
            "cholesky.solve",
            "adapters.pinocchio_.Accelerator.solve",
            "with `out=`; also for many columns",
            shape="(nv)",
        ),
        Counterpart(
            "cholesky.decompose",
            "adapters.pinocchio_.cholesky.decompose",
            "drop-in with Pinocchio's signatures; it also fills `data.U` and `data.D`",
            what="drop-in decompose",
            shape="(nv, nv)",
        ),
        Counterpart(
            "cholesky.solve",
            "adapters.pinocchio_.cholesky.solve",
            "drop-in with Pinocchio's signature, from `data.U` and `data.D`",
            what="drop-in solve",
            shape="(nv)",
        ),
        Counterpart(
            "cholesky.computeMinv",
            "adapters.pinocchio_.cholesky.computeMinv",
            "drop-in with Pinocchio's signature; `Factor.inverse` needs no `data`",
            what="drop-in computeMinv",
            shape="(nv, nv)",
        ),
        Counterpart(
            "crba",
            "adapters.pinocchio_.mass_matrix",
            "calls Pinocchio's `crba` and makes the result symmetric",
            what="mass_matrix",
            shape="(nv, nv)",
        ),
        Counterpart(
            "cholesky.decompose",
            "factor, Factor.refactor",
            "one call makes a new `Factor`; a batch is refactored",
            what="new factor",
            shape="Factor",
        ),
        Counterpart(
            "cholesky.decompose, cholesky.solve", "solve", "keeps no factor", what="solve", shape="(nv)"
        ),
        Counterpart(
            "computeDelassusMatrix, ContactCholeskyDecomposition",
            "delassus",
            "*J H⁻¹ Jᵀ* of frames from *q*; `operational_inertia` is the inverse",
            shape="(m, m)",
        ),
        Counterpart(
            "computeDelassusMatrix",
            "Factor.delassus, adapters.pinocchio_.Accelerator.delassus",
            "of a given *J* and factor",
            what="delassus of J",
            shape="(m, m)",
        ),
    ),
    "Derivatives": (
        *declared("Derivatives"),
        Counterpart(
            "computeConstraintDynamicsDerivatives",
            "constraints.forward_dynamics_derivatives",
            "of loops, drives and each `RigidContact`; timed with points of feet held, in batches of 64",
            shape="six (nv or rows, nv)",
            convention="of accelerations and forces by *q*, *v* and *τ*",
        ),
        Counterpart("computeImpulseDynamicsDerivatives"),
    ),
    "Inertial parameters": (
        *declared("Identification"),
        Counterpart(
            "Inertia.toDynamicParameters, Inertia.FromDynamicParameters",
            "Inertia.parameters, Inertia.from_parameters",
            "`Model.parameters` has those of all joints, `Inertias` those of a batch",
            shape="(10)",
            convention="the same order, axes and origin",
        ),
    ),
    "Configurations": (
        *declared("Configurations"),
        Counterpart("neutral", "neutral", shape="(nq)"),
        Counterpart(
            "randomConfiguration",
            "random_configuration",
            "with limits as arguments; takes a NumPy generator or a seed",
            shape="(nq)",
            convention="finite, also where limits are infinite",
        ),
        Counterpart(
            "randomConfiguration",
            "random_configuration",
            "with the limits of the model",
            what="randomConfiguration of the model",
            shape="(nq)",
        ),
    ),
    "Frames, centre of mass and momentum": (
        *declared("Kinematics"),
        Counterpart(
            "computeJointJacobians, updateFramePlacement, getFrameJacobian, centerOfMass",
            "Kinematics",
            (
                "many results in one pass; timed with the placement and Jacobian of a frame and "
                "the centre of mass"
            ),
            what="Kinematics",
            shape="named tuple",
        ),
        Counterpart("computeFrameKinematicRegressor"),
    ),
    "Poses [R | p]": declared("Poses"),
    "Rotations": declared("Rotations"),
    "Operational space": (
        Counterpart(
            "computeFrameJacobian, computeMinverse",
            "operational_inertia",
            "with Pinocchio, products and an inverse in NumPy",
            what="operational_inertia",
            shape="(6, 6)",
            convention="*Λ = (J H⁻¹ Jᵀ)⁻¹*",
        ),
        Counterpart(
            "computeFrameJacobian, computeMinverse",
            "operational_space, OperationalSpace",
            "*Λ*, consistent inverse and null space; with Pinocchio, products and inverses in NumPy",
            what="operational_space",
            shape="OperationalSpace",
            convention="*J̄ = H⁻¹ Jᵀ Λ*, *N = 1 - J̄ J*",
        ),
        Counterpart(
            "getFrameAcceleration, forwardKinematics",
            "task_bias",
            "at zero joint accelerations",
            what="task_bias",
            shape="(6)",
            convention="*J̇ v*: spatial in LOCAL and WORLD, classical in LOCAL_WORLD_ALIGNED",
        ),
        Counterpart(
            "computeFrameJacobian, computeMinverse, nle",
            "operational_bias",
            "with Pinocchio, products and an inverse in NumPy",
            what="operational_bias",
            shape="(6)",
            convention="*J̄ᵀ h - Λ J̇ v*, gravity included",
        ),
    ),
    "Collisions": (Counterpart("computeCollisions, computeDistances"),),
}
WITHOUT_COUNTERPART = {  # public functions and classes, with what Pinocchio's Python has instead
    "a product of two arrays": ("multiply", "so3.act", "so3.act_inverse", "so3.between", "so3.compose"),
    "a view of an array": ("so3.inverse",),
    "a choice of how to call": ("bind", "generate", "stream"),
    "nothing": (
        *("base_parameters", "chain_forces", "chain_inertia", "damped_least_squares", "show_config"),
        *("adapters.pinocchio_.coupled_configuration", "adapters.pinocchio_.coupling"),
        *("adapters.pinocchio_.constraints", "adapters.pinocchio_.leading"),
        *("adapters.pinocchio_.massless_joints", "adapters.pinocchio_.mimic_joints"),
    ),
    "itself: the functions convert models": (
        *("adapters.pinocchio_.load", "adapters.pinocchio_.model", "adapters.pinocchio_.tree"),
    ),
}

CALLS_THEIRS = "calls Pinocchio's function, too"
NEW_ARRAY = "makes a new array where Pinocchio fills its data; the bound call does not"
CHECKS = "checks its arguments and makes a new array: about 0.1 microseconds more"
REASONS = {  # why functions take longer than Pinocchio's, by the name of the measurement
    "buildModelFromUrdf": "reads the file in Python, with checks of every number",
    "drop-in decompose": f"{CALLS_THEIRS}: its bindings do not expose data.Dinv, which its solver reads",
    "mass_matrix": f"{CALLS_THEIRS} and makes the result symmetric",
    "new factor": "makes a new Factor; keep one and call refactor, or an Accelerator",
    "solve": "checks its arguments: about 0.2 microseconds more",
    "randomConfiguration": "locks NumPy's generator, which threads may share",
    "randomConfiguration of the model": "locks NumPy's generator, which threads may share",
    "forwardKinematics": NEW_ARRAY,
    "computeMinverse": "a program is interpreted; inverse_inertia is faster on robots of many joints",
    "isSameConfiguration of different ones": "compares all joints; Pinocchio stops at a difference",
    "operational_bias": "the consistent inverse and the projector are NumPy products",
    "operational_space": "the consistent inverse and the projector are NumPy products",
    "distance": "checks two configurations: about 0.02 microseconds more on robots of few joints",
    "normalize": "checks the configuration: about 0.02 microseconds more",
    "exp6": CHECKS,
    "SE3.inverse": CHECKS,
    "XYZQUATToSE3": CHECKS,
}
