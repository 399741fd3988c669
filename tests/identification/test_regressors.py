"""Compare regressors with Pinocchio, with rnea, and with each other."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.derivative_cases import FOLLOWERS, MODELS, random_case
from helpers.model_cases import in_pinocchio

import treefactor as tf
from treefactor.identification import center_of_mass_regressor, column_names, regressor_pattern
from treefactor.model.joints import SIZES

ROBOTS = {name: (name, False) for name in ("ur5_robot", "panda", "kinova", "tiago")}
ROBOTS |= {name: (name, True) for name in ("solo12", "anymal_b_simple/anymal", "talos_reduced")}
ROUNDING = 1e-14  # relative to the largest entry
SUMS = 1e-13  # of products with parameters, relative to the largest term
FAR = 1e6
COLUMNS = ("inertia", "armature", "viscous", "dry", "offset")

pytestmark = pytest.mark.isa


def robot(name):
    """Return Pinocchio's model of a robot, and ours."""
    pytest.importorskip("pinocchio")
    from treefactor.adapters import pinocchio_

    file, floating = ROBOTS[name]
    theirs = pinocchio_.load(tf.robots.find(file).path, floating)
    theirs.gravity.linear = np.array([1.3, -2.1, -9.0])
    return theirs, pinocchio_.model(theirs)


def parameters_of(model):
    """Return the ten parameters of every joint in one vector."""
    return model.parameters.ravel()


def without_armature(model):
    """Return the model without armature."""
    return tf.Model([replace(joint, armature=0.0) for joint in model.joints], model.gravity)


def assert_close(own, expected, scale=None, tolerance=ROUNDING):
    """Assert that the largest deviation is small against the largest entry, or against a scale."""
    assert own.shape == expected.shape
    scale = np.abs(expected).max(initial=1e-300) if scale is None else scale
    assert np.abs(own - expected).max(initial=0.0) <= tolerance * scale


def outside(model):
    """Return a mask of the entries that must be zero."""
    freedom, joint = regressor_pattern(model)
    mask = np.ones((model.nv, model.njoints, 10), bool)
    mask[freedom, joint] = False
    return mask.reshape(model.nv, -1)


def assert_sums(matrix, x, expected):
    """Assert matrix @ x = expected within rounding errors of the terms."""
    scale = (np.abs(matrix) @ np.abs(x)).max(initial=1e-300)
    assert_close(matrix @ x, expected, scale, SUMS)


@pytest.mark.parametrize("name", ROBOTS)
def test_regressors_of_robots_are_those_of_pinocchio(name):
    theirs, model = robot(name)
    assert_regressors_of_pinocchio(theirs, model)


@pytest.mark.parametrize("name", [name for name in MODELS if name not in FOLLOWERS])
def test_regressors_of_trees_are_those_of_pinocchio(name):
    pytest.importorskip("pinocchio")
    assert_regressors_of_pinocchio(in_pinocchio(MODELS[name]), MODELS[name])


def assert_regressors_of_pinocchio(theirs, model):
    """Compare all regressors at random states."""
    import pinocchio as pin

    data = theirs.createData()
    x = parameters_of(model)
    for seed in range(3):
        q, v, a, _, _ = random_case(model, seed)
        expected = np.array(pin.computeJointTorqueRegressor(theirs, data, q, v, a)).reshape(model.nv, -1)
        assert_close(tf.regressor(model, q, v, a), expected)
        own = tf.kinetic_energy_regressor(model, q, v)
        assert_close(own, np.array(pin.computeKineticEnergyRegressor(theirs, data, q, v)))
        own = tf.potential_energy_regressor(model, q)
        assert_close(own, np.array(pin.computePotentialEnergyRegressor(theirs, data, q)))
        assert_sums(tf.gravity_regressor(model, q), x, pin.computeGeneralizedGravity(theirs, data, q))
        four = center_of_mass_regressor(model, q).reshape(3, model.njoints, 10)
        static = np.array(pin.computeStaticRegressor(theirs, data, q)).reshape(3, model.njoints, 4)
        assert_close(four[:, :, :4], static)
        assert not four[:, :, 4:].any()


