"""Write URDFs with one blemish each: what treefactor, Pinocchio and `treefactor check` must say of them.

All are the same arm, in which one text is replaced. Nothing here imports an engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ARM = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base">
    <inertial><origin xyz="0.1 -0.05 0.12" rpy="0.3 0.5 -0.4"/><mass value="3"/>
      <inertia ixx="0.05" ixy="0.002" ixz="0.001" iyy="0.06" iyz="0.003" izz="0.07"/></inertial>
  </link>
  <link name="upper">
    <inertial><origin xyz="0.2 -0.04 0.1" rpy="0.2 0.1 -0.3"/><mass value="2"/>
      <inertia ixx="0.04" ixy="0.001" ixz="0.002" iyy="0.05" iyz="0.004" izz="0.06"/></inertial>
  </link>
  <link name="lower">
    <inertial><origin xyz="0.15 0.02 -0.1" rpy="-0.2 0.3 0.1"/><mass value="1"/>
      <inertia ixx="0.03" ixy="-0.002" ixz="0.003" iyy="0.02" iyz="0.001" izz="0.04"/></inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <origin xyz="0.3 0.1 -0.2" rpy="0.4 -0.3 0.7"/><parent link="base"/><child link="upper"/>
    <axis xyz="0 0 1"/>
    <limit lower="-9" upper="9" effort="1e6" velocity="1e6"/><dynamics damping="0" friction="0"/>
  </joint>
  <joint name="elbow" type="revolute">
    <origin xyz="0.5 0.2 0.1" rpy="-0.1 0.6 0.2"/><parent link="upper"/><child link="lower"/>
    <axis xyz="0 0 1"/>
    <limit lower="-8" upper="8" effort="1e6" velocity="1e6"/>
  </joint>
</robot>
"""
LOWER = """<mass value="1"/>
      <inertia ixx="0.03" ixy="-0.002" ixz="0.003" iyy="0.02" iyz="0.001" izz="0.04"/>"""
LIMIT = '<limit lower="-8" upper="8" effort="1e6" velocity="1e6"/>'
AXIS = '<child link="lower"/>\n    <axis xyz="0 0 1"/>'
PLACE = '<origin xyz="0.5 0.2 0.1" rpy="-0.1 0.6 0.2"/>'
TENSOR = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
INERTIAL = f'<inertial><origin xyz="0 0 0.2"/><mass value="4"/>{TENSOR}</inertial>'
DOCTYPE = "<!DOCTYPE robot [<!ENTITY one '1'>]>\n"
SAME, DROPS, REFUSES = "same", "drops", "refuses"


@dataclass(frozen=True)
class Blemish:
    """One replacement in the text of the arm.

    Attributes
    ----------
    name : str
    old, new : str
        The text replaced, which is there once, and what replaces it.
    before : str
        Text between the XML declaration and the robot.
    part : str
        Link or joint that has the blemish, "" if none is to be named.
    refusal : str
        Part of the reason for which treefactor refuses the file, "" if it reads it.
    pinocchio : {"same", "drops", "refuses"}
        Whether Pinocchio's reader (urdfdom) takes all numbers of the file; reads the mass or the tensor of a
        link as zero, without an error; or refuses the file.
    impossible : str
        Part of the reason for which ``part`` cannot exist, "" if it can.
    """

    name: str
    old: str
    new: str
    part: str = "lower"
    refusal: str = ""
    pinocchio: str = SAME
    impossible: str = ""
    before: str = ""

    @property
    def text(self) -> str:
        """Text of the URDF."""
        assert ARM.count(self.old) == 1, self.name
        return ARM.replace(self.old, self.new).replace("\n<robot", f"\n{self.before}<robot")

    @property
    def line(self) -> int:
        """Line on which the link or joint with the blemish begins, counted from one."""
        parts = f'<link name="{self.part}"', f'<joint name="{self.part}"'
        before = next(self.text.index(part) for part in parts if part in self.text)
        return self.text[:before].count("\n") + 1

    def write(self, folder) -> Path:
        """Write the URDF into a folder, and return its path."""
        path = Path(folder, f"{self.name}.urdf")
        path.write_text(self.text, encoding="utf-8", newline="")
        return path


def ixz(name: str, text: str, **others) -> Blemish:
    """Return the blemish of another text of ixz in the link "lower", which is 0.003."""
    return Blemish(name, 'ixz="0.003"', f'ixz="{text}"', **others)


def moments(name: str, xx: str, yy: str, zz: str, reason: str, mass: str = "1") -> Blemish:
    """Return the blemish of other principal moments of the link "lower"."""
    tensor = f'<inertia ixx="{xx}" ixy="0" ixz="0" iyy="{yy}" iyz="0" izz="{zz}"/>'
    return Blemish(name, LOWER, f'<mass value="{mass}"/>{tensor}', impossible=reason)


