"""The API reference has each public name once, with Pinocchio's counterpart and ratio; words lead to it."""

import importlib
import inspect
import json
import re
from collections import defaultdict
from operator import attrgetter
from pathlib import Path

import pytest
from helpers.reachable import REACHABLE
from helpers.reference import LISTED, PAGES

import treefactor
from treefactor.quantities.table import QUANTITIES

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MODULES = ("codegen", "constraints", "control", "identification", "mlcp", "se3", "so3", "viewing")
NOT_RUN = "not yet run on a GPU"


@pytest.fixture
def reference(monkeypatch):
    """Return the extension of Sphinx that adds counterparts and words."""
    pytest.importorskip("sphinx", reason="it extends Sphinx")
    pytest.importorskip("matplotlib", reason="exhibits draws with it")
    monkeypatch.syspath_prepend(DOCS / "code")
    return importlib.import_module("reference")


def found_at(name):
    """Return the object of a name below treefactor; None for an adapter whose engine is missing."""
    owner, _, last = f"treefactor.{name}".rpartition(".")
    try:
        module = importlib.import_module(owner)
        return (
            getattr(module, last) if hasattr(module, last) else importlib.import_module(f"treefactor.{name}")
        )
    except treefactor.AdapterError:
        return None


def members(module):
    """Return the names that Sphinx documents of a module."""
    own = [name for name, one in vars(module).items() if getattr(one, "__module__", "") == module.__name__]
    return getattr(module, "__all__", [name for name in own if name[0] != "_"])


def test_each_public_name_stands_in_one_section():
    places = defaultdict(list)
    for name in LISTED:
        documented = found_at(name)
        if inspect.ismodule(documented):
            for inner in members(documented):
                places[id(getattr(documented, inner))].append(f"{name}.{inner}")
        else:
            places[id(documented)].append(name)
    public = {name: getattr(treefactor, name) for name in REACHABLE}
    for place in MODULES:
        module = attrgetter(place)(treefactor)
        public |= {f"{place}.{name}": getattr(module, name) for name in module.__all__}
    for name, documented in public.items():
        if callable(documented):
            assert len(places[id(documented)]) == 1, f"{name} stands in docs/api as {places[id(documented)]}"
    assert len(LISTED) == len(set(LISTED))


def test_the_map_leads_to_every_page():
    text = (DOCS / "api" / "index.md").read_text(encoding="utf-8")
    inner = {"index", "cholesky"}
    assert set(re.findall(r"\]\((\w+)\.md\)", text)) - inner == {page.stem for page in PAGES} - inner
    assert (
        set(text.split("```{toctree}\n:hidden:\n\n")[1].split()) - {"```"}
        == {page.stem for page in PAGES} - inner
    )


def test_every_function_shows_its_counterpart_and_its_ratio(reference):
    shown = 0
    for name in LISTED:
        if name.startswith(("treefactor.", "adapters")) or not inspect.isroutine(found_at(name)):
            continue
        text = "\n".join(reference.comparison(name))
        if name in QUANTITIES or "." not in name:
            assert "Compared with Pinocchio" in text, name
        for row in reference.replaced_by(name):
            assert f"``{row.theirs.split(', ')[0]}``" in text
            for how in reference.HOW:
                ratios = reference.ratios_to_pinocchio().get((row.measured, how), ())
                assert re.sub("</?b>", "**", reference.faster(ratios)) in text
                shown += bool(ratios)
    assert shown > 250


def test_ratios_have_their_date_and_processor(reference):
    stored = json.loads((DOCS / "measured" / "from_pinocchio.json").read_text(encoding="utf-8"))
    text = "\n".join(reference.comparison("crba"))
    assert stored["date"] in text
    assert stored["config"]["processor"] in text
    assert ("AVX-512" in text) == (stored["config"]["used"] == "avx512")


