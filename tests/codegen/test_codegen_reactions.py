"""Compare generated programs of the forces in joints with the compiled recursions."""

import numpy as np
import pytest
from helpers.codegen_models import ARMS, KINDS, model, random_model, states
from hypothesis import given, settings
from hypothesis import strategies as st

import treefactor as tf
from treefactor.codegen import verify
from treefactor.codegen.choices import WHOLE
from treefactor.codegen.program import FUNCTIONS, REACTIONS

SAME = 1e-12  # relative to the largest force
ROBOTS = ("ur5", "panda9", "solo12", "talos32")


def assert_reactions(robot, seed=0, **options):
    """Assert that a program computes the forces in all joints and on the base."""
    q, v, a = states(robot, 9, seed)
    kernels = tf.compile(tf.generate(robot, REACTIONS, **options))
    scale = max(np.abs(function(robot, q, v, a)).max() for function in (tf.joint_forces, tf.base_force))
    for name in REACTIONS:
        own, expected = getattr(kernels, name)(q, v, a), getattr(tf, name)(robot, q, v, a)
        assert own.shape == expected.shape
        assert np.abs(own - expected).max() <= SAME * scale


@pytest.mark.parametrize("name", [*ROBOTS, *ARMS])
def test_programs_compute_what_the_recursions_do(name):
    assert_reactions(model(name))


@pytest.mark.parametrize("variant", WHOLE)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_joint_at_the_root_and_on_another(kind, variant):
    robot = random_model(np.random.default_rng(5), [kind, "revolute", kind, "revolute"], armature=0.3)
    assert_reactions(robot, variants=variant)


@settings(max_examples=25)
@given(kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=6), seed=st.integers(0, 2**32 - 1))
def test_any_tree_of_any_joints(kinds, seed):
    assert_reactions(random_model(np.random.default_rng(seed), kinds, 0.1), seed)


def test_joints_that_follow_others():
    kinds = ["revolute", "prismatic", "helical", "revolute", "continuous", "revolute"]
    assert_reactions(random_model(np.random.default_rng(0), kinds, 0.1, {1: 2, 3: 0}))


@pytest.mark.parametrize("name", ["ur5", "panda9"])
def test_every_intermediate_is_verified(name):
    verdicts = verify(model(name), REACTIONS)
    assert [(verdict.function, verdict.variant) for verdict in verdicts] == [
        (function, variant) for variant in WHOLE for function in REACTIONS
    ]
    assert [verdict for verdict in verdicts if verdict.first or not verdict.elements] == []


def test_variants_that_move_masses_are_refused():
    for name in REACTIONS:
        with pytest.raises(tf.CodegenError, match=rf"^{name} needs one of the variants plain, frames"):
            tf.generate(model("ur5"), name, variants=("regroup", "both"))


def test_they_are_generated_where_they_are_wanted():
    assert not set(REACTIONS) & {*FUNCTIONS, *tf.generate(model("ur5"), variants="plain").functions}


def test_a_program_in_a_file_and_in_c(tmp_path):
    robot = model("ur5")
    program = tf.generate(robot, ["joint_forces", "bias"], variants=("plain", "both"))
    program.save(tmp_path / "ur5.npz")
    read = tf.Program.load(tmp_path / "ur5.npz")
    assert read.joints == tuple(joint.name for joint in robot.joints)
    q, v, a = states(robot, 3)
    np.testing.assert_array_equal(
        tf.compile(read).joint_forces(q, v, a), tf.compile(program).joint_forces(q, v, a)
    )
    assert "force and moment in every joint" in program.c_source()


@pytest.mark.parametrize("backend", ["cc", "numpy"])
def test_other_ways_to_run_it(backend):
    robot = model("ur5")
    q, v, a = states(robot, 9)
    program = tf.generate(robot, "joint_forces", variants="plain")
    own = tf.compile(program, backend=backend).joint_forces(q, v, a)
    np.testing.assert_allclose(own, tf.joint_forces(robot, q, v, a), rtol=1e-9, atol=1e-11)
    out, (q, v, a) = np.empty((robot.njoints, 6)), (np.ascontiguousarray(x[0]) for x in (q, v, a))
    tf.compile(program, backend=backend).bind("joint_forces", q, v, a, out=out)()
    np.testing.assert_allclose(out, own[0], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", REACTIONS)
def test_external_forces_are_not_taken_for_the_result(name):
    robot = model("ur5")
    q, v, a = states(robot, 1)
    kernels = tf.compile(tf.generate(robot, name, variants="plain"))
    expected = getattr(tf, name)(robot, q, v, a)
    forces = np.ones_like(expected)
    with pytest.raises(TypeError, match="takes at most 3 arguments, got 4"):
        getattr(kernels, name)(q, v, a, forces)
    assert (forces == 1.0).all()
    assert getattr(kernels, name)(q, v, a, out=forces) is forces
    np.testing.assert_allclose(forces, expected, rtol=1e-9, atol=1e-11)
