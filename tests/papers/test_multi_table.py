"""Test the multi-table coding of Golubev & Yaskevich: numbers, counts, tables, and errors planted in it."""

import ast
import importlib
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

import treefactor as tf
from treefactor import Inertia, Joint, Loop, Model, OperationCount, arms, constraints
from treefactor.exceptions import CodegenError
from treefactor.model.arms import general_inertia
from treefactor.model.mechanisms import docking_platform, stewart
from treefactor.papers.tables import golubev_yaskevich_tables as tables
from treefactor.papers.textbook import multi_table
from treefactor.papers.textbook.multi_table import recursions, stages
from treefactor.papers.textbook.multi_table.scalars import Readings
from treefactor.papers.textbook.multi_table.tables import (
    AUXILIARY,
    INDEXED,
    SOURCE,
    TARGET,
    TEMPORARY,
    Tables,
)

OPERATORS = {ast.Add: "add", ast.Sub: "add", ast.Mult: "mul", ast.Div: "div"}
COUNTS = {  # mul, add, div, sqrt, trig
    "SSRMS, A and b": (729, 554, 0, 0, 14),
    "SSRMS, accelerations": (638, 541, 6, 0, 14),
    "six legs, A and b": (4660, 4235, 0, 0, 42),
    "six legs, accelerations": (3136, 2994, 18, 0, 42),
    "docking, legs are bodies of revolution": (3943, 2729, 12, 0, 42),
    "docking, general inertias": (4597, 3443, 12, 0, 42),
    "docking, general inertias and frames": (4752, 3571, 12, 0, 42),
}
READINGS = {  # of SSRMS and of the docking mechanism with round legs: A and b, accelerations, loops
    "signs_of_elements": (1305, 1211, 6732),
    "cancelling": (1297, 1330, 7272),
    "rounded_frames": (1641, 1472, 6895),
    "composites": (878, 1199, 6159),
    "mirrored": (1297, 1338, 7356),
    "own_tables": (1297, 1199, 6715),
}


def random_turn(rng):
    """Return a random rotation."""
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return Q * np.linalg.det(Q)


def mixed_tree():
    """Return a tree whose joints turn and slide about all axes, in turned frames; one body has no mass."""
    rng = np.random.default_rng(4)
    joints = [Joint("place", "translation", R=random_turn(rng), inertia=general_inertia(rng))]
    kinds = ("revolute", "prismatic", "revolute", "revolute", "prismatic", "revolute")
    for k, (kind, parent) in enumerate(zip(kinds, (0, 1, 2, 1, 4, 4), strict=True)):
        axis, p = np.eye(3)[k % 3], rng.normal(size=3)
        inertia = Inertia() if k == 0 else general_inertia(rng)
        joints.append(Joint(f"joint{k}", kind, parent, random_turn(rng), p, axis, inertia=inertia))
    joints.append(
        Joint("wrist", "universal", 3, p=(0, 1, 0), axis=np.eye(3)[:2], inertia=general_inertia(rng))
    )
    return Model(joints, gravity=(1.0, -2.0, -9.0))


TREE = mixed_tree()


def errors(module, readings=None):
    """Return the largest errors of A, b and accelerations of the tree, with one set of stages."""
    given = () if readings is None else (readings,)
    rng = np.random.default_rng(7)
    q, v, tau = rng.normal(size=(3, TREE.nv))
    results = module.inertia_and_forces(TREE, *given).evaluate(q, v, tau)
    pairs = [
        (results["A0"], tf.crba(TREE, q)),
        (results["B0"][:, 0], tau - tf.bias(TREE, q, v)),
        (module.by_articulated_bodies(TREE, *given).accelerations(q, v, tau), tf.aba(TREE, q, v, tau)),
    ]
    return [np.abs(ours - theirs).max() / np.abs(theirs).max() for ours, theirs in pairs]


def loop_error(module, mechanism):
    """Return the largest error of the accelerations of a mechanism with loops."""
    model, rng = mechanism.model, np.random.default_rng(8)
    q = mechanism.random(rng)
    v, tau = rng.normal(size=(2, model.nv))
    result = module.with_closed_loops(model)
    rates = result.evaluate(q, v, tau)
    for b, rows in enumerate(result.writer.system.BDT[1:], 1):
        v[[body.freedom for body in rows]] = rates[f"dQ{b}"][:, 0]
    a, _ = constraints.forward_dynamics(model, q, v, tau)
    return np.abs(result.accelerations(q, v, tau) - a).max() / np.abs(a).max()


