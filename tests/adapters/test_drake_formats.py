"""Test what Drake reads of SDF and MJCF."""

import pytest

pytest.importorskip("pydrake", reason="Drake is not installed")

from helpers import engine_cases as cases
from helpers.engine_trials import assert_all_agree, differing

from treefactor.adapters import drake_

SDF = """<sdf version="1.9"><model name="m"><link name="base"><inertial><mass>1</mass></inertial></link>
<link name="a"><pose relative_to="j">0 0 0 0 0 0</pose><inertial><pose>0.1 -0.2 0.05 0.3 0.2 -0.4</pose>
<mass>1</mass><inertia><ixx>0.02</ixx><iyy>0.03</iyy><izz>0.04</izz></inertia></inertial></link>
<joint name="j" type="revolute"><pose relative_to="base">0.3 0.1 -0.2 0.5 -0.3 0.7</pose><parent>base</parent>
<child>a</child><axis><xyz>0 0.6 0.8</xyz></axis></joint></model></sdf>"""
SAME_URDF = cases.urdf(
    '<link name="base"><inertial><mass value="1"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>',
    *(cases.link("a"), cases.joint("j", "base", "a")),
)
MJCF = """<mujoco model="m">EXTRA<option gravity="1 2 -3"/><worldbody><body name="t" pos="0 0 1">
<freejoint name="root"/><geom type="sphere" size="0.1"/><body name="a" pos="0 0.3 0" euler="10 20 30">
<joint name="h" axis="0 0 1" ATTRIBUTE/>SLIDE
<geom type="box" size="0.1 0.2 0.3"/></body></body></worldbody></mujoco>"""


def mjcf(extra="", attribute="", slide=""):
    return MJCF.replace("EXTRA", extra).replace("ATTRIBUTE", attribute).replace("SLIDE", slide)


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_an_sdf_agrees_with_its_urdf(write_text, floating):
    assert_all_agree(drake_, write_text(SDF, "m.sdf"), floating, read=write_text(SAME_URDF, "m.urdf"))


def test_an_mjcf_agrees_with_treefactor(write_text):
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    assert_all_agree(drake_, write_text(mjcf(), "m.xml"))


@pytest.mark.parametrize(
    ("text", "known"),
    [
        (mjcf('<compiler settotalmass="7"/>'), {"H", "gravity"}),
        (mjcf(attribute='armature="0.3"'), {"H", "q̈"}),
        (mjcf(slide='<joint name="s" type="slide" axis="1 0 0"/>'), {"placements", "H"}),
    ],
    ids=[
        "total mass ignored",
        "armature without motor ignored",
        "first of two joints misplaced",
    ],
)
def test_trap_drakes_reader_of_mjcf(write_text, text, known):
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    assert known <= differing(drake_, write_text(text, "m.xml"))
