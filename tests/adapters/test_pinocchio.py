"""Test the Pinocchio adapter against Pinocchio's own algorithms, on every robot of example-robot-data."""

import numpy as np
import pytest

import treefactor as tf
from treefactor import robots, tolerances

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")

from treefactor.adapters import pinocchio_  # noqa: E402
from treefactor.adapters.pinocchio_ import Accelerator, cholesky  # noqa: E402

FAST = [
    ("double_pendulum_continuous", False),
    ("panda", False),
    ("allegro_left_hand", False),
    ("solo12", True),
    ("talos_reduced", True),
]
ALL = [
    (name, floating)
    for name in robots.bundled()
    if not name.startswith("pybullet_data/")
    for floating in (False, True)
]


class Setup:
    """Model, data and a random state, H by CRBA in data.M."""

    def __init__(self, model, seed=0):
        rng = np.random.default_rng(seed)
        self.model, self.data = model, model.createData()
        self.q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
        self.v, self.tau = rng.normal(size=(2, model.nv))
        self.rhs = rng.normal(size=(model.nv, 4))
        self.H = pinocchio_.mass_matrix(model, self.data, self.q)


def load(name, floating):
    return pinocchio_.load(robots.find(name).path, floating)


@pytest.fixture(params=FAST, ids=lambda case: f"{case[0]}-{'floating' if case[1] else 'fixed'}")
def robot(request):
    return Setup(load(*request.param))


def relative(value, reference):
    return np.abs(value - reference).max() / np.abs(reference).max()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "floating"), ALL)
def test_every_robot_agrees_with_rnea_aba_and_pinocchios_factor(name, floating):
    try:
        model = load(name, floating)
    except tf.AdapterError as error:
        pytest.skip(f"Pinocchio cannot load it: {error}")
    if model.nv == 0:
        assert pinocchio_.tree(model).n == 0
        return
    s = Setup(model)
    if pinocchio_.massless_joints(model):
        with pytest.raises(tf.NotPositiveDefiniteError):
            Accelerator(model, s.data).factor()
        return
    check_against_pinocchio(s)


def test_agrees_with_rnea_aba_and_pinocchios_factor(robot):
    check_against_pinocchio(robot)


def check_against_pinocchio(s):
    model, data = s.model, s.data
    tree = pinocchio_.tree(model)
    assert list(tree.parent) == list(data.parents_fromRow)[: model.nv]
    assert not s.H[~tree.mask()].any()
    zero = np.zeros(model.nv)
    still = pin.rnea(model, data, s.q, zero, zero)
    columns = [pin.rnea(model, data, s.q, zero, e) - still for e in np.eye(model.nv)]
    assert relative(np.transpose(columns), s.H) < 1e-13

    accelerator = Accelerator(model, data)
    bias = pin.nle(model, data, s.q, s.v)
    expected = pin.aba(model, data, s.q, s.v, s.tau)
    allowed = max(1e-12, tolerances.QDD_PER_CONDITION * np.linalg.cond(s.H))
    assert relative(accelerator.factor().solve(s.tau - bias), expected) < allowed

    other = model.createData()
    pin.crba(model, other, s.q)
    pin.cholesky.decompose(model, other)
    f = tf.factor(s.H, tree)
    assert relative(f.L().T, other.U) < allowed
    assert relative(f.D(), other.D) < allowed


def test_accelerator_reads_data_M_anew_and_leaves_U_and_D_alone(robot):
    model, data = robot.model, robot.data
    accelerator = Accelerator(model, data).factor()
    before = data.U.copy(), data.D.copy()
    first = accelerator.solve(robot.tau)
    H = pinocchio_.mass_matrix(model, data, pin.neutral(model))
    second = accelerator.factor().solve(robot.tau)
    np.testing.assert_allclose(H @ second, robot.tau, atol=1e-6)
    assert not np.allclose(first, second)
    np.testing.assert_array_equal(before[0], data.U)
    np.testing.assert_array_equal(before[1], data.D)


def test_accelerator_reads_the_upper_triangle_only(robot):
    expected = Accelerator(robot.model, robot.data).factor().solve(robot.tau)
    robot.data.M[np.tril_indices(robot.model.nv, -1)] = np.nan
    np.testing.assert_array_equal(Accelerator(robot.model, robot.data).factor().solve(robot.tau), expected)


