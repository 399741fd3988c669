"""Rows of the pages for users of other engines: both sides of every row compute the same on an arm."""

import importlib
import json
import re
from pathlib import Path

import numpy as np
import pytest

import treefactor as tf

pytestmark = pytest.mark.unsanitized

DOCS = Path(__file__).parents[1] / "docs"
H = 1e-3  # s
EXACT, DIFFERENCES = 1e-9, 1e-4  # relative; of MuJoCo's finite differences
MJCF = """<mujoco><option timestep="{h}"><flag energy="enable" contact="disable"/></option>
  <worldbody><body pos=".1 .2 .3"><joint name="turn" axis="0 1 0" armature=".2"/>
    <geom type="box" size=".1 .2 .3" pos=".1 0 .1"/>
  <body pos="0 0 .4" euler="10 20 30"><joint name="slide" type="slide" axis="1 0 1"/><geom size=".1"/>
  <body name="hand" pos=".3 0 0" euler="40 0 10"><joint name="ball" type="ball"/>
    <geom type="box" size=".05 .1 .15" pos="0 .1 .2"/></body></body></body></worldbody></mujoco>"""
LINK = """<link name="{}"><inertial><origin xyz="{}"/><mass value="{}"/>
  <inertia ixx=".03" iyy=".04" izz=".05" ixy=".001" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/>
  <origin xyz="0 .1 .3" rpy=".1 .2 .3"/><axis xyz="{}"/>
  <limit lower="-2" upper="2" effort="9" velocity="9"/></joint>"""
LINKS = ("upper", ".1 0 .1", 2), ("lower", "0 .1 .1", 1), ("hand", ".1 .1 0", 1)
URDF = "".join(
    [
        '<robot name="arm"><link name="base"/>',
        *(LINK.format(*link) for link in LINKS),
        JOINT.format("a", "revolute", "base", "upper", "0 1 0"),
        JOINT.format("b", "prismatic", "upper", "lower", "1 0 0"),
        JOINT.format("c", "revolute", "lower", "hand", "0 0 1"),
        "</robot>",
    ]
)


@pytest.fixture
def engines(monkeypatch):
    """Return the module that makes the tables."""
    pytest.importorskip("matplotlib", reason="exhibits draws with it")
    monkeypatch.syspath_prepend(DOCS / "code")
    return importlib.import_module("engines")


def assert_rows(groups, names, rtol=EXACT):
    """Assert that both sides of all rows have the same results."""
    rows = [row for group in groups.values() for row in group]
    assert len(rows) == len({row.ours for row in rows})
    for row in rows:
        ours, theirs = (np.asarray(eval(text, {"np": np, "tf": tf, **names})) for text in (row.ours, row.run))
        assert ours.shape == theirs.shape, row.theirs
        allowed = (DIFFERENCES if "differences" in row.note else rtol) * max(1.0, np.abs(theirs).max())
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=allowed, err_msg=row.theirs)


