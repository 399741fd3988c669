"""Build the compiled kernels; everything else is declared in pyproject.toml."""

import os
import sys
from glob import glob
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

KERNELS = {
    "_tree": [],
    "_pattern": [f"treefactor/kernels/{isa}.c" for isa in ("baseline", "avx2", "avx512")],
    "_ltdl": [],
    "_calls": [],
    "_rows": [],
    "_lanes": [],
    "_chain": [],
    "_peak": [],
    "_dynamics": ["treefactor/kernels/dynamics.c"],
    "_loops": ["treefactor/kernels/loops.c"],
    "_contacts": [],
    "_moves": [],
    "_given": [],
    "_order": [],
    "_fronts": [],
    "_kkt": [],
    "_state": [],
    "_pivot": [],
    "codegen/_table": [],
    "codegen/_lower": [],
    "codegen/_routine": ["treefactor/kernels/interp.c"],
    "codegen/_interp": [],
    "codegen/_native": [],
}  # with further sources

DEBUG = os.environ.get("TREEFACTOR_DEBUG") == "1"  # bounds and None checks on, no optimization
COVERAGE = os.environ.get("TREEFACTOR_COVERAGE") == "1"  # every line reports to the tracer of coverage
FLAGS = (
    ["-O0", "-g"]
    if DEBUG
    else ["-O3", "-Wno-psabi", "-fno-math-errno", "-fno-trapping-math", "-fno-tree-loop-distribute-patterns"]
)
EXACT = "-ffp-contract=off"  # only kernels fuse multiply-adds: other modules round alike everywhere

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "nonecheck": DEBUG,
    "cdivision": True,
    "embedsignature": True,
    "freethreading_compatible": True,
    "linetrace": COVERAGE,
}
MACROS = [("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")]
if COVERAGE:  # plugins of coverage hear sys.settrace only
    MACROS += [("CYTHON_TRACE_NOGIL", "1"), ("CYTHON_USE_SYS_MONITORING", "0")]


class BuildKernels(build_ext):
    """With those flags that the compiler knows: to clang, one that only GCC has is an error."""

    def build_extensions(self):
        """Compile all kernels."""
        known = [flag for flag in (*FLAGS, EXACT) if self.knows(flag)] if sys.platform != "win32" else []
        for extension in self.extensions:
            kernels = any("/kernels/" in source for source in extension.sources)
            extension.extra_compile_args = [flag for flag in known if flag != EXACT or not kernels]
        super().build_extensions()

    def knows(self, flag: str) -> bool:
        """Whether an empty file compiles with a flag."""
        source = Path(self.build_temp, "empty.c")
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text("extern int nothing;\n")
        try:
            self.compiler.compile([str(source)], self.build_temp, extra_postargs=["-Werror", flag])
        except CompileError:
            return False
        return True


extensions = [
    Extension(
        f"treefactor.{name.replace('/', '.')}",
        [f"treefactor/{name}.pyx", *sources],
        include_dirs=[numpy.get_include(), "treefactor"],
        depends=glob("treefactor/kernels/*.h"),
        define_macros=MACROS,
    )
    for name, sources in KERNELS.items()
]

setup(
    packages=[
        "treefactor",
        "treefactor.adapters",
        "treefactor.codegen",
        "treefactor.constraints",
        "treefactor.tables",
        "treefactor.textbook",
    ],
    package_dir={"treefactor": "treefactor", "treefactor.adapters": "adapters"},
    ext_modules=cythonize(extensions, compiler_directives=DIRECTIVES),
    cmdclass={"build_ext": BuildKernels},
)
