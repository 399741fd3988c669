"""Test factorization of MuJoCo's MjData.M in place."""

import numpy as np
import pytest

import treefactor as tf

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")

from treefactor import robots  # noqa: E402
from treefactor.adapters import mujoco_  # noqa: E402
from treefactor.adapters._mujoco_settings import random_state  # noqa: E402

GEOM = '<geom size="0.1" pos="0.1 0.2 0.3"/>'
BALL = f'<body pos="0.3 0 0"><joint name="ball" type="ball"/>{GEOM}</body>'
ARM = f'<body name="b"><joint name="h"/>{GEOM}{BALL}</body>'
SCENES = {
    "arm": ARM,
    "arm beside a free ball": f'<body><freejoint/><geom size="0.1"/></body>{ARM}',
    "free body": f"<body><freejoint/>{GEOM}</body>",
    "nothing": "",
}


def loaded(scene):
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{scene}</worldbody></mujoco>")
    return model, mujoco.MjData(model)


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
def test_it_solves_as_mujoco_does(scene):
    model, data = loaded(scene)
    accelerator = mujoco_.Accelerator(model, data)
    rng = np.random.default_rng(0)
    for _ in range(3):
        data.qvel = rng.normal(size=model.nv)
        mujoco.mj_step(model, data)
        mujoco.mj_forward(model, data)
        b, expected = rng.normal(size=(1, model.nv)), np.empty((1, model.nv))
        mujoco.mj_solveM(model, data, expected, b)
        np.testing.assert_allclose(accelerator.factor().solve(b[0]), expected[0], rtol=1e-9, atol=1e-12)


def test_simple_freedoms_are_roots():
    model, data = loaded(SCENES["arm beside a free ball"])
    tree = mujoco_.Accelerator(model, data).tree
    assert tree.parent.tolist() == [-1] * 7 + [6, 7, 8]
    assert tree.name(6) == "h"
    assert tree.name(9) == "ball[2]"


def test_a_robot():
    pytest.importorskip("pinocchio", reason="its wheel brings the robots")
    body = mujoco_.load(robots.find("solo12").path, floating=True)
    accelerator = mujoco_.Accelerator(body.model, body.data)
    q, _, tau = random_state(body, np.random.default_rng(0))
    expected = np.linalg.solve(mujoco_.mass_matrix(body, q), tau)
    np.testing.assert_allclose(accelerator.factor().solve(tau), expected, rtol=1e-9)


def test_a_pivot_that_fails_is_named():
    model, data = loaded(SCENES["arm"])
    accelerator = mujoco_.Accelerator(model, data)
    mujoco.mj_forward(model, data)
    data.M[0] = -100.0
    with pytest.raises(tf.NotPositiveDefiniteError, match="h") as error:
        accelerator.factor()
    assert (error.value.row, error.value.name) == (0, "h")


def test_rows_of_another_order_are_refused(monkeypatch):
    model, data = loaded(SCENES["arm"])
    model.M_colind[:] = model.M_colind[::-1].copy()
    with pytest.raises(tf.AdapterError, match="in a way this adapter does not know"):
        mujoco_.Accelerator(model, data)
    monkeypatch.setattr(mujoco, "MjData", object)  # an older one
    with pytest.raises(tf.AdapterError, match=r"has no MjData\.M"):
        mujoco_.Accelerator(model, object())
