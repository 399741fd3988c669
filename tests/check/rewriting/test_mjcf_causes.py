"""Explain what engines read differently from MuJoCo in an MJCF, by edits of it."""

from pathlib import Path

import numpy as np
import pytest

from treefactor import robots
from treefactor.check import own
from treefactor.check.matrix import check
from treefactor.check.rewriting.mjcf_causes import causes_of_mjcf, without_ignored
from treefactor.check.rewriting.mjcf_edits import SPLIT, mjcf_edits, rewrite_mjcf

pytest.importorskip("mujoco", reason="MuJoCo defines the format")

ARM = """<body name="arm" {place}><joint name="shoulder" axis="0 1 0" {joint}/>
<geom type="box" size=".1 .2 .3"/><geom pos="0 0 .5" size=".1"/>
<body name="hand" pos="0 0 1"><joint name="wrist" axis="1 0 0"/><inertial pos="0.1 0.2 0.3" mass="1.5"
diaginertia="0.1 0.2 0.25"/></body></body>"""
TWO = '<body name="second" pos="0 2 0"><joint name="other" axis="1 0 0"/><geom size=".2"/></body>'
FREE = """<body name="ship" pos="1 2 3"><freejoint name="sail"/><geom size=".2"/>
<body name="mast" pos="0 1 0"><joint name="x" axis="1 0 0" pos="0 0 .1"/>
<joint name="y" axis="0 1 0" pos="0 0 .2"/><geom size=".1"/></body>
</body>"""
CASES = {  # by cause: the file, and engines that need it
    "settotalmass": ('<compiler settotalmass="14"/>', ARM, ("pinocchio", "drake", "newton")),
    "bodies": ("", ARM + TWO, ("pinocchio",)),
    "gravity": ('<option gravity="0 0 -5"/>', ARM, ("pinocchio",)),
    "several joints": ("", FREE, ("drake",)),
    "damping": ("", ARM.replace("{joint}", 'damping="2"'), ("drake",)),
}
SUITE = [
    *(
        "acrobot",
        "ball_in_cup",
        "cartpole",
        "cheetah",
        "finger",
        "fish",
        "hopper",
        "humanoid",
        "humanoid_CMU",
    ),
    *("manipulator", "pendulum", "point_mass", "quadruped", "reacher", "stacker", "swimmer", "walker"),
]
QUANTITIES = ("tree", "H", "bias", "q̈", "placements", "centre of mass", "energies")


@pytest.fixture
def write(tmp_path):
    def write(body, head=""):
        path = tmp_path / "robot.xml"
        text = body.replace("{place}", "").replace("{joint}", "")
        path.write_text(f"<mujoco>{head}<worldbody>{text}</worldbody></mujoco>")
        return path

    return write


def values(path):
    """Return H, bias, a placement and the centre of mass at a random state."""
    body = own.load(path, options=frozenset({"root_link"}))
    q, v, _ = own.random_state(body, np.random.default_rng(0))
    frame = own.frames(body)[-1]
    H, bias = own.mass_matrix(body, q), own.bias(body, q, v)
    return np.concatenate([H.ravel(), bias, own.placement(body, q, frame).ravel(), own.com(body, q)])


HEADS = {
    "attributes": '<compiler settotalmass="20" boundmass="0.5" boundinertia="0.3" inertiafromgeom="true"/>',
    "classes": '<default><joint armature="0.2" damping="3"/><geom density="500"/></default>',
    "gravity": '<option><flag gravity="disable"/></option>',
    "sections": '<asset><material name="m"/></asset><sensor><jointpos joint="{name}"/></sensor>',
}


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("body", [ARM + TWO, FREE], ids=["fixed", "free"])
def test_edits_keep_the_dynamics(write, tmp_path, head, body):
    name = "wrist" if "wrist" in body else "x"
    path = write(body, HEADS[head].replace("{name}", name))
    expected, edits = values(path), [edit for edit in mjcf_edits(path) if edit.kind != SPLIT]
    scale = np.abs(expected).max()
    for chosen in (edits, [edit for edit in edits if edit.kind != "resolved"], *([edit] for edit in edits)):
        other = tmp_path / "other.xml"
        other.write_text(rewrite_mjcf(path, chosen))
        np.testing.assert_allclose(values(other), expected, rtol=0.0, atol=1e-12 * scale, err_msg=str(chosen))


def test_included_files_and_lines(tmp_path):
    (tmp_path / "part.xml").write_text(f"<mujoco>\n{TWO}</mujoco>")
    path = tmp_path / "robot.xml"
    path.write_text('<mujoco>\n<worldbody>\n<include file="part.xml"/>\n</worldbody></mujoco>')
    edits = mjcf_edits(path)
    assert [(edit.kind, edit.where, edit.line) for edit in edits[:3]] == [
        ("include", "", 3),
        ("model name", "", 1),
        ("shapes", "second", 3),
    ]
    assert "include" not in rewrite_mjcf(path, edits[:1])


def test_what_is_ignored_is_removed(write):
    path = write(ARM.replace("{joint}", 'armature="0.4" ref="30"'), '<option gravity="0 0 -5"/>')
    ignored = [edit for edit in causes_of_mjcf(path) if edit.kind in ("armature", "ref", "gravity")]
    assert {(edit.kind, edit.where) for edit in ignored} == {
        ("armature", "shoulder"),
        ("ref", "shoulder"),
        ("gravity", ""),
    }
    text, _ = without_ignored(path, ignored)
    assert 'armature="0"' in text
    assert 'ref="0"' in text
    assert "gravity" not in text


def test_an_unknown_kind_is_refused(write):
    path = write(ARM)
    edit = mjcf_edits(path)[0]
    with pytest.raises(ValueError, match="kind of an edit must be one of"):
        rewrite_mjcf(path, [type(edit)(1, "colour", "", 1)])


@pytest.mark.parametrize(
    ("cause", "engine"), [(cause, engine) for cause, case in CASES.items() for engine in case[2]]
)
def test_causes_are_named(write, cause, engine):
    pytest.importorskip({"drake": "pydrake"}.get(engine, engine), reason=f"{engine} is not installed")
    head, body, _ = CASES[cause]
    cells = next(check([robots.find(str(write(body, head)))], [engine], QUANTITIES, 1))
    assert {cell.state for cell in cells} <= {"agrees", "explained", "excluded", "not offered"}
    assert cause in {one.step for cell in cells for one in cell.causes}


def suite(name):
    package = pytest.importorskip("dm_control", reason="dm_control is an optional extra")
    return robots.find(str(Path(package.__path__[0], "suite", f"{name}.xml")))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["pinocchio", "mujoco", "drake"])
@pytest.mark.parametrize("name", SUITE)
def test_models_of_dm_control(name, engine):
    pytest.importorskip({"drake": "pydrake"}.get(engine, engine), reason=f"{engine} is not installed")
    cells = next(check([suite(name)], [engine], QUANTITIES, 1))
    wrong = [(cell.quantity, cell.reason) for cell in cells if cell.state in ("disagrees", "refused")]
    assert not wrong
    if engine == "mujoco":
        assert {cell.state for cell in cells} <= {"agrees", "excluded"}
    if name == "cheetah" and engine != "mujoco":
        assert "settotalmass" in {cause.step for cell in cells for cause in cell.causes}
