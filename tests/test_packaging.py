"""The package as users install it: the wheel works outside the checkout, and imports load nothing heavy."""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import treefactor

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytestmark = [pytest.mark.unsanitized, pytest.mark.uncovered]

ROOT = Path(__file__).parents[1]


def run(code, cwd):
    return subprocess.run(
        [sys.executable, "-I", "-c", code], cwd=cwd, capture_output=True, text=True, check=False, timeout=120
    )


def test_importing_treefactor_imports_no_engine_and_no_adapter(tmp_path):
    done = run(
        "import sys, treefactor, treefactor.cli, treefactor.check\n"
        "engines = {'pinocchio', 'pybullet', 'mujoco', 'pydrake', 'matplotlib', 'dask', 'jax', 'torch'}\n"
        "print(sorted({*engines, 'treefactor.adapters', 'treefactor.xla'} & set(sys.modules)))",
        tmp_path,
    )
    assert done.stdout.strip() == "[]", done.stderr


MODULES = {  # of engines that are called otherwise
    **{"drake": "pydrake", "dart": "dartpy", "rtb": "roboticstoolbox", "mjx": "mujoco.mjx"},
}
NEEDED = (
    *("pinocchio", "pybullet", "mujoco", "drake", "idyntree", "dart", "adam", "rtb", "newton"),
    *("mjx", "jaxsim", "frax", "dask", "jax", "torch"),
)


def test_a_missing_engine_names_the_extra(tmp_path):
    done = run(
        "import importlib, os, sys, treefactor\n"
        f"for engine, module in {[(engine, MODULES.get(engine, engine)) for engine in NEEDED]}:\n"
        "    if not os.fork():  # without what others have imported\n"
        "        sys.modules[module] = None\n"
        "        try:\n            importlib.import_module(f'treefactor.adapters.{engine}_')\n"
        "        except treefactor.AdapterError as error:\n"
        "            print(error.engine, error, flush=True)\n"
        "        os._exit(0)\n"
        "    os.wait()",
        tmp_path,
    )
    lines = done.stdout.splitlines()
    assert len(lines) == len(NEEDED), done.stderr
    for engine, line in zip(NEEDED, lines, strict=True):
        assert line.startswith(engine)
        assert f"pip install 'treefactor[{engine}]'" in line


HEAVY = {  # what the first import does without, for it takes long
    *("scipy", "rich", "jinja2", "platformdirs", "threadpoolctl", "llvmlite", "importlib.metadata"),
    *("zipfile", "subprocess", "email", "asyncio", "multiprocessing", "xml.etree.ElementTree"),
}


def test_importing_treefactor_loads_nothing_heavy(tmp_path):
    code = (
        "import sys, numpy\n"
        "known = set(sys.modules)\n"
        "import treefactor\n"
        f"print(*sorted({HEAVY!r} & (set(sys.modules) - known)))"
    )
    assert run(code, tmp_path).stdout.split() == []


ABSENT = {"coal", "matplotlib", "h5py", "clarabel", "daqp", "llvmlite", *MODULES.values(), *NEEDED}
CIBUILDWHEEL = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["cibuildwheel"]


def test_the_tests_of_wheels_need_no_engine(tmp_path):
    """Import every module that the command of cibuildwheel collects where only pytest and hypothesis are."""
    folders = [
        word.removeprefix("{project}/") for word in CIBUILDWHEEL["test-command"].split() if "/" in word
    ]
    files = sorted(file for folder in folders for file in (ROOT / folder).rglob("test_*.py"))
    assert len(folders) > 3
    done = run(
        "import importlib, sys, pytest\n"
        "class Missing:\n"
        "    def find_spec(name, path=None, target=None):\n"
        f"        if name.partition('.')[0] in {sorted(ABSENT)}:\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Missing)\n"
        f"sys.path[:0] = {[str(ROOT / 'tests'), *sorted({str(file.parent) for file in files})]}\n"
        f"for name in {[file.stem for file in files]}:\n"
        "    try:\n        importlib.import_module(name)\n"
        "    except pytest.skip.Exception: pass\n"
        "    except Exception as error: print(name, repr(error), file=sys.stderr)\n"
        "print('done')",
        tmp_path,
    )
    assert (done.stdout.strip(), done.stderr) == ("done", "")


