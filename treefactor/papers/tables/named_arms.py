"""Compare the operations of programs of named arms with the best published counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from ...codegen import generate
from ...dynamics import crba
from ...model import arms
from ...model.arms import Arm
from ...tree.tree import OperationCount
from .table import AtMost, Limit, PaperRow, Table

QUANTITIES = {  # functions that the literature counts
    "crba": "inertia matrix",
    "rnea": "inverse dynamics",
    "forward_dynamics": "forward dynamics",
}


@dataclass(frozen=True)
class Published:
    """Count of operations and the document that has it.

    Attributes
    ----------
    count : AtMost or Limit
        Multiplications, additions and divisions (None where these are counted together), or the total.
    document : str
    read : bool
        Whether we read the document, or ran the program; otherwise the count is quoted at second hand.
    """

    count: AtMost | Limit
    document: str
    read: bool = False

    @property
    def total(self) -> float:
        """Return all operations."""
        return self.count.value if isinstance(self.count, Limit) else sum(self.count.stated.values())

    @property
    def source(self) -> str:
        """Return the document, and whether its count is quoted at second hand."""
        return self.document if self.read else f"{self.document}, at second hand"


KANE_SUM = "Kane-sum paper, 2514 in all"
SYMPYBOTICS = "SymPyBotics, as measured"
KHALIL = "Khalil & Kleinfinger (1987), base parameters"
DOMBRE = "Khalil & Dombre (2002), base parameters"
MCMILLAN = "McMillan & Orin (1995)"
FEATHERSTONE = "Featherstone & Orin (2000)"
KANE = "Kane & Levinson (1983)"
ARMSTRONG = "Armstrong, Khatib & Burdick (1986), 1 % model"
IZAGUIRRE = "Izaguirre & Paul (1985), abstract"

FORMULAS: dict[str, tuple[str, Callable[[int], AtMost]]] = {  # for n revolute joints of any geometry
    "crba": (FEATHERSTONE, lambda n: AtMost(10 * n**2 + 22 * n - 32, 6 * n**2 + 37 * n - 43)),
    "rnea": (KHALIL, lambda n: AtMost(92 * n - 127, 81 * n - 117)),
    "forward_dynamics": (MCMILLAN, lambda n: AtMost(224 * n - 259, 205 * n - 248, None)),
}

# of the code that SymPyBotics (github.com/cdsousa/SymPyBotics, 5d4613a, with SymPy 1.14.0) generates, its
# lengths and inertias symbolic: products and sums of its statements and results, counted on their expressions
MEASURED: dict[Arm, dict[str, AtMost]] = {
    arms.PUMA_560: {"crba": AtMost(391, 313), "rnea": AtMost(362, 313)},
    arms.RX_90: {"crba": AtMost(343, 270), "rnea": AtMost(330, 282)},
    arms.STANFORD: {"crba": AtMost(318, 243), "rnea": AtMost(326, 285)},
    arms.WAM: {"crba": AtMost(624, 475), "rnea": AtMost(396, 337)},
    arms.SSRMS_6R: {"crba": AtMost(433, 345), "rnea": AtMost(371, 322)},
    arms.SSRMS_7R: {"crba": AtMost(629, 509), "rnea": AtMost(446, 389)},
}

OTHERS: dict[Arm, dict[str, Published]] = {
    arms.RX_90: {"rnea": Published(AtMost(253, 238), DOMBRE)},
    arms.SSRMS_6R: {"crba": Published(AtMost(1071, 1443), KANE_SUM, True)},
}


H = np.pi / 2
# lengths and inertias of Armstrong, Khatib & Burdick (1986) as Robotics Toolbox lists them in its model
# Puma560-AKB; of link 1 only the moment about the axis counts
PUMA_560 = Arm(
    "PUMA 560, inertias of Armstrong et al.",
    rows=[
        *((0, 0, 0), (-H, 0, 0.2435), (0, 0.4318, -0.0934)),
        *((H, -0.0203, 0.4331), (-H, 0, 0), (H, 0, 0)),
    ],
    mass=[1.0, 17.4, 4.8, 0.82, 0.34, 0.09],
    centre=[
        *((0, 0, 0), (0.068, 0.006, -0.016), (0, -0.07, 0.014)),
        *((0, 0, -0.019), (0, 0, 0), (0, 0, 0.032)),
    ],
    inertia=[
        np.diag(moments)
        for moments in (
            *((0.35, 0.35, 0.35), (0.13, 0.524, 0.539), (0.066, 0.0125, 0.066)),
            *((1.8e-3, 1.8e-3, 1.3e-3), (0.3e-3, 0.3e-3, 0.4e-3), (0.15e-3, 0.15e-3, 0.04e-3)),
        )
    ],
    prismatic=[False] * 6,
)
# rotor inertias of the motors, kg m^2, in the same list
ROTORS = np.array([291e-6, 409e-6, 299e-6, 35e-6, 35e-6, 35e-6])
GEARS = np.array([62.6111, 107.815, 53.7063, 76.0364, 71.923, 76.686])
NEGLIGIBLE = 0.01  # the short model of the paper leaves out terms below this share of sqrt(H_ii H_jj)
SHORT = replace(
    PUMA_560,
    name="PUMA 560, centre of link 6 left out",
    centre=np.vstack([PUMA_560.centre[:5], np.zeros(3)]),
)


def simplified(arm: Arm, name: str, centres: tuple[tuple[int, int, int], ...]) -> Arm:
    """Return the arm with diagonal tensors, and 0 for every coordinate of a centre that is 0 in centres."""
    return replace(arm, name=name, centre=arm.centre * centres, inertia=arm.inertia * np.eye(3))


NOWHERE, ALL = (0, 0, 0), (1, 1, 1)
X, Y, Z, YZ = (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1)
STANFORD = simplified(arms.STANFORD, "Stanford, zeros of Paul (1981)", (YZ, Z, Z, YZ, YZ, Z))
WRIST = simplified(arms.RX_90, "RX-90, spherical wrist", (ALL, ALL, ALL, NOWHERE, NOWHERE, NOWHERE))
ALONG = simplified(arms.RX_90, "RX-90, centres along the links", (NOWHERE, X, Y, NOWHERE, NOWHERE, NOWHERE))
SIMPLIFIED = (PUMA_560, SHORT, STANFORD, WRIST, ALONG)


@dataclass(frozen=True)
class Special:
    """Published count of an arm with simplified inertias, and what is known of ours where it is above."""

    published: Published
    instead: AtMost | int | None = None
    reason: str = ""


COEFFICIENTS = Published(AtMost(65, 41), IZAGUIRRE, read=True)
ABBREVIATED = Published(Limit(305), ARMSTRONG)
BASE = Published(AtMost(142, 99), DOMBRE)
SPECIAL: dict[Arm, dict[str, Special]] = {
    PUMA_560: {
        "crba": Special(
            *(COEFFICIENTS, AtMost(85, 68)),
            "20 and 27 more: theirs uses symmetries of the arm that the abstract does not list",
        ),
        "rnea": Special(*(ABBREVIATED, 334), "29 more: theirs leaves out terms below 1 %, ours none"),
    },
    SHORT: {
        "crba": Special(
            *(COEFFICIENTS, AtMost(65, 43)),
            "11 multiplications fewer and 2 additions more; the abstract does not list its symmetries",
        ),
        "rnea": Special(ABBREVIATED),
    },
    STANFORD: {"forward_dynamics": Special(Published(AtMost(646, 394, None), KANE))},
    WRIST: {
        "rnea": Special(
            *(BASE, AtMost(144, 125)),
            "2 and 26 more; the zeros of the document are not known to us, and with centres along the links "
            "ours takes fewer",
        )
    },
    ALONG: {"rnea": Special(BASE)},
}


def named_arms() -> Table:
    """Count the operations of the programs of named arms with general inertias."""
    rows = [row for arm in arms.GENERAL for name in QUANTITIES for row in general(arm, name)]
    note = (
        "Paper: the best count of the literature, without sines and cosines. Ours: as generated, for general "
        "inertias, with every number folded that the geometry makes constant; no kind may be above theirs. "
        "SymPyBotics, which keeps lengths and inertias symbolic, was run; formulas for n revolute joints "
        "hold for any geometry. At second hand: we found no copy of the document."
    )
    return Table("Golubev & Yaskevich (2020), Keldysh preprint 22", "Named arms", note, rows)


def general(arm: Arm, function: str) -> list[PaperRow]:
    """Compare one function of an arm with the best published count."""
    ours, known = counted(arm)[function], candidates(arm, function)
    if not known:
        return [PaperRow(arm.name, f"{QUANTITIES[function]}, no published count found", ours)]
    best = min(known, key=lambda count: count.total)
    chosen = dict.fromkeys([best, *(count for count in known if count.document == KANE_SUM)])
    return [
        PaperRow(arm.name, f"{QUANTITIES[function]}, {count.source}", ours, count.count) for count in chosen
    ]


def candidates(arm: Arm, function: str) -> list[Published]:
    """Return the published counts that hold for an arm."""
    published = []
    if not np.any(arm.prismatic):
        document, formula = FORMULAS[function]
        published.append(Published(formula(len(arm.mass)), document))
    if function in MEASURED.get(arm, {}):
        published.append(Published(MEASURED[arm][function], SYMPYBOTICS, True))
    if function in OTHERS.get(arm, {}):
        published.append(OTHERS[arm][function])
    return published


def simplified_arms() -> Table:
    """Count the operations of the programs of arms with simplified inertias."""
    rows = [special(arm, function) for arm in SIMPLIFIED for function in QUANTITIES]
    rows.append(PaperRow(SHORT.name, "change of H, over √(H_ii H_jj)", change(), Limit(NEGLIGIBLE)))
    note = (
        "Ours: exact programs for diagonal tensors and centres of mass with the zeros that the name states; "
        "for the PUMA 560 the published numbers, without motors. The count of Izaguirre & Paul includes "
        "gravity; that of Kane & Levinson is of the equations of motion. At second hand: we found no copy of "
        "the document. The change of H counts the motors' inertias, as Armstrong's 1 % does."
    )
    return Table("Golubev & Yaskevich (2020), Keldysh preprint 22", "Simplified arms", note, rows)


def special(arm: Arm, function: str) -> PaperRow:
    """Compare one function of an arm with simplified inertias."""
    quantity, count = QUANTITIES[function], counted(arm)[function]
    known = SPECIAL[arm].get(function)
    if known is None:
        return PaperRow(arm.name, f"{quantity}, no published count found", count)
    what, paper = f"{quantity}, {known.published.source}", known.published.count
    ours: OperationCount | int = count
    if isinstance(paper, Limit):
        what, ours = f"{what}, all operations", count.mul + count.add + count.div
    return PaperRow(arm.name, what, ours, paper, known.instead, known.reason)


def change() -> float:
    """Return the largest change of H of the PUMA 560 by the centre that is left out."""
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (100, 6))
    full, short = (crba(arm.model(), q) + np.diag(ROTORS * GEARS**2) for arm in (PUMA_560, SHORT))
    size = np.sqrt(np.einsum("kii->ki", full))
    return float((np.abs(full - short) / (size[:, :, None] * size[:, None, :])).max())


@cache
def counted(arm: Arm) -> dict[str, OperationCount]:
    """Count the operations of an arm's programs."""
    return generate(arm.model(), tuple(QUANTITIES)).operations
