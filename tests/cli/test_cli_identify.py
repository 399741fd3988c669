"""Test `treefactor identify` on a simulated arm with friction, rotors and noise."""

import json
import re

import numpy as np
import pytest
from helpers import measured_arm
from helpers.html_page import Page

import treefactor as tf
from treefactor import cli


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return an empty folder, which becomes the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*options):
    return cli.main(["identify", "arm.urdf", "motion.csv", *options])


def values(folder):
    content = json.loads((folder / "fit.json").read_text())
    return content, {one["name"]: one for one in content["parameters"]}


def near(estimate, wanted):
    """Return whether an estimate is near a value; the errors of filtered torques are not independent."""
    return abs(estimate["value"] - wanted) < 5 * estimate["standard_deviation"] + 0.01


def test_parameters_friction_page_and_urdf_of_a_noisy_arm(folder, capsys):
    model = measured_arm.write(folder, noise=0.2)
    assert run("--physical", "--html", "--json", "fit.json", "--urdf", "new.urdf", "--cutoff", "20") == 0
    content, parameters = values(folder)
    truth = measured_arm.true_model(model)
    for name, wanted in zip(
        ("viscous friction", "dry friction", "offset"),
        (measured_arm.VISCOUS, measured_arm.DRY, measured_arm.OFFSET),
        strict=True,
    ):
        for joint, number in zip(("shoulder", "elbow"), wanted, strict=True):
            assert near(parameters[f"{name} of {joint}"], number), (name, joint)
    base = tf.base_parameters(model)
    rotors = np.array(measured_arm.ROTOR)
    right = base.values(np.concatenate([truth.parameters.ravel(), rotors]))
    before = base.values(np.concatenate([model.parameters.ravel(), 0 * rotors]))
    for name, wanted, file in zip(base.names, right, before, strict=True):
        assert near(parameters[name], wanted), name
        assert parameters[name]["before"] == pytest.approx(file, abs=1e-12)
    whole = content["joints"][-1]
    assert whole["name"] == "all joints"
    assert whole["fit"] < 0.06
    assert whole["held_out"] < 0.06
    assert whole["bodies"] < 0.06
    assert whole["before"] > 1.5 * whole["fit"]
    assert content["failures"] == []
    page = Page(folder / "identify.html")
    assert "arm, fixed base" in page.text
    assert len(page.of("path", **{"class": "residual"})) == 2
    out = capsys.readouterr().out
    for said in (
        "viscous friction of elbow",
        "all joints",
        "v is derived",
        "URDF: 2 links",
        "treefactor info new.urdf",
    ):
        assert said in out
    written = tf.Model.from_urdf("new.urdf")
    np.testing.assert_allclose(
        written.parameters, [content["bodies"][name] for name in ("shoulder", "elbow")], rtol=0, atol=1e-11
    )
    assert not written.faults()
    q, v, a = np.random.default_rng(5).normal(size=(3, 50, 2))
    wanted = tf.rnea(truth, q, v, a) - a * rotors
    assert np.linalg.norm(tf.rnea(written, q, v, a) - wanted) < 0.2 * np.linalg.norm(wanted)


def test_a_link_with_less_than_what_is_attached_gets_the_whole_body(folder, capsys, monkeypatch):
    heavy = measured_arm.URDF.replace('<mass value="0.2"/>', '<mass value="5"/>')
    monkeypatch.setattr(measured_arm, "URDF", heavy)
    measured_arm.write(folder)
    assert run("--urdf", "new.urdf") == 0
    assert (
        "merged links on fixed joints lose theirs, because link 'lower' would get" in capsys.readouterr().out
    )
    text = (folder / "new.urdf").read_text()
    assert text.count("<inertial>") == heavy.count("<inertial>") - 1
    assert not tf.Model.from_urdf("new.urdf").faults()


def test_without_noise_the_truth_is_found(folder):
    measured_arm.write(folder)
    assert run("--json", "fit.json", "--hold-out", "0.5", "--decimate", "5") == 0
    content, _ = values(folder)
    assert content["joints"][-1]["held_out"] < 0.02
    assert content["bodies"] is None


