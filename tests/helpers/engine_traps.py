"""URDFs of two to five links with one peculiarity each, on which engines differ."""

from helpers.engine_cases import joint, link, urdf

BOX = '<collision><geometry><box size="0.2 0.3 0.4"/></geometry></collision>'
NO_MESH = (
    '<visual><geometry><mesh filename="package://absent/shape.stl"/></geometry></visual>'
    '<collision><geometry><mesh filename="package://absent/shape.stl"/></geometry></collision>'
)
TEXTURE = (
    '<visual><geometry><sphere radius="0.1"/></geometry><material name="red"><texture/></material></visual>'
)
WIDE = '<limit lower="-9" upper="9" effort="9999" velocity="9999"/>'
NARROW = '<limit lower="-0.01" upper="0.01" effort="1" velocity="1"/>'


def wide(text):
    """Return a robot whose limits exclude nothing."""
    return text.replace(NARROW, WIDE)


def arm(a="", b="", tip=None, j="", k="", kind="revolute", axis="0 0.6 0.8"):
    """Return base, a and b on joints j and k; with a link `tip` on a fixed joint below b if given.

    `a`, `b` and `tip` are whole links, or what the link holds besides its inertia; `j` and `k` are what the
    joints hold besides their limits.
    """
    parts = [link("base")]
    parts += [x if "<link" in x else link(name, extra=x) for name, x in (("a", a), ("b", b))]
    parts += [joint("j", "base", "a", kind, axis, extra=j), joint("k", "a", "b", extra=k)]
    if tip is not None:
        parts += [tip, joint("t", "b", "tip", "fixed")]
    return wide(urdf(*parts))


TRAPS = {
    "plain": arm(),
    "no inertial": arm(tip=link("tip", None)),
    "no inertial, a shape": arm(tip=link("tip", None, extra=BOX)),
    "inertial without origin": arm(
        b=link("b").replace('<origin xyz="0.1 -0.2 0.05" rpy="0.3 0.2 -0.4"/>', "")
    ),
    "triangle inequality": arm(b=link("b", 1.0, (0.01, 0.02, 0.5))),
    "negative moment": arm(b=link("b", 5.0, (0.3, 0.2, -0.01))),
    "massless link with a tensor": arm(tip=link("tip", 0.0)),
    "fixed link with inertia": arm(tip=link("tip", 2.0)),
    "negative axis": arm(axis="0 -0.6 -0.8"),
    "oblique axis": arm(axis="0.2 -0.5 0.9"),
    "axis that is not of length one": arm(axis="0 1.2 1.6"),
    "no axis": arm().replace('<axis xyz="0 0.6 0.8"/>', ""),
    "prismatic": arm(kind="prismatic", axis="0 1 0"),
    "continuous": arm(kind="continuous"),
    "root called world": wide(
        urdf(
            *(link("world", None), link("base"), link("a")),
            *(joint("w", "world", "base", "fixed"), joint("j", "base", "a")),
        )
    ),
    "mimic": arm(k='<mimic joint="j" multiplier="2"/>'),
    "damping": arm(j='<dynamics damping="0.7"/>'),
    "friction": arm(j='<dynamics friction="0.4"/>'),
    "limits": arm().replace(WIDE, NARROW),
    "no effort": arm().replace('effort="9999"', 'effort="0"'),
    "missing mesh": arm(b=NO_MESH),
    "texture without file": arm(b=TEXTURE),
    "slash in names": arm().replace('"b"', '"robot/b"').replace('"k"', '"robot/k"'),
    "transmission": arm().replace(
        "</robot>",
        '<transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="j">'
        "<hardwareInterface>EffortJointInterface</hardwareInterface></joint><actuator name='m'>"
        "<mechanicalReduction>100</mechanicalReduction><motorInertia>0.01</motorInertia></actuator>"
        "</transmission></robot>",
    ),
    "planar": arm(kind="planar", axis="0 0 1"),
    "floating": arm(kind="floating"),
}


def without(*names):
    """Return the names of the other traps."""
    assert TRAPS.keys() >= set(names)
    return [name for name in TRAPS if name not in names]
