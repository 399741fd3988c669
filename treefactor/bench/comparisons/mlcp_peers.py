"""Call other solvers of the mixed complementarity problem, for the benchmarks.

Each is called through its own Python interface, on matrices in the form it takes, which are made beforehand:
for Lemke's and Dantzig's methods the dense A = D H^-1 D^T and q = D H^-1 g - d, for others H, g, D and d.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...mlcp.problem import Problem

SOLVED, INFEASIBLE, FAILED = "solved", "infeasible", "failed"
WRONG = 1e-4  # natural residual from which a reported success is false

BULLET = """
#include <vector>
#include <BulletDynamics/MLCPSolvers/btDantzigLCP.h>
extern "C" int dantzig(int n, const double *A, const double *q, double *x) {
    std::vector<double> matrix(A, A + n * n), minus_q(n), w(n), low(n, 0.0), high(n, BT_INFINITY);
    std::vector<int> friction(n, -1);
    for (int i = 0; i < n; ++i) minus_q[i] = -q[i];
    static btDantzigScratchMemory scratch;
    return btSolveDantzigLCP(n, matrix.data(), x, minus_q.data(), w.data(), 0, low.data(), high.data(),
                             friction.data(), scratch);
}
"""
BULLET_FLAGS = "-O2 -shared -fPIC -DBT_USE_DOUBLE_PRECISION -I/usr/include/bullet"
BULLET_LIBRARIES = "-lBulletDynamics-float64 -lBulletCollision-float64 -lLinearMath-float64"


class PeerResult(NamedTuple):
    """Status that a solver reports, and its impulses gamma."""

    status: str
    gamma: np.ndarray


class PeerInput:
    """A problem without bilateral rows in the forms that solvers take."""

    def __init__(self, problem: Problem):
        self.problem, self.g, self.d = problem, problem.g.copy(), problem.d.copy()  # some peers write to them
        self.H, self.D = problem.H, problem.D.toarray()

    @cached_property
    def A(self) -> np.ndarray:
        """D H^-1 D^T, dense."""
        return self.assembled()

    @cached_property
    def q(self) -> np.ndarray:
        """D H^-1 g - d."""
        return self.D @ self.problem.factor.solve(self.g) - self.d

    def assembled(self) -> np.ndarray:
        """Assemble A again, the way that is cheapest for the shape of H."""
        D, H = self.problem.D, self.problem.packed
        if len(H) == self.problem.n:
            return (D.multiply(1.0 / H) @ D.T).toarray()
        return self.problem.factor.delassus(self.D)

    @cached_property
    def sparse(self) -> tuple:
        """Return H and D by columns."""
        from scipy.sparse import csc_matrix

        return csc_matrix(self.H), csc_matrix(self.problem.D)

    def residual(self, gamma: np.ndarray) -> float:
        """Return the largest |min(gamma, A gamma + q)| with rows scaled by 1 / sqrt(A_ii)."""
        if not np.isfinite(gamma).all():
            return np.inf
        scale = np.sqrt(np.diag(self.A))
        return float(np.abs(np.minimum(gamma * scale, (self.A @ gamma + self.q) / scale)).max(initial=0.0))


@dataclass(frozen=True)
class Peer:
    """Another solver: its name, and how to call it.

    Attributes
    ----------
    name : str
    available : callable
        Whether it is installed.
    prepare : callable
        Returns a function that solves a `PeerInput` once.
    """

    name: str
    available: Callable[[], bool]
    prepare: Callable[[PeerInput], Callable[[], PeerResult]]


def reported_status(given: PeerInput, result: PeerResult) -> str:
    """Return the status a solver reports, and the residual of its impulses."""
    residual = given.residual(result.gamma)
    if result.status == SOLVED:
        return f"{'FALSE SUCCESS' if residual > WRONG else 'solved'}, residual {residual:.0e}"
    return f"reports {result.status}" if result.status == INFEASIBLE else f"fails, residual {residual:.0e}"


# -------------------------------------------------------------------------- given A and q


def dantzig(given: PeerInput) -> Callable[[], PeerResult]:
    """Solve by Cottle and Dantzig's method as in Bullet, ODE and DART."""
    solve, n = bullet().dantzig, len(given.q)
    A, q, x = np.ascontiguousarray(given.A), given.q, np.zeros(len(given.q))
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (A, q, x)]

    def run() -> PeerResult:
        x[:] = 0.0
        return PeerResult(SOLVED if solve(n, *pointers) else FAILED, x)

    return run


@cache
def bullet() -> ctypes.CDLL | None:
    """Compile the function above against Bullet's libraries; None where they or a compiler are missing."""
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    if shutil.which(compiler[0]) is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "dantzig.cpp"), Path(folder, "dantzig.so")
        source.write_text(BULLET)
        arguments = [*BULLET_FLAGS.split(), str(source), "-o", str(library), *BULLET_LIBRARIES.split()]
        if subprocess.run([*compiler, *arguments], capture_output=True, check=False).returncode:
            return None
        return ctypes.CDLL(str(library))


