"""Name the tolerances of validation, models, adapters and cross-validation.

Algorithms keep theirs beside their code: `mlcp`, `constraints`, `codegen`, `papers`, `bench` and the kernels.
"""

# relative to the largest entry of H: mirrored entries count as equal, entries outside the pattern as zero
SYMMETRY = 1e-12
PATTERN = 1e-12

UNIT = 1e-9  # largest difference of the length of a joint axis from 1
UNIT_SQUARE = 2e-6  # the same of a squared (cos, sin) or quaternion: the six digits of float32
SAME_CONFIGURATION = 1e-12  # largest difference of entries of q, relative to those above 1
ORTHONORMAL = 1e-9  # relative: lengths of axes, orthogonality of rotations, symmetry of inertia tensors
NO_MOMENT = 1e-14  # relative; a negative principal moment in a URDF as small as this is zero
SNAP = 1e-12  # angles this close to multiples of 90 degrees, and lengths relative to the longest, are exact
# share of a column's largest entry: a larger one alone in its row of G proves the column independent
CLEAR_ENTRY = 1e-8

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


# `treefactor check --derivatives`, relative to the largest entry in comparable units
DERIVATIVES = 1e-10  # of analytic derivatives
BY_DIFFERENCES = 1e-6  # of central differences
MUJOCO_DIFFERENCES = 1e-3  # of MuJoCo's one-sided differences
DERIVATIVES_QDD = (1e-14, 1e-6)  # of accelerations: times the condition of H where that is more, and at most
DIFFERENCES_QDD = (1e-11, 1e-3)  # the same of central differences

REGULAR = 1e15  # condition number of H above which its inverse has no correct digit

DEPENDENT_ROWS = 1e-9  # smaller singular values, relative to the largest, belong to dependent rows
SEMIDEFINITE = 1e-9  # a negative eigenvalue smaller than this share of the largest is zero

PLAIN_H = 1e-11  # largest part of a difference of H that named causes may leave unexplained

NOTICED = 1e-6  # relative; a smaller change of q̈ by a setting is not reported

# named causes, relative: inertias of a link in the file and in an engine count as the same, or as rounded
SAME_INERTIA = 1e-13
ROUNDED_INERTIA = 1e-6
SAME_PLACEMENT = 1e-12  # m and entries of a rotation; below it two placements are one
SELF_CHECK = 1e-11  # relative; H against inverse dynamics of the same engine

# adapters
SAME_PARAMETER = 1e-12  # relative; armature or gravity of two models below it are the same
NO_MASS = 1e-14  # relative; less mass, left over from a sum of inertias, counts as zero
NO_TWIST = 1e-9  # m/rad or rad; a smaller part of a twist counts as zero
SAME_AS_CACHED = 1e-9  # relative; a larger difference of H proves that PyBullet has cached another tree
MISPLACED = 1e-9  # m; PyBullet misreads spherical joints farther than this from the origin of their parent
TRIANGLE_MARGIN = 1e-9  # relative; closer to A + B = C, rounding decides in PyBullet's check
SAME_FACTOR = 1e-9  # relative; D of MuJoCo and its inverse differ more only if they are misread
