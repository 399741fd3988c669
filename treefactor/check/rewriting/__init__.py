"""Rewrite robot descriptions without a change of their dynamics, and translate them into other formats.

``urdf_edits`` changes single elements of a URDF, ``translate`` then writes it in the format of an engine:
``sdf``. ``sdf_reader`` reads an SDF as a URDF. No engine is imported.
"""

from .sdf import to_sdf
from .sdf_reader import SdfRobot, read_sdf
from .translate import translated
from .urdf_edits import Edit, Rewritten, edits, rewrite

__all__ = [
    "Edit",
    "Rewritten",
    "SdfRobot",
    "edits",
    "read_sdf",
    "rewrite",
    "to_sdf",
    "translated",
]
