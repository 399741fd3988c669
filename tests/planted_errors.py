"""Plant errors by rule in Python, Cython and C, and list those that no test notices: `make mutants`.

One at a time, in a copy of the checkout whose modules are compiled for this processor only. The tests of a
file are those of its folder; those of a kernel, of the folders of the modules that include it.
"""

import argparse
import importlib.util
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
COPIED = "treefactor", "adapters", "tests", "examples", "docs", "setup.py", "pyproject.toml", "README.md"
OPPOSITE = {"+": "-", "-": "+", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
PAIRS = ("and", "or"), ("&&", "||"), ("min", "max"), ("sin", "cos")
SWAPPED = {a: b for pair in PAIRS for a, b in (pair, pair[::-1])}
RULES = {  # name: what is changed, and into what
    "sign": (r"(?<=[\w)\]] )[+-](?==? [\w(&*])", lambda m: OPPOSITE[m[0]]),
    "comparison": (r"(?<= )(?:[<>]=?|[!=]=)(?= )", lambda m: OPPOSITE[m[0]]),
    "condition": (r"(?<= )(?:and|or|&&|\|\|)(?= )|\b(?:min|max|sin|cos)(?=\()", lambda m: SWAPPED[m[0]]),
    "index": (r"(?<=\[)[0-5](?=[\],])|(?<=, )[0-5](?=\])", lambda m: "123234"[int(m[0])]),
    "term": (r" [+-] [\w.]+(?:\[[^][]*\])?(?: \* [\w.]+(?:\[[^][]*\])?)?(?=;|\)|,|\n| [+-])", lambda m: ""),
    "factor": (r"(?<![\w.])[\d.]+ \* ", lambda m: ""),
}
STRINGS = r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
IN_PYTHON = rf'"""(?s:.*?)"""|#[^\n]*|{STRINGS}|^ *(?:from|import|raise|@)[^\n]*|->[^\n]*'
IN_C = rf"/\*(?s:.*?)\*/|//[^\n]*|{STRINGS}|^#[^\n]*"
NO_CODE = {  # comments, texts and lines that plant nothing, whose letters are hidden from the rules
    ".py": IN_PYTHON,
    ".pyx": IN_PYTHON + r"|^ *c(?:import|def )[^\n]*|<[\w ]+\*?>",
    ".c": IN_C,
    ".h": IN_C,
}
ELSEWHERE = {  # folders of tests that have other names than the folders or files that they test
    "_functions": ["quantities"],
    "_util": ["quantities"],
    "se3.py": ["model"],
    "so3.py": ["model"],
    "tree": ["tree", "linalg"],
}
KEPT = Path("kept")  # in the copy: files as they are without an error
LANGUAGES = {".py": "Python", ".pyx": "Cython", ".c": "C", ".h": "C"}
SECONDS = 900  # for the tests of one error


class Error(NamedTuple):
    """One change of a file."""

    path: str
    rule: str
    begin: int
    end: int
    text: str

    def planted(self, source: str) -> str:
        """Return the source with the change."""
        return source[: self.begin] + self.text + source[self.end :]

    def show(self, source: str) -> str:
        """Return where it is, and its line before and after."""
        line = source.count("\n", 0, self.begin)
        before, after = source.split("\n")[line], self.planted(source).split("\n")[line]
        return f"{self.path}:{line + 1}: {self.rule}\n  - {before.strip()}\n  + {after.strip()}"


def errors(path: Path) -> list[Error]:
    """Return all errors that the rules plant in a file."""
    source = path.read_text(encoding="utf-8")
    hidden = re.compile(NO_CODE[path.suffix], re.MULTILINE)
    code = hidden.sub(lambda m: re.sub(r"[^\n]", "\x01", m[0]), source)
    name = path.relative_to(ROOT).as_posix()
    return [
        Error(name, rule, m.start(), m.end(), change(m))
        for rule, (pattern, change) in RULES.items()
        for m in re.finditer(pattern, code)
    ]


def setup_of_copy():
    """Return setup.py of the current folder as a module."""
    spec = importlib.util.spec_from_file_location("setup_of_treefactor", "setup.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def users(setup) -> dict[str, list[str]]:
    """Return the Cython files of the modules that each kernel is part of."""
    known: dict[str, list[str]] = {}
    for module in Path("treefactor").rglob("*.pyx"):
        files = [module, module.with_suffix(".pxd"), *map(Path, setup.KERNELS.get(module.stem, []))]
        sources = [path for path in files if path.is_file()]
        for path in {*sources[1:], *setup.headers(sources)}:
            known.setdefault(path.as_posix(), []).append(module.as_posix())
    return known


def tests_of(path: str, kernels: dict[str, list[str]]) -> list[str]:
    """Return the folders of tests that must notice an error in a file."""
    folders = {Path(module).parts[1] for module in kernels.get(path, [path])}
    return sorted({f"tests/{one}" for name in folders for one in ELSEWHERE.get(name, [name])})


def copy_checkout(folder: Path) -> None:
    """Copy what the tests need; what was compiled there before is kept."""
    left_out = shutil.ignore_patterns("*.so", "only.h", "__pycache__", "generated")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, dirs_exist_ok=True, ignore=left_out)
        else:
            shutil.copy2(ROOT / name, folder / name)
    shutil.copytree(folder / "adapters", folder / "treefactor/adapters", dirs_exist_ok=True)


def run(*command: str, timeout: float | None = None) -> bool:
    """Return whether a command of Python succeeds, within a time in seconds."""
    environment = {**os.environ, "PYTHONPATH": os.getcwd(), "TREEFACTOR_NATIVE": "1"}
    with open("last.txt", "w", encoding="utf-8") as output:
        try:
            done = subprocess.run(
                [sys.executable, *command], env=environment, stdout=output, stderr=output, timeout=timeout
            )
        except subprocess.TimeoutExpired:
            return False
    return done.returncode == 0


def build() -> bool:
    """Compile the modules that have changed."""
    return run("setup.py", "--quiet", "build_ext", "--inplace")


def passes(folders: Iterable[str]) -> bool:
    """Return whether no test of some folders fails."""
    return run("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *folders, timeout=SECONDS)


def take_back() -> None:
    """Put kept files in the place of changed ones, with their times: nothing is compiled anew."""
    for path in [path for path in KEPT.rglob("*") if path.is_file()]:
        os.replace(path, path.relative_to(KEPT))


def outcome_of(error: Error, kernels: dict[str, list[str]]) -> str:
    """Plant an error, return whether it is killed, survives or does not compile, and take it back."""
    path = Path(error.path)
    changed = [path]
    for module in map(Path, kernels.get(error.path, [error.path])):
        if module.suffix == ".pyx":  # what is translated, compiled and copied
            changed += module.parent.glob(f"{module.stem}.c*")
            changed += Path("build").glob(f"lib*/{module.with_suffix('')}.c*")
    for one in changed:
        (KEPT / one).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(one, KEPT / one)
    path.write_text(error.planted(path.read_text(encoding="utf-8")), encoding="utf-8")
    try:
        if path.suffix != ".py" and not build():
            return "does not compile"
        return "survives" if passes(tests_of(error.path, kernels)) else "killed"
    finally:
        take_back()


def main() -> None:
    """Plant a number of errors that a seed draws, of each language as many, and print those that survive."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--within", default="treefactor", help="folder or file whose errors are drawn")
    chosen = parser.parse_args()
    folder = ROOT / ".mutants"
    folder.mkdir(exist_ok=True)
    os.chdir(folder)
    take_back()  # of a run that was interrupted
    copy_checkout(folder)
    setup = setup_of_copy()
    kernels = users(setup)
    everywhere = setup.headers(list(Path("treefactor").rglob("*.p[yx][xd]")))  # a change compiles all modules
    within = ROOT / chosen.within
    paths = [within] if within.is_file() else sorted(within.rglob("*.*"))
    languages: dict[str, list[Error]] = {name: [] for name in LANGUAGES.values()}
    for path in paths:
        name = path.relative_to(ROOT).as_posix()
        of_cython = path.suffix == ".c" and path.with_suffix(".pyx").is_file()
        of_all = path.suffix == ".h" and path.relative_to(ROOT) in everywhere
        known = path.suffix in NO_CODE and all(Path(one).is_dir() for one in tests_of(name, kernels))
        if known and not of_cython and not of_all:
            languages[LANGUAGES[path.suffix]] += errors(path)
    draw = random.Random(chosen.seed)
    drawn = [
        error
        for known in languages.values()
        for error in draw.sample(known, min(len(known), chosen.count // 3))
    ]
    if not build():
        sys.exit(Path("last.txt").read_text()[-2000:])
    for folders in sorted({tuple(tests_of(error.path, kernels)) for error in drawn}):
        if not passes(folders):
            sys.exit(f"{' '.join(folders)} without an error:\n{Path('last.txt').read_text()[-2000:]}")
    outcomes: Counter[str] = Counter()
    for error in drawn:
        start, source = time.monotonic(), Path(error.path).read_text(encoding="utf-8")
        outcome = outcome_of(error, kernels)
        outcomes[outcome] += 1
        print(f"{outcome}, {time.monotonic() - start:.0f} s, {error.show(source)}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()))


if __name__ == "__main__":
    main()
