"""Public objects can be pickled and copied, or raise an error that says why not."""

import copy
import inspect
import multiprocessing
import subprocess
import sys
from collections.abc import Mapping
from functools import partial

import numpy as np
import pytest
from helpers.public_objects import MODEL, OBJECTS, SENT, USES, classes, computed, fresh, of_stepper
from helpers.sweeps import in_turn
from test_threads import IMMUTABLE, arrays_of, promises

import treefactor as tf
from treefactor.check.workers import CrashedError, TimedOutError, WorkerError
from treefactor.codegen.algorithms.inverses import SingularError

Q = tf.neutral(MODEL)
OUT = np.empty((MODEL.nv, MODEL.nv))
NOT_PICKLED = {
    "BoundFactor": OBJECTS["BoundFactor"],
    "what bind returns": tf.bind(tf.crba, MODEL, Q, out=OUT),
    "what bind of kernels returns": OBJECTS["Kernels"].bind("crba", Q, out=OUT),
}
PICKLED = [name for name in OBJECTS if name not in NOT_PICKLED]
WAYS = pytest.mark.parametrize("again", [fresh, copy.copy, copy.deepcopy])


def plain(thing):
    """Return the contents of an object as nested tuples: its arguments for pickle, or its attributes."""
    if isinstance(thing, np.ndarray):
        return thing.dtype.str, thing.shape, thing.tobytes()
    if isinstance(thing, partial):
        return thing.func, plain(thing.args)
    if type(thing).__reduce__ is not object.__reduce__:
        return plain(thing.__reduce__())
    if isinstance(thing, (tuple, list)):
        return tuple(map(plain, thing))
    if isinstance(thing, Mapping):
        return tuple((key, plain(value)) for key, value in thing.items())
    if hasattr(thing, "__dict__") and not callable(thing):
        return type(thing), plain(vars(thing))
    return thing


def test_every_public_class_is_tried():
    known = [name for name, part in classes().items() if not issubclass(part, Exception)]
    assert {name for name in known if not name.startswith("adapters.")} == set(OBJECTS)


@in_turn("name", [{name: name for name in PICKLED}])
@WAYS
def test_copies_are_equal(name, again):
    assert plain(again(OBJECTS[name])) == plain(OBJECTS[name])


@pytest.mark.parametrize("name", [*USES, "constraints.Stepper"])
@WAYS
def test_copies_compute_the_same(name, again):
    use, copied = USES.get(name, of_stepper), again(OBJECTS[name])
    for own, expected in zip(use(copied, 1), use(fresh(OBJECTS[name]), 1), strict=True):
        np.testing.assert_array_equal(own, expected)


@in_turn("name", [{name: name for name in PICKLED if promises()[name] == [IMMUTABLE]}])
@WAYS
def test_copies_of_what_is_immutable_cannot_be_written(name, again):
    assert [array for array in arrays_of(again(OBJECTS[name]), set()) if array.flags.writeable] == []


@pytest.mark.parametrize(
    "name", ["constraints.Rows", "constraints.Step", "mlcp.fclib.Contacts", "mlcp.Solution"]
)
def test_results_of_arrays_are_equal_to_themselves(name):
    """Results are equal by identity, because arrays have no single truth value."""
    result = OBJECTS[name]
    assert result == result
    assert result != fresh(result)
    assert {result: name}[result] == name


@pytest.mark.parametrize("name", NOT_PICKLED)
@WAYS
def test_objects_that_refer_to_memory_of_others_raise(name, again):
    with pytest.raises(TypeError, match="memory of"):
        again(NOT_PICKLED[name])


ERRORS = [
    *(part for part in classes().values() if issubclass(part, Exception)),
    *(CrashedError, SingularError, TimedOutError, WorkerError),
]


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
@WAYS
def test_errors_keep_their_attributes(kind, again):
    """Every argument after the message is an attribute of the error."""
    given = {}
    if kind.__init__ is not Exception.__init__ and inspect.isfunction(kind.__init__):
        given = {name: f"its {name}" for name in list(inspect.signature(kind).parameters)[1:]}
    error = again(kind("what happened", **given))
    assert type(error) is kind
    assert str(error) == str(kind("what happened", **given))
    assert {name: getattr(error, name) for name in given} == given


def test_a_step_that_fails_takes_its_solution_along():
    error = fresh(tf.StepError("no step", OBJECTS["mlcp.Solution"], 0.5))
    assert plain(error.solution) == plain(OBJECTS["mlcp.Solution"])


# ------------------------------------------------------------------------------------------------- engines


def test_a_body_in_mujoco():
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    from treefactor.adapters import mujoco_

    xml = "<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>"
    body = mujoco_.Body(mujoco.MjModel.from_xml_string(xml))
    expected = mujoco_.mass_matrix(body, np.zeros(1))
    np.testing.assert_array_equal(mujoco_.mass_matrix(fresh(body), np.zeros(1)), expected)
    with pytest.raises(TypeError, match="memory of"):
        fresh(mujoco_.Accelerator(body.model, body.data))


def test_an_accelerator_of_pinocchio():
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
    from treefactor.adapters import pinocchio_

    model = pin.buildSampleModelManipulator()
    with pytest.raises(TypeError, match="memory of"):
        fresh(pinocchio_.Accelerator(model, model.createData()))


def test_a_body_in_pybullet():
    pytest.importorskip("pybullet", reason="PyBullet is not installed")
    from treefactor.adapters import pybullet_

    with pytest.raises(TypeError, match="one of this process"):
        fresh(pybullet_.Body.__new__(pybullet_.Body))


# ----------------------------------------------------------------------------------------------- processes


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_another_process_computes_the_same(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip("this system has no such way to start processes")
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply(computed, (SENT,)) == computed(fresh(SENT))


FORKING = """
import os, sys
sys.path[:0] = {path!r}
from helpers.public_objects import SENT, computed, fresh
before = computed(fresh(SENT))
child = os.fork()
if child == 0:
    os._exit(0 if computed(fresh(SENT)) == before else 3)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="this system does not fork")
def test_a_forked_process_computes_the_same():
    run = subprocess.run(
        [sys.executable, "-c", FORKING.format(path=sys.path)], capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr


INTERRUPTED = """
import os, sys, threading
sys.path[:0] = {path!r}
from helpers.public_objects import SENT, computed, fresh, of_problem
before, ended = computed(fresh(SENT)), threading.Event()
def work():
    while not ended.is_set():
        of_problem(SENT["mlcp.Problem"], 0)
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
codes = []
for _ in range(10):
    child = os.fork()
    if child == 0:
        os._exit(0 if computed(fresh(SENT)) == before else 3)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
ended.set()
sys.exit(max(codes))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="this system does not fork")
@pytest.mark.skipif(
    not getattr(sys, "_is_gil_enabled", lambda: True)(),
    reason="without a GIL a child inherits the locks that other threads hold on dictionaries",
)
def test_what_threads_have_in_hand_is_not_the_childs():
    """A child that is forked while other threads solve has intact workspaces."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", INTERRUPTED.format(path=sys.path)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
