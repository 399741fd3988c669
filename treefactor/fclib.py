"""Problems of the Frictional Contact Library: files of single time steps, as contact solvers exchange them.

Acary, Bremond, Koziara, Perignon (2014), "FCLIB: a collection of discrete 3D frictional contact problems".
Global form: M v = H r + G lambda + f, u = H^T v + w, G^T v + b = 0, with u and r of every contact in the
order normal, first tangent, second tangent, ``|r_t| <= mu r_n``.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike

import numpy as np
from scipy.sparse import coo_matrix, csc_matrix, csr_matrix, vstack
from scipy.sparse.csgraph import connected_components

from .exceptions import TreefactorError
from .mlcp import Problem
from .tree import Tree

GROUP = "fclib_global"
BY_COLUMN, BY_ROW = -1, -2  # what `nz` says of matrices that are no triplets


@dataclass(frozen=True)
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
    """

    M: csc_matrix
    H: csc_matrix
    f: np.ndarray
    w: np.ndarray
    mu: np.ndarray
    G: csc_matrix | None = None
    b: np.ndarray | None = None

    @property
    def dimension(self) -> int:
        """3, or 2 in the plane."""
        return len(self.w) // len(self.mu)

    def tree(self) -> Tree:
        """The tree with a branch for every block of M, whose freedoms follow each other."""
        _, block = connected_components(self.M, directed=False)
        order = np.argsort(block, kind="stable")
        parent = np.full(len(block), -1)
        follows = np.flatnonzero(block[order[1:]] == block[order[:-1]])
        parent[order[follows + 1]] = order[follows]
        return Tree(parent)

    def problem(self, facets: int = 0) -> Problem:
        """The mixed complementarity problem of the step.

        Parameters
        ----------
        facets : int
            0 without friction: u_n >= 0 for every contact. Otherwise directions t_j of a pyramid inside the
            cone: u_n + mu t_j^T u_t >= 0, with impulses along n + mu t_j.

        Notes
        -----
        The convex relaxation of Anitescu (2006) and Tasora & Anitescu (2011), which keeps the matrix
        symmetric.
        """
        turn = 2.0 * np.pi * np.arange(facets) / max(facets, 1)
        slopes = np.column_stack((np.cos(turn), np.sin(turn))) if facets else np.zeros((1, 2))
        pyramid = vstack([self._facet(slope[: self.dimension - 1]) for slope in slopes], format="csr")
        D, d = pyramid @ self.H.T, -(pyramid @ self.w)
        bilateral = {} if self.G is None or self.b is None else {"C": self.G.T, "c": -self.b}
        return Problem(self.M.toarray(), self.tree(), self.f, **bilateral, D=D, d=d)

    def _facet(self, slope: np.ndarray) -> csr_matrix:
        """Rows u_n + mu t^T u_t of all contacts, for the slope t."""
        count, entries = len(self.mu), len(self.w)
        values = np.column_stack((np.ones(count), np.outer(self.mu, slope)))
        starts = np.arange(0, entries + 1, self.dimension)
        return csr_matrix((values.ravel(), np.arange(entries), starts), (count, entries))


def read(path: str | PathLike) -> Contacts:
    """Contacts in a file of FCLIB's HDF5 format, in global form.

    Raises
    ------
    TreefactorError
        Where h5py is missing, or the file holds no problem in global form.
    """
    try:
        import h5py
    except ImportError as error:
        raise TreefactorError(f"FCLIB's files need h5py ({error}): pip install 'treefactor[data]'") from None
    with h5py.File(path) as file:
        if GROUP not in file:
            raise TreefactorError(f"{path} has no group {GROUP}, but {', '.join(file)}")
        group = file[GROUP]
        M, H = matrix(group["M"]), matrix(group["H"])
        f, w, mu = (group["vectors"][name][()] for name in ("f", "w", "mu"))
        tied = (matrix(group["G"]), group["vectors"]["b"][()]) if "G" in group else ()
        return Contacts(M, H, f, w, mu, *tied)


def matrix(group) -> csc_matrix:
    """A sparse matrix as CSparse has it: triplets, or compressed by columns or by rows."""
    m, n, nz = (int(group[name][0]) for name in ("m", "n", "nz"))
    x, i, p = (group[name][()] for name in ("x", "i", "p"))
    if nz == BY_COLUMN:
        return csc_matrix((x, i, p), (m, n))
    if nz == BY_ROW:
        return csc_matrix(csr_matrix((x, i, p), (m, n)))
    return csc_matrix(coo_matrix((x[:nz], (i[:nz], p[:nz])), (m, n)))
