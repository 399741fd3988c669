"""Check compiling and caching: safe compiler calls, errors for failures, no code of other users."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from helpers.generated_models import robot
from helpers.machine_code import assert_agrees

import treefactor as tf
from treefactor.codegen.backends import build, cache

CC = shutil.which("cc")
pytestmark = pytest.mark.skipif(CC is None, reason="no C compiler")
CODE = """
import sys
from treefactor import Model
from treefactor.codegen import generate
from treefactor.codegen.backends import build, cache
model = Model.from_urdf(sys.argv[1])
"""
USAGE = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
"""


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """Return the cache folder, which does not exist yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return cache.default_folder()


@pytest.fixture
def arm():
    return robot("ur5_robot")


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    """Set CC to a script."""

    def compiler(text):
        path = tmp_path / "compiler"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        monkeypatch.setenv("CC", str(path))
        return path

    return compiler


def compiled(arm):
    """Compare the compiled "crba" of the arm with NumPy."""
    model, program = arm
    program = replace(program, functions={"crba": program.functions["crba"]})
    kernels = build.compiled(program)
    assert_agrees(kernels, program, model)
    return kernels


def run(code):
    """Start a process that compiles and evaluates the arm."""
    path = str(tf.robots.find("ur5_robot").path)
    return subprocess.Popen([sys.executable, "-c", CODE + code, path], stdout=subprocess.PIPE, text=True)


def never(*arguments):
    raise AssertionError("compiled again")


def published(folder):
    return [name for name in os.listdir(folder) if "." not in name]


def test_the_second_time_it_comes_from_the_cache(arm, folder, monkeypatch):
    compiled(arm)
    assert len(os.listdir(folder)) == 1
    assert folder.stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr(build.Compiler, "library", never)
    compiled(arm)


def test_the_key_is_all_that_matters(arm, folder, monkeypatch, compiler):
    compiled(arm)
    build.compiled(arm[1], ["rnea"])  # another text
    monkeypatch.setattr(build, "FLAGS", (*build.FLAGS, "-fno-builtin"))
    compiled(arm)
    compiler(f'exec {CC} "$@"')  # another path
    compiled(arm)
    monkeypatch.setattr(build, "__version__", "other")
    compiled(arm)
    assert len(os.listdir(folder)) == 5


def test_no_compiler(arm, monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(tf.exceptions.CodegenError, match="no-such-compiler found"):
        compiled(arm)
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(tf.exceptions.CodegenError, match="no C compiler cc, gcc or clang found"):
        compiled(arm)


def test_errors_of_the_compiler_are_passed_on(arm, folder, compiler):
    compiler('case "$*" in *-shared*) echo no space >&2; exit 3;; esac; exec ' + CC + ' "$@"')
    with pytest.raises(tf.exceptions.CodegenError, match="ended with status 3: no space"):
        compiled(arm)
    assert os.listdir(folder) == []


def test_a_compiler_that_is_killed(arm, folder, compiler):
    compiler('case "$*" in *" -c "*) kill -9 $$;; esac; exec ' + CC + ' "$@"')
    with pytest.raises(tf.exceptions.CodegenError, match="ended with signal 9"):
        compiled(arm)
    assert os.listdir(folder) == []


def test_a_compiler_that_hangs_is_killed_with_all_it_started(arm, compiler, monkeypatch, tmp_path):
    compiler(f"sleep 60 & echo $! > {tmp_path}/pid; wait")
    monkeypatch.setattr(build, "SECONDS", 1)
    start = time.monotonic()
    with pytest.raises(tf.exceptions.CodegenError, match="more than 1 s"):
        compiled(arm)
    assert time.monotonic() - start < 20
    pid = int((tmp_path / "pid").read_text())
    for _ in range(100):  # until it is buried
        if not alive(pid):
            break
        time.sleep(0.05)
    assert not alive(pid)


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:
        return file.read().split()[2] != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of processes")
def test_a_compiler_that_takes_all_memory_is_stopped(arm, compiler):
    code = "bytearray(4 << 30)"
    compiler(f"exec {shlex.quote(sys.executable)} -I -S -c '{code}'")
    with pytest.raises(tf.exceptions.CodegenError, match="MemoryError"):
        compiled(arm)


def test_the_compiler_sees_a_clean_environment(arm, compiler, monkeypatch, tmp_path):
    for name in ("LD_LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "GCC_EXEC_PREFIX", "CFLAGS"):
        monkeypatch.setenv(name, "/evil")
    monkeypatch.setenv("PATH", f".:relative:{os.environ['PATH']}")
    compiler(f'env > {tmp_path}/seen; exec {CC} "$@"')
    compiled(arm)
    seen = dict(line.split("=", 1) for line in (tmp_path / "seen").read_text().splitlines())
    assert set(seen) <= {"PATH", "HOME", "TMPDIR", "LC_ALL", "PWD", "SHLVL", "_", "OLDPWD"}
    assert all(os.path.isabs(place) for place in seen["PATH"].split(":"))
    assert "treefactor-" in seen["HOME"] == seen["TMPDIR"]
    assert not os.path.exists(seen["HOME"])


def test_no_shell_reads_cc(arm, monkeypatch, tmp_path):
    monkeypatch.setenv("CC", f"cc; touch {tmp_path}/evil")
    with pytest.raises(tf.exceptions.CodegenError, match="no C compiler cc; found"):
        compiled(arm)
    assert not (tmp_path / "evil").exists()


def test_without_a_home_nothing_is_kept(arm, monkeypatch, tmp_path):
    monkeypatch.delenv("HOME")
    compiled(arm)
    assert not (tmp_path / "cache").exists()


def test_nothing_is_left_in_the_folder_for_temporary_files(arm, monkeypatch, tmp_path):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    compiled(arm)
    assert os.listdir(tmp_path / "temporary") == []


def test_temporary_files_that_others_could_exchange(arm, monkeypatch, tmp_path):
    (tmp_path / "temporary").mkdir()
    (tmp_path / "temporary").chmod(0o777)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    with pytest.raises(tf.exceptions.CodegenError, match=r"others own .* or can write to it"):
        compiled(arm)


def writable(folder):
    folder.mkdir(parents=True)
    folder.chmod(0o777)


def writable_parent(folder):
    folder.mkdir(parents=True, mode=0o700)
    folder.parent.chmod(0o777)


def symlink(folder):
    folder.parent.mkdir(parents=True)
    (folder.parent / "elsewhere").mkdir()
    folder.symlink_to(folder.parent / "elsewhere")


def plain_file(folder):
    folder.parent.mkdir(parents=True)
    folder.write_text("")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (writable, "others can write to it"),
        (writable_parent, "others own .* or can write to it"),
        (symlink, "it is a symbolic link"),
        (plain_file, "Not a directory"),
    ],
)
def test_hostile_folders_are_left_alone(arm, folder, make, reason):
    make(folder)
    with pytest.warns(RuntimeWarning, match=f"not kept in .*: {reason}"):
        compiled(arm)
    assert not folder.is_dir() or os.listdir(folder) == []


@pytest.mark.skipif(sys.platform != "linux", reason="no user can write to /proc on Linux")
def test_a_folder_that_cannot_be_made(arm, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/self")
    with pytest.warns(RuntimeWarning, match="not kept in /proc/self/treefactor: No such file"):
        compiled(arm)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser writes anywhere")
def test_a_folder_that_cannot_be_written_to(arm, folder):
    folder.mkdir(parents=True)
    folder.chmod(0o500)
    with pytest.warns(RuntimeWarning, match="not kept: Permission denied"):
        compiled(arm)


def test_a_folder_of_another_user(arm, folder, monkeypatch):
    folder.mkdir(parents=True, mode=0o700)
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    with pytest.warns(RuntimeWarning, match=r"others own|belongs to another user"):
        compiled(arm)
    assert os.listdir(folder) == []


def truncated(path):
    os.truncate(path, path.stat().st_size - 100)


def empty(path):
    os.truncate(path, 0)


def altered(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def writable_by_others(path):
    path.chmod(0o666)


def linked(path):
    path.rename(path.parent.parent / "moved")
    path.symlink_to(path.parent.parent / "moved")


def pipe(path):
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("spoil", [truncated, empty, altered, writable_by_others, linked, pipe])
def test_hostile_objects_are_not_loaded_but_replaced(arm, folder, spoil, monkeypatch):
    compiled(arm)
    (name,) = os.listdir(folder)
    spoil(folder / name)
    with pytest.warns(RuntimeWarning, match="is not used"):
        compiled(arm)
    monkeypatch.setattr(build.Compiler, "library", never)
    compiled(arm)


def test_a_folder_in_the_place_of_an_object(arm, folder):
    compiled(arm)
    (name,) = os.listdir(folder)
    (folder / name).unlink()
    (folder / name).mkdir()
    with pytest.warns(RuntimeWarning, match="is not kept"), pytest.warns(RuntimeWarning, match="is not used"):
        compiled(arm)


def test_an_object_of_another_program_is_not_loaded(arm, folder):
    compiled(arm)
    (name,) = os.listdir(folder)
    build.compiled(arm[1], ["rnea"])
    (other,) = set(os.listdir(folder)) - {name}
    shutil.copy(folder / other, folder / name)
    compiled(arm)


def test_compiled_code_is_identified_by_its_hash(arm, monkeypatch):
    monkeypatch.setattr(build.emit_c, "ABI", 2)
    compiler = build.Compiler.find()
    texts = build.emit_c.sources(arm[1], ["crba"])
    texts["dynamics.c"] = texts["dynamics.c"].replace("return 2", "return 1")
    with pytest.raises(tf.exceptions.CodegenError, match="not of this program"):
        build._loaded(compiler.library(texts, "key"), "key")
    with pytest.raises(tf.exceptions.CodegenError, match="cannot be loaded"):
        build._loaded(b"no object at all", "key")


def test_what_cannot_be_kept_is_used_all_the_same(arm, folder, monkeypatch):
    def full(*arguments, **keywords):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(RuntimeWarning, match="not kept: No space left"):
        compiled(arm)
    assert os.listdir(folder) == []


def test_two_processes_at_once(arm, folder):
    pair = [run("print(build.compiled(generate(model, 'crba')).one('crba') > 0)") for _ in range(2)]
    assert [process.communicate(timeout=120)[0] for process in pair] == ["True\n"] * 2
    assert len(published(folder)) == len(os.listdir(folder)) == 1
    compiled(arm)


def test_killed_before_it_published(arm, folder, monkeypatch):
    code = """
