"""Test named causes: robots with one known trap each, and the cause that must be named for it."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.pybullet_cases import ARM, joint, link

from treefactor import check
from treefactor.adapters import mujoco_, pinocchio_, pybullet_
from treefactor.check import differences as causes
from treefactor.model._urdf import read
from treefactor.robots import Robot, find

INERTIA_FLAG = "URDF_USE_INERTIA_FROM_FILE"
MERGE_FLAG = "and URDF_MERGE_FIXED_LINKS"
BOX = "<collision><geometry><box size='.1 .2 .3'/></geometry></collision>"


def row(path, engine="pybullet", floating=False):
    (only,) = next(check.check([Robot(str(path), path, floating)], (engine,)))
    return only


def cause(found, name, way):
    return next(c for c in found.causes if c.name == name and c.way == way)


def test_a_link_without_inertial(write):
    tip = "<link name='tip'/>" + joint("weld", "fixed", "lower", "tip")
    found = row(write(ARM + tip))
    assert found.verdict == check.EXPLAINED
    for way in ("default flags", INERTIA_FLAG):
        named = cause(found, causes.NO_INERTIAL, way)
        assert named.where == ("tip",)
        assert named.effect > 0.1


def test_inertia_recomputed_from_collision_shapes(write):
    found = row(write(ARM.replace("</link>", BOX + "</link>")))
    named = cause(found, pybullet_.TENSOR_CAUSE["default flags"], "default flags")
    assert set(named.where) == {"upper", "lower"}
    assert not any(c.name == named.name for c in found.causes if c.way == INERTIA_FLAG)
    assert found.error_plain == pytest.approx(named.effect)


def test_an_inertia_that_breaks_the_triangle_inequality(write):
    odd = link("lower", 1.1, "ixx='.1' ixy='0' ixz='0' iyy='.1' iyz='0' izz='.5'")
    found = row(write(ARM.replace(link("lower", 1.1), odd)))
    assert cause(found, causes.TRIANGLE, INERTIA_FLAG).where == ("lower",)
    refused = row(write(ARM.replace(link("lower", 1.1), odd)), "mujoco")
    assert refused.verdict == check.EXPLAINED
    assert any(c.name.startswith(causes.REFUSED) and "'lower'" in c.name for c in refused.causes)


def test_links_that_are_merged_wrongly(write):
    tool = link("tool", 0.7) + joint("weld", "fixed", "lower", "tool")
    found = row(write(ARM + tool))
    assert set(cause(found, causes.MERGED, MERGE_FLAG).where) == {"lower", "tool"}
    assert not any(c.name == causes.MERGED for c in row(write(ARM)).causes)


def test_a_floating_base_that_is_fixed(write):
    path = write(ARM)
    assert cause(row(path, "mujoco", floating=True), causes.FIXED_BASE, "URDF importer")
    assert not any(c.name == causes.FIXED_BASE for c in row(path, floating=True).causes)


@pytest.mark.parametrize(
    ("extra", "name", "engines"),
    [
        ("<dynamics damping='3'/>", "joint damping of the file acts", ("pybullet", "mujoco")),
        ("<dynamics friction='2'/>", "friction loss of the file acts", ("mujoco",)),
        ("", "default joint motors hold every joint", ("pybullet",)),
    ],
)
def test_settings_that_act_by_default(write, extra, name, engines):
    path = write(link("base") + link("upper", 1.5) + joint("shoulder", "continuous", "base", "upper", extra))
    for engine in check.DEFAULT_ENGINES[1:]:
        found = [c for c in row(path, engine).causes if c.name == name]
        assert len(found) == (engine in engines)
        for named in found:
            assert (named.way, named.quantity) == ("simulated", "q̈")
            assert named.effect > 1e-3


@pytest.mark.parametrize("engine", ["pybullet", "mujoco"])
def test_joint_limits_that_push_back(write, engine):
    path = write(ARM.replace("lower='-2' upper='2'", "lower='-.001' upper='.001'"))
    named = cause(row(path, engine), "joint limits push back", "simulated")
    assert set(named.where) == {"shoulder", "elbow"}


def test_laikago_is_explained():
    found = row(find("pybullet_data/laikago/laikago").path)
    named = cause(found, pybullet_.TENSOR_CAUSE["default flags"], "default flags")
    assert found.error_plain > 0.3
    assert named.effect == pytest.approx(found.error_plain)
    assert "FL_upper_leg" in named.where
    assert not [c for c in found.causes if c.way == INERTIA_FLAG]


def test_what_no_inertia_explains_is_no_agreement(write, monkeypatch):
    right = pybullet_.load_plain

    def twisted(*arguments):
        body = right(*arguments)
        mass_matrix = body.mass_matrix
        vars(body)["mass_matrix"] = lambda q: 1.01 * mass_matrix(q)
        return body

    monkeypatch.setattr(pybullet_, "load_plain", twisted)
    found = row(write(ARM))
    assert found.verdict == check.DISAGREES
    assert "unexplained" in found.reason


def test_nan_on_the_ordinary_way_disagrees(write, monkeypatch):
    right = pybullet_.load_plain

    def spoilt(*arguments):
        body = right(*arguments)
        mass_matrix = body.mass_matrix
        vars(body)["mass_matrix"] = lambda q: np.nan * mass_matrix(q)
        return body

    monkeypatch.setattr(pybullet_, "load_plain", spoilt)
    assert row(write(ARM)).verdict == check.DISAGREES


def test_another_mass_is_not_called_a_merged_link(write, monkeypatch):
    right = pybullet_.inertials

    def heavier(body):
        return {name: replace(x, mass=3 * x.mass) for name, x in right(body).items()}

    monkeypatch.setattr(pybullet_, "inertials", heavier)
    found = row(write(ARM))
    assert found.verdict == check.DISAGREES  # its H is not that of three times the mass
    assert not any(c.name == causes.MERGED for c in found.causes)


def test_the_smallest_set_is_found():
    """Find the group that alone reproduces the engine's figure, out of two."""
    groups, A = {"needed": {"a": 1.0}, "idle": {"b": 2.0}}, ("a", 1.0)
    found, left = causes.explain(groups, lambda c: float(A not in c), lambda c: float(A in c), 1e-9)
    assert [c.name for c in found] == ["needed"]
    assert left == 0.0


