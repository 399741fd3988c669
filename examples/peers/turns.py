"""Run contestants in processes of their own and measure them in turns, on one thread each.

A contestant is a module ``peers.name`` that calls `serve`. The Python of a peer, which may have other
versions of packages, is named by the environment variable ``TREEFACTOR_NAME_PYTHON``.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

EXAMPLES = Path(__file__).parents[1]
SINGLE = {
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_ENABLE_X64": "1",
    "JAX_PLATFORMS": "cpu",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


def variable(name: str) -> str:
    """Return the name of the environment variable with the Python of a peer."""
    return f"TREEFACTOR_{name.upper()}_PYTHON"


class Contestant:
    """A process that has computed a gradient, and measures it again at every turn.

    Parameters
    ----------
    name : str
        Module of the folder ``peers``.
    problem, answer : Path
        Files that the process reads and writes.
    python : str
        Its interpreter.

    Raises
    ------
    RuntimeError
        If the process ends before its answer; ends with what it printed.
    """

    def __init__(self, name: str, problem: Path, answer: Path, python: str = sys.executable):
        self.name, self.turns = name, []
        self.log = answer.with_suffix(".log")
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [python, "-m", f"peers.{name}", str(problem), str(answer)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=EXAMPLES,
                env=os.environ | SINGLE,
            )
        self.seconds()
        with np.load(answer) as file:
            self.answer = dict(file)

    def seconds(self) -> float:
        """Wait for the processor time that the process prints."""
        for line in self.process.stdout:
            word, _, value = line.partition(" ")
            if word == "seconds":
                return float(value)
        self.close()
        words = self.log.read_text()[-2000:]
        raise RuntimeError(f"{self.name} ended with {self.process.returncode}:\n{words}")

    def turn(self) -> None:
        """Measure once more."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.turns.append(self.seconds())

    def close(self) -> None:
        """End the process."""
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def contest(names: dict[str, str | None], problem: dict, folder: Path, turns: int = 5) -> list[Contestant]:
    """Compute a problem by several contestants and measure them in turns.

    Parameters
    ----------
    names : dict
        Interpreters of modules in ``peers``; those of None are left out.
    problem : dict
        Arrays and strings that the contestants read.
    folder : Path
        Receives the files.
    turns : int

    Returns
    -------
    list of Contestant
        With their answers and the processor times of their turns, in s.
    """
    source, contestants = folder / "problem.npz", []
    np.savez(source, **problem)
    try:
        for name, python in names.items():
            if python is not None:
                contestants.append(Contestant(name, source, folder / f"{name}.npz", python))
        for _ in range(turns):
            for contestant in contestants:
                contestant.turn()
    finally:
        for contestant in contestants:
            contestant.close()
    return contestants
