"""Find defects that could hide: NaN, arrays of another shape, single links, quantities that vanish."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import defective
from helpers.engine_errors import INERTIAL, joint, link

from treefactor.check import own
from treefactor.check.cells import AGREES, DISAGREES, EXCLUDED, EXPLAINED, NOT_OFFERED, REFUSED
from treefactor.check.examine import Examination
from treefactor.check.judge import ALL_QUANTITIES, judge
from treefactor.check.reference import FRAMES, compute_reference
from treefactor.check.robots import Robot

LINKS = 2 * FRAMES


@pytest.fixture
def robot(tmp_path):
    """Chain of two moving links and many links on fixed joints."""
    parts = [link("base"), link("upper", INERTIAL), link("lower", INERTIAL)]
    parts += [joint("first", "base", "upper", axis="0 1 0"), joint("second", "upper", "lower", axis="1 0 0")]
    for k in range(LINKS):
        parts += [link(f"tool{k}", ""), joint(f"mount{k}", "lower", f"tool{k}", "fixed")]
    path = tmp_path / "arm.urdf"
    path.write_text(f'<robot name="arm">{"".join(parts)}</robot>')
    return Robot("arm", path, False)


def cells(engine, robot, samples=3):
    """Return the cells of an engine by quantity."""
    options = frozenset({"root_link"})
    reference = compute_reference(own, "treefactor", robot, samples, 0, options)
    examination = Examination(engine, robot, reference, ALL_QUANTITIES, options=options)
    return {cell.quantity: cell for cell in judge(examination, "defective")}


@pytest.mark.parametrize("wrong", ["base", "lower", "tool2", "tool3", "tool9", f"tool{LINKS - 1}"])
def test_a_link_in_the_wrong_place_is_found_among_many(robot, wrong):
    def placement(body, q, frame):
        pose = own.placement(body, q, frame)
        pose[0, 3] += 1e-9 * (frame == wrong)
        return pose

    judged = cells(defective.engine(placement=placement), robot)
    assert judged["placements"].state in (DISAGREES, EXPLAINED)  # explained by the fixed joint of that link
    assert [cause.where for cause in judged["placements"].causes] in ([], [(f"mount{wrong[4:]}",)])
    assert judged["Jacobians"].state == AGREES


@pytest.mark.parametrize("wrong", [None, "lower"])
def test_nan_of_one_link_or_of_all_is_no_agreement(robot, wrong):
    def placement(body, q, frame):
        return own.placement(body, q, frame) * (np.nan if wrong in (None, frame) else 1.0)

    cell = cells(defective.engine(placement=placement), robot)["placements"]
    assert cell.state == DISAGREES
    assert "not a number at the link" in cell.reason


@pytest.mark.parametrize("value", [0.0, np.zeros(1), np.zeros(7), np.zeros((1, 3))])
def test_values_of_another_shape_are_not_broadcast(robot, value):
    judged = cells(defective.engine(com=lambda body, q: value), robot)
    assert judged["centre of mass"].state == DISAGREES
    assert "expected (3,)" in judged["centre of mass"].reason
    assert judged["H"].state == AGREES


def test_forces_with_superfluous_entries_are_refused(robot):
    judged = cells(
        defective.engine(gravity_forces=lambda body, q: np.r_[own.gravity_forces(body, q), 1]), robot
    )
    assert "expected (2,)" in judged["gravity"].reason


def test_any_exception_of_load_is_a_refusal(robot):
    def load(path, floating, gravity, options=frozenset()):
        raise KeyError("nothing works")

    judged = cells(defective.engine(load=load), robot)
    assert judged["H"].state == REFUSED
    assert judged["H"].reason == "KeyError: 'nothing works'"


def test_an_engine_without_h_does_not_agree(robot):
    def fail(body, q):
        raise defective.AdapterError("no H today")

    assert cells(defective.engine(mass_matrix=fail), robot)["H"].state == DISAGREES


def test_a_quantity_that_vanishes_with_a_rewriting_is_not_explained(robot):
    """Without links on fixed joints this engine answers nothing, and so nothing wrong."""

    def com(body, q):
        if not any(name.startswith("tool") for name in own.frames(body)):
            raise defective.AdapterError("no centre of mass")
        return np.ones(3)

    assert cells(defective.engine(com=com), robot)["centre of mass"].state == DISAGREES


def test_what_a_repaired_file_lacks_is_not_offered(robot):
    text = robot.path.read_text().replace("</robot>", '<material name="red"/></robot>')
    robot.path.write_text(text)

    def com(body, q):
        raise defective.AdapterError("no centre of mass")

    judged = cells(defective.engine(defective.refused_materials, com=com), robot)
    assert judged["H"].state == EXPLAINED
    assert judged["centre of mass"].state == NOT_OFFERED
    assert judged["centre of mass"].reason == "no centre of mass"


def test_a_missing_root_link_is_not_taken_for_merged_links(robot):
    def com(body, q):
        return own.com(own.load(robot.path), q)

    (cause,) = cells(defective.engine(com=com, inertials=own.inertials), robot)["centre of mass"].causes
    assert (cause.text, cause.where) == ("leaves the root link of a fixed base out", ("base",))


def test_nothing_agrees_where_float32_has_no_correct_digit(robot):
    def opposite(body, q, v, tau):
        return -own.acceleration(body, q, v, tau)

    reference = replace(compute_reference(own, "treefactor", robot, 1, 0), condition=1e6)
    engine = defective.engine(acceleration=opposite, DTYPE="float32")
    judged = judge(Examination(engine, robot, reference, ("q̈", "H")), "defective")
    assert [cell.state for cell in judged] == [EXCLUDED, AGREES]
    assert "float32" in judged[0].reason
