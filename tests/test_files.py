"""Files stay complete on full disks, in read-only folders, with two writers and with a killed one."""

import json
import os
import signal
import stat
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest

import treefactor as tf
from treefactor._util.files import replacing

LIMIT = 1000  # bytes of a file, where disks are full
WRITERS = {  # of far more than that
    "program": "program.save(path)",
    "json": "with replacing(path) as draft:\n    report.write_json(draft, {'rows': ['x'] * 10**4})",
    "html": "with replacing(path) as draft:\n    conformance.write_html(draft, Report(META))",
}
PREPARE = """
import resource, sys, time, warnings
from pathlib import Path
import numpy as np, treefactor as tf
from treefactor import report
from treefactor.check.cells import Report
from treefactor.report import conformance
from treefactor._util.files import replacing
path = Path(sys.argv[1])
META = {"treefactor": "0", "samples": 1, "seed": 0}
joints = [tf.Joint(f"{k}", "revolute", k - 1, axis=[0, 0, 1], armature=1.0) for k in range(3)]
program = tf.generate(tf.Model(joints), ["bias"], variants=["plain"])
"""
FULL = """
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
try:
    exec({code!r})
except tf.TreefactorError as error:
    print(error)
"""


def run(code, *arguments):
    command = [sys.executable, "-c", PREPARE + code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o444])
def test_permissions_of_the_older_file_stay(tmp_path, mode):
    path = tmp_path / "file"
    path.write_bytes(b"older")
    path.chmod(mode)
    with replacing(path) as draft:
        assert stat.S_IMODE(draft.stat().st_mode) == 0o600
        draft.write_bytes(b"newer")
    assert (stat.S_IMODE(path.stat().st_mode), path.read_bytes()) == (mode, b"newer")


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_the_older_file(tmp_path, name):
    path = tmp_path / "file"
    assert run(f"exec({WRITERS[name]!r})", path).stderr == ""
    assert path.stat().st_size > LIMIT
    path.write_bytes(b"older")
    done = run(FULL.format(limit=LIMIT, code=WRITERS[name]), path)
    assert done.stdout.startswith(f"cannot write {path}: File too large"), done.stderr
    assert os.listdir(tmp_path) == [path.name]
    assert path.read_bytes() == b"older"


def test_a_full_disk_keeps_no_compiled_code(tmp_path):
    code = f"""
from treefactor.codegen.backends import cache
resource.setrlimit(resource.RLIMIT_FSIZE, ({LIMIT}, {LIMIT}))
with cache.opened(path) as kept, warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    kept.write("key", b"x" * 10 * {LIMIT})
    print(told[0].message, kept.read("key"))
"""
    done = run(code, tmp_path / "cache")
    assert done.stdout.strip() == "compiled code is not kept: File too large None", done.stderr
    assert os.listdir(tmp_path / "cache") == []


def test_the_users_mask_decides_who_may_read(tmp_path):
    usual = os.umask(0o027)
    try:
        with replacing(tmp_path / "file") as draft:
            draft.write_bytes(b"new")
    finally:
        os.umask(usual)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_links_stay_and_devices_are_written_to(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for content in (b"first", b"second"):
        with replacing(tmp_path / "link") as draft:
            draft.write_bytes(content)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "file").read_bytes() == content
    with replacing(type(tmp_path)(os.devnull)) as draft:
        assert str(draft) == os.devnull
    with pytest.raises(tf.TreefactorError, match="it is a folder"), replacing(tmp_path):
        pass


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt, tf.ShapeError])
def test_what_fails_leaves_nothing(tmp_path, error):
    with pytest.raises(error), replacing(tmp_path / "file") as draft:  # noqa: PT012
        draft.write_bytes(b"half")
        raise error("no")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["nowhere/file", "file/below", "n" * 300])
def test_where_nothing_can_be_written(tmp_path, name):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(tf.TreefactorError, match="cannot write"), replacing(tmp_path / name):
        pass


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for the superuser")
def test_a_folder_that_is_read_only(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(tf.TreefactorError, match="denied"), replacing(tmp_path / "file"):
        pass


SAVING = """
program.save(path)
print("saved", flush=True)
while True:
    program.save(path)
"""


def test_killed_at_any_time_and_two_at_once(tmp_path):
    path = tmp_path / "program.npz"
    read = 0
    for wait in (0.0, 0.01):
        command = [sys.executable, "-c", PREPARE + SAVING, path]
        with (
            subprocess.Popen(command, stdout=subprocess.PIPE) as one,
            subprocess.Popen(command, stdout=subprocess.PIPE) as other,
        ):
            one.stdout.readline(), other.stdout.readline()
            for _ in range(20):
                read += len(tf.Program.load(path).functions)
            with suppress(subprocess.TimeoutExpired):
                one.wait(wait)
            one.send_signal(signal.SIGKILL)
            other.send_signal(signal.SIGKILL)
        assert list(tf.Program.load(path).functions) == ["bias"]
    assert read == 40
    assert all(name == path.name or name.startswith(".program.") for name in os.listdir(tmp_path))


def test_json_holds_names_that_are_not_text(tmp_path):
    from treefactor.report import write_json

    name = os.fsdecode(b"caf\xe9")
    write_json(tmp_path / "report.json", {"rows": [name, np.nan]})
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8")) == {"rows": [name, None]}
