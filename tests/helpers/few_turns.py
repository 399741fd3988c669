"""Measure times only once or twice, and of few configurations."""

from treefactor import bench
from treefactor.bench import case
from treefactor.bench.comparisons import (
    all_robots,
    control,
    derivatives,
    factor,
    falling,
    frameworks,
    mlcp,
    rollouts,
    stepping,
)

LARGE = "talos_reduced", "g1_29dof_rev_1_0"
TURNS = {bench.timing: {"RUN": 1e-6, "TURNS": 2, "FEWEST": 2, "PATIENCE": 0.0}}
ROWS = {mlcp.LARGE: 60, mlcp.MIDDLE: 40, mlcp.SMALL: 10}
SIZES = {
    all_robots: {"COUNT": 16, "names": lambda: ["double_pendulum", "solo12"]},
    control: {"TARGETS": 9, "FEW": 2, "MOTIONS": 2, "STEPS": 10},
    derivatives: {"COUNTS": (8, 16)},
    case: {"COUNT": 16, "MATRICES": 40},
    factor: {"SMALL": 20},
    falling: {"STEPS": 10},
    stepping: {
        "STEPS": 3,
        "SCENES": {name: scene for name, scene in stepping.SCENES.items() if name.split()[0] not in LARGE},
    },
    frameworks: {"STEPS": 5},
    mlcp: {
        name: {(family, ROWS[m]): value for (family, m), value in getattr(mlcp, name).items()}
        for name in ("COLD", "WITH_A")
    }
    | {"WARM": [(family, ROWS[m]) for family, m in mlcp.WARM]},
    rollouts: {"COUNT": 16, "STEPS": 3},
}


def few_turns(change=setattr):
    """Take few turns of each time."""
    _change(TURNS, change)


def small_sizes(change=setattr):
    """Take few turns, of few configurations and of contact problems with few rows."""
    _change(TURNS | SIZES, change)


def _change(changes, change):
    for module, values in changes.items():
        for name, value in values.items():
            change(module, name, value)
