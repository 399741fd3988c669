"""Define robots: joints, bodies, configurations, URDF files, and named arms and mechanisms.

`joints` defines joints, inertias and loops, `frames` named places on bodies, `model` the tree of them,
`configuration` neutral and random configurations. `urdf` loads files, `mimic` reduces H under mimic joints,
`arms` and `mechanisms` make named examples.
"""

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
]
