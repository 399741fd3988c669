"""Compare Pinocchio and treefactor, both as engines of the comparison, and each with definitions."""

import numpy as np
import pytest

from treefactor import AdapterError, InvalidModelError, robots
from treefactor.check import own

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")

from treefactor.adapters import _pinocchio_engine as engine  # noqa: E402

GRAVITY = (0.5, -1.0, -9.0)
STEP = 1e-6
FAST = [("panda", False), ("baxter", False), ("solo12", True)]
ALL = [
    *FAST,
    *(("ur5_robot", False), ("double_pendulum_continuous", False), ("tiago_dual", False)),
    *(("talos_reduced", True), ("icub", True), ("anymal_b_simple/anymal", True)),
]
ROOT = frozenset({"root_link"})
SINGLE = """<robot name="stone"><link name="stone"><inertial><origin xyz="1 2 3"/><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
CHAIN = """<mujoco><worldbody><body name="a" pos="1 2 3"><joint name="x" type="slide" axis="1 0 0"/>
<joint name="h" axis="0 1 0"/><geom size=".1"/><body name="b" pos="0 1 0"><joint name="k"/><geom size=".1"/>
</body></body></worldbody></mujoco>"""


def close(value, expected, factor=64):
    scale = max(np.abs(expected).max(initial=0.0), 1.0)
    np.testing.assert_allclose(value, expected, rtol=0.0, atol=factor * np.finfo(float).eps * scale)


def state(body, seed=0):
    model, rng = body.model, np.random.default_rng(seed)
    v, a = rng.normal(size=(2, model.nv))
    return pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv)), v, a


def compare(mine, theirs, q, v, a):
    """Compare all quantities of two bodies."""
    H, b = engine.mass_matrix(theirs, q), engine.bias(theirs, q, v)
    close(own.mass_matrix(mine, q), H)
    close(own.bias(mine, q, v), b, 256)
    close(own.gravity_forces(mine, q), engine.gravity_forces(theirs, q))
    close(own.inverse_dynamics(mine, q, v, a), engine.inverse_dynamics(theirs, q, v, a), 256)
    scale = np.sqrt(H.diagonal())
    condition = np.linalg.cond(H / np.outer(scale, scale))
    accelerations = own.acceleration(mine, q, v, a), engine.acceleration(theirs, q, v, a)
    close(*(scale * qdd for qdd in accelerations), 64 * condition)
    for frame in engine.frames(theirs):
        close(own.placement(mine, q, frame), engine.placement(theirs, q, frame))
        close(own.jacobian(mine, q, frame), engine.jacobian(theirs, q, frame))
        close(own.jacobian_dot_v(mine, q, v, frame), engine.jacobian_dot_v(theirs, q, v, frame), 256)
    close(own.com(mine, q), engine.com(theirs, q))
    close(own.momentum(mine, q, v), engine.momentum(theirs, q, v))
    close(own.kinetic_energy(mine, q, v), engine.kinetic_energy(theirs, q, v))
    close(own.potential_energy(mine, q), engine.potential_energy(theirs, q))
    (L, D), (other_L, other_D) = own.factors(mine, q), engine.factors(theirs, q)
    close(L, other_L, 64 * condition)
    close(D, other_D, 64 * condition)


@pytest.mark.parametrize("options", [frozenset(), ROOT], ids=["as scripts", "with the root link"])
@pytest.mark.parametrize(
    ("name", "floating"), [*FAST, *(pytest.param(*case, marks=pytest.mark.slow) for case in ALL[len(FAST) :])]
)
def test_own_engine_agrees_with_pinocchio(name, floating, options):
    path = robots.find(name).path
    mine, theirs = (e.load(path, floating, GRAVITY, options) for e in (own, engine))
    joints = own.joints(mine)
    assert [(j.name, j.kind, j.parent, j.q, j.v) for j in joints] == [
        (j.name, j.kind, j.parent, j.q, j.v) for j in engine.joints(theirs)
    ]
    assert own.frames(mine) == list(engine.frames(theirs))
    compare(mine, theirs, *state(theirs))


@pytest.mark.parametrize(("name", "floating"), FAST)
def test_derivatives_of_energies_centre_and_frames(name, floating):
    body = engine.load(robots.find(name).path, floating, GRAVITY, ROOT)
    q, v, _ = state(body)
    q1, q2 = (pin.integrate(body.model, q, sign * STEP * v) for sign in (-1.0, 1.0))

    def rate(function):
        return (function(q2) - function(q1)) / (2.0 * STEP)

    mass, frame = body.mass + body.root.mass, engine.frames(body)[-1]
    close(engine.gravity_forces(body, q) @ v, rate(lambda q: engine.potential_energy(body, q)), 1e8)
    close(engine.momentum(body, q, v)[:3], mass * rate(lambda q: engine.com(body, q)), 1e8)
    close(-mass * np.array(GRAVITY) @ engine.com(body, q), engine.potential_energy(body, q))
    close(engine.kinetic_energy(body, q, v), v @ engine.mass_matrix(body, q) @ v / 2.0)
    close(engine.jacobian_dot_v(body, q, v, frame), rate(lambda q: engine.jacobian(body, q, frame) @ v), 1e8)


@pytest.mark.parametrize("module", [engine, own], ids=["Pinocchio", "treefactor"])
def test_robot_without_freedoms(tmp_path, module):
    path, none = tmp_path / "stone.urdf", np.zeros(0)
    path.write_text(SINGLE)
    body = module.load(path, False, GRAVITY, ROOT)
    assert module.mass_matrix(body, none).shape == (0, 0)
    assert module.jacobian(body, none, "stone").shape == (6, 0)  # Pinocchio's own crashes
    assert not module.joints(body)
    np.testing.assert_array_equal(module.com(body, none), [1.0, 2.0, 3.0])
    close(module.potential_energy(body, none), -2.0 * np.dot(GRAVITY, [1.0, 2.0, 3.0]))
    with pytest.raises(InvalidModelError, match="mass"):
        module.com(module.load(path, False, GRAVITY), none)


def test_joints_of_one_body_of_an_mjcf(tmp_path):
    path = tmp_path / "chain.xml"
    path.write_text(CHAIN)
    theirs = engine.load(path, False, None)
    assert [joint.name for joint in engine.joints(theirs)] == ["x", "h", "k"]
    assert [joint.kind for joint in engine.joints(theirs)] == ["prismatic", "revolute", "revolute"]
    assert [joint.parent for joint in engine.joints(theirs)] == [-1, 0, 1]
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    compare(own.load(path, False, None), theirs, *state(theirs))


def test_free_joint_with_armature_has_the_convention_of_mujoco(tmp_path):
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    path = tmp_path / "free.xml"
    path.write_text(
        '<mujoco><worldbody><body name="a"><joint name="f" type="free" armature="2"/><geom size=".1"/>'
        '<body pos="0 1 0"><joint name="k"/><geom size=".1"/></body></body></worldbody></mujoco>'
    )
    body = own.load(path, False, None)
    assert own.base(body).linear == "world"
    free, hinge = own.joints(body)
    assert (free.name, free.kind, free.q, free.v) == ("f", "free", slice(0, 7), slice(0, 6))
    assert (hinge.parent, hinge.q, hinge.v) == (0, slice(7, 8), slice(6, 7))


def test_missing_file_is_refused():
    with pytest.raises(AdapterError, match="no such file"):
        engine.load("missing.urdf", False, GRAVITY)
