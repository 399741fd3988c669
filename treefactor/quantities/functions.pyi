"""Types of the functions of `functions`; written by `make generate` from the table."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._functions._entry import Entry
from ..dynamics.inertias import Inertias
from ..model.model import Model
from .declaration import Quantity

QUANTITIES: dict[str, Quantity]
ENTRIES: dict[str, Entry]

# declared in quantities; compiled class dynamics._dynamics_functions:Crba
def crba(
    model: Model,
    q: ArrayLike,
    out: np.ndarray | None = None,
    layout: str = "dense",
    num_threads: int = 1,
    inertias: Inertias | ArrayLike | None = None,
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
    inertias: Inertias | ArrayLike | None = None,
) -> np.ndarray: ...

# declared in quantities; compiled class dynamics._dynamics_functions:Bias
def bias(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    fext: ArrayLike | None = None,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Inertias | ArrayLike | None = None,
) -> np.ndarray: ...

# declared in quantities; compiled class dynamics._dynamics_functions:HTimes
def h_times(
    model: Model,
    q: ArrayLike,
    x: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Inertias | ArrayLike | None = None,
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
    inertias: Inertias | ArrayLike | None = None,
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
    inertias: Inertias | ArrayLike | None = None,
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
    inertias: Inertias | ArrayLike | None = None,
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
    inertias: Inertias | ArrayLike | None = None,
) -> np.ndarray: ...

# declared in quantities; compiled class dynamics._dynamics_functions:GeneralizedGravity
def generalized_gravity(
    model: Model,
    q: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Inertias | ArrayLike | None = None,
) -> np.ndarray: ...

# declared in quantities; compiled class dynamics._dynamics_functions:StaticTorque
def static_torque(
    model: Model,
    q: ArrayLike,
    fext: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Inertias | ArrayLike | None = None,
) -> np.ndarray: ...

# declared in quantities; compiled class dynamics._dynamics_functions:KineticEnergy
def kinetic_energy(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Inertias | ArrayLike | None = None,
) -> Any: ...

# declared in quantities; compiled class dynamics._dynamics_functions:PotentialEnergy
def potential_energy(
    model: Model,
    q: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Inertias | ArrayLike | None = None,
) -> Any: ...

# declared in quantities; compiled class dynamics._dynamics_functions:MechanicalEnergy
def mechanical_energy(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Inertias | ArrayLike | None = None,
) -> Any: ...

# declared in quantities; compiled class dynamics._dynamics_functions:CoriolisMatrix
def coriolis_matrix(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    out: np.ndarray | None = None,
    layout: str = "dense",
    num_threads: int = 1,
    inertias: Inertias | ArrayLike | None = None,
) -> np.ndarray: ...

# declared in quantities; compiled class dynamics._dynamics_functions:InverseInertia
def inverse_inertia(
    model: Model,
    q: ArrayLike,
    out: np.ndarray | None = None,
    num_threads: int = 1,
    inertias: Inertias | ArrayLike | None = None,
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
