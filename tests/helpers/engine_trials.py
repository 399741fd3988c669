"""Compare all quantities of an engine's module with the reference's at random states, as `treefactor check`.

`helpers.engine_errors` compares with Pinocchio without anything of `treefactor.check`.
"""

from pathlib import Path

import pytest

from treefactor.check import own
from treefactor.check.examine import Changes, Examination
from treefactor.check.quantities import QUANTITIES
from treefactor.check.reference import compute_reference
from treefactor.check.repair import repair
from treefactor.check.rewriting import edits
from treefactor.check.rewriting.translate import translated
from treefactor.check.robots import Robot

pin = pytest.importorskip("pinocchio", reason="Pinocchio is the reference")

from treefactor.adapters import _pinocchio_engine  # noqa: E402

ROOT = frozenset({"root_link"})
SAMPLES = 2
DYNAMICS = 3  # steps of rewriting that leave links, inertias and joints only
OFFERED = {"tree", "H", "bias", "placements", "Jacobians", "centre of mass"}  # by every engine


def reduced(path, folder, steps=DYNAMICS):
    """Write a URDF as rewritten by all edits of the first steps; return the new path."""
    new = Path(folder) / Path(path).name
    new.write_text(translated(Path(path), first_edits(path, steps))[0])
    return new


def first_edits(path, steps):
    """Return all edits of a URDF in the first steps."""
    return [edit for edit in edits(Path(path)) if edit.step <= steps] if steps else []


def examined(engine, path, floating=False, read=None):
    """Return the examination of a file by an engine's module.

    The reference is Pinocchio, of an MJCF treefactor; it may read another file.
    """
    source, robot = Robot("case", Path(read or path), floating), Robot("case", Path(path), floating)
    module, options = (own, frozenset()) if source.is_mjcf else (_pinocchio_engine, ROOT)
    reference = compute_reference(module, module.NAME, source, SAMPLES, 0, options)
    return Examination(engine, robot, reference, tuple(QUANTITIES))


def tried(engine, path, floating=False, options=(), steps=0, read=None):
    """Return the examination of a file, and its trial with options after all edits of the first steps."""
    examination = examined(engine, path, floating, read)
    return examination, examination.trial(Changes(frozenset(first_edits(path, steps)), frozenset(options)))


def wrong(*arguments, **others):
    """Return the quantities that are not the reference's, with their errors or why they have no value."""
    examination, trial = tried(*arguments, **others)
    return {"refused": trial.refusal} if trial.refusal else _wrong(examination, trial)


def differing(*arguments, **others):
    """Return the names of the quantities that are not the reference's."""
    return set(wrong(*arguments, **others))


def assert_all_agree(*arguments, **others):
    """Assert that all quantities agree that the engine offers."""
    examination, trial = tried(*arguments, **others)
    assert not trial.refusal
    assert _wrong(examination, trial) == {}
    assert trial.errors.keys() >= OFFERED


def answered(engine, path, floating=False):
    """Return the quantities that an engine's module offers for a file."""
    return set(tried(engine, path, floating)[1].errors)


def causes(engine, path, floating=False):
    """Return options and kinds of edits that make a file agree, each with its links and joints.

    "nothing helps" has the quantities that then are still wrong.
    """
    examination, trial = tried(engine, path, floating)
    bad = examination.bad(trial, examination.offered)
    assert bad, "everything agrees"
    repaired = repair(examination, edits(path), bad)
    parts = {part.step: [edit.where for edit in part.edits] for part in repaired.parts}
    return parts | ({"nothing helps": sorted(repaired.left)} if repaired.left else {})


def _wrong(examination, trial):
    bad = examination.bad(trial, examination.offered)
    return {name: trial.failures.get(name) or trial.errors[name] for name in sorted(bad)}
