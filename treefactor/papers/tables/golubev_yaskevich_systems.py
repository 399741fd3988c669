"""Execute Golubev & Yaskevich, section 5: the docking mechanism, and a six-legged robot without loops."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from functools import cache
from time import process_time

import numpy as np

from ..._util.counting import counting
from ..._util.rotations import about
from ...codegen import Program, generate
from ...codegen.choices import Choice
from ...model.configuration import random_configuration
from ...model.joints import Inertia, Joint
from ...model.mechanisms import LEGS, docking_platform
from ...model.model import Model
from ...tolerances import SNAP
from ...tree.tree import OperationCount
from ..textbook import closures
from ..textbook.recursions import operations
from .table import AtLeast, AtMost, Between, PaperRow, Rule, Table

PAPER = "Golubev & Yaskevich (2020), Keldysh preprint 22"
# printed counts of the docking mechanism, as upper limits
GENERATED, MATRICES = AtMost(4686, 3155, 13), AtMost(19190, 15904, None)
TRIG = 42  # sines and cosines of the docking mechanism
SAVING = Between(4.3, 4.7)  # about 4.5 times fewer operations than numeric algorithms; their counts give 4.4
SHARE, WALKER, WITHOUT_LOOPS = Between(0.7, 0.8), Rule(1.5), Rule(2.5)  # SHARE: about 75 %
SIZES = "the paper does not print the dimensions of its mechanism; which of them are 0 or equal decides"
MOVED = "other frames, and inertias moved between bodies, leave fewer operations for the same matrix"
ROUND = "legs are bodies of revolution"
GENERAL = "general inertias"
TURNED = "general inertias and frames"
REVOLVED = {  # what legs of revolution change: shares of the loops, and times as many as the walker takes
    SHARE: (
        Between(0.8, 0.85),
        "they halve H and bias forces of the open tree, and hardly shorten the loops",
    ),
    WALKER: (Between(0.9, 1.0), "its legs are bodies of revolution, the walker's inertias are not"),
}
UNEVEN = 0.1  # share of random second moments


SAVED = {ROUND: Decimal("6.3"), GENERAL: Decimal("5.2"), TURNED: Decimal("4.8")}
SHORTER = (
    "our programs also use moving frames, and inertias moved between bodies; the paper's counts are of "
    "another mechanism, whose dimensions it does not print"
)


def docking() -> Table:
    """Count the operations of the docking mechanism's programs, from special to general bodies."""
    rows = []
    for case, model in mechanisms().items():
        alone, everything = (count(case, variants) for variants in (("plain",), None))
        numeric = matrices(case)
        rows += [
            PaperRow(case, "accelerations, program", everything, GENERATED),
            PaperRow(case, "accelerations, program, the paper's processor alone", alone, GENERATED),
            PaperRow(
                case, "operations of all kinds", everything.total, printed(), Between(3000, 7000), SIZES
            ),
            PaperRow(
                *(case, "times fewer than over matrices", numeric.total / everything.total),
                *(SAVING, SAVED[case], SHORTER),
            ),
            PaperRow(case, "share of the loops, program", share(model, everything), *stated(SHARE, case)),
        ]
    rows.append(PaperRow(ROUND, "share of the loops, matrices", matrix_share(ROUND)))
    note = (
        "Accelerations of all coordinates with six loops closed. The dimensions of the paper's mechanism are "
        "not printed. Ours has as many freedoms, loops and angles; its legs are bodies of revolution, or "
        "every body has an inertia without symmetry, or the frames of feet and heads are turned at random, "
        "too. Alone: without moving frames, and without moving inertias between bodies, which the paper does "
        "not have. Share of the loops: without H and the bias forces of the open tree."
    )
    return Table(PAPER, "Docking mechanism", note, rows)


def stated(paper: Between | Rule, case: str) -> tuple:
    """Return the paper's figure, and for bodies of revolution what ours is and why."""
    return paper, *(REVOLVED[paper] if case == ROUND else ())


