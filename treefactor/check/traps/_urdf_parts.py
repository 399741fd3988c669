"""Write the elements of small URDFs: links and joints with rotated frames."""

from __future__ import annotations

TENSOR = '<inertia ixx="0.05" ixy="0.002" ixz="0.001" iyy="0.06" iyz="0.003" izz="0.07"/>'
ORIGIN = '<origin xyz="0.1 -0.05 0.12" rpy="0.3 0.5 -0.4"/>'
BOX = '<geometry><box size="0.3 0.4 0.5"/></geometry>'
LIMIT = '<limit lower="-9" upper="9" effort="1e6" velocity="1e6"/>'


def inertial(mass: float = 2.0, tensor: str = TENSOR, origin: str = ORIGIN) -> str:
    """Return an ``<inertial>``."""
    return f'<inertial>{origin}<mass value="{mass:g}"/>{tensor}</inertial>'


def moments(xx: float, yy: float, zz: float) -> str:
    """Return an ``<inertia>`` with principal moments."""
    return f'<inertia ixx="{xx:g}" ixy="0" ixz="0" iyy="{yy:g}" iyz="0" izz="{zz:g}"/>'


def link(name: str, inside: str | None = None) -> str:
    """Return a ``<link>``, by default with an ordinary inertia."""
    return f'  <link name="{name}">{inertial() if inside is None else inside}</link>'


def joint(
    name: str,
    parent: str,
    child: str,
    kind: str = "revolute",
    axis: str | None = "0 0 1",
    inside: str = LIMIT,
    rpy: str = "0.4 -0.3 0.7",
) -> str:
    """Return a ``<joint>`` whose frame is rotated."""
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    around = "" if axis is None else f'<axis xyz="{axis}"/>'
    origin = f'<origin xyz="0.3 0.1 -0.2" rpy="{rpy}"/>'
    return f'  <joint name="{name}" type="{kind}">{origin}{ends}{around}{inside}</joint>'


def robot(*parts: str) -> str:
    """Return a URDF with a part on each line."""
    return "\n".join(['<?xml version="1.0"?>', '<robot name="trap">', *parts, "</robot>", ""])


def arm(tip: str | None = None, last: str | None = None, *more: str) -> str:
    """Return an arm of a base and two links; the inside of the last link and the last joint may be others."""
    links = link("base"), link("upper"), link("lower", tip)
    joints = joint("shoulder", "base", "upper"), last or joint("elbow", "upper", "lower")
    return robot(*links, *joints, *more)
