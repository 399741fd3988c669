"""Check the text of URDFs: what is a number, prefixes of names, and the words of refusals."""

import math
import re
from pathlib import Path

import pytest
from helpers.blemishes import ARM, MISSING
from helpers.small_urdfs import small_urdf
from hypothesis import given, settings
from hypothesis import strategies as st

import treefactor as tf
from treefactor import check
from treefactor._util.xml import numbers
from treefactor.check.rewriting import edits, rewrite
from treefactor.identification import write_urdf
from treefactor.model._urdf import read
from treefactor.model.digests import digest
from treefactor.robots import Robot

DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
NOT_FINITE = re.compile(r"[+-]?(?:inf|infinity|nan)", re.IGNORECASE)
ODD = (
    "\u0661\u0662",
    "\uff11",
    "\u0967.5",
    "1_000",
    "0x1p-3",
    "1,5",
    "1.5f",
    "1d0",
    "\u00bd",
    "\u2212" + "1",
)
words = st.text("0123456789+-.eE_xfinaINF\u0661\u0969\uff17\u00a0\u2212", min_size=1, max_size=7)
decimals = st.from_regex(DECIMAL, fullmatch=True).filter(lambda word: len(word) < 12)


# ------------------------------------------------------------------------------------------------ numbers


@given(words | decimals | st.sampled_from(ODD))
def test_a_number_is_a_decimal_one_or_one_that_is_not_finite(word):
    values = numbers(word)
    assert (values is not None) == bool(DECIMAL.fullmatch(word) or NOT_FINITE.fullmatch(word)), word
    if DECIMAL.fullmatch(word):
        assert values == [float(word)]
    elif values:
        assert not math.isfinite(values[0])


@settings(max_examples=40)
@given(word=words | decimals | st.sampled_from(ODD))
def test_pinocchio_takes_the_same_words_for_numbers(word, tmp_path_factory):
    pin = pytest.importorskip("pinocchio", reason="it reads the same file")
    path = tmp_path_factory.mktemp("numbers") / "arm.urdf"
    path.write_text(ARM.replace('<mass value="1"/>', f'<mass value="{word}"/>'), encoding="utf-8")
    theirs = list(pin.buildModelFromUrdf(str(path)).inertias)[2].mass
    try:
        ours = tf.Model.from_urdf(path).joints[1].inertia.mass
    except tf.TreefactorError:
        assert not DECIMAL.fullmatch(word) or not 0.0 <= float(word) < math.inf
    else:
        assert ours == theirs or ours < 1e-300  # a number so small is not read by Pinocchio


@pytest.mark.parametrize("word", ODD)
@pytest.mark.parametrize(
    ("old", "about"),
    [
        ('ixz="0.003"', "lower"),
        ('lower="-8"', "elbow"),
        ('effort="1e6" velocity="1e6"/><dynamics', "shoulder"),
        ('damping="0"', "shoulder"),
        ('xyz="0.5 0.2 0.1"', "elbow"),
    ],
)
def test_no_other_word_is_read_as_a_number(word, old, about, tmp_path):
    value = old.split('"')[1].split()[-1]
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.replace(old, old.replace(value, word, 1)), encoding="utf-8")
    try:
        float(word)
    except ValueError:
        if "effort" in old or "damping" in old:  # words there that are not read
            return
    with pytest.raises(tf.AdapterError, match="not a number") as caught:
        tf.Model.from_urdf(path)
    assert caught.value.joint == about
    assert f"{path}: line {ARM[: ARM.index(f'name={chr(34)}{about}')].count(chr(10)) + 1}: " in str(
        caught.value
    )


# ------------------------------------------------------------------------------------------------ prefixes


