"""The verification variant: all named intermediates are those of matrix algorithms, and errors are named."""

from dataclasses import replace

import numpy as np
import pytest
from codegen_models import ARMS, KINDS, ROBOTS, model, random_model

import treefactor as tf
from treefactor.cli import main
from treefactor.codegen import verify
from treefactor.codegen.dump import dump
from treefactor.codegen.expressions import ADD, CONST, MUL, SUB
from treefactor.codegen.program import ARGUMENTS, available
from treefactor.codegen.verification import compare, verifiable
from treefactor.codegen.writer import METHODS, VARIANTS


def assert_verified(model):
    """All functions in all variants by all methods."""
    tips = [model.joints[-1].name, model.joints[0].name]
    functions = available(model, tips)
    verdicts = verify(model, functions, tips)
    methods = sum(
        len(METHODS.get(name, "1")) - (name in METHODS and model.coupling is not None) for name in functions
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


def test_a_model_without_joints():
    assert [verdict.elements for verdict in verify(tf.Model([]), "rnea")] == [0] * len(VARIANTS)


def test_elements_have_the_names_of_their_matrices():
    robot, found = model("ur5"), {}
    for one in verifiable(robot, tuple(ARGUMENTS), [robot.joints[-1].name], "plain"):
        assert len(set(one.names)) == len(one.names) == one.function.output.size
        assert (np.diff(one.function.output) >= 0).all()
        found[one.function.variant, one.function.name] = {name.split("[")[0] for name in one.names}
    motion, articulated = {"cs", "w", "dw", "a", "rate", "f", "F", "tau"}, {"M", "C", "I", "U", "D", "step"}
    assert found["plain", "rnea"] == motion | {"rnea"}
    assert found["plain", "crba"] == {"cs", "Kc", "hc", "Izz", "H", "crba"}
    assert found["plain", "aba"] == (motion - {"F", "tau"}) | articulated | {"pA", "u", "dV", "aba"}
    assert {"H", "L", "1/D", "y", "forward_dynamics"} < found["plain, factor", "forward_dynamics"]
    assert {"L", "1/D", "P", "minv"} < found["plain, aba", "minv"]
    assert {"E", "tip", "Y", "delassus"} < found["plain, aba", "delassus"]


def test_tables_name_their_elements():
    (one,) = verifiable(model("ur5"), "crba", variants="plain")
    elements = dump(one.function, one.names).split("MET")[1].splitlines()[1:]
    assert [line.split("  ")[-1] for line in elements] == list(one.names)


@pytest.fixture(scope="module")
def rnea():
    (one,) = verifiable(model("ur5"), "rnea", variants="both")
    assert compare(one).first is None
    return one


@pytest.mark.parametrize("seed", range(20))
def test_a_wrong_row_is_found_at_the_first_element_it_spoils(rnea, seed):
    """A sum becomes a difference, a number another one: the first element at or after that row is named."""
    function, rng = rnea.function, np.random.default_rng(seed)
    kind = (CONST, ADD, SUB)[seed % 3]
    row = int(rng.choice(np.flatnonzero((function.op == kind) & ((kind != CONST) | (function.value != 0)))))
    op, value = function.op.copy(), function.value.copy()
    op[row] = {ADD: SUB, SUB: ADD}.get(kind, kind)
    value[row] *= 1.001
    wrong = replace(rnea, function=replace(function, op=op, value=value))
    assert compare(wrong).first == first_spoiled(function, rnea.names, row)


def first_spoiled(function, names, row):
    """The first element that a row has an effect on, by the operands of rows."""
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
    monkeypatch.setattr("treefactor.codegen.verify", lambda *_: [wrong])
    assert main(command) == 1
    assert "w[0][2]" in capsys.readouterr().out