@pytest.mark.parametrize("name", MODELS)
def test_regressors_multiply_the_parameters(name):
    model = without_armature(MODELS[name])
    x = parameters_of(model)
    q, v, a, _, _ = random_case(model, 3)
    Y = tf.regressor(model, q, v, a)
    assert not Y[outside(model)].any()
    assert_sums(Y, x, tf.rnea(model, q, v, a))
    assert_sums(tf.gravity_regressor(model, q), x, tf.generalized_gravity(model, q))
    assert_close(tf.gravity_regressor(model, q), tf.regressor(model, q, 0 * v, 0 * v))
    assert not tf.gravity_regressor(model, q).reshape(model.nv, -1, 10)[:, :, 4:].any()
    assert_sums(tf.momentum_regressor(model, q, v), x, tf.h_times(model, q, v))
    energy = tf.kinetic_energy_regressor(model, q, v)
    assert_sums(energy[None], x, np.atleast_1d(tf.kinetic_energy(model, q, v)))
    energy = tf.potential_energy_regressor(model, q)
    assert_sums(energy[None], x, np.atleast_1d(tf.potential_energy(model, q)))
    assert_sums(center_of_mass_regressor(model, q), x, tf.center_of_mass(model, q))


@pytest.mark.parametrize("name", MODELS)
def test_columns_are_exact_differences_of_forces(name):
    """The forces are linear in the parameters: a step of 1 has no truncation error."""
    model = without_armature(MODELS[name])
    q, v, a, _, _ = random_case(model, 4)
    Y = tf.regressor(model, q, v, a)
    for k in range(Y.shape[1]):
        unit = np.zeros(Y.shape[1])
        unit[k] = 1.0
        tau = tf.rnea(with_parameters(model, unit), q, v, a)
        assert_close(tau, Y[:, k], np.abs(Y).max())


@pytest.mark.parametrize("name", MODELS)
def test_regressors_multiply_parameters_that_no_body_has(name):
    model = without_armature(MODELS[name])
    q, v, a, _, _ = random_case(model, 5, (9,))
    for seed in range(3):
        x = np.random.default_rng(seed).normal(size=10 * model.njoints)
        other = with_parameters(model, x)
        expected = tf.rnea(other, q, v, a)
        for Y, tau in zip(tf.regressor(other, q, v, a), expected, strict=True):
            assert_sums(Y, x, tau)
        x[::10] = np.abs(x[::10])  # masses
        other = with_parameters(model, x)
        assert_sums(center_of_mass_regressor(other, q[0]), x, tf.center_of_mass(other, q[0]))


def with_parameters(model, x):
    """Return the model with parameters in one vector, which need not be those of bodies."""
    return model.with_parameters(x.reshape(-1, 10), strict=False)


@pytest.mark.parametrize("name", FOLLOWERS)
def test_rows_of_followers_are_added_to_those_of_their_leaders(name):
    model = FOLLOWERS[name]
    G = model.coupling.G
    free = tf.Model([replace(joint, mimic=None) for joint in model.joints], model.gravity)
    q, v, a, _, _ = random_case(model, 5)
    q_free, k = np.zeros(free.nq), 0
    for joint, at in zip(model.joints, model.idx_q, strict=True):
        size = SIZES[joint.kind][0]
        own = q[at : at + size]
        if joint.mimic:
            angle = np.arctan2(q[at + 1], q[at]) if is_circle(model, joint) else q[at]
            own = [joint.mimic.ratio * angle + joint.mimic.offset]
        q_free[k : k + size] = own
        k += size
    for size in ((), (9,)):
        Y = tf.regressor(free, *(np.tile(x, (*size, 1)) if size else x for x in (q_free, G @ v, G @ a)))
        own = tf.regressor(model, *(np.tile(x, (*size, 1)) if size else x for x in (q, v, a)))
        assert_close(own, G.T @ Y, tolerance=1e-13)
        own = tf.regressor(model, q, np.tile(v, (*size, 1)), a, columns=["armature"])
        single = [j for j in range(model.njoints) if SIZES[model.joints[j].kind][1] == 1]
        assert own.shape == (*size, model.nv, len(single))
        armature = np.array([model.joints[j].armature[0] for j in single])
        light = tf.rnea(without_armature(model), q, v, a)
        others = without_armature_of(model, single)
        assert_sums(own.reshape(-1, len(single))[: model.nv], armature, tf.rnea(others, q, v, a) - light)


