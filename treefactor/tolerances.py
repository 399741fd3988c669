"""Every tolerance of treefactor, named, with its meaning; comparisons hold no bare numbers."""

# relative to the largest entry of H: mirrored entries count as equal, entries outside the pattern as zero
SYMMETRY = 1e-12
PATTERN = 1e-12

# cross-validation, relative to the largest entry: how far engines and algorithms drift apart in rounding
PINOCCHIO_H = 1e-13
PYBULLET_H = 1e-11  # PyBullet diagonalizes every inertia by Jacobi rotations, to 1e-12
PINOCCHIO_QDD = 1e-12
PYBULLET_QDD = 1e-8
FACTOR = 1e-14  # times n
QDD_PER_CONDITION = 1e-14  # times the condition number of H, where that is more


def cross_validation(engine: str, n: int, condition: float) -> dict[str, float]:
    """Return the tolerances of `treefactor.check` for H, the factor, q̈ and the stepped q̈."""
    pinocchio = engine == "pinocchio"
    qdd = PINOCCHIO_QDD if pinocchio else PYBULLET_QDD
    return {
        "H": PINOCCHIO_H if pinocchio else PYBULLET_H,
        "factor": FACTOR * n,
        "q̈": max(qdd, QDD_PER_CONDITION * condition),
        "step": qdd,
    }
