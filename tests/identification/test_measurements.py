"""Test the reader of measurements, the filter, differences on the manifold, and the split into blocks."""

import numpy as np
import pytest

import treefactor as tf
from treefactor.identification import Measurements, read_measurements
from treefactor.identification.measurements import GAP, differentiate, filtered
from treefactor.model.joints import ROTATIONS

RATE = 200.0


def arm():
    body = tf.Inertia(1.0, [0, 0, -0.3], np.diag([0.1, 0.1, 0.05]))
    shoulder = tf.Joint("shoulder", "revolute", axis=[0, 1, 0], inertia=body)
    return tf.Model([shoulder, tf.Joint("elbow", "revolute", 0, p=[0, 0, -1], axis=[0, 1, 0], inertia=body)])


def motion(model, seconds=3.0, rate=RATE, seed=0):
    """Return times, configurations, velocities, accelerations and torques of a smooth motion."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(seconds * rate)) / rate
    w = 2 * np.pi * np.arange(1, 4)[:, None]
    c, s = rng.normal(size=(2, 3, model.nv)) / w[..., :1] ** 0.5
    cos, sin = np.cos(w * t), np.sin(w * t)
    q = np.einsum("kj,kt->tj", c, cos) + np.einsum("kj,kt->tj", s, sin)
    v = np.einsum("kj,kt->tj", s * w, cos) - np.einsum("kj,kt->tj", c * w, sin)
    a = -np.einsum("kj,kt->tj", c * w**2, cos) - np.einsum("kj,kt->tj", s * w**2, sin)
    return t, q, v, a, tf.rnea(model, q, v, a)


def written(path, header, *arrays, separator=",", fmt="%.15g"):
    np.savetxt(path, np.column_stack(arrays), fmt, separator, header=header, comments="")
    return path


HEADERS = {
    "by name": "t,q_shoulder,q_elbow,v_shoulder,v_elbow,tau_shoulder,tau_elbow",
    "numbered": "time,q0,q1,v0,v1,tau0,tau1",
    "from one": "t,q1,q2,v1,v2,tau1,tau2",
    "brackets": "t,q[0],q[1],v[0],v[1],tau[0],tau[1]",
    "with units": "t [s],q_shoulder [rad],q_elbow (rad),v0 [rad/s],v1 [rad/s],tau0 (N m),tau1 [Nm]",
    "words": "Time,position_shoulder,position_elbow,velocity.shoulder,qd elbow,effort/shoulder,torque:elbow",
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_headers_and_separators(tmp_path, header, separator):
    model = arm()
    t, q, v, _, tau = motion(model)
    path = written(tmp_path / "data.csv", header.replace(",", separator), t, q, v, tau, separator=separator)
    read = read_measurements(path, model, cutoff=0, decimate=1)
    inner = slice(1, -1)
    for kind, wanted in (("t", t), ("q", q), ("v", v), ("tau", tau)):
        np.testing.assert_allclose(getattr(read, kind), wanted[inner], rtol=0, atol=1e-10)
    assert read.notes == ("a is derived by central differences",)
    assert read.measured.all()


def test_columns_in_any_order_and_others(tmp_path):
    model = arm()
    t, q, _, _, tau = motion(model)
    path = written(
        tmp_path / "d.txt",
        "# tau_elbow q_elbow temperature q_shoulder t tau_shoulder q_gripper",
        *(tau[:, 1], q[:, 1], t, q[:, 0], t, tau[:, 0], t),
        separator="  ",
    )
    read = read_measurements(path, model, cutoff=0)
    np.testing.assert_allclose(read.q, q[1:-1], atol=1e-10)
    np.testing.assert_allclose(read.tau, tau[1:-1], atol=1e-10)
    assert read.notes[0] == "columns left out: temperature, q_gripper"


@pytest.mark.parametrize("above", ["# robot 7, today", "# robot 7\n\n# 500 Hz, t in s"])
@pytest.mark.parametrize("mark", ["", "# "])
def test_comments_and_columns_of_words(tmp_path, above, mark):
    model = arm()
    t, q, _, _, tau = motion(model)
    expected = read_measurements(written(tmp_path / "d.csv", "t,q0,q1,tau0,tau1", t, q, tau), model)
    header, *lines = (tmp_path / "d.csv").read_text().splitlines()
    words = [f"{line},{'idle' if k % 2 else ''},nan" for k, line in enumerate(lines)]
    words.insert(7, "# the operator came in")
    (tmp_path / "e.csv").write_text("\n".join([above, f"{mark}{header},mode,current", *words]))
    read = read_measurements(tmp_path / "e.csv", model)
    np.testing.assert_array_equal(read.q, expected.q)
    np.testing.assert_array_equal(read.tau, expected.tau)
    assert "columns left out: mode, current" in read.notes


def test_derivatives_of_positions_alone(tmp_path):
    model = arm()
    t, q, v, a, tau = motion(model, rate=1000)
    path = written(tmp_path / "d.csv", "t,q0,q1,tau0,tau1", t, q, tau)
    read = read_measurements(path, model, cutoff=40)
    kept = np.searchsorted(t, read.t - 1e-9)
    inner = slice(len(kept) // 10, -len(kept) // 10)
    assert (np.diff(kept) == 6).all()  # 1000 Hz / (4 x 40 Hz)
    for kind, wanted in (("q", q), ("v", v), ("a", a), ("tau", tau)):
        near = np.abs(getattr(read, kind) - wanted[kept]) / np.abs(wanted).max()
        assert near.max() < 1e-2, kind
        assert near[inner].max() < 1e-3, kind
    assert (read.rate, read.cutoff) == (pytest.approx(1000), 40)


def test_arrays_of_a_file_and_of_a_call_are_equal(tmp_path):
    model = arm()
    t, q, v, a, tau = motion(model)
    np.savez(tmp_path / "d.npz", t=t, q=q, v=v, a=a, tau=tau)
    np.savez(tmp_path / "step.npz", ts=1 / RATE, q=q, v=v, a=a, tau=tau)
    own = Measurements.of(model, t, q, tau, v, a)
    for name in ("d.npz", "step.npz"):
        read = read_measurements(tmp_path / name, model)
        for kind in ("t", "q", "v", "a", "tau"):
            np.testing.assert_allclose(getattr(read, kind), getattr(own, kind), rtol=0, atol=1e-10)
    assert not own.q.flags.writeable
    assert own.notes == ()


def test_one_filter_for_positions_and_torques_has_no_delay():
    t = np.arange(4000) / 1000
    signal = np.sin(2 * np.pi * 3 * t)
    smooth = filtered(np.column_stack([signal, 5 * signal]), 1000, 30)
    inner = slice(200, -200)
    np.testing.assert_allclose(smooth[inner, 0], signal[inner], atol=1e-6)
    np.testing.assert_allclose(smooth[:, 1], 5 * smooth[:, 0], atol=1e-12)
    fast = filtered(np.sin(2 * np.pi * 120 * t), 1000, 30)
    assert np.abs(fast[inner]).max() < 1e-4


def test_noise_is_kept_out_of_accelerations():
    model = arm()
    t, q, _, a, tau = motion(model, rate=1000)
    noisy = q + 1e-4 * np.random.default_rng(0).normal(size=q.shape)
    errors = [
        np.abs(measurements.a - a[np.searchsorted(t, measurements.t - 1e-9)]).max()
        for measurements in (Measurements.of(model, t, noisy, tau, cutoff=cutoff) for cutoff in (0, 20))
    ]
    assert errors[1] < 0.02 * errors[0]


def joints_of_every_kind():
    body = tf.Inertia(1.0, [0.1, 0.2, -0.3], np.diag([0.1, 0.1, 0.05]))
    kinds = (("base", "freeflyer", None), ("ball", "spherical", None), ("wheel", "continuous", [0, 0, 1]))
    kinds += (
        ("slide", "prismatic", [1, 0, 0]),
        ("plane", "planar", None),
        ("cross", "universal", np.eye(3)[:2]),
    )
    return tf.Model(
        [tf.Joint(name, kind, k - 1, axis=axis, inertia=body) for k, (name, kind, axis) in enumerate(kinds)]
    )


def test_velocities_on_the_manifold_and_missing_torques():
    model = joints_of_every_kind()
    rng = np.random.default_rng(1)
    step = 1e-3
    rates = rng.normal(size=(6, model.nv))
    q = [tf.random_configuration(model, rng, -np.ones(model.nq), np.ones(model.nq))]
    v = np.array([sum(r * np.sin(3 * (k + 1) * i * step) for k, r in enumerate(rates)) for i in range(1500)])
    for one in v[:-1]:
        q.append(tf.integrate(model, q[-1], step * one))
    q = np.array(q)
    np.testing.assert_allclose(differentiate(model, q, step)[1:-1], (v[1:-1] + v[:-2]) / 2, atol=2e-4)
    signs = np.where(rng.random(1500) < 0.5, -1.0, 1.0)  # of quaternions, which files do not keep
    q[:, 3:7] *= signs[:, None]
    tau = np.ones((1500, model.nv))
    tau[:, :6] = np.nan
    measurements = Measurements.of(model, step, q, tau, cutoff=60, decimate=1)
    kept = np.rint(measurements.t / step).astype(int)
    np.testing.assert_allclose(measurements.v, (v[kept] + v[kept - 1]) / 2, atol=2e-2)
    np.testing.assert_allclose(np.linalg.norm(measurements.q[:, 3:7], axis=1), 1, atol=1e-12)
    assert measurements.measured.tolist() == [False] * 6 + [True] * (model.nv - 6)
    assert any("rows are left out" in note for note in measurements.notes)


def test_rotations_without_unit_length_are_named():
    model = joints_of_every_kind()
    rng = np.random.default_rng(1)
    q = tf.random_configuration(model, rng, -np.ones(model.nq), np.ones(model.nq), 60)
    tau = np.ones((60, model.nv))
    Measurements.of(
        model, 0.01, q * rng.uniform(0.999, 1.001, (60, 1)), tau, cutoff=0
    )  # few digits of a file
    for joint, first in zip(model.joints, model.idx_q, strict=True):
        if joint.kind in ROTATIONS:
            part = slice(first + ROTATIONS[joint.kind].start, first + ROTATIONS[joint.kind].stop)
            for factor in (0.0, 0.9, 2.0):
                wrong = q.copy()
                wrong[17:, part] *= factor
                with pytest.raises(tf.TreefactorError, match=f"row 17: the rotation of joint '{joint.name}'"):
                    Measurements.of(model, 0.01, wrong, tau)


def test_angles_of_continuous_joints_wrap(tmp_path):
    model = tf.Model(
        [tf.Joint("wheel", "continuous", axis=[0, 0, 1], inertia=tf.Inertia(1.0, tensor=np.eye(3)))]
    )
    t = np.arange(1000) / 500
    angle = 7 * t
    wrapped = np.angle(np.exp(1j * angle))
    path = written(tmp_path / "d.csv", "t,q_wheel,tau_wheel", t, wrapped, 0 * t)
    read = read_measurements(path, model, cutoff=30)
    np.testing.assert_allclose(read.v, 7, atol=1e-3)
    np.testing.assert_allclose(read.q, np.column_stack([np.cos(7 * read.t), np.sin(7 * read.t)]), atol=1e-5)
    both = np.column_stack([np.cos(angle), np.sin(angle)])
    again = Measurements.of(model, t, both, np.zeros((1000, 1)), cutoff=30)
    np.testing.assert_allclose(again.q, read.q, atol=1e-5)


def test_uneven_times_become_even():
    model = arm()
    t, q, v, a, tau = motion(model)
    uneven = t + 0.2 / RATE * np.sin(40 * t)
    values = [np.column_stack([np.interp(uneven, t, one) for one in array.T]) for array in (q, tau, v, a)]
    even = Measurements.of(model, uneven, *values, cutoff=0)
    assert "uneven times" in even.notes[0]
    np.testing.assert_allclose(np.diff(even.t), np.diff(even.t)[0], rtol=1e-9)
    assert np.abs(even.q - np.column_stack([np.interp(even.t, t, one) for one in q.T])).max() < 1e-2


def test_steps_of_time():
    """Nearly even times give their mean step wherever they begin; uneven ones reach up to the last sample."""
    model = arm()
    t, q, v, a, tau = motion(model)
    for start in (0.0, 7.0):
        steady = start + 1.5 * t
        steady[:-1] += 0.004 / RATE * np.cos(np.arange(len(t) - 1))
        measurements = Measurements.of(model, steady, q, tau, v, a, cutoff=0)
        assert measurements.rate == pytest.approx((len(t) - 1) / (steady[-1] - steady[0]), rel=1e-9)
        assert not [note for note in measurements.notes if "uneven" in note]
        uneven = start + t + 0.2 / RATE * np.sin(40 * t)
        measurements = Measurements.of(model, uneven, q, tau, v, a, cutoff=0)
        step = 1 / measurements.rate  # the first and the last sample are cut off
        assert step <= uneven[-1] - measurements.t[-1] < 2 * step
        assert measurements.t[0] - uneven[0] == pytest.approx(step)


@pytest.mark.parametrize(("steps", "is_gap"), [(GAP, False), (GAP + 1, True)])
def test_the_longest_step_that_is_no_gap(steps, is_gap):
    t = np.arange(20.0)
    t[10:] += steps - 1
    arrays = t, np.zeros((20, 2)), np.zeros((20, 2))
    if is_gap:
        with pytest.raises(tf.TreefactorError, match="a gap of 6 s between samples, usually 1 s"):
            Measurements.of(arm(), *arrays, cutoff=0)
    else:
        assert "uneven times" in Measurements.of(arm(), *arrays, cutoff=0).notes[0]


def test_blocks_in_turns():
    model = arm()
    t, q, v, a, tau = motion(model, seconds=10)
    measurements = Measurements.of(model, t, q, tau, v, a, cutoff=0)
    for share in (0.0, 0.25, 0.5, 0.7):
        held = measurements.held_out(share, 0.5)
        assert held.mean() == pytest.approx(share, abs=0.06)
    held = measurements.held_out(0.5, 0.5)
    changes = np.flatnonzero(np.diff(held.astype(int)))
    assert (np.diff(changes) == round(0.5 * RATE)).all()
    for bad in (-0.1, 1.0):
        with pytest.raises(ValueError, match="share must be from 0"):
            measurements.held_out(bad)
    with pytest.raises(ValueError, match="seconds must be positive"):
        measurements.held_out(0.3, 0)


GOOD = "t,q0,q1,tau0,tau1\n0,0,0,0,0\n0.1,1,1,1,1\n0.2,0,0,0,0\n"
FAULTS = {
    "a word": (
        GOOD.replace(",1,1,1,1", ",1,x,1,1"),
        "line 3, column 'q1': expected a finite number, got 'x'",
    ),
    "NaN": (GOOD.replace("0.2,0,0", "0.2,0,nan"), "line 4, column 'q1': expected a finite number, got 'nan'"),
    "decimal commas": (
        GOOD.replace(",", ";").replace("0.1", "0,1"),
        "line 3, column 't': expected a finite number, got '0,1'; decimal commas are not read",
    ),
    "a short line": (
        GOOD.replace("0.1,1,", "0.1,"),
        "line 3: expected 5 cells as in the header, separated by a comma",
    ),
    "a joint": (
        GOOD.replace("q0,q1", "q_elbw,q_shoulder"),
        "no column of q of joint 'elbow'; did you mean 'elbw'",
    ),
    "a number": (GOOD.replace("q1", "q2"), "expected 2 columns q0 to q1, found 2"),
    "no torque": (GOOD.replace("tau", "current"), "line 1: no column of tau; expected a header such as"),
    "degrees": (GOOD.replace("q0", "q0 [deg]"), "the unit is 'deg', expected s, rad"),
    "twice": (GOOD.replace("tau0,tau1", "q_0,tau0"), "two columns hold q of '0'"),
    "time": (GOOD.replace("0.2", "0.1"), "line 4: the time does not ascend"),
    "a gap": (GOOD + "0.3,0,0,0,0\n0.4,0,0,0,0\n9,0,0,0,0\n", "line 7: a gap of 8.6 s between samples"),
    "no time": (GOOD.replace("t,", "x,", 1), "it has no times t: give the sampling rate"),
    "few": (GOOD, "expected more than 15 samples to filter, got 3"),
    "nothing": ("", "it is empty; expected a header"),
    "time below comments": (
        "# recorded today\n\n" + GOOD.replace("0.2", "# a stop\n\n0.1"),
        "line 8: the time does not ascend",
    ),
    "a gap below comments": (
        GOOD + "\n# a stop\n0.3,0,0,0,0\n0.4,0,0,0,0\n#\n9,0,0,0,0\n",
        "line 10: a gap of 8.6 s between samples",
    ),
    "a word in a column that is used": (
        GOOD.replace("\n", ",mode\n").replace(",1,1,1,1", ",1,x,1,1"),
        "line 3, column 'q1': expected a finite number, got 'x'",
    ),
    "a header": ("t,q0,q1,tau0,tau1\n", "no line follows the header"),
}


@pytest.mark.parametrize(("text", "message"), FAULTS.values(), ids=FAULTS)
def test_faults_of_texts(tmp_path, text, message):
    path = tmp_path / "data.csv"
    path.write_text(text)
    with pytest.raises(tf.TreefactorError) as caught:
        read_measurements(path, arm())
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


def test_faults_of_files_and_arrays(tmp_path):
    model = arm()
    with pytest.raises(tf.TreefactorError, match=r"cannot read .*absent\.csv: No such file"):
        read_measurements(tmp_path / "absent.csv", model)
    np.savez(tmp_path / "motor.npz", position=np.zeros((9, 2)))
    with pytest.raises(
        tf.TreefactorError, match=r"expected the arrays t, q, v \(optional\) and tau, found position"
    ):
        read_measurements(tmp_path / "motor.npz", model)
    np.savez(tmp_path / "wide.npz", t=np.arange(50.0), q=np.zeros((50, 3)), tau=np.zeros((50, 2)))
    with pytest.raises(tf.TreefactorError, match=r"wide.npz: q must have shape \(50, 2\), got \(50, 3\)"):
        read_measurements(tmp_path / "wide.npz", model)
    (tmp_path / "not.npz").write_bytes(b"PK nothing")
    with pytest.raises(tf.TreefactorError, match="cannot read"):
        read_measurements(tmp_path / "not.npz", model)
    (tmp_path / "signed.npz").write_bytes(b"PK\3\4 nothing")
    with pytest.raises(tf.TreefactorError, match=r"cannot read .*signed\.npz: File is not a zip file"):
        read_measurements(tmp_path / "signed.npz", model)
    np.savez(tmp_path / "null.npz", t=0.1)
    content = (tmp_path / "null.npz").read_bytes()
    (tmp_path / "null.npz").write_bytes(content.replace(b"'descr'", b"'d\0scr'"))
    with pytest.raises(tf.TreefactorError, match=r"cannot read .*null\.npz"):
        read_measurements(tmp_path / "null.npz", model)
    with (tmp_path / "single.npz").open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(tf.TreefactorError, match=r"cannot read .*single\.npz"):
        read_measurements(tmp_path / "single.npz", model)
    np.savez(tmp_path / "two.npz", t=0.1, q=np.zeros((50, 2)), pos=np.ones((50, 2)), tau=np.zeros((50, 2)))
    with pytest.raises(tf.TreefactorError, match="two of the arrays t, q, pos, tau hold the same"):
        read_measurements(tmp_path / "two.npz", model)
    for count in (0, 1):
        with pytest.raises(tf.TreefactorError, match=f"expected at least two samples, got {count}"):
            Measurements.of(model, 0.01, np.zeros((count, 2)), np.zeros((count, 2)))
    (tmp_path / "latin.csv").write_bytes(b"t,q0\xff\n")
    with pytest.raises(tf.TreefactorError, match="not a text in UTF-8"):
        read_measurements(tmp_path / "latin.csv", model)
    bad = np.zeros((50, 2))
    bad[7, 1] = np.inf
    with pytest.raises(tf.TreefactorError, match="row 7, entry 1 of q is not finite"):
        Measurements.of(model, 0.01, bad, np.zeros((50, 2)))
    with pytest.raises(ValueError, match="cutoff must lie between 0 and half of the sampling rate, 50"):
        filtered(np.zeros((50, 2)), 100.0, 60.0)
    with pytest.raises(
        tf.TreefactorError, match="must lie below half of the sampling rate, 50 Hz, got 60 Hz"
    ):
        Measurements.of(model, 0.01, np.zeros((50, 2)), np.zeros((50, 2)), cutoff=60)
    with pytest.raises(tf.TreefactorError, match="50 samples are too few for a cutoff of 2 Hz"):
        Measurements.of(model, 0.01, np.zeros((50, 2)), np.zeros((50, 2)), cutoff=2)


def test_the_rate_stands_in_for_times(tmp_path):
    model = arm()
    t, q, _, _, tau = motion(model)
    path = written(tmp_path / "d.csv", "q0,q1,tau0,tau1", q, tau)
    read = read_measurements(path, model, rate=RATE, cutoff=20)
    np.testing.assert_allclose(
        read.q,
        read_measurements(written(tmp_path / "e.csv", "t,q0,q1,tau0,tau1", t, q, tau), model, cutoff=20).q,
        atol=1e-9,
    )
