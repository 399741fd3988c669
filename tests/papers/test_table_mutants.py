"""Test that errors planted in the papers' algorithms fail the papers' tables."""

import signal
from functools import cache

import numpy as np
import pytest
from papers.mutants import ALGORITHMS, COUNT, EQUIVALENT, caught, mutants, noticed, planted, selected

from treefactor.dynamics import chain
from treefactor.dynamics.flexible_link import FlexibleLink
from treefactor.papers.tables import PAPERS, kane_sum_extensions
from treefactor.papers.textbook import featherstone

LEAST, PER_ALGORITHM, SHARE = 100, 5, 0.95  # mutants in all, of each algorithm, and what must be noticed
SLOW = ("loops", "incremental", "other_factors", "penalties", "procedure", "figure_5")

pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a limit of processor time"),
    pytest.mark.uncovered,
]
QUICK = [algorithm for algorithm in ALGORITHMS if algorithm.tables[0] not in SLOW]

chosen = cache(lambda algorithm: selected(algorithm, COUNT))


def named(algorithm):
    return f"{algorithm.paper}, {algorithm.name}"


@pytest.mark.parametrize("algorithm", QUICK, ids=named)
def test_one_error_of_each_algorithm_is_noticed(algorithm):
    candidates = [mutant for mutant in chosen(algorithm) if str(mutant) not in EQUIVALENT]
    mutant = min(candidates, key=lambda mutant: mutant.rule != "sign")
    assert caught(algorithm, mutant), mutant


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=named)
def test_every_error_is_noticed_but_those_that_change_nothing(algorithm):
    survivors = {str(mutant) for mutant in chosen(algorithm) if not caught(algorithm, mutant)}
    assert survivors == {str(mutant) for mutant in chosen(algorithm)} & set(EQUIVALENT)


def test_enough_errors_are_planted_and_noticed():
    planned = [str(mutant) for algorithm in ALGORITHMS for mutant in chosen(algorithm)]
    assert len(planned) == len(set(planned)) >= LEAST
    assert min(len(chosen(algorithm)) for algorithm in ALGORITHMS) >= PER_ALGORITHM
    assert set(EQUIVALENT) <= set(planned)
    assert all(proof.endswith((".", "way")) or len(proof) > 20 for proof in EQUIVALENT.values())
    assert len(EQUIVALENT) <= (1 - SHARE) * len(planned)
    assert {algorithm.paper for algorithm in ALGORITHMS} == set(PAPERS)


def test_right_algorithms_are_not_noticed():
    for paper in ("featherstone", "shimanovsky"):
        assert (
            noticed(paper, [make for make in PAPERS[paper] if make.__name__ in ("figure_6_3", "numbers")])
            == ""
        )


def test_an_error_is_planted_for_a_while():
    H = np.array([[4.0, 2.0], [2.0, 5.0]])
    right = featherstone.ltl(H, [0, 1]).astype(float)
    (mutant,) = (
        one for one in mutants(featherstone.__name__, "ltl") if one.change.startswith("H[i, j] - H[k, i]")
    )
    assert mutant.change == "H[i, j] - H[k, i] * H[k, j] -> H[i, j] + H[k, i] * H[k, j]"
    with planted(mutant.module, mutant.function, mutant.code):
        assert np.abs(featherstone.ltl(H, [0, 1]).astype(float) - right).max() > 0.1
    np.testing.assert_array_equal(featherstone.ltl(H, [0, 1]).astype(float), right)


def test_what_does_not_end_is_noticed():
    def endless():
        while True:
            pass

    assert noticed("tasora", [endless], seconds=0.05) == "does not end"


# ------------------------------------------------------------------------- planted by hand


def noticed_extensions():
    return noticed("kane-sum", [kane_sum_extensions.extensions])


def test_sums_that_are_forced_on_one_thread_are_noticed(monkeypatch):
    monkeypatch.setattr(kane_sum_extensions, "WAIT", 0.01)
    monkeypatch.setattr(chain, "thread_count", lambda wanted: 1)
    assert "parallel sums: threads that computed columns" in noticed_extensions()


def test_a_larger_modal_mass_is_noticed(monkeypatch):
    checked = FlexibleLink._checked
    monkeypatch.setattr(
        FlexibleLink, "_checked", lambda link: (x := checked(link)) | {"modal": 1.3 * x["modal"]}
    )
    assert "flexible links" in noticed_extensions()
