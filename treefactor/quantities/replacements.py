"""What replaces the functions of Pinocchio that scripts call: rows of the page *From Pinocchio to treefactor*.

Rows of declared quantities follow from their declarations, the others are here. Errors about unknown names,
`treefactor advise` and the page read them.
"""

from __future__ import annotations

from typing import NamedTuple

from .declaration import Quantity, Timed
from .table import section

SEVERAL = {2: "two", 3: "three", 4: "four"}


class Replacement(NamedTuple):
    """Functions of Pinocchio and what replaces them.

    Attributes
    ----------
    theirs : str
        Names in ``pinocchio``, separated by commas.
    ours : str
        Names in ``treefactor``, separated by commas; empty where scripts should use Pinocchio.
    note : str
        Plain text with code between backticks.
    what : str
        Name of the measurement, by default the first of theirs.
    shape : str
        Shape or type of our result for one configuration; batches have leading axes.
    convention : str
        Axes, order and sign of the result, written like the note.
    parts : tuple of str
        Our functions, called on one state, that this one replaces. "linalg" is an inverse or a solution in NumPy
        or SciPy.
    """

    theirs: str
    ours: str = ""
    note: str = ""
    what: str = ""
    shape: str = ""
    convention: str = ""
    parts: tuple[str, ...] = ()

    @property
    def measured(self) -> str:
        """Name of the measurement in measure_from_pinocchio.py."""
        return self.what or self.theirs.split(",")[0]


def declared(name: str) -> tuple[Replacement, ...]:
    """Return the rows of the quantities that are declared in a section of the table."""
    return tuple(row(quantity, line) for quantity in section(name) for line in quantity.timed)


def row(quantity: Quantity, line: Timed) -> Replacement:
    """Return the row of a line of a declaration."""
    theirs, shape = line.names or quantity.counterparts[0].name, line.shape or shape_of(quantity)
    return Replacement(theirs, quantity.key, line.note, line.what, shape, line.convention)


def shape_of(quantity: Quantity) -> str:
    """Return the shape of the results that are always there."""
    shapes = []
    for result in quantity.results:
        axes = [str(axis) for axis in result.shape if axis != "frames"]
        shapes += [f"({', '.join(axes)})" if axes else "number"] * (not result.when)
    if len(set(shapes)) > 1:
        return "named tuple"
    return f"{SEVERAL[len(shapes)]} {shapes[0]}" if len(shapes) > 1 else shapes[0]


