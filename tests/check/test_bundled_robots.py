"""Compare every engine that loads fast with Pinocchio on all bundled robots."""

import pytest

from treefactor import check
from treefactor.check import AGREES, GOOD
from treefactor.check.robots import bundled, find

pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
LIGHT = ("pinocchio", "treefactor", "mujoco", "drake", "idyntree", "dart", "adam")


@pytest.mark.slow
@pytest.mark.parametrize("name", bundled())
def test_every_difference_on_a_bundled_robot_is_explained(name):
    [*results] = check.check([find(name)], LIGHT, samples=1)
    cells = [cell for found in results for cell in found]
    assert any(cell.state == AGREES for cell in cells)
    assert [(cell.engine, cell.quantity, cell.reason) for cell in cells if cell.state not in GOOD] == []
