"""List small MJCFs, each with one feature that readers other than MuJoCo are known to treat differently."""

from __future__ import annotations

BODY = '<inertial pos="0.1 -0.05 0.12" quat="0.9 0.1 0.3 -0.2" mass="2" diaginertia="0.05 0.06 0.07"/>'


def _arm(compiler: str = "", joint: str = "", inertial: str = BODY, more: str = "", before: str = "") -> str:
    """Return an arm of two links: attributes of the compiler and of the last joint, and elements."""
    return f"""<mujoco model="trap">
  <compiler {compiler}/>
{before}  <worldbody>
    <body name="upper" pos="0.3 0.1 -0.2" quat="0.8 0.3 -0.2 0.5">
      <joint name="shoulder" type="hinge" axis="0 0 1"/>
      {BODY}
      <body name="lower" pos="0.3 0.1 -0.2" quat="0.7 -0.3 0.4 0.5">
        <joint name="elbow" {joint or 'type="hinge" axis="0 0 1"'}/>
        {inertial}
      </body>
    </body>
  </worldbody>
{more}</mujoco>
"""


GEOM = '<geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0" density="700"/>'
TENDON = """  <tendon><fixed name="cord" armature="0.3">
    <joint joint="shoulder" coef="1"/><joint joint="elbow" coef="2"/>
  </fixed></tendon>
"""

MJCF_TRAPS = {  # name: (what is peculiar, text)
    "mjcf_plain": ("an MJCF without peculiarities", _arm()),
    "mjcf_settotalmass": ("a total mass that the compiler sets", _arm('settotalmass="9"')),
    "mjcf_bound": ("a smallest mass that the compiler demands", _arm('boundmass="3" boundinertia="0.1"')),
    "mjcf_geom_inertia": ("an inertia that follows from a shape", _arm(inertial=GEOM)),
    "mjcf_from_geoms": (
        "shapes whose inertia replaces that of <inertial>",
        _arm('inertiafromgeom="true"', inertial=BODY + GEOM).replace(
            f"{BODY}\n      <body", f"{GEOM}\n      <body"
        ),
    ),
    "mjcf_degrees": (
        "angles in degrees, by default",
        _arm(joint='type="hinge" axis="0 0 1" range="-90 90" ref="30"'),
    ),
    "mjcf_eulerseq": (
        "Euler angles of another sequence",
        _arm('eulerseq="ZYX"').replace('quat="0.7 -0.3 0.4 0.5"', 'euler="20 40 60"'),
    ),
    "mjcf_armature": ("armature of a joint", _arm(joint='type="hinge" axis="0 0 1" armature="0.4"')),
    "mjcf_default": (
        "armature from a default",
        _arm(before='  <default><joint armature="0.4"/></default>\n'),
    ),
    "mjcf_tendon": ("armature of a tendon", _arm(more=TENDON)),
    "mjcf_gravity": ("another gravity", _arm(before='  <option gravity="1 2 -3"/>\n')),
    "mjcf_two_joints": (
        "two joints in one body",
        _arm(joint='type="hinge" axis="0 0 1"/><joint name="slide" type="slide" axis="0.6 0 0.8"'),
    ),
    "mjcf_ball": ("a ball joint", _arm(joint='type="ball"')),
    "mjcf_joint_pos": (
        "a joint beside the origin of its body",
        _arm(joint='type="hinge" pos="0.1 0.2 0.3" axis="0 1 0"'),
    ),
    "mjcf_full_inertia": (
        "an inertia with products",
        _arm(inertial='<inertial pos="0 0 0.1" mass="2" fullinertia="0.05 0.06 0.07 0.002 0.001 0.003"/>'),
    ),
}
