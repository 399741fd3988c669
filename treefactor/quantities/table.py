"""The table: all declared quantities by name. Reading it compiles and imports nothing else."""

from __future__ import annotations

from . import configurations, derivatives, dynamics, kinematics, regressors
from .declaration import Quantity

TABLE = (configurations, dynamics, derivatives, regressors, kinematics)
QUANTITIES: dict[str, Quantity] = {
    one.name: one for module in TABLE for one in vars(module).values() if isinstance(one, Quantity)
}
