"""Name the tolerances of validation, models and cross-validation.

The compiled solvers in `mlcp` and the generated kernels keep their own beside the loops that use them.
"""

# relative to the largest entry of H: mirrored entries count as equal, entries outside the pattern as zero
SYMMETRY = 1e-12
PATTERN = 1e-12

UNIT = 1e-9  # largest difference of the length of a joint axis from 1
UNIT_SQUARE = 2e-6  # the same of a squared (cos, sin) or quaternion: the six digits of float32

# cross-validation, relative to the largest entry: the rounding differences of engines and algorithms
ENGINE_H = {"treefactor": 1e-13, "pinocchio": 1e-13, "pybullet": 1e-11, "mujoco": 1e-13, "drake": 1e-13}
ENGINE_QDD = {"treefactor": 1e-12, "pinocchio": 1e-12, "pybullet": 1e-8, "mujoco": 1e-11, "drake": 1e-11}
ENGINE_BIAS = 1e-11
FACTOR = 1e-14  # times n
QDD_PER_CONDITION = 1e-14  # times the condition number of H, where that is more
QDD_AT_MOST = 1e-6


def cross_validation(engine: str, n: int, condition: float) -> dict[str, float]:
    """Return the tolerances of `treefactor.check` by the name of what is compared."""
    qdd = min(max(ENGINE_QDD[engine], QDD_PER_CONDITION * condition), QDD_AT_MOST)
    return {
        "H": ENGINE_H[engine],
        "bias": ENGINE_BIAS,
        "factor": FACTOR * n,
        "L and D": qdd,
        "q̈": qdd,
        "own q̈": qdd,
    }


REGULAR = 1e15  # condition number of H above which its inverse has no correct digit

SEMIDEFINITE = 1e-9  # a negative eigenvalue smaller than this share of the largest is zero

PLAIN_H = 1e-11  # largest part of a difference of H that named causes may leave unexplained

NOTICED = 1e-6  # relative; a smaller change of q̈ by a setting is not reported

# named causes, relative: inertias of a link in the file and in an engine count as the same, or as rounded
SAME_INERTIA = 1e-13
ROUNDED_INERTIA = 1e-6
SAME_PLACEMENT = 1e-12  # m and entries of a rotation; below it two placements are one
SELF_CHECK = 1e-11  # relative; H against inverse dynamics of the same engine
