"""Check the text of URDFs: what is a number, prefixes of names, and the words of refusals."""

import math
import re
import warnings
from pathlib import Path

import pytest
from helpers.blemishes import ARM, MISSING
from helpers.small_urdfs import small_urdf
from hypothesis import given, settings
from hypothesis import strategies as st

import treefactor as tf
from treefactor import check, cli
from treefactor._util.xml import elements_with_lines, line_of, numbers
from treefactor.check.rewriting import edits, rewrite
from treefactor.check.robots import Robot
from treefactor.identification import write_urdf
from treefactor.model._urdf import read
from treefactor.model.digests import digest

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


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('ixz="0.003"', 'ixz="0,003"', "link 'lower': <inertia ixz='0,003'> is not a number"),
        ('ixz="0.003"', 'ixz="0_3"', "link 'lower': <inertia ixz='0_3'> is not a number"),
        ('ixz="0.003"', 'ixz=""', "link 'lower': <inertia ixz=''> is not a number"),
        ('ixz="0.003"', 'ixz="-inf"', "link 'lower': <inertia ixz='-inf'> is not finite"),
        ('xyz="0.15 0.02', 'xyz="0.15 x', "link 'lower': <origin xyz='0.15 x -0.1'>: 'x' is not a number"),
        ('xyz="0.5 0.2', 'xyz="0.5 1_0', "joint 'elbow': <origin xyz='0.5 1_0 0.1'>: '1_0' is not a number"),
        ('lower="-8"', 'lower="low"', "joint 'elbow': <limit lower='low'> is not a number"),
        ('lower="-8"', 'lower="1_0"', "joint 'elbow': <limit lower='1_0'> is not a number"),
        ('lower="-8"', 'lower="nan"', "joint 'elbow': <limit lower='nan'> is not a number"),
        (
            'ixz="0.003"',
            f'ixz="{400 * "9"}"',
            f"link 'lower': <inertia ixz='{30 * '9'}...{7 * '9'}'> is not finite",
        ),
    ],
)
def test_a_wrong_number_is_named_with_element_and_attribute(old, new, said, tmp_path):
    assert ARM.count(old) == 1
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.replace(old, new))
    with pytest.raises(tf.AdapterError) as caught:
        tf.Model.from_urdf(path)
    assert str(caught.value).endswith(said)
    assert f"{path}: line " in str(caught.value)


@pytest.mark.parametrize("word", ["\u0661", "1,5", "nan", ""])
@pytest.mark.parametrize("shape", ["visual", "collision"])
def test_numbers_of_shapes_are_not_read(word, shape):
    odd = f'<{shape}><origin xyz="{word}"/><geometry><sphere radius="{word}"/></geometry></{shape}>'
    text = ARM.replace('<link name="lower">', f'<link name="lower">{odd}')
    assert digest(tf.Model.from_urdf_string(text)) == digest(tf.Model.from_urdf_string(ARM))


def test_a_tensor_without_entries_is_zero_to_all(recwarn):
    tensor = ARM[ARM.rindex("<inertia ") : ARM.rindex("</inertial>")]
    for other in ("<inertia/>", '<inertia ixx="0"/>', '<inertia ixx="0 "/>'):
        model = tf.Model.from_urdf_string(ARM.replace(tensor, other))
        assert not model.joints[1].inertia.tensor.any()
    assert not recwarn.list
    with pytest.warns(UserWarning, match="lacks ixy"):
        tf.Model.from_urdf_string(ARM.replace(tensor, '<inertia ixx="0" iyy="1" izz="1"/>'))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<mass value="1"/>', '<mass value="&m;"/>'),
        ('ixz="0.003"', 'ixz="&m;"'),
        ('link="lower"', 'link="lower" note="&m;"'),
    ],
)
def test_a_model_warns_of_entities_that_pinocchio_does_not_replace(old, new, tmp_path):
    start = "<!DOCTYPE robot [<!ENTITY m '0.01'><!ENTITY other '2'>]>\n<!-- &m; -->\n<robot"
    text = ARM.replace("<robot", start).replace(old, new)
    path = tmp_path / "arm.urdf"
    path.write_text(text)
    line = 1 + text[: text.index(new)].count("\n")
    for load in (lambda: tf.Model.from_urdf(path), lambda: tf.Model.from_urdf_string(text)):
        with pytest.warns(UserWarning, match=f"line {line}: &m; is read as '0.01', but Pinocchio") as caught:
            load()
        assert [one.filename for one in caught] == [__file__]


