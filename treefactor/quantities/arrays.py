"""Arguments that many quantities have."""

from .declaration import Array, Option

Q = Array(
    "q",
    ("nq",),
    axes="Configurations in Pinocchio's layout. Leading axes are a batch; an array without them applies to "
    "every configuration.",
    role="configuration",
)
V = Array("v", ("nv",), "m/s, rad/s", "Velocities.")
A = Array("a", ("nv",), "m/s^2, rad/s^2", "Accelerations.")
TAU = Array("tau", ("nv",), "N, N m", "Generalized forces.")
FEXT = Array(
    "fext",
    ("njoints", 6),
    "N, N m",
    "External force and moment on the body of every joint, at the origin and in the axes of the joint: "
    "Pinocchio's ``fext`` without its first entry, the universe.",
    optional=True,
)
LAYOUTS = ("dense", "packed", "lanes")
LAYOUT = Option(
    "layout",
    LAYOUTS,
    text='Layout of the result; "lanes" has 8 configurations side by side, as `Tree.pack` has.',
)
