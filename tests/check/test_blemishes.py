"""Compare URDFs with one blemish each: every engine gets the right word."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.blemishes import ARM, BLEMISHES, CAUSES, DROPS, REFUSES, SAME, Blemish

import treefactor as tf
from treefactor.check.cells import AGREES, EXCLUDED, EXPLAINED
from treefactor.check.engines import ChosenEngine, engine_version
from treefactor.check.matrix import Matrix, compare
from treefactor.check.robots import Robot

pin = pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
from treefactor.adapters import pinocchio_  # noqa: E402

QUICK = ("pinocchio", "treefactor", "mujoco", "dart")  # the other engines take longer
QUANTITIES = ("tree", "H", "bias", "q̈", "placements")
USUAL = {"inertia_from_file", "principal_axes"}  # causes that PyBullet has without any blemish


@pytest.mark.parametrize("blemish", BLEMISHES, ids=lambda blemish: blemish.name)
def test_pinocchio_reads_the_files_as_the_corpus_states(blemish: Blemish, tmp_path):
    try:
        model = pin.buildModelFromUrdf(str(blemish.write(tmp_path)))
    except ValueError:
        assert blemish.pinocchio == REFUSES
        return
    tensor = list(model.inertias)[2].inertia
    assert blemish.pinocchio == (SAME if np.any(tensor) else DROPS)


@pytest.mark.parametrize("blemish", BLEMISHES, ids=lambda blemish: blemish.name)
def test_pinocchio_is_not_loaded_without_an_inertia_that_the_file_states(blemish: Blemish, tmp_path):
    path, named = blemish.write(tmp_path), "" if blemish.pinocchio == REFUSES else f"link {blemish.part!r}"
    if blemish.refusal or (blemish.pinocchio != SAME and blemish.name != "entity"):
        with pytest.raises(tf.AdapterError, match=named or None) as caught:
            pinocchio_.load(path)
        assert (
            not blemish.part or blemish.pinocchio == REFUSES or f"line {blemish.line}:" in str(caught.value)
        )
    elif blemish.pinocchio == SAME:
        pinocchio_.load(path)


@pytest.fixture(scope="module")
def cells_of(tmp_path_factory):
    """Return a function that returns the cells of an engine by file; all files are compared at once."""
    folder, reports = tmp_path_factory.mktemp("blemishes"), {}
    (folder / "plain.urdf").write_text(ARM)
    robots = [Robot("plain", folder / "plain.urdf")]
    robots += [Robot(blemish.name, blemish.write(folder)) for blemish in BLEMISHES]

    def compared(engine):
        engines = QUICK if engine in QUICK else (engine,)
        if engines not in reports:
            chosen = [ChosenEngine(name) for name in engines if engine_version(name)]
            reports[engines] = compare(Matrix(robots, chosen, QUANTITIES, samples=1))
        by_name = {robot.name: [] for robot in robots}
        for cell in reports[engines].cells:
            if cell.engine == engine:
                by_name[cell.robot].append(cell)
        return by_name

    return compared


@pytest.mark.parametrize(
    "engine", [one if one in QUICK else pytest.param(one, marks=pytest.mark.slow) for one in CAUSES]
)
def test_every_engine_gets_the_right_word(engine, cells_of):
    if not engine_version(engine):
        pytest.skip(f"{engine} is not installed")
    by_blemish, wrong = cells_of(engine), {}
    for blemish in BLEMISHES:
        expected = {CAUSES[engine][blemish.name]} if blemish.name in CAUSES[engine] else set()
        word = _word(blemish, by_blemish[blemish.name])
        if word != ("refused" if blemish.refusal else expected):
            wrong[blemish.name] = word
    assert wrong == {}
    assert _word(BLEMISHES[0], by_blemish["plain"]) == set()


def _word(blemish, cells):
    """Return the causes named, or "refused" if what treefactor refuses is all that is said of the file.

    What differs without a cause, or by the cause of another part, is returned as text.
    """
    causes = {cause for cell in cells for cause in cell.causes if cause.step not in USUAL}
    cells = [cell for cell in cells if not (cell.state == EXCLUDED and "H is" in cell.reason)]  # singular
    for cell in cells:
        if blemish.refusal:
            if cell.state != AGREES and (causes or blemish.refusal not in cell.reason):
                return f"{cell.quantity} {cell.state} {cell.reason} {causes}"
        elif cell.state not in (AGREES, EXPLAINED) or cell.error > cell.allowed:
            return f"{cell.quantity} {cell.state} {cell.reason}"
    if blemish.refusal:
        return "refused"
    for cause in causes:
        places = [((blemish.part,), (blemish.line,))] if blemish.part else [((), ())]
        if cause.where and (cause.where, cause.lines) not in places:
            return f"{cause.step} of {cause.where} on {cause.lines}"
    return {cause.step for cause in causes}
