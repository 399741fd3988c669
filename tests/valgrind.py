"""Run the compiled modules under valgrind's memcheck, which finds uninitialized values: `make valgrind`.

Errors count that have a function of ours among the callers; those of CPython and NumPy alone do not. Valgrind
3.19 knows no AVX-512, nor all machine code that compilers write for this machine.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

SETS = ("avx2", "baseline")
COMMAND = ["valgrind", "--leak-check=no", "--num-callers=20", "--error-limit=no", "--xml=yes"]
NATIVE = {"compile", "native kernels", "native kernel", "bound kernel"}


def calls():
    """Call everything once, and solve the families of problems."""
    from helpers.memory_cases import CALLS

    from treefactor import mlcp
    from treefactor.mlcp import families as mlcp_families

    for name, call in CALLS.items():
        if name not in NATIVE:
            call()
    for make in mlcp_families.FAMILIES.values():
        problem = make(16, 1)
        mlcp.solve(problem).residual()
        if problem.upper is None:
            mlcp.solve(problem, method="simplex")


def errors(report):
    """Return kinds of errors with their call stacks, if one of our functions is in the stack."""
    for error in ElementTree.parse(report).iter("error"):
        frames = list(error.find("stack"))
        ours = any("/treefactor/" in (frame.findtext("obj") or "") for frame in frames)
        if ours and not error.findtext("kind").startswith("Leak"):
            yield error.findtext("kind"), [frame.findtext("fn") for frame in frames]


def check(name):
    """Return the errors of one instruction set."""
    chosen = {"TREEFACTOR_ISA": name, "PYTHONMALLOC": "malloc", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [*COMMAND, f"--xml-file={report}", sys.executable, __file__, "calls"]
        subprocess.run(command, env={**os.environ, **chosen}, check=True)
        return list(errors(report))


if __name__ == "__main__":
    if sys.argv[1:] == ["calls"]:
        calls()
        sys.exit()
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed")
    reported = [(name, *error) for name in sys.argv[1:] or SETS for error in check(name)]
    for name, kind, functions in reported:
        print(name, kind, *functions, sep="\n  ")
    print(f"{len(reported)} errors")
    sys.exit(bool(reported))