def test_an_entity_that_is_not_used_is_no_matter(recwarn):
    tf.Model.from_urdf_string(ARM.replace("<robot", "<!DOCTYPE robot [<!ENTITY m '1'>]><!-- &m; --><robot"))
    assert not recwarn.list


def test_commands_print_warnings_as_sentences(tmp_path, capsys):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.replace('ixz="0.003"', 'ixz="0.003 "'))
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert cli.main(["info", str(path)]) == 0
    [said] = capsys.readouterr().err.splitlines()
    assert said.startswith(
        f"warning: {path}: link 'lower' on line 11: <inertia ixz='0.003 '> is read as 0.003"
    )


# -------------------------------------------------------------------------------------------------- lines

BLANKS = st.lists(st.sampled_from([" ", "\t", "\n", "\r\n", "\r"]), max_size=5).map("".join)


@given(BLANKS, BLANKS, st.booleans(), st.booleans(), st.sampled_from(["", " k='\r'", " k='\n\r\n'"]))
def test_lines_are_counted_whatever_stands_before_the_robot(before, after, declared, as_bytes, attribute):
    start = f"{before}<?xml version='1.0'?>{after}" if declared else before
    parts = "<link name='a'/>\r<joint name='a'/>\n<joint name='a'/>"
    text = f"{start}<robot{attribute}>\r\n{after}{parts}</robot>\n"
    content = text.encode() if as_bytes else text

    def line(mark, at=0):
        place = [match.start() for match in re.finditer(re.escape(mark), text)][at]
        return 1 + len(re.findall(r"\r\n?|\n", text[:place]))

    top, lines = elements_with_lines(content)
    assert [lines[one] for one in (top, *top)] == [
        *(line("<robot"), line("<link"), line("<joint"), line("<joint", 1))
    ]
    assert line_of(content, "a", "joint", 1) == line("<joint", 1)
    with pytest.raises(tf.AdapterError, match=rf": line {line('</robot')}, column"):
        tf.Model.from_urdf_string(text.replace("</robot>", "</robots>"))


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


@pytest.mark.parametrize(
    ("old", "new", "at", "said"),
    [
        ('<joint name="elbow"', '<joint name="shoulder"', 1, "two joints are called 'shoulder'"),
        ('<link name="lower"', '<link name="upper"', 1, "two links are called 'upper'"),
        ('<joint name="elbow"', '<joint name=""', 0, "a <joint> has an empty name"),
        ('<joint name="elbow"', "<joint", 1, "a <joint> lacks the attribute 'name'"),
        ('<link name="lower"', '<link name=""', 0, "a <link> has an empty name"),
    ],
)
def test_names_that_are_missing_or_taken_are_refused_with_their_line(old, new, at, said):
    text = ARM.replace(old, new)
    place = [match.start() for match in re.finditer(re.escape(new), text)][at]
    line = 1 + text[:place].count("\n")
    with pytest.raises(tf.AdapterError, match=f"<string>: line {line}: {said}"):
        tf.Model.from_urdf_string(text)


def test_a_joint_called_as_a_link_is_named_with_its_own_line():
    text = ARM.replace('<joint name="elbow"', '<joint name="base"').replace('lower="-8"', 'lower="1_0"')
    line = 1 + text[: text.index('<joint name="base"')].count("\n")
    with pytest.raises(tf.AdapterError, match=f"line {line}: joint 'base': <limit lower='1_0'> is not"):
        tf.Model.from_urdf_string(text)


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
