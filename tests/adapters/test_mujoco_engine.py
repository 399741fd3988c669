"""Compare MuJoCo as an engine of the protocol with Pinocchio."""

import numpy as np
import pytest

from treefactor import AdapterError, robots
from treefactor.check import own

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
pytest.importorskip("mujoco", reason="MuJoCo is not installed")

from helpers import engine_cases as cases  # noqa: E402

from treefactor.adapters import _pinocchio_engine as reference  # noqa: E402
from treefactor.adapters import mujoco_  # noqa: E402

GRAVITY = (0.5, -1.0, -9.0)
ROOT = frozenset({"root_link"})
FAST = [("panda", False), ("solo12", True)]
SLOW = [
    *(("ur5_robot", False), ("baxter", False), ("tiago_dual", False)),
    *(("talos_reduced", True), ("icub", True), ("anymal_b_simple/anymal", True)),
]
FREE = """<mujoco><worldbody><body name="ground"><inertial pos="1 0 0" mass="3" diaginertia="1 1 1"/></body>
<body name="a" pos="1 2 3"><joint name="f" type="free" armature="2"/>
<inertial pos="0.1 0.2 0.3" mass="1.5" diaginertia="0.1 0.2 0.25"/><site name="tip" pos="0 0 1"/>
<body name="b" pos="0 1 0"><joint name="s" type="slide" axis="1 0 0" stiffness="3"/>
<joint name="k" pos="0 0 .1"/><inertial pos="0.1 0.2 0.3" mass="1.5" diaginertia="0.1 0.2 0.25"/>
</body></body></worldbody></mujoco>"""


def close(value, expected, factor=64):
    scale = max(np.abs(expected).max(initial=0.0), 1.0)
    np.testing.assert_allclose(value, expected, rtol=0.0, atol=factor * np.finfo(float).eps * scale)


@pytest.mark.parametrize(
    ("name", "floating"), [*FAST, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)]
)
def test_every_quantity_agrees_with_pinocchio(name, floating):
    path = robots.find(name).path
    ours = reference.load(path, floating, GRAVITY, ROOT)
    body = mujoco_.load(path, floating, GRAVITY)
    model, rng = ours.model, np.random.default_rng(0)
    q, (v, tau) = (
        pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv)),
        rng.normal(size=(2, model.nv)),
    )
    compare(body, ours, q, v, tau)


def rounding(body, frame):
    """Return how many roundings a placement may differ by: MuJoCo drops small rotations of a site."""
    kind, k = mujoco_._places(body)[frame]
    dropped = kind == "site" and body.model.site_sameframe[k] and body.model.site_quat[k, 1:].any()
    return 64 * 1024 if dropped else 64


def compare(body, ours, q, v, tau):
    model = ours.model
    T, c = mujoco_.transform(body, model, q), mujoco_.acceleration_offset(body, model, q, v)
    x, w = mujoco_.from_pinocchio(body, model, q, v)
    H = reference.mass_matrix(ours, q)
    close(mujoco_.mass_matrix(body, x), T.T @ H @ T)
    close(mujoco_.bias(body, x, w), T.T @ (reference.bias(ours, q, v) + H @ c), 256)
    close(mujoco_.gravity_forces(body, x), T.T @ reference.gravity_forces(ours, q))
    forces = reference.inverse_dynamics(ours, q, v, tau)
    close(mujoco_.inverse_dynamics(body, x, w, T.T @ (tau - c)), T.T @ forces, 256)
    qdd, scale = reference.acceleration(ours, q, v, tau), np.sqrt(H.diagonal())
    condition = np.linalg.cond(H / np.outer(scale, scale))
    close(scale * (T @ mujoco_.acceleration(body, x, w, T.T @ tau) + c), scale * qdd, 64 * condition)
    for frame in reference.frames(ours):
        J = reference.jacobian(ours, q, frame)
        close(mujoco_.placement(body, x, frame), reference.placement(ours, q, frame), rounding(body, frame))
        close(mujoco_.jacobian(body, x, frame), J @ T)
        rate = reference.jacobian_dot_v(ours, q, v, frame) + J @ c
        close(mujoco_.jacobian_dot_v(body, x, w, frame), rate, 1024)
    close(mujoco_.com(body, x), reference.com(ours, q))
    close(mujoco_.momentum(body, x, w), reference.momentum(ours, q, v))
    close(mujoco_.kinetic_energy(body, x, w), reference.kinetic_energy(ours, q, v))
    close(mujoco_.potential_energy(body, x), reference.potential_energy(ours, q))
    L, D = mujoco_.factors(body, x)
    close(L.T * D @ L, T.T @ H @ T)