def test_accelerator_keeps_its_data_alive():
    model = pin.buildSampleModelHumanoid()
    accelerator = Accelerator(model, model.createData())
    assert accelerator._data.M.ctypes.data == accelerator._source.ctypes.data


def test_accelerator_refuses_to_solve_before_and_after_a_failure():
    model = pin.buildSampleModelHumanoid()
    data = model.createData()
    accelerator = Accelerator(model, data)
    with pytest.raises(tf.TreefactorError, match="factor"):
        accelerator.solve(np.zeros(model.nv))
    with pytest.raises(tf.NotPositiveDefiniteError) as caught:  # data.M is zero before crba
        accelerator.factor()
    assert caught.value.row == model.nv - 1
    assert caught.value.name == model.names[-1]
    with pytest.raises(tf.NotPositiveDefiniteError):
        accelerator.solve(np.zeros(model.nv))


def test_drop_in_leaves_what_pinocchio_leaves(robot):
    model, data = robot.model, robot.data
    other = model.createData()
    pin.crba(model, other, robot.q)
    U = pin.cholesky.decompose(model, other)
    np.testing.assert_allclose(cholesky.decompose(model, data), U, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(data.U, other.U, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(data.D, other.D, rtol=1e-11)
    # Pinocchio's own solver reads data.Dinv, which its Python does not show
    np.testing.assert_allclose(
        pin.cholesky.solve(model, data, robot.tau), pin.cholesky.solve(model, other, robot.tau), rtol=1e-7
    )
    np.testing.assert_allclose(
        cholesky.computeMinv(model, data), pin.cholesky.computeMinv(model, other), rtol=1e-6, atol=1e-9
    )
    np.testing.assert_allclose(data.Minv, other.Minv, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("columns", [None, 4])
def test_drop_in_products_and_solves(robot, columns):
    model, data = robot.model, robot.data
    x = robot.tau if columns is None else robot.rhs
    U = cholesky.decompose(model, data)
    allowed = 1e-14 * model.nv * np.linalg.cond(robot.H)
    assert relative(cholesky.Mv(model, data, x), robot.H @ x) < 1e-13
    assert relative(cholesky.Uv(model, data, x), U @ x) < 1e-13
    assert relative(cholesky.Utv(model, data, x), U.T @ x) < 1e-13
    assert relative(cholesky.Uiv(model, data, x), np.linalg.solve(U, x)) < allowed
    assert relative(cholesky.Utiv(model, data, x), np.linalg.solve(U.T, x)) < allowed
    assert relative(cholesky.solve(model, data, x), np.linalg.solve(robot.H, x)) < allowed


def test_drop_in_names_the_joint_and_leaves_data_alone():
    model = pin.buildSampleModelHumanoid()
    data = model.createData()
    pin.crba(model, data, pin.neutral(model))
    cholesky.decompose(model, data)
    before = data.U.copy(), data.D.copy()
    data.M[3, 3] = -1.0
    with pytest.raises(tf.NotPositiveDefiniteError, match=model.names[1]) as caught:
        cholesky.decompose(model, data)
    assert caught.value.row == 3
    np.testing.assert_array_equal(before[0], data.U)
    np.testing.assert_array_equal(before[1], data.D)


def test_drop_in_refuses_to_solve_before_it_has_a_factor():
    model = pin.buildSampleModelHumanoid()
    with pytest.raises(tf.NotPositiveDefiniteError, match=r"call decompose\(model, data\) first"):
        cholesky.solve(model, model.createData(), np.zeros(model.nv))


def test_drop_in_follows_a_model_that_grows():
    model = pin.buildSampleModelManipulator()
    data = model.createData()
    pin.crba(model, data, pin.neutral(model))
    cholesky.decompose(model, data)
    joint = model.addJoint(model.njoints - 1, pin.JointModelRX(), pin.SE3.Identity(), "added")
    model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    data = model.createData()
    H = pinocchio_.mass_matrix(model, data, pin.neutral(model))
    U = cholesky.decompose(model, data)
    assert relative(U @ np.diag(data.D) @ U.T, H) < 1e-13


MULTI = {
    "free-flyer": pin.JointModelFreeFlyer,
    "spherical": pin.JointModelSpherical,
    "planar": pin.JointModelPlanar,
    "universal": lambda: pin.JointModelUniversal(np.array([1.0, 0, 0]), np.array([0, 1.0, 0])),
    "translation": pin.JointModelTranslation,
    "continuous": pin.JointModelRUBX,
}


@pytest.mark.parametrize("kind", MULTI)
def test_joints_with_several_freedoms(kind):
    model = pin.Model()
    middle = model.addJoint(0, MULTI[kind](), pin.SE3.Random(), "middle")
    left = model.addJoint(middle, pin.JointModelRX(), pin.SE3.Random(), "left")
    right = model.addJoint(middle, MULTI[kind](), pin.SE3.Random(), "right")
    for joint in (middle, left, right):
        model.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Random())
    check_against_pinocchio(Setup(model))
    nv = model.nvs[middle]
    names = [f"middle[{d}]" for d in range(nv)] if nv > 1 else ["middle"]
    assert list(pinocchio_.tree(model).names[:nv]) == names


def test_armature_is_part_of_H_and_of_the_acceleration():
    model = load("panda", False)
    model.armature = np.linspace(0.1, 1.0, model.nv)
    check_against_pinocchio(Setup(model))


@pytest.mark.parametrize("name", ["panda", "baxter", "pr2", "tiago_pro"])
def test_mimic_models_where_pinocchio_has_no_forward_dynamics(name):
    free = load(name, False)
    model = pinocchio_.load(robots.find(name).path, mimic=True)
    assert len(model.mimicking_joints)
    assert model.nv < free.nv
    s = Setup(model)
    tree = pinocchio_.tree(model)
    assert not s.H[~tree.mask()].any()
    with pytest.raises(RuntimeError, match="Mimic"):
        pin.aba(model, s.data, s.q, s.v, s.tau)
    a = Accelerator(model, s.data).factor().solve(s.tau - pin.nle(model, s.data, s.q, s.v))
    back = pin.rnea(model, s.data, s.q, s.v, a)
    assert relative(back, s.tau) < 1e-14 * np.linalg.cond(s.H) * np.abs(a).max()
    U = cholesky.decompose(model, s.data)
    assert relative(U @ np.diag(s.data.D) @ U.T, s.H) < 1e-13


def test_mimic_gains_the_ancestors_of_both_joints():
    free = pin.Model()
    for name, parent in (("a", 0), ("b", 1), ("c", 0), ("follows b", 3)):
        joint = free.addJoint(parent, pin.JointModelRZ(), pin.SE3.Random(), name)
        free.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Random())
    model = pin.transformJointIntoMimic(free, 2, 4, 2.0, 0.1)
    tree = pinocchio_.tree(model)
    assert list(tree.names) == ["a", "b", "c"]
    assert not pinocchio_.tree(free).mask()[1, 2]
    assert tree.mask()[1, 2]  # b moves with c now
    s = Setup(model)
    assert not s.H[~tree.mask()].any()
    assert relative(Accelerator(model, s.data).factor().reconstruct(), s.H) < 1e-13


def test_mass_matrix_is_a_symmetric_copy_and_takes_batches(robot):
    H = robot.H
    np.testing.assert_array_equal(H, H.T)
    assert not np.shares_memory(H, robot.data.M)
    qs = np.stack([robot.q, pin.neutral(robot.model)])
    np.testing.assert_array_equal(pinocchio_.mass_matrix(robot.model, robot.data, qs)[0], H)


def test_wrong_length_of_q():
    model = load("panda", False)
    with pytest.raises(tf.ShapeError, match=r"\(\.\.\., 9\)"):
        pinocchio_.mass_matrix(model, model.createData(), np.zeros(8))


def test_massless_moving_joint_is_named():
    assert pinocchio_.massless_joints(load("romeo_laas_small", False)) == [
        "l_gripper_joint",
        "r_gripper_joint",
    ]
    model = load("romeo_laas_small", False)
    model.armature = np.ones(model.nv)
    assert pinocchio_.massless_joints(model) == []


@pytest.mark.parametrize(
    "content",
    ["", "no xml <", "<robot/>", "<mujoco/>", "<robot name='r'><link name='a'/><link name='b'/></robot>"],
)
def test_malformed_urdf_names_the_file(tmp_path, content):
    path = tmp_path / "broken.urdf"
    path.write_text(content)
    with pytest.raises(tf.AdapterError, match=r"broken\.urdf") as caught:
        pinocchio_.load(path)
    assert caught.value.file == str(path)
    assert caught.value.engine == "pinocchio"


def test_missing_urdf_names_the_file(tmp_path):
    with pytest.raises(tf.AdapterError, match="no such file"):
        pinocchio_.load(tmp_path / "absent.urdf")
