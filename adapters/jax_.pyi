"""Types of the functions of `jax_`; written by `make generate` from the table."""

from typing import Any

import jax
from numpy.typing import ArrayLike

from ..codegen import Kernels
from ..model.model import Model
from ._jax_parameters import from_log_cholesky as from_log_cholesky
from ._public_solvers import Motions, Solutions

__all__ = [
    "aba",
    "bias",
    "center_of_mass",
    "center_of_mass_jacobian",
    "centroidal_momentum",
    "crba",
    "difference",
    "forward_dynamics",
    "frame_jacobian",
    "frame_placement",
    "frame_velocity",
    "from_log_cholesky",
    "generalized_gravity",
    "h_times",
    "ilqr",
    "integrate",
    "inverse_kinematics",
    "joint_placements",
    "normalize",
    "rnea",
    "rollout",
    "static_torque",
    "step",
]

# declared in quantities; see treefactor.integrate
def integrate(
    model: Model | Kernels,
    q: ArrayLike,
    v: ArrayLike,
) -> jax.Array: ...

# declared in quantities; see treefactor.difference
def difference(
    model: Model | Kernels,
    q0: ArrayLike,
    q1: ArrayLike,
) -> jax.Array: ...

# declared in quantities; see treefactor.normalize
def normalize(
    model: Model | Kernels,
    q: ArrayLike,
) -> jax.Array: ...

# declared in quantities; see treefactor.crba
def crba(
    model: Model | Kernels,
    q: ArrayLike,
    inertias: ArrayLike | None = None,
) -> jax.Array: ...

# declared in quantities; see treefactor.rnea
def rnea(
    model: Model | Kernels,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    fext: ArrayLike | None = None,
    inertias: ArrayLike | None = None,
) -> jax.Array: ...

# declared in quantities; see treefactor.bias
def bias(
    model: Model | Kernels,
    q: ArrayLike,
    v: ArrayLike,
    fext: ArrayLike | None = None,
    inertias: ArrayLike | None = None,
) -> jax.Array: ...

# declared in quantities; see treefactor.h_times
def h_times(
    model: Model | Kernels,
    q: ArrayLike,
    x: ArrayLike,
    inertias: ArrayLike | None = None,
) -> jax.Array: ...

# declared in quantities; see treefactor.aba
def aba(
    model: Model | Kernels,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    fext: ArrayLike | None = None,
    inertias: ArrayLike | None = None,
) -> jax.Array: ...

# declared in quantities; see treefactor.forward_dynamics
def forward_dynamics(
    model: Model | Kernels,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    fext: ArrayLike | None = None,
    method: str = "factor",
    inertias: ArrayLike | None = None,
) -> jax.Array: ...

# declared in quantities; see treefactor.generalized_gravity
def generalized_gravity(
    model: Model | Kernels,
    q: ArrayLike,
    inertias: ArrayLike | None = None,
) -> jax.Array: ...

# declared in quantities; see treefactor.static_torque
def static_torque(
    model: Model | Kernels,
    q: ArrayLike,
    fext: ArrayLike,
    inertias: ArrayLike | None = None,
) -> jax.Array: ...

# declared in quantities; see treefactor.step
def step(
    model: Model | Kernels,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    h: float,
    method: str = "semi_implicit_euler",
    fext: ArrayLike | None = None,
    inertias: ArrayLike | None = None,
) -> tuple[jax.Array, jax.Array]: ...

# declared in quantities; see treefactor.rollout
def rollout(
    model: Model | Kernels,
    q0: ArrayLike,
    v0: ArrayLike,
    tau: ArrayLike | None,
    h: float,
    steps: int | None = None,
    method: str = "semi_implicit_euler",
    fext: ArrayLike | None = None,
    inertias: ArrayLike | None = None,
) -> tuple[jax.Array, jax.Array]: ...

# declared in quantities; see treefactor.frame_placement
def frame_placement(
    model: Model | Kernels,
    q: ArrayLike,
    frame: Any,
) -> jax.Array: ...

# declared in quantities; see treefactor.joint_placements
def joint_placements(
    model: Model | Kernels,
    q: ArrayLike,
) -> jax.Array: ...

# declared in quantities; see treefactor.frame_velocity
def frame_velocity(
    model: Model | Kernels,
    q: ArrayLike,
    v: ArrayLike,
    frame: Any,
    reference: Any = "LOCAL",
) -> jax.Array: ...

# declared in quantities; see treefactor.frame_jacobian
def frame_jacobian(
    model: Model | Kernels,
    q: ArrayLike,
    frame: Any,
    reference: Any = "LOCAL",
) -> jax.Array: ...

# declared in quantities; see treefactor.center_of_mass
def center_of_mass(
    model: Model | Kernels,
    q: ArrayLike,
) -> jax.Array: ...

# declared in quantities; see treefactor.center_of_mass_jacobian
def center_of_mass_jacobian(
    model: Model | Kernels,
    q: ArrayLike,
) -> jax.Array: ...

# declared in quantities; see treefactor.centroidal_momentum
def centroidal_momentum(
    model: Model | Kernels,
    q: ArrayLike,
    v: ArrayLike,
) -> jax.Array: ...

# made in _public_solvers; see treefactor.control.inverse_kinematics
def inverse_kinematics(
    model: Model,
    targets: ArrayLike,
    frame: Any,
    q0: ArrayLike | None = None,
    *,
    limits: Any = True,
    joints: Any = None,
    restarts: int | None = None,
    starts: int = 1,
    stall: int = 6,
    iterations: int = 1000,
    tolerance: Any = 1e-4,
    seed: int = 0,
) -> Solutions: ...

# made in _public_solvers; see treefactor.control.ilqr
def ilqr(
    model: Model,
    q0: ArrayLike,
    v0: ArrayLike,
    u: ArrayLike,
    cost: Any,
    dt: float,
    *,
    method: str = "single",
    control_limits: Any = None,
    actuated: Any = None,
    second_order: bool = False,
    iterations: int = 100,
    tolerance: float = 1e-9,
    regularization: float = 1e-9,
) -> Motions: ...