@pytest.mark.slow
@pytest.mark.parametrize("numpy", ["numpy", "numpy==1.24.4"])
def test_the_command_of_cibuildwheel_passes_in_a_bare_environment(built_wheel, numpy, tmp_path):
    """Run it as cibuildwheel does, with the newest NumPy and the oldest that is allowed."""
    if numpy != "numpy" and sys.version_info >= (3, 12):
        pytest.skip("NumPy 1.24 has no wheels for Python 3.12 and later")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "bare"], check=True)
    python = tmp_path / "bare" / "bin" / "python"
    needed = [built_wheel, numpy, *CIBUILDWHEEL["test-requires"]]
    subprocess.run([python, "-m", "pip", "install", "-q", *needed], check=True)
    command = CIBUILDWHEEL["test-command"].format(project=ROOT).removeprefix("python ")
    done = subprocess.run(
        [python, *shlex.split(command), "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]


MADE = "*.so", "_*.c"  # by compiling in the checkout


def build(out, source, *options):
    """Build a distribution without optimization."""
    done = subprocess.run(
        [sys.executable, "-m", "build", *options, "--outdir", out, source],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "TREEFACTOR_DEBUG": "1"},
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """Copy the checkout, without what is made in it."""
    skip = shutil.ignore_patterns(".*", "build", "dist", *MADE, "*.egg-info", "__pycache__")
    return shutil.copytree(ROOT, tmp_path_factory.mktemp("checkout") / "copy", ignore=skip)


@pytest.fixture(scope="module")
def sources(copy):
    """Build a source distribution."""
    return next(build(copy.parent, copy, "--sdist", "--no-isolation").glob("treefactor-*.tar.gz"))


@pytest.fixture(scope="module")
def wheel(sources, tmp_path_factory):
    """Build a wheel from the source distribution; what the checkout has compiled is not compiled again."""
    out = tmp_path_factory.mktemp("wheel")
    with tarfile.open(sources) as archive:
        archive.extractall(out, filter="data")
    unpacked = next(out.glob("treefactor-*"))
    compiled = unpacked / f"build/lib.{sysconfig.get_platform()}-{sys.implementation.cache_tag}"
    for pattern, folder in zip(MADE, (compiled, unpacked), strict=True):
        for path in (ROOT / "treefactor").rglob(pattern):
            to = folder / path.relative_to(ROOT)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, to)
    for path in compiled.rglob("*.so"):  # newer than the C files
        path.touch()
    return next(build(out, unpacked, "--wheel", "--no-isolation").glob("treefactor-*.whl"))


@pytest.fixture(scope="module")
def built_wheel(copy, tmp_path_factory):
    """Build a wheel from a source distribution, all in isolation; takes minutes."""
    return next(build(tmp_path_factory.mktemp("built"), copy).glob("treefactor-*.whl"))


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory):
    """Return a folder with the packages of the wheel."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_the_wheel_holds_both_packages_and_the_kernels(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "treefactor/adapters/pinocchio_.py" in names
    assert "treefactor/report/templates/page.html" in names
    assert "treefactor/check/example_arm.urdf" in names
    assert "treefactor/quantities/ratios.json" in names
    for name in ("c/real.h", "c/check.c", "c/Makefile", "c/README.md"):
        assert f"treefactor/codegen/{name}" in names
    assert {f"treefactor/kernels/common/{name}.h" for name in ("sincos", "arctan")} <= set(names)
    assert "treefactor/papers/tables/shimanovsky.py" in names
    assert "treefactor/codegen/writer.py" in names
    assert any(
        name.startswith("treefactor/codegen/program/_table.") and not name.endswith(".pyx") for name in names
    )
    assert any(
        name.startswith("treefactor/linalg/_multi_rhs.") and not name.endswith(".pyx") for name in names
    )
    assert not [name for name in names if name.startswith(("adapters/", "tests/"))]


def test_links_of_the_description_are_absolute(wheel):
    """A package index shows the README, and has neither its pictures nor its pages."""
    archive = zipfile.ZipFile(wheel)
    metadata = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    text = archive.read(metadata).decode()
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) > 10
    assert [link for link in links if not link.startswith("https://")] == []
    assert f"Version: {treefactor.__version__}\n" in text


def importers(module):
    """Return the files of the package, without adapters, that import a distribution."""
    statement = re.compile(rf"^ *(?:from|import) {module}\b", re.MULTILINE)
    files = (ROOT / "treefactor").rglob("*.py")
    return [path for path in files if statement.search(path.read_text(encoding="utf-8"))]


def test_the_package_requires_only_what_several_modules_import(wheel):
    """What serves one module belongs to an extra, or is not worth a dependency."""
    archive = zipfile.ZipFile(wheel)
    (path,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    lines = re.findall(r"^Requires-Dist: (.+)$", archive.read(path).decode(), re.MULTILINE)
    required = {line.name: line.marker for line in map(Requirement, lines) if "extra" not in str(line.marker)}
    assert required.keys() == {"numpy", "scipy", "rich", "tomli"}
    assert str(required["tomli"]) == 'python_version < "3.11"'
    assert all(len(importers(name)) > 5 for name in ("numpy", "scipy", "rich"))


@pytest.mark.parametrize(
    ("module", "call", "extra"),
    [
        ("jinja2", "treefactor.cli.main(['check', 'no.urdf', '--html'])", "html"),
        ("threadpoolctl", "treefactor.cli.main(['tables', 'tasora'])", "bench"),
    ],
)
def test_a_command_names_the_extra_that_it_lacks(tmp_path, module, call, extra):
    done = run(f"import sys; sys.modules[{module!r}] = None\nimport treefactor.cli\n{call}", tmp_path)
    assert f"pip install 'treefactor[{extra}]'" in done.stderr, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_the_wheel_holds_a_compiled_module_for_every_pyx_file(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    compiled = {name.partition(".")[0] for name in names if name.endswith((".so", ".pyd"))}
    wanted = {
        path.relative_to(ROOT).with_suffix("").as_posix() for path in (ROOT / "treefactor").rglob("*.pyx")
    }
    assert compiled == wanted | {"treefactor/_cyutility"}


def test_every_kernel_file_is_compiled_into_a_module():
    setup = (ROOT / "setup.py").read_text()
    for path in (ROOT / "treefactor" / "kernels").rglob("*.c"):
        assert f"{path.stem}.c" in setup or f'"{path.stem}"' in setup, path


def test_the_source_distribution_holds_all_that_is_compiled_and_nothing_that_is_made(sources):
    with tarfile.open(sources) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {path.relative_to(ROOT).as_posix() for path in (ROOT / "treefactor").rglob("*.p[yx]*")}
    wanted |= {path.relative_to(ROOT).as_posix() for path in (ROOT / "treefactor/kernels").rglob("*.[ch]")}
    for folder in ("asv_bench", "docs", "examples", "fuzz", "tests"):  # which the tests in it read
        wanted |= {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*.py")}
    made = {"treefactor/kernels/common/only.h"}
    assert not {name for name in wanted if not name.endswith(".pyc")} - names - made
    assert not made & names
    assert not [
        name for name in names if name.endswith((".so", ".pyc")) or ("/_" in name and name.endswith(".c"))
    ]


def test_the_wheel_works_outside_the_checkout(site, tmp_path):
    done = run(
        f"import sys; sys.path.insert(0, {str(site)!r})\n"
        "import treefactor, treefactor.adapters, numpy as np\n"
        "assert treefactor.__file__.startswith(sys.path[0]), treefactor.__file__\n"
        "assert treefactor.adapters.__file__.startswith(sys.path[0]), treefactor.adapters.__file__\n"
        "f = treefactor.factor(np.eye(3), treefactor.Tree([-1, 0, 0]))\n"
        "print(treefactor.adapters.__name__, f.solve(np.ones(3)), treefactor.__version__)",
        tmp_path,
    )
    assert done.stdout.strip() == f"treefactor.adapters [1. 1. 1.] {treefactor.__version__}", done.stderr


def test_generated_code_without_a_compiler_is_interpreted(site, tmp_path):
    done = run(
        f"import os, sys; sys.path.insert(0, {str(site)!r}); os.environ['PATH'] = ''\n"
        "os.environ.pop('CC', None)\n"
        "import treefactor as tf, numpy as np, warnings\n"
        "model = tf.Model([tf.Joint('hinge', 'revolute', axis=[0, 1, 0], armature=2.0)])\n"
        "with warnings.catch_warnings(record=True) as told:\n"
        "    warnings.simplefilter('always')\n"
        "    kernels = tf.compile(model, ['crba'], 'cc')\n"
        "print(kernels.backend, kernels.crba([0.0]), *(warning.message for warning in told), sep='|')",
        tmp_path,
    )
    printed = done.stdout.strip().split("|")
    assert printed[:2] == ["interp", "[[2.]]"], done.stderr
    assert len(printed) == 3
    assert printed[2].startswith("no C compiler cc, gcc or clang found; the interpreter")


USER = """
import numpy as np
import treefactor as tf
from treefactor.adapters import missing_engine

