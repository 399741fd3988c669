"""Build the compiled kernels; everything else is declared in pyproject.toml."""

import os
import sys
from glob import glob

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

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
FLAGS = (
    ["-O0", "-g"]
    if DEBUG
    else ["-O3", "-Wno-psabi", "-fno-math-errno", "-fno-trapping-math", "-fno-tree-loop-distribute-patterns"]
)

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "nonecheck": DEBUG,
    "cdivision": True,
    "embedsignature": True,
    "freethreading_compatible": True,
}

extensions = [
    Extension(
        f"treefactor.{name.replace('/', '.')}",
        [f"treefactor/{name}.pyx", *sources],
        include_dirs=[numpy.get_include(), "treefactor"],
        depends=glob("treefactor/kernels/*.h"),
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
        extra_compile_args=[] if sys.platform == "win32" else FLAGS,
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
)
