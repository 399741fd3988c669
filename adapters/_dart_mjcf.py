"""Read an MJCF by DART, and give its bodies the inertias of the file."""

from __future__ import annotations

from pathlib import Path

import dartpy
import numpy as np

STATIC, PART = ("__geom_skel__", "__site_skel__"), "__mjcf_dof"  # in names: no bodies of the file
OPTION = "setInertia"
ABOUT = "gives bodies of an MJCF moments of 1 kg m², and 1 kg to those without shapes"


def skeletons_of(path: Path, floating: bool, top) -> list:
    """Return the skeletons of the bodies of an MJCF, which defines their base; none if DART refuses it."""
    world = dartpy.utils.MjcfParser.readWorld(str(path))
    skeletons = [world.getSkeleton(k) for k in range(world.getNumSkeletons())] if world else []
    return [skeleton for skeleton in skeletons if not skeleton.getName().startswith(STATIC)]


def set_inertias(skeletons: list, path: Path) -> None:
    """Give bodies the inertias that MuJoCo compiles, and none to those that DART puts between two joints.

    Raises AdapterError if MuJoCo, which defines the format, is missing or refuses the file.
    """
    from . import mujoco_

    inertias = mujoco_.inertials(mujoco_.load(path, gravity=None))
    for node in (node for skeleton in skeletons for node in skeleton.getBodyNodes()):
        own = inertias.get(node.getName())
        if own is not None:
            node.setInertia(dartpy.dynamics.Inertia(own.mass, own.com, own.tensor))
        elif PART in node.getName():
            node.setInertia(dartpy.dynamics.Inertia(0.0, np.zeros(3), np.zeros((3, 3))))