def printed() -> int:
    """Return the sum of the paper's operations."""
    return sum(GENERATED.stated.values()) + TRIG


@cache
def mechanisms() -> dict[str, Model]:
    """Return the docking mechanism with special, general and turned bodies."""
    model, rng = docking_platform().model, np.random.default_rng(0)
    joints = [replace(joint, inertia=uneven(joint.inertia, rng)) for joint in model.joints]
    turned = [
        replace(joint, R=random_turn(rng)) if joint.name.startswith("foot") else joint for joint in joints
    ]
    loops = [replace(loop, R2=random_turn(rng)) for loop in model.loops]
    return {
        ROUND: model,
        GENERAL: Model(joints, model.gravity, name=GENERAL, loops=model.loops),
        TURNED: Model(turned, model.gravity, name=TURNED, loops=loops),
    }


def uneven(inertia: Inertia, rng: np.random.Generator) -> Inertia:
    """Return an inertia with other second moments and another centre, so that nothing in it is 0 or equal."""
    if not inertia.mass:
        return inertia
    A = rng.normal(size=(3, 3))
    moments = np.trace(inertia.tensor) / 2 * np.eye(3) - inertia.tensor
    moments = moments + UNEVEN * np.trace(moments) * (A @ A.T) / np.trace(A @ A.T)
    return Inertia(
        inertia.mass, inertia.com + rng.uniform(-0.02, 0.02, 3), np.trace(moments) * np.eye(3) - moments
    )


def random_turn(rng: np.random.Generator) -> np.ndarray:
    """Return a random rotation."""
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return Q * np.linalg.det(Q)


def program(case: str, variants: tuple[str, ...] | None = None) -> Program:
    """Generate a mechanism's program."""
    return generated(mechanisms()[case], "loops", variants)[0]


@cache
def generated(model: Model, function: str, variants: tuple[str, ...] | None = None) -> tuple[Program, float]:
    """Generate the program of a function; return it and the processor time that this takes."""
    given = {} if variants is None else {"variants": variants}
    start = process_time()
    return generate(model, function, **given), process_time() - start


def count(case: str, variants: tuple[str, ...] | None = None) -> OperationCount:
    """Count the operations of a mechanism's program."""
    return program(case, variants).operations["loops"]


def share(model: Model, whole: OperationCount) -> float:
    """Return the share of a program's operations that H and bias forces of the open tree do not take."""
    opened = Model(model.joints, model.gravity, name="open tree", frames=model.frames)
    tree = generate(opened, ("crba", "bias")).operations
    return 1.0 - sum(count.mul + count.add for count in tree.values()) / (whole.mul + whole.add)


def by_loop(model: Model) -> list[list[int]]:
    """List for every loop the coordinates that follow on the path from the base to its first end."""
    coordinates, independent = [], partition(model).independent
    for loop in model.loops:
        joint = model.joints[loop.first]
        last = model.idx_v[loop.first] + joint.nv - 1
        path = [*model.tree.ancestors(last).tolist(), last]
        coordinates.append([k for k in path if model.tree.names[k] not in independent])
    return coordinates


@cache
def partition(model: Model) -> Choice:
    """Choose the coordinates of a mechanism that follow from its loops."""
    return Choice.of(model, "loops", (), ("plain",), SNAP)


@cache
def matrices(case: str) -> OperationCount:
    """Count the operations of loops over full matrices."""
    model = mechanisms()[case]
    return closures.operations(model, by_loop(model))


def matrix_share(case: str) -> float:
    """Return the share of the loops in the operations over full matrices."""
    model, tally = mechanisms()[case], Counter[str]()
    loops = closures.ClosedLoops(model, tally)
    q = random_configuration(model, np.random.default_rng(0))
    loops.place(counting(q, tally))
    loops.forces(counting(np.ones(model.nv), tally), None)
    loops.generalized_forces(None)
    loops.compose()
    return 1.0 - tally.total() / matrices(case).total


