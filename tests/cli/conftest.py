"""Let a test compare engines in its own process, which takes a fraction of the time."""

from functools import partial

import pytest

from treefactor.check.matrix import Matrix
from treefactor.check.project import selection


@pytest.fixture
def in_process(monkeypatch):
    """Let `treefactor check` start no processes."""
    monkeypatch.setattr(selection, "Matrix", partial(Matrix, processes=False))
