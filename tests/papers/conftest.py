"""Run all tables of the papers once, with few turns of each timing."""

import io
import json
from contextlib import contextmanager, redirect_stdout

import pytest
from helpers.few_turns import few_turns
from helpers.html_page import Page

from treefactor import cli


@contextmanager
def quick_times(cache):
    """Time as little as possible, and compile into a cache of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        few_turns(patch.setattr)
        yield


@pytest.fixture(scope="module")
def impatient(tmp_path_factory):
    with quick_times(tmp_path_factory.mktemp("cache")):
        yield


@pytest.fixture(scope="session")
def executed(tmp_path_factory):
    """Return exit status, output, JSON and page of one run of all tables."""
    folder = tmp_path_factory.mktemp("tables")
    files = folder / "tables.json", folder / "tables.html"
    with quick_times(folder), redirect_stdout(io.StringIO()) as out:
        status = cli.main(["tables", "--json", str(files[0]), "--html", str(files[1])])
    return status, out.getvalue(), json.loads(files[0].read_text()), Page(files[1])
