"""Build the compiled kernels, all files side by side; everything else is declared in pyproject.toml."""

import json
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
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
    "_damped": [f"{FOLDER}/linalg/damped.c"],
    "_compiled_function": [f"{FOLDER}/functions/validity.c"],
    "_recursions": [f"{FOLDER}/dynamics/dynamics.c"],
    "_poses": [f"{FOLDER}/poses/poses.c"],
    "_configurations": [f"{FOLDER}/configurations/configurations.c"],
    "_first_order": [f"{FOLDER}/derivatives/first_order.c"],
    "_second_order": [f"{FOLDER}/derivatives/second_order.c"],
    "_products": [f"{FOLDER}/derivatives/products.c"],
    "_triangles": [f"{FOLDER}/identification/triangles.c"],
    "_regressors": [f"{FOLDER}/identification/regressor.c"],
    "_rollouts": [f"{FOLDER}/rollouts/rollouts.c"],
    "_request": [f"{FOLDER}/kinematics/requests.c"],
    "_searches": [f"{FOLDER}/control/inverse_kinematics.c"],
    "_costs": [f"{FOLDER}/control/costs.c"],
    "_riccati": [f"{FOLDER}/control/riccati.c"],
    "_sampling": [f"{FOLDER}/control/sampling.c"],
    "_loops": [f"{FOLDER}/constraints/loops.c"],
    "_row_kernel": [f"{FOLDER}/constraints/frame_rows.c"],
    "_touching": [f"{FOLDER}/contacts/touch.c"],
    "_constrained_function": [f"{FOLDER}/constraints/bordered.c"],
    "_routine": [f"{FOLDER}/interpreter/interp.c"],
}  # further sources of modules; every .pyx file is a module
REGISTERS = {  # bytes of a register: instruction set, macros of a compiler that knows it
    64: ("avx512", ("__AVX512F__", "__AVX512DQ__", "__AVX512VL__", "__AVX512BW__")),
    32: ("avx2", ("__AVX2__", "__FMA__")),
    16: ("baseline", ()),
}
ONLY = Path(FOLDER, "common/only.h")  # written: defines ONLY in a build for one processor
RANDOM = {  # modules that draw random numbers by the C functions of NumPy
    "_configurations": {
        "libraries": ["npyrandom", "npymath"],
        "library_dirs": [
            str(Path(numpy.get_include(), "..", "..", "random", "lib").resolve()),
            str(Path(numpy.get_include(), "..", "lib").resolve()),
        ],
    },
}
SHARED = "treefactor._cyutility"  # what Cython adds to every module that uses arrays: compiled once for all
SHARED_FILE = SHARED.replace(".", "/") + ".c"
ARRAYS_FILE = "treefactor/tree/_pattern.c"  # of a module that uses arrays: names the NumPy it is made for

DEBUG = os.environ.get("TREEFACTOR_DEBUG") == "1"  # bounds and None checks on, no optimization
COVERAGE = os.environ.get("TREEFACTOR_COVERAGE") == "1"  # every line reports to the tracer of coverage
NATIVE = os.environ.get("TREEFACTOR_NATIVE") == "1"  # kernels for this processor only: half the time
TIMES = os.environ.get("TREEFACTOR_BUILD_TIMES") == "1"  # one file after the other, and how long each took
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
WORKERS = 1 if TIMES else CORES

OPTIMIZED = [
    "-O3",
    "-falign-functions=64",  # 1 to 2 % of a batch depend on where a kernel starts
    "-Wno-psabi",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-tree-loop-distribute-patterns",
    "-fno-gcse-after-reload",  # a tenth of the time of long kernels, and no faster with it
]
if "-g" not in os.environ.get("CFLAGS", ""):  # Python's own flags have -g: a quarter of the time
    OPTIMIZED.append("-g0")