import os, signal
cache.os.replace = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)
build.compiled(generate(model, 'crba'))
"""
    process = run(code)
    process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL
    (draft,) = os.listdir(folder)
    assert published(folder) == []
    compiled(arm)
    assert len(os.listdir(folder)) == 2  # somebody may still be writing
    os.utime(folder / draft, (0, time.time() - 2 * cache.DAY))
    build.compiled(arm[1], ["rnea"])
    assert published(folder) == os.listdir(folder)


def test_what_was_not_used_for_longest_goes_first(folder, monkeypatch):
    monkeypatch.setattr(cache, "LIMIT", 2500)
    with cache.opened(folder) as kept:
        for age, name in enumerate("cab"):
            kept.write(name, bytes(700))
            os.utime(folder / name, (0, time.time() - 100 + age))
        kept.read("c")
        kept.write("d", bytes(700))
        assert sorted(os.listdir(folder)) == ["b", "c", "d"]
        kept.write("e", bytes(5000))  # the newest stays in any case
        assert os.listdir(folder) == ["e"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="wait4 counts in KiB on Linux")
def test_a_hundred_thousand_statements_compile_in_ten_seconds(tmp_path):
    from helpers.generated_models import large

    program = large(250)
    assert program.operations["aba"].total > 91000
    texts = build.emit_c.sources(program)
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    command = [CC, *build.FLAGS, build.NATIVE, "-c", "aba.c", "-o", "aba.o"]
    # in a small process: what a process starts on Linux counts the memory of that process, too
    command = [sys.executable, "-c", USAGE, *command]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    seconds, kilobytes = map(float, done.stdout.split())
    assert seconds < 10
    assert kilobytes < 400 * 1024
