"""Types of the functions of `functions`; written by `make generate` from the table."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._functions._entry import Entry
from ..model.model import Model
from .table import QUANTITIES as QUANTITIES

ENTRIES: Mapping[str, Entry]

def functions_of(module: str) -> dict[str, Any]: ...

# declared in quantities; compiled class kinematics._configuration_functions:Integrate
def integrate(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._configuration_functions:Difference
def difference(
    model: Model,
    q0: ArrayLike,
    q1: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._configuration_functions:Interpolate
def interpolate(
    model: Model,
    q0: ArrayLike,
    q1: ArrayLike,
    u: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._configuration_functions:SquaredDistance
def squared_distance(
    model: Model,
    q0: ArrayLike,
    q1: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._configuration_functions:Distance
def distance(
    model: Model,
    q0: ArrayLike,
    q1: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> Any: ...

# declared in quantities; compiled class kinematics._configuration_functions:IsSameConfiguration
def is_same_configuration(
    model: Model,
    q0: ArrayLike,
    q1: ArrayLike,
    tolerance: ArrayLike = 1e-12,
    num_threads: int = 1,
) -> Any: ...

# declared in quantities; compiled class kinematics._configuration_functions:Normalize
def normalize(
    model: Model,
    q: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._configuration_functions:IntegrateDerivatives
def d_integrate(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    argument: Any = None,
    out: tuple[np.ndarray, ...] | None = None,
    num_threads: int = 1,
) -> Any: ...

# declared in quantities; compiled class kinematics._configuration_functions:DifferenceDerivatives
def d_difference(
    model: Model,
    q0: ArrayLike,
    q1: ArrayLike,
    argument: Any = None,
    out: tuple[np.ndarray, ...] | None = None,
    num_threads: int = 1,
) -> Any: ...

# declared in quantities; compiled class kinematics._configuration_functions:IntegrateDerivatives
def integrate_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    out: tuple[np.ndarray, ...] | None = None,
    num_threads: int = 1,
) -> Any: ...

# declared in quantities; compiled class kinematics._configuration_functions:DifferenceDerivatives
def difference_derivatives(
    model: Model,
    q0: ArrayLike,
    q1: ArrayLike,
    out: tuple[np.ndarray, ...] | None = None,
    num_threads: int = 1,
) -> Any: ...

# declared in quantities; compiled class dynamics._dynamics_functions:Crba
def crba(
    model: Model,
    q: ArrayLike,
    out: np.ndarray | None = None,
    layout: str = "dense",
    num_threads: int = 1,
    inertias: Any = None,
) -> np.ndarray: ...

# declared in quantities; compiled class dynamics._dynamics_functions:Rnea
def rnea(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    fext: ArrayLike | None = None,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> np.ndarray: ...

# declared in quantities; compiled class dynamics._dynamics_functions:Bias
def bias(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    fext: ArrayLike | None = None,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> np.ndarray: ...

# declared in quantities; compiled class dynamics._dynamics_functions:HTimes
def h_times(
    model: Model,
    q: ArrayLike,
    x: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> np.ndarray: ...

# declared in quantities; compiled class dynamics._dynamics_functions:Aba
def aba(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    fext: ArrayLike | None = None,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> np.ndarray: ...

# declared in quantities; compiled class dynamics._dynamics_functions:forward_dynamics
def forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    fext: ArrayLike | None = None,
    method: str = "factor",
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> np.ndarray: ...

# declared in quantities; compiled class dynamics._dynamics_functions:JointForces
def joint_forces(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    fext: ArrayLike | None = None,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> np.ndarray: ...

# declared in quantities; compiled class dynamics._dynamics_functions:BaseForce
def base_force(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    fext: ArrayLike | None = None,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> np.ndarray: ...

# declared in quantities; compiled class dynamics._dynamics_functions:GeneralizedGravity
def generalized_gravity(
    model: Model,
    q: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> np.ndarray: ...

# declared in quantities; compiled class dynamics._dynamics_functions:StaticTorque
def static_torque(
    model: Model,
    q: ArrayLike,
    fext: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> np.ndarray: ...

# declared in quantities; compiled class dynamics._dynamics_functions:KineticEnergy
def kinetic_energy(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> Any: ...

# declared in quantities; compiled class dynamics._dynamics_functions:PotentialEnergy
def potential_energy(
    model: Model,
    q: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> Any: ...

# declared in quantities; compiled class dynamics._dynamics_functions:MechanicalEnergy
def mechanical_energy(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> Any: ...

# declared in quantities; compiled class dynamics._dynamics_functions:CoriolisMatrix
def coriolis_matrix(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    out: np.ndarray | None = None,
    layout: str = "dense",
    num_threads: int = 1,
    inertias: Any = None,
) -> np.ndarray: ...

# declared in quantities; compiled class dynamics._dynamics_functions:InverseInertia
def inverse_inertia(
    model: Model,
    q: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> np.ndarray: ...

# declared in quantities; compiled class dynamics._dynamics_functions:Frames
def frames(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class dynamics._dynamics_functions:EquationOfMotion
def equation_of_motion(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    fext: ArrayLike | None = None,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class dynamics._rollouts:Step
def step(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    h: float,
    method: str = "semi_implicit_euler",
    fext: ArrayLike | None = None,
    out: tuple[np.ndarray, ...] | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> Any: ...

# declared in quantities; compiled class dynamics._rollouts:Trajectory
def rollout(
    model: Model,
    q0: ArrayLike,
    v0: ArrayLike,
    tau: ArrayLike | None,
    h: float,
    steps: int | None = None,
    method: str = "semi_implicit_euler",
    fext: ArrayLike | None = None,
    out: tuple[np.ndarray, ...] | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> Any: ...

# declared in quantities; compiled class derivatives._first_order:RneaDerivatives
def rnea_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    fext: ArrayLike | None = None,
    layout: str = "dense",
    with_value: bool = False,
    out: tuple[np.ndarray, ...] | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> Any: ...

# declared in quantities; compiled class derivatives._first_order:ForwardDynamicsDerivatives
def forward_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    fext: ArrayLike | None = None,
    with_value: bool = False,
    out: tuple[np.ndarray, ...] | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> Any: ...

# declared in quantities; compiled class derivatives._products:RneaJvp
def rnea_jvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    dq: ArrayLike | None,
    dv: ArrayLike | None,
    da: ArrayLike | None,
    fext: ArrayLike | None = None,
    dfext: ArrayLike | None = None,
    with_value: bool = False,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> np.ndarray: ...

# declared in quantities; compiled class derivatives._products:RneaVjp
def rnea_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    w: ArrayLike,
    fext: ArrayLike | None = None,
    fext_gradient: bool = False,
    inertia_gradient: bool = False,
    with_value: bool = False,
    out: tuple[np.ndarray, ...] | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> Any: ...

# declared in quantities; compiled class derivatives._products:ForwardDynamicsJvp
def forward_dynamics_jvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dq: ArrayLike | None,
    dv: ArrayLike | None,
    dtau: ArrayLike | None,
    fext: ArrayLike | None = None,
    dfext: ArrayLike | None = None,
    with_value: bool = False,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> np.ndarray: ...

# declared in quantities; compiled class derivatives._products:ForwardDynamicsVjp
def forward_dynamics_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    w: ArrayLike,
    fext: ArrayLike | None = None,
    fext_gradient: bool = False,
    inertia_gradient: bool = False,
    with_value: bool = False,
    out: tuple[np.ndarray, ...] | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> Any: ...

# declared in quantities; compiled class derivatives._second_order:RneaHvp
def rnea_hvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    w: ArrayLike,
    dq: ArrayLike | None,
    dv: ArrayLike | None,
    da: ArrayLike | None,
    dw: ArrayLike | None = None,
    fext: ArrayLike | None = None,
    symmetric: bool = True,
    out: tuple[np.ndarray, ...] | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> Any: ...

# declared in quantities; compiled class derivatives._second_order:RneaHessian
def rnea_hessian(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    w: ArrayLike,
    fext: ArrayLike | None = None,
    symmetric: bool = True,
    layout: str = "dense",
    out: tuple[np.ndarray, ...] | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> Any: ...

# declared in quantities; compiled class derivatives._second_order:ForwardDynamicsHvp
def forward_dynamics_hvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    w: ArrayLike,
    dq: ArrayLike | None,
    dv: ArrayLike | None,
    dtau: ArrayLike | None,
    dw: ArrayLike | None = None,
    fext: ArrayLike | None = None,
    symmetric: bool = True,
    out: tuple[np.ndarray, ...] | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> Any: ...

# declared in quantities; compiled class derivatives._second_order:ForwardDynamicsHessian
def forward_dynamics_hessian(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    w: ArrayLike,
    fext: ArrayLike | None = None,
    symmetric: bool = True,
    out: tuple[np.ndarray, ...] | None = None,
    num_threads: int = 1,
    inertias: Any = None,
) -> Any: ...

# declared in quantities; compiled class identification._regressors:Regressor
def regressor(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    layout: str = "dense",
    columns: Any = ...,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class identification._regressors:GravityRegressor
def gravity_regressor(
    model: Model,
    q: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class identification._regressors:MomentumRegressor
def momentum_regressor(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class identification._regressors:KineticEnergyRegressor
def kinetic_energy_regressor(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class identification._regressors:PotentialEnergyRegressor
def potential_energy_regressor(
    model: Model,
    q: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class identification._regressors:CenterOfMassRegressor
def center_of_mass_regressor(
    model: Model,
    q: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class identification._regressors:TransposeTimes
def regressor_transpose_times(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    lam: ArrayLike,
    columns: Any = ...,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics.requests:of_frames
def frame_placement(
    model: Model,
    q: ArrayLike,
    frame: Any,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics.requests:joint_placements
def joint_placements(
    model: Model,
    q: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics.requests:of_frames
def frame_velocity(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: Any,
    reference: Any = "LOCAL",
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics.requests:of_frames
def frame_acceleration(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike | None,
    frame: Any,
    reference: Any = "LOCAL",
    classical: bool = False,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics.requests:of_frames
def frame_jacobian(
    model: Model,
    q: ArrayLike,
    frame: Any,
    reference: Any = "LOCAL",
    layout: str = "dense",
    placement: bool = False,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics.requests:joint_jacobian
def joint_jacobian(
    model: Model,
    q: ArrayLike,
    joint: Any,
    reference: Any = "LOCAL",
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics.requests:joint_jacobians
def joint_jacobians(
    model: Model,
    q: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics.requests:of_frames
def frame_jacobian_dot(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: Any,
    reference: Any = "LOCAL",
    layout: str = "dense",
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics.requests:of_masses
def center_of_mass(
    model: Model,
    q: ArrayLike,
    v: ArrayLike | None = None,
    a: ArrayLike | None = None,
    root: Any = None,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics.requests:of_masses
def center_of_mass_jacobian(
    model: Model,
    q: ArrayLike,
    root: Any = None,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics.requests:of_masses
def centroidal_map(
    model: Model,
    q: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics.requests:of_masses
def centroidal_map_dot(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics.requests:of_masses
def centroidal_momentum(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics.requests:of_masses
def centroidal_momentum_rate(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike | None,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics.requests:of_masses
def centroidal_inertia(
    model: Model,
    q: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics.terms:compiled
def all_terms(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    out: tuple[np.ndarray, ...] | None = None,
    num_threads: int = 1,
) -> Any: ...

# declared in quantities; compiled class derivatives.kinematics:of_frames
def frame_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike | None,
    frame: Any,
    reference: Any = "LOCAL",
    classical: bool = False,
    out: tuple[np.ndarray, ...] | None = None,
    num_threads: int = 1,
) -> Any: ...

# declared in quantities; compiled class derivatives.kinematics:of_center
def com_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike | None = None,
    root: Any = None,
    out: tuple[np.ndarray, ...] | None = None,
    num_threads: int = 1,
) -> Any: ...

# declared in quantities; compiled class derivatives.kinematics:of_momentum
def centroidal_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike | None,
    out: tuple[np.ndarray, ...] | None = None,
    num_threads: int = 1,
) -> Any: ...

# declared in quantities; compiled class kinematics._task_functions:Delassus
def delassus(
    model: Model,
    q: ArrayLike,
    frame: Any,
    reference: Any = "LOCAL",
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._task_functions:OperationalInertia
def operational_inertia(
    model: Model,
    q: ArrayLike,
    frame: Any,
    reference: Any = "LOCAL",
    damping: ArrayLike = 0.0,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._task_functions:TaskBias
def task_bias(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: Any,
    reference: Any = "LOCAL",
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...

# declared in quantities; compiled class kinematics._task_functions:OperationalBias
def operational_bias(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: Any,
    reference: Any = "LOCAL",
    damping: ArrayLike = 0.0,
    out: np.ndarray | None = None,
    num_threads: int = 1,
) -> np.ndarray: ...