def lemke(solver: str, given: PeerInput) -> Callable[[], PeerResult]:
    """Solve by Lemke's method in one of Drake's two forms; one keeps memory, so each call makes an object."""
    from pydrake import solvers

    program = solvers.MathematicalProgram()
    x = program.NewContinuousVariables(len(given.q))
    program.AddLinearComplementarityConstraint(given.A, given.q, x)

    def run() -> PeerResult:
        result = getattr(solvers, solver)().Solve(program)
        status = {
            solvers.SolutionResult.kSolutionFound: SOLVED,
            solvers.SolutionResult.kInfeasibleConstraints: INFEASIBLE,
        }
        return PeerResult(status.get(result.get_solution_result(), FAILED), result.GetSolution(x))

    return run


# ------------------------------------------------------------------------ given H, g, D, d


def daqp(given: PeerInput, warm: np.ndarray | None = None) -> Callable[[], PeerResult]:
    """Solve by dual active sets with a recursive LDL^T (Arnstrom, Bemporad, Axehill 2022)."""
    from daqp import solve

    arguments = given.H, -given.g, given.D, np.full(len(given.d), 1e30), given.d
    start = {} if warm is None else {"dual_start": -warm}

    def run() -> PeerResult:
        _, _, flag, details = solve(*arguments, primal_tol=1e-9, **start)
        return PeerResult({1: SOLVED, -1: INFEASIBLE}.get(flag, FAILED), -details["lam"])

    return run


def quadprog(given: PeerInput) -> Callable[[], PeerResult]:
    """Solve by Goldfarb & Idnani (1983)."""
    from quadprog import solve_qp

    columns = np.ascontiguousarray(given.D.T)

    def run() -> PeerResult:
        try:
            return PeerResult(SOLVED, solve_qp(given.H, given.g, columns, given.d)[4])
        except ValueError as error:
            status = INFEASIBLE if "inconsistent" in str(error) else FAILED
            return PeerResult(status, np.zeros(len(given.d)))

    return run


def proxqp(form: str, given: PeerInput) -> Callable[[], PeerResult]:
    """Solve by proximal augmented Lagrangian (Bambade et al. 2022), dense or sparse."""
    from proxsuite import proxqp

    n, m = given.problem.n, given.problem.m
    H, D = given.sparse if form == "sparse" else (given.H, given.D)
    above = np.full(m, 1e30)
    status = {
        proxqp.QPSolverOutput.PROXQP_SOLVED: SOLVED,
        proxqp.QPSolverOutput.PROXQP_PRIMAL_INFEASIBLE: INFEASIBLE,
    }

    def run() -> PeerResult:
        qp = getattr(proxqp, form).QP(n, 0, m)
        qp.settings.eps_abs, qp.settings.eps_rel = 1e-9, 0.0
        qp.init(H, -given.g, None, None, D, given.d, above)
        qp.solve()
        return PeerResult(status.get(qp.results.info.status, FAILED), -np.asarray(qp.results.z))

    return run


def clarabel(given: PeerInput) -> Callable[[], PeerResult]:
    """Solve by interior points (Goulart & Chen 2024)."""
    import clarabel
    from scipy.sparse import triu

    H, D = given.sparse
    upper, rows, cones = triu(H, format="csc"), -D, [clarabel.NonnegativeConeT(given.problem.m)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10

    def run() -> PeerResult:
        solution = clarabel.DefaultSolver(upper, -given.g, rows, -given.d, cones, settings).solve()
        status = {"Solved": SOLVED, "PrimalInfeasible": INFEASIBLE}.get(str(solution.status), FAILED)
        return PeerResult(status, np.asarray(solution.z))

    return run


def installed(package: str) -> Callable[[], bool]:
    """Return whether a package can be imported."""
    return lambda: find_spec(package) is not None


DANTZIG = Peer("Bullet Dantzig", lambda: bullet() is not None, dantzig)
MOBY = Peer("Drake MobyLCP", installed("pydrake"), partial(lemke, "MobyLcpSolver"))
UNREVISED = Peer("Drake UnrevisedLemke", installed("pydrake"), partial(lemke, "UnrevisedLemkeSolver"))
DAQP = Peer("DAQP", installed("daqp"), daqp)
QUADPROG = Peer("quadprog", installed("quadprog"), quadprog)
PROXQP_DENSE = Peer("ProxQP dense", installed("proxsuite"), partial(proxqp, "dense"))
PROXQP = Peer("ProxQP sparse", installed("proxsuite"), partial(proxqp, "sparse"))
CLARABEL = Peer("Clarabel", installed("clarabel"), clarabel)
PEERS = (DANTZIG, MOBY, UNREVISED, DAQP, QUADPROG, PROXQP_DENSE, PROXQP, CLARABEL)