FLAGS = ["-O0", "-g"] if DEBUG else OPTIMIZED
OWN_FLAGS = {
    # vectors within one configuration fuse other products than vectors of lanes
    "_regressors": ["-fno-tree-slp-vectorize"],
    # rows are short: GCC's tests whether arrays overlap took a fifth of a sweep
    "_riccati": ["-fno-tree-loop-vectorize"],
}
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
OWN_MACROS = {  # a vector call whose memory fails releases what it has not set, in Cython 3.3.1
    "_compiled_parts": [("CYTHON_VECTORCALL_TPNEW", "0")],
}
if COVERAGE:  # plugins of coverage hear sys.settrace only
    MACROS += [("CYTHON_TRACE_NOGIL", "1"), ("CYTHON_USE_SYS_MONITORING", "0")]


class BuildKernels(build_ext):
    """Compile with those flags that the compiler knows, as many files at a time as there are cores.

    An unknown flag is a warning to GCC and an error to clang.
    """

    def run(self):
        """Translate the modules to C and compile them; commands that compile nothing need no C files."""
        start = time.process_time()
        translated = {extension.name: extension.sources for extension in translate(self.extensions)}
        for extension in self.extensions:
            extension.sources = translated[extension.name]
        self.cython_seconds = time.process_time() - start
        super().run()

    def build_extensions(self):
        """Build all extensions: each in a thread that waits for its files, which share the cores."""
        known = [flag for flag in (*FLAGS, EXACT) if self.knows(flag)]
        for extension in self.extensions:
            flags = [flag for flag in known if flag != EXACT or not kernels(extension)]
            own = OWN_FLAGS.get(extension.name.rpartition(".")[2], [])
            extension.extra_compile_args = flags + [flag for flag in own if self.knows(flag)]
        if NATIVE:
            self.leave_out_other_processors()
        else:
            write_if_new(ONLY, "")
        self.extensions.sort(key=work, reverse=True)
        self.seconds = {}
        workers = self.parallel or WORKERS
        self.parallel = 1 if TIMES else len(self.extensions)
        compile_files = self.compiler.compile
        with ThreadPoolExecutor(workers) as pool:

            def compile_apart(sources, **options):
                """Compile the sources, each in a task of its own; return the names of the objects."""
                tasks = [pool.submit(self.timed, compile_files, source, options) for source in sources]
                return [name for task in tasks for name in task.result()]

            self.compiler.compile = compile_apart
            super().build_extensions()
        if TIMES:
            self.print_times()

    def timed(self, compile_files, source: str, options: dict) -> list:
        """Compile one file, and keep how much processor time that took."""
        start = children_seconds()
        objects = compile_files([source], **options)
        self.seconds[source] = children_seconds() - start
        return objects

    def print_times(self):
        """Print the processor time of every file, the longest first."""
        rows = [*sorted(self.seconds.items(), key=lambda item: -item[1]), ("Cython", self.cython_seconds)]
        for name, seconds in [*rows, ("all", sum(self.seconds.values()) + self.cython_seconds)]:
            print(f"{seconds:7.1f} s  {name}")

    def leave_out_other_processors(self):
        """Compile the kernels of the best instruction set of this processor only."""
        known = (
            register for register, (_, macros) in REGISTERS.items() if self.knows("-march=native", macros)
        )
        register = next(known, 16)
        others = {f"/{name}.c" for size, (name, _) in REGISTERS.items() if size != register}
        for extension in self.extensions:
            extension.sources = [one for one in extension.sources if not one.endswith(tuple(others))]
        write_if_new(ONLY, f"#define ONLY {register}\n")

    def knows(self, flag: str, macros: tuple[str, ...] = ()) -> bool:
        """Return whether a file compiles with a flag, which defines these macros."""
        source = Path(self.build_temp, "empty.c")
        source.parent.mkdir(parents=True, exist_ok=True)
        tests = "".join(f"#ifndef {macro}\n#error {macro}\n#endif\n" for macro in macros)
        source.write_text(tests + "extern int nothing;\n")
        try:
            self.compiler.compile([str(source)], self.build_temp, extra_postargs=["-Werror", flag])
        except CompileError:
            return False
        return True


