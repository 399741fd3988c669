"""Test that files of the Frictional Contact Library are read and their problems solved."""

import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.mlcp_verify import POLISHED, RESIDUAL, verify
from scipy.sparse import csc_matrix, csr_matrix

from treefactor import Tree, fclib, mlcp
from treefactor.exceptions import TreefactorError

h5py = pytest.importorskip("h5py", reason="FCLIB's files are HDF5")


FILES = {  # contacts, n, rank of the normal rows
    "Box_Stacks-i0122-82-5": (82, 450, 82),
    "spheres-in-a-box-98-i10000-256-10": (256, 588, 246),
}


def path(name):
    return Path(__file__).parents[1] / "data" / "fclib" / f"{name}.hdf5"


@pytest.fixture
def step():
    """Return the data of a box on two feet in space, one foot with friction."""
    M = np.diag([2.0, 2.0, 2.0, 0.5, 0.5])
    M[3, 4] = M[4, 3] = 0.1
    H = np.zeros((5, 6))
    H[[2, 0, 1], [0, 1, 2]] = H[[2, 0, 1], [3, 4, 5]] = 1.0
    H[3, [0, 3]] = 1.0, -1.0
    return (
        M,
        H,
        np.array([0.0, 0.0, -1.0, 0.2, 0.0]),
        np.array([0.1, 0.0, 0.0, 0.2, 0.3, 0.0]),
        np.array([0.5, 0.0]),
    )


def write(file, M, H, f, w, mu, form="triplet"):
    """Write a problem to a file of FCLIB's format; return its path."""
    with h5py.File(file, "w") as out:
        for name, dense in (("M", M), ("H", H)):
            group = out.create_group(f"fclib_global/{name}")
            for key, value in stored(dense, form).items():
                group[key] = value
        for name, value in {"f": f, "w": w, "mu": mu}.items():
            out[f"fclib_global/vectors/{name}"] = value
    return file


def stored(dense, form):
    """Return a matrix as CSparse stores it: triplets with capacity for more entries than it has."""
    m, n = ([size] for size in dense.shape)
    if form == "triplet":
        i, p = np.nonzero(dense)
        spare = np.full(3, 99)
        return {
            **{"m": m, "n": n, "nz": [len(i)], "x": np.append(dense[i, p], spare)},
            **{"i": np.append(i, spare), "p": np.append(p, spare)},
        }
    kind, nz = (csc_matrix, -1) if form == "columns" else (csr_matrix, -2)
    matrix = kind(dense)
    return {"m": m, "n": n, "nz": [nz], "x": matrix.data, "i": matrix.indices, "p": matrix.indptr}


@pytest.mark.parametrize("form", ["triplet", "columns", "rows"])
def test_sparse_matrices_of_every_form(form, step, tmp_path):
    M, H, f, w, mu = step
    problem = fclib.read(write(tmp_path / "step.hdf5", *step, form))
    np.testing.assert_array_equal(problem.M.toarray(), M)
    np.testing.assert_array_equal(problem.H.toarray(), H)
    for name, expected in {"f": f, "w": w, "mu": mu}.items():
        np.testing.assert_array_equal(getattr(problem, name), expected)
    assert problem.dimension == 3


def test_every_block_of_the_mass_matrix_is_a_branch(step, tmp_path):
    problem = fclib.read(write(tmp_path / "step.hdf5", *step))
    assert problem.tree() == Tree([-1, -1, -1, -1, 3])


def test_normal_rows_alone_without_friction(step, tmp_path):
    _, H, _, w, _ = step
    problem = fclib.read(write(tmp_path / "step.hdf5", *step)).problem()
    np.testing.assert_array_equal(problem.D.toarray(), H[:, [0, 3]].T)
    np.testing.assert_array_equal(problem.d, -w[[0, 3]])


def test_facets_of_a_pyramid(step, tmp_path):
    _, H, _, w, mu = step
    problem = fclib.read(write(tmp_path / "step.hdf5", *step)).problem(4)
    rows, low = problem.D.toarray(), problem.d
    for facet, (first, second) in enumerate([(1, 0), (0, 1), (-1, 0), (0, -1)]):
        for contact in (0, 1):
            direction = np.array([1.0, first * mu[contact], second * mu[contact]])
            part = slice(3 * contact, 3 * contact + 3)
            np.testing.assert_allclose(rows[2 * facet + contact], H[:, part] @ direction, atol=1e-15)
            np.testing.assert_allclose(low[2 * facet + contact], -w[part] @ direction, atol=1e-15)


def test_bilateral_rows(step):
    M, H, f, w, mu = step
    G, b = csc_matrix(np.eye(5)[:, :1]), np.array([0.25])
    problem = fclib.Contacts(csc_matrix(M), csc_matrix(H), f, w, mu, G, b).problem()
    solution = mlcp.solve(problem)
    verify(problem, solution)
    np.testing.assert_allclose(solution.v[0], -0.25)


def test_contacts_in_the_plane():
    M, H = csc_matrix(np.eye(2)), csc_matrix(np.eye(2)[:, ::-1])
    planar = fclib.Contacts(M, H, np.array([1.0, -1.0]), np.zeros(2), np.array([0.5]))
    assert planar.dimension == 2
    problem = planar.problem(2)
    np.testing.assert_allclose(problem.D.toarray(), [[0.5, 1.0], [-0.5, 1.0]], atol=1e-15)
    solution = mlcp.solve(problem)
    verify(problem, solution)
    np.testing.assert_allclose(solution.v, [0.4, 0.2])