def six_legged() -> Table:
    """Count the operations of a six-legged robot without loops."""
    model = robot()
    program_count = generated(model, "forward_dynamics")[0].operations["forward_dynamics"]
    numeric = operations(model, "aba")
    case = f"{len(LEGS)} legs, {model.nv} freedoms"
    rows = [
        PaperRow(case, "accelerations, program", program_count),
        PaperRow(case, "accelerations, numeric loops", numeric),
        *(
            PaperRow(
                case,
                f"docking mechanism, {kind}, over it",
                count(kind).total / program_count.total,
                *stated(WALKER, kind),
            )
            for kind in mechanisms()
        ),
        PaperRow(case, "times fewer than numeric loops", numeric.total / program_count.total, WITHOUT_LOOPS),
        PaperRow(
            case, "place by three joints with bodies without mass, over one joint", chained(model), Rule(1.0)
        ),
        PaperRow(case, "H, our transformations over the processor alone", *fewest(model)),
    ]
    note = (
        "A body with three coordinates and three angles, as the paper composes joints, and six legs of three "
        "revolute joints; every inertia without symmetry. The paper gives neither the dimensions nor the "
        "operations of its robot, but that the docking mechanism takes 1.5 times as many, and, from that, "
        "2.5 as the gain without loops; what it is compared with there is not said. Ours is compared with "
        "our numeric loops of articulated bodies, counted on counting scalars."
    )
    return Table(PAPER, "Six-legged robot", note, rows)


def chained(model: Model) -> float:
    """Return how many times more operations three sliding joints take than one with three freedoms."""
    axes = [Joint(f"slide{k}", "prismatic", k - 1, axis=np.eye(3)[k]) for k in range(3)]
    rest = [replace(joint, parent=joint.parent + 2) for joint in model.joints[1:]]
    counts = [
        generated(model_of_place, "forward_dynamics")[0].operations["forward_dynamics"].total
        for model_of_place in (Model([*axes, *rest], model.gravity, name="chained"), model)
    ]
    return counts[0] / counts[1]


def fewest(model: Model) -> tuple[float, AtLeast, AtLeast, str]:
    """Return the share of operations of H that transformed bodies take, and what the paper expects."""
    best, alone = (
        generated(model, "crba", variants)[0].operations["crba"].total for variants in (None, ("plain",))
    )
    return best / alone, AtLeast(1.0), AtLeast(0.5), MOVED


@cache
def robot() -> Model:
    """Return a six-legged robot: a body, and legs of hip, thigh and knee."""
    rng = np.random.default_rng(1)
    body = uneven(Inertia(20.0, (0, 0, 0.02), np.diag([2.0, 3.0, 4.0])), rng)
    joints = [Joint("place", "translation")]
    for axis, name in ((2, "yaw"), (1, "pitch"), (0, "roll")):
        inertia = body if name == "roll" else Inertia()
        joints.append(Joint(name, "revolute", len(joints) - 1, axis=np.eye(3)[axis], inertia=inertia))
    for k in LEGS:
        R = about(2, np.radians(60 * k + 30))
        for name, parent, place, axis, length in (
            ("hip", 3, 0.3 * R[:, 0], (0, 0, 1), 0.1),
            ("thigh", len(joints), (0.1, 0, 0), (0, 1, 0), 0.3),
            ("knee", len(joints) + 1, (0.3, 0, 0), (0, 1, 0), 0.3),
        ):
            link = uneven(Inertia(1.0, (length / 2, 0, 0), np.diag([0.01, 0.03, 0.03])), rng)
            turn = R if name == "hip" else np.eye(3)
            joints.append(Joint(f"{name}{k}", "revolute", parent, turn, place, axis, inertia=link))
    return Model(joints, name="six-legged robot")


TABLES = (docking, six_legged)
