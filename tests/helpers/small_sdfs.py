"""Small SDFs of versions 1.4 to 1.11, with poses in all frames that a version defines."""

from hypothesis import strategies as st

from .small_urdfs import NUMBERS

KINDS = ("revolute", "prismatic", "fixed", "revolute")
MODERN = ("1.7", "1.8", "1.9", "1.10", "1.11")


@st.composite
def pose(draw, frames=(), chance=0.6):
    """Draw a pose, or none; relative to a frame, or not."""
    if draw(st.floats(0.0, 1.0)) > chance:
        return ""
    relative = draw(st.sampled_from(["", *frames]))
    values = " ".join(str(draw(NUMBERS)) for _ in range(6))
    return f"<pose{f' relative_to={chr(34)}{relative}{chr(34)}' if relative else ''}>{values}</pose>"


@st.composite
def link(draw, name, frames):
    """Draw a link with a possible inertia, or without any."""
    a, b, c, d, e, f = (draw(NUMBERS) / 10.0 for _ in range(6))
    tensor = {"ixx": 3 + a, "iyy": 3 + b, "izz": 3 + c, "ixy": d, "ixz": e, "iyz": f}
    text = "".join(f"<{key}>{value}</{key}>" for key, value in tensor.items())
    mass = draw(st.floats(0.5, 3.0))
    own = f"<inertial>{draw(pose())}<mass>{mass}</mass><inertia>{text}</inertia></inertial>"
    return f'<link name="{name}">{draw(pose(frames))}{draw(st.sampled_from([own, own, ""]))}</link>'


@st.composite
def joint(draw, name, parent, child, version, frames):
    """Draw a joint with an axis in any frame that the version defines."""
    kind, inside = draw(st.sampled_from(KINDS)), ""
    if kind != "fixed":
        axis = draw(st.tuples(NUMBERS, NUMBERS, NUMBERS).filter(any))
        tags = ""
        if version in MODERN and draw(st.booleans()):
            tags = f' expressed_in="{draw(st.sampled_from(["__model__", *frames]))}"'
        inside = f"<xyz{tags}>{' '.join(map(str, axis))}</xyz>"
        if version in ("1.5", "1.6") and draw(st.booleans()):
            value = draw(st.sampled_from(["true", "false", "1"]))
            inside += f"<use_parent_model_frame>{value}</use_parent_model_frame>"
        inside = f"<axis>{inside}<limit><lower>-1</lower><upper>1</upper></limit></axis>"
    ends = f"<parent>{parent}</parent><child>{child}</child>"
    return f'<joint name="{name}" type="{kind}">{draw(pose(frames))}{ends}{inside}</joint>'


@st.composite
def small_sdf(draw):
    """Draw the text of a model of one to five links; the first joint connects it with the world."""
    version = draw(st.sampled_from(["1.4", "1.5", "1.6", *MODERN]))
    count = draw(st.integers(1, 5))
    names = [f"l{k}" for k in range(count)]
    parents = ["world", *(names[draw(st.integers(0, k - 1))] for k in range(1, count))]
    modern = version in MODERN
    parts, known = [], []  # frames are relative to earlier ones only, so that there is no circle
    if modern:
        for k in range(draw(st.integers(0, 2))):
            attached = draw(st.sampled_from(["", *(f"f{j}" for j in range(k))]))
            attached = f' attached_to="{attached}"' if attached else ""
            parts.append(f'<frame name="f{k}"{attached}>{draw(pose(known))}</frame>')
            known.append(f"f{k}")
    for k, name in enumerate(names):
        parts.append(draw(link(name, known if modern else ())))
        known.append(name)
        parts.append(draw(joint(f"j{k}", parents[k], name, version, known if modern else ())))
        known.append(f"j{k}")
    body = "\n".join(parts)
    return f'<sdf version="{version}"><model name="small">{draw(pose())}\n{body}\n</model></sdf>'
