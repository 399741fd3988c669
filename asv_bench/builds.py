"""Build commits in folders of their own, and measure them in processes of their own, in turns."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
FOLDER = ROOT / ".builds"
BENCH = Path("treefactor", "bench")  # every build is measured by that of this checkout
INSTALL = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target")


def commit_of(name: str) -> str:
    """Return the full hash of a commit."""
    command = ("git", "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"expected a commit of this repository, got {name!r}")
    return done.stdout.strip()


def build(commit: str) -> Path:
    """Return the folder of the package as it was at a commit; build it unless it exists."""
    folder = FOLDER / commit
    package, source, built = folder / "package", folder / "source", folder / "built"
    if not built.exists():
        print(f"building {commit[:8]} in {folder.relative_to(ROOT)}: this takes minutes", file=sys.stderr)
        shutil.rmtree(folder, ignore_errors=True)
        source.mkdir(parents=True)
        archive = subprocess.run(("git", "archive", commit), cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(("tar", "-x", "-C", str(source)), input=archive, check=True)
        replace_bench(source)
        subprocess.run((sys.executable, *INSTALL, str(package), str(source)), check=True)
        shutil.rmtree(source)
        built.touch()
    replace_bench(package)
    return package


def replace_bench(place: Path) -> None:
    """Copy the sources of treefactor.bench of this checkout over those of a build."""
    for file in (ROOT / BENCH).rglob("*.py*"):
        if file.suffix in (".py", ".pyx"):
            target = place / file.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)


def measure(package: Path) -> dict:
    """Measure a build in a process of its own; return what `worker.measured` returns."""
    environment = {**os.environ, "PYTHONPATH": str(package)}
    command = (sys.executable, str(HERE / "worker.py"), str(package))
    done = subprocess.run(command, cwd=package, env=environment, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def in_turns(packages: Mapping[str, Path], rounds: int) -> Iterator[tuple[str, dict]]:
    """Measure builds in turns, every second round in reverse; yield the name of a build and its results."""
    names = list(packages)
    for k in range(rounds):
        for name in names if k % 2 == 0 else reversed(names):
            yield name, measure(packages[name])
