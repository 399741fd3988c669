"""Small URDFs with turned frames, all kinds of joints, and elements that may be missing."""

from hypothesis import strategies as st

NUMBERS = st.floats(-2.0, 2.0).map(lambda x: round(x, 3))
AXES = ("1 0 0", "0 1 0", "0 0 1", "-1 0 0", "0 -1 0", "0 0 -1", "0.6 0 0.8", "1 1 0", "0.3 -0.4 2", None)
KINDS = ("revolute", "continuous", "prismatic", "fixed", "fixed", "floating")


@st.composite
def origin(draw):
    """Draw an origin with both attributes, one, or none."""
    keys = draw(st.sampled_from([("xyz", "rpy"), ("xyz", "rpy"), ("xyz",), ("rpy",), ()]))
    values = {key: " ".join(map(str, draw(st.tuples(NUMBERS, NUMBERS, NUMBERS)))) for key in keys}
    return "<origin " + " ".join(f'{key}="{value}"' for key, value in values.items()) + "/>" if keys else ""


@st.composite
def link(draw, name):
    """Draw a link: with an inertia or without, sometimes a massless one, with shapes or without."""
    parts = [""]
    mass = draw(st.sampled_from([None, 0.0, 0.5, 3.0]))
    if mass is not None:
        a, b, c, d, e, f = (draw(NUMBERS) for _ in range(6))
        tensor = f'ixx="{6 + a}" iyy="{6 + b}" izz="{6 + c}" ixy="{d}" ixz="{e}" iyz="{f}"'
        parts = [f'<inertial>{draw(origin())}<mass value="{mass}"/><inertia {tensor}/></inertial>']
    for tag in draw(st.sets(st.sampled_from(["visual", "collision"]))):
        parts.append(f'<{tag}>{draw(origin())}<geometry><sphere radius="1"/></geometry></{tag}>')
    return f'<link name="{name}">{"".join(parts)}</link>'


@st.composite
def joint(draw, k, parent, child, kinds=KINDS):
    """Draw a joint between two links."""
    kind, axis = draw(st.sampled_from(kinds)), draw(st.sampled_from(AXES))
    parts = [draw(origin()), f'<parent link="{parent}"/><child link="{child}"/>']
    if axis and kind not in ("fixed", "floating"):
        parts.append(f'<axis xyz="{axis}"/>')
    if kind in ("revolute", "prismatic"):
        parts.append('<limit lower="-1" upper="1" effort="1" velocity="1"/>')
    if kind not in ("fixed", "floating") and draw(st.booleans()):
        parts.append('<dynamics damping="0.1" friction="0"/>')
    return f'<joint name="j{k}" type="{kind}">{"".join(parts)}</joint>'


@st.composite
def small_urdf(draw, floating=True):
    """Draw the text of a robot of one to six links; the root is sometimes called "world".

    ``floating`` allows floating joints.
    """
    count, kinds = draw(st.integers(1, 6)), KINDS if floating else KINDS[:-1]
    names = [draw(st.sampled_from(["world", "root"])), *(f"l{k}" for k in range(1, count))]
    parts = [draw(link(name)) for name in names]
    for k in range(1, count):
        parts.append(draw(joint(k, names[draw(st.integers(0, k - 1))], names[k], kinds)))
    text = "\n".join(parts)
    return f'<robot name="small">\n{text}\n</robot>'