def test_a_sentence_says_how_many_times_faster_one_call_is(reference):
    remark = reference.remark("crba")
    low, high = sorted(reference.ratios_to_pinocchio()["crba", "one call"])[::2]
    assert remark == f":compared:`Pinocchio: crba; {low:.1f}–{high:.1f} times faster`"
    assert reference.in_words([0.5, 0.8]) == "slower: 1.2–2.0 times"
    assert reference.in_words([]) == reference.remark("Tree") == ""


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("crba", "crba"),
        ("center of mass jacobian", "center_of_mass_jacobian"),
        ("joint space inertia", "crba"),
        ("computeGeneralizedGravity", "generalized_gravity"),
        ("rpy", "so3.from_rpy"),
    ],
)
def test_other_names_lead_to_functions(reference, word, name):
    assert reference.words_of_names()[word] == name


def test_other_names_lead_to_public_functions(reference):
    for name in set(reference.words_of_names().values()):
        assert callable(attrgetter(name)(treefactor)), name


def test_words_stand_after_the_sentence_of_a_docstring(reference):
    lines = ["", "Compute it.", "", "More."]  # numpydoc begins with an empty line
    reference.add(None, "function", "treefactor.crba", treefactor.crba, None, lines)
    assert lines[1:5] == ["Compute it.", "", ".. index::", "   ! single: crba"]
    assert "   ! single: inertia matrix" in lines
    assert "   ! single: mass matrix" not in lines  # of the glossary
    assert ".. rubric:: Compared with Pinocchio" in lines


def test_pages_of_missing_packages_say_so_and_do_not_run(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "code")
    missing_packages = importlib.import_module("missing_packages")
    cells = "```{code-cell}\nimport absent_one\n```\n\n"
    cells += "```{code-cell}\n:tags: [remove-input]\n\nimport exhibits\n```\n"
    text = f"---\nfile_format: mystnb\n---\n\n# Title\n\nText.\n\n{cells}"
    assert missing_packages.missing(text) == ["absent_one"]
    page = missing_packages.without_output(text, ["absent_one"])
    assert page.startswith("\n# Title\n\n```{note}\nThis page was built where `absent_one` is not installed")
    assert "```python\nimport absent_one\n```" in page
    assert "code-cell" not in page
    assert "exhibits" not in page
    assert missing_packages.missing("# Title\n\n```{code-cell}\nimport numpy\n```\n") == []


def test_optional_cells_of_missing_packages_alone_do_not_run(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "code")
    missing_packages = importlib.import_module("missing_packages")
    cell = "```{code-cell}\n:tags: [optional]\n\nimport absent_one\n```\n"
    text = f"# Title\n\n```{{code-cell}}\nimport numpy\n```\n\n{cell}\n{cell}"
    assert missing_packages.missing(text) == []
    source = [text]
    missing_packages.change(None, "page", source)
    assert source[0].count("```{code-cell}") == 1
    assert source[0].count("```python\nimport absent_one\n```") == 2
    assert source[0].count("built without `absent_one`") == 1
    source = [text.replace("absent_one", "numpy")]
    missing_packages.change(None, "page", source)
    assert source[0].count("{code-cell}") == 3


def test_all_pages_say_the_same_about_gpus():
    codegen = ROOT / "treefactor" / "codegen"
    files = [ROOT / "README.md", ROOT / "CHANGELOG.md", *DOCS.rglob("*.md")]
    files += [codegen / "kernels.py", codegen / "cuda_kernels.py"]
    texts = {path: " ".join(path.read_text(encoding="utf-8").split()) for path in files}
    lists_of_names = (DOCS / "concepts" / "threads.md", *PAGES)
    about = {path for path, text in texts.items() if re.search(r'CudaKernels|NVIDIA|for CUDA|"cuda"', text)}
    about -= set(lists_of_names)
    assert {"faq.md", "install.md", "kernel.md"} <= {path.name for path in about}
    assert [path.name for path in about if NOT_RUN not in texts[path]] == []
    for path, text in texts.items():
        others = text.replace(NOT_RUN, "")
        assert not re.search(r"\b(runs?|ran|measured|tested) on (an? )?(NVIDIA )?GPUs?\b(?!\?)", others), path


def test_the_search_is_checked_for_thirty_terms(monkeypatch):
    pytest.importorskip("playwright", reason="it drives the browser")
    monkeypatch.syspath_prepend(DOCS / "code")
    first = importlib.import_module("check_pages").FIRST
    assert len(first) >= 30
    assert {
        title.removeprefix("treefactor.") for title in first.values() if title.startswith("treefactor.")
    } <= set(LISTED)
