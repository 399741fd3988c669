"""Generate families of mixed complementarity problems: random contacts and limits, and named hard cases.

A family is a function of the number m of unilateral rows and of a source of random numbers, or its seed.
Time steps are ``STEP`` seconds long; a row lets its gap close by at most ``SHARE`` of it in one step:
d = -SHARE gap / STEP.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

import numpy as np

from .._util.validation import Sealed, as_count
from ..tree.tree import Tree
from .problem import Problem

__all__ = [
    "FAMILIES",
    "GRAVITY",
    "INFEASIBLE",
    "JITTER",
    "LEG",
    "LIMITED",
    "LINK",
    "NEAR",
    "PER_SPHERE",
    "PITCH",
    "SHARE",
    "STEP",
    "Legged",
    "Random",
    "beale",
    "box_on_four_feet",
    "canonical",
    "column",
    "constrained",
    "contradicted",
    "counted",
    "cps_4_1_14",
    "dup",
    "falling",
    "fathi",
    "infeas",
    "infeasR",
    "lattice",
    "loops",
    "near",
    "newton_min_cycle",
    "repeated",
    "robot",
    "robotred",
    "roots",
    "rows_of",
    "spheres",
]

Random = np.random.Generator | int

STEP, SHARE, GRAVITY = 0.01, 0.2, 9.81
# distance, random displacement and reach of contacts in grids of spheres, in diameters
PITCH, JITTER, NEAR = 1.02, 0.12, 1.35
PER_SPHERE = 2.1  # rows for each sphere, about
LEG, LINK = 6, 0.3  # joints of a leg; metres from one to the next
LIMITED = 0.6  # share of rows that are joint limits


def counted(least: int) -> Callable:
    """Validate m of a family: DtypeError if it is not a whole number, ValueError if it is less."""

    def of(family: Callable) -> Callable:
        @wraps(family)
        def checked(m, *rng, **given):
            return family(as_count(m, "m", least), *rng, **given)

        return checked

    return of


# ------------------------------------------------------------------------------------- spheres


@counted(1)
def spheres(m: int, rng: Random) -> Problem:
    """Make falling spheres on a jittered cubic grid: M diagonal, n = 6 N, few rows dependent.

    A row is a pair closer than ``NEAR`` diameters, or a sphere as close to the floor; m of them are chosen.
    """
    rng = np.random.default_rng(rng)
    N, pairs = max(1, int(m / PER_SPHERE)), ()
    while len(pairs) < m:
        N += 1
        side = int(np.ceil(np.cbrt(N)))
        z, xy = np.divmod(np.arange(N), side**2)
        centres = PITCH * np.stack([*np.divmod(xy, side), z], axis=1) + [0.0, 0.0, 0.5]
        centres += rng.uniform(-JITTER, JITTER, (N, 3))
        pairs = near(centres, NEAR)
    chosen = np.sort(rng.permutation(len(pairs))[:m])
    return falling(centres, pairs[chosen], rng.normal(size=(N, 3)))


@counted(1)
def lattice(m: int, rng: Random) -> Problem:
    """Make a crystal of spheres at rest: all gaps are 0, rows are dependent, and many of them tie.

    The m lowest contacts of a pyramid of spheres, in random order.
    """
    base, pairs = 1, ()
    while len(pairs) < m:
        base += 1
        layers = [
            np.moveaxis(np.indices((base - h, base - h)), 0, -1).reshape(-1, 2) + h / 2 for h in range(base)
        ]
        heights = [np.full(len(layer), 0.5 + h / np.sqrt(2.0)) for h, layer in enumerate(layers)]
        centres = np.column_stack((np.concatenate(layers), np.concatenate(heights)))
        pairs = near(centres, 1.0 + 1e-9)
    pairs = np.random.default_rng(rng).permutation(pairs[:m])
    return falling(centres, pairs, np.zeros_like(centres))


@counted(1)
def dup(m: int, rng: Random) -> Problem:
    """Make the spheres of `spheres`, with every row twice."""
    once = spheres((m + 1) // 2, rng)
    return rows_of(once, np.resize(np.arange(len(once.d)), m))


@counted(1)
def column(m: int, rng: Random = 0) -> Problem:
    """Make a stack of m touching spheres of unit mass on a rail: A = D D^T is tridiagonal, cond(A) ~ m^2.

    The k-th from above presses with gamma = k GRAVITY STEP, and none moves; nothing is random.
    """
    from scipy.sparse import eye

    D = eye(m, format="csr") - eye(m, k=-1, format="csr")
    return Problem(np.eye(m), roots(m), np.full(m, -GRAVITY * STEP), D=D, d=np.zeros(m))


def near(centres: np.ndarray, reach: float) -> np.ndarray:
    """Return pairs of spheres of diameter 1 with centres closer than reach, lowest first; -1 is the floor."""
    from scipy.spatial import cKDTree

    pairs = np.sort(cKDTree(centres).query_pairs(reach, output_type="ndarray"), axis=1)
    low = np.flatnonzero(centres[:, 2] + 0.5 <= reach)
    contacts = np.concatenate((np.column_stack((np.full_like(low, -1), low)), pairs))
    return contacts[np.lexsort(contacts.T)]


def falling(centres: np.ndarray, pairs: np.ndarray, v: np.ndarray) -> Problem:
    """Make spheres of unit mass and diameter, with velocities v of their centres: n^T (v_j - v_i) >= d."""
    from scipy.sparse import csr_matrix, diags, kron

    N, m = len(centres), len(pairs)
    (i, j), k = pairs.T, np.arange(m)
    under = centres[j] * [1.0, 1.0, 0.0] - [0.0, 0.0, 0.5]  # the mirror image of a sphere on the floor
    apart = centres[j] - np.where(i[:, None] < 0, under, centres[i])
    distance = np.linalg.norm(apart, axis=1)
    gap = np.round(distance - 1.0, 12)  # 0 where spheres touch
    normal = apart / distance[:, None]
    bodies = csr_matrix((np.ones(m), (k, j)), (m, N)) - csr_matrix((i >= 0, (k, np.abs(i))), (m, N))
    D = sum(diags(normal[:, x]) @ kron(bodies, np.eye(1, 6, x)) for x in range(3))
    M = np.tile([1.0, 1.0, 1.0, 0.1, 0.1, 0.1], N)
    motion = np.column_stack((v - [0.0, 0.0, GRAVITY * STEP], np.zeros((N, 3))))
    return Problem(np.diag(M), roots(6 * N), M * motion.ravel(), D=csr_matrix(D), d=-SHARE / STEP * gap)


# ------------------------------------------------------------------------------- legged robots


@counted(1)
def robot(m: int, rng: Random) -> Problem:
    """Make a free-flying base on legs of six revolute joints, n ~ 1.25 m: A is dense and ill-conditioned.

    ``LIMITED`` of the rows are limits of joints, the others contacts of last links; a row's freedoms are
    those of one branch.
    """
    return Legged(1.25 * m, rng).problem(m)


@counted(1)
def robotred(m: int, rng: Random) -> Problem:
    """Make the robot of `robot` with n ~ m / 4: it has more rows than freedoms."""
    return Legged(0.25 * m, rng).problem(m)


@counted(1)
def loops(m: int, rng: Random) -> Problem:
    """Make a robot with legs tied in pairs at their tips, every tie twice: bilateral rows are dependent."""
    robot = Legged(1.25 * m, rng)
    pairs = [(leg, leg + 1, robot.tips[leg]) for leg in range(0, robot.legs - 1, 2)]
    ties = [robot.point(leg, x) - robot.point(next_leg, x) for leg, next_leg, x in pairs]
    return robot.problem(m, np.reshape(2 * ties, (-1, robot.tree.n)))


class Legged(Sealed):
    """A robot at one configuration: a free-flyer, and legs of ``LEG`` revolute joints on it.

    Attributes
    ----------
    tree : Tree
    axes, joints : ndarray, shape (legs, LEG, 3)
        Directions of the joints' axes and points on them, in the frame of the base.
    tips : ndarray, shape (legs, 3)
        Ends of the legs.

    Notes
    -----
    Thread-compatible.
    """

    rng: np.random.Generator
    legs: int
    tree: Tree
    axes: np.ndarray
    joints: np.ndarray
    tips: np.ndarray

    def __init__(self, n: float, rng: Random):
        legs = max(1, round((n - 6) / LEG))
        first = 6 + LEG * np.arange(legs)
        parent = np.arange(-1, 5 + LEG * legs)
        parent[first] = 5
        self._keep(rng=np.random.default_rng(rng), legs=legs, tree=Tree(parent))
        axes, links = (self._directions((legs, LEG)) for _ in range(2))
        ends = self._directions((legs, 1)) + LINK * np.cumsum(links, axis=1)
        self._keep(axes=axes, joints=ends - LINK * links, tips=ends[:, -1])

    def problem(self, m: int, C: np.ndarray | None = None) -> Problem:
        """Make a problem of random velocities under gravity, m unilateral rows and the bilateral C v = 0."""
        from scipy.sparse import csr_matrix

        H, n = self.inertia(), self.tree.n
        limits = min(m, round(LIMITED * m))
        turn, k = np.divmod(np.arange(limits), n - 6)  # second limits of joints follow all first ones
        joint = 6 + self.rng.permutation(n - 6)[k]
        side = self.rng.choice([-1.0, 1.0], n)[joint] * (-1.0) ** turn
        normals = self._directions((m - limits,)) + 1.5 * np.eye(3)[2]
        legs = self.rng.integers(self.legs, size=m - limits)
        at = self.tips[legs] + 0.05 * self._directions((m - limits,))
        contacts = [normal @ self.point(leg, x) for normal, leg, x in zip(normals, legs, at, strict=True)]
        D = np.zeros((m, n))
        D[np.arange(limits), joint] = side
        D[limits:] = np.reshape(contacts, (-1, n))
        v = self.rng.normal(size=n) - GRAVITY * STEP * np.eye(n)[2]
        given = {} if C is None else {"C": csr_matrix(C), "c": np.zeros(len(C))}
        gap = self.rng.uniform(0.0, 0.02, m)
        return Problem(H, self.tree, H @ v, **given, D=csr_matrix(D), d=-SHARE / STEP * gap)

    def inertia(self) -> np.ndarray:
        """Compute H, the sum of J^T I J, of a base and links of random mass, which is in their middle."""
        H = np.zeros((self.tree.n, self.tree.n))
        H[:6, :6] = np.diag([10.0, 10.0, 10.0, 0.4, 0.4, 0.4])
        for leg in range(self.legs):
            own = self._freedoms(leg)
            for link, start in enumerate(self.joints[leg]):
                end = self.joints[leg, link + 1] if link + 1 < LEG else self.tips[leg]
                J = self._jacobian(leg, (start + end) / 2, link + 1)
                I = self.rng.uniform(0.5, 1.5) * np.diag([1.0, 1.0, 1.0, 0.01, 0.01, 0.01])
                H[np.ix_(own, own)] += J.T @ I @ J
        return H

    def point(self, leg: int, x: np.ndarray) -> np.ndarray:
        """Return the Jacobian (3, n) of the point x on the last link of a leg."""
        J = np.zeros((3, self.tree.n))
        J[:, self._freedoms(leg)] = self._jacobian(leg, x, LEG)[:3]
        return J

    def _jacobian(self, leg: int, x: np.ndarray, moving: int) -> np.ndarray:
        """Return the (6, 6 + LEG) Jacobian of a link at x: only `moving` joints of the leg move it."""
        J = np.zeros((6, 6 + LEG))
        J[:, :6] = np.eye(6)
        J[:3, 3:6] = np.cross(np.eye(3), x).T
        axes = self.axes[leg, :moving]
        J[:3, 6 : 6 + moving] = np.cross(axes, x - self.joints[leg, :moving]).T
        J[3:, 6 : 6 + moving] = axes.T
        return J

    def _freedoms(self, leg: int) -> np.ndarray:
        """Return the freedoms of the base and of a leg."""
        return np.r_[:6, 6 + LEG * leg : 6 + LEG * (leg + 1)]

    def _directions(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return random unit vectors."""
        vectors = self.rng.normal(size=(*shape, 3))
        return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


