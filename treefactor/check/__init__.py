"""Compare engines with each other on robots, and name the causes of differences.

``matrix`` runs a comparison, ``examine`` queries an engine for ``quantities``, ``repair`` and ``tensors``
find causes, ``judge`` makes cells of them. ``engines`` names the engines, ``workers`` are their processes,
``selfcheck`` needs one engine. Folders: ``rewriting`` and ``traps`` are about files, ``derivatives`` and
``contacts`` compare these, ``project`` reads ``treefactor.toml``, ``plugin`` runs under pytest.
"""

from .._util.protocol import Base, Engine, EngineJoint
from .cells import (
    AGREES,
    CRASHED,
    DISAGREES,
    EXCLUDED,
    EXPECTED,
    EXPLAINED,
    GOOD,
    NOT_INSTALLED,
    NOT_OFFERED,
    REFUSED,
    STATES,
    TIMED_OUT,
    Cause,
    Cell,
    CheckedRobot,
    Report,
    UsedEngine,
)
from .contacts import CONTACT_ENGINES, ContactCheck, ContactRow, check_contacts
from .derivatives import DERIVATIVE_ENGINES, DerivativeRow, check_derivatives
from .engines import ENGINES, ChosenEngine, has_pinocchio
from .judge import ALL_QUANTITIES
from .matrix import Matrix, check, compare
from .selfcheck import SelfCheck, self_check

__all__ = [
    "AGREES",
    "ALL_QUANTITIES",
    "CONTACT_ENGINES",
    "CRASHED",
    "DERIVATIVE_ENGINES",
    "DISAGREES",
    "ENGINES",
    "EXCLUDED",
    "EXPECTED",
    "EXPLAINED",
    "GOOD",
    "NOT_INSTALLED",
    "NOT_OFFERED",
    "REFUSED",
    "STATES",
    "TIMED_OUT",
    "Base",
    "Cause",
    "Cell",
    "CheckedRobot",
    "ChosenEngine",
    "ContactCheck",
    "ContactRow",
    "DerivativeRow",
    "Engine",
    "EngineJoint",
    "Matrix",
    "Report",
    "SelfCheck",
    "UsedEngine",
    "check",
    "check_contacts",
    "check_derivatives",
    "compare",
    "has_pinocchio",
    "self_check",
]
