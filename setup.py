"""Build the compiled kernels; everything else is declared in pyproject.toml."""

import os
import sys

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

KERNELS = ["_tree", "_ltdl", "_rows"]

DEBUG = os.environ.get("TREEFACTOR_DEBUG") == "1"  # bounds and None checks on, no optimization
FLAGS = ["-O0", "-g"] if DEBUG else ["-O3", "-fno-math-errno", "-fno-trapping-math"]

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": DEBUG,
    "initializedcheck": DEBUG,
    "nonecheck": DEBUG,
    "cdivision": True,
    "embedsignature": True,
    "freethreading_compatible": True,
}

extensions = [
    Extension(
        f"treefactor.{name}",
        [f"treefactor/{name}.pyx"],
        include_dirs=[numpy.get_include()],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
        extra_compile_args=[] if sys.platform == "win32" else FLAGS,
    )
    for name in KERNELS
]

setup(
    packages=["treefactor", "treefactor.adapters"],
    package_dir={"treefactor": "treefactor", "treefactor.adapters": "adapters"},
    ext_modules=cythonize(extensions, compiler_directives=DIRECTIVES),
)
