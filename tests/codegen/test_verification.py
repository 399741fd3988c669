"""Check verification: intermediates equal those of matrix algorithms, and the first wrong one is named."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from helpers.codegen_models import ARMS, KINDS, ROBOTS, branched_loop, coupled_loops, model, random_model
from helpers.program_tables import tables
from helpers.sweeps import sweep

import treefactor as tf
from treefactor.cli import main
from treefactor.codegen import loop_functions, verify
from treefactor.codegen.algorithms import reduction
from treefactor.codegen.choices import VARIANTS
from treefactor.codegen.program import LOOP_FUNCTIONS, available
from treefactor.codegen.program.expressions import ADD, CONST, MUL, SUB
from treefactor.codegen.program.names import routine
from treefactor.codegen.verification import compare, verifiable
from treefactor.model.joints import LOOPS
from treefactor.model.mechanisms import MECHANISMS

CLOSED = 1e-11  # of loops, whose equations have condition numbers up to 1e3


def assert_verified(model):
    """Assert that all functions agree, in all variants and by all methods."""
    tips = [model.joints[-1].name, model.joints[0].name]
    functions = available(model, tips)
    verdicts = verify(model, functions, tips)
    methods = sum(
        len(routine(name).methods) - ("aba" in routine(name).methods and model.coupling is not None)
        for name in functions
    )
    assert len(verdicts) == methods * len(VARIANTS)
    assert [verdict for verdict in verdicts if verdict.first] == []
    assert all(verdict.elements and verdict.error <= 1e-12 for verdict in verdicts)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_joint_at_the_root_and_on_another(kind):
    kinds = [kind, "revolute", kind, "revolute", "prismatic"]
    assert_verified(random_model(np.random.default_rng(5), kinds, armature=0.3))


@pytest.mark.parametrize("name", ["dpend", "ur5", "ssrms7", pytest.param("panda9", marks=pytest.mark.slow)])
def test_robots_and_arms(name):
    assert_verified(model(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ROBOTS, *ARMS])
def test_all_robots_and_arms(name):
    assert_verified(model(name))


def test_joints_that_follow_others():
    kinds = ["revolute", "prismatic", "helical", "revolute", "continuous", "revolute"]
    assert_verified(random_model(np.random.default_rng(0), kinds, 0.1, {1: 2, 3: 0}))


def assert_loops_verified(model, variants=tuple(VARIANTS)):
    """Assert that all functions that close loops agree, by all methods."""
    verdicts = verify(model, LOOP_FUNCTIONS, variants=variants, tolerance=CLOSED)
    methods = sum(len(routine(name).methods) for name in LOOP_FUNCTIONS)
    assert len(verdicts) == methods * len(variants)
    assert [verdict for verdict in verdicts if verdict.first] == []
    assert all(verdict.elements and verdict.error <= CLOSED for verdict in verdicts)


@pytest.mark.parametrize("name", sweep(MECHANISMS, lambda name: name != "docking", MECHANISMS))
def test_mechanisms(name):
    variants = tuple(VARIANTS) if name.endswith("bar") else ("both",)
    assert_loops_verified(MECHANISMS[name]().model, variants=variants)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stewart", "docking"])
def test_platforms_in_all_variants(name):
    assert_loops_verified(MECHANISMS[name]().model)


@pytest.mark.parametrize(
    ("kind", "second"),
    sweep(itertools.product(LOOPS, (-1, 0)), lambda loop: loop[1] == -(loop[0] in ("revolute", "spherical"))),
)
def test_loops_of_all_kinds_in_general_position(kind, second):
    assert_loops_verified(branched_loop(kind, second)[0], variants=("both",))


def test_joints_of_all_kinds_and_followers_in_coupled_loops():
    assert_loops_verified(coupled_loops()[0], variants=("plain",))


def test_a_model_without_joints():
    assert [verdict.elements for verdict in verify(tf.Model([]), "rnea")] == [0] * len(VARIANTS)


def test_elements_have_the_names_of_their_matrices():
    robot, names_of = model("ur5"), {}
    tips = [robot.joints[-1].name]
    for one in verifiable(robot, available(robot, tips), tips, "plain"):
        assert len(set(one.names)) == len(one.names) == one.function.output.size
        assert (np.diff(one.function.output) >= 0).all()
        names_of[one.function.variant, one.function.name] = {name.split("[")[0] for name in one.names}
    motion, articulated = {"cs", "w", "dw", "a", "rate", "f", "F", "tau"}, {"M", "C", "I", "U", "D", "step"}
    assert names_of["plain", "rnea"] == motion | {"rnea"}
    assert names_of["plain", "crba"] == {"cs", "Kc", "hc", "Izz", "H", "crba"}
    assert names_of["plain", "aba"] == (motion - {"F", "tau"}) | articulated | {"pA", "u", "dV", "aba"}
    assert {"H", "L", "1/D", "y", "forward_dynamics"} < names_of["plain, factor", "forward_dynamics"]
    assert {"L", "1/D", "P", "minv"} < names_of["plain, aba", "minv"]
    assert {"E", "tip", "Y", "delassus"} < names_of["plain, aba", "delassus"]


def test_matrices_of_the_reduction_have_names():
    model, matrices = MECHANISMS["docking"]().model, {}
    for one in verifiable(model, LOOP_FUNCTIONS, variants="plain"):
        assert len(set(one.names)) == len(one.names) == one.function.output.size
        matrices[one.function.variant, one.function.name] = {name.split("]")[0] + "]" for name in one.names}
    names = matrices["plain, second", "loops"]
    groups = {f"{matrix}[{group}]" for matrix in ("M", "force") for group in ("head0", "head5", "hub 0")}
    groups |= {"K[head5]", "J[hub 0]", "g[head5]"}
    assert groups | {"H_x[5]", "u_x[5]", "L_x[5]", "1/D_x[5]", "y_x[5]", "v[9]", "tau[all]"} <= names
    assert {"Jd[head5]", "K[head5]", "gap[head5]"} <= matrices["plain, own", "loop_step"]


def test_tables_name_their_elements():
    (one,) = verifiable(model("ur5"), "crba", variants="plain")
    elements = tables(one.function, one.names).split("MET")[1].splitlines()[1:]
    assert [line.split("  ")[-1] for line in elements] == list(one.names)


@pytest.fixture(scope="module", params=["rnea", "loops"])
def right(request):
    loops = request.param == "loops"
    one = next(
        verifiable(MECHANISMS["five-bar"]().model if loops else model("ur5"), request.param, (), "both")
    )
    assert compare(one).first is None
    return one


@pytest.mark.parametrize("seed", range(20))
def test_a_wrong_row_is_found_at_the_first_element_it_spoils(right, seed):
    """Change one statement and check that the first affected element is named."""
    function, rng = right.function, np.random.default_rng(seed)
    kind = (CONST, ADD, SUB)[seed % 3]
    row = int(rng.choice(np.flatnonzero((function.op == kind) & ((kind != CONST) | (function.value != 0)))))
    op, value = function.op.copy(), function.value.copy()
    op[row] = {ADD: SUB, SUB: ADD}.get(kind, kind)
    value[row] *= 1.001
    wrong = replace(right, function=replace(function, op=op, value=value))
    assert compare(wrong).first == first_spoiled(function, right.names, row)


REDUCTION = {  # a part of it, and the first matrix that it spoils
    "inverse": "K[tip]",
    "Reduction._rows": "J[tip]",
    "Closure.accelerations": "g[tip]",
    "Group.inertia": "M[tip]",
    "Group.seen": "N[tip]",
    "factor": "L_x[1]",
    "half_solve": "y_x[0]",
}


def larger(x):
    """Return scalars times 1.5, in lists of any depth."""
    return [larger(part) for part in x] if isinstance(x, (list, tuple)) else x * 1.5


@pytest.mark.parametrize("part", REDUCTION)
def test_an_error_in_the_reduction_is_named(part, monkeypatch):
    model = MECHANISMS["five-bar"]().model
    where = {"inverse": reduction, "factor": loop_functions, "half_solve": loop_functions}.get(part)
    name = part.split(".")[-1]
    where = where or getattr(reduction, part.split(".")[0])
    right = getattr(where, name)
    with monkeypatch.context() as patch:
        patch.setattr(where, name, lambda *arguments, **options: larger(right(*arguments, **options)))
        wrong = next(verifiable(model, "loops", variants="plain"))
    assert compare(wrong).first.startswith(REDUCTION[part])


def first_spoiled(function, names, row):
    """Return the first element that depends on a statement."""
    spoiled = np.zeros(function.rows, bool)
    spoiled[row] = True
    for k in range(max(row + 1, function.first), function.rows):
        spoiled[k] = spoiled[function.a[k]] or (function.op[k] <= MUL and spoiled[function.b[k]])
    return next(name for name, k in zip(names, function.output, strict=True) if spoiled[k])


def test_the_command_prints_and_reports(tmp_path, capsys, monkeypatch):
    path = tmp_path / "arm.urdf"
    path.write_text(
        "<robot name='arm'><link name='base'/><link name='l'><inertial><mass value='2'/>"
        "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
        "<joint name='hinge' type='revolute'><parent link='base'/><child link='l'/><axis xyz='0 1 0'/>"
        "<limit lower='-1' upper='1' effort='1' velocity='1'/></joint></robot>"
    )
    command = ["generate", str(path), "-o", str(tmp_path / "out"), "--tips", "hinge", "--verify"]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "delassus" in printed
    assert "first that differs" in printed
    assert "in the axes of the joints hinge" in (tmp_path / "out" / "jacobian.c").read_text()
    wrong = tf.codegen.Verdict("rnea", "plain", 1, 0.5, "w[0][2]", "w[0][2]")
    monkeypatch.setattr("treefactor.codegen.verify", lambda *_, **options: [wrong])
    assert main(command) == 1
    assert "w[0][2]" in capsys.readouterr().out
