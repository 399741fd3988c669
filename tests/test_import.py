"""`import treefactor` loads nothing but itself; names are imported when they are first used."""

import ast
import copy
import inspect
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from helpers.reachable import REACHABLE

import treefactor as tf

STUB = Path(tf.__file__).with_suffix(".pyi")
# modules of treefactor that the first use of a name loads: fewer are welcome, more are paid by every script
MODULES = {
    "ShapeError": 4,
    "Tree": 15,
    "Model": 41,
    "factor": 59,
    "rnea": 60,
    "Kinematics": 67,
    "compile": 151,
}
ALONE = {"treefactor", "threading", "treefactor._util", "treefactor._util.lazy_names"}
SCRIPT = """
import treefactor as tf
model = tf.Model.from_urdf({path!r})
q = tf.neutral(model)
tf.rnea(model, q, q, q), tf.forward_dynamics(model, q, q, q), tf.frame_jacobian(model, q, model.frames[-1])
tf.Kinematics(model, placements=[model.frames[-1]])
"""
SLOW = {  # modules that only some functions need
    *("concurrent.futures", "csv", "difflib", "json", "logging", "lzma", "numpy.typing", "scipy", "shutil"),
    *("subprocess", "treefactor.constraints", "treefactor.identification", "treefactor.mlcp"),
    *("numpy.ma", "xml.etree.ElementTree", "treefactor.check", "treefactor.cli", "treefactor.report"),
}


def loaded(code):
    """Return the modules that code loads in a new process that has imported NumPy."""
    lines = ("import numpy, sys", "before = set(sys.modules)", code, "print(*set(sys.modules) - before)")
    run = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def printed(code):
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout


@pytest.mark.uncovered  # coverage loads modules of its own
def test_the_package_alone_loads_no_other_module():
    more = loaded("import treefactor") - ALONE
    assert not more, f"`import treefactor` loads {len(more)} modules more than before: {sorted(more)}"


@pytest.mark.uncovered
@pytest.mark.parametrize("name", MODULES)
def test_a_name_loads_few_modules(name):
    modules = loaded(f"from treefactor import {name}")
    assert modules & SLOW == set()
    own = sum(module.partition(".")[0] == "treefactor" for module in modules)
    assert own <= MODULES[name], (
        f"treefactor.{name} loads {own} modules of treefactor, {own - MODULES[name]} more than before: "
        "import where they are used what few callers need, or store the new number and say why"
    )
    if name != "compile":
        assert not any(module.startswith("treefactor.codegen") for module in modules)


@pytest.mark.uncovered
def test_a_short_script_loads_nothing_that_is_slow(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(
        '<robot name="arm"><link name="base"/><link name="tip"><inertial><mass value="1"/><inertia ixx="1" '
        'ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link><joint name="hinge" type="revolute">'
        '<origin rpy="0.1 0.2 0.3"/><parent link="base"/><child link="tip"/></joint></robot>'
    )
    modules = loaded(SCRIPT.format(path=str(path)))
    assert modules & SLOW == set()
    assert not any(module.startswith(("scipy", "treefactor.codegen")) for module in modules)


def test_public_names_are_few_unique_and_documented():
    assert len(tf.__all__) == len(set(tf.__all__)) <= 100
    assert sorted(dir(tf)) == sorted(tf.__all__)
    assert [name for name in tf.__all__ if not inspect.getdoc(getattr(tf, name))] == []
    assert [name for name in tf.__all__ if inspect.ismodule(getattr(tf, name))] == []


def test_every_line_of_the_stub_is_a_name_that_is_found():
    imports = [node for node in ast.parse(STUB.read_text()).body if isinstance(node, ast.ImportFrom)]
    names = [(node.module or "", alias.name) for node in imports for alias in node.names]
    assert names == [(module.removeprefix("."), name) for name, module in tf._MODULES.items()]
    assert all(node.level == 1 and alias.name == alias.asname for node in imports for alias in node.names)
    for module, name in names:
        own = sys.modules[f"treefactor.{module}".strip(".")] if module else tf
        assert getattr(tf, name) is getattr(own, name, None) or inspect.ismodule(getattr(tf, name))


def test_no_name_is_that_of_a_module_beside_it():
    """Importing such a module would replace the function."""
    modules = {path.stem for path in STUB.parent.iterdir() if path.suffix in ("", ".py", ".pyx")}
    assert modules & set(tf.__all__) == set()


def test_names_are_pickled_and_copied():
    for name in set(REACHABLE) - {"__version__"}:
        thing = getattr(tf, name)
        assert pickle.loads(pickle.dumps(thing)) is thing
        assert copy.copy(thing) is thing


def test_a_star_imports_the_public_names():
    scope = {}
    exec("from treefactor import *", scope)
    assert scope.keys() - {"__builtins__"} == set(tf.__all__)


def test_many_threads_import_names_at_once():
    code = """
from concurrent.futures import ThreadPoolExecutor
import treefactor as tf
names = [name for name in tf.__all__ for _ in range(3)]
with ThreadPoolExecutor(8) as pool:
    things = list(pool.map(lambda name: getattr(tf, name), names))
print(all(one is getattr(tf, name) for one, name in zip(things, names)))
"""
    assert printed(code) == "True\n"
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(lambda _: id(tf.rnea), range(20)))) == 1


def test_many_threads_import_names_of_subpackages_at_once():
    code = """
import sys
from threading import Barrier, Thread
import treefactor as tf
sys.setswitchinterval(1e-6)
names = [("dynamics", "crba"), ("kinematics", "Kinematics"), ("dynamics", "aba")]
names += [("kinematics", "frame_jacobian"), ("dynamics", "rollout"), ("kinematics", "all_terms")]
names += [("dynamics", "bias"), ("kinematics", "delassus")]
start, errors = Barrier(8), []
def use(package, name):
    start.wait()
    try:
        getattr(getattr(tf, package), name)
    except Exception as error:
        errors.append(error)
threads = [Thread(target=use, args=one) for one in names]
for one in threads:
    one.start()
for one in threads:
    one.join()
print(errors)
"""
    for _ in range(5):
        assert printed(code) == "[]\n"


@pytest.mark.parametrize("place", ["dynamics", "kinematics", "quantities.functions"])
def test_calls_are_explained_whoever_imports_a_function_first(place):
    name = {"dynamics": "rnea", "kinematics": "frame_velocity"}.get(place, "integrate")
    code = f"""
from treefactor.{place} import {name}
try:
    {name}(None, turns=1)
except TypeError as error:
    print(error)
"""
    assert printed(code).startswith(f"{name} has no argument 'turns'")


def test_every_compiled_function_explains_its_calls():
    for name in REACHABLE:
        function = getattr(tf, name)
        if type(function).__name__ == "cython_function_or_method":
            with pytest.raises(TypeError, match=f"^{name} has no argument 'turns'"):
                function(turns=1)


def test_a_model_alone_compiles_its_bodies():
    code = """
from treefactor import Joint, Model
print(type(Model([Joint("a", "revolute", axis=[0, 0, 1])]).bodies).__name__)
"""
    assert printed(code) == "Bodies\n"
