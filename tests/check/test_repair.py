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
from treefactor.model.joints import Inertia

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
    row = judge(Examination(engine, robot, reference, ALL_QUANTITIES), "defective", ordinary)
    return {cell.quantity: cell for cell in row}


def steps(cell):
    return {cause.step: cause.where for cause in cell.causes}


def test_an_engine_without_defects_agrees(robot):
    judged = cells(defective.engine(), robot)
    assert {judged[name].state for name in (*DYNAMICS, "tree", "placements", "Jacobians")} == {AGREES}
    assert judged["momentum"].state == judged["simulation"].state == NOT_OFFERED


def test_invented_mass_is_found_at_the_links_without_inertial(robot):
    judged = cells(defective.engine(defective.invented_mass), robot)
    for name in DYNAMICS:
        assert judged[name].state == EXPLAINED
        assert steps(judged[name]) == {"inertial": ("tool",)}
        (cause,) = judged[name].causes
        assert cause.lines == (1 + URDF[: URDF.index('"tool"')].count("\n"),)
        assert cause.effect > 1e-3
    assert judged["placements"].state == AGREES
    assert judged["H"].ordinary > judged["H"].allowed >= judged["H"].error


def test_mirrored_axes_are_found_at_the_joint_with_a_negative_axis(robot):
    judged = cells(defective.engine(defective.mirrored_axes), robot)
    assert steps(judged["placements"]) == {"joint frame": ("second",)}


def test_two_defects_are_distinguished(robot):
    judged = cells(defective.engine(defective.mirrored_axes, defective.invented_mass), robot)
    assert steps(judged["placements"]) == {"joint frame": ("second",)}
    assert steps(judged["gravity"]) == {"joint frame": ("second",), "inertial": ("tool",)}


def test_a_refusal_is_explained_by_what_is_refused(robot):
    judged = cells(defective.engine(defective.refused_materials), robot)
    assert judged["H"].state == EXPLAINED
    assert set(steps(judged["H"])) == {"material"}
    assert judged["H"].reason == "materials are refused"
    assert judged["H"].ordinary is None


def test_an_option_is_a_cause(robot):
    engine = defective.engine(defective.heavy_shapes, options={defective.heavy_shapes: "from_file"})
    (cause,) = cells(engine, robot)["H"].causes
    assert (cause.step, cause.text, cause.where) == ("from_file", "does heavy_shapes", ())


@pytest.fixture
def blemished(tmp_path):
    """Return an arm with a tool of its own weight, and a blank behind a number of another link."""
    path = tmp_path / "blemished.urdf"
    text = URDF.replace(link("tool", ""), link("tool"))
    at = text.index('ixz="', text.index('"upper"'))
    path.write_text(text[:at] + text[at:].replace('"/>', ' "/>', 1).replace('0.01"', '0.01 "', 1))
    return Robot("blemished", path, False)


def test_a_number_that_is_written_anew_is_the_cause(blemished):
    judged = cells(defective.engine(defective.dropped_numbers), blemished)
    for name in DYNAMICS:
        assert steps(judged[name]) == {"inertial number": ("upper",)}


def test_an_edit_that_writes_numbers_anew_is_the_cause_of_the_rest_only(blemished):
    """Links are merged into one whose numbers are then written anew: that alone is not merging's effect."""
    blemished.path.write_text(
        blemished.path.read_text().replace('<parent link="lower"/>', '<parent link="upper"/>')
    )
    judged = cells(defective.engine(defective.dropped_numbers, defective.lost_links), blemished)
    for name in DYNAMICS:
        assert steps(judged[name]) == {"inertial number": ("upper",), "fixed joint": ("wrist",)}


def test_an_option_that_writes_the_file_anew_is_not_the_cause(blemished):
    """With its option, this engine drops no number, but the option is there for shapes."""
    options = {defective.dropped_numbers: "from_file", defective.heavy_shapes: "from_file"}
    engine = defective.engine(*options, options=options, REWRITES=frozenset({"from_file"}))
    where = steps(cells(engine, blemished)["H"])
    assert where == {"inertial number": ("upper",), "from_file": ()}


def test_inertias_are_no_cause_if_the_reference_reads_the_file_otherwise(robot):
    """An engine that reads the file as treefactor does is not blamed for what it has in common with it."""
    engine = defective.engine(inertials=lambda body: {**own.inertials(body), "base": Inertia(9.0)})
    examination = Examination(
        engine, robot, compute_reference(_thin(), "thin", robot, 2, 0, frozenset()), ALL_QUANTITIES
    )
    judged = {cell.quantity: cell for cell in judge(examination, "right", True)}
    assert judged["H"].state == DISAGREES
    assert judged["H"].causes == ()


def _thin():
    return defective.engine(defective.thin_bodies)


def test_what_nothing_repairs_disagrees(robot):
    def wrong(body, q):
        return 1.5 * own.mass_matrix(body, q)

    judged = cells(defective.engine(mass_matrix=wrong), robot)
    assert judged["H"].state == DISAGREES
    assert "rounding" in judged["H"].reason
    assert judged["bias"].state == AGREES


def test_a_file_that_is_never_loaded_is_refused(robot):
    def load(path, floating, gravity, options=frozenset()):
        raise defective.AdapterError(f"{path}: no such luck")

    judged = cells(defective.engine(load=load), robot)
    assert judged["H"].state == REFUSED
    assert judged["H"].reason == "no such luck"


def test_an_answer_that_fails_is_reported_and_others_are_not_lost(robot):
    def fail(body, q):
        raise RuntimeError("no gravity today")

    judged = cells(defective.engine(gravity_forces=fail), robot)
    assert judged["gravity"].state == DISAGREES
    assert judged["gravity"].reason == "no answer: RuntimeError: no gravity today"
    assert judged["H"].state == AGREES


def test_nan_is_never_rounding(robot):
    def nan(body, q, v):
        return np.full(2, np.nan)

    assert cells(defective.engine(bias=nan), robot)["bias"].state == DISAGREES


def test_a_tensor_is_named_where_no_rewriting_repairs_it(robot):
    judged = cells(defective.engine(defective.thin_bodies, inertials=own.inertials), robot)
    assert judged["H"].state == EXPLAINED
    (cause,) = judged["H"].causes
    assert (cause.step, cause.where) == ("inertia", ("lower",))
    assert "tensor" in cause.text


def test_without_the_ordinary_way_nothing_is_explained(robot):
    judged = cells(defective.engine(defective.invented_mass, defective.mirrored_axes), robot, ordinary=False)
    assert {judged[name].state for name in (*DYNAMICS, "placements")} == {AGREES}
