"""The matrix robot x base x engine x quantity x sample of the cross-validation."""

from functools import cache
from importlib.util import find_spec

import pytest

from treefactor import check, robots, tolerances

pytest.importorskip("pinocchio", reason="Pinocchio is the reference of every check")

ENGINES = [engine for engine, module in check.ENGINES.items() if find_spec(module)]
COLUMNS = {
    "H": "error_h",
    "bias": "error_bias",
    "factor": "error_factor",
    "L and D": "error_ld",
    "q̈": "error_qdd",
    "own q̈": "error_own",
}
FACTORED = ("pinocchio", "mujoco")  # engines that show their own factor of H
CELLS = [
    (engine, quantity)
    for engine in ENGINES
    for quantity in ("verdict", "tree", *COLUMNS)
    if not (engine == "pinocchio" and quantity in ("tree", "bias", "own q̈"))
    and not (engine not in FACTORED and quantity == "L and D")
]
FAST = ["double_pendulum_continuous", "panda", "allegro_left_hand", "solo12", "talos_reduced", "xarm7"]
BASES = ["fixed", "floating"]


@cache
def row(name, base, engine, sample):
    """One state of one robot in one engine; Drake is asked alone, for it is slow to import."""
    robot = robots.find(name, base == "floating")
    engines = (engine,) if engine == "drake" else tuple(e for e in ENGINES if e != "drake")
    rows = next(check.check([robot], engines, samples=1, seed=sample))
    return {found.engine: found for found in rows if found.base == base}[engine]


def check_cell(name, base, engine, quantity, sample):
    found = row(name, base, engine, sample)
    if quantity == "verdict":
        assert found.verdict != check.DISAGREES, found.reason
        assert found.reason or found.verdict == check.AGREES
        return
    if found.verdict == check.CANNOT_LOAD:
        pytest.skip(f"{engine} cannot load it: {found.reason}")
    if found.n == 0:
        pytest.skip("no joint moves")
    if quantity == "tree":
        assert found.same_tree
        return
    error = getattr(found, COLUMNS[quantity])
    if error is None and "singular" in found.reason:
        pytest.skip(found.reason)
    if "Pinocchio cannot load it" in found.reason and error is None:
        pytest.skip("there is no reference: Pinocchio cannot load it")
    assert error <= tolerances.cross_validation(engine, found.n, found.condition)[quantity]


@pytest.mark.parametrize(("engine", "quantity"), CELLS)
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", FAST)
def test_fast(name, base, engine, quantity):
    check_cell(name, base, engine, quantity, sample=0)


@pytest.mark.slow
@pytest.mark.parametrize("sample", [1, 2])
@pytest.mark.parametrize(("engine", "quantity"), CELLS)
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", list(robots.bundled()))
def test_every_bundled_robot(name, base, engine, quantity, sample):
    check_cell(name, base, engine, quantity, sample)
