"""Fuzz files of contact problems: any bytes or datasets are read or refused."""

import io
from functools import cache

import atheris
import h5py
import harness
import numpy as np
from harness import Numbers

from treefactor import fclib, mlcp

PLACES = tuple(f"{matrix}/{part}" for matrix in "MHG" for part in ("m", "n", "nz", "x", "i", "p"))
VECTORS = ("vectors/f", "vectors/w", "vectors/mu", "vectors/b")


def parts() -> dict[str, object]:
    """Return a box on two feet: two contacts, one bilateral row."""
    found: dict[str, object] = {
        f"vectors/{name}": np.ones(size) for name, size in zip("fwb", (3, 6, 1), strict=True)
    }
    found["vectors/mu"] = np.full(2, 0.5)
    for name, dense in (("M", 2.0 * np.eye(3)), ("H", np.ones((3, 6))), ("G", np.eye(3)[:, :1])):
        i, p = np.nonzero(dense)
        sizes = dict(zip(("m", "n", "nz"), ([size] for size in (*dense.shape, len(i))), strict=True))
        found |= {f"{name}/{part}": x for part, x in {**sizes, "x": dense[i, p], "i": i, "p": p}.items()}
    return found


def image(content: dict[str, object]) -> bytes:
    """Return an HDF5 file."""
    file = io.BytesIO()
    with h5py.File(file, "w") as out:
        for name, value in content.items():
            out[f"fclib_global/{name}"] = value
    return file.getvalue()


@cache
def whole() -> bytes:
    """Return the file whose bytes are changed."""
    return image(parts())


def with_other_parts(given) -> bytes:
    """Return the file without some datasets, or with other shapes, types and numbers."""
    numbers, content = Numbers(given), parts()
    for _ in range(given.ConsumeIntInRange(0, 3)):
        name = given.PickValueInList([*PLACES, *VECTORS])
        old = np.asarray(content.get(name, 0.0))
        change = given.ConsumeIntInRange(0, 6)
        if change == 0:
            content.pop(name, None)
        elif change == 1:
            content[name] = given.PickValueInList([b"text", 1.0, np.ones((2, 2)), np.array(1j), np.empty(0)])
        elif change == 2:
            content[name] = numbers.array(given.ConsumeIntInRange(0, 12))
        elif change == 3:
            content[name] = np.full(old.shape, given.PickValueInList([-1, -2, 2**31, -(2**63), 2**63 - 1, 7]))
        else:
            content[name] = np.resize(old, given.ConsumeIntInRange(0, 8)) + given.ConsumeIntInRange(-2, 2)
    return image(content)


def with_other_bytes(given) -> bytes:
    """Return the file with a few bytes changed, perhaps without its end."""
    found = bytearray(whole())
    for _ in range(given.ConsumeIntInRange(1, 8)):
        found[given.ConsumeIntInRange(0, len(found) - 1)] = given.ConsumeIntInRange(0, 255)
    return bytes(
        found[: given.ConsumeIntInRange(1, len(found))] if given.ConsumeProbability() > 0.9 else found
    )


def read(data: bytes) -> None:
    """Read a file, and solve its problem."""
    given = atheris.FuzzedDataProvider(data)
    file = with_other_parts(given) if given.ConsumeProbability() < 0.7 else with_other_bytes(given)
    with np.errstate(all="ignore"):
        contacts = fclib.read(io.BytesIO(file))
        mlcp.solve(contacts.problem(given.PickValueInList([0, 4])))


if __name__ == "__main__":
    harness.run(read, [bytes(range(256))], harness.numbers)
