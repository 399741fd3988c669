"""Settings of Hypothesis (no deadlines, the same examples each time) and fixtures for the engines' tests."""

import gc
import os

import pytest
from helpers.sweeps import THOROUGH
from hypothesis import HealthCheck, settings

# read when NumPy is imported: matrices are small, and other cores have tests of their own
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

settings.register_profile(
    "treefactor",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=20,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("treefactor")
settings.register_profile("thorough", settings.get_profile("treefactor"), max_examples=THOROUGH)
settings.register_profile("traced", settings.get_profile("treefactor"), max_examples=10)  # each takes longer


gc.disable()  # while tests are collected, none of which is garbage


def pytest_collection_finish():
    """Keep the tests themselves out of every later collection of garbage."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True, scope="session")
def _threads_for_small_work():
    """Let as many threads take part as a test requests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("treefactor._util.threads.ENOUGH", 1)
        yield


@pytest.fixture
def write(tmp_path):
    """Write a URDF with the given links and joints; returns its path."""

    def write(content, name="robot.urdf"):
        path = tmp_path / name
        path.write_text(f"<robot name='r'>\n{content}</robot>")
        return path

    return write


@pytest.fixture
def write_text(tmp_path, monkeypatch):
    """Write a text to a file in an empty folder, which becomes the current one; returns its path."""
    monkeypatch.chdir(tmp_path)  # where MuJoCo would leave its MUJOCO_LOG.TXT

    def write_text(text, name="robot.urdf"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write_text


@pytest.fixture
def client():
    """Return the number of a new PyBullet client."""
    pybullet = pytest.importorskip("pybullet", reason="PyBullet has no wheels after Python 3.11")
    client = pybullet.connect(pybullet.DIRECT)
    yield client
    pybullet.disconnect(client)
