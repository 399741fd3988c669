"""Build the compiled kernels, all files side by side; everything else is declared in pyproject.toml."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from pathlib import Path

import numpy
from Cython.Build import cythonize
from Cython.Utils import file_generated_by_this_cython
from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

FOLDER = "treefactor/kernels"
KERNELS = {
    "_pattern": [f"{FOLDER}/linalg/{isa}.c" for isa in ("baseline", "avx2", "avx512")],
    "_delassus": [f"{FOLDER}/linalg/delassus.c"],
    "_recursions": [f"{FOLDER}/dynamics/dynamics.c"],
    "_poses": [f"{FOLDER}/poses/poses.c"],
    "_configurations": [f"{FOLDER}/configurations/configurations.c"],
    "_first_order": [f"{FOLDER}/derivatives/first_order.c"],