def write_if_new(path: Path, text: str) -> None:
    """Write a file unless it has that text: modules that include a newer file are compiled anew."""
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)


def kernels(extension: Extension) -> list[str]:
    """Return those sources of an extension that are kernels."""
    return [source for source in extension.sources if f"/{Path(FOLDER).name}/" in source]


def work(extension: Extension) -> tuple[int, int]:
    """Return what grows with the time an extension takes: its kernels, then the bytes of its sources."""
    return len(kernels(extension)), sum(Path(source).stat().st_size for source in extension.sources)


def children_seconds() -> float:
    """Return the processor time of all processes that this one started, as far as they have ended."""
    times = os.times()
    return times.children_user + times.children_system


def headers(paths: list[Path]) -> set[Path]:
    """Return the headers that files name in quotes, and those that these name."""
    known: set[Path] = set()
    waiting = list(paths)
    while waiting:
        path = waiting.pop()
        for name in re.findall(r'"([\w./]+\.h)"', path.read_text(encoding="utf-8")):
            places = Path(os.path.normpath(path.parent / name)), Path("treefactor", name)
            included = {place for place in places if place.is_file()} - known
            known |= included
            waiting += included
    return known


def modules() -> list[Extension]:
    """Return the compiled modules, from their Cython files."""
    extensions = [Extension(SHARED, [SHARED_FILE])]
    declared = headers([*Path("treefactor").rglob("*.pyx"), *Path("treefactor").rglob("*.pxd")])
    for path in sorted(Path("treefactor").rglob("*.pyx")):
        kernel_files = KERNELS.get(path.stem, [])
        extensions.append(
            Extension(
                ".".join(path.with_suffix("").parts),
                [path.as_posix(), *kernel_files],
                include_dirs=[numpy.get_include(), "treefactor"],
                depends=sorted(map(str, declared | headers([Path(name) for name in kernel_files]))),
                define_macros=[*MACROS, *OWN_MACROS.get(path.stem, [])],
                **RANDOM.get(path.stem, {}),
            )
        )
    return extensions


def translated_for(include: str) -> bool:
    """Return whether the C files were translated with the declarations of the NumPy that has this folder."""
    path = Path(ARRAYS_FILE)
    return path.is_file() and json.dumps(include) in path.read_text(encoding="utf-8").partition("END:")[0]


def translate(extensions: list[Extension]) -> list[Extension]:
    """Return the same modules, from their C files.

    All are translated anew if their C files are of another Cython, or of the NumPy of another environment,
    whose declarations may differ: one checkout serves environments of several versions of Python in turn.
    """
    current = file_generated_by_this_cython(SHARED_FILE) and translated_for(numpy.get_include())
    return cythonize(
        extensions,
        force=None if current else True,
        nthreads=0 if WORKERS == 1 else WORKERS,
        compiler_directives=DIRECTIVES,
        shared_utility_qualified_name=SHARED,
    )


REPOSITORY = "https://github.com/treefactor/treefactor"


def readme() -> str:
    """Return the README for a package index, where relative links and pictures lead nowhere."""

    def absolute(link: re.Match) -> str:
        return f"{link[1]}({REPOSITORY}/{'raw' if link[1].startswith('!') else 'blob'}/main/"

    return re.sub(r"(!?\[[^]]*\])\((?!https?:|#)", absolute, Path("README.md").read_text(encoding="utf-8"))


if __name__ == "__main__":  # not in the processes that cythonize starts
    setup(
        long_description=readme(),
        long_description_content_type="text/markdown",
        packages=[*find_packages(include=["treefactor", "treefactor.*"]), "treefactor.adapters"],
        package_dir={"treefactor": "treefactor", "treefactor.adapters": "adapters"},
        ext_modules=modules(),
        cmdclass={"build_ext": BuildKernels},
    )
