"""Test iDynTree's module against Pinocchio, and what iDynTree makes of difficult files."""

import subprocess
import sys

import numpy as np
import pytest
from helpers.bundled_robots import bundled_robot

import treefactor as tf

idyntree = pytest.importorskip("idyntree.bindings", reason="iDynTree is not installed")

from helpers import engine_cases as cases  # noqa: E402
from helpers.engine_cases import joint, link, urdf  # noqa: E402
from helpers.engine_traps import TRAPS, without  # noqa: E402
from helpers.engine_trials import answered, causes, pin, wrong  # noqa: E402

from treefactor.adapters import idyntree_  # noqa: E402
from treefactor.check.quantities import QUANTITIES  # noqa: E402

ROBOTS = [("ur5_robot", False), ("panda", False), ("solo12", True)]
MORE = [("talos_reduced", True), ("icub", True), ("icub", False), ("tiago_dual", False), ("baxter", False)]
SLOW = [pytest.param(*robot, marks=pytest.mark.slow) for robot in MORE]
OWN = "root called world", "massless link with a tensor"  # of which iDynTree makes something else
EMPTY = "planar", "floating"
PARENTS = "two parents", "unknown parent"  # of one link: with the first, iDynTree takes all memory
GRAVITY = np.array([0.4, -0.7, -9.3])


@pytest.mark.parametrize(("name", "floating"), [*ROBOTS, *SLOW])
def test_every_quantity_of_real_robots_is_pinocchios(name, floating):
    assert wrong(idyntree_, bundled_robot(name), floating) == {}


def test_everything_but_energies_is_offered(write_text):
    assert answered(idyntree_, write_text(TRAPS["plain"])) == set(QUANTITIES) - {
        *("energies", "L and D", "derivatives"),
    }


def test_warnings_as_errors_do_not_end_the_process():
    code = "import treefactor.adapters.idyntree_"
    assert subprocess.run([sys.executable, "-W", "error", "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("trap", without(*OWN, *EMPTY))
def test_files_that_idyntree_reads_as_pinocchio(write_text, trap, floating, capfd):
    assert wrong(idyntree_, write_text(TRAPS[trap]), floating) == {}
    assert capfd.readouterr() == ("", "")


def test_a_massless_root_is_no_link(write_text):
    """Assert that the base is the next link, at the origin of the world: gravity has another direction."""
    path = write_text(TRAPS["root called world"])
    assert idyntree_.load(path).computations.getFloatingBase() == "base"
    assert {"bias", "placements"} <= wrong(idyntree_, path).keys()
    assert causes(idyntree_, path) == {"fixed joint": ["w"]}


def test_a_tensor_without_mass_is_dropped_on_a_fixed_joint_only(write_text):
    text = TRAPS["massless link with a tensor"]
    path = write_text(text)
    assert wrong(idyntree_, path)["H"] > 0.05
    assert causes(idyntree_, path) == {"fixed joint": ["t"]}
    assert wrong(idyntree_, write_text(text.replace("fixed", "revolute"))) == {}


@pytest.mark.parametrize("kind", ["planar", "floating", "elastic"])
def test_joints_for_which_idyntree_returns_true_and_an_empty_model(write_text, kind):
    path = write_text(urdf(link("base"), link("a"), joint("j", "base", "a", kind)))
    loader = idyntree.ModelLoader()
    assert loader.loadModelFromFile(str(path), "urdf")
    assert loader.model().getNrOfLinks() == 0
    with pytest.raises(tf.AdapterError, match=f"empty model.*j has type {kind}"):
        idyntree_.load(path)


def test_a_spherical_joint(write_text):
    """Assert the order w x y z of its quaternion and the axes of the child link of its velocity."""
    text = TRAPS["plain"]
    turning = pin.buildModelFromXML(text)
    model = pin.Model()
    model.gravity.linear = GRAVITY
    for i, own in ((1, pin.JointModelSpherical()), (2, turning.joints[2])):
        at = model.addJoint(i - 1, own, turning.jointPlacements[i], turning.names[i])
        model.appendBodyToJoint(at, turning.inertias[i], pin.SE3.Identity())
    path = write_text(text.replace("revolute", "spherical", 1))
    body = idyntree_.load(path, False, GRAVITY)
    _, ball, hinge = idyntree_.joints(body)
    assert (ball.kind, ball.q, ball.v, hinge.q, hinge.v) == (
        *("spherical", slice(7, 11), slice(6, 9)),
        *(slice(11, 12), slice(9, 10)),
    )
    rng = np.random.default_rng(0)
    q, v = pin.randomConfiguration(model, -np.ones(5), np.ones(5)), rng.normal(size=4)
    own = np.concatenate([np.zeros(7), np.roll(q[:4], 1), q[4:]]), np.append(np.zeros(6), v)
    data = model.createData()
    H, bias = pin.crba(model, data, q), pin.nle(model, data, q, v)
    np.testing.assert_allclose(idyntree_.mass_matrix(body, own[0])[6:, 6:], H, atol=1e-14)
    np.testing.assert_allclose(idyntree_.bias(body, *own)[6:], bias, atol=1e-13)
    with pytest.raises(tf.AdapterError, match="does not support"):
        idyntree_.acceleration(body, *own, np.zeros(10))


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_gravity_is_an_argument(floating):
    """Assert that the own acceleration, computed in an accelerated world, inverts inverse dynamics."""
    body = idyntree_.load(bundled_robot("solo12"), floating, GRAVITY)
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=body.nq), *rng.normal(size=(2, body.nv))
    q[3:7] /= np.linalg.norm(q[3:7])
    if not floating:
        v[:6] = a[:6] = 0.0
    tau = idyntree_.inverse_dynamics(body, q, v, a)
    np.testing.assert_allclose(idyntree_.acceleration(body, q, v, tau), a, atol=1e-9)
    weight = body.model.getTotalMass() * -GRAVITY
    np.testing.assert_allclose(idyntree_.gravity_forces(body, q)[:3], weight, rtol=1e-13)


@pytest.mark.parametrize("case", ["empty", "no link", "no robot", "two roots", "loop", *PARENTS])
def test_files_that_are_not_trees(write_text, case):
    with pytest.raises(tf.AdapterError) as caught:
        idyntree_.load(write_text(cases.BROKEN[case][0]))
    assert caught.value.engine == "idyntree"


def test_a_link_that_is_missing(write_text):
    absent = joint("j", "absent", "a"), joint("k", "base", "b")
    with pytest.raises(tf.AdapterError, match=r"joint 'j' is missing.*: .*link absent"):
        idyntree_.load(write_text(urdf(link("base"), link("a"), link("b"), *absent)))


def test_missing_file_unknown_frame_and_wrong_lengths(tmp_path, write_text):
    with pytest.raises(tf.AdapterError, match="No such file"):
        idyntree_.load(tmp_path / "absent.urdf")
    body = idyntree_.load(write_text(TRAPS["plain"]))
    with pytest.raises(tf.AdapterError, match="'absent'"):
        idyntree_.placement(body, [0.0] * body.nq, "absent")
    with pytest.raises(tf.ShapeError):
        idyntree_.mass_matrix(body, [0.0])
