"""Compile files and texts by MuJoCo, with inertias that it refuses, and its reasons in errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import mujoco

from ._mjcf import Odd, mjcf
from ._mujoco_body import adapter_error


def translated(path: Path, floating: bool) -> mujoco.MjModel:
    """Compile the MJCF made of a URDF."""
    text, odd = mjcf(path, floating)
    model = compiled(mujoco.MjModel.from_xml_string, path, text)
    model.site_sameframe[:] = 0  # otherwise rotations of less than about 1e-11 are left out
    return with_inertias(model, odd)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep MuJoCo from writing its warnings to a log file in the working directory."""
    mujoco.set_mju_user_warning(lambda message: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(None)


def compiled(build: Callable, path: Path, *source: str):
    """Return what MuJoCo builds; raise AdapterError with MuJoCo's reason and the body it names."""
    try:
        with quiet():
            return build(*source)
    except (ValueError, RuntimeError, TypeError, mujoco.FatalError, mujoco.UnexpectedError) as error:
        reason = " ".join(str(error).split()).removesuffix(", line 1")  # all of our own MJCF is line 1
        named = re.search("name '([^']*)'", reason)
        raise adapter_error(f"MuJoCo cannot load it: {reason}", named and named[1], path) from error


def with_inertias(model: mujoco.MjModel, odd: Odd) -> mujoco.MjModel:
    """Set the masses and moments of bodies that MuJoCo does not compile."""
    for name, (mass, moments) in odd.items():
        k = model.body(name).id
        model.body_mass[k], model.body_inertia[k] = mass, moments
    mujoco.mj_setConst(model, mujoco.MjData(model))  # diagonals of "simple" freedoms
    return model