def is_circle(model, joint):
    """Return whether a joint follows a continuous one."""
    return model.joints[joint.mimic.leader].kind == "continuous"


def without_armature_of(model, kept):
    """Return the model with the armature of the joints in kept only."""
    pairs = enumerate(model.joints)
    return tf.Model([j if i in kept else replace(j, armature=0.0) for i, j in pairs], model.gravity)


@pytest.mark.parametrize("name", [*MODELS, "panda", "talos_reduced"])
def test_batches_have_the_bits_of_single_calls(name):
    """Whole blocks are written into rows, the last one through lanes; single calls have their own kernel."""
    model = MODELS[name] if name in MODELS else robot(name)[1]
    q, v, a, _, _ = random_case(model, 11, (19,))
    functions = [
        (tf.regressor, (q, v, a), {"layout": "packed"}),
        (tf.regressor, (q, v, a), {"columns": COLUMNS}),
        (tf.gravity_regressor, (q,), {}),
        (tf.momentum_regressor, (q, v), {}),
        (tf.kinetic_energy_regressor, (q, v), {}),
    ]
    for function, arguments, options in functions:
        batch = function(model, *arguments, **options)
        for row, state in zip(batch, zip(*arguments, strict=True), strict=True):
            assert row.tobytes() == function(model, *state, **options).tobytes()
        spoiled = [x.copy() for x in arguments]
        spoiled[0][9] = np.nan
        others = np.arange(19) != 9
        own = function(model, *spoiled, **options)
        assert own[others].tobytes() == batch[others].tobytes()
        assert np.isnan(own[9]).any()