def test_inertias_of_a_model_can_be_exchanged_and_put_back():
    path = find("panda").path
    model, file = pinocchio_.load(path), read(path).links
    other = pinocchio_.with_inertials(model, file, {"panda_link3": file["panda_link5"]})
    back = pinocchio_.with_inertials(
        other, {"panda_link3": file["panda_link5"]}, {"panda_link3": file["panda_link3"]}
    )
    q = np.linspace(0.1, 0.9, model.nq)
    H, changed, same = (pinocchio_.mass_matrix(m, m.createData(), q) for m in (model, other, back))
    assert np.abs(changed - H).max() > 1e-3
    np.testing.assert_allclose(same, H, rtol=1e-13, atol=1e-15)


def test_mujocos_importer_holds_the_files_inertias():
    path = find("panda").path
    with mujoco_.load_plain(path) as body:
        held = mujoco_.inertials(body)
    file = {link: inertial for link, inertial in mujoco_.file_inertials(path, False).items() if link in held}
    assert len(file) == 9
    assert set(causes.inertial_changes(file, held, "another tensor")) <= {causes.ROUNDED}


def test_a_cause_in_words():
    assert str(causes.Cause("x", 0.25, ("a", "b", "c", "d", "e"))) == "x, ΔH 25% (a, b, c and 2 more)"
    assert str(causes.Cause("x", 1e-5, (), "simulated", "q̈")) == "x, Δq̈ 1e-05"
