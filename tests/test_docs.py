"""Every example of the README, the pages and the docstrings runs, and prints the output that it shows."""

import ast
import doctest
import importlib
import inspect
import json
import pkgutil
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from itertools import chain
from operator import attrgetter
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest
from helpers import measured_arm
from helpers.few_turns import small_sizes
from helpers.reachable import REACHABLE
from helpers.reference import LISTED

import treefactor
from treefactor import cli, constraints, families, mechanisms, mlcp, robots
from treefactor.bench import case as cases
from treefactor.bench import scaling as growth
from treefactor.bench import timing
from treefactor.papers import tables
from treefactor.quantities.functions import ENTRIES, QUANTITIES
from treefactor.quantities.replacements import GROUPS

pytestmark = pytest.mark.unsanitized

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
CODE = DOCS / "code"
PAGES = sorted(path for path in DOCS.rglob("*.md"))
CELL = re.compile(r"^```\{code-cell\}\n(.*?)^```", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^ *(```+|:::+)(\{?[\w:-]*\}?)[^\n]*\n(.*?)^ *\1 *$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:^ {4}.*\n|^\n(?= {4}))+", re.MULTILINE)
PLAIN = ("toctree", "eval-rst", "figure", "image", "grid", "grid-item-card")  # fences that hold no code
# in a block of its own, or in the text with its arguments
COMMAND = re.compile(r"^    (?:\$ )?((?:treefactor|make -C) .+)$|`(treefactor \w+ [^`]+)`", re.MULTILINE)
LONG = (  # run at length in tests of their own, or for a smaller robot
    *("treefactor tables", "treefactor check"),
    "treefactor bench solo12",
)
LONG_PAGES = ("falling", "flexible", "jax")  # whose code takes seconds; that of all others as long together
GENERATED = {"build", "dist"}
ENGINES = "pinocchio", "example_robot_data", "pybullet", "pybullet_data", "mujoco", "pydrake", "coal"
FRAMEWORKS = {  # by the names of pages
    "jax": ("jax",),
    "pytorch": ("torch",),
    "from_mujoco": ("mujoco",),
    "from_others": ("pydrake", "pybullet"),
}
OF_TABLE = (
    "treefactor.quantities.",
    "treefactor.se3",
    "treefactor.so3",
)  # examples of the table, or its functions
RAISE_NOTHING = ("neutral", "default_robots", "bundled")


def slow_if(condition, value, name):
    return pytest.param(value, id=name, marks=[pytest.mark.slow] if condition else [])


def pages():
    return [
        slow_if(path.parent.name == "papers" or path.stem in LONG_PAGES, path, str(path.relative_to(DOCS)))
        for path in PAGES
    ]


def commands():
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "README.md", *PAGES)]
    listed = dict.fromkeys(a or b for text in texts for a, b in COMMAND.findall(text))
    return [slow_if(command.startswith(LONG), command, command) for command in listed]


@pytest.fixture
def workplace(monkeypatch, tmp_path):
    """Return an empty folder with a robot, where only small things are timed, once or twice."""
    pytest.importorskip("pinocchio", reason="the examples use Pinocchio")
    small_sizes(monkeypatch.setattr)
    monkeypatch.setattr(growth, "NODES", 64)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(CODE)
    shutil.copy(robots.find("ur5_robot").path, tmp_path / "my_robot.urdf")
    shutil.copy(ROOT / "examples" / "from_pinocchio" / "fuse" / "before.py", tmp_path / "my_script.py")
    model = treefactor.Model.from_urdf("my_robot.urdf")
    t, q, v, a = measured_arm.motion(nv=model.nv)
    measured_arm.write_motion("motion.csv", model, t, q, treefactor.rnea(model, q, v, a) + np.sign(v) + 2 * v)
    return tmp_path


STATUS = {"treefactor check --traps": 1}  # some engines refuse planar joints


def execute(command):
    """Run a command line as a reader would."""
    if command.startswith("treefactor"):
        assert cli.main(shlex.split(command, comments=True)[1:]) == STATUS.get(command, 0)
        return
    if not shutil.which("make") or not shutil.which("cc"):
        pytest.skip("generated C needs make and a compiler")
    folder = shlex.split(command)[2]
    assert cli.main(["generate", f"{folder}_robot", "-o", folder, "--functions", "crba"]) == 0
    subprocess.run(shlex.split(command), check=True)


def test_readme(tmp_path, monkeypatch):
    pytest.importorskip("pinocchio", reason="the README uses Pinocchio")
    pytest.importorskip("matplotlib", reason="the README draws with Matplotlib")
    monkeypatch.chdir(tmp_path)
    done = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert done.attempted > 10
    assert done.failed == 0
    assert (tmp_path / "arm.png").is_file()


def test_the_start_needs_no_engine_and_less_than_a_minute(tmp_path):
    pytest.importorskip("matplotlib", reason="the README draws with Matplotlib")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    start = text[: text.index("```\n", text.index("```python"))]
    code = "".join(example.source for example in doctest.DocTestParser().get_examples(start))
    absent = f"import sys\nsys.modules.update(dict.fromkeys({ENGINES!r}))\n"
    subprocess.run([sys.executable, "-c", absent + code], cwd=tmp_path, check=True, timeout=60)
    assert (tmp_path / "arm.png").read_bytes().startswith(b"\x89PNG")


def cells_of(page):
    """Return the cells of a page as pairs: whether it is optional, and its code."""
    for cell in CELL.findall(page.read_text(encoding="utf-8")):
        options = [line for line in cell.splitlines() if line.startswith(":")]
        code = "\n".join(line for line in cell.splitlines() if not line.startswith(":"))
        yield ":tags: [optional]" in options, code


WITHOUT_ENGINES = [page for page in PAGES if page.parent.name == "tutorials" and page.stem not in FRAMEWORKS]
WITHOUT_ENGINES = [page for page in WITHOUT_ENGINES if page.stem not in ("engines", "index")]
ABSENT = """
import sys
sys.modules.update(dict.fromkeys({engines!r}))
sys.path[:0] = [{code!r}, {tests!r}]
for page, cells in {pages!r}:
    names = {{}}
    for cell in cells:
        exec(compile(cell, page, "exec"), names)
"""


@pytest.mark.parametrize("page", WITHOUT_ENGINES, ids=lambda page: page.stem)
def test_only_optional_cells_of_a_tutorial_import_engines(page):
    text, needs = page.read_text(encoding="utf-8"), []
    for optional, code in cells_of(page):
        nodes = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Import | ast.ImportFrom)]
        modules = {getattr(node, "module", None) or node.names[0].name for node in nodes}
        if {name.partition(".")[0] for name in modules} & {*ENGINES} or "treefactor.adapters" in modules:
            needs.append(optional)
    assert all(needs)
    sections = [part for part in text.split("\n## ") if ":tags: [optional]" in part]
    assert len(sections) == bool(needs)
    assert all(part.partition("\n")[2].startswith("\nOptional: ") for part in sections)


