"""Constrain the motion of a model: loops, drives, contacts, joint limits, and time stepping.

``loops``, ``drives`` and ``contacts`` evaluate rows of constraints; ``rigid_contacts`` always hold.
``contact_points`` finds where shapes touch, ``bounds`` where they are.
``stepper`` steps through time with them, after ``free_motion`` without them; ``derivatives`` differentiates
the dynamics. ``maximal`` gives every body six freedoms, and ``body_joints`` its joints.
"""

from typing import TYPE_CHECKING

from ..model.geometry import Geometry
from ..model.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Sphere
from .body_joints import BodyJoint
from .bounds import bounding_boxes, shape_placements
from .contact_points import contact_points
from .contacts import Contact, box, contacts_between
from .derivatives import forward_dynamics_derivatives
from .drives import Drive
from .loops import Rows, close, forward_dynamics, loop_rows
from .maximal import BodyStates, MaximalCoordinates, MaximalMotion
from .rigid_contacts import RigidContact
from .shape_pairs import contacts_of
from .stepper import Step, Stepper, Trajectory

__all__ = [
    "BodyJoint",
    "BodyStates",
    "Box",
    "Capsule",
    "Cone",
    "Contact",
    "Cylinder",
    "Drive",
    "Ellipsoid",
    "Geometry",
    "HeightField",
    "MaximalCoordinates",
    "MaximalMotion",
    "Mesh",
    "Plane",
    "RigidContact",
    "Rows",
    "Sphere",
    "Step",
    "Stepper",
    "Trajectory",
    "bounding_boxes",
    "box",
    "close",
    "contact_points",
    "contacts_between",
    "contacts_of",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "loop_rows",
    "shape_placements",
]

if not TYPE_CHECKING:

    def __getattr__(name: str):
        """Raise the error about an unknown name, which tells what to use instead."""
        from .._util.elsewhere import no_attribute

        raise no_attribute(__name__, name, __all__)
