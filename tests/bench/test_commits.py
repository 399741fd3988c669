"""Test how commits are measured in turns and compared, and the stored ratios; never how fast."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from helpers.few_turns import few_turns

from treefactor.bench.comparisons import all_robots

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def scripts(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "asv_bench")
    yield
    for name in ("builds", "compare", "history", "worker"):
        sys.modules.pop(name, None)


def results(share, operations=10):
    return {"shares": {"solo12": {"factor": share}}, "operations": {"solo12": {"rnea": operations}}}


def stored(commit, ratio, operations=10, used="avx2"):
    config = {"used": used}
    ratios = {robot: {"factor": ratio} for robot in ("a", "b")}
    return {
        **{"commit": commit, "date": commit, "config": config},
        **{"ratios": ratios, "operations": {"a": {"rnea": operations}}},
    }


def test_builds_take_turns_in_both_orders(monkeypatch):
    import builds

    monkeypatch.setattr(builds, "measure", lambda package: {"package": package})
    order = [name for name, _ in builds.in_turns({"old": Path("a"), "new": Path("b")}, 3)]
    assert order == ["old", "new", "new", "old", "old", "new"]


@pytest.mark.parametrize(
    ("new", "verdict"), [((0.6, 0.7, 0.56), "slower"), ((0.4, 0.3, 0.44), "faster"), ((0.6, 0.5, 0.6), "")]
)
def test_a_change_shows_in_every_round(new, verdict, capsys):
    import compare

    (change,) = compare.changes([results(0.5)] * 3, map(results, new))
    assert change.rounds == pytest.approx([share / 0.5 for share in new])
    assert change.verdict == verdict
    compare.print_changes([change], "old", "new")
    assert (f" {verdict} " in capsys.readouterr().out) == bool(verdict)


def test_what_only_one_commit_measures_is_not_compared():
    import compare

    assert compare.changes([{"shares": {}}], [results(0.5)]) == []


def test_changed_numbers_of_operations_are_printed(capsys):
    import compare

    compare.print_operations(
        {"solo12": {"rnea": 9}}, {"solo12": {"rnea": 10, "crba": 1}, "panda": {"rnea": 1}}
    )
    assert capsys.readouterr().out == "solo12, program of rnea: 9 operations, now 10\n"


def test_a_worker_measures_this_build(monkeypatch, capsys):
    pytest.importorskip("pinocchio", reason="the peer")
    import worker

    few_turns(monkeypatch.setattr)
    monkeypatch.setattr(all_robots, "COUNT", 16)
    monkeypatch.setattr(worker, "ROBOTS", ("ur5_robot",))
    worker.main(str(Path(worker.treefactor.__file__).parents[1]))
    printed = json.loads(capsys.readouterr().out)
    assert list(printed["shares"]["ur5_robot"]) == list(all_robots.TITLES)
    assert all(share > 0 for share in printed["shares"]["ur5_robot"].values())
    with pytest.raises(SystemExit, match="expected treefactor of /absent"):
        worker.main("/absent")


def test_builds_are_measured_by_the_comparisons_of_this_checkout(tmp_path):
    import builds

    builds.replace_bench(tmp_path)
    copied = tmp_path / "treefactor" / "bench"
    assert (copied / "comparisons" / "all_robots.py").is_file()
    assert (copied / "_peak.pyx").is_file()
    assert {file.suffix for file in copied.rglob("*") if file.is_file()} == {".py", ".pyx"}


def test_an_unknown_commit_is_refused(monkeypatch):
    import builds

    monkeypatch.setattr(builds.subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=1))
    with pytest.raises(SystemExit, match="expected a commit of this repository, got 'absent'"):
        builds.commit_of("absent")


def test_a_record_has_the_medians_of_its_runs():
    import history

    config = {"treefactor": "1", "used": "avx2", "machine": "x86_64", "python": "3"}
    runs = [{**results(share), "config": config} for share in (0.5, 0.25, 0.1)]
    record = history.record("0123456789", "2020-01-01", runs)
    assert record["commit"] == "01234567"
    assert record["ratios"] == {"solo12": {"factor": 4.0}}
    assert record["operations"] == {"solo12": {"rnea": 10}}
    assert set(record["config"]) == {"treefactor", "used", "machine"}


def test_records_are_sorted_and_replaced():
    import history

    records = history.added([stored("1", 2.0), stored("3", 2.0)], stored("2", 2.0))
    assert [one["commit"] for one in records] == ["1", "2", "3"]
    again = history.added(records, stored("2", 5.0))
    assert [history.medians(one)["factor"] for one in again] == [2.0, 5.0, 2.0]
    assert len(history.added(records, stored("2", 5.0, used="avx512"))) == 4


def test_what_falls_against_the_record_before_is_named():
    import history

    records = [stored("1", 10.0), stored("2", 99.0, used="avx512"), stored("3", 8.0, operations=11)]
    assert history.slower(records) == ["factor: 10.0 times faster than Pinocchio, now 8.0"]
    assert history.slower(records[:2]) == []
    assert history.slower([records[0], stored("2", 9.0)]) == []
    assert history.more_operations(records) == ["a, program of rnea: 10 operations, now 11"]


def test_stored_ratios_did_not_fall_and_operations_did_not_grow():
    pytest.importorskip("pinocchio", reason="the robots are of example-robot-data")
    import history
    import worker

    records = history.stored()
    assert records
    assert history.slower(records) == []
    assert history.more_operations(records) == []
    now = {"operations": worker.operations(worker.ROBOTS)}
    assert history.more_operations([*records, now]) == []
    assert [one["date"] for one in records] == sorted(one["date"] for one in records)