# ----------------------------------------------------------------------------------------- numbers and counts


@pytest.mark.parametrize("composites", [False, True])
def test_procedures_compute_the_dynamics_of_a_tree(composites):
    assert max(errors(stages, Readings(composites=composites))) < 1e-12


def test_all_matrices_are_those_of_the_recursion_on_numbers(monkeypatch):
    assert tables.verification() < 1e-14
    right = tables.source.value
    monkeypatch.setattr(tables.source, "value", lambda *given: 1.001 * right(*given))
    assert tables.verification() > 1e-6


def test_procedures_close_loops():
    assert loop_error(stages, docking_platform()) < 1e-11


def test_a_spherical_joint_closes_loops_of_three_rows():
    """A platform on legs of three joints, its place and angles those of chains."""
    theirs = docking_platform().model
    legs = [joint for joint in theirs.joints if not joint.name.startswith("turn")]
    number = {joint.name: k for k, joint in enumerate(legs)}
    parents = {joint.name: theirs.joints[joint.parent].name for joint in legs if joint.parent >= 0}
    joints = [
        Joint(
            *(joint.name, joint.kind, number[parents[joint.name]] if joint.parent >= 0 else -1),
            *(joint.R, joint.p, joint.axis),
            inertia=stewart().model.joints[2].inertia if joint.name.startswith("rod") else joint.inertia,
        )
        for joint in legs
    ]
    loops = [
        Loop(loop.name, "spherical", number[f"rod{k}"], number["roll"], p1=(0, 0, 0.0), p2=loop.p2)
        for k, loop in enumerate(theirs.loops)
    ]
    model = Model(joints, theirs.gravity, loops=loops)
    kept = [k for k, name in enumerate(theirs.tree.names) if not name.startswith("turn")]
    rng = np.random.default_rng(1)
    q = docking_platform().random(rng)[kept]
    assert np.abs(constraints.loop_rows(model, q).residual).max() < 1e-12
    v, tau = rng.normal(size=(2, model.nv))
    result = stages.with_closed_loops(model)
    rates = result.evaluate(q, v, tau)
    for b, rows in enumerate(result.writer.system.BDT[1:], 1):
        v[[body.freedom for body in rows]] = rates[f"dQ{b}"][:, 0]
    a, _ = constraints.forward_dynamics(model, q, v, tau)
    np.testing.assert_allclose(result.accelerations(q, v, tau), a, rtol=0, atol=1e-11 * np.abs(a).max())


@pytest.mark.parametrize("case", tables.cases(), ids=lambda case: case.name)
def test_counts(case):
    result, _ = tables.coded(case)
    assert result.operations == OperationCount(*COUNTS[case.name])


@pytest.mark.parametrize("case", tables.cases()[:5:4], ids=lambda case: case.name)
def test_counts_are_those_of_the_text(case):
    result, _ = tables.coded(case)
    assert counts_of_text(result) == result.operations


def counts_of_text(result):
    """Count the operations in the texts of all procedures."""
    counts = dict.fromkeys(("mul", "add", "div", "trig", "sqrt"), 0)
    for procedure in result.procedures:
        for node in ast.walk(ast.parse(procedure.text)):
            if isinstance(node, ast.BinOp):
                counts[OPERATORS[type(node.op)]] += 1
            counts["trig"] += isinstance(node, ast.Call)
    return OperationCount(**counts)


def test_all_elements_of_targets_that_are_not_zero_are_defined():
    result, _ = tables.coded(tables.cases()[0])
    assert undefined(result) == set()


def undefined(result):
    """Return the elements of target matrices that no procedure defines, zeros apart."""
    defined = {
        node.targets[0].id
        for procedure in result.procedures
        for node in ast.walk(ast.parse(procedure.text))
        if isinstance(node, ast.Assign)
    }
    needed = set()
    for name, (owner, number) in result.writer.MMT.items():
        for L, x in enumerate(owner.read(number).ravel(order="F"), 1):
            needed |= {f"{name}_{L}"} if x.C or x.N else set()
    return needed - defined