@pytest.mark.parametrize("name", MODELS)
def test_layouts_hold_the_same_entries(name):
    model = MODELS[name]
    freedom, joint = regressor_pattern(model)
    for size in ((), (1,), (8,), (3, 5)):
        q, v, a, _, _ = random_case(model, 6, size)
        dense = tf.regressor(model, q, v, a)
        blocks = dense.reshape(*size, model.nv, model.njoints, 10)
        packed = tf.regressor(model, q, v, a, layout="packed")
        assert packed.shape == (*size, len(freedom), 10)
        scale = np.abs(dense).max(initial=1e-300)
        assert_close(packed, blocks[..., freedom, joint, :], scale)
        lanes = tf.regressor(model, q, v, a, layout="lanes")
        count = int(np.prod(size))
        assert lanes.shape == (-(-count // 8), 10 * len(freedom), 8)
        rows = lanes.transpose(0, 2, 1).reshape(-1, len(freedom), 10)[:count]
        assert_close(rows.reshape(packed.shape), packed, scale)
        assert not dense[..., outside(model)].any()


@pytest.mark.parametrize("name", MODELS)
def test_products_with_the_transposed_matrix(name):
    model = MODELS[name]
    for size in ((), (11,)):
        q, v, a, lam, _ = random_case(model, 7, size)
        for columns in (("inertia",), COLUMNS, ("dry", "offset")):
            Y = tf.regressor(model, q, v, a, columns=columns)
            own = tf.regressor_transpose_times(model, q, v, a, lam, columns)
            scale = (np.abs(Y) * np.abs(lam[..., None])).sum(-2).max(initial=1e-300)
            assert_close(own, (Y * lam[..., None]).sum(-2), scale, SUMS)


def test_columns_of_joints_have_one_entry():
    model = MODELS["all kinds"]
    q, v, a, _, _ = random_case(model, 8, (10,))
    v[3, 2], v[4, 1] = 0.0, -0.0
    names = column_names(model, COLUMNS)
    Y = tf.regressor(model, q, v, a, columns=COLUMNS[::-1])
    assert Y.shape == (10, model.nv, len(names))
    assert (Y[..., : 10 * model.njoints] == tf.regressor(model, q, v, a)).all()
    values = {"viscous friction": v, "dry friction": np.sign(v), "offset": np.ones_like(v), "armature": a}
    for k in range(10 * model.njoints, len(names)):
        title, freedom = names[k].split(" of ")
        row = model.tree.names.index(freedom)
        assert (Y[:, row, k] == values[title][:, row]).all()
        assert not np.delete(Y[..., k], row, axis=1).any()
    single = [joint.name for joint in model.joints if SIZES[joint.kind][1] == 1]
    assert [name for name in names if "armature" in name] == [f"armature of {name}" for name in single]
    one = tf.regressor(model, q[0], v[0], a[0], columns=COLUMNS)
    assert (one == Y[0]).all() or np.abs(one - Y[0]).max() < ROUNDING * np.abs(one).max()


def test_names_are_those_of_the_issue():
    model = tf.Model(
        [tf.Joint("arm", "revolute", axis=[0, 0, 1]), tf.Joint("ball", "spherical", parent="arm")]
    )
    names = column_names(model, COLUMNS)
    of_arm = "m of arm, h_x of arm, h_y of arm, h_z of arm, I_xx of arm, I_xy of arm, I_yy of arm"
    assert names[:10] == (*of_arm.split(", "), "I_xz of arm", "I_yz of arm", "I_zz of arm")
    assert names[10:20] == tuple(name.replace("arm", "ball") for name in names[:10])
    assert names[20:25] == (
        "armature of arm",
        *("viscous friction of arm", "viscous friction of ball[0]"),
        *("viscous friction of ball[1]", "viscous friction of ball[2]"),
    )
    assert names[-1] == "offset of ball[2]"
    assert len(names) == 20 + 1 + 3 * 4


@pytest.mark.parametrize("name", ["one", "nothing"])
def test_small_models_keep_their_axes(name):
    model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0])] if name == "one" else [])
    n, p = model.nv, 10 * model.njoints
    q, v = tf.neutral(model), np.ones(n)
    assert tf.regressor(model, q, v, v).shape == (n, p)
    assert tf.regressor(model, q, v, v, columns=COLUMNS).shape == (n, p + 4 * n)
    assert tf.regressor(model, q[None], v, v).shape == (1, n, p)
    assert tf.gravity_regressor(model, q).shape == tf.momentum_regressor(model, q, v).shape == (n, p)
    assert tf.kinetic_energy_regressor(model, q, v).shape == (p,)
    assert tf.regressor_transpose_times(model, q, v, v, v).shape == (p,)


@pytest.mark.parametrize("name", ["solo12", "talos_reduced"])
def test_a_robot_far_from_the_origin_loses_no_digits(name):
    _, model = robot(name)
    q, v, a, _, _ = random_case(model, 9)
    here = tf.regressor(model, q, v, a)
    q[:3] += FAR
    assert_close(tf.regressor(model, q, v, a), here)
    assert_close(tf.gravity_regressor(model, q), tf.regressor(model, q, 0 * v, 0 * v))


def test_wrong_options_are_named():
    model = MODELS["all kinds"]
    q, v, a, _, _ = random_case(model)
    with pytest.raises(ValueError, match=r"layout must be .*'lanes'"):
        tf.regressor(model, q, v, a, layout="sparse")
    with pytest.raises(ValueError, match=r"layout 'packed' has the columns \('inertia',\) only"):
        tf.regressor(model, q, v, a, layout="packed", columns=COLUMNS)
    for columns in ((), ("inertia", "inertia"), ("friction",), ["viscous", 3]):
        with pytest.raises(ValueError, match="columns must be one or more of inertia, armature"):
            tf.regressor(model, q, v, a, columns=columns)
    with pytest.raises(ValueError, match=r"columns must be a sequence of names, such as \('dry',\)"):
        column_names(model, "dry")
