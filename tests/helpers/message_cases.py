"""A model, a URDF, and calls of public functions with a wrong value, for the tests of error messages."""

import inspect

import numpy as np
import pytest

import treefactor as tf
from treefactor import codegen, constraints

ROD = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
Y, Z = [0, 1, 0], [0, 0, -1.0]
JOINTS = [
    tf.Joint("shoulder", "revolute", axis=Y, inertia=ROD, body="upper_arm"),
    tf.Joint("elbow", "revolute", 0, p=Z, axis=Y, inertia=ROD, body="forearm"),
    tf.Joint("wrist", "spherical", 1, p=Z, inertia=tf.Inertia(1.0, tensor=np.eye(3)), body="hand"),
]
ARM = tf.Model(JOINTS, name="arm")
Q, V = tf.neutral(ARM), np.zeros(ARM.nv)
URDF = """<?xml version="1.0" encoding="utf-8"?>
<robot name="{name}"><link name="base"/><link name="rod"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/></joint></robot>"""


def functions_of(parameter):
    """Yield public functions and classes with an argument of that name, and its position."""
    for module in (tf, constraints, codegen):
        for name in module.__all__ if hasattr(module, "__all__") else ("generate", "compile", "verify"):
            function = getattr(module, name)
            if not callable(function) or (inspect.isclass(function) and issubclass(function, Exception)):
                continue
            names = list(inspect.signature(function).parameters)
            if parameter in names and function not in (tf.Kernels, codegen.ParameterKernels, tf.Program):
                yield pytest.param(function, names.index(parameter), id=f"{module.__name__}.{name}")


def call_with(function, at, value):
    """Call a function with a value in one place and plausible arguments before it."""
    before = {"function": tf.crba, "H": np.eye(2), "J": np.eye(2), "model": ARM, "layout": "dense"}
    names = list(inspect.signature(function).parameters.values())
    arguments = [before.get(one.name, V) for one in names[:at]] + [value]
    rest = [one for one in names[at + 1 :] if one.default is one.empty and one.kind != one.VAR_POSITIONAL]
    given = {one.name: V for one in rest if one.kind == one.KEYWORD_ONLY}
    function(*arguments, *[V for one in rest if one.kind != one.KEYWORD_ONLY], **given)


class Model:
    """Imitate an engine's class: same name, another package."""


def foreign(package, name):
    """Return an object whose class has an engine's name and module."""
    return type(name, (), {"__module__": f"{package}.core"})()
