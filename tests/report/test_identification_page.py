"""Test the page and the figures of an identification on made-up numbers."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.html_page import Page

from treefactor import report
from treefactor.identification.measured_fit import FittedParameter, JointResidual, MeasuredFit
from treefactor.report.identification_page import POINTS, write_identification

HOSTILE = "<img src=x onerror=alert(1)>&\"'{{ 7 * 7 }}</script></style><!--"
META = {"treefactor": "0.2", "robot": "arm.urdf", "data": "motion.csv", "rate": "500", "cutoff": "50"}


def fit(names=("shoulder", "elbow"), N=1000, bodies=False, **values):
    """Return a fit with a missing value, without numbers of bodies unless requested."""
    nan = np.nan
    t = 2.0 + np.arange(N) / 100
    measured = np.sin(np.outer(t, np.arange(1, len(names) + 1)))
    used = np.ones_like(measured, dtype=bool)
    used[: N // 10, 1] = False
    own = 0.51 if bodies else nan
    parameters = [FittedParameter(f"h_x of {names[0]} + 0.4 m of {names[1]}", "kg m", 0.5123, 0.02, own, 0.4)]
    parameters += [FittedParameter(f"I_zz of {names[1]}", "kg m²", nan, nan, own, 0.1)]
    parameters += [
        FittedParameter(f"viscous friction of {name}", "N m s", 3.25, 0.1, nan, nan) for name in names
    ]
    joints = [JointResidual(name, 12.3, 0.25, 0.061, 0.0712, own) for name in (*names, "all joints")]
    made = {
        "estimate": SimpleNamespace(names=("x",) * 4, rank=3, cond=51.0, not_excited=("I_zz of elbow",)),
        "model": SimpleNamespace(joints=(), parameters=np.zeros((0, 10))) if bodies else None,
        "parameters": tuple(parameters),
        "joints": tuple(joints),
        "t": t,
        "measured": measured,
        "predicted": measured + 0.01 * np.cos(40 * t)[:, None],
        "used": used,
        "held": np.floor(2 * t).astype(int) % 2 == 0,
        "notes": ("v is derived by central differences",),
        "failures": ("the motion does not excite 1 parameters: I_zz of elbow",),
    }
    return MeasuredFit(**(made | values))


def written(tmp_path, shown, title="arm, fixed base"):
    file = tmp_path / "page.html"
    write_identification(file, title, shown, META | {"samples": len(shown.t)})
    return Page(file)


def test_all_facts_are_on_the_page(tmp_path):
    page = written(tmp_path, fit())
    for said in (
        *("arm, fixed base", "arm.urdf", "motion.csv", "1000 samples, recorded at 500 Hz", "filter of 50 Hz"),
        *("6.1 % residual, fit", "7.1 % residual, held out", "25.0 % residual, inertias of the file"),
        *(
            "3 of 4 parameters determined",
            "51 condition",
            "h_x of shoulder + 0.4 m of elbow",
            "0.5123",
            "0.02",
        ),
        *(
            "not excited",
            "kg m²",
            "viscous friction of elbow",
            "3.25",
            "N m s",
            "12.3",
            "central differences",
        ),
        "the motion does not excite 1 parameters: I_zz of elbow",
    ):
        assert said in page.text, said
    assert "bodies that can exist" not in page.text


def test_bodies_have_columns(tmp_path):
    page = written(tmp_path, fit(bodies=True))
    assert "held-out torques, with bodies that can exist" in page.text
    assert page.text.count("0.51 ") == 2
    assert "51.0 %" in page.text


def test_the_page_is_self_contained_and_escapes_names(tmp_path):
    names = (HOSTILE, "elbow")
    page = written(tmp_path, fit(names, notes=(HOSTILE,), failures=(HOSTILE,)), HOSTILE)
    assert not page.of("img")
    assert not page.of("script")
    assert not page.of("link")
    assert "://" not in page.source
    assert "49" not in page.of("title")
    assert "default-src 'none'" in page.of("meta", **{"http-equiv": "Content-Security-Policy"})[0]["content"]


def points(path):
    return [[float(x) for x in part.split()] for part in path["d"].replace("L", "M").split("M")[1:]]


def test_curves_lie_within_their_drawing(tmp_path):
    page = written(tmp_path, fit(N=5000))
    drawings = page.of("svg", viewbox="0 0 360 200")
    assert len(drawings) == 2
    for kind in ("measured", "predicted", "residual"):
        for path in page.of("path", **{"class": kind}):
            curve = np.array(points(path))
            assert 100 < len(curve) <= POINTS + 2
            assert (curve >= [38, 0]).all()
            assert (curve <= [360, 184]).all()
    bands = [float(band["x"]) for band in page.of("rect", **{"class": "band"})]
    assert len(bands) == 2 * 50
    assert min(bands) >= 38


def test_curves_show_the_least_and_greatest_of_many_samples(tmp_path):
    many = fit(N=20000)
    measured = many.measured.copy()
    measured[12345, 0] = 50.0
    page = written(tmp_path, fit(N=20000, measured=measured))
    path = page.of("path", **{"class": "measured"})[0]
    assert min(y for _, y in points(path)) == 0.0


def test_unknown_predictions_leave_gaps(tmp_path):
    complete = fit()
    predicted = complete.predicted.copy()
    predicted[100:200, 0] = np.nan
    path = written(tmp_path, fit(predicted=predicted)).of("path", **{"class": "predicted"})[0]
    assert path["d"].count("M") == 2


def test_freedoms_without_rows_are_not_drawn(tmp_path):
    used = np.zeros((1000, 2), dtype=bool)
    used[:, 1] = True
    assert len(written(tmp_path, fit(used=used)).of("svg", viewbox="0 0 360 200")) == 1


def test_whiskers_share_a_scale_with_the_file(tmp_path):
    page = written(tmp_path, fit())
    assert len(page.of("circle", **{"class": "value"})) == 1  # the others lack a value, or one in the file
    value, before = (float(page.of("circle", **{"class": kind})[0]["cx"]) for kind in ("value", "before"))
    assert before / value == pytest.approx(0.4 / 0.5123, abs=2e-3)


def test_figures_are_plain_values(tmp_path):
    figures = report.identification_figures(fit())
    report.write_json(tmp_path / "fit.json", figures)
    read = json.loads((tmp_path / "fit.json").read_text())
    assert read["parameters"][0]["value"] == 0.5123
    assert read["parameters"][1]["value"] is None
    assert read["joints"][-1]["held_out"] == 0.0712
    assert (read["rank"], read["bodies"], read["not_excited"]) == (3, None, ["I_zz of elbow"])


def test_tables_on_the_console(capsys):
    for bodies in (False, True):
        report.print_identification("arm", fit(bodies=bodies))
        out = capsys.readouterr().out
        for said in (
            "h_x of shoulder + 0.4 m of elbow",
            "0.5123",
            "not excited",
            "7.1 %",
            "Note: v is",
            "Failed: the",
        ):
            assert said in out
        assert ("51.0 %" in out) == bodies
