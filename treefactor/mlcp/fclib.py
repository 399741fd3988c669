"""Read problems of the Frictional Contact Library: files of single time steps that contact solvers exchange.

Acary, Bremond, Koziara, Perignon (2014), "FCLIB: a collection of discrete 3D frictional contact problems".
Global form: M v = H r + G lambda + f, u = H^T v + w, G^T v + b = 0, with u and r of every contact in the
order normal, first tangent, second tangent, ``|r_t| <= mu r_n``.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike

import numpy as np
from scipy.sparse import coo_matrix, csc_matrix, csr_matrix, issparse, spmatrix, vstack
from scipy.sparse.csgraph import connected_components

from .._util.validation import as_count, as_real, as_vector, require_sound
from ..exceptions import DtypeError, ShapeError, TreefactorError
from ..tree.tree import Tree
from .problem import Problem

__all__ = [
    "BY_COLUMN",
    "BY_ROW",
    "EXACT",
    "EXPANDED",
    "GROUP",
    "TROUBLE",
    "Contacts",
    "matrix",
    "read",
]

GROUP = "fclib_global"
BY_COLUMN, BY_ROW = -1, -2  # values of `nz` for matrices that are not triplets
# of h5py:
TROUBLE = (
    OSError,
    RuntimeError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    MemoryError,
)
EXPANDED = 2000  # largest ratio of compression; HDF5 returns fill values for data that were never written
EXACT = 2.0**53  # float64 represents all integers up to this one


@dataclass(frozen=True, eq=False)
class Contacts:
    """Contacts of one time step.

    Attributes
    ----------
    M : scipy.sparse.csc_matrix, shape (n, n)
    H : scipy.sparse.csc_matrix, shape (n, dimension * contacts)
    f : ndarray, shape (n,)
    w : ndarray, shape (dimension * contacts,)
    mu : ndarray, shape (contacts,)
        Coefficients of friction.
    G : scipy.sparse.csc_matrix, shape (n, p), or None
    b : ndarray, shape (p,), or None

    Raises
    ------
    ShapeError, DtypeError, NonFiniteError
        If an argument has the wrong shape or type, or is not finite.
    ValueError
        If mu is negative.

    Notes
    -----
    Thread-compatible.
    """

    M: csc_matrix
    H: csc_matrix
    f: np.ndarray
    w: np.ndarray
    mu: np.ndarray
    G: csc_matrix | None = None
    b: np.ndarray | None = None

    def __post_init__(self):
        kept = {name: as_real(getattr(self, name), name) for name in ("f", "w", "mu")}
        n, count = kept["f"].size, kept["mu"].size
        shapes = {"M": (n, n), "H": (n, kept["w"].size)}
        if (self.G is None) != (self.b is None):
            raise ShapeError("G and b come together")
        if self.G is not None:
            kept["b"] = as_real(self.b, "b")
            shapes["G"] = n, kept["b"].size
        for name, vector in kept.items():
            kept[name] = as_vector(vector, vector.size, name)
        if kept["w"].size not in (2 * count, 3 * count):
            raise ShapeError(f"w must have 2 or 3 entries for each of {count} mu, got {kept['w'].size}")
        if (kept["mu"] < 0.0).any():
            raise ValueError(f"mu must not be negative, got {kept['mu'].min()}")
        kept |= {name: _sparse(getattr(self, name), shape, name) for name, shape in shapes.items()}
        self.__dict__.update(kept)

    @property
    def dimension(self) -> int:
        """3, or 2 in the plane."""
        return len(self.w) // len(self.mu) if len(self.mu) else 3

    def tree(self) -> Tree:
        """Make a tree with a branch for every block of M, whose freedoms follow each other."""
        _, block = connected_components(self.M, directed=False)
        order = np.argsort(block, kind="stable")
        parent = np.full(len(block), -1)
        follows = np.flatnonzero(block[order[1:]] == block[order[:-1]])
        parent[order[follows + 1]] = order[follows]
        return Tree(parent)

    def problem(self, facets: int = 0) -> Problem:
        """Make the mixed complementarity problem of the step.

        Parameters
        ----------
        facets : int
            0 without friction: u_n >= 0 for every contact. Otherwise directions t_j of a pyramid inside the
            cone: u_n + mu t_j^T u_t >= 0, with impulses along n + mu t_j.

        Raises
        ------
        NotPositiveDefiniteError
            If M is not positive definite.
        DtypeError, ValueError
            If facets is not a whole number, or negative.

        Notes
        -----
        The convex relaxation of Anitescu (2006) and Tasora & Anitescu (2011), which keeps the matrix
        symmetric.
        """
        facets = as_count(facets, "facets")
        turn = 2.0 * np.pi * np.arange(facets) / max(facets, 1)
        slopes = np.column_stack((np.cos(turn), np.sin(turn))) if facets else np.zeros((1, 2))
        pyramid = vstack([self._facet(slope[: self.dimension - 1]) for slope in slopes], format="csr")
        D, d = pyramid @ self.H.T, -(pyramid @ self.w)
        bilateral = {} if self.G is None or self.b is None else {"C": self.G.T, "c": -self.b}
        return Problem(self.M, self.tree(), self.f, **bilateral, D=D, d=d)

    def _facet(self, slope: np.ndarray) -> csr_matrix:
        """Compute the rows u_n + mu t^T u_t of all contacts, for the slope t."""
        count, entries = len(self.mu), len(self.w)
        values = np.column_stack((np.ones(count), np.outer(self.mu, slope)))
        starts = np.arange(0, entries + 1, self.dimension)
        return csr_matrix((values.ravel(), np.arange(entries), starts), (count, entries))


def read(path: str | PathLike) -> Contacts:
    """Read contacts in global form from a file of FCLIB's HDF5 format.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    Contacts

    Raises
    ------
    TreefactorError
        If h5py is missing, the file cannot be read, or it holds no problem in global form.
    """
    try:
        import h5py
    except ImportError as error:
        raise TreefactorError(f"FCLIB's files need h5py ({error}): pip install 'treefactor[data]'") from None
    try:
        with h5py.File(path) as file:
            if GROUP not in file:
                raise TreefactorError(f"it has no group {GROUP}, but {', '.join(file)}")
            stored = _numbers(file[GROUP])
        return Contacts(**_arguments(stored))
    except (TreefactorError, *TROUBLE) as error:
        raise TreefactorError(f"cannot read {path}: {error}") from error


def _arguments(stored: dict[str, np.ndarray]) -> dict:
    """Collect the arguments of Contacts; matrices must have the size of the vectors."""
    given = {name: _vector(stored, f"vectors/{name}") for name in ("f", "w", "mu")}
    shapes = {"M": (given["f"].size, given["f"].size), "H": (given["f"].size, given["w"].size)}
    if "G/x" in stored:
        given["b"] = _vector(stored, "vectors/b")
        shapes["G"] = given["f"].size, given["b"].size
    return given | {name: matrix(stored, name, shape) for name, shape in shapes.items()}


def _numbers(group) -> dict[str, np.ndarray]:
    """Read the datasets of matrices and vectors by their names."""
    datasets = {}
    for part in ("M", "H", "G", "vectors"):
        for name, data in group[part].items() if part in group else ():
            size, kept = data.dtype.itemsize * data.size, data.id.get_storage_size()
            if size > EXPANDED * kept:
                raise TreefactorError(f"{part}/{name} is {size} bytes long, of which {kept} are there")
            datasets[f"{part}/{name}"] = data[()]
    return datasets


def matrix(stored: dict[str, np.ndarray], name: str, shape: tuple[int, int]) -> spmatrix:
    """Make a sparse matrix from CSparse's form: triplets, or compressed by columns or by rows."""
    sizes = [_whole(stored, f"{name}/{part}") for part in ("m", "n", "nz")]
    m, n, count = (int(size[0]) if size.size else -1 for size in sizes)
    if (m, n) != shape:
        raise ShapeError(f"{name} must have shape {shape}, got {(m, n)}", (m, n), shape)
    x, i, p = _vector(stored, f"{name}/x"), _whole(stored, f"{name}/i"), _whole(stored, f"{name}/p")
    if count == BY_COLUMN:
        return csc_matrix((x, i, p), shape)
    if count == BY_ROW:
        return csr_matrix((x, i, p), shape)
    if not 0 <= count <= min(x.size, i.size, p.size):
        raise ShapeError(f"{name} has room for {min(x.size, i.size, p.size)} entries, not for {count}")
    return coo_matrix((x[:count], (i[:count], p[:count])), shape)


def _vector(stored: dict[str, np.ndarray], name: str) -> np.ndarray:
    """Return a dataset of real numbers."""
    if name not in stored:
        raise TreefactorError(f"it has no {GROUP}/{name}")
    return as_real(stored[name], name).ravel()


def _whole(stored: dict[str, np.ndarray], name: str) -> np.ndarray:
    """Return a dataset of whole numbers."""
    numbers = _vector(stored, name)
    if not (np.abs(numbers) <= EXACT).all() or (numbers != np.trunc(numbers)).any():
        raise DtypeError(f"{name} must hold whole numbers")
    return numbers.astype(np.intp)


def _sparse(matrix, shape: tuple[int, int], name: str) -> csc_matrix:
    """Convert a matrix of finite numbers to columns."""
    if issparse(matrix):
        require_sound(matrix, name)
    columns = csc_matrix(matrix if issparse(matrix) else as_real(matrix, name))
    if columns.shape != shape:
        raise ShapeError(f"{name} must have shape {shape}, got {columns.shape}", columns.shape, shape)
    as_vector(columns.data, columns.nnz, f"{name}.data")
    return columns