@st.composite
def prefixed(draw):
    """Draw a URDF, and the same with attributes and elements of prefixes, bound or not."""
    plain = draw(small_urdf(floating=False))
    tags = [
        match.end() for match in re.finditer(r"<(?:link|joint|limit|inertia|mass|origin|axis)(?= )", plain)
    ]
    places = draw(st.lists(st.sampled_from(tags), min_size=1, max_size=3, unique=True))
    text = plain
    for k, place in enumerate(sorted(places, reverse=True)):
        text = f'{text[:place]} drake:note{k}="2"{text[place:]}'
    more = '<u:link name="x"/><u:joint name="y" type="fixed"><parent link="x"/><child link="l1"/></u:joint>'
    bound = draw(
        st.sampled_from(["", ' xmlns:drake="http://drake.mit.edu" xmlns:u="u"', ' xmlns="http://d"'])
    )
    return plain, text.replace("</robot>", f"{more}</robot>").replace(
        ' name="small"', f' name="small"{bound}'
    )


@given(prefixed())
@settings(max_examples=25)
def test_names_with_prefixes_change_nothing(tmp_path_factory, texts):
    plain, text = texts
    model = tf.Model.from_urdf_string(plain)
    assert digest(tf.Model.from_urdf_string(text)) == digest(model)
    path = tmp_path_factory.mktemp("prefixes") / "small.urdf"
    path.write_text(text)
    assert digest(tf.Model.from_urdf(path)) == digest(model)
    every = edits(path)
    assert "drake:note0" in rewrite(path, ()).text
    assert "u:link" not in rewrite(path, [edit for edit in every if edit.kind == "other"]).text
    read(path, None, text=rewrite(path, every).text)
    heavier = model.with_parameters(2 * model.parameters)
    changed = path.with_name("heavier.urdf")
    try:
        write_urdf(path, changed, heavier, merged="clear")
    except tf.InvalidModelError:  # no body has the inertias that were drawn
        return
    assert changed.read_text().count("u:link") == text.count("u:link")


@pytest.mark.parametrize(
    ("engine", "package"),
    [("mujoco",) * 2, ("drake", "pydrake"), ("idyntree",) * 2, ("dart", "dartpy"), ("pybullet",) * 2],
)
def test_engines_agree_on_a_prefix_that_is_not_bound(engine, package, tmp_path):
    for name in ("pinocchio", package):
        pytest.importorskip(name, reason="it is compared")
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.replace('<limit lower="-8"', '<limit drake:acceleration="2" lower="-8"'))
    [cells] = check.check([Robot("arm", path)], [engine], ["tree", "bias"], samples=1)
    assert {cell.state for cell in cells} <= {check.AGREES, check.EXPLAINED}, cells


# ------------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize("blemish", [one for one in MISSING if one.refusal], ids=lambda one: one.name)
def test_what_is_missing_is_refused_with_line_and_remedy(blemish, tmp_path):
    path = blemish.write(tmp_path)
    with pytest.raises(tf.AdapterError, match=blemish.refusal) as caught:
        tf.Model.from_urdf(path)
    assert f"line {blemish.line}: " in str(caught.value)
    assert caught.value.joint == blemish.part
    if blemish.name != "no_value":
        assert ": write " in str(caught.value)


@pytest.mark.parametrize("blemish", [one for one in MISSING if one.refusal], ids=lambda one: one.name)
def test_the_refusal_of_treefactor_is_not_said_to_be_of_an_engine(blemish, tmp_path):
    pytest.importorskip("pinocchio", reason="it is asked")
    robot = Robot("arm", Path(blemish.write(tmp_path)))
    [cells] = check.check([robot], ["pinocchio", "treefactor", "mujoco"], ["H"], samples=1)
    states = {cell.engine: cell for cell in cells}
    assert states["treefactor"].state == check.REFUSED
    assert (
        states["pinocchio"].state == check.EXCLUDED
    )  # it reads the file, and nothing else is compared with it
    assert "no reference: treefactor: " in states["pinocchio"].reason
    if states["mujoco"].state != check.NOT_INSTALLED:
        assert states["mujoco"].state == check.REFUSED
        own, ours = states["mujoco"].reason.split("; no reference: treefactor: ")
        assert "MuJoCo cannot load it" in own
        assert blemish.refusal in ours
