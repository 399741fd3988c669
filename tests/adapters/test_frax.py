"""Test frax, as an engine of the comparison, against Pinocchio."""

import numpy as np
import pytest
from helpers.engine_cases import joint, link, urdf
from helpers.engine_trials import ROOT, assert_all_agree, differing
from helpers.heavy_engines import GRAVITY, heavy

import treefactor as tf
from treefactor import robots

frax_ = heavy("frax")
LOWER_FIRST = joint("i", "b", "c", "fixed"), joint("j", "a", "b", "fixed")


def test_the_double_pendulum_is_pinocchios():
    assert_all_agree(frax_, robots.find("double_pendulum").path, options=ROOT)


def test_the_precision_of_the_process_is_left_unchanged():
    jax = frax_.jax
    assert not jax.config.jax_enable_x64
    assert jax.numpy.ones(2).dtype == np.float32


def test_another_gravity_is_refused():
    with pytest.raises(tf.AdapterError, match=r"cannot change gravity.*9\.81.*got \(0\.0, 0\.0, 0\.0\)"):
        frax_.load(robots.find("double_pendulum").path, False, (0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ((link("a"), link("b", None), joint("j", "a", "b")), "NoneType"),  # no inertia
        ((link("a"), link("b"), joint("j", "a", "b", "planar")), "planar"),
        ((*map(link, "abcd"), *LOWER_FIRST, joint("k", "c", "d")), "invalid parent link name b"),
    ],
)
def test_refusals_have_the_reason_of_frax(write_text, parts, reason):
    path = write_text(urdf(*parts))
    with pytest.raises(tf.AdapterError, match=f"frax cannot load it: .*{reason}") as caught:
        frax_.load(path, False, GRAVITY)
    assert (caught.value.engine, caught.value.file) == ("frax", str(path))


def test_without_the_option_the_centre_of_mass_lacks_the_root_link():
    assert differing(frax_, robots.find("double_pendulum").path) == {"centre of mass"}


@pytest.mark.slow
@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize(
    "name", ["ur5_robot", "panda", "solo12", "talos_reduced", "icub", "baxter", "anymal_b_simple/anymal"]
)
def test_robots_are_pinocchios(name, floating):
    assert_all_agree(frax_, robots.find(name).path, floating, options=ROOT)


@pytest.mark.slow
@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("kind", ["prismatic", "continuous", "revolute"])
@pytest.mark.parametrize("axis", ["0 0 -1", "0 3 4", "0 -1 0"])
def test_oblique_and_negative_axes_are_pinocchios(write_text, axis, kind, floating):
    branched = joint("z", "a", "b", kind, axis), joint("m", "a", "c", "fixed"), joint("c", "c", "d")
    path = write_text(urdf(*map(link, "abcd"), *branched))
    assert_all_agree(frax_, path, floating, options=ROOT)