def test_joints_are_those_of_the_reference():
    path = robots.find("solo12").path
    ours, body = reference.load(path, True, GRAVITY), mujoco_.load(path, True, GRAVITY)
    theirs = {joint.name: joint for joint in mujoco_.joints(body)}
    for joint in reference.joints(ours):
        other = theirs[joint.name]
        assert other.kind == joint.kind
        parents = [
            all_joints[one.parent].name if one.parent >= 0 else ""
            for one, all_joints in ((joint, reference.joints(ours)), (other, mujoco_.joints(body)))
        ]
        assert parents[0] == parents[1]
    assert (mujoco_.base(body).linear, mujoco_.base(body).angular) == ("world", "body")


def test_quantities_of_an_mjcf_agree_with_the_model_that_mujoco_compiles(tmp_path):
    """Armature of a free joint, springs, a fixed body with mass, sites, joints beside the origin."""
    path = tmp_path / "free.xml"
    path.write_text(FREE)
    mine, body = own.load(path, False, None, ROOT), mujoco_.load(path, False, None, frozenset())
    assert [(j.name, j.kind, j.parent, j.q, j.v) for j in own.joints(mine)] == [
        (j.name, j.kind, j.parent, j.q, j.v) for j in mujoco_.joints(body)
    ]
    assert own.base(mine).linear == mujoco_.base(body).linear
    q, v, tau = own.random_state(mine, np.random.default_rng(1))
    x = np.r_[q[:3], q[6], q[3:6], q[7:]]
    for name in ("mass_matrix", "gravity_forces", "com", "potential_energy"):
        close(getattr(mujoco_, name)(body, x), getattr(own, name)(mine, q))
    for name in ("bias", "momentum", "kinetic_energy"):
        close(getattr(mujoco_, name)(body, x, v), getattr(own, name)(mine, q, v))
    close(mujoco_.acceleration(body, x, v, tau), own.acceleration(mine, q, v, tau), 1024)
    assert own.frames(mine) == ["ground", "a", "b"]
    assert mujoco_.frames(body) == ["ground", "a", "b", "tip"]
    for frame in own.frames(mine):
        close(mujoco_.placement(body, x, frame), own.placement(mine, q, frame))
        close(mujoco_.jacobian(body, x, frame), own.jacobian(mine, q, frame))
        close(mujoco_.jacobian_dot_v(body, x, v, frame), own.jacobian_dot_v(mine, q, v, frame), 256)


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_the_importer_welds_the_root_and_drops_its_mass(tmp_path, floating):
    path = tmp_path / "arm.urdf"
    path.write_text(
        cases.urdf(
            cases.link("base"),
            cases.link("a"),
            cases.link("b"),
            cases.joint("j", "base", "a"),
            cases.joint("w", "a", "b", "fixed"),
        )
    )
    ours = reference.load(path, floating, GRAVITY, ROOT)
    plain = mujoco_.load(path, floating, GRAVITY, frozenset())
    assert [joint.name for joint in mujoco_.joints(plain)] == ["j"]
    assert mujoco_.frames(plain) == ["a"]
    body = mujoco_.load(path, floating, GRAVITY, ROOT)
    assert set(mujoco_.frames(body)) == {"base", "a", "b"}
    q = pin.neutral(ours.model)
    v = np.ones(ours.model.nv)
    compare(body, ours, q, v, v)
    assert np.abs(mujoco_.com(plain, np.zeros(1)) - reference.com(ours, q)).max() > 1e-2


def test_inertias_that_no_body_can_have_are_refused_without_the_option(tmp_path):
    path = tmp_path / "odd.urdf"
    path.write_text(
        cases.urdf(
            cases.link("base"), cases.link("a", 0.1, (0.01, 0.02, 0.04)), cases.joint("j", "base", "a")
        )
    )
    for options in (frozenset(), ROOT):
        with pytest.raises(AdapterError, match="inertia"):
            mujoco_.load(path, False, GRAVITY, options)
    ours = reference.load(path, False, GRAVITY)
    for options in (frozenset({"any_inertia"}), mujoco_.OPTIONS, None):
        body = mujoco_.load(path, False, GRAVITY, options)
        close(mujoco_.mass_matrix(body, [0.3]), reference.mass_matrix(ours, np.array([0.3])))


def test_missing_meshes_are_refused_without_options():
    with pytest.raises(AdapterError, match="MuJoCo cannot load it"):
        mujoco_.load(robots.find("panda").path, False, GRAVITY, frozenset())


def test_a_robot_without_freedoms(tmp_path):
    path = tmp_path / "stone.urdf"
    path.write_text(cases.urdf(cases.link("base")))
    body, none = mujoco_.load(path, False, GRAVITY), np.zeros(0)
    assert mujoco_.mass_matrix(body, none).shape == (0, 0)
    assert mujoco_.jacobian(body, none, "base").shape == (6, 0)
    ours = reference.load(path, False, GRAVITY, ROOT)
    close(mujoco_.com(body, none), reference.com(ours, none))
    close(mujoco_.potential_energy(body, none), reference.potential_energy(ours, none))
    assert not np.any(mujoco_.momentum(body, none, none))
