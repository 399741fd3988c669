"""The table: all declared quantities by name. Reading it compiles and imports nothing else."""

from __future__ import annotations

from . import configurations, derivatives, dynamics, kinematics, motions, poses, regressors, rotations
from .declaration import Quantity

TABLE = {  # modules of declarations, with the sections of the documentation
    configurations: "Configurations",
    dynamics: "Dynamics",
    motions: "Dynamics",
    derivatives: "Derivatives",
    regressors: "Identification",
    kinematics: "Kinematics",
    poses: "Poses",
    rotations: "Rotations",
}
QUANTITIES: dict[str, Quantity] = {
    one.key: one for module in TABLE for one in vars(module).values() if isinstance(one, Quantity)
}


def section(name: str) -> list[Quantity]:
    """Return the public quantities of a section of the documentation."""
    return [
        one
        for module, title in TABLE.items()
        for one in vars(module).values()
        if isinstance(one, Quantity)
        and not one.module.endswith("functions")
        and (one.section or title) == name
    ]
