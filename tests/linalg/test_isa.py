"""Test that the kernels of every instruction set are correct, and how one is chosen and shown."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import treefactor as tf
from treefactor.tree._pattern import INSTRUCTION_SETS, USED, VARIABLE

TESTS = Path(__file__).parents[1]
KERNELS = "isa and not slow"  # markers of the tests of factors that the fast suite repeats
EVERYTHING = "(isa or isa_all) and not slow"
NAMES = """#include <stdio.h>
#include "choose.h"
int main(void)
{
    const char *name[3];
    int count = supported_isas(name);
    for (int k = 0; k < count; k++) puts(name[k]);
}
"""
others = pytest.mark.parametrize("isa", [isa for isa in INSTRUCTION_SETS if isa != USED])


def python(isa, *arguments):
    """Run Python with an instruction set forced."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, VARIABLE: isa},
        capture_output=True,
        text=True,
        timeout=1800,
    )


def assert_passed(isa, markers, *folders):
    """Run the tests of some folders that have these markers."""
    chosen = ("-m", markers, *(TESTS / folder for folder in folders))
    run = python(isa, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *chosen)
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr


@others
@pytest.mark.uncovered
def test_the_checks_of_kernels_pass(isa):
    assert_passed(isa, KERNELS, "linalg")


@pytest.mark.slow
@others
def test_the_checks_of_factors_pass(isa):
    assert_passed(isa, EVERYTHING, "linalg", "dynamics", "codegen")


def test_the_best_one_is_the_last():
    assert INSTRUCTION_SETS[0] == "baseline"
    assert set(INSTRUCTION_SETS) <= {"baseline", "avx2", "avx512"}


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize(("register", "isa"), [(16, "baseline"), (32, "avx2"), (64, "avx512"), (None, None)])
def test_a_build_for_one_processor_has_one_instruction_set(tmp_path, register, isa):
    (tmp_path / "names.c").write_text(NAMES)
    only = () if register is None else (f"-DONLY={register}",)
    folder = TESTS.parent / "treefactor/kernels/common"
    for name in ("choose.h", "compiled.h"):  # without only.h, which a build may have left there
        shutil.copy(folder / name, tmp_path)
    subprocess.run(["cc", *only, "names.c", "-o", "names"], cwd=tmp_path, check=True)
    known = subprocess.run([tmp_path / "names"], capture_output=True, text=True, check=True).stdout.split()
    assert known == [one for one in INSTRUCTION_SETS if isa in (None, one)]


@pytest.mark.parametrize("isa", ["sse9", "AVX2", "baseline ", "0"])
def test_the_error_of_an_unknown_name_lists_the_known_ones(isa):
    run = python(isa, "-c", "from treefactor import Tree")
    assert run.returncode == 1
    assert f"TreefactorError: {VARIABLE}" in run.stderr
    assert f"got {isa!r}" in run.stderr
    assert ", ".join(INSTRUCTION_SETS) in run.stderr


@pytest.mark.parametrize("isa", [*INSTRUCTION_SETS, ""])
def test_a_known_name_is_used(isa):
    run = python(isa, "-c", "import treefactor as tf; print(tf.show_config('dicts')['used'])")
    assert run.stdout.strip() == (isa or INSTRUCTION_SETS[-1]), run.stderr


def test_show_config_prints_what_it_returns(capsys):
    config = tf.show_config("dicts")
    assert config["treefactor"] == tf.__version__
    assert config["instruction sets"] == list(INSTRUCTION_SETS)
    assert config["used"] == USED
    assert tf.show_config() is None
    lines = capsys.readouterr().out.splitlines()
    assert [line[:18].rstrip() for line in lines] == list(config)
    assert ", ".join(INSTRUCTION_SETS) in "\n".join(lines)
    with pytest.raises(ValueError, match="mode"):
        tf.show_config("html")