# ---------------------------------------------------------------------------------- infeasible


@counted(3)
def infeas(m: int, rng: Random) -> Problem:
    """Make spheres, and the contradictory rows v_j >= 1 and -v_j >= 1 for one freedom j."""
    rng = np.random.default_rng(rng)
    return contradicted(spheres(m - 2, rng), rng)


@counted(3)
def infeasR(m: int, rng: Random) -> Problem:
    """Make a robot, and the contradictory rows v_j >= 1 and -v_j >= 1 for one freedom j."""
    rng = np.random.default_rng(rng)
    return contradicted(robot(m - 2, rng), rng)


def contradicted(problem: Problem, rng: np.random.Generator) -> Problem:
    """Return the problem with the contradictory rows v_j >= 1 and -v_j >= 1 for one freedom j."""
    from scipy.sparse import csr_matrix, vstack

    row = csr_matrix(np.eye(1, problem.n, rng.integers(problem.n)))
    return constrained(problem, vstack((problem.D, row, -row)), np.append(problem.d, [1.0, 1.0]))


# --------------------------------------------------------------------------------- named cases


@counted(1)
def fathi(m: int) -> Problem:
    """Make A = L L^T with L unit lower triangular and 2 below: gamma = (1, 0, ..., 0).

    Fathi (1979): M = I, D = L, d = 1; Murty's least index method takes 2^m pivots.
    """
    L = np.eye(m) + 2.0 * np.tri(m, k=-1)
    return canonical(L, np.ones(m))


