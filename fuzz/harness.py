"""Judge, seed and mutate the inputs of all fuzzers.

Whatever an input does, it raises one of our exceptions or gives a result; everything else ends the run, and
its input is kept in a file named crash-*.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable
from pathlib import Path

import atheris
import numpy as np

with atheris.instrument_imports(include=["treefactor"]):
    import treefactor as tf
    from treefactor import report, robots  # noqa: F401
    from treefactor.model import urdf  # noqa: F401

SMALL = 5_000  # bytes of a seed
LENGTHS = (20, 60, 200, 600)  # of bytes that are numbers
LONG = 1.0  # s of processor time for one input
WORDS = ("", "0", "-1", "nan", "inf", "1e308", "1e-320", "1_0", "0x1p3", "0 0 0", "1 0 0", "a b", "é")
USUAL = (0.0, 1.0, -1.0, 2.0, -3.0, 0.5, 1.0, -1.0, 0.0, 10.0)
ODD = (-0.0, 1e-9, 1e12, 1e-160, 1e160, 1e300, -1e300, 1e-300, 5e-324, np.inf, -np.inf, np.nan)
Target = Callable[[bytes], None]


def run(target: Target, seeds: Iterable[bytes], mutate: Callable | None = None) -> None:
    """Fuzz with libFuzzer's options of the command line, from a fresh corpus."""
    folder = tempfile.mkdtemp()
    for k, seed in enumerate(seeds):
        Path(folder, f"seed{k}").write_bytes(seed)
    options = ["-print_final_stats=1", "-max_len=8000", "-rss_limit_mb=4096", *sys.argv[1:], folder]
    more = {"custom_mutator": mutate} if mutate else {}
    atheris.Setup([sys.argv[0], *options], forgiving(target), **more)
    atheris.Fuzz()  # never returns


def forgiving(target: Target) -> Target:
    """Return the target, allowed to raise documented errors, but not to take long."""

    def judged(data: bytes) -> None:
        begin = time.process_time()
        try:
            target(data)
        except tf.TreefactorError as error:
            str(error)
        took = time.process_time() - begin
        assert took < LONG, f"took {took:.1f} s"

    return judged


def numbers(data: bytes, max_size: int, seed: int) -> bytes:
    """Return other bytes every second time: compiled kernels give the fuzzer no coverage."""
    if seed % 2:
        return atheris.Mutate(data, max_size)
    rng = random.Random(seed)
    return rng.randbytes(min(rng.choice(LENGTHS), max_size))


def bundled(suffix: str) -> list[bytes]:
    """Return the bundled robot descriptions, without the parts that are never read."""
    found = []
    for path in robots.bundled().values():
        try:
            top = ET.fromstring(path.read_bytes().strip())
        except ET.ParseError:
            continue
        for link in top.iter("link"):
            for part in [*link.findall("visual"), *link.findall("collision")]:
                link.remove(part)
        for other in [*top.findall("gazebo"), *top.findall("transmission"), *top.findall("material")]:
            top.remove(other)
        text = ET.tostring(top)
        if len(text) <= SMALL:
            found.append(text)
    if not found:
        raise SystemExit("no robots are bundled: pip install 'treefactor[pinocchio]'")
    return found


def mutate_xml(data: bytes, max_size: int, seed: int) -> bytes:
    """Change one attribute or element of a document that can be read, else some bytes."""
    rng = random.Random(seed)
    try:
        top = ET.fromstring(data)
    except (ET.ParseError, ValueError, LookupError):
        return atheris.Mutate(data, max_size)
    if rng.random() < 0.05:
        return atheris.Mutate(data, max_size)
    elements = list(top.iter())
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        element, other = rng.choice(elements), rng.choice(elements)
        change = rng.randrange(5)
        if change == 0 and len(element):
            element.remove(rng.choice(list(element)))
        elif change == 1 and not any(below is element for below in other.iter()):
            element.append(other)
        elif change == 2 and element.attrib:
            del element.attrib[rng.choice(list(element.attrib))]
        elif element.attrib:
            key = rng.choice(list(element.attrib))
            values = [v for e in elements[:50] for v in e.attrib.values()]
            element.set(key, rng.choice((rng.choice(WORDS), rng.choice(values), repr(rng.gauss(0, 10)))))
    try:
        text = ET.tostring(top)
    except (TypeError, ValueError, RecursionError):
        return data
    return text if len(text) <= max_size else data


class Numbers:
    """Numbers from bytes, mostly small whole ones, of which a few are odd now and then.

    Attributes
    ----------
    odd : bool
        Whether any was so far.
    """

    def __init__(self, given: atheris.FuzzedDataProvider):
        self.given, self.odd = given, False
        self.rarity = given.PickValueInList([0, 0, 0, 4, 60])  # of 256

    def array(self, *shape: int) -> np.ndarray:
        """Return an array of them."""
        count = int(np.prod(shape))
        chosen = np.frombuffer(self.given.ConsumeBytes(count).ljust(count, b"\1"), np.uint8)
        found, odd = np.take(USUAL, chosen % len(USUAL)), chosen > 255 - self.rarity
        found[odd] = np.take(ODD, chosen[odd] % len(ODD))
        self.odd |= bool(odd.any())
        return found.reshape(shape)
