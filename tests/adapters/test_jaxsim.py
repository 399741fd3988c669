"""Test jaxsim, as an engine of the comparison, against Pinocchio."""

import subprocess
import sys

import pytest
from helpers.engine_cases import joint, link, urdf
from helpers.engine_trials import assert_all_agree, differing
from helpers.heavy_engines import GRAVITY, heavy

import treefactor as tf
from treefactor import robots
from treefactor.check.rewriting import edits, rewrite, to_sdf

jaxsim_ = heavy("jaxsim")

pytestmark = pytest.mark.slow  # a robot is compiled in half a minute
UPWARD = frozenset({"upward"})


@pytest.fixture
def written(tmp_path):
    """Return a function that writes the SDF of a URDF, with links on fixed joints merged or not."""

    def written(path, floating, merge=True):
        merging = [edit for edit in edits(path) if edit.kind == "fixed joint"] if merge else []
        text = to_sdf(rewrite(path, merging).text, "1.9", floating)
        (tmp_path / "robot.sdf").write_text(text)
        return tmp_path / "robot.sdf"

    return written


def both(written, path, floating):
    """Return the arguments of a comparison: the SDF, and the URDF for Pinocchio with the same links."""
    sdf_path = written(path, floating)
    merging = [edit for edit in edits(path) if edit.kind == "fixed joint"]
    urdf_path = sdf_path.with_suffix(".urdf")
    urdf_path.write_text(rewrite(path, merging).text)
    return {"path": sdf_path, "floating": floating, "read": urdf_path}


@pytest.mark.parametrize(
    ("name", "floating"),
    [("double_pendulum", False), ("double_pendulum", True), ("panda", False), ("solo12", True)],
)
def test_robots_are_pinocchios(name, floating, written):
    case = both(written, robots.find(name).path, floating)
    assert_all_agree(jaxsim_, **case, options=UPWARD)


@pytest.mark.parametrize("floating", [False, True])
def test_branches_and_prismatic_joints_with_oblique_axes_are_pinocchios(write_text, written, floating):
    kinds = ("z", "a", "b", "prismatic"), ("m", "a", "c", "revolute"), ("c", "b", "d", "continuous")
    joints = [
        joint(*names, axis=axis) for names, axis in zip(kinds, ("0 3 4", "0 0 -1", "1 0 0"), strict=True)
    ]
    case = both(written, write_text(urdf(*map(link, "abcd"), *joints)), floating)
    assert_all_agree(jaxsim_, **case, options=UPWARD)


def test_without_the_option_the_potential_energy_has_the_opposite_sign(written):
    case = both(written, robots.find("double_pendulum").path, False)
    assert differing(jaxsim_, **case) == {"energies"}


@pytest.mark.parametrize(
    ("kind", "mass", "reason"), [("fixed", 1.0, "TypeError"), ("revolute", 0.0, "KeyError")]
)
def test_refusals_have_the_reason_of_jaxsim(write_text, written, kind, mass, reason):
    links = link("a"), link("b", mass), link("c")
    path = write_text(urdf(*links, joint("i", "a", "b"), joint("j", "b", "c", kind)))
    with pytest.raises(tf.AdapterError, match=f"jaxsim cannot load it: {reason}"):
        jaxsim_.load(written(path, False, merge=False), False, GRAVITY)


def test_base_and_gravity_that_jaxsim_lacks_are_refused(write_text, written):
    path = written(write_text(urdf(link("a"), link("b"), joint("i", "a", "b"))), False)
    with pytest.raises(tf.AdapterError, match="a fixed base, expected the other"):
        jaxsim_.load(path, True, GRAVITY)
    with pytest.raises(tf.AdapterError, match="gravity along z"):
        jaxsim_.load(path, False, (1.0, 0.0, 0.0))


def test_the_import_leaves_the_process_as_it_is():
    script = """
import warnings, jax, numpy
before = numpy.get_printoptions(), warnings.showwarning, list(warnings.filters), jax.config.jax_enable_x64
import treefactor.adapters.jaxsim_
assert before[:2] == (numpy.get_printoptions(), warnings.showwarning)
assert before[2:] == (list(warnings.filters), jax.config.jax_enable_x64)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