tree = tf.Tree([-1, 0, 0], names=["a", "b", "c"])
n: int = tree.n
f: tf.Factor = tf.factor(np.eye(3), tree).refactor(2 * np.eye(3))
x: np.ndarray = f.solve([1.0, 2.0, 3.0])
x = tf.BoundFactor(np.eye(3), tree).factor(shift=0.1).half_solve(x, out=x)
count: int = tree.cost("LTDL").total
rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
com: np.ndarray = rod.com
model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod, lower=-1, armature=0.1)])
q = tf.integrate(model, tf.neutral(model), np.zeros(model.nv))
H: np.ndarray = tf.crba(model, q)
H = tf.bind(tf.crba, model, q, out=H)()
kernels: tf.Kernels = tf.compile(tf.generate(model, ["crba"]), backend="cc")
H = kernels.bind("crba", q, out=H)()
try:
    tf.Tree([0])
except tf.InvalidTreeError as error:
    row: int | None = error.row
"""
MISTAKES = {
    "tree.parents": "attr-defined",
    "tree.cost('QR')": "arg-type",
    "tf.factor(np.eye(3), [-1, 0, 0])": "arg-type",
    "tf.nothing": "attr-defined",
    "f.solve()": "call-arg",
    "tf.Inertia(mass='heavy')": "arg-type",
}


def typed(site, path, text):
    """Return errors of mypy's strict mode about a user's script."""
    path.write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--config-file=", path.name],
        cwd=path.parent,
        env={**os.environ, "MYPYPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return [line for line in done.stdout.splitlines() if ": error: " in line], done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.skipif(
    tuple(map(int, version("numpy").split(".")[:2])) < (2, 3),
    reason="before NumPy 2.3 mypy's strict mode wants a type of elements in every np.ndarray",
)
def test_a_users_script_is_typed(site, tmp_path):
    complaints, printed = typed(site, tmp_path / "user.py", USER)
    assert complaints == []
    assert "Success" in printed
    complaints, _ = typed(site, tmp_path / "wrong.py", USER + "\n".join(MISTAKES))
    assert [line.rpartition("[")[2].rstrip("]") for line in complaints] == list(MISTAKES.values())


@pytest.mark.slow
def test_a_wheel_that_is_built_in_isolation_holds_the_same(wheel, built_wheel):
    one, other = (
        {name for name in zipfile.ZipFile(path).namelist() if ".dist-info" not in name}
        for path in (wheel, built_wheel)
    )
    assert one == other


@pytest.mark.slow
def test_the_wheel_with_pinocchio_is_enough_for_the_readme(built_wheel, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True, timeout=120)
    python = tmp_path / "venv" / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", f"{built_wheel}[pinocchio,plot]"]
    subprocess.run(install, check=True, capture_output=True, timeout=900)
    shutil.copy(ROOT / "README.md", tmp_path)
    code = "import doctest; done = doctest.testfile('README.md', module_relative=False); print(*done)"
    done = subprocess.run(
        [python, "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
    )
    failed, attempted = map(int, done.stdout.split()[-2:])
    assert failed == 0, done.stdout
    assert attempted > 10


def declared(extras, metadata):
    """Return requirements of pyproject.toml for these extras and the build, without treefactor itself."""
    project = metadata["project"]
    lines = [*metadata["build-system"]["requires"], *project["dependencies"]]
    for extra in extras:
        lines += project["optional-dependencies"][extra]
    requirements = [Requirement(line) for line in lines]
    inner = {
        extra
        for requirement in requirements
        if requirement.name == "treefactor"
        for extra in requirement.extras
    }
    return declared(sorted({*extras, *inner}), metadata) if inner - {*extras} else requirements


@pytest.mark.parametrize("extra", ["dev", "demo"])
def test_the_lock_file_fits_the_ranges_of_pyproject(extra):
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has no reader of TOML")
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text())
    lines = (ROOT / "requirements" / f"{extra}.txt").read_text().splitlines()
    locked = {}
    for line in lines:
        if line.startswith("#"):
            continue
        assert "/" not in line, f"a path or an address: {line}"
        requirement = Requirement(line)
        (pin,) = requirement.specifier
        assert pin.operator == "=="
        if requirement.marker is None or requirement.marker.evaluate():
            assert locked.setdefault(canonicalize_name(requirement.name), pin.version) == pin.version
    for requirement in declared([extra], metadata):
        if requirement.name != "treefactor" and (requirement.marker is None or requirement.marker.evaluate()):
            version = locked.get(canonicalize_name(requirement.name))
            assert version is not None, f"{requirement} is missing: run `make lock`"
            assert requirement.specifier.contains(version), (
                f"{requirement}, but {version} is locked: run `make lock`"
            )


def test_the_demo_installs_nothing_that_the_tests_replace():
    dev, demo = (
        {line.partition(" ;")[0] for line in (ROOT / "requirements" / f"{name}.txt").read_text().splitlines()}
        for name in ("dev", "demo")
    )
    assert demo <= dev


def test_a_changed_header_compiles_the_modules_that_include_it(monkeypatch):
    monkeypatch.chdir(ROOT)
    compiler = shutil.which("cc") or pytest.skip("there is no C compiler")
    specification = importlib.util.spec_from_file_location("setup_of_treefactor", ROOT / "setup.py")
    build = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = build
    specification.loader.exec_module(build)
    extensions = {extension.name: extension for extension in build.modules()}
    for name in ("treefactor.dynamics._recursions", "treefactor.kinematics._poses"):
        extension = extensions[name]
        for source in build.kernels(extension):
            command = [compiler, "-MM", "-Itreefactor", source]
            done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
            included = {
                os.path.normpath(path)
                for path in done.stdout.replace("\\\n", " ").split()
                if path.endswith(".h")
            }
            assert included
            assert included <= set(extension.depends)
    others = extensions["treefactor.linalg._damped"].depends
    assert "treefactor/kernels/linalg/damped_isa.h" in others
    assert "treefactor/kernels/dynamics/rnea.h" not in others
