"""Test adam's module against Pinocchio, and what adam makes of difficult files."""

import numpy as np
import pytest
from helpers.bundled_robots import bundled_robot

import treefactor as tf

computations = pytest.importorskip("adam.numpy", reason="adam is not installed").KinDynComputations

from helpers import engine_cases as cases  # noqa: E402
from helpers.engine_cases import joint, link, urdf  # noqa: E402
from helpers.engine_traps import TRAPS, without  # noqa: E402
from helpers.engine_trials import answered, causes, wrong  # noqa: E402

from treefactor.adapters import adam_  # noqa: E402
from treefactor.check.quantities import QUANTITIES  # noqa: E402

CAUSES = {  # of which adam makes something else: rewritings that repair them
    "inertial without origin": {"inertial origin": ["b"]},
    "oblique axis": {"axis": ["j"]},
    "axis that is not of length one": {"axis": ["j"]},
    "no axis": {"axis": ["j", "k"]},
    "texture without file": {"material": ["b"]},
}
UNABLE = "prismatic", "planar", "floating"
EXPLAINED = [
    ("talos_reduced", True, {"inertial origin"}),
    ("icub", True, {"material", "inertial origin"}),
    ("anymal_b_simple/anymal", True, {"inertial origin"}),
]
BOTH = pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
GRAVITY = np.array([0.4, -0.7, -9.3])


@pytest.mark.parametrize(
    ("name", "floating"),
    [("ur5_robot", False), ("solo12", True), pytest.param("solo12", False, marks=pytest.mark.slow)],
)
def test_every_quantity_of_real_robots_is_pinocchios(name, floating):
    assert wrong(adam_, bundled_robot(name), floating) == {}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "floating", "expected"), EXPLAINED)
def test_causes_on_real_robots(name, floating, expected):
    assert causes(adam_, bundled_robot(name), floating).keys() == expected


def test_what_is_offered(write_text):
    assert answered(adam_, write_text(TRAPS["plain"])) == set(QUANTITIES) - {
        *("inverse dynamics", "energies", "L and D", "derivatives"),
    }


@BOTH
@pytest.mark.parametrize("trap", without(*CAUSES, *UNABLE))
def test_files_that_adam_reads_as_pinocchio(write_text, trap, floating, capfd):
    assert wrong(adam_, write_text(TRAPS[trap]), floating) == {}
    assert capfd.readouterr() == ("", "")


@BOTH
@pytest.mark.parametrize("trap", CAUSES)
def test_causes_of_what_differs_or_is_refused(write_text, trap, floating):
    assert causes(adam_, write_text(TRAPS[trap]), floating) == CAUSES[trap]


def test_axes_are_not_scaled(write_text):
    """Assert that an axis of length two makes H three times too large, without another."""
    errors = wrong(adam_, write_text(TRAPS["axis that is not of length one"]))
    assert errors["H"] == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("trap", "reason"),
    [
        ("inertial without origin", "'NoneType' object has no attribute 'xyz'"),
        ("texture without file", "ParseError.*filename"),
        ("no axis", "TypeError"),
        ("prismatic", "dimensions"),
        ("planar", "AttributeError"),
        ("floating", "AttributeError"),
    ],
)
def test_refusals_have_the_error_of_adam(write_text, trap, reason):
    path = write_text(TRAPS[trap])
    with pytest.raises(tf.AdapterError, match=f"does not compute it: .*{reason}") as caught:
        adam_.load(path)
    assert (caught.value.engine, caught.value.file) == ("adam", str(path))


def test_nothing_repairs_prismatic_joints(write_text):
    assert "nothing helps" in causes(adam_, write_text(TRAPS["prismatic"]))


@BOTH
def test_gravity_is_an_argument(write_text, floating):
    path = write_text(TRAPS["plain"])
    q = np.concatenate([[0.1, 0.2, 0.3], [0.5, 0.5, 0.5, 0.5], [0.7, -0.4]])
    tau = adam_.gravity_forces(adam_.load(path, floating, GRAVITY), q)
    np.testing.assert_allclose(tau[:3], -3.0 * GRAVITY, rtol=1e-14)
    own = computations(str(path), ["j", "k"]).gravity_term(np.eye(4), q[7:])
    assert own[2] == pytest.approx(3.0 * 9.80665, rel=1e-7)
    assert own[2] != 3.0 * 9.80665  # its default is of single precision


@BOTH
def test_own_acceleration_inverts_the_equation_of_motion(floating):
    body = adam_.load(bundled_robot("solo12"), floating, GRAVITY)
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=body.nq), *rng.normal(size=(2, body.nv))
    q[3:7] /= np.linalg.norm(q[3:7])
    if not floating:
        v[:6] = a[:6] = 0.0
    tau = adam_.mass_matrix(body, q) @ a + adam_.bias(body, q, v)
    np.testing.assert_allclose(adam_.acceleration(body, q, v, tau), a, atol=1e-9)


def test_joints_come_after_those_that_carry_them(write_text):
    links = [link(name) for name in ("c", "b", "base")]
    body = adam_.load(write_text(urdf(*links, joint("a", "b", "c"), joint("z", "base", "b"))))
    assert [(own.name, own.parent) for own in adam_.joints(body)] == [("root_joint", -1), ("z", 0), ("a", 1)]
    assert wrong(adam_, write_text(urdf(*links, joint("a", "b", "c"), joint("z", "base", "b")))) == {}


def test_answers_are_copies(write_text):
    body = adam_.load(write_text(TRAPS["plain"]))
    q = np.zeros(body.nq)
    H = adam_.mass_matrix(body, q)
    H[:] = 0.0
    assert adam_.mass_matrix(body, q).any()


@pytest.mark.parametrize("case", sorted(set(cases.BROKEN) - {"two links of one name", "unknown parent"}))
def test_files_that_are_not_trees(write_text, case):
    with pytest.raises(tf.AdapterError) as caught:
        adam_.load(write_text(cases.BROKEN[case][0]))
    assert caught.value.engine == "adam"


def test_unknown_link_and_wrong_lengths(write_text):
    body = adam_.load(write_text(TRAPS["plain"]))
    with pytest.raises(tf.AdapterError, match="'absent'"):
        adam_.placement(body, np.zeros(body.nq), "absent")
    with pytest.raises(tf.ShapeError):
        adam_.mass_matrix(body, [0.0])