@pytest.mark.parametrize("name", READINGS)
def test_counts_of_other_readings(name):
    chosen = [*tables.cases()[:2], tables.cases()[4]]
    other = Readings(**{name: not getattr(Readings(), name)})
    totals = [tables.coded(case, other)[0].operations.total for case in chosen]
    assert tuple(totals) == READINGS[name]


@pytest.mark.parametrize("name", [name for name, (_, reason) in tables.READINGS.items() if reason])
def test_printed_rules_make_results_wrong(name):
    verdicts = [row.verdict for row in tables.read_otherwise(tables.cases()[0], name)]
    assert verdicts == ["not in paper", "explained"]


# ----------------------------------------------------------------------------------------------------- tables


def test_rows_are_unique_and_used_rows_reach_a_target():
    result, _ = tables.coded(tables.cases()[1])
    for one in result.writer.stages:
        operations = [(r.N, r.C1, r.I1, r.O, r.C2, r.I2) for r in one.SET if r.O != " "]
        assert len(operations) == len(set(operations))
        assert len({row.S for row in one.IDT}) == len(one.IDT)
        for number, row in enumerate(one.SET, 1):
            assert all(abs(C) != one.C_TSV or I < number for C, I in ((row.C1, row.I1), (row.C2, row.I2)))


@pytest.fixture
def coding():
    return Tables(Readings())


def coded(x):
    return x.N, x.C, x.I


def test_rules_of_the_scalar_processor(coding):
    assert_rules(coding)


def assert_rules(coding):
    """Apply the rules of section 3 to empty tables."""
    a, b = coding.external("a"), coding.external("b")
    zero, one, two = (coding.scalar(x) for x in (0.0, 1.0, 2.0))
    assert coded(a + zero) == coded(zero + a) == coded(a * one) == coded(a)
    assert coded(a * -one) == coded(-a)
    assert coded(a * zero) == coded(a - a) == coded(zero)
    assert coded(two * coding.scalar(0.5 * (1 + 1e-11))) == coded(one)
    assert coded(coding.scalar(-3.0) * coding.scalar(1 / 3 + 1e-12)) == coded(-one)
    assert coding.SET == []
    assert coded(a * b) == coded(b * a) == coded(-(a * -b))
    assert coded(a + b) == coded(b + a)
    assert coded(two * -a) == coded(-(a * two))
    assert len(coding.SET) == 3
    inverse = (-a).reciprocal()
    assert coded(inverse * a) == coded(a * inverse) == coded(-one)
    assert coded(-inverse * a) == coded(one)
    assert coded(two.reciprocal()) == coded(coding.scalar(0.5))
    row = coding.SET[(b - a).I - 1]
    assert (row.C1, row.O, row.C2) == (-a.C, "+", b.C)  # ordered by code: -a + b
    row = coding.SET[(two - a).I - 1]
    assert (row.N, row.C1, row.O, row.C2) == (2.0, 0, "-", a.C)


def test_names_follow_the_rules_of_types(coding):
    assert_names(coding)


def assert_names(coding):
    """Give names to one expression by matrices of all types."""
    x = coding.external("a") * coding.external("b")
    row, shape = coding.SET[x.I - 1], (1, 1)
    for name, T, C_RM in (
        ("t", TEMPORARY, None),
        ("First", AUXILIARY, "First"),
        ("Second", AUXILIARY, "First"),
        ("Indexed1", INDEXED, "Indexed1"),
        ("Third", AUXILIARY, "Indexed1"),
        ("Indexed2", INDEXED, "Indexed1"),
        ("Goal", TARGET, "Goal"),
        ("Other", TARGET, "Goal"),
    ):
        matrix = np.empty(shape, dtype=object)
        matrix[0, 0] = x
        coding.write(coding.describe(name, T, shape), matrix)
        assert (coding.IDT[row.C_RM - 1].S if row.C_RM else None) == C_RM


def test_elements_are_stored_by_columns(coding):
    entries = np.empty((2, 3), dtype=object)
    entries[:] = [[coding.scalar(10 * i + j) for j in range(3)] for i in range(2)]
    number = coding.describe("A", INDEXED, (2, 3))
    coding.write(number, entries)
    assert [one.N for one in coding.MET] == [0.0, 10.0, 1.0, 11.0, 2.0, 12.0]
    assert [one.L for one in coding.MET] == [1, 2, 3, 4, 5, 6]
    assert [[x.N for x in row] for row in coding.read(number)] == [[0.0, 1.0, 2.0], [10.0, 11.0, 12.0]]


