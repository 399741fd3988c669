"""A number belongs to one map for the life of the process."""

from types import SimpleNamespace

import pytest

from treefactor import xla


def a_map(**changes):
    return SimpleNamespace(**{"key": ("a", 1), "inputs": ((2,),), "outputs": ((2,),), "run": None} | changes)


def test_an_equal_map_may_come_again():
    xla.remember(991, a_map())
    xla.remember(991, a_map())


def test_another_map_is_refused():
    xla.remember(992, a_map())
    with pytest.raises(ValueError, match="992 belongs to"):
        xla.remember(992, a_map(key=("b", 1)))


def test_a_map_without_a_key_is_equal_to_itself_only():
    class Plain:
        inputs, outputs = ((2,),), ()

    plain = Plain()
    xla.remember(993, plain)
    xla.remember(993, plain)
    with pytest.raises(ValueError, match="expected a new number"):
        xla.remember(993, Plain())


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, "one", 1.5])
def test_numbers_have_64_bits(number):
    with pytest.raises((OverflowError, TypeError)):
        xla.remember(number, a_map())


@pytest.mark.parametrize(
    "changes", [{"inputs": ((2,),) * 24}, {"inputs": (), "outputs": ()}, {"inputs": ((1,) * 7,)}]
)
def test_maps_of_too_many_arrays_or_axes_are_refused(changes):
    with pytest.raises(ValueError, match="expected a map of 1 to 24 arrays"):
        xla.remember(994, a_map(**changes))


def test_a_map_without_shapes_is_refused_and_the_number_stays_free():
    with pytest.raises(TypeError):
        xla.remember(995, a_map(inputs=(("two",),)))
    xla.remember(995, a_map())


def test_numbers_in_one_list_find_their_own_maps():
    for k in range(5):
        xla.remember(1024 * 1000 * k + 7, a_map(key=k))
    with pytest.raises(ValueError, match="belongs to"):
        xla.remember(1024 * 1000 * 3 + 7, a_map(key=1))
