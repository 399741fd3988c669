"""Pages made from declarations: entries of q and v, cheat sheet, glossary, batches, and folded promises."""

import importlib
import re
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace

import pytest

import treefactor as tf
from treefactor.model.joints import SIZES
from treefactor.quantities.replacements import GROUPS

pytestmark = pytest.mark.unsanitized

DOCS = Path(__file__).parents[1] / "docs"
SEARCHED = {  # words that a reader types, and where the search must lead
    "mass matrix": "crba",
    "joint-space inertia matrix": "crba",
    "forward kinematics": "frame_placement",
    "inverse dynamics": "rnea",
    "forward dynamics": "forward_dynamics",
    "nle": "bias",
    "gravity compensation": "generalized_gravity",
    "jacobian": "frame_jacobian",
    "center of mass": "center_of_mass",
    "operational space": "operational_space",
    "inverse kinematics": "control.inverse_kinematics",
    "lcp": "mlcp.solve",
    "qpos": "adapters.mujoco_.configuration",
}


def text(page):
    return (DOCS / page).read_text(encoding="utf-8")


@pytest.fixture
def code(monkeypatch):
    """Return a function that imports a module of docs/code."""
    pytest.importorskip("matplotlib", reason="exhibits draws with it")
    monkeypatch.syspath_prepend(DOCS / "code")
    return importlib.import_module


def test_entries_of_joints_have_the_sizes_of_the_kinds(code):
    entries = code("entries").ENTRIES
    assert {kind: (len(q), len(v)) for kind, (q, v) in entries.items()} == SIZES
    rows = re.findall(
        r'^\| `"(\w+)"`[^|]*\| (\d) \|[^|]*\| (\d) \|', text("concepts/configurations.md"), re.M
    )
    assert {kind: (int(nq), int(nv)) for kind, nq, nv in rows} == SIZES


def test_the_picture_numbers_all_entries(code):
    joints = [tf.Joint(kind, kind, -1, **axes_of(kind)) for kind in SIZES]
    joints.append(tf.Joint("follower", "revolute", axis=[1, 0, 0], mimic=tf.Mimic(0)))
    model = tf.Model(joints, strict=False)
    picture = code("entries").draw(model)
    for name, size in (("q", model.nq), ("v", model.nv)):
        assert re.findall(rf"{name}\[(\d+)\]", picture) == [str(i) for i in range(size)]
    assert picture.count("<rect") == model.nq + model.nv
    assert ">as revolute<" in picture


def axes_of(kind):
    count = {"universal": 2, "spherical": 0, "planar": 0, "translation": 0, "freeflyer": 0}.get(kind, 1)
    return {} if not count else {"axis": [0, 0, 1] if count == 1 else [[0, 0, 1], [0, 1, 0]]}


def test_the_cheat_sheet_has_every_replacement(code):
    sheet, module = str(code("cheat_sheet").sheet()), code("cheat_sheet")
    for row in (row for rows in GROUPS.values() for row in rows):
        for name in filter(None, row.ours.split(", ")):
            assert f"<code>{module.call(name)}</code>" in sheet
    assert "<code>tf.rnea(model, q, v, a)</code></td><td>rnea</td>" in sheet
    assert "<code>tf.Model.from_urdf(path)</code>" in sheet
    assert "<code>Factor.refactor(H)</code>" in sheet
    assert "<code>tf.bind(function, model, *arguments, out=out)</code>" in sheet
    assert (DOCS / "_static" / "cheat_sheet.css").is_file()


def test_words_of_the_glossary_lead_to_functions(code):
    synonyms = code("pages").synonyms()
    assert len(synonyms) == text("glossary.md").count("{py:obj}")
    words = [word for some in synonyms.values() for word in some]
    assert len(words) == len(set(words)) > 100
    for name in synonyms:
        if "adapters" not in name:
            attrgetter(name.removeprefix("treefactor."))(tf)
    leads = {
        word.lower(): name.removeprefix("treefactor.") for name, some in synonyms.items() for word in some
    }
    assert {word: leads.get(word) for word in SEARCHED} == SEARCHED


def test_pages_of_functions_get_the_words_into_the_index(code):
    pages = code("pages")
    names = ("treefactor.crba", "treefactor.se3", "treefactor.mlcp", "treefactor.mlcp.solve")
    app = SimpleNamespace(env=SimpleNamespace(found_docs={pages.GENERATED + name for name in names}))
    sources = {}
    for name in names:
        source = [f"{name}\n===="]
        pages.change(app, pages.GENERATED + name, source)
        sources[name] = source[0]
    assert sources["treefactor.crba"].startswith(".. index::\n   ! single: mass matrix\n")
    assert "   ! single: pose error\n" in sources["treefactor.se3"]
    assert "index" not in sources["treefactor.mlcp"]
    assert "   ! single: LCP\n" in sources["treefactor.mlcp.solve"]


def test_tests_of_promises_are_folded(code):
    source = [text("promises.md")]
    rows = re.findall(r"^\| (.*?) \| .*::.*\|$", source[0], re.M)
    code("pages").change(None, "promises", source)
    folded = re.findall(
        r"^\| (.*?) \| <details><summary>\d+ tests?</summary>.*</details> \|$", source[0], re.M
    )
    assert folded == rows
    named = re.compile(r"`(tests/[^`]+)`")
    assert named.findall(source[0]) == named.findall(text("promises.md"))
    assert source[0].count("| promise | shown by |\n| --- | --- |\n") == text("promises.md").count(
        "| promise |"
    )


def test_what_the_page_on_batches_says_holds(code):
    batches = code("batches")
    for robot in ("panda", "solo12", "talos_reduced"):
        for way in batches.WAYS.values():
            counts, times = batches.multiples(robot, way)
            assert min(times) == 1.0
            assert (
                min(count for count, time in zip(counts, times, strict=True) if time <= batches.ENOUGH) <= 256
            )
    for robot in batches.ROBOTS:
        for names in (batches.LAYOUTS["factor"], batches.LAYOUTS["factor, float32"]):
            packed, lanes = (
                batches.of(robot, names[way], "Pinocchio")["ours"] for way in ("packed", "lanes")
            )
            assert lanes < packed
    for table in (batches.enough(), batches.layouts(), batches.threads()):
        assert table.count("<tr>") > 3


def test_charts_of_performance_have_all_robots(code):
    performance = code("performance")
    for name, shown in performance.SHOWN.items():
        lines = {title: dict(performance.ratios(what, performance.now())) for what, title in shown.items()}
        assert {tuple(ratios) for ratios in lines.values()} == {performance.ROBOTS}, name
        page = performance.subject(name)
        for title, ratios in lines.items():
            span = code("exhibits").span(min(ratios.values()), max(ratios.values()))
            assert f"{title} {span}" in page
        rows = performance.now()["panda"]
        for what, title in shown.items():
            known = [
                one["ratio"] for one in rows if one["what"] == what and one["peer"] in ("Pinocchio", "NumPy")
            ]
            assert known == [lines[title]["panda"]]
        subjects = performance.SUBJECTS[name]
        assert page.count("<tr><td") >= len(
            {performance.key(one) for one in rows if one["target"] in subjects}
        )
    assert code("exhibits").measured("avx2")["config"]["used"] == "avx2"


def test_the_page_on_performance_shows_every_chart_once(code):
    calls = re.findall(r"performance\.(\w+)\((.*?)\)", text("performance.md"))
    assert len(calls) == len(set(calls))
    assert {argument.strip('"') for name, argument in calls if name == "subject"} == set(
        code("performance").SHOWN
    )
