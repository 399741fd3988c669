"""Name the tolerances of validation, models, adapters and cross-validation.

Algorithms keep theirs beside their code: `mlcp`, `constraints`, `codegen`, `papers`, `bench` and the kernels.
"""

# relative to the largest entry of H: mirrored entries count as equal, entries outside the pattern as zero
SYMMETRY = 1e-12
PATTERN = 1e-12

UNIT = 1e-9  # largest difference of the length of a joint axis from 1
UNIT_SQUARE = 2e-6  # the same of a squared (cos, sin) or quaternion: the six digits of float32
REFUSED_SQUARE = (1.0 - 1e-9) * UNIT_SQUARE  # of errors: a bit less, so that they hold what kernels refuse
SAME_CONFIGURATION = 1e-12  # largest difference of entries of q, relative to those above 1
ORTHONORMAL = 1e-9  # relative: lengths of axes, orthogonality of rotations, symmetry of inertia tensors
NO_MOMENT = 1e-14  # relative; a negative principal moment in a URDF as small as this is zero
SNAP = 1e-12  # angles this close to multiples of 90 degrees, and lengths relative to the longest, are exact
# share of a column's largest entry: a larger one alone in its row of G proves the column independent
CLEAR_ENTRY = 1e-8

# comparison of engines, relative to the largest entry: rounding differences of engines and algorithms
QDD_PER_CONDITION = 1e-14  # times the condition number of H, where that is more
LOW_CENTRE = 1e-9  # m; height of a centre of mass below which its potential energy is rounding
ROUNDINGS = 64  # times the precision of an engine; engines differ by 10 to 20 (and times the condition for q̈)
PRINCIPAL_AXES = 1e-11  # the same of PyBullet, which iterates principal axes of inertia to a loose tolerance
WORST_ACCELERATION = 1e-6  # of q̈ in float64, however ill-conditioned H is
NEWTON_ROUNDING = (
    4.8e-7  # relative: four times that of float32, as its accelerations are differences of velocities
)

# `treefactor check --derivatives`, relative to the largest entry in comparable units
DERIVATIVES = 1e-10  # of analytic derivatives
BY_DIFFERENCES = 1e-6  # of central differences
MUJOCO_DIFFERENCES = 1e-3  # of MuJoCo's one-sided differences
DERIVATIVES_QDD = (1e-14, 1e-6)  # of accelerations: times the condition of H where that is more, and at most
DIFFERENCES_QDD = (1e-11, 1e-3)  # the same of central differences

REGULAR = 1e15  # condition number of H above which its inverse has no correct digit

CANCELLED = 3e-14  # a smaller difference, relative to its terms, is rounding: zero; also after a long chain
LEVERAGE = 1e-12  # smaller rows of a complementarity problem, relative to the largest, are rounding noise
DEPENDENT_ROWS = 1e-9  # smaller singular values, relative to the largest, belong to dependent rows
SEMIDEFINITE = 1e-9  # a negative eigenvalue smaller than this share of the largest is zero

NOTICED = 1e-6  # relative; a smaller change of q̈ by a setting is not reported

# named causes, relative: inertias of a link in the file and in an engine count as the same, or as rounded
SAME_INERTIA = 1e-13
ROUNDED_INERTIA = 1e-6
SAME_COMPILED = 1e-12  # the same of a body that MuJoCo compiles from two files
SELF_CHECK = 1e-11  # relative; H against inverse dynamics of the same engine

# convex hulls, relative to their size
FLAT_FACE = 1e-6  # triangles whose corners are this close to one plane are one face
THIN_TRIANGLE = 1e-12  # of the square of the longest side: triangles with smaller areas are left out
THIN_HULL = 1e-9  # thinner sets of points enclose nothing

# control
EXPECTED_FALL = 1e-9  # of the cost of a motion: by default iterative LQR has converged below it
LEAST_REGULARIZATION = 1e-9  # of its Hessians
SLANTED = 1e-6  # larger deviations of the columns of a target from unit vectors at right angles are errors

# adapters
AT_LIMIT = 1e-6  # rad or m; a freedom so close to a limit is at it; float32 has no more digits
LEAST_NORM = 1e-8  # damping of least squares, as a part of |J|^2
NO_TWIST = 1e-9  # m/rad or rad; a smaller part of a twist counts as zero
SAME_AS_CACHED = 1e-9  # relative; a larger difference of H proves that PyBullet has cached another tree
MISPLACED = 1e-9  # m; PyBullet misreads spherical joints farther than this from the origin of their parent
TRIANGLE_MARGIN = 1e-9  # relative; closer to A + B = C, rounding decides in PyBullet's check
SAME_FACTOR = 1e-9  # relative; D of MuJoCo and its inverse differ more only if they are misread

# contacts: deviations that count as agreement, by unit; of forces relative to the weight
CONTACTS_AGREE = {"mm": 0.02, "N": 1e-3, "mm/s": 0.01, "deg": 0.2}
UNTURNED = 1e-2  # largest change of an entry of a rotation for which a body slides and does not roll or tip
STAYED = 1e-9  # a smaller change of an entry of a rotation: the body has not moved on the ground
ON_ONE_LINE = 1e-6  # m^2; three feet that span twice a smaller area do not determine their forces
STICTION = 1e-6  # m/s; slip at the edge of the friction cone that Drake is told for contacts without creep