BLANKS = (
    ixz("blank_after_moment", "0.003 ", pinocchio=DROPS),
    ixz("blank_before_moment", " 0.003"),
    Blemish("blank_after_mass", 'value="1"', 'value="1 "', pinocchio=DROPS),
    Blemish("blank_after_place", 'xyz="0.15 0.02 -0.1"', 'xyz="0.15 0.02 -0.1 "'),
    Blemish("blanks_in_place", 'xyz="0.15 0.02 -0.1"', 'xyz=" 0.15  0.02 -0.1"'),
    Blemish("blank_after_axis", AXIS, AXIS.replace("0 0 1", "0 0 1 "), part="elbow"),
    Blemish("blank_after_limit", 'lower="-8"', 'lower="-8 "', part="elbow", pinocchio=REFUSES),
    Blemish("blank_after_damping", 'damping="0"', 'damping="0 "', part="shoulder", pinocchio=REFUSES),
)
BREAKS = (
    ixz("break_after_moment", "0.003\n", pinocchio=DROPS),
    ixz("tab_after_moment", "0.003\t", pinocchio=DROPS),
    ixz("break_before_moment", "\n0.003"),
    ixz("reference_after_moment", "0.003&#10;", pinocchio=DROPS),
    Blemish("break_in_place", 'xyz="0.15 0.02 -0.1"', 'xyz="0.15\n0.02 -0.1"', pinocchio=DROPS),
    Blemish("break_after_blank", 'xyz="0.15 0.02 -0.1"', 'xyz="0.15 \n0.02 -0.1"'),
    Blemish("tab_in_turn", 'rpy="-0.2 0.3 0.1"', 'rpy="-0.2\t0.3 0.1"', pinocchio=DROPS),
    Blemish(*("break_in_joint", 'xyz="0.5 0.2 0.1"', 'xyz="0.5\n0.2 0.1"'), part="elbow", pinocchio=REFUSES),
    Blemish("windows_breaks", "</robot>", "\r\n<!--\r\n-->\r\n</robot>", part=""),
)
PREFIXES = (
    Blemish(
        "unbound_attribute", '<limit lower="-8"', '<limit drake:acceleration="2" lower="-8"', part="elbow"
    ),
    Blemish("unbound_element", "</robot>", '<gazebo:plugin name="p"/></robot>', part=""),
    Blemish("unbound_part", '<mass value="1"/>', '<mass value="1"><drake:tare value="7"/></mass>'),
    Blemish("unbound_mass", 'value="1"/>', 'value="1"/><drake:mass value="7"/>'),
    Blemish("instruction", '<mass value="1"/>', '<?foo bar?><mass value="1"/>', part="", pinocchio=REFUSES),
    Blemish("bound_prefix", "<robot", '<robot xmlns:drake="http://drake.mit.edu"', part=""),
    Blemish("entity", 'value="1"', 'value="&one;"', before=DOCTYPE, part="", pinocchio=DROPS),
)
MISSING = (
    Blemish("no_inertia", LOWER, '<mass value="1"/>', refusal="inertia", pinocchio=DROPS),
    Blemish("no_mass", '<mass value="1"/>', "", refusal="mass", pinocchio=DROPS),
    Blemish("no_value", '<mass value="1"/>', "<mass/>", refusal="'value'", pinocchio=DROPS),
    Blemish("no_product", ' ixz="0.003"', "", pinocchio=DROPS),
    Blemish("no_place", '<origin xyz="0.15 0.02 -0.1" rpy="-0.2 0.3 0.1"/>', ""),
    Blemish("no_turn", ' rpy="-0.2 0.3 0.1"', ""),
    Blemish("no_limit", LIMIT, "", part="elbow", pinocchio=REFUSES),
    Blemish("no_axis", AXIS, '<child link="lower"/>', part="elbow"),
)
DIGITS = (
    ixz("sign_and_exponent", "+3.E-3"),
    ixz("letter_after_number", "0.003f", refusal="not a number", pinocchio=DROPS),
    ixz("comma", "0,003", refusal="not a number", pinocchio=DROPS),
    ixz("hexadecimal", "0x1p-8", refusal="not a number", pinocchio=DROPS),
    ixz("underscore", "0_0.003", refusal="not a number", pinocchio=DROPS),
    ixz("arabic_digits", "\u0660.\u0660\u0660\u0663", refusal="not a number", pinocchio=DROPS),
    ixz("wide_digits", "\uff10.003", refusal="not a number", pinocchio=DROPS),
    ixz("hard_blank", "0.003\u00a0", refusal="not a number", pinocchio=DROPS),
    ixz("empty", "", refusal="not a number", pinocchio=DROPS),
    ixz("two_numbers", "0.003 0", refusal="not a number", pinocchio=DROPS),
    ixz("not_finite", "nan", refusal="not finite", pinocchio=DROPS),
)
NEGATIVE = (
    moments("negative_moment", "-1", "0.02", "0.03", "negative"),
    moments("broken_triangle", "0.01", "0.01", "1", "triangle"),
    moments("tensor_without_mass", "0.01", "0.02", "0.03", "without mass", mass="0"),
    Blemish("large_product", 'ixy="-0.002"', 'ixy="-0.2"', impossible="negative"),
    Blemish("negative_mass", 'value="1"', 'value="-1"', refusal="negative mass"),
)
REPEATED = (
    Blemish("two_masses", 'value="1"/>', 'value="1"/><mass value="3"/>'),
    Blemish("two_tensors", LOWER, LOWER + TENSOR),
    Blemish("two_inertials", '<link name="lower">', f'<link name="lower">{INERTIAL}'),
    Blemish("two_places", PLACE, PLACE + PLACE.replace("0.5", "0.9"), part="elbow"),
    Blemish("two_axes", AXIS, f'{AXIS}<axis xyz="1 0 0"/>', part="elbow"),
    Blemish("two_limits", LIMIT, LIMIT + LIMIT.replace("8", "7"), part="elbow"),
    Blemish(
        "two_parents", '<parent link="upper"/>', '<parent link="upper"/><parent link="base"/>', part="elbow"
    ),
)
JOINTS = (
    Blemish(
        "negative_velocity",
        LIMIT,
        LIMIT.replace('velocity="1e6', 'velocity="-5'),
        part="elbow",
        pinocchio=REFUSES,
        impossible="limit of velocity -5 is negative",
    ),
    Blemish(
        "negative_effort",
        LIMIT,
        LIMIT.replace('effort="1e6', 'effort="-5'),
        part="elbow",
        pinocchio=REFUSES,
        impossible="limit of effort -5 is negative",
    ),
    Blemish(
        "limits_in_wrong_order",
        LIMIT,
        LIMIT.replace("-8", "9"),
        part="elbow",
        impossible="lower limit 9 is above the upper one, 8",
    ),
    Blemish(
        "no_gain", AXIS, f'{AXIS}<safety_controller soft_lower_limit="-1"/>', part="elbow", pinocchio=REFUSES
    ),
    Blemish("gain", AXIS, f'{AXIS}<safety_controller k_velocity="1"/>', part="elbow"),
    Blemish("calibration", AXIS, f'{AXIS}<calibration rising="0"/>', part="elbow"),
    Blemish(
        "blank_in_calibration", AXIS, f'{AXIS}<calibration rising="0 "/>', part="elbow", pinocchio=REFUSES
    ),
)
BLEMISHES = (*BLANKS, *BREAKS, *PREFIXES, *MISSING, *DIGITS, *NEGATIVE, *REPEATED, *JOINTS)


