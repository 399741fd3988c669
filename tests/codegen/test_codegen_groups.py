"""Check groups: functions generated together share one computation and return the same as alone."""

from math import prod

import numpy as np
import pytest
from helpers.codegen_models import model, states
from helpers.frame_cases import FRAMES

import treefactor as tf
from treefactor.codegen.program.names import KINEMATICS, name_of

ONES = {  # groups by name; {} is the frame
    "pose and Jacobian": ("frame_placement:{}", "frame_jacobian:{}"),
    "aligned": ("frame_placement:{}", "frame_velocity:{}:WORLD", "frame_jacobian:{}:LOCAL_WORLD_ALIGNED"),
    "derivatives": ("frame_jacobian:{}", "frame_jacobian_dot:{}", "frame_velocity:{}"),
    "whole": tuple(KINEMATICS),
    "controller": ("crba", "bias", "frame_jacobian:{}", "center_of_mass"),
    "solved": ("forward_dynamics", "kinetic_energy", "minv"),
}


COUNTS = {  # operations of ur5, panda, solo12, talos
    "frame_placement:{}": (124, 136, 113, 182),
    "frame_velocity:{}": (88, 94, 64, 114),
    "frame_velocity:{}:WORLD": (126, 153, 149, 226),
    "frame_velocity:{}:LOCAL_WORLD_ALIGNED": (104, 131, 119, 196),
    "frame_acceleration:{}": (185, 208, 134, 259),
    "frame_acceleration:{}:WORLD": (266, 323, 288, 459),
    "frame_acceleration:{}:LOCAL_WORLD_ALIGNED": (244, 301, 258, 429),
    "frame_jacobian:{}": (139, 152, 64, 178),
    "frame_jacobian:{}:WORLD": (109, 152, 129, 228),
    "frame_jacobian:{}:LOCAL_WORLD_ALIGNED": (119, 153, 142, 239),
    "frame_jacobian_dot:{}": (314, 353, 166, 415),
    "frame_jacobian_dot:{}:WORLD": (270, 369, 393, 618),
    "frame_jacobian_dot:{}:LOCAL_WORLD_ALIGNED": (253, 353, 358, 581),
    "joint_placements": (114, 173, 362, 861),
    "center_of_mass": (35, 76, 135, 351),
    "center_of_mass_velocity": (58, 135, 247, 660),
    "center_of_mass_acceleration": (107, 246, 453, 1220),
    "center_of_mass_jacobian": (86, 227, 423, 1208),
    "centroidal_map": (287, 592, 1078, 3070),
    "centroidal_map_dot": (664, 1321, 2499, 6922),
    "centroidal_momentum": (210, 492, 777, 2474),
    "centroidal_momentum_rate": (341, 760, 1234, 3874),
    "kinetic_energy": (133, 328, 556, 1870),
    "potential_energy": (24, 59, 113, 329),
    "generalized_gravity": (36, 99, 203, 596),
}


def of(robot_name, group):
    """Return the robot and the parts of a group."""
    return model(robot_name), tuple(name.format(FRAMES[robot_name]) for name in ONES[group])


def counted(count):
    """Return multiplications, additions, divisions, sines and cosines."""
    return count.mul, count.add, count.div, count.trig


def taken(kernels, name, q, v, a):
    """Return the arguments of a function."""
    given = {"q": q, "v": v, "a": a, "tau": a}
    return [given[x] for x, _ in kernels.program.functions[name_of(name)].inputs]


