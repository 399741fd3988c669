"""Tell how readers of URDFs take numbers as written: blanks, line breaks and digits matter to some.

urdfdom, by which Pinocchio and DART read, divides places and axes at blanks only, and takes a number with
blanks, tabs or line breaks in front of it, but with nothing behind it. Other readers take any blanks.
"""

from __future__ import annotations

import re
import sys
from math import isnan

from .xml import numbers

NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"  # what all readers take
PLAIN = re.compile(f"{NUMBER}( {NUMBER})*", re.ASCII)
TAKEN = re.compile(rf"[ \t\n\v\f\r]*{NUMBER}", re.ASCII)
SEVERAL = ("xyz", "rpy")  # attributes with three numbers
INERTIAL = (  # elements and attributes of an <inertial> in urdfdom's order: an <origin> may lack both
    *(("origin", "xyz"), ("origin", "rpy"), ("mass", "value")),
    *(("inertia", key) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")),
)


def plain(text: str) -> str:
    r"""Return numbers as every reader takes them: 0 for other words, the largest number for infinity.

    Examples
    --------
    >>> plain("0 "), plain(" 1  2\n3 "), plain("-inf"), plain("x")
    ('0', '1 2 3', '-1.7976931348623157e+308', '0')
    """
    if PLAIN.fullmatch(text):
        return text
    return " ".join(map(_plain_word, zip(text.split(), numbers(text) or (), strict=False))) or "0"


def _plain_word(pair: tuple[str, float]) -> str:
    word, value = pair
    if PLAIN.fullmatch(word):
        return word
    return repr(0.0 if isnan(value) else max(-sys.float_info.max, min(value, sys.float_info.max)))


def dropped(inertial) -> tuple[str, str, str | None] | None:
    """Return the number for which urdfdom reads a tensor as zero, or mass and tensor; None if it reads all.

    Parameters
    ----------
    inertial : xml.etree.ElementTree.Element
        With blanks and line breaks as written.

    Returns
    -------
    tuple of (str, str, str or None), or None
        Tag and key of the first such attribute, and its text, None if it is missing.
    """
    for tag, key in INERTIAL:
        element = inertial.find(tag)
        text = None if element is None else element.get(key)
        if text is None and tag == "origin":
            continue
        words = [word for word in text.split(" ") if word] if text and key in SEVERAL else [text or ""]
        if not all(map(TAKEN.fullmatch, words)):
            return tag, key, text
    return None
