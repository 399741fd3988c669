"""List small SDFs, each with one feature of the format that readers treat differently."""

from __future__ import annotations

INERTIAL = """<inertial><pose>0.1 -0.05 0.12 0.3 0.5 -0.4</pose><mass>2</mass><inertia>
        <ixx>0.05</ixx><ixy>0.002</ixy><ixz>0.001</ixz><iyy>0.06</iyy><iyz>0.003</iyz><izz>0.07</izz>
      </inertia></inertial>"""
LIMIT = "<limit><lower>-9</lower><upper>9</upper></limit>"
TURNED = "0.3 0.1 -0.2 0.4 -0.3 0.7"


def _link(name: str, pose: str = "", relative: str = "") -> str:
    return f"""    <link name="{name}">
      {_pose(pose, relative)}{INERTIAL}
    </link>
"""


def _pose(pose: str, relative: str) -> str:
    attribute = f' relative_to="{relative}"' if relative else ""
    return f"<pose{attribute}>{pose}</pose>" if pose or relative else ""


def _joint(name: str, parent: str, child: str, axis: str = "<xyz>0 0.6 0.8</xyz>", pose: str = "") -> str:
    return f"""    <joint name="{name}" type="revolute">
      {pose}<parent>{parent}</parent><child>{child}</child>
      <axis>{axis}{LIMIT}</axis>
    </joint>
"""


def _model(version: str, *parts: str) -> str:
    return f"""<?xml version="1.0"?>
<sdf version="{version}">
  <model name="trap">
{"".join(parts)}  </model>
</sdf>
"""


HELD = '    <joint name="mount" type="fixed"><parent>world</parent><child>base</child></joint>\n'

SDF_TRAPS = {  # name: (what is peculiar, text)
    "sdf_relative_to": (
        "poses of links relative to other links, and a joint beside the origin of its child",
        _model(
            "1.9",
            *(
                _link("base"),
                _link("upper", TURNED, "base"),
                _link("lower", "0.1 0.2 0.3 0.5 0.2 -0.6", "upper"),
            ),
            HELD,
            _joint("shoulder", "base", "upper"),
            _joint("elbow", "upper", "lower", pose="<pose>0.05 0.02 -0.04 0.2 0.1 -0.3</pose>"),
        ),
    ),
    "sdf_frame": (
        "a frame on a frame, and an axis expressed in a frame",
        _model(
            "1.9",
            _link("base"),
            f'    <frame name="rail" attached_to="base"><pose>{TURNED}</pose></frame>\n',
            '    <frame name="carriage" attached_to="rail"><pose>0.1 0 0.2 0.1 0.2 0.3</pose></frame>\n',
            _link("upper", "0.1 0.2 0.3 0.5 0.2 -0.6", "carriage"),
            HELD,
            _joint("shoulder", "base", "upper", '<xyz expressed_in="rail">0 0.6 0.8</xyz>'),
        ),
    ),
    "sdf_model_axis": (
        "SDF 1.4, whose joint axes are those of the model's frame",
        _model(
            "1.4",
            *(_link("base"), _link("upper", TURNED), _link("lower", "0.1 0.2 0.3 0.5 0.2 -0.6")),
            HELD,
            *(_joint("shoulder", "base", "upper"), _joint("elbow", "upper", "lower")),
        ),
    ),
}