def test_rows_of_mujoco(engines):
    mujoco = pytest.importorskip("mujoco", reason="its calls are compared")
    from treefactor.adapters import mujoco_

    model = mujoco.MjModel.from_xml_string(MJCF.format(h=H))
    data, robot, rng = mujoco.MjData(model), mujoco_.model(model), np.random.default_rng(0)
    nv = model.nv
    mujoco.mj_integratePos(model, data.qpos, rng.normal(size=nv), 1.0)
    data.qvel[:], data.qfrc_applied[:] = rng.normal(size=(2, nv))
    mujoco.mj_forward(model, data)
    mujoco.mj_subtreeVel(model, data)
    mujoco.mj_rnePostConstraint(model, data)
    start = data.qpos.copy(), data.qvel.copy(), data.qfrc_applied.copy()
    q = mujoco_.configuration(model, start[0])

    def filled(shape, write):
        array = np.zeros(shape)
        write(array)
        return array

    def moved(x):
        qpos = start[0].copy()
        mujoco.mj_integratePos(model, qpos, x, 1.0)
        return qpos

    def stepped(count):
        simulated = mujoco.MjData(model)
        simulated.qpos[:], simulated.qvel[:], simulated.qfrc_applied[:] = start
        for _ in range(count):
            mujoco.mj_step(model, simulated)
        state = simulated.qpos, simulated.qvel
        return np.concatenate([mujoco_.configuration(model, state[0]), mujoco_.velocity(model, *state)])

    def inverse_derivatives():
        D = np.zeros((3, nv, nv))
        mujoco.mjd_inverseFD(model, data, 1e-6, 0, *D, None, None, None, None)
        return D.transpose(0, 2, 1)

    names = {
        **{"mj": mujoco, "mujoco_": mujoco_, "XBODY": mujoco.mjtObj.mjOBJ_XBODY},
        **{"filled": filled, "moved": moved, "stepped": stepped, "inverse_derivatives": inverse_derivatives},
        **{"model": model, "data": data, "body": mujoco_.Body(model), "hand": model.body("hand").id},
        **{"robot": robot, "q": q, "v": data.qvel, "a": data.qacc, "tau": start[2], "nv": nv, "h": H},
        **{"x": rng.normal(size=nv), "H": tf.crba(robot, q)},
    }
    assert_rows(engines.MUJOCO, names)
    listed = {name for group in engines.MUJOCO.values() for row in group for name in row.theirs.split(", ")}
    assert all(hasattr(mujoco, name) for name in listed if name.startswith("mj"))
    assert all(hasattr(data, name.partition(".")[2]) for name in listed if name.startswith("MjData"))


def test_rows_of_drake(engines, write_text):
    pytest.importorskip("pydrake", reason="its calls are compared")
    from treefactor.adapters import drake_

    path = write_text(URDF)
    body, robot = drake_.load(path), tf.Model.from_urdf(path)
    q, v, tau, x = np.random.default_rng(0).normal(size=(4, 3))
    names = {"drake_": drake_, "body": body, "plant": body.plant, "context": body.at(q, v), "robot": robot}
    assert_rows(engines.DRAKE, {**names, "q": q, "v": v, "tau": tau, "x": x})
    listed = {name for row in engines.DRAKE[""] for name in row.theirs.split(", ")}
    link = body.plant.GetBodyByName("hand")
    assert all(hasattr(link if "." in name else body.plant, name.rpartition(".")[2]) for name in listed)


def test_rows_of_pybullet(engines, write_text):
    pybullet = pytest.importorskip("pybullet", reason="its calls are compared")
    from treefactor.adapters import pybullet_

    path = write_text(URDF)
    robot = tf.Model.from_urdf(path)
    q, v, tau, x = np.random.default_rng(0).normal(size=(4, 3))
    with pybullet_.load(path, options={"inertia_from_file"}) as body:
        names = {"pybullet_": pybullet_, "body": body, "robot": robot, "q": q, "v": v, "tau": tau, "x": x}
        assert_rows(engines.PYBULLET, names, 1e-8)
    assert all(hasattr(pybullet, row.theirs) for row in engines.PYBULLET[""])


def test_ratios_are_those_of_the_stored_figures(engines):
    table = engines.mujoco()
    for row in (row for group in engines.MUJOCO.values() for row in group):
        assert f"<code>{row.theirs.split(', ')[0]}</code>" in table
    ratios = [
        one["ratio"]
        for name in engines.ROBOTS
        for one in json.loads((DOCS / "measured" / f"{name}.json").read_text(encoding="utf-8"))["results"]
        if one["peer"] == "MuJoCo" and one["what"] == "crba"
    ]
    assert len(ratios) == len(engines.ROBOTS)
    assert f"<td>{engines.faster(ratios)}, bound call</td>" in table
    rates = json.loads((DOCS / "measured" / "precision.json").read_text(encoding="utf-8"))["rates"]
    forward = [one["recursions, float64"] / one["MuJoCo mj_forward"] for one in rates.values()]
    assert f"<td>{engines.faster(forward)}, 1024 states</td>" in table
    assert engines.solvers("Drake").count("Drake") >= 2


def test_pages_show_the_tables():
    for page, tables in (("from_mujoco", ["mujoco"]), ("from_others", ["drake", "pybullet", "solvers"])):
        text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
        assert set(tables) <= set(re.findall(r"engines\.(\w+)\(", text))
