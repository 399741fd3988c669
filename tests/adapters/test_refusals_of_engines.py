"""Test that engines refuse files that treefactor does not read in their own words only, or read them."""

from importlib import import_module

import pytest
from helpers.blemishes import ARM

from treefactor import AdapterError

ODD = {  # what expat does not read
    "ampersand": ARM.replace('name="arm"', 'name="ar&m"'),
    "comment": ARM.replace("</robot>", "<!-- a -- b --></robot>"),
    "bracket": ARM.replace('name="arm"', 'name="a<rm"'),
    "null": f"{ARM}\0\0",
}
XACRO = ARM.replace("</robot>", '<xacro:property name="p" value="1"/></robot>')
READERS = ("_pinocchio_engine", "dart_")  # that read them all
STRICT = {
    "idyntree_": "iDynTree gets no text that is not well-formed XML",
    "adam_": "adam does not compute it: ParseError",
}


def engine(name):
    try:
        return import_module(f"treefactor.adapters.{name}")
    except AdapterError as error:
        pytest.skip(str(error))


def loaded(name, folder, text):
    """Return how many joints an engine reads of a text."""
    module = engine(name)
    (folder / "arm.urdf").write_text(text)
    body = module.load(folder / "arm.urdf", False, (0.0, 0.0, -9.81), frozenset())
    return sum(joint.kind == "revolute" for joint in module.joints(body))


@pytest.mark.parametrize("text", [*ODD.values(), XACRO], ids=[*ODD, "xacro"])
@pytest.mark.parametrize("name", READERS)
def test_engines_that_read_more_than_treefactor_load_it(name, text, tmp_path):
    assert loaded(name, tmp_path, text) == 2


@pytest.mark.parametrize("odd", ["ampersand", "comment", "bracket"])
@pytest.mark.parametrize("name", STRICT)
def test_engines_that_refuse_it_say_why(name, odd, tmp_path):
    with pytest.raises(AdapterError, match=STRICT[name]):
        loaded(name, tmp_path, ODD[odd])


def test_idyntree_reads_what_has_an_unbound_prefix(tmp_path):
    assert loaded("idyntree_", tmp_path, XACRO) == 2