def test_what_the_motion_does_not_excite_is_named(folder, capsys):
    measured_arm.write(folder)
    lines = (folder / "motion.csv").read_text().splitlines()
    still = [line.split(",") for line in lines]
    for cells in still[1:]:
        cells[2] = "0.3"  # the elbow stands still
    (folder / "motion.csv").write_text("\n".join(",".join(cells) for cells in still) + "\n")
    assert run("--json", "fit.json") == 1
    content, parameters = values(folder)
    assert content["rank"] < len(content["parameters"])
    assert "viscous friction of elbow" in content["not_excited"]
    assert parameters["viscous friction of elbow"]["value"] is None
    out = capsys.readouterr().out
    assert "not excited" in out
    assert "Failed: the motion does not excite" in out


def test_parameters_that_describe_the_fit_only_fail(folder, capsys):
    measured_arm.write(folder, noise=2.0, seconds=0.7)
    assert run("--block", "0.1", "--hold-out", "0.5", "--decimate", "10", "--slow-share", "0") == 1
    assert "Failed: held-out torques are predicted with a residual of" in capsys.readouterr().out


def test_torques_of_other_joints_fail(folder, capsys):
    measured_arm.write(folder)
    text = (folder / "motion.csv").read_text()
    (folder / "motion.csv").write_text(text.replace("tau_shoulder,tau_elbow", "tau_elbow,tau_shoulder"))
    assert run() == 1
    assert "torques of shoulder: check signs, units, the order of the joints" in capsys.readouterr().out


def test_late_torques_are_noted(folder, capsys):
    model = measured_arm.write(folder)
    t, q, v, a = measured_arm.motion()
    tau = measured_arm.torques(model, q, v, a)
    measured_arm.write_motion(folder / "motion.csv", model, t[20:], q[20:], tau[:-20])  # 40 ms
    run()
    out = capsys.readouterr().out
    late = re.search(
        r"torques come later or earlier than predicted ones: shoulder ([\d.]+) ± [\d.]+ ms later", out
    )
    assert 2 < float(late[1]) < 45


def test_arrays_and_columns_that_are_chosen(folder):
    model = measured_arm.write(folder)
    _, q, v, a = measured_arm.motion()
    tau = tf.rnea(measured_arm.true_model(model), q, v, a) - a * measured_arm.ROTOR + v * measured_arm.VISCOUS
    np.savez("motion.npz", q=q, v=v, tau=tau)
    options = ("--rate", "500", "--columns", "inertia", "viscous", "--json", "fit.json")
    assert cli.main(["identify", "arm.urdf", "motion.npz", *options]) == 0
    content, parameters = values(folder)
    assert not any("dry" in name for name in parameters)
    assert parameters["viscous friction of shoulder"]["value"] == pytest.approx(1.2, abs=0.01)
    assert content["joints"][-1]["fit"] < 0.01


MISTAKES = {
    "no data": (["arm.urdf", "absent.csv"], "cannot read absent.csv: No such file"),
    "a fast cutoff": (
        ["arm.urdf", "motion.csv", "--cutoff", "300"],
        "motion.csv: the cutoff must lie below half of the sampling rate, 250 Hz",
    ),
    "columns": (["arm.urdf", "motion.csv", "--physical", "--columns", "dry"], "add inertia to --columns"),
    "a slow cutoff": (
        ["arm.urdf", "motion.csv", "--cutoff", "0.05"],
        "samples are too few for a cutoff of 0.05 Hz",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes(folder, capsys, arguments, message):
    measured_arm.write(folder)
    assert cli.main(["identify", *arguments, "--json", "fit.json", "--html"]) == 2
    assert message in capsys.readouterr().err
    assert not (folder / "fit.json").exists()
    assert not (folder / "identify.html").exists()


@pytest.mark.parametrize(
    "option",
    [("--hold-out", "1"), ("--cutoff", "-1"), ("--rate", "x"), ("--block", "0"), ("--columns", "mass")],
)
def test_options_that_cannot_be(folder, capsys, option):
    with pytest.raises(SystemExit) as caught:
        run(*option)
    assert caught.value.code == 2
    assert option[0] in capsys.readouterr().err


def test_a_urdf_is_not_written_of_an_mjcf(folder, capsys):
    pytest.importorskip("mujoco", reason="it reads the file")
    (folder / "arm.xml").write_text(
        '<mujoco model="arm"><worldbody><body name="upper"><joint name="shoulder" axis="0 1 0"/>'
        '<geom size=".1"/></body></worldbody></mujoco>'
    )
    assert cli.main(["identify", "arm.xml", "motion.csv", "--urdf", "new.urdf"]) == 2
    assert "is an MJCF" in capsys.readouterr().err