@pytest.mark.parametrize("name", FILES)
def test_real_steps_without_friction(name):
    problem = fclib.read(path(name)).problem()
    m, n, rank = FILES[name]
    assert (problem.m, problem.n) == (m, n)
    A = problem.D @ problem.factor.solve(problem.D.toarray().T)
    assert np.linalg.matrix_rank(A, 1e-10 * np.linalg.norm(A, 2), hermitian=True) == rank
    verify(problem, mlcp.solve(problem), RESIDUAL)
    verify(problem, mlcp.solve(problem, polish=True), POLISHED)


@pytest.mark.parametrize("facets", [4, 8])
@pytest.mark.parametrize("name", FILES)
def test_real_steps_with_pyramids(name, facets):
    contacts = fclib.read(path(name))
    problem = contacts.problem(facets)
    assert problem.m == facets * len(contacts.mu)
    solution = mlcp.solve(problem)
    verify(problem, solution)
    verify(problem, mlcp.solve(problem, polish=True), POLISHED)
    pushes = solution.gamma.reshape(facets, -1)
    turn = 2 * np.pi * np.arange(facets) / facets
    sideways = np.hypot(*(contacts.mu * (along @ pushes) for along in (np.cos(turn), np.sin(turn))))
    assert (sideways <= contacts.mu * pushes.sum(axis=0) * (1 + 1e-12)).all()


def test_h5py_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(TreefactorError, match=r"pip install 'treefactor\[data\]'"):
        fclib.read("step.hdf5")


def test_a_file_without_a_problem_in_global_form(tmp_path):
    file = tmp_path / "local.hdf5"
    with h5py.File(file, "w") as out:
        out.create_group("fclib_local")
    with pytest.raises(TreefactorError, match="no group fclib_global, but fclib_local"):
        fclib.read(file)


def spoilt(file, step, change):
    """Write the problem, and change the group of the file."""
    write(file, *step)
    with h5py.File(file, "r+") as out:
        change(out["fclib_global"])
    return file


def put(name, value):
    """Return a change that replaces a dataset."""

    def change(group):
        del group[name]
        group[name] = value

    return change


def unwritten(group):
    """Replace a dataset by one that is larger than any memory."""
    del group["vectors/f"]
    group.create_dataset("vectors/f", (2**45,), float, chunks=(2**20,))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda group: group["M"].pop("x"), "it has no fclib_global/M/x"),
        (lambda group: group["vectors"].pop("mu"), "it has no fclib_global/vectors/mu"),
        (lambda group: group.pop("vectors"), "it has no fclib_global/vectors/f"),
        (put("M/m", [2**40]), r"M must have shape \(5, 5\), got \(1099511627776, 5\)"),
        (put("M/n", []), r"M must have shape \(5, 5\), got \(5, -1\)"),
        (put("M/nz", [99]), "M has room for 10 entries, not for 99"),
        (put("M/nz", [-7]), "M has room for 10 entries, not for -7"),
        (put("M/nz", [-1]), "cannot read"),
        (put("M/m", [np.nan]), "M/m must hold whole numbers"),
        (put("M/i", np.full(10, 1.5)), "M/i must hold whole numbers"),
        (put("M/i", np.full(10, 2**62)), "M/i must hold whole numbers"),
        (put("M/p", np.full(10, -3)), "cannot read"),
        (put("M/x", np.full(10, 1j)), "M/x must hold real numbers"),
        (put("M", 3.0), "cannot read"),
        (put("vectors/f", "text"), "vectors/f must hold real numbers"),
        (put("vectors/f", np.full(5, np.nan)), "f is not finite"),
        (put("vectors/mu", [0.5]), r"w must have 2 or 3 entries for each of 1 mu"),
        (lambda group: group.copy("M", "G"), "it has no fclib_global/vectors/b"),
        (unwritten, "vectors/f is 281474976710656 bytes long, of which 0 are there"),
    ],
)
def test_files_that_are_spoilt(change, why, step, tmp_path):
    file = spoilt(tmp_path / "step.hdf5", step, change)
    with pytest.raises(TreefactorError, match=why) as caught:
        fclib.read(file)
    assert str(caught.value).startswith(f"cannot read {file}: ")


@pytest.mark.parametrize("form", ["columns", "rows"])
@pytest.mark.parametrize(("name", "value"), [("M/i", 10**8), ("M/i", -1), ("M/p", 9)])
def test_compressed_matrices_that_are_spoilt(form, name, value, step, tmp_path):
    """Indices are checked before SciPy, which does not check them, converts the matrix."""
    file = write(tmp_path / "step.hdf5", *step, form)
    with h5py.File(file, "r+") as out:
        out["fclib_global"][name][1] = value
    with pytest.raises(TreefactorError, match="M is not a sparse matrix"):
        fclib.read(file)


@pytest.mark.parametrize("length", [0, 1, 100, 1000])
def test_files_that_end_too_soon(length, step, tmp_path):
    file = write(tmp_path / "step.hdf5", *step)
    file.write_bytes(file.read_bytes()[:length])
    with pytest.raises(TreefactorError, match=r"^cannot read .*step\.hdf5"):
        fclib.read(file)


def test_no_contacts_at_all(tmp_path):
    M, f = np.eye(2), np.array([1.0, 2.0])
    problem = fclib.read(write(tmp_path / "step.hdf5", M, np.zeros((2, 0)), f, np.zeros(0), np.zeros(0)))
    assert problem.dimension == 3
    for facets in (0, 4):
        np.testing.assert_array_equal(mlcp.solve(problem.problem(facets)).v, f)