def cps_4_1_14() -> Problem:
    """Make example 4.1.14 of Cottle, Pang and Stone: one freedom, one row twice, gamma_1 + gamma_2 = 1.

    Cottle, Pang & Stone (1992): A = [[1, 1], [1, 1]], q = -1.
    """
    return canonical(np.ones((2, 1)), np.ones(2))


def box_on_four_feet() -> Problem:
    """Make a box of unit weight on four feet: four rows, three freedoms; the least gamma is 1/4 each."""
    D = np.array([[1.0, x, y] for x in (-1.0, 1.0) for y in (-1.0, 1.0)])
    return Problem(np.diag([1.0, 0.1, 0.1]), roots(3), np.array([-1.0, 0.0, 0.0]), D=D, d=np.zeros(4))


def newton_min_cycle() -> Problem:
    """Make a symmetric A of three rows on which exchanging all wrong rows at once cycles with period three.

    What the circulant P-matrices of Ben Gharbia & Gilbert (2012) do to the plain Newton-min method, whose
    matrices are not symmetric.
    """
    A = np.array([[4.0, 5.0, -5.0], [5.0, 9.0, -5.0], [-5.0, -5.0, 7.0]])
    return canonical(np.linalg.cholesky(A), np.array([2.0, 1.0, -3.0]))


