"""Compare an engine of the protocol with Pinocchio, and write small URDFs with one peculiarity each."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

pin = pytest.importorskip("pinocchio", reason="Pinocchio is the reference")

from treefactor.adapters import pinocchio_  # noqa: E402

INERTIA = '<inertia ixx="0.5" ixy="0.02" ixz="0.01" iyy="0.6" iyz="0.03" izz="0.7"/>'
INERTIAL = f'<inertial><origin xyz="0.1 -0.2 0.3" rpy="0.3 0.5 -0.4"/><mass value="2"/>{INERTIA}</inertial>'
ZERO = '<inertial><mass value="0"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>'
LIMIT = '<limit lower="-9" upper="9" effort="9" velocity="9"/>'
SPHERE = '<collision><geometry><sphere radius="0.4"/></geometry></collision>'


def link(name, inside=INERTIAL):
    """Return a link with a rotated inertia."""
    return f'<link name="{name}">{inside}</link>'


def joint(name, parent, child, kind="revolute", axis="0 0 1", inside="", rpy="0.4 -0.3 0.7"):
    """Return a joint with a rotated frame."""
    ends = f'<parent link="{parent}"/><child link="{child}"/><axis xyz="{axis}"/>'
    origin = f'<origin xyz="0.3 0.1 -0.2" rpy="{rpy}"/>'
    return f'<joint name="{name}" type="{kind}">{origin}{ends}{LIMIT}{inside}</joint>'


def arm(second=None, tip=INERTIAL, more=""):
    """Return a URDF of a base and two links that turn about the z axes of their joints."""
    joints = joint("first", "base", "upper"), second or joint("second", "upper", "lower")
    links = link("base"), link("upper"), link("lower", tip)
    return "<robot name='arm'>" + "".join([*links, *joints, more]) + "</robot>"


def write(tmp_path, text):
    """Write a URDF and return its path."""
    path = tmp_path / "arm.urdf"
    path.write_text(text)
    return path


def translated(engine, body, model, q, v):
    """Return T and c of v = T v_engine, a = T a_engine + c, with q and v of the engine."""
    joints, base = engine.joints(body), engine.base(body)
    nv, nq = (sum(getattr(j, x).stop - getattr(j, x).start for j in joints) for x in "vq")
    T, c, own = np.zeros((model.nv, nv)), np.zeros(model.nv), np.zeros(nq)
    for one in joints:
        if one.kind == "free":
            assert (base.linear, base.angular, base.point, base.placed) == ("world", "world", "com", "origin")
            R, w = Rotation.from_quat(q[3:7]).as_matrix().T, v[3:6]
            arm = R.T @ base.com
            T[:6, one.v] = np.block([[R, R @ pin.skew(arm)], [np.zeros((3, 3)), R]])
            c[:3] = -np.cross(w, v[:3]) - np.cross(w, np.cross(w, base.com))
            own[one.q] = q[:7]
        else:
            other = model.joints[model.getJointId(one.name)]
            T[other.idx_v, one.v] = 1.0
            x = q[other.idx_q : other.idx_q + other.nq]
            own[one.q] = x if other.nq == 1 else np.arctan2(x[1], x[0])
    return T, c, own, np.linalg.solve(T, v)


def deviation(result, expected):
    """Return the largest deviation over the largest entry."""
    return float(np.abs(result - expected).max() / np.abs(expected).max())


def errors(engine, path, floating=False, options=(), seed=0, names=None):
    """Return the relative errors of everything an engine offers for a URDF, by quantity."""
    model = pinocchio_.load(path, floating)
    data, rng = model.createData(), np.random.default_rng(seed)
    q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
    v, a, tau = rng.normal(size=(3, model.nv))
    body = engine.load(path, floating, None, frozenset(options))
    T, c, *state = translated(engine, body, model, q, v)
    expected = {
        "mass_matrix": T.T @ pin.crba(model, data, q) @ T,
        "bias": T.T @ pin.rnea(model, data, q, v, c),
        "gravity_forces": T.T @ pin.rnea(model, data, q, 0.0 * v, 0.0 * v),
        "inverse_dynamics": T.T @ pin.rnea(model, data, q, v, a),
        "acceleration": np.linalg.solve(T, np.array(pin.aba(model, data, q, v, tau)) - c),
        "com": center_of_mass(model, data, q),
    }
    given = {"mass_matrix": state[:1], "gravity_forces": state[:1], "com": state[:1], "bias": state}
    given["inverse_dynamics"] = *state, np.linalg.solve(T, a - c)
    given["acceleration"] = *state, T.T @ tau
    relative = {}
    for name in expected:
        if hasattr(engine, name):
            try:
                relative[name] = deviation(getattr(engine, name)(body, *given[name]), expected[name])
            except np.linalg.LinAlgError:  # the engine's H is singular
                relative[name] = np.inf
    pin.forwardKinematics(model, data, q, v, c)
    return relative | frame_errors(engine, body, model, data, (q, v, T), state, names)


def center_of_mass(model, data, q):
    """Return the centre of mass of all links, also those on a fixed root."""
    inertias = list(model.inertias)
    moving = pin.centerOfMass(model, data, q) * sum(one.mass for one in inertias[1:])
    return (moving + inertias[0].mass * inertias[0].lever) / sum(one.mass for one in inertias)


def frame_errors(engine, body, model, data, state, own, names):
    """Return the largest errors of placements, Jacobians and J̇v of links, absolute below one."""
    q, _, T = state
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    worst = {"placement": 0.0, "jacobian": 0.0} | ({"jacobian_dot_v": 0.0} if has_drift(engine) else {})
    for name in engine.frames(body) if names is None else names:
        index = model.getFrameId(name, pin.FrameType.BODY)
        assert index < model.nframes, name
        drift = pin.getFrameClassicalAcceleration(model, data, index, pin.LOCAL_WORLD_ALIGNED).vector
        J = pin.getFrameJacobian(model, data, index, pin.LOCAL_WORLD_ALIGNED) @ T
        expected = {"placement": data.oMf[index].homogeneous, "jacobian": J, "jacobian_dot_v": drift}
        for quantity in worst:
            given = own if quantity == "jacobian_dot_v" else own[:1]
            result = getattr(engine, quantity)(body, *given, name)
            error = np.abs(result - expected[quantity]) / max(
                1.0, np.abs(expected[quantity]).max(initial=0.0)
            )
            worst[quantity] = max(worst[quantity], error.max(initial=0.0))
    return worst


def has_drift(engine):
    """Return whether an engine offers J̇v."""
    return hasattr(engine, "jacobian_dot_v")