@pytest.mark.parametrize("group", ONES)
@pytest.mark.parametrize("robot_name", ["panda9", "solo12"])
def test_a_group_costs_less_and_returns_the_same(robot_name, group):
    robot, parts = of(robot_name, group)
    program = tf.generate(robot, [parts, *parts])
    counts = program.operations
    together = counts[name_of(parts)].total
    alone = [counts[name_of(name)].total for name in parts]
    assert max(alone) < together < sum(alone)
    kernels, state = tf.compile(program), states(robot, 9)
    results = kernels.call(parts, *taken(kernels, parts, *state))
    assert len(results) == len(parts)
    for name, own in zip(parts, results, strict=True):
        layout = {"layout": "packed"} if name == "crba" else {}
        expected = kernels.call(name, *taken(kernels, name, *state), **layout)
        assert own.shape == expected.shape
        assert np.abs(own - expected).max() <= 1e-11 * max(1.0, np.abs(expected).max())


def test_exact_counts():
    """The pose comes with the Jacobian for what the position and the base add."""
    robot = model("panda9")
    pose, J = (f"frame_{kind}:panda_hand_tcp" for kind in ("placement", "jacobian"))
    counts = tf.generate(robot, [pose, J, (pose, J)]).operations
    assert [counted(counts[name]) for name in (pose, J, name_of((pose, J)))] == [
        (77, 45, 0, 14),
        (94, 46, 0, 12),
        (112, 56, 0, 14),
    ]


@pytest.mark.parametrize("place", range(len(FRAMES)))
def test_counts_of_single_functions(place):
    robot_name, frame = list(FRAMES.items())[place]
    expected = {name.format(frame): counts[place] for name, counts in COUNTS.items()}
    operations = tf.generate(model(robot_name), list(expected)).operations
    assert {name: count.total for name, count in operations.items()} == expected


def test_single_batch_out_threads_and_bound():
    robot, parts = of("solo12", "aligned")
    kernels = tf.compile(tf.generate(robot, [parts], variants="plain"))
    q, v, _ = states(robot, 70)
    both = kernels.call(parts, q, v)
    shapes = [(3, 4), (6,), (6, 18)]
    assert [x.shape for x in both] == [(70, *shape) for shape in shapes]
    for k in (0, 69):
        for x, y in zip(kernels.call(parts, q[k], v[k]), both, strict=True):
            np.testing.assert_allclose(x, y[k], rtol=0, atol=1e-13)
    out = np.empty((70, sum(map(prod, shapes))))
    for x, y in zip(kernels.call(parts, q, v, out=out, num_threads=2), both, strict=True):
        assert np.shares_memory(x, out)
        np.testing.assert_array_equal(x, y)
    one, arguments = np.empty(out.shape[1]), [np.ascontiguousarray(x[0]) for x in (q, v)]
    kernels.bind(parts, *arguments, out=one)()
    np.testing.assert_allclose(one, out[0], rtol=0, atol=1e-13)
    with pytest.raises(tf.ShapeError, match="out must have shape"):
        kernels.call(parts, q, v, out=np.empty((70, 3)))


@pytest.mark.parametrize("size", [None, 1, 70])
def test_parts_fill_arrays_of_their_own(size):
    robot, parts = model("panda9"), ("frame_jacobian:panda_hand_tcp", "kinetic_energy", "bias")
    kernels = tf.compile(tf.generate(robot, [parts], variants="plain"))
    q, v, _ = states(robot, size or 1)
    q, v = (q, v) if size else (q[0], v[0])
    expected = kernels.call(parts, q, v)
    out = tuple(np.empty((*np.shape(x), 2))[..., 0] for x in expected)
    for threads in (1, 2):
        for to in out:
            to[...] = np.nan
        assert kernels.call(parts, q, v, out=out, num_threads=threads) is out
        for own, wanted in zip(out, expected, strict=True):
            np.testing.assert_array_equal(own, wanted)
    for wrong, why in (
        (out[:2], "a tuple of 3 arrays, got a tuple of 2"),
        ((*out[:2], q[..., :3]), "must have shape"),
    ):
        with pytest.raises(tf.ShapeError, match=why):
            kernels.call(parts, q, v, out=wrong)
    alone = tf.compile(tf.generate(robot, ["bias"], variants="plain"))
    with pytest.raises(tf.ShapeError, match="out must be one array, got a tuple of 1"):
        alone.call("bias", q, v, out=(out[2],))


