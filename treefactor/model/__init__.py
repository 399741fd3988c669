"""Define robots: joints, bodies, configurations, URDF files, and named arms and mechanisms."""

from .joints import Inertia, Joint, Loop, Mimic
from .model import (
    GRAVITY,
    Model,
    body_number,
    require_model,
)

__all__ = [
    "GRAVITY",
    "Inertia",
    "Joint",
    "Loop",
    "Mimic",
    "Model",
    "body_number",
    "require_model",
]