def test_matrices_that_are_not_formed_are_named():
    run = tables.two_bodies()
    with pytest.raises(LookupError, match="matrix 'Mo' of body 2 is not formed yet"):
        run.operand("Mo")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Tables(Readings()).identifier("w", 1, TEMPORARY), "one identifier of temporaries, 'vv'"),
        (lambda: Tables(Readings()).identifier("vv", 0, SOURCE), "'vv' has type 1, and cannot have type 0"),
        (lambda: Tables(Readings()).scalar().reciprocal(), "reciprocal of 0"),
        (
            lambda: stages.inertia_and_forces(Model([Joint("screw", "helical", axis=(0, 0, 1), pitch=1.0)])),
            "joint 'screw' must turn or slide",
        ),
        (
            lambda: stages.inertia_and_forces(Model([Joint("skew", "revolute", axis=(0, 0.6, 0.8))])),
            "joint 'skew' must turn or slide",
        ),
        (
            lambda: stages.inertia_and_forces(
                Model([Joint("geared", "revolute", axis=(0, 0, 1), armature=1.0)])
            ),
            "joint 'geared' must turn",
        ),
        (
            lambda: stages.by_articulated_bodies(Model([Joint("empty", "revolute", axis=(0, 0, 1))])),
            "a joint moves no mass",
        ),
    ],
)
def test_what_the_tables_cannot_describe_is_named(make, message):
    with pytest.raises(CodegenError, match=message):
        make()


# ------------------------------------------------------------------------------------------- planted errors

FOLDER = Path(multi_table.__file__).parent
MUTANT = "treefactor.papers.textbook.mutant"
MUTANTS = [  # module, text, what takes its place
    ("scalars", "return self + (-other)", "return self + other"),
    ("scalars", "(x.I, abs(x.C)) <= (y.I, abs(y.C))", "(x.I, abs(x.C)) >= (y.I, abs(y.C))"),
    ("scalars", "self._signed(x.C * y.C < 0,", "self._signed(x.C < 0,"),
    ("scalars", "sign = row.N * (1 if inverse.C * x.C > 0 else -1)", "sign = row.N"),
    ("scalars", '"-" if x.C < 0 else "+", abs(x.C), x.I)', '"+", abs(x.C), x.I)'),
    ("scalars", "1.0 if self.C > 0 else -1.0, 0, 0", "1.0, 0, 0"),
    ("tables", "if before < row.T:", "if before <= row.T:"),
    ("tables", "self.compared += number or len(self.SET)", "number = None"),
    ("systems", "return np.array([[x, -xy, -xz]", "return np.array([[x, xy, -xz]"),
    ("systems", "d @ d * np.eye(3) - np.outer(d, d)", "d @ d * np.eye(3) + np.outer(d, d)"),
    ("systems", "model.idx_v[number] + step", "model.idx_v[number]"),
    ("systems", "p = len(rows)\n", "p = len(rows) - 1\n"),
    ("systems", "float(np.arctan2(-R[0, 1], R[0, 0]))", "float(np.arctan2(R[0, 1], R[0, 0]))"),
    (
        "recursions",
        "optimizing.tilde(a[:, 0], run.tables.scalar())",
        "optimizing.tilde(-a[:, 0], run.tables.scalar())",
    ),
    ("recursions", "    return A @ tilde(run, b).T", "    return A @ tilde(run, b)"),
    ("recursions", "return A * run.tables.scalar(2.0)", "return A"),
    ("recursions", "number = max(numbers, default=-1)", "number = min(numbers, default=-1)"),
    (
        "recursions",
        'Operation(1, total, "E", M, INDEXED, ("tEpT", "OmO"))',
        'Operation(1, difference, "E", M, INDEXED, ("tEpT", "OmO"))',
    ),
    ("recursions", "    run.cycle(2, carried)", "    run.cycle(2, carried[1:])"),
    (
        "recursions",
        'turned_back, "tBM", V, TEMPORARY, ("Bet", "tMo")',
        'turned_back, "tBM", V, TEMPORARY, ("Bet", "Mo")',
    ),
    ("recursions", '(I, f"t{to}Z")', '(I, f"t{to}X")'),
    (
        "recursions",
        'Operation(c, behind, f"t{to}B", M, TEMPORARY, (f"t{to}T", r))',
        'Operation(c, behind, f"t{to}B", M, TEMPORARY, (tr, r))',
    ),
    ("recursions", "A[i, j] = A[j, i]\n    return A", "A[i, j] = -A[j, i]\n    return A"),
    ("source", "tables.SET[I - 1].U += 1", "tables.SET[I - 1].U = 1"),
    ("source", "for row in reversed(tables.SET):", "for row in tables.SET:"),
    ("source", 'enclosed = O in "*/"', 'enclosed = O in "*"'),
    ("source", "if not named and (element.C or element.N):", "if not named and element.C:"),
    ("stages", "rest if (i + j) % 2 == 0 else -rest", "rest"),
    ("stages", "for j in range(k + 1, i + 1):", "for j in range(k + 1, i):"),
    ("stages", "sides.append(-turning[0])", "sides.append(turning[0])"),
    ("stages", "turning = (end.E @ u).T @ v + both + both", "turning = (end.E @ u).T @ v + both"),
    ("stages", 'arm = place - run.operand("Po")', "arm = place"),
    ("stages", "G.T @ (u - H @ GG)", "G.T @ (u + H @ GG)"),
    ("stages", 'self.of_body("W") + self.E @ self.r', 'self.of_body("W") - self.E @ self.r'),
    ("stages", "reduced[i, j] = reduced[j, i]", "reduced[j, i] = reduced[i, j] = reduced[i, i]"),
]