GROUPS: dict[str, tuple[Replacement, ...]] = {
    "Models": (
        Replacement(
            "buildModelFromUrdf",
            "Model.from_urdf",
            "`adapters.pinocchio_.model` takes a `pin.Model`",
            shape="Model",
        ),
        Replacement("Model.createData", "", "only for Pinocchio: our functions need no `data`"),
        Replacement("buildReducedModel", "", "then `adapters.pinocchio_.model`"),
        Replacement("utils.zero, utils.eye, utils.rand", "", "functions of NumPy"),
        Replacement(
            "Model.getFrameId, Model.existFrame, Model.frames",
            "Model.frame, Model.frames",
            "unknown names raise an error with similar names",
            shape="Frame",
            convention=(
                "`frames[k]` is Pinocchio's frame k, but functions refuse numbers as frames: pass the name; "
                "joint i is Pinocchio's joint i + 1, and -1 the universe"
            ),
        ),
        Replacement("Model.addFrame", "Model.add_frame", "returns another model", shape="Model"),
        Replacement(
            "computeTotalMass, computeSubtreeMasses, Data.mass",
            "Model.mass, Model.subtree_masses",
            "attributes; without the universe's entry",
            shape="number, (njoints)",
        ),
        Replacement(
            "RobotWrapper.BuildFromURDF",
            "Model.from_urdf",
            "no wrapper; functions take a `Model`",
            shape="Model",
        ),
    ),
    "Dynamics": (
        *declared("Dynamics"),
        Replacement(
            "crba, nle",
            "forward_dynamics",
            "with Pinocchio, a solution in NumPy",
            what="crba, nle, solve",
            shape="(nv)",
            convention="*H⁻¹(τ - h)*",
            parts=("crba", "bias", "linalg"),
        ),
        Replacement(
            "nle",
            "Kernels.bias",
            "the function `bias` of a generated program",
            what="nle of a program",
            shape="(nv)",
        ),
        Replacement(
            "computeMinverse",
            "compile, Kernels.bind",
            "the function `minv` of a generated program",
            shape="(nv, nv)",
        ),
        Replacement(
            "constraintDynamics",
            "constraints.forward_dynamics",
            "closed loops; times on the page on performance",
            shape="(nv), (rows)",
        ),
    ),
    "Simulation": (
        Replacement(
            "aba, integrate",
            "step",
            "with `method=`, also Runge-Kutta of order 4",
            what="step",
            shape="(nq), (nv)",
            convention="*v* first, then *q* with the new *v*",
            parts=("forward_dynamics", "integrate"),
        ),
        Replacement(
            "aba, integrate",
            "rollout",
            "timed with 20 steps, in batches of 64; also `Kernels.rollout`",
            what="rollout",
            shape="(T + 1, nq), (T + 1, nv)",
            convention="entry 0 is the initial state",
            parts=("step",),
        ),
    ),
    "Linear algebra with the inertia matrix": (
        Replacement(
            "cholesky.decompose",
            "adapters.pinocchio_.Accelerator.factor",
            "reads `data.M` in place",
            shape="Factor",
            convention="our *Lᵀ* is Pinocchio's *U*; the same *D*",
        ),
        Replacement(
            "cholesky.solve",
            "adapters.pinocchio_.Accelerator.solve",
            "with `out=`; also for many columns",
            shape="(nv)",
        ),
        Replacement(
            "cholesky.decompose",
            "adapters.pinocchio_.cholesky.decompose",
            "drop-in with Pinocchio's signatures; it also fills `data.U` and `data.D`",
            what="drop-in decompose",
            shape="(nv, nv)",
        ),
        Replacement(
            "cholesky.solve",
            "adapters.pinocchio_.cholesky.solve",
            "drop-in with Pinocchio's signature, from `data.U` and `data.D`",
            what="drop-in solve",
            shape="(nv)",
        ),
        Replacement(
            "cholesky.computeMinv",
            "adapters.pinocchio_.cholesky.computeMinv",
            "drop-in with Pinocchio's signature; `Factor.inverse` needs no `data`",
            what="drop-in computeMinv",
            shape="(nv, nv)",
        ),
        Replacement(
            "crba",
            "adapters.pinocchio_.mass_matrix",
            "calls Pinocchio's `crba`, also for batches",
            what="mass_matrix",
            shape="(nv, nv)",
        ),
        Replacement(
            "cholesky.decompose",
            "factor, Factor.refactor",
            "one call makes a new `Factor`; a batch is refactored",
            what="new factor",
            shape="Factor",
        ),
        Replacement(
            "cholesky.decompose, cholesky.solve", "solve", "keeps no factor", what="solve", shape="(nv)"
        ),
        Replacement(
            "computeDelassusMatrix, ContactCholeskyDecomposition",
            "delassus",
            "*J H⁻¹ Jᵀ* of frames from *q*; `operational_inertia` is the inverse",
            shape="(m, m)",
        ),
        Replacement(
            "computeDelassusMatrix",
            "Factor.delassus, adapters.pinocchio_.Accelerator.delassus",
            "of a given *J* and factor",
            what="delassus of J",
            shape="(m, m)",
        ),
    ),
    "Derivatives": (
        *declared("Derivatives"),
        Replacement(
            "computeConstraintDynamicsDerivatives",
            "constraints.forward_dynamics_derivatives",
            "of loops, drives and each `RigidContact`; timed with points of feet held, in batches of 64",
            shape="six (nv or rows, nv)",
            convention="of accelerations and forces by *q*, *v* and *τ*",
        ),
        Replacement("computeImpulseDynamicsDerivatives"),
    ),
    "Inertial parameters": (
        *declared("Identification"),
        Replacement(
            "Inertia.toDynamicParameters, Inertia.FromDynamicParameters",
            "Inertia.parameters, Inertia.from_parameters",
            "`Model.parameters` has those of all joints, `Inertias` those of a batch",
            shape="(10)",
            convention="the same order, axes and origin",
        ),
    ),
    "Configurations": (
        *declared("Configurations"),
        Replacement("neutral", "neutral", shape="(nq)"),
        Replacement(
            "randomConfiguration",
            "random_configuration",
            "with limits as arguments; takes a NumPy generator or a seed",
            shape="(nq)",
            convention="finite, also where limits are infinite",
        ),
        Replacement(
            "randomConfiguration",
            "random_configuration",
            "with the limits of the model",
            what="randomConfiguration of the model",
            shape="(nq)",
        ),
    ),
    "Frames, centre of mass and momentum": (
        *declared("Kinematics"),
        Replacement(
            "computeJointJacobians, updateFramePlacement, getFrameJacobian, centerOfMass",
            "Kinematics",
            (
                "many results in one pass; timed with the placement and Jacobian of a frame and "
                "the centre of mass"
            ),
            what="Kinematics",
            shape="named tuple",
        ),
        Replacement("computeFrameKinematicRegressor"),
    ),
    "Poses [R | p]": declared("Poses"),
    "Rotations": (
        *declared("Rotations"),
        Replacement(
            "rpy.rotate, utils.rotate",
            "so3.exp",
            "of the angle times the unit vector of the axis",
            shape="(3, 3)",
        ),
    ),
    "Operational space": (
        Replacement(
            "computeFrameJacobian, computeMinverse",
            "operational_inertia",
            "with Pinocchio, products and an inverse in NumPy",
            what="operational_inertia",
            shape="(6, 6)",
            convention="*Λ = (J H⁻¹ Jᵀ)⁻¹*",
            parts=("frame_jacobian", "inverse_inertia", "linalg"),
        ),
        Replacement(
            "computeFrameJacobian, computeMinverse",
            "operational_space, OperationalSpace",
            "*Λ*, consistent inverse and null space; with Pinocchio, products and inverses in NumPy",
            what="operational_space",
            shape="OperationalSpace",
            convention="*J̄ = H⁻¹ Jᵀ Λ*, *N = 1 - J̄ J*",
        ),
        Replacement(
            "getFrameAcceleration, forwardKinematics",
            "task_bias",
            "at zero joint accelerations",
            what="task_bias",
            shape="(6)",
            convention="*J̇ v*: spatial in LOCAL and WORLD, classical in LOCAL_WORLD_ALIGNED",
        ),
        Replacement(
            "computeFrameJacobian, computeMinverse, nle",
            "operational_bias",
            "with Pinocchio, products and an inverse in NumPy",
            what="operational_bias",
            shape="(6)",
            convention="*J̄ᵀ h - Λ J̇ v*, gravity included",
        ),
    ),
    "Collisions": (Replacement("computeCollisions, computeDistances"),),
}
