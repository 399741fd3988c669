"""Make reports of a comparison without an engine: a realistic one with every state, and hostile ones."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st

from treefactor.check.cells import (
    AGREES,
    CRASHED,
    DISAGREES,
    EXCLUDED,
    EXPECTED,
    EXPLAINED,
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

HOSTILE = "<img src=x onerror=alert(1)>&\"'[0]/{{ 7 * 7 }}</script></style><!--]]>|`*_@all#1"
META = {
    "schema": 1,
    "treefactor": "0.2.0",
    "python": "3.11.2",
    "machine": "x86_64",
    "seed": 7,
    "samples": 3,
    "reference": "pinocchio",
}
VERSIONS = {
    "pinocchio": "4.1.0",
    "treefactor": "0.2.0",
    "mujoco": "4.0.0",
    "pybullet": "3.2.7",
    "drake": "1.51.1",
    "idyntree": "15.1.0",
    "dart": "6.20.0",
    "adam": "0.5.0",
    "rtb": "1.5.0",
    "newton": "1.8.0",
    "mjx": "",
    "frax": "0.1.0",
}
QUANTITIES = [
    *("tree", "H", "bias", "gravity", "inverse dynamics", "q̈", "placements", "Jacobians", "centre of mass"),
    *("momentum", "energies", "factor", "J̇v", "derivatives", "simulation"),
]
ROBOTS = [
    *(("ur5", "fixed", 6), ("panda", "fixed", 9), ("tiago_dual", "fixed", 26), ("solo12", "floating", 18)),
    *(("talos_reduced", "floating", 38), ("icub", "floating", 38), ("models/two_links.urdf", "fixed", 2)),
]
INERTIA = Cause(
    "inertia from file",
    "inertias are recomputed from collision shapes",
    ("link7", "link6", "link5", "link4", "link3"),
    0.783,
    "https://github.com/bulletphysics/bullet3/issues/1671",
    (120, 98, 77, 60, 41),
)
MASSES = Cause(
    "explicit inertials", "links without <inertial> are given 1 kg", ("tool0", "ee"), 1.3, "", (12, 30)
)
MERGED = Cause(
    "merged fixed links",
    "inertias of links on fixed joints are dropped",
    ("hand",),
    0.0042,
    "https://github.com/petercorke/robotics-toolbox-python/issues/636",
    (210,),
)
AXES = Cause("axes along z", "axes with a negative sign turn the other way", ("joint2", "joint4"), 0.49)
DAMPING = Cause("no dynamics", "damping of joints acts within the time step", (), 2.6e-5, "", ())
ORIGIN = Cause("explicit origins", "an <inertial> without an <origin> is refused", ("base",), None, "", (3,))


def sample(robots=None, engines=None, quantities=None, seed: int = 0) -> Report:
    """Return a report with every state; most cells agree."""
    random = Random(seed)
    robots = ROBOTS if robots is None else robots
    engines = list(VERSIONS) if engines is None else engines
    quantities = QUANTITIES if quantities is None else quantities
    report = Report(
        META,
        [
            UsedEngine(name, VERSIONS[name], "float32" if name == "newton" else "float64", "", name)
            for name in engines
        ],
        [
            CheckedRobot(name, base, name, "urdf", f"{Random(name).getrandbits(256):064x}", n)
            for name, base, n in robots
        ],
        list(quantities),
        expectations=[
            {"robot": "icub", "engine": "adam", "cause": "texture", "link": "https://a.b/1", "stale": False},
            {"robot": "ur5", "engine": "dart", "quantity": "q̈", "cause": "limits", "link": "", "stale": True},
        ],
    )
    for name, base, _ in robots:
        for engine in engines:
            report.cells.extend(_cell(random, name, base, engine, quantity) for quantity in quantities)
    return report


def _cell(random: Random, robot: str, base: str, engine: str, quantity: str) -> Cell:
    """Return one cell; who fails where is fixed, the numbers are random."""
    case = robot, base, engine, quantity
    error = 10 ** random.uniform(-16.5, -15)
    numbers = {"error": error, "allowed": 1.4e-14, "ordinary": error}
    wrong = numbers | {"ordinary": 10 ** random.uniform(-3, 0.5)}
    if not VERSIONS[engine]:
        return Cell(*case, NOT_INSTALLED, reason="pip install mujoco-mjx")
    whole = {
        ("adam", "icub"): Cell(
            *case, EXPECTED, causes=(ORIGIN,), reason="texture without filename: https://a.b/1"
        ),
        ("adam", "tiago_dual"): Cell(*case, REFUSED, reason="NotImplementedError: prismatic joint 'torso'"),
        ("dart", "talos_reduced"): Cell(*case, CRASHED, reason="the process ended with signal 11"),
        ("newton", "icub"): Cell(*case, TIMED_OUT, reason="no answer within 120 s"),
        ("frax", "solo12"): Cell(*case, EXCLUDED, reason="Pinocchio cannot load it"),
    }
    if (engine, robot) in whole:
        return whole[engine, robot]
    if quantity in ("J̇v", "derivatives", "simulation") and engine not in ("pinocchio", "mujoco", "drake"):
        return Cell(*case, NOT_OFFERED)
    if (engine, robot, quantity) in {("rtb", "panda", "bias"), ("rtb", "panda", "q̈")}:
        return Cell(*case, DISAGREES, 0.31, 1.4e-14, 0.33, (AXES,), "differs by 3.1e-01, 1.4e-14 is rounding")
    causes = {
        "pybullet": (INERTIA, MASSES),
        "dart": (MASSES,),
        "rtb": (MERGED, AXES),
        "newton": (MASSES,),
        "mujoco": (DAMPING,) if quantity == "simulation" else (),
        "adam": (ORIGIN,),
    }.get(engine, ())
    if causes and robot != "ur5" and quantity not in ("tree", "placements", "Jacobians"):
        refused = engine == "adam"
        return Cell(*case, EXPLAINED, **(numbers | {"ordinary": None} if refused else wrong), causes=causes)
    return Cell(*case, AGREES, **numbers)


def only(state: str) -> Report:
    """Return a report of one cell."""
    cell = Cell("arm", "fixed", "mujoco", "H", state, reason="why")
    robot = CheckedRobot("arm", "fixed", "arm.urdf", "urdf", "0" * 64, 3)
    return Report(META, [UsedEngine("mujoco", "4.0.0")], [robot], ["H"], [cell])


NASTY = st.one_of(
    st.just(HOSTILE),
    st.sampled_from(
        ["", " ", "a.urdf", "../b c.urdf", "/tmp/%41ü.urdf", "a\udcff.urdf", "\x00\x1b[31m", "x\ny\t"]
    ),
    st.text(max_size=12),
    st.binary(max_size=8).map(lambda raw: raw.decode("utf-8", "surrogateescape")),
)
NUMBERS = st.one_of(
    st.none(), st.floats(), st.sampled_from([0.0, 1.0, 3e-16, float("nan"), float("inf"), 5e-324])
)
CAUSES = st.builds(
    Cause,
    NASTY,
    NASTY,
    st.lists(NASTY, max_size=6).map(tuple),
    NUMBERS,
    NASTY,
    st.lists(st.integers(1, 10**6), max_size=6).map(tuple),
)


@st.composite
def reports(draw) -> Report:
    """Draw reports of a few robots, engines and quantities with hostile names, and any states and numbers."""
    robots = draw(st.lists(st.tuples(NASTY, NASTY), max_size=3, unique=True))
    engines = draw(st.lists(NASTY, max_size=3, unique=True))
    quantities = draw(st.lists(NASTY, max_size=3, unique=True))
    cells = [
        Cell(
            *robot,
            engine,
            quantity,
            draw(st.sampled_from(STATES)),
            *(draw(NUMBERS) for _ in range(3)),
            tuple(draw(st.lists(CAUSES, max_size=2))),
            draw(NASTY),
        )
        for robot in robots
        for engine in engines
        for quantity in quantities
        if draw(st.integers(0, 9))
    ]
    return Report(
        META | {"machine": draw(NASTY)},
        [UsedEngine(name, draw(NASTY), draw(NASTY), draw(NASTY), draw(NASTY)) for name in engines],
        [CheckedRobot(name, base, draw(NASTY), "urdf", draw(NASTY), 3) for name, base in robots],
        quantities,
        draw(st.permutations(cells)),
        [{"robot": draw(NASTY), "cause": draw(NASTY), "stale": draw(st.booleans())} for _ in range(2)],
    )