@pytest.mark.parametrize("name", ["kinetic_energy", "joint_placements", "frame_jacobian:FL_FOOT:packed"])
def test_results_of_no_one_and_three_axes(name):
    """All shapes take the fast path, the general path, strided outputs, threads and NaN rows."""
    robot = model("solo12")
    kernels = tf.compile(robot, [name])
    q, v, _ = states(robot, 40)
    given = taken(kernels, name, q, v, v)
    expected = kernels.call(name, *given)
    shape = expected.shape[1:]
    assert shape == kernels.program.functions[name].shape
    first = [np.ascontiguousarray(x[0]) for x in given]
    single = kernels.call(name, *first)
    assert isinstance(single, float) if not shape else single.shape == shape
    np.testing.assert_allclose(single, expected[0], rtol=0, atol=1e-13)
    np.testing.assert_allclose(kernels.call(name, *map(list, first)), expected[0], rtol=0, atol=1e-13)
    np.testing.assert_array_equal(kernels.call(name, *given, num_threads=2), expected)
    wide = np.full((80, *shape), 7.0)
    assert kernels.call(name, *given, out=wide[::2]).base is wide
    np.testing.assert_array_equal(wide[::2], expected)
    assert (wide[1::2] == 7.0).all()
    turned = np.empty((*shape[::-1], 40)).T
    np.testing.assert_array_equal(kernels.call(name, *given, out=turned), expected)
    deep = kernels.call(name, *(x.reshape(2, 4, 5, -1) for x in given))
    np.testing.assert_array_equal(deep.reshape(expected.shape), expected)
    spoiled = given[0].copy()
    spoiled[7, 0] = np.nan
    result = kernels.call(name, spoiled, *given[1:])
    assert np.isnan(result[7]).all()
    np.testing.assert_array_equal(np.delete(result, 7, 0), np.delete(expected, 7, 0))
    out = np.empty(shape)
    kernels.bind(name, *first, out=out)()
    np.testing.assert_allclose(out, expected[0], rtol=0, atol=1e-13)
    with pytest.raises(tf.ShapeError, match="out must have shape"):
        kernels.bind(name, *first, out=np.empty((*shape, 2)))


@pytest.mark.parametrize("form", [tuple, list, name_of])
def test_a_single_call_in_all_forms(form):
    """Scalars are numbers; lists, tuples and joined names mean the same; H is packed."""
    robot = model("solo12")
    parts = ("crba", "kinetic_energy", "joint_placements")
    kernels = tf.compile(robot, [parts])
    q, v, _ = (x[0] for x in states(robot, 1))
    for arguments in ((q, v), (q[::-1][::-1], list(v)), (np.ascontiguousarray(q), np.ascontiguousarray(v))):
        H, energy, placements = kernels.call(form(parts), *arguments)
        assert H.shape == (robot.tree.nnz,)
        assert isinstance(energy, float)
        assert energy == pytest.approx(v @ tf.crba(robot, q) @ v / 2)
        assert placements.shape == (12 + 1, 3, 4)
    with pytest.raises(tf.ConfigurationError, match=r"length 1\.1"):
        kernels.call(form(parts), 1.1 * q, v)
    with pytest.raises(tf.CodegenError, match="was not generated"):
        kernels.call([*parts, "bias"], q, v)


def test_a_group_that_solves_marks_only_its_rows():
    robot = model("ur5")
    kernels = tf.compile(tf.generate(robot, [("forward_dynamics", "kinetic_energy")], variants="plain"))
    q, v, tau = states(robot, 9)
    q[3, 0] = np.inf
    a, energy = kernels.call("forward_dynamics + kinetic_energy", q, v, tau)
    assert np.isnan(a[3]).all()
    assert np.isnan(energy[3])
    assert np.isfinite(np.delete(a, 3, 0)).all()
