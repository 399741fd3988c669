"""Define robots: joints, bodies, configurations, URDF files, and named arms and mechanisms.

`joints` defines joints, inertias and loops, `frames` named places on bodies, `model` the tree of them,
`configuration` operations on q and v, `se3` and `so3` compute with poses and rotations. `urdf` loads files,
`mimic` reduces H under mimic joints, `arms` and `mechanisms` make named examples.
"""

from . import se3, so3
from .frames import Frame, body_number
from .joints import Inertia, Joint, Loop, Mimic
from .model import (
    GRAVITY,
    Model,
    require_model,
)

__all__ = [
    "GRAVITY",
    "Frame",
    "Inertia",
    "Joint",
    "Loop",
    "Mimic",
    "Model",
    "body_number",
    "require_model",
    "se3",
    "so3",
]