def beale() -> Problem:
    """Make Beale's (1955) cycling example for the simplex method, regularized: six rows for four freedoms.

    Least ``1/2 |v|^2 + c^T v``, c = (-3/4, 20, -1/2, 6), under v >= 0, 1/4 v_1 - 8 v_2 - v_3 + 9 v_4 <= 0,
    1/2 v_1 - 12 v_2 - 1/2 v_3 + 3 v_4 <= 0 and v_3 <= 1.
    """
    rows = [[0.25, -8.0, -1.0, 9.0], [0.5, -12.0, -0.5, 3.0], [0.0, 0.0, 1.0, 0.0]]
    D, d = np.concatenate((np.eye(4), -np.array(rows))), np.append(np.zeros(6), -1.0)
    return Problem(np.eye(4), roots(4), -np.array([-0.75, 20.0, -0.5, 6.0]), D=D, d=d)


def repeated(problem: Problem, times: int = 10) -> Problem:
    """Return the problem with every row so many times."""
    return rows_of(problem, np.tile(np.arange(len(problem.d)), times))


def rows_of(problem: Problem, chosen: np.ndarray) -> Problem:
    """Return the problem with the chosen rows of D, in that order and possibly repeated."""
    return constrained(problem, problem.D[chosen], problem.d[chosen])


def constrained(problem: Problem, D, d: np.ndarray) -> Problem:
    """Return the problem with other unilateral rows."""
    return Problem(problem.H, problem.tree, problem.g, problem.C, problem.c, D, d)


def canonical(D: np.ndarray, d: np.ndarray) -> Problem:
    """Make a problem with M = I and g = 0: gamma >= 0 is complementary to D D^T gamma - d >= 0."""
    n = D.shape[1]
    return Problem(np.eye(n), roots(n), np.zeros(n), D=D, d=d)


def roots(n: int) -> Tree:
    """Return the tree of a diagonal M."""
    return Tree(np.full(n, -1))


FAMILIES: dict[str, Callable[[int, Random], Problem]] = {
    family.__name__: family
    for family in (spheres, robot, robotred, lattice, dup, column, loops, infeas, infeasR)
}
INFEASIBLE = ("infeas", "infeasR")