def with_mutant(module, text, other):
    """Import the package under another name, with a text of one module replaced; return its stages."""
    for name in [name for name in sys.modules if name.startswith(MUTANT)]:
        del sys.modules[name]
    spec = spec_from_file_location(MUTANT, FOLDER / "__init__.py", submodule_search_locations=[str(FOLDER)])
    sys.modules[MUTANT] = module_from_spec(spec)
    path = FOLDER / f"{module}.py"
    source = path.read_text(encoding="utf-8")
    assert source.count(text) == 1, f"{module} has {text!r} {source.count(text)} times"
    spec = spec_from_file_location(f"{MUTANT}.{module}", path)
    sys.modules[spec.name] = changed = module_from_spec(spec)
    exec(compile(source.replace(text, other), str(path), "exec"), changed.__dict__)
    return importlib.import_module(f"{MUTANT}.stages")


FAILURES = (AssertionError, ArithmeticError, CodegenError, LookupError, NameError, SyntaxError)


def is_noticed(module):
    """Return whether numbers or counts of a mutant differ from what they must be."""
    try:
        assert_rules(module.Tables(module.Readings()))
        assert_names(module.Tables(module.Readings()))
        assert max(errors(module)) < 1e-10
        assert max(errors(module, module.Readings(composites=True))) < 1e-10
        arm = module.by_articulated_bodies(arms.SSRMS.model())
        assert counts_of_text(arm) == arm.operations == OperationCount(*COUNTS["SSRMS, accelerations"])
        assert undefined(module.inertia_and_forces(arms.SSRMS.model())) == set()
        assert loop_error(module, docking_platform()) < 1e-10
        result = module.with_closed_loops(docking_platform().model)
        assert result.operations == OperationCount(*COUNTS["docking, legs are bodies of revolution"])
    except FAILURES:
        return True
    return False


def test_nothing_is_noticed_without_an_error():
    assert not is_noticed(with_mutant("scalars", "UNIT = 1e-10 ", "UNIT = 1e-10  "))


@pytest.mark.parametrize(
    ("module", "text", "other"),
    [
        pytest.param(*mutant, id=f"{mutant[0]}, {mutant[2][:40]}", marks=[pytest.mark.slow] * (k % 4 > 0))
        for k, mutant in enumerate(MUTANTS)
    ],
)
def test_planted_errors_are_noticed(module, text, other):
    assert is_noticed(with_mutant(module, text, other))


def test_states_of_recursions_fill_as_in_figure_2():
    writer = stages.inertia_and_forces(arms.SSRMS.model()).writer
    assert tables.filled(writer.runs["b"]) == 1.0
    last = writer.runs["A"].SAS  # of the last column
    assert (last[:, :-1] == -1).all()
    assert (last[:, -1] >= 0).all()
    assert recursions.subtree(writer.system.BDT[0], 3) == [3, 4, 5, 6, 7]
