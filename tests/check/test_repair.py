"""Explain by repair, with engines whose defects are known: the causes are found, and nothing else."""

import numpy as np
import pytest
from helpers import defective
from helpers.engine_errors import INERTIAL, SPHERE, joint, link

from treefactor.check import own
from treefactor.check.cells import AGREES, DISAGREES, EXPLAINED, NOT_OFFERED, REFUSED
from treefactor.check.examine import Examination
from treefactor.check.judge import ALL_QUANTITIES, judge
from treefactor.check.reference import compute_reference
from treefactor.check.robots import Robot

DYNAMICS = ("H", "bias", "gravity", "inverse dynamics", "q̈")
URDF = "".join(
    [
        '<robot name="arm"><material name="red"><color rgba="1 0 0 1"/></material>',
        link("base"),
        link("upper", INERTIAL + SPHERE),
        link("lower"),
        link("tool", ""),
        joint("first", "base", "upper", axis="0 0 1"),
        joint("second", "upper", "lower", "prismatic", axis="-1 0 0"),
        joint("wrist", "lower", "tool", "fixed"),
        "</robot>",
    ]
)


@pytest.fixture
def robot(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(URDF)
    return Robot("arm", path, False)


def cells(engine, robot, ordinary=True):
    """Return the cells of an engine by quantity."""
    reference = compute_reference(own, "treefactor", robot, 2, 0, frozenset())
    found = judge(Examination(engine, robot, reference, ALL_QUANTITIES), "defective", ordinary)
    return {cell.quantity: cell for cell in found}


def steps(cell):
    return {cause.step: cause.where for cause in cell.causes}


def test_an_engine_without_defects_agrees(robot):
    found = cells(defective.engine(), robot)
    assert {found[name].state for name in (*DYNAMICS, "tree", "placements", "Jacobians")} == {AGREES}
    assert found["momentum"].state == found["simulation"].state == NOT_OFFERED


def test_invented_mass_is_found_at_the_links_without_inertial(robot):
    found = cells(defective.engine(defective.invented_mass), robot)
    for name in DYNAMICS:
        assert found[name].state == EXPLAINED
        assert steps(found[name]) == {"inertial": ("tool",)}
        (cause,) = found[name].causes
        assert cause.lines == (1 + URDF[: URDF.index('"tool"')].count("\n"),)
        assert cause.effect > 1e-3
    assert found["placements"].state == AGREES
    assert found["H"].ordinary > found["H"].allowed >= found["H"].error


def test_mirrored_axes_are_found_at_the_joint_with_a_negative_axis(robot):
    found = cells(defective.engine(defective.mirrored_axes), robot)
    assert steps(found["placements"]) == {"joint frame": ("second",)}


def test_two_defects_are_distinguished(robot):
    found = cells(defective.engine(defective.mirrored_axes, defective.invented_mass), robot)
    assert steps(found["placements"]) == {"joint frame": ("second",)}
    assert steps(found["gravity"]) == {"joint frame": ("second",), "inertial": ("tool",)}


def test_a_refusal_is_explained_by_what_is_refused(robot):
    found = cells(defective.engine(defective.refused_materials), robot)
    assert found["H"].state == EXPLAINED
    assert set(steps(found["H"])) == {"material"}
    assert found["H"].reason == "materials are refused"
    assert found["H"].ordinary is None


def test_an_option_is_a_cause(robot):
    engine = defective.engine(defective.heavy_shapes, options={defective.heavy_shapes: "from_file"})
    (cause,) = cells(engine, robot)["H"].causes
    assert (cause.step, cause.text, cause.where) == ("from_file", "does heavy_shapes", ())


def test_what_nothing_repairs_disagrees(robot):
    def wrong(body, q):
        return 1.5 * own.mass_matrix(body, q)

    found = cells(defective.engine(mass_matrix=wrong), robot)
    assert found["H"].state == DISAGREES
    assert "rounding" in found["H"].reason
    assert found["bias"].state == AGREES


def test_a_file_that_is_never_loaded_is_refused(robot):
    def load(path, floating, gravity, options=frozenset()):
        raise defective.AdapterError(f"{path}: no such luck")

    found = cells(defective.engine(load=load), robot)
    assert found["H"].state == REFUSED
    assert found["H"].reason == "no such luck"


def test_an_answer_that_fails_is_reported_and_others_are_not_lost(robot):
    def fail(body, q):
        raise RuntimeError("no gravity today")

    found = cells(defective.engine(gravity_forces=fail), robot)
    assert found["gravity"].state == DISAGREES
    assert found["gravity"].reason == "no answer: RuntimeError: no gravity today"
    assert found["H"].state == AGREES


def test_nan_is_never_rounding(robot):
    def nan(body, q, v):
        return np.full(2, np.nan)

    assert cells(defective.engine(bias=nan), robot)["bias"].state == DISAGREES


def test_a_tensor_is_named_where_no_rewriting_repairs_it(robot):
    found = cells(defective.engine(defective.thin_bodies, inertials=own.inertials), robot)
    assert found["H"].state == EXPLAINED
    (cause,) = found["H"].causes
    assert (cause.step, cause.where) == ("inertia", ("lower",))
    assert "tensor" in cause.text


def test_without_the_ordinary_way_nothing_is_explained(robot):
    found = cells(defective.engine(defective.invented_mass, defective.mirrored_axes), robot, ordinary=False)
    assert {found[name].state for name in (*DYNAMICS, "placements")} == {AGREES}