@pytest.mark.parametrize(
    "names",
    [
        ("humanoid", "parameters", "trajectory"),
        pytest.param(tuple(page.stem for page in WITHOUT_ENGINES), marks=pytest.mark.slow),
    ],
    ids=["first", "all"],
)
def test_tutorials_run_where_no_engine_can_be_imported(names, tmp_path):
    pytest.importorskip("matplotlib", reason="pages draw with Matplotlib")
    if "panda" not in robots.bundled():
        pytest.skip("needs example-robot-data")
    pages = [page for page in WITHOUT_ENGINES if page.stem in names]
    cells = [(page.stem, [code for optional, code in cells_of(page) if not optional]) for page in pages]
    packages = [name for name in ENGINES if name not in ("example_robot_data", "pybullet_data")]
    text = ABSENT.format(engines=packages, code=str(CODE), tests=str(ROOT / "tests"), pages=cells)
    done = subprocess.run([sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def precision():
    """Bring JAX back to float32 after a page."""
    yield
    if "jax" in sys.modules:
        sys.modules["jax"].config.update("jax_enable_x64", False)


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # PyTorch's own uses
@pytest.mark.filterwarnings("ignore::UserWarning:torch.*", "ignore::DeprecationWarning:torch.*")
@pytest.mark.parametrize("page", pages())
def test_page(page, workplace, precision):
    pytest.importorskip("matplotlib", reason="pages draw with Matplotlib")
    for framework in FRAMEWORKS.get(page.stem, ()):
        pytest.importorskip(framework, reason=f"the page uses {framework}")
    assert doctest.testfile(str(page), module_relative=False).failed == 0
    names = {}
    with np.printoptions():  # a page may set its own
        for cell in CELL.findall(page.read_text(encoding="utf-8")):
            lines = [line for line in cell.splitlines() if not line.startswith(":")]
            exec(compile("\n".join(lines), str(page), "exec"), names)


@pytest.mark.parametrize("command", commands())
def test_command(command, workplace, monkeypatch):
    if command.startswith("treefactor bench"):
        monkeypatch.setenv("CC", "absent")  # test_bench times compiled code, of a small robot
    execute(command)


def test_no_variable_of_a_page_is_called_found():
    places = [
        page.relative_to(DOCS).as_posix()
        for page in PAGES
        for _, code in cells_of(page)
        for node in (ast.walk(ast.parse(code)) if "found" in code else ())
        if "found" in (getattr(node, field, None) for field in ("id", "attr", "arg"))
    ]
    assert not places, f"name these after what they hold: {places}"


def not_run(text):
    """Yield blocks of Python in a page that neither the build nor `test_page` runs."""
    for _, kind, body in FENCE.findall(text):
        name = kind.strip("{}")
        if name not in ("python", "code-cell", *PLAIN) or (name == "python" and besides_examples(body)):
            yield body
    cells = text.count("{code-cell}") - len(CELL.findall(text))
    yield from ["{code-cell}"] * cells
    for block in INDENTED.findall(FENCE.sub("", text)):
        if ">>>" not in block and is_python(dedent(block)):
            yield block


def besides_examples(body):
    """Return whether there are lines that belong to no example of doctest."""
    examples = doctest.DocTestParser().get_examples(body)
    known = sum(len((example.source + example.want).splitlines()) for example in examples)
    return known < sum(bool(line.strip()) for line in body.splitlines())


def is_python(text):
    """Return whether a text calls, assigns or imports in Python; a formula does not."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return False
    return any(
        isinstance(node, ast.Call | ast.Assign | ast.Import | ast.ImportFrom) for node in ast.walk(tree)
    )


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_no_code_of_a_page_stays_unexecuted(page):
    assert list(not_run(page.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "block",
    [
        "```python\nimport treefactor\n```\n",
        "```python\n>>> 1 + 1\n2\n\nprint(3)\n```\n",
        "```\nx = 1\n```\n",
        "```{code-block} python\nx = 1\n```\n",
        "```{code-cell} ipython3\nx = 1\n```\n",
        ":::{code-cell}\nx = 1\n:::\n",
        "Text\n\n    f = tf.factor(H, tree)\n\n    f.solve(b)\n",
    ],
)
def test_code_that_would_not_run_is_found(block):
    assert list(not_run(f"# Page\n\n{block}\nThe end.\n"))


@pytest.mark.parametrize(
    "block",
    [
        "```python\n>>> 1 + 1\n2\n\n```\n",
        "```{code-cell}\nx = 1\n```\n",
        "    H = Lᵀ D L\n",
        "    pip install x\n",
    ],
)
def test_code_that_runs_is_not_found(block):
    assert not list(not_run(f"# Page\n\n{block}\nThe end.\n"))


def modules():
    for module in pkgutil.walk_packages(treefactor.__path__, "treefactor."):
        if not module.name.endswith(("__main__", "_cyutility")):  # the latter is Cython's own
            yield module.name


@pytest.mark.parametrize("name", list(modules()))
def test_docstrings(name):
    try:
        module = importlib.import_module(name)
    except treefactor.AdapterError as error:
        pytest.skip(f"its engine is not installed: {error}")
    done = doctest.testmod(module)
    assert done.failed == 0
    source = Path(module.__file__)
    source = source.with_name(source.name.split(".")[0] + ".pyx") if source.suffix != ".py" else source
    written = doctest.DocTestParser().get_examples(source.read_text(encoding="utf-8"))
    if not name.startswith(OF_TABLE):
        assert done.attempted == len(written)  # doctest finds every one


@pytest.mark.parametrize("name", ENTRIES)
def test_examples_of_declared_quantities(name):
    text = ENTRIES[name].function.__doc__
    examples = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    assert doctest.DocTestRunner().run(examples).failed == 0
    assert bool(examples.examples) == bool(QUANTITIES[name].examples)


def documented_in_full():
    for module in (treefactor, constraints, treefactor.codegen, mlcp, families, mechanisms, robots):
        for name in getattr(module, "__all__", vars(module)):
            function = getattr(module, name)
            if (
                inspect.isroutine(function)
                and function.__module__.startswith(module.__name__)
                and name[0] != "_"
            ):
                yield f"{function.__module__}.{name}", function


@pytest.mark.parametrize(
    "function", [pytest.param(f, id=name) for name, f in dict(documented_in_full()).items()]
)
def test_docstrings_say_what_goes_in_and_what_comes_out(function):
    docscrape = pytest.importorskip("numpydoc.docscrape", reason="numpydoc reads the docstrings")
    doc = docscrape.FunctionDoc(function)
    named = {name.lstrip("*") for entry in doc["Parameters"] for name in entry.name.split(", ")}
    assert named == set(inspect.signature(function).parameters)
    assert doc["Returns"] or doc["Yields"]
    assert doc["Raises"] or function.__name__ in RAISE_NOTHING or not named


def test_pages_show_every_table_and_every_public_name():
    for paper, makers in tables.PAPERS.items():
        text = (DOCS / "papers" / f"{paper}.md").read_text(encoding="utf-8")
        assert re.findall(r"tables\.(\w+)\(\)", text) == [make.__name__ for make in makers]
    assert set(treefactor.__all__) <= set(LISTED)


def test_the_page_on_folders_lists_every_folder():
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"([\w.]+)/", "".join(INDENTED.findall(text))))
    package = ROOT / "treefactor"
    sources = [path for place in (ROOT, package, package / "codegen") for path in place.glob("*/*.py")]
    assert {path.parent.name for path in sources} - GENERATED <= listed
    places = [ROOT, ROOT / "tests", DOCS, package, *package.glob("*/")]
    assert {folder for folder in listed if not any((place / folder).is_dir() for place in places)} == set()


def test_every_picture_of_the_gallery_has_its_command_and_about_ten_lines():
    text = (DOCS / "gallery.md").read_text(encoding="utf-8")
    sources = (ROOT / "examples").glob("*.py")
    scenes = {path.stem for path in sources if "from show import" in path.read_text(encoding="utf-8")}
    commands = dict(re.findall(r"^    python examples/(\w+)\.py --out (\S+)$", text, re.MULTILINE))
    assert all((ROOT / "examples" / f"{name}.py").is_file() for name in commands)
    assert scenes <= set(commands)
    pictures = re.findall(r"\{image\} images/(\S+)", text)
    assert sorted(pictures) == sorted(commands.values())
    assert {path.name for path in (DOCS / "images").glob("*.gif")} <= set(pictures)
    for section in text.split("\n## ")[1:]:
        (cell,) = CELL.findall(section)
        lines = [line for line in cell.splitlines() if line and not line.startswith(("import ", "from "))]
        assert "{image}" in section
        assert len(lines) <= 13, section


@pytest.fixture
def pictures(monkeypatch):
    """Return the module that makes pictures."""
    monkeypatch.syspath_prepend(CODE)
    return importlib.import_module("pictures")


def test_no_picture_is_older_than_its_script(pictures):
    assert pictures.stale() == []  # python docs/code/pictures.py makes them
    drawn = set(pictures.commands()) | {"arm.png", "speed.svg", "tangents.svg"}
    folder = DOCS / "images"
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")} - {"scripts.json"} == drawn


def test_a_picture_belongs_to_its_script_and_to_what_this_imports(pictures, monkeypatch, tmp_path):
    monkeypatch.setattr(pictures, "EXAMPLES", tmp_path)
    script, beside, further = (tmp_path / f"{name}.py" for name in ("script", "beside", "further"))
    script.write_text("import numpy\nfrom beside import draw\n")
    beside.write_text("import further\n")
    further.write_text("import script\n")
    assert pictures.sources(script) == {script, beside, further}
    before = pictures.digest(script)
    further.write_text("import script  # changed\n")
    assert pictures.digest(script) != before


def test_a_stale_picture_is_made_anew(pictures, monkeypatch, tmp_path):
    monkeypatch.setattr(pictures, "IMAGES", tmp_path)
    monkeypatch.setattr(pictures, "DIGESTS", tmp_path / "scripts.json")
    script = tmp_path / "script.py"
    script.write_text("import sys, pathlib\npathlib.Path(sys.argv[-1]).write_text(sys.argv[1])\n")
    monkeypatch.setattr(pictures, "commands", lambda: {"cards/one.png": [str(script), "one"]})
    assert pictures.stale() == ["cards/one.png"]
    pictures.make("cards/one.png")
    assert (tmp_path / "cards" / "one.png").read_text() == "one"
    assert pictures.stale() == []
    script.write_text(script.read_text() + "# changed\n")
    assert pictures.stale() == ["cards/one.png"]


TUTORIALS = [path for path in PAGES if path.parent.name == "tutorials" and path.stem != "index"]


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_begins_with_a_question_and_ends_with_two_links(page):
    text = page.read_text(encoding="utf-8")
    assert "?" in re.search(r"^# .+\n\n((?:.+\n)+)", text, re.MULTILINE)[1]
    title, _, rest = text.split("\n## ")[-1].partition("\n")
    assert title == "What next"
    links = re.findall(r"^- \[\]\(([^)#]+)", rest, re.MULTILINE)
    assert len(links) == 2
    assert all((page.parent / link).is_file() for link in links)


def test_the_index_of_tutorials_has_their_order_and_minutes():
    text = (DOCS / "tutorials" / "index.md").read_text(encoding="utf-8")
    card = r"\{grid-item-card\} (\d+)\. .+\n:link: (\w+)\n(?:(?!:::).*\n)*?\*(\d+) minutes\*"
    numbers, names, minutes = zip(*re.findall(card, text), strict=True)
    assert [int(number) for number in numbers] == list(range(1, len(TUTORIALS) + 1))
    assert list(names) == text[text.index(":hidden:") :].split()[1:-1]
    assert sorted(names) == [page.stem for page in TUTORIALS]
    assert re.findall(r":link: (\w+)\n:link-type: doc\n:img-top: \S+\n:img-alt: .", text) == list(names)
    for name, time in zip(names, minutes, strict=True):
        words = len((DOCS / "tutorials" / f"{name}.md").read_text(encoding="utf-8").split())
        assert abs(int(time) - words / 150) < 5, name  # words a minute


def test_stored_times_name_no_path_and_no_machine():
    for file in (DOCS / "measured").glob("*.json"):
        text = file.read_text(encoding="utf-8")
        if file.stem in (
            "conformance",
            "all_robots",
            "precision",
        ):  # names of robots and addresses of reports
            text = re.sub(r"https?://|\w/\w|package:/+\w", "", text)
            assert not re.search(r'[" (]/\w+/|site-packages', text)
        else:
            assert "/" not in text


@pytest.fixture
def counterparts(monkeypatch):
    """Return the table of the page *From Pinocchio to treefactor*, group by group."""
    monkeypatch.syspath_prepend(CODE)
    return GROUPS


def test_names_of_the_page_from_pinocchio_exist(counterparts):
    pin = pytest.importorskip("pinocchio", reason="the page names its functions")
    importlib.import_module("treefactor.adapters.pinocchio_")
    names = Counter()
    for row in chain.from_iterable(counterparts.values()):
        for package, listed in ((pin, row.theirs), (treefactor, row.ours)):
            for name in filter(None, listed.split(", ")):
                attrgetter(name)(package)
                names[package.__name__] += 1
    assert names["pinocchio"] > 70
    assert names["treefactor"] > 20
    measured = [row.measured for row in chain.from_iterable(counterparts.values())]
    assert len(measured) == len(set(measured))


def test_calls_that_declarations_time_run_in_every_way(monkeypatch):
    pytest.importorskip("pinocchio", reason="the calls are its own")
    monkeypatch.syspath_prepend(CODE)
    monkeypatch.setattr(cases, "COUNT", 2)
    case = cases.Case(robots.find("ur5_robot"))
    frame = case.model.getFrameId("tool0")
    timed = set()
    for comparison in importlib.import_module("pinocchio_declared").declared(case, frame):
        timed.add(comparison.what)
        comparison.ours.run()
        comparison.theirs.run()
    assert len(timed) == sum(bool(line.call) for one in QUANTITIES.values() for line in one.timed) > 60


def test_every_measurement_is_shown_and_slower_ones_are_called_slower(counterparts, monkeypatch):
    pytest.importorskip("matplotlib", reason="exhibits draws with it")
    monkeypatch.syspath_prepend(CODE)
    exhibits = importlib.import_module("exhibits")
    rows = {row.measured: row for row in chain.from_iterable(counterparts.values())}
    cells = re.findall(r"<td>([^<]*(?:<b>slower</b>[^<]*)?)</td>", exhibits.counterparts())
    ratios = defaultdict(list)
    for results in exhibits.measured("from_pinocchio")["robots"].values():
        for result in results:
            ratios[result["what"], result["target"]].append(result["ratio"])
    for (what, how), values in ratios.items():
        assert rows[what].ours
        assert how in exhibits.HOW
        assert exhibits.faster(values) in cells
        assert ("slower" in exhibits.faster(values)) == (min(values) < 1.0)
        assert len(values) == 3
    table = exhibits.slower().replace(' class="text"', "")
    for (what, how), values in ratios.items():
        line = f"<td>{what}</td><td>{rows[what].ours}</td><td>{how}</td>"
        assert (line in table) == (min(values) < 1.0)


def test_functions_that_are_slower_than_pinocchio_have_a_reason(counterparts, monkeypatch):
    reasons = importlib.import_module("counterparts").REASONS
    assert set(reasons) <= {row.measured for row in chain.from_iterable(counterparts.values())}
    stored = json.loads((DOCS / "measured" / "from_pinocchio.json").read_text(encoding="utf-8"))["robots"]
    for result in chain.from_iterable(stored.values()):
        assert result["ratio"] > 1.0 - SPREAD or result["what"] in reasons, result


def test_every_public_function_is_measured_or_has_no_counterpart(counterparts):
    pytest.importorskip("pinocchio", reason="the page names its functions")
    adapter = importlib.import_module("treefactor.adapters.pinocchio_")
    public = set()
    for prefix, module in (
        *(("", treefactor), ("se3.", treefactor.se3), ("so3.", treefactor.so3)),
        ("control.", treefactor.control),
        ("adapters.pinocchio_.", adapter),
    ):
        names = REACHABLE if module is treefactor else module.__all__
        members = {name: getattr(module, name) for name in names}
        public |= {
            prefix + name for name, one in members.items() if callable(one) and not isinstance(one, type)
        }
    stored = json.loads((DOCS / "measured" / "from_pinocchio.json").read_text(encoding="utf-8"))["robots"]
    what = {result["what"] for result in chain.from_iterable(stored.values())}
    rows = [row for row in chain.from_iterable(counterparts.values()) if row.measured in what]
    measured = {name for row in rows for name in row.ours.split(", ")}
    without = list(chain.from_iterable(importlib.import_module("counterparts").WITHOUT_COUNTERPART.values()))
    assert public - measured == set(without)
    assert len(without) == len(set(without))


def test_every_method_of_robot_wrapper_has_a_counterpart_or_computes_nothing(monkeypatch):
    pin = pytest.importorskip("pinocchio", reason="it is its own class")
    pytest.importorskip("matplotlib", reason="exhibits draws with it")
    monkeypatch.syspath_prepend(CODE)
    methods = {name for name, one in vars(pin.RobotWrapper).items() if inspect.isfunction(one)}
    shown = set(re.findall(r"RobotWrapper\.(\w+)", importlib.import_module("exhibits").methods_of_wrapper()))
    viewers = {name for name in methods if "iew" in name or name.startswith(("play", "display", "capture"))}
    files = {name for name in methods if name.startswith(("__", "init", "load", "draw", "rebuild"))}
    models = {"buildReducedRobot", "index", "setVisualizer", "updateGeometryPlacements"}
    assert methods - viewers - files - models == shown


def test_times_of_scripts_are_stored_for_every_step(monkeypatch):
    pytest.importorskip("matplotlib", reason="exhibits draws with it")
    monkeypatch.syspath_prepend(CODE)
    exhibits, script = importlib.import_module("exhibits"), importlib.import_module("measure_scripts")
    stored, table = exhibits.measured("scripts"), exhibits.times_of_scripts()
    assert tuple(stored["scripts"]) == script.STEPS
    for step, one in stored["scripts"].items():
        assert f"<td>{step}</td>" in table
        assert exhibits.spread(one) in table
        assert one["low"] <= one["ratio"] <= one["high"]
        assert one["before"] > stored["imports"]["before"]
        for name in ("before", "after"):
            assert (script.FOLDER / step / f"{name}.py").is_file()


@pytest.mark.slow
def test_scripts_can_be_measured_again(monkeypatch):
    monkeypatch.syspath_prepend(CODE)
    monkeypatch.setattr(timing, "PASSES", 2)
    monkeypatch.setattr(timing, "FEWEST", 1)
    stored = importlib.import_module("exhibits").measured("scripts")
    again = importlib.import_module("measure").content("scripts", small=True)
    assert again.keys() == stored.keys()
    assert {step: one.keys() for step, one in again["scripts"].items()} == {
        step: one.keys() for step, one in stored["scripts"].items()
    }


def test_the_figure_shows_the_stored_times(monkeypatch):
    monkeypatch.syspath_prepend(CODE)
    speed = importlib.import_module("speed")
    assert speed.FILE.read_text(encoding="utf-8") == speed.draw()
    for values in speed.ratios().values():
        assert len(values) == len(speed.WAYS)


SPREAD = 0.05  # of repeated measurements, relative
SHOWN = ("forward dynamics", "forward dynamics, cc", "forward dynamics 1024, cc")  # by the headline


@pytest.mark.parametrize("page", [ROOT / "README.md", DOCS / "index.md"], ids=lambda path: path.name)
def test_the_text_of_the_figure_has_the_ranges_of_the_stored_times(monkeypatch, page):
    monkeypatch.syspath_prepend(CODE)
    speed = importlib.import_module("speed")
    by_way = dict(zip(speed.WAYS, zip(*speed.ratios().values(), strict=True), strict=True))
    single, compiled, _, batch = (
        f"{min(values):.0f} to {max(values):.0f} times" for values in by_way.values()
    )
    text = page.read_text(encoding="utf-8")
    stated = (
        f"on one core with {speed.instructions()}, single bound calls are {single} faster than Pinocchio; "
    )
    stated += f"generated C is {compiled} faster in single calls and {batch} in batches"
    assert stated in text
    others = set(re.findall(r"\d+ to \d+ times", text)) - {single, compiled, batch}
    assert others == set()
    shown = re.findall(r"([\d.]+) times", re.search(r"^At least .*$", text, re.MULTILINE)[0])
    assert len(shown) == 3
    for ratio, values in zip(shown, (by_way[way] for way in SHOWN), strict=True):
        assert float(ratio) <= min(values) < float(ratio) + (0.1 if "." in ratio else 1.0)
    assert speed.headline() in text


def test_the_readme_is_short_and_its_links_lead_somewhere():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 160
    links = re.findall(r"\]\(([^)#]+)\)", text)
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).is_file()] == []


@pytest.mark.slow
def test_the_page_from_pinocchio_can_be_measured_again(monkeypatch, workplace):
    script = importlib.import_module("measure_from_pinocchio")
    stored = importlib.import_module("exhibits").measured("from_pinocchio")["robots"]
    for robot, results in stored.items():
        again = [(comparison.what, comparison.target) for comparison in script.of_robot(robot)]
        assert again == [(result["what"], result["target"]) for result in results]
