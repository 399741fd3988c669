"""Compare programs compiled by LLVM with NumPy."""

import sys

import pytest
from helpers.generated_models import every_joint, robot
from helpers.machine_code import assert_agrees

import treefactor as tf
from treefactor.codegen.backends import emit_llvm
from treefactor.codegen.program import blocks


@pytest.mark.parametrize("model", ["ur5_robot", "every joint"])
def test_both_forms_compute_what_numpy_does(model):
    pytest.importorskip("llvmlite")
    model, program = every_joint() if model == "every joint" else robot(model)
    assert_agrees(emit_llvm.compiled(program), program, model)


def test_blocks_compute_what_one_function_does(monkeypatch):
    pytest.importorskip("llvmlite")
    model, program = robot("ur5_robot")
    monkeypatch.setattr(blocks, "LIMIT", 100)
    monkeypatch.setattr(blocks, "SIZE", 40)
    assert_agrees(emit_llvm.compiled(program), program, model)


def test_the_message_names_the_missing_package(monkeypatch):
    _, program = robot("ur5_robot")
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    monkeypatch.delitem(sys.modules, "llvmlite.binding", raising=False)
    with pytest.raises(tf.exceptions.CodegenError, match=r"pip install 'treefactor\[llvm\]'"):
        emit_llvm.compiled(program)