# By engine and blemish, the cause that `treefactor check` must name, besides those of the arm itself.
NUMBER, JOINT, LIMIT_OF, MARKUP = "inertial number", "joint number", "joint limit", "markup"
IMPOSSIBLE = ("negative_moment", "broken_triangle", "tensor_without_mass", "large_product")
URDFDOM = {  # what it drops, and what it refuses
    **{one.name: NUMBER for one in BLEMISHES if one.pinocchio == DROPS and not one.refusal},
    **dict.fromkeys(("blank_after_limit", "blank_after_damping", "break_in_joint"), JOINT),
    "no_limit": LIMIT_OF,
    "blank_in_calibration": JOINT,
    "no_gain": "safety controller",
    **dict.fromkeys(("negative_velocity", "negative_effort"), "impossible limit"),
}
# readers in Python
STRICT = dict.fromkeys(("unbound_attribute", "unbound_element", "unbound_part", "unbound_mass"), "other")
TWICE = [one.name for one in REPEATED]
CAUSES: dict[str, dict[str, str]] = {
    "pinocchio": {**URDFDOM, **dict.fromkeys(("entity", "instruction"), MARKUP)},
    "treefactor": {},
    # its module hands it the text of the parsed file, in which entities are replaced
    "dart": {name: kind for name, kind in URDFDOM.items() if name not in ("entity", "negative_velocity")},
    # it demands six moments, and knows no entities
    "mujoco": {
        **{"no_product": NUMBER, "entity": MARKUP, "instruction": MARKUP},
        **dict.fromkeys(IMPOSSIBLE, "any_inertia"),
        **dict.fromkeys(TWICE, "repeated element"),
    },
    "idyntree": {
        **{"no_product": NUMBER, "entity": MARKUP, "unbound_mass": "other"},
        **dict.fromkeys((name for name in TWICE if name != "two_limits"), "repeated element"),
    },
    "drake": {
        **{"entity": MARKUP, "instruction": MARKUP},
        **dict.fromkeys(IMPOSSIBLE, "keep_inertia"),
        **dict.fromkeys(("negative_velocity", "limits_in_wrong_order"), "impossible limit"),
    },
    "adam": {
        **STRICT,
        "no_gain": "safety controller",
        "no_product": NUMBER,
        "no_place": "inertial origin",
        "no_axis": "axis",
    },
    "rtb": {**STRICT, "no_gain": "safety controller", "no_product": NUMBER, "no_limit": LIMIT_OF},
    "newton": {**STRICT, **dict.fromkeys(IMPOSSIBLE, "keep_inertia")},
    # it divides places at blanks only, and reads nothing of a tensor that is not complete
    "pybullet": {
        **dict.fromkeys(("break_in_place", "tab_in_turn", "no_product"), NUMBER),
        **{"break_in_joint": JOINT, "no_limit": LIMIT_OF, "entity": MARKUP, "instruction": MARKUP},
        **{name: "keep_inertia" for name in IMPOSSIBLE if name != "tensor_without_mass"},
    },
}
