"""Build the package for arm64 with a cross compiler, and a `python` that runs it emulated: `make arm64`.

Cython translates on this machine, and the compiler is not emulated, so that this takes as long as any build.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMPILER = "aarch64-linux-gnu-gcc"
NEEDED = "numpy", "scipy", "rich", "packaging", "pytest", "hypothesis"
PLATFORMS = "manylinux_2_28_aarch64", "manylinux_2_27_aarch64", "manylinux2014_aarch64"
# the cross compiler knows no "native" processor
CC = """#!/bin/sh
for word; do shift; case "$word" in -m*=native) ;; *) set -- "$@" "$word" ;; esac; done
exec {compiler} "$@"
"""
PYTHON = """#!/bin/sh
export PYTHONHOME="{root}/usr" PYTHONPATH="{site}"
export CC="{folder}/cc"
exec qemu-aarch64 -L "{root}" -0 "$0" "{root}/usr/bin/{name}" "$@"
"""


def main(folder: str) -> None:
    """Fill `site` and write `python` in a folder whose `root` has Debian's Python for arm64."""
    root, site = Path(folder, "root").resolve(), Path(folder, "site").resolve()
    name = max(path.name for path in Path(root, "usr/bin").glob("python3.*") if path.name[8:].isdigit())
    install(site, name.removeprefix("python"))
    os.chdir(ROOT)
    spec = importlib.util.spec_from_file_location("setup_of_treefactor", "setup.py")
    setup = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = setup
    spec.loader.exec_module(setup)
    copy_modules(site)
    headers = [f"{site}/numpy/_core/include", "treefactor", f"{root}/usr/include/{name}"]
    search = [*(f"-I{header}" for header in headers), "-idirafter", f"{root}/usr/include"]
    with ThreadPoolExecutor(setup.CORES) as pool:
        for done in [pool.submit(build, setup, extension, site, search) for extension in setup.modules()]:
            done.result()
    values = {"folder": root.parent, "root": root, "site": site, "compiler": COMPILER, "name": name}
    for script, text in {"cc": CC, "python": PYTHON}.items():
        Path(folder, script).write_text(text.format(**values))
        Path(folder, script).chmod(0o755)


def install(site: Path, version: str) -> None:
    """Unpack the wheels for arm64 that the tests of wheels need."""
    platforms = [word for platform in PLATFORMS for word in ("--platform", platform)]
    chosen = ("--only-binary=:all:", "--implementation=cp", f"--python-version={version}", *platforms)
    command = (sys.executable, "-m", "pip", "install", "--quiet", "--target", site, *chosen, *NEEDED)
    subprocess.run(command, check=True)


def copy_modules(site: Path) -> None:
    """Copy all of the package but what is compiled."""
    skip = shutil.ignore_patterns("*.so", "*.c", "__pycache__")
    shutil.copytree("treefactor", site / "treefactor", ignore=skip)
    shutil.copytree("adapters", site / "treefactor/adapters", ignore=skip)
    shutil.copytree("treefactor/codegen/c", site / "treefactor/codegen/c", dirs_exist_ok=True)


def build(setup, extension, site: Path, search: list[str]) -> None:
    """Compile and link one module, with the flags of setup.py."""
    kernels = setup.kernels(extension)
    flags = [*setup.OPTIMIZED, *(() if kernels else (setup.EXACT,))]
    flags += setup.OWN_FLAGS.get(extension.name.rpartition(".")[2], [])
    flags += [f"-D{name}={value}" for name, value in extension.define_macros]
    flags += ["-fPIC", "-fwrapv", "-DNDEBUG", "-DONLY=16"]  # arm64 has the registers of the baseline only
    objects = []
    for source in extension.sources:
        objects.append(f"{site}/{source}.o")
        Path(objects[-1]).parent.mkdir(parents=True, exist_ok=True)
        translated = source.replace(".pyx", ".c")
        subprocess.run([COMPILER, *flags, *search, "-c", translated, "-o", objects[-1]], check=True)
    libraries = [str(path) for name in extension.libraries for path in site.glob(f"numpy/**/lib/lib{name}.a")]
    module = f"{site}/{extension.name.replace('.', '/')}.so"
    subprocess.run([COMPILER, "-shared", *objects, *libraries, "-lm", "-o", module], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
