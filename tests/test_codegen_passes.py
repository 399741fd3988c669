"""Passes for printers."""

import numpy as np
import pytest
from codegen_models import model

from treefactor.codegen import generate, passes
from treefactor.codegen.expressions import INPUT


@pytest.fixture(scope="module")
def function():
    return generate(model("solo12"), "aba").functions["aba"]


def test_a_printer_inlines_what_is_used_once(function):
    once = passes.inlined(function)
    used = np.concatenate([function.a[function.op > INPUT], function.b[function.op > INPUT], function.output])
    uses = np.bincount(used, minlength=function.rows)
    assert (uses[once] == 1).all()
    assert not once[function.output].any()
    assert once.sum() > 0.3 * function.rows
