"""Offer small robots with one peculiarity each, on which engines differ: `treefactor check --traps`.

``urdf_traps``, ``mjcf_traps`` and ``sdf_traps`` hold the texts.
"""

from .traps import Trap, trap_robots, traps

__all__ = ["Trap", "trap_robots", "traps"]
