"""Spelling of numbers: what Pinocchio's reader takes, and edits that change it and nothing else."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from helpers.blemishes import ARM, BLEMISHES, DROPS
from hypothesis import given
from hypothesis import strategies as st

import treefactor as tf
from treefactor._util.urdf_numbers import dropped, plain
from treefactor._util.xml import as_written, elements_with_lines
from treefactor.check.rewriting.urdf_edits import IMPLIED, SPELLING, edits, rewrite

SPACES = st.text(" \t\n", max_size=2)
DIGITS = st.sampled_from(
    ["0.003", "+3e-3", ".003", "3.E-3", "1.", "-0", "0.003f", "3d-3", "0x1", "", "x", "1 2"]
)
PART = ET.fromstring(ARM).findall("link")[2].find("inertial")
NUMBERS = [
    ("origin", "xyz", "0.15 0.02 -0.1"),
    ("origin", "rpy", "-0.2 0.3 0.1"),
    ("mass", "value", "1"),
    *(("inertia", key, PART.find("inertia").get(key)) for key in ("ixx", "ixz", "izz")),
]


def escaped(text):
    """Return text of an attribute that every parser reads with its breaks."""
    return text.replace("\n", "&#10;").replace("\t", "&#9;")


@given(st.sampled_from(NUMBERS), SPACES, SPACES, SPACES, DIGITS)
def test_it_is_known_which_numbers_pinocchio_drops(number, before, between, after, digits):
    pin = pytest.importorskip("pinocchio", reason="its reader is compared with")
    tag, key, text = number
    words = [*text.split()[:-1], digits]
    written = before + (" " + between).join(words) + after
    text = ARM.replace(f'{key}="{text}"', f'{key}="{escaped(written)}"')
    model = pin.buildModelFromXML(text)
    inertial = ET.fromstring(as_written(text)).findall("link")[2].find("inertial")
    assert inertial.find(tag).get(key) == written
    assert (dropped(inertial) is None) == bool(np.any(list(model.inertias)[2].inertia))


@given(SPACES, st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=3), SPACES)
def test_plain_numbers_are_the_same_numbers(before, values, after):
    text = before + " \n ".join(map(repr, values)) + after
    assert [float(word) for word in plain(text).split(" ")] == values
    assert plain(plain(text)) == plain(text)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.text("x \t\n>'&", max_size=5)), max_size=4), SPACES)
def test_breaks_in_attributes_are_kept_and_nothing_else_changes(parts, between):
    text = "<r><!-- don't <b a=\"\n -->"
    texts = [value.replace("&", "&amp;") for _, value in parts]
    for (tag, _), value in zip(parts, texts, strict=True):
        text += f'{between}<{tag}\n k="{value}">{between}<![CDATA[<a k="\n">]]></{tag}>\n'
    text += "</r>"
    for content in (text, text.encode(), text.replace("\n", "\r\n").encode()):
        top, lines = elements_with_lines(content)
        assert [(one.tag, one.get("k")) for one in top] == parts
        before = ET.fromstring(content)
        assert [one.text.split() for one in top] == [one.text.split() for one in before]
        starts = [k for k in range(len(text)) if text.startswith(("<a\n", "<b\n"), k)]
        assert [lines[one] for one in top] == [1 + text[:k].count("\n") for k in starts]


@pytest.mark.parametrize("blemish", BLEMISHES, ids=lambda blemish: blemish.name)
def test_a_rewriting_keeps_a_blemish_unless_an_edit_is_named_after_it(blemish, tmp_path):
    """No other edit may repair a number as a side effect: the engine would be blamed for something else."""
    if blemish.refusal:
        return
    path = blemish.write(tmp_path)
    try:
        offered = edits(path)
    except tf.AdapterError:
        return
    number = [edit for edit in offered if edit.kind in ("inertial number", "joint number")]
    if blemish.pinocchio == DROPS and blemish.name != "entity":
        assert [(edit.where, edit.line) for edit in number] == [(blemish.part, blemish.line)]
    for edit in offered:
        free = not any(edit.kind in IMPLIED[kind] for kind in ("inertial number", "joint number"))
        if number and free and edit not in number:
            spelled = [one.kind for one in edits(_written(tmp_path, path, [edit])) if one.kind in SPELLING]
            assert spelled == [one.kind for one in number], edit
    own = [edit for edit in offered if edit.kind in SPELLING]
    assert not [one for one in edits(_written(tmp_path, path, own)) if one.kind in SPELLING]


def _written(folder, path, chosen):
    other = folder / f"other_{path.name}"
    other.write_text(rewrite(path, chosen).text, encoding="utf-8", newline="")
    return other


def test_a_model_warns_of_the_number_that_pinocchio_reads_otherwise(tmp_path):
    text = ARM.replace('ixz="0.003"', 'ixz="0.003\n"')
    path = tmp_path / "arm.urdf"
    path.write_text(text)
    line = 1 + text[: text.index('<link name="lower"')].count("\n")
    expected = rf"link 'lower' on line {line}: <inertia ixz='0.003\\n'> is read as 0.003, .* the tensor of .*"
    for load in (lambda: tf.Model.from_urdf(path), lambda: tf.Model.from_urdf_string(text)):
        with pytest.warns(UserWarning, match=expected) as caught:
            load()
        assert [one.filename for one in caught] == [__file__]


@pytest.mark.parametrize("blemish", BLEMISHES, ids=lambda blemish: blemish.name)
def test_a_model_warns_only_where_pinocchio_reads_another_inertia(blemish, tmp_path, recwarn):
    try:
        tf.Model.from_urdf(blemish.write(tmp_path))
    except tf.AdapterError:
        return
    warned = blemish.pinocchio == DROPS
    said = "&one; is read as '1'" if blemish.name == "entity" else f"link {blemish.part!r}"
    assert [said in str(one.message) for one in recwarn] == [True] * warned
