"""Plant one defect in an engine that is right: the comparison finds it, and blames nothing else."""

import numpy as np
import pytest
from helpers import mutants
from helpers.mutants import ARRAYS, MUTANTS

from treefactor.check import own, tensors
from treefactor.check.cells import AGREES, DISAGREES, EXCLUDED, EXPLAINED, NOT_OFFERED
from treefactor.check.examine import Examination
from treefactor.check.judge import judge
from treefactor.check.quantities import QUANTITIES
from treefactor.check.reference import compute_reference
from treefactor.check.robots import Robot

SAMPLES = 2


def written(folder, name, text, floating=False):
    path = folder / name
    path.write_text(text)
    return Robot(path.stem, path, floating)


@pytest.fixture(scope="module")
def dog(tmp_path_factory):
    """Return a robot on a floating base with revolute, prismatic and fixed joints, and its reference."""
    robot = written(tmp_path_factory.mktemp("dog"), "dog.urdf", mutants.URDF, floating=True)
    return robot, compute_reference(own, "treefactor", robot, SAMPLES, 0)


def judged(case, **functions):
    """Return the cells of an engine by quantity."""
    robot, reference = case
    examination = Examination(mutants.engine(**functions), robot, reference, tuple(QUANTITIES))
    return {cell.quantity: cell for cell in judge(examination, "mutant")}


def states(cells):
    return {name: cell.state for name, cell in cells.items() if cell.state != AGREES}


def test_the_engine_without_defect_agrees_in_every_quantity(dog):
    assert states(judged(dog)) == {}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_defect_is_found_where_it_is_and_nowhere_else(dog, mutant):
    functions, wrong = MUTANTS[mutant]
    by_name = states(judged(dog, **functions))
    by_name = {name: state for name, state in by_name.items() if state != NOT_OFFERED}
    assert by_name == dict.fromkeys(wrong, DISAGREES)


def test_an_engine_that_refuses_one_state_says_so(dog):
    functions, _ = MUTANTS["no answer at the last state"]
    assert judged(dog, **functions)["centre of mass"].reason == "no answer at some states: not today"


def test_damping_of_the_file_is_explained_by_it(dog):
    cells = judged(dog, load=mutants.damping_of_file, bias=mutants.damped_by_file)
    assert states(cells) == {"bias": EXPLAINED, "q̈": EXPLAINED}
    assert [(cause.step, cause.where) for cause in cells["bias"].causes] == [("dynamics", ("a",))]


@pytest.mark.parametrize(
    ("change", "cause"),
    [(mutants.turned_tensor, tensors.OTHER_TENSOR), (mutants.turned_com, tensors.OTHER_MASS)],
)
def test_an_engine_that_shows_its_inertias_is_explained_by_them(dog, change, cause):
    """The link that carries a merged one has another inertia, too: only there may merging be the cause."""
    cells = judged(dog, load=mutants.with_model(change), inertials=own.inertials)
    assert states(cells).keys() >= {"H", "bias", "momentum"}
    for name in states(cells):
        where = {one.text: set(one.where) for one in cells[name].causes}
        assert where.pop(cause) >= {"trunk", "hip", "slide"}
        assert where in ({}, {tensors.MERGED: {"leg", "foot"}})


def test_a_link_on_a_fixed_joint_that_an_engine_loses_is_named(dog):
    cells = judged(dog, load=mutants.without_foot, inertials=own.inertials)
    assert states(cells)["H"] == EXPLAINED
    assert [(cause.step, cause.where) for cause in cells["H"].causes] == [("fixed joint", ("d",))]


def test_armature_that_an_engine_forgets_is_named(tmp_path):
    pytest.importorskip("mujoco", reason="MuJoCo compiles the file")
    robot = written(tmp_path, "arm.xml", mutants.MJCF)
    reference = compute_reference(own, "treefactor", robot, SAMPLES, 0)
    cells = judged((robot, reference), load=mutants.with_model(mutants.no_armature))
    assert cells["H"].state == EXPLAINED
    assert [cause.step for cause in cells["H"].causes] == ["armature"]
    assert cells["placements"].state == AGREES


def test_an_engine_that_changes_its_arguments_changes_no_other_value(dog):
    spoiled = {name: mutants.spoiling(getattr(own, name)) for name in ARRAYS}
    assert states(judged(dog, factors=mutants.spoiling(own.factors), **spoiled)) == {}


def test_an_engine_that_returns_its_buffers_agrees(dog):
    assert states(judged(dog, **{name: mutants.buffered(getattr(own, name)) for name in ARRAYS})) == {}


def test_a_reference_that_returns_its_buffers_keeps_the_values_of_every_state(dog):
    robot, right = dog
    engine = mutants.engine(**{name: mutants.buffered(getattr(own, name)) for name in ARRAYS})
    reference = compute_reference(engine, "mutant", robot, SAMPLES, 0)
    for one, other in zip(reference.samples, right.samples, strict=True):
        assert one.values.keys() == other.values.keys()
        assert all(np.array_equal(one.values[name], other.values[name]) for name in one.values)


def test_a_reference_that_changes_its_arguments_keeps_its_states(dog):
    robot, right = dog
    engine = mutants.engine(**{name: mutants.spoiling(getattr(own, name)) for name in ARRAYS})
    reference = compute_reference(engine, "mutant", robot, SAMPLES, 0)
    for one, other in zip(reference.samples, right.samples, strict=True):
        assert np.array_equal(one.q, other.q)
        assert all(np.array_equal(one.values[name], other.values[name]) for name in one.values)


def test_a_reference_without_numbers_is_no_reference(tmp_path):
    """Its energies overflow, and so do those of every engine."""
    text = mutants.URDF.replace('<mass value="2"/>', '<mass value="1e308"/>', 1)
    robot = written(tmp_path, "heavy.urdf", text, floating=True)
    with np.errstate(all="ignore"):
        reference = compute_reference(own, "treefactor", robot, SAMPLES, 0)
        cells = judged((robot, reference))
    assert cells["energies"].state == EXCLUDED
    assert cells["energies"].reason == "treefactor computes a value that is not finite"
    assert cells["placements"].state == AGREES
    assert DISAGREES not in states(cells).values()


@pytest.mark.parametrize(
    ("functions", "quantity", "reason"),
    [
        ({"mass_matrix": lambda body, q: own.mass_matrix(body, q) + 1j}, "H", "complex numbers"),
        ({"factors": lambda body, q: (own.factors(body, q)[0], np.ones(1))}, "L and D", "expected (9,)"),
        (
            {"rnea_derivatives": lambda body, q, v, a: own.rnea_derivatives(body, q, v, a)[:1]},
            "derivatives",
            "expected (2, 9, 9)",
        ),
        ({"com": lambda body, q: None}, "centre of mass", "expected (3,)"),
    ],
)
def test_answers_of_another_form_are_refused(dog, functions, quantity, reason):
    cells = judged(dog, **functions)
    assert cells[quantity].state == DISAGREES
    assert reason in cells[quantity].reason


@pytest.mark.parametrize("seed", [1, 4, 7, 9])
def test_an_engine_that_changes_its_mind_is_not_explained(dog, seed):
    """It is wrong in some of its loads: an edit after which it happens to be right is no cause."""
    random, right = np.random.default_rng(seed), {}

    def com(body, q):
        _, is_right = right.setdefault(id(body), (body, bool(right) and random.random() < 0.7))
        return own.com(body, q) + 0.1 * (not is_right)

    cells = judged(dog, com=com)
    assert states(cells) == {"centre of mass": DISAGREES}
    assert "something else when it loads a file again" in cells["centre of mass"].reason
