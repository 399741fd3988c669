"""Compute placements, velocities and Jacobians of bodies, frames and centres of mass.

treefactor/quantities/kinematics.py declares the public functions, `requests` returns their compiled
functions. `fused` has the class `Kinematics` that computes many results together, and `terms` the terms of
the equation of motion. `plans` compiles requests, and says how to add an output.
`tasks` has the inertia, inverse, null space and bias of tasks.

`jacobians` has the class `BodyMotions` that holds placements, velocities and unit motions of all bodies, and
the class `Support`, which lists the freedoms with an entry in a row.
"""

from .._util.lazy_names import lazy_names
from ..quantities.table import section

SECTIONS = ("Kinematics", "Operational space")
__all__, _, __getattr__ = lazy_names(
    __name__, __file__, [one.name for title in SECTIONS for one in section(title)]
)
