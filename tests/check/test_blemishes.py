"""Compare URDFs with one blemish each: every engine gets the right word."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.blemishes import BLEMISHES, DROPS, REFUSES, SAME, Blemish

pin = pytest.importorskip("pinocchio", reason="Pinocchio is the reference")


@pytest.mark.parametrize("blemish", BLEMISHES, ids=lambda blemish: blemish.name)
def test_pinocchio_reads_the_files_as_the_corpus_states(blemish: Blemish, tmp_path):
    try:
        model = pin.buildModelFromUrdf(str(blemish.write(tmp_path)))
    except ValueError:
        assert blemish.pinocchio == REFUSES
        return
    tensor = list(model.inertias)[2].inertia
    assert blemish.pinocchio == (SAME if np.any(tensor) else DROPS)
